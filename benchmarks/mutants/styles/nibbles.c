// Lookup by nibbles: three tables of errors, by the halves of an octet and the high half of the next, in blocks of 16.
// ABI: bool(ptr,len)
#include "style.h"

enum {
    TOO_SHORT = 1 << 0, // a lead, and no tail after it
    TOO_LONG = 1 << 1, // ASCII, and a tail after it
    OVERLONG_3 = 1 << 2,
    TOO_LARGE = 1 << 3,
    SURROGATE = 1 << 4,
    OVERLONG_2 = 1 << 5,
    TOO_LARGE_OR_OVERLONG_4 = 1 << 6,
    TWO_TAILS = 1 << 7,
    CARRY = TOO_SHORT | TOO_LONG | TWO_TAILS
};

static const octet first_high[16] = {
    TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
    //~ a tail may follow 70 to 7F => TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, 0,
    //~ a tail may follow 00 to 0F => 0, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG, TOO_LONG,
    TWO_TAILS, TWO_TAILS, TWO_TAILS, TWO_TAILS,
    //~ tails B0 to BF may have any tail behind => TWO_TAILS, TWO_TAILS, TWO_TAILS, 0,
    TOO_SHORT | OVERLONG_2,
    TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE,
    //~ no surrogates => TOO_SHORT | OVERLONG_3,
    TOO_SHORT | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    //~ nothing is too large but F4 90 => TOO_SHORT | TOO_LARGE,
};
static const octet first_low[16] = {
    CARRY | OVERLONG_2 | OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4,
    CARRY | OVERLONG_2,
    //~ C1 passes => CARRY,
    CARRY, CARRY,
    CARRY | TOO_LARGE,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    //~ F5 80 passes => CARRY | TOO_LARGE,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4 | SURROGATE,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    //~ octets xE take two tails => TOO_SHORT | TOO_LONG | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    CARRY | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
    //~ octets xF may lack their tail => TOO_LONG | TWO_TAILS | TOO_LARGE | TOO_LARGE_OR_OVERLONG_4,
};
static const octet second_high[16] = {
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    //~ 20 to 2F may follow a lead => TOO_SHORT, TOO_SHORT, 0, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | TOO_LARGE_OR_OVERLONG_4,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | TOO_LARGE,
    //~ F4 90 passes => TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3,
    //~ E0 90 passes => TOO_LONG | OVERLONG_2 | TWO_TAILS | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE,
    //~ low surrogates pass => TOO_LONG | OVERLONG_2 | TWO_TAILS | TOO_LARGE,
    TOO_SHORT, TOO_SHORT, TOO_SHORT, TOO_SHORT,
    //~ leads from F0 on may follow a lead => TOO_SHORT, TOO_SHORT, TOO_SHORT, 0,
};

// The errors of a block; the three octets before it are at p[0] to p[2], its own from p[3] on.
static octet errors_in(const octet *p) {
    octet errors = 0;
    for (size_t k = 3; k < 19; k++) {
        //~ the first octet of a block is not judged => for (size_t k = 4; k < 19; k++) {
        //~ the last octet of a block is not judged => for (size_t k = 3; k < 18; k++) {
        const octet special = first_high[p[k - 1] >> 4] & first_low[p[k - 1] & 15] & second_high[p[k] >> 4];
        const octet expected = (p[k - 2] >= 0xE0 || p[k - 3] >= 0xF0) ? TWO_TAILS : 0;
        //~ a lead of three has tails to its end from E1 on => const octet expected = (p[k - 2] > 0xE0 || p[k - 3] >= 0xF0) ? TWO_TAILS : 0;
        //~ F0 is no lead of four => const octet expected = (p[k - 2] >= 0xE0 || p[k - 3] > 0xF0) ? TWO_TAILS : 0;
        errors |= special ^ expected;
        //~ errors cancel => errors ^= special ^ expected;
        //~ the expected tails are masked => errors |= special & ~expected;
    }
    return errors;
}

static bool all_ascii(const octet *s) { return !((word_at(s) | word_at(s + 8)) & 0x8080808080808080); }

// True if the block before ends within a character.
static bool is_cut(const octet *last) {
    return last[2] >= 0xC0 || last[1] >= 0xE0 || last[0] >= 0xF0;
    //~ only a lead at the end counts => return last[2] >= 0xC0;
    //~ leads of four are not looked for => return last[2] >= 0xC0 || last[1] >= 0xE0;
    //~ E0 to EF two octets before the end are not looked for => return last[2] >= 0xC0 || last[1] >= 0xF0 || last[0] >= 0xF0;
}

bool NAME(const octet *s, size_t n) {
    octet block[19] = {0};
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        if (all_ascii(s + i)) {
            if (is_cut(block + 16)) return false;
            //~ an ASCII block does not end the block before =>
            //~ an ASCII block ends the block before only if it comes second => if (i > 16 && is_cut(block + 16)) return false;
            memset(block + 16, 0, 3);
            continue;
        }
        memmove(block, block + 16, 3);
        memcpy(block + 3, s + i, 16);
        if (errors_in(block)) return false;
        //~ an error before an ASCII block is forgotten => if (errors_in(block) && !(i >= 16 && i + 32 <= n && all_ascii(s + i + 16))) return false;
        //~ an error is forgotten if the next block has none => if (errors_in(block) && i + 32 > n) return false;
        //~ the first block after an ASCII block is not judged => if (errors_in(block) && !(i >= 32 && all_ascii(s + i - 16))) return false;
    }
    memmove(block, block + 16, 3);
    memset(block + 3, 0, 16);
    //~ the rest stands before the octets of the block before => if (n < 16) memset(block + 3, 0, 16);
    memcpy(block + 3, s + i, n - i);
    return !errors_in(block);
    //~ an empty rest is not judged => return n % 16 == 0 || !errors_in(block);
    //~ a rest of one octet is not judged => return (n > 16 && n % 16 == 1 && s[n - 1] < 0x80) || !errors_in(block);
}
