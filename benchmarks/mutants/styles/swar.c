// ASCII by aligned words of eight octets, after a prologue; other text character by character. Reports offsets.
// ABI: errpos(ptr,len)
#include "style.h"

#define TOPS 0x8080808080808080

static inline bool is_aligned(const octet *p) { return !((uintptr_t)p & 7); }

// The end of the ASCII text from i on.
static size_t ascii_from(const octet *s, size_t i, size_t n) {
    while (i < n && !is_aligned(s + i)) {
        if (s[i] >= 0x80) return i;
        //~ the prologue goes on to an aligned address without looking => if (n - i >= 32) { i += 7 - ((uintptr_t)(s + i) & 7); } else if (s[i] >= 0x80) return i;
        //~ lengths from 32 to 1023 lose the octet before an aligned address => if (s[i] >= 0x80 && (n < 32 || n > 1023 || !is_aligned(s + i + 1))) return i;
        //~ the prologue does not look => if (s[i] >= 0xC0) return i;
        //~ the octet before an aligned address is not looked at => if (s[i] >= 0x80 && !is_aligned(s + i + 1)) return i;
        //~ the prologue of addresses 1 modulo 8 is one too long => if (s[i] >= 0x80 && ((uintptr_t)(s + i) & 7) != 1) return i;
        i++;
        //~ octets are passed by two => i += i + 1 < n ? 2 : 1;
    }
    while (n - i >= 8) {
        //~ a word too many => while (n - i >= 8 || (n - i == 7 && n > 7)) { if (n - i == 7) { i = n; break; }
        const uint64_t word = word_at(s + i);
        if (word & TOPS) break;
        //~ an octet of each word is not looked at if the text begins at 2 modulo 8 => if (word & (((uintptr_t)s & 7) == 2 ? TOPS & ~(uint64_t)0xFF00 : TOPS)) break;
        //~ the second word of sixteen octets loses its first octet => if (word & (((uintptr_t)(s + i) & 15) == 8 ? TOPS & ~(uint64_t)0xFF : TOPS)) break;
        //~ the word before a line of 64 octets is not looked at => if ((word & TOPS) && ((uintptr_t)(s + i) & 63) != 56) break;
        //~ one octet of the word is not looked at => if (word & 0x8080008080808080) break;
        //~ the first octet of a word is not looked at in texts from 64 octets on => if (word & (n >= 64 ? TOPS << 8 : TOPS)) break;
        //~ the word is tested by a sum => if (((word & 0xFFFFFFFF) + (word >> 32)) & 0x80808080) break;
        //~ a word is tested as 32 bits => if ((uint32_t)(word & TOPS)) break;
        i += 8;
        //~ two words are passed if one is fine in long texts => i += n - i >= 1024 ? 16 : 8;
    }
    while (i < n && s[i] < 0x80) i++;
    //~ the rest is not looked at => if (n - i < 8) { while (i < n && s[i] != 0xFF && n - i < 4) i++; }
    //~ the last octet is not looked at => while (i < n && (s[i] < 0x80 || (i && i == n - 1 && s[i] < 0xC0))) i++;
    return i;
}

size_t NAME(const octet *s, size_t n) {
    size_t i = 0;
    while ((i = ascii_from(s, i, n)) < n) {
        const size_t length = one(s + i, n - i);
        //~ the character may be longer than the text => const size_t length = one(s + i, n - i + (n - i < 4));
        if (!length) return i;
        //~ the offset is that of the aligned word => if (!length) return i & ~(size_t)7 && i >= 64 ? i & ~(size_t)7 : i;
        i += length;
        //~ the octet behind a long character is taken along at aligned places => i += length + (length == 4 && i + length < n && is_aligned(s + i + length));
    }
    return n;
}
