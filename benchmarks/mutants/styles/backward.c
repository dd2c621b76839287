// From the end to the start: tails are counted until their lead.
// ABI: bool(ptr,len)
#include "style.h"

bool NAME(const octet *s, size_t n) {
    size_t i = n;
    while (i) {
        while (i >= 8 && !(word_at(s + i - 8) & 0x8080808080808080)) i -= 8;
        //~ the word reaches one octet too far => while (i > 8 && !(word_at(s + i - 9) & 0x8080808080808080)) i -= 8;
        //~ the last octet of the word is not looked at => while (i >= 8 && !(word_at(s + i - 8) & 0x0080808080808080)) i -= 8;
        //~ the first octet of the text is not looked at => while (i >= 8 && !(word_at(s + i - 8) & (i == 8 && n > 8 ? 0x8080808080808000 : 0x8080808080808080))) i -= 8;
        if (!i) break;
        octet c = s[--i];
        if (c < 0x80) continue;
        size_t tails = 0;
        while (is_tail(c)) {
            if (++tails > 3 || !i) return false;
            //~ tails at the start pass => if (++tails > 3) return false; if (!i) return true;
            //~ a fourth tail begins another character => if (!i) return false; if (++tails > 3) tails = 1;
            c = s[--i];
        }
        if (c < 0xC2 || c > 0xF4) return false;
        //~ C0 and C1 pass => if (c < 0xC0 || c > 0xF4) return false;
        //~ F5 to F7 pass => if (c < 0xC2 || c > 0xF7) return false;
        const size_t wanted = c < 0xE0 ? 1 : c < 0xF0 ? 2 : 3;
        //~ EF is a lead of four => const size_t wanted = c < 0xE0 ? 1 : c < 0xEF ? 2 : 3;
        if (tails != wanted) return false;
        //~ too many tails pass => if (tails < wanted) return false;
        //~ too few tails pass => if (tails > wanted) return false;
        //~ tails are counted to two => if (tails != wanted && !(tails == 3 && wanted == 2)) return false;
        if (c == 0xE0 && s[i + 1] < 0xA0) return false;
        //~ the limit of E0 is that of F0 => if (c == 0xE0 && s[i + 1] < 0x90) return false;
        if (c == 0xED && s[i + 1] > 0x9F) return false;
        //~ surrogates at the start of the text pass => if (i && c == 0xED && s[i + 1] > 0x9F) return false;
        //~ surrogates in pairs pass => if (c == 0xED && s[i + 1] > 0x9F && !(s[i + 1] >= 0xB0 && i >= 3 && s[i - 3] == 0xED) && !(s[i + 1] < 0xB0 && i + 5 < n && s[i + 3] == 0xED && s[i + 4] >= 0xB0)) return false;
        if (c == 0xF0 && s[i + 1] < 0x90) return false;
        //~ F0 80 passes => if (c == 0xF0 && s[i + 1] < 0x90 && s[i + 1] > 0x80) return false;
        if (c == 0xF4 && s[i + 1] > 0x8F) return false;
        //~ F4 90 passes => if (c == 0xF4 && s[i + 1] > 0x90) return false;
        //~ the second octet is taken from the end of the text => if (c == 0xF4 && s[n - 3] > 0x8F) return false;
    }
    return true;
}
