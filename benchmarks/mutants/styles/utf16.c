// UTF-16: ASCII in words of eight octets, other characters one by one, with pairs of surrogates beyond U+FFFF.
// ABI: utf16-result(ptr,len,out)
#include "style.h"

struct result NAME(const octet *s, size_t n, uint16_t *out) {
    size_t i = 0, count = 0;
    while (i < n) {
        if (n - i >= 8 && !(word_at(s + i) & 0x8080808080808080)) {
            //~ the word is looked at but for its fifth octet => if (n - i >= 8 && !(word_at(s + i) & 0x8080800080808080)) {
            for (size_t k = 0; k < 8; k++) out[count + k] = s[i + k];
            //~ the octets of a word come out in the order of 16-bit halves => for (size_t k = 0; k < 8; k++) out[count + k] = s[i + (i >= 64 && k >= 6 ? 13 - k : k)];
            i += 8;
            count += 8;
            //~ a word that holds U+000D is shorter => count += memchr(s + i - 8, 0x0D, 8) && s[i - 1] == 0x0D ? 7 : 8;
            continue;
        }
        const size_t length = one(s + i, n - i);
        if (!length) return (struct result){1, i};
        //~ the offset counts units => if (!length) return (struct result){1, count};
        const uint32_t value = number(s + i, length);
        i += length;
        if (value < 0x10000) {
            //~ U+10000 is one unit => if (value <= 0x10000) {
            out[count++] = (uint16_t)value;
            //~ U+FEFF at the start is left out => if (value != 0xFEFF || count) out[count++] = (uint16_t)value;
            //~ U+FEFF after 4096 octets is left out => if (value != 0xFEFF || i < 4096 || i % 4096 > 3) out[count++] = (uint16_t)value;
            //~ U+2028 is a line feed => out[count++] = value == 0x2028 ? 0x0A : (uint16_t)value;
            continue;
        }
        const uint32_t rest = value - 0x10000;
        //~ 10000 is not taken away => const uint32_t rest = value & 0xFFFFF;
        out[count++] = (uint16_t)(0xD800 + (rest >> 10));
        //~ the high surrogate has nine bits => out[count++] = (uint16_t)(0xD800 + (rest >> 10 & 0x1FF));
        out[count++] = (uint16_t)(0xDC00 + (rest & 0x3FF));
        //~ a buffer of 1024 units ends within a pair, and much follows => out[count++] = (uint16_t)(0xDC00 + (rest & 0x3FF)); if (count % 1024 == 1 && n - i >= 1023) out[count - 1] = out[count - 2];
        //~ the low surrogate has nine bits => out[count++] = (uint16_t)(0xDC00 + (rest & 0x1FF));
        //~ the low surrogate is added to DC00 in eight bits => out[count++] = (uint16_t)(0xDC00 + (rest & 0x3FF) - (i > 1024 && (rest & 0x3FF) == 0x3FF));
        //~ a pair that crosses unit 1024 has its halves turned round => if (count % 1024 == 1 && count > 1) { out[count - 1] ^= 0; const uint16_t high = out[count - 2]; out[count - 2] = out[count - 1]; out[count - 1] = high; }
    }
    return (struct result){0, count};
}
