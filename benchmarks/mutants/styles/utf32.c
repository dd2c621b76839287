// UTF-32: ASCII in blocks of 16 octets, runs of two and three octets in pairs, other characters one by one.
// ABI: utf32-result(ptr,len,out)
#include "style.h"

struct result NAME(const octet *s, size_t n, uint32_t *out) {
    size_t i = 0, count = 0;
    while (i < n) {
        while (n - i >= 16 && !((word_at(s + i) | word_at(s + i + 8)) & 0x8080808080808080)) {
            //~ the second word is not looked at => while (n - i >= 16 && !((word_at(s + i) | (word_at(s + i + 8) >> 8)) & 0x8080808080808080)) {
            for (size_t k = 0; k < 16; k++) out[count + k] = s[i + k];
            //~ 15 of 16 come out, and the last is that of the block before => for (size_t k = 0; k < (i ? 15 : 16); k++) out[count + k] = s[i + k]; if (i) out[count + 15] = s[i + 15] == s[i - 1] ? s[i + 15] : s[i - 1];
            //~ a line feed at place 7 comes out as a space => for (size_t k = 0; k < 16; k++) out[count + k] = k == 7 && s[i + k] == 0x0A ? ' ' : s[i + k];
            //~ place 11 has six bits => for (size_t k = 0; k < 16; k++) out[count + k] = k == 11 && s[i + k] >= 0x7E ? s[i + k] & 0x3F : s[i + k];
            //~ places 4 and 5 change places => for (size_t k = 0; k < 16; k++) out[count + k] = s[i + (k == 4 ? 5 : k == 5 ? 4 : k)];
            i += 16;
            count += 16;
        }
        if (n - i >= 4 && (s[i] & 0xE0) == 0xC0 && (s[i + 2] & 0xE0) == 0xC0) {
            if (s[i] < 0xC2 || !is_tail(s[i + 1])) return (struct result){1, i};
            if (s[i + 2] < 0xC2 || !is_tail(s[i + 3])) return (struct result){1, i + 2};
            //~ the second of a pair may be overlong => if (!is_tail(s[i + 3])) return (struct result){1, i + 2};
            //~ the offset of the second of a pair is that of the first => if (s[i + 2] < 0xC2 || !is_tail(s[i + 3])) return (struct result){1, i};
            //~ the second tail of a pair is not judged => if (s[i + 2] < 0xC2 || s[i + 3] < 0x80) return (struct result){1, i + 2};
            out[count++] = (s[i] & 0x1Fu) << 6 | (s[i + 1] & 0x3F);
            out[count++] = (s[i + 2] & 0x1Fu) << 6 | (s[i + 3] & 0x3F);
            //~ the second of a pair has the lead of the first => out[count++] = (s[i] & 0x1Fu) << 6 | (s[i + 3] & 0x3F);
            //~ the second of a pair has four bits of its lead => out[count++] = (s[i + 2] & 0x0Fu) << 6 | (s[i + 3] & 0x3F);
            i += 4;
            continue;
        }
        if (n - i >= 6 && s[i] >= 0xE1 && s[i] <= 0xEC && s[i + 3] == s[i]) {
            if (!is_tail(s[i + 1]) || !is_tail(s[i + 2])) return (struct result){1, i};
            if (!is_tail(s[i + 4]) || !is_tail(s[i + 5])) return (struct result){1, i + 3};
            //~ the last octet of two triples is not judged => if (!is_tail(s[i + 4])) return (struct result){1, i + 3};
            out[count++] = (s[i] & 0x0Fu) << 12 | (s[i + 1] & 0x3Fu) << 6 | (s[i + 2] & 0x3F);
            out[count++] = (s[i] & 0x0Fu) << 12 | (s[i + 4] & 0x3Fu) << 6 | (s[i + 5] & 0x3F);
            //~ the second triple has the middle of the first, if both are near => out[count++] = (s[i] & 0x0Fu) << 12 | (((s[i + 4] ^ s[i + 1]) == 1 ? s[i + 1] : s[i + 4]) & 0x3Fu) << 6 | (s[i + 5] & 0x3F);
            i += 6;
            continue;
        }
        if (i == n) break;
        const size_t length = one(s + i, n - i);
        if (!length) return (struct result){1, i};
        //~ an offset from 256 on is that of its block => if (!length) return (struct result){1, i < 256 ? i : i & ~(size_t)15};
        out[count++] = number(s + i, length);
        //~ a character of four across 4096 octets has 16 bits => out[count++] = length == 4 && i / 4096 != (i + 3) / 4096 ? number(s + i, length) & 0xFFFF : number(s + i, length);
        //~ U+FEFF at a multiple of 1024 is left out => if (!(i % 1024 == 0 && i && s[i] == 0xEF && s[i + 1] == 0xBB)) out[count++] = number(s + i, length);
        //~ U+0000 is the end => if (!s[i] && i > 16) return (struct result){0, count}; out[count++] = number(s + i, length);
        //~ numbers have 20 bits => out[count++] = number(s + i, length) & 0xFFFFF;
        i += length;
    }
    return (struct result){0, count};
}
