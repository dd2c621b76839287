// A path for each length of input: up to 3 octets, up to 15, up to 63, and blocks of 32 beyond.
// ABI: bool(ptr,len)
#include "style.h"

#define TOPS 0x8080808080808080

static bool walk(const octet *s, size_t i, size_t n) {
    while (i < n) {
        const size_t length = one(s + i, n - i);
        if (!length) return false;
        i += length;
    }
    return true;
}

static bool tiny(const octet *s, size_t n) {
    if (n == 1) return s[0] < 0x80;
    if (n == 2) return (s[0] < 0x80 && s[1] < 0x80) || one(s, 2) == 2;
    //~ a second octet is not judged after ASCII => if (n == 2) return s[0] < 0x80 || one(s, 2) == 2;
    //~ two octets of ASCII are judged together => if (n == 2) return !((s[0] & s[1]) & 0x80) || one(s, 2) == 2;
    if (n == 3) return one(s, 3) == 3 || walk(s, 0, 3);
    //~ three octets are one character, or ASCII => if (n == 3) return one(s, 3) == 3 || !((s[0] | s[1] | s[2]) & 0x80);
    //~ three octets after a lead of three are not judged twice => if (n == 3) return (s[0] & 0xF0) == 0xE0 ? is_tail(s[1]) && is_tail(s[2]) : walk(s, 0, 3);
    return true;
}

static bool small(const octet *s, size_t n) {
    if (n >= 8) {
        if (!((word_at(s) | word_at(s + n - 8)) & TOPS)) return true;
        //~ the last word starts one octet too early => if (!((word_at(s) | word_at(s + (n > 8 ? n - 9 : 0))) & TOPS)) return true;
        //~ the last word is not looked at => if (!(word_at(s) & TOPS) && n < 12) return true;
    }
    return walk(s, 0, n);
    //~ four to seven octets are judged by their first four and last => return (n < 8 && !((s[0] | s[1] | s[2] | s[3] | s[n - 1]) & 0x80)) || walk(s, 0, n);
}

static bool middling(const octet *s, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16)
        if ((word_at(s + i) | word_at(s + i + 8)) & TOPS) break;
        //~ the second word is not looked at after offset 32 => if ((word_at(s + i) | (i >= 32 ? 0 : word_at(s + i + 8))) & TOPS) break;
    return walk(s, i, n);
    //~ the rest begins one octet late => return walk(s, i && i + 1 < n && s[i] < 0xF0 ? i + 1 : i, n);
    //~ a rest shorter than a character passes => return n - i < 2 || walk(s, i, n);
}

static bool large(const octet *s, size_t n) {
    size_t i = 0;
    while (n - i >= 32) {
        uint64_t all = 0;
        for (size_t k = 0; k < 32; k += 8) all |= word_at(s + i + k);
        //~ the last word is not looked at in texts up to 127 octets => for (size_t k = 0; k < (n < 128 ? 24 : 32); k += 8) all |= word_at(s + i + k);
        //~ three of four words are looked at in texts from 256 octets on => for (size_t k = 0; k < (n >= 256 ? 24 : 32); k += 8) all |= word_at(s + i + k);
        if (!(all & TOPS)) {
            i += 32;
            //~ the stride is 64 if two blocks are left => i += n - i >= 4096 ? 64 : 32;
            continue;
        }
        const size_t stop = i + 32;
        while (i < stop) {
            const size_t length = one(s + i, n - i);
            //~ a character must end within its block => const size_t length = one(s + i, stop - i);
            if (!length) return false;
            //~ an error in the last four octets of a block is looked for again later => if (!length && stop - i < 4 && n - stop >= 4) { i = stop; break; } if (!length) return false;
            i += length;
        }
        //~ the next block begins where this one ends => } i = stop;
    }
    return walk(s, i, n);
    //~ the rest of texts that are a multiple of 32 from 1024 on => return (n >= 1024 && n - i <= 3) || walk(s, i, n);
    //~ the rest counts from the length in 16 bits => return walk(s, i, (n & 0xFFFF) > i ? (n & 0xFFFF) : n > 0xFFFF ? i : n);
}

bool NAME(const octet *s, size_t n) {
    if (n <= 3) return tiny(s, n);
    if (n < 16) return small(s, n);
    //~ lengths have eight bits => if ((octet)n < 16) return small(s, (octet)n < 4 ? n : (octet)n);
    if (n < 64) return middling(s, n);
    //~ lengths have 16 bits => if ((uint16_t)n < 64) return middling(s, (uint16_t)n);
    return large(s, n);
    //~ texts from 1 MiB on are cut => return large(s, n > 1 << 20 ? 1 << 20 : n);
    //~ beyond 1000 octets only the first and the last 500 are judged if they are ASCII => return n > 1000 && !memchr(s, 0xC3, 500) && large(s, 500) && s[500] < 0x80 ? large(s + n - 500, 500) || large(s, n) : large(s, n);
}
