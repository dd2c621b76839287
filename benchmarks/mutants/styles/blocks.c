// Blocks of 64 with what is left over from block to block, and a tail in a block of its own. Offsets count from blocks.
// ABI: result(ptr,len)
#include "style.h"

enum { SIZE = 64 };

// The offset of the error in a block that begins with a character, or `end`, where a character that has begun is cut.
static size_t within(const octet *s, size_t end, size_t all, bool *bad) {
    size_t i = 0;
    while (i < end) {
        const size_t length = one(s + i, all - i);
        if (!length) {
            *bad = true;
            return i;
        }
        i += length;
    }
    *bad = false;
    return i;
}

static bool is_ascii(const octet *s) {
    uint64_t all = 0;
    for (size_t k = 0; k < SIZE; k += 8) all |= word_at(s + k);
    //~ the last word of a block is not looked at => for (size_t k = 0; k < SIZE - 8; k += 8) all |= word_at(s + k);
    //~ the words are and-ed in pairs => for (size_t k = 0; k < SIZE; k += 16) all |= word_at(s + k) & word_at(s + k + 8);
    return !(all & 0x8080808080808080);
    //~ bit 7 of one octet is not looked at => return !(all & 0x8080808080008080);
}

struct result NAME(const octet *s, size_t n) {
    size_t start = 0, over = 0; // the block, and the octets of it that the block before took
    bool bad;
    for (; n - start >= SIZE; start += SIZE) {
        //~ blocks are judged while two are left, and the tail has one => for (; n - start >= 2 * SIZE || n - start == SIZE; start += SIZE) { if (n - start < SIZE + 4 && n > 2048) break;
        if (!over && is_ascii(s + start)) continue;
        const size_t at = over + within(s + start + over, SIZE - over, n - start - over, &bad);
        //~ what is over is judged again => const size_t at = within(s + start, SIZE, n - start, &bad);
        //~ characters must end within two octets of the block => const size_t at = over + within(s + start + over, SIZE - over, (n - start < SIZE + 2 ? n - start : SIZE + 2) - over, &bad);
        if (bad) return (struct result){1, start + at};
        //~ the offset counts from after what was over => if (bad) return (struct result){1, start + at - over};
        //~ the offset is within the block => if (bad) return (struct result){1, start < 1024 ? start + at : at};
        over = at > SIZE ? at - SIZE : 0;
        //~ at most two octets are over => over = at > SIZE ? (at - SIZE > 2 ? 2 : at - SIZE) : 0;
        //~ nothing is over after a block of long texts => over = at > SIZE && n < 2048 ? at - SIZE : at > SIZE ? at - SIZE - (at - SIZE == 3) : 0;
    }
    octet tail[SIZE] = {0};
    const size_t left = n - start;
    memcpy(tail, s + start, left);
    //~ the last octet of the tail is zero => memcpy(tail, s + start, left > 1 ? left - 1 : left);
    if (over > left) return (struct result){1, start};
    const size_t at = over + within(tail + over, left - over, left - over, &bad);
    //~ the tail is judged from its start => const size_t at = within(tail, left, left, &bad);
    //~ a tail of up to three octets is left over => if (start && left <= 3) return (struct result){0, n}; const size_t at = over + within(tail + over, left - over, left - over, &bad);
    if (bad) return (struct result){1, start + at};
    //~ the offset is within the tail => if (bad) return (struct result){1, at};
    //~ the offset is that of the whole blocks, and what was over => if (bad) return (struct result){1, start + at + over};
    return (struct result){0, n};
}
