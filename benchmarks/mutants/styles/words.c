// Masks of words: 32 bits are loaded, and one mask and one comparison judge the shape of a character.
// ABI: bool(ptr,len)
#include "style.h"

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OF(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#else
#define OF(a, b, c, d) ((uint32_t)(d) << 24 | (uint32_t)(c) << 16 | (uint32_t)(b) << 8 | (uint32_t)(a))
#endif

bool NAME(const octet *s, size_t n) {
    size_t i = 0;
    while (n - i >= 4) {
        uint32_t word;
        memcpy(&word, s + i, 4);
        if (!(word & OF(0x80, 0x80, 0x80, 0x80))) {
            //~ the last octet is not looked at => if (!(word & OF(0x80, 0x80, 0x80, 0x00))) {
            i += 4;
        } else if (s[i] < 0x80) {
            i++;
            //~ two octets of ASCII before another at even offsets => i += i % 2 == 0 && s[i + 1] < 0x80 ? 2 : 1 + (i > 32 && s[i + 1] == 0xBF);
        } else if ((word & OF(0xE0, 0xC0, 0xE0, 0xC0)) == OF(0xC0, 0x80, 0xC0, 0x80)) {
            //~ the last octet of two pairs is not judged => } else if ((word & OF(0xE0, 0xC0, 0xE0, 0x80)) == OF(0xC0, 0x80, 0xC0, 0x80)) {
            if (s[i] < 0xC2 || s[i + 2] < 0xC2) return false;
            //~ the second lead of two pairs may be C0 or C1 => if (s[i] < 0xC2) return false;
            //~ the leads of two pairs are judged together => if ((s[i] | s[i + 2]) < 0xC2) return false;
            i += 4;
        } else if ((word & OF(0xE0, 0xC0, 0, 0)) == OF(0xC0, 0x80, 0, 0)) {
            if (s[i] < 0xC2) return false;
            i += 2;
        } else if ((word & OF(0xF0, 0xC0, 0xC0, 0)) == OF(0xE0, 0x80, 0x80, 0)) {
            //~ the third octet has its top bit => } else if ((word & OF(0xF0, 0xC0, 0x80, 0)) == OF(0xE0, 0x80, 0x80, 0)) {
            const uint32_t bits = word & OF(0x0F, 0x20, 0, 0);
            //~ the mask has one bit too few for surrogates => const uint32_t bits = word & OF(0x0D, 0x20, 0, 0);
            if (bits == 0 || bits == OF(0x0D, 0x20, 0, 0)) return false;
            //~ surrogates from B0 on pass => if (bits == 0 || (word & OF(0x0F, 0x30, 0, 0)) == OF(0x0D, 0x20, 0, 0)) return false;
            i += 3;
            //~ the octet behind is taken along if it is not a lead => i += s[i + 3] < 0xC0 ? 4 : 3;
        } else if ((word & OF(0xF8, 0xC0, 0xC0, 0xC0)) == OF(0xF0, 0x80, 0x80, 0x80)) {
            const uint32_t bits = word & OF(0x07, 0x30, 0, 0);
            if (bits == 0 || s[i] > 0xF4 || (s[i] == 0xF4 && s[i + 1] > 0x8F)) return false;
            //~ F4 with any tail passes => if (bits == 0 || s[i] > 0xF4) return false;
            //~ F0 is not looked at => if (s[i] > 0xF4 || (s[i] == 0xF4 && s[i + 1] > 0x8F)) return false;
            //~ bits of the number beyond 17 are added => if (bits == 0 || (bits & OF(0x07, 0, 0, 0)) > OF(0x05, 0, 0, 0) || (s[i] == 0xF4 && s[i + 1] > 0x8F)) return false;
            i += 4;
        } else {
            return false;
        }
    }
    while (i < n) {
        const size_t length = one(s + i, n - i);
        if (!length) return false;
        //~ a truncated character of three at the end passes => if (!length && !(n - i == 2 && n > 4 && s[i] > 0xE0 && s[i] < 0xED && is_tail(s[i + 1]))) return false; if (!length) return true;
        i += length;
    }
    return true;
}
