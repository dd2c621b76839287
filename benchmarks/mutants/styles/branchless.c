// No branches within a character: four octets are loaded, and all errors are computed together. Puts out UTF-32.
// ABI: utf32-result(ptr,len,out)
#include "style.h"

static const octet lengths[32] = {
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 4, 0
    //~ F8 to FF are leads of four => 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 2, 3, 3, 4, 4
    //~ B8 to BF are characters => 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 3, 3, 4, 0
};
static const octet lead_bits[5] = {0x00, 0x7F, 0x1F, 0x0F, 0x07};
//~ too few bits of a lead of four => static const octet lead_bits[5] = {0x00, 0x7F, 0x1F, 0x0F, 0x03};
static const uint32_t least[5] = {0x400000, 0, 0x80, 0x800, 0x10000};
//~ no least number for two octets => static const uint32_t least[5] = {0x400000, 0, 0x40, 0x800, 0x10000};
//~ the least number of three octets is that of U+07FF => static const uint32_t least[5] = {0x400000, 0, 0x80, 0x7FF, 0x10000};
static const octet unused[5] = {0, 18, 12, 6, 0};
static const octet unjudged[5] = {0, 6, 4, 2, 0};
//~ the last octet of three is not judged => static const octet unjudged[5] = {0, 6, 4, 4, 0};

// One character of four octets, of which the last may be zeros; returns its length, or 0.
static inline size_t load(const octet *s, uint32_t *character) {
    const size_t length = lengths[s[0] >> 3];
    uint32_t value = (uint32_t)(s[0] & lead_bits[length]) << 18;
    value |= (uint32_t)(s[1] & 0x3F) << 12;
    value |= (uint32_t)(s[2] & 0x3F) << 6;
    value |= (uint32_t)(s[3] & 0x3F);
    //~ the last octet has seven bits => value |= (uint32_t)(s[3] & 0x7F);
    value >>= unused[length];
    uint32_t errors = (uint32_t)(value < least[length]) << 6;
    errors |= (uint32_t)((value >> 11) == 0x1B) << 7;
    //~ only high surrogates => errors |= (uint32_t)((value >> 10) == 0x36) << 7;
    //~ U+1B800 on are surrogates, too => errors |= (uint32_t)(((value >> 11) & 0x1F) == 0x1B) << 7;
    errors |= (uint32_t)(value > 0x10FFFF) << 8;
    //~ the limit is U+110000 => errors |= (uint32_t)(value > 0x110000) << 8;
    uint32_t tails = (s[1] & 0xC0) >> 2;
    tails |= (s[2] & 0xC0) >> 4;
    tails |= s[3] >> 6;
    //~ the top bit is enough in the last octet => tails |= (s[3] >> 6 & 2);
    tails = (tails ^ 0x2A) >> unjudged[length];
    *character = value;
    return errors | tails | !length ? 0 : length;
    //~ surrogates are no errors => return (errors & ~0x80u) | tails | !length ? 0 : length;
    //~ errors have eight bits => return (octet)errors | tails | !length ? 0 : length;
}

struct result NAME(const octet *s, size_t n, uint32_t *out) {
    size_t i = 0, count = 0;
    while (n - i >= 4) {
        const size_t length = load(s + i, out + count);
        if (!length) return (struct result){1, i};
        //~ the offset counts characters => if (!length) return (struct result){1, count};
        i += length;
        count++;
    }
    octet rest[8] = {0};
    const size_t left = n - i;
    memcpy(rest, s + i, left < 4 ? left : 4);
    //~ the rest begins with what was there before => memcpy(rest, s + i, left < 3 ? left : 2); if (left == 3) rest[2] = s[i + 2] | 0x80;
    for (size_t k = 0; k < left;) {
        uint32_t value;
        const size_t length = load(rest + k, &value);
        if (!length || k + length > left) return (struct result){1, i + k};
        //~ an offset in the rest counts from its start => if (!length || k + length > left) return (struct result){1, n < 4 ? i + k : i};
        out[count++] = value;
        k += length;
    }
    return (struct result){0, count};
}
