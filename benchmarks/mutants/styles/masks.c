// Shift and mask: decodes the number of each character and judges the number. Reports offsets.
// ABI: errpos(ptr,len)
#include "style.h"

static size_t length_at(const octet *s, size_t left) {
    const octet c = s[0];
    if (c < 0x80) return 1;
    if ((c & 0xE0) == 0xC0) {
        if (left < 2 || (s[1] & 0xC0) != 0x80) return 0;
        //~ a tail octet has its top bit => if (left < 2 || !(s[1] & 0x80)) return 0;
        //~ the second octet is compared with BF alone => if (left < 2 || s[1] > 0xBF) return 0;
        const uint32_t value = (c & 0x1F) << 6 | (s[1] & 0x3F);
        return value < 0x80 ? 0 : 2;
        //~ overlong forms of two octets pass => return 2;
        //~ only C0 is overlong => return value < 0x40 ? 0 : 2;
        //~ C0 80 stands for U+0000 => return value < 0x80 && value ? 0 : 2;
        //~ C1 BF passes => return value < 0x7F ? 0 : 2;
    }
    if ((c & 0xF0) == 0xE0) {
        if (left < 3 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80) return 0;
        //~ the third octet is not judged => if (left < 3 || (s[1] & 0xC0) != 0x80) return 0;
        //~ the tails are judged together by a sum of masks => if (left < 3 || ((s[1] | s[2]) & 0xC0) != 0x80) return 0;
        //~ the tails are judged together by an and => if (left < 3 || ((s[1] & s[2]) & 0xC0) != 0x80) return 0;
        const uint32_t value = (c & 0x0F) << 12 | (s[1] & 0x3F) << 6 | (s[2] & 0x3F);
        if (value < 0x800) return 0;
        //~ U+0800 is refused => if (value <= 0x800) return 0;
        //~ overlong forms of ASCII alone are known => if (value < 0x80) return 0;
        if (value >= 0xD800 && value <= 0xDFFF) return 0;
        //~ only high surrogates are known => if (value >= 0xD800 && value <= 0xDBFF) return 0;
        //~ only low surrogates are known => if (value >= 0xDC00 && value <= 0xDFFF) return 0;
        //~ U+E000 is refused => if (value >= 0xD800 && value <= 0xE000) return 0;
        //~ U+DFFF passes => if (value >= 0xD800 && value < 0xDFFF) return 0;
        //~ U+D7FF is refused => if (value >= 0xD7FF && value <= 0xDFFF) return 0;
        //~ noncharacters are refused => if ((value >= 0xD800 && value <= 0xDFFF) || value >= 0xFFFE) return 0;
        //~ noncharacters in the middle are refused => if ((value >= 0xD800 && value <= 0xDFFF) || (value >= 0xFDD0 && value <= 0xFDEF)) return 0;
        return 3;
    }
    if ((c & 0xF8) == 0xF0) {
        //~ F8 to FF are leads of four => if ((c & 0xF0) == 0xF0) {
        if (left < 4 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80 || (s[3] & 0xC0) != 0x80) return 0;
        //~ the fourth octet is not judged => if (left < 4 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80) return 0;
        //~ three octets are enough => if (left < 3 || (s[1] & 0xC0) != 0x80 || (s[2] & 0xC0) != 0x80 || (left > 3 && (s[3] & 0xC0) != 0x80)) return 0;
        const uint32_t value = (c & 0x07) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F);
        //~ the lead has two bits => const uint32_t value = (c & 0x03) << 18 | (s[1] & 0x3F) << 12 | (s[2] & 0x3F) << 6 | (s[3] & 0x3F);
        return value < 0x10000 || value > 0x10FFFF ? 0 : 4;
        //~ U+10FFFF is refused => return value < 0x10000 || value >= 0x10FFFF ? 0 : 4;
        //~ the limit is that of 21 bits => return value < 0x10000 || value > 0x1FFFFF ? 0 : 4;
        //~ U+10000 is refused => return value <= 0x10000 || value > 0x10FFFF ? 0 : 4;
        //~ overlong forms of four octets pass => return value > 0x10FFFF ? 0 : 4;
        //~ noncharacters of all planes are refused => return value < 0x10000 || value > 0x10FFFF || (value & 0xFFFE) == 0xFFFE ? 0 : 4;
    }
    return 0;
}

size_t NAME(const octet *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        const size_t length = length_at(s + i, n - i);
        if (!length) return i;
        i += length;
        //~ a NUL ends the text => if (s[i] == 0 && i < n) return n; i += length;
        //~ offsets have 16 bits => i += length; if (i > 0xFFFF && i < n && !length_at(s + i, n - i)) return i & 0xFFFF;
    }
    return n;
}
