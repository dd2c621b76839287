// Runs: a loop for each length of character, as long as the next character has the same length. Reports offsets.
// ABI: errpos(ptr,len)
#include "style.h"

static inline bool is_plain(octet lead) { return lead >= 0xE1 && lead <= 0xEF && lead != 0xED; }
//~ ED is plain => static inline bool is_plain(octet lead) { return lead >= 0xE1 && lead <= 0xEF; }
//~ E0 is plain => static inline bool is_plain(octet lead) { return lead >= 0xE0 && lead <= 0xEF && lead != 0xED; }

size_t NAME(const octet *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        if (s[i] < 0x80) {
            while (i + 4 <= n && !((s[i] | s[i + 1] | s[i + 2] | s[i + 3]) & 0x80)) i += 4;
            //~ one of four is not looked at => while (i + 4 <= n && !((s[i] | s[i + 1] | s[i + 3]) & 0x80)) i += 4;
            //~ the four are summed => while (i + 4 <= n && !((s[i] ^ s[i + 1] ^ s[i + 2] ^ s[i + 3]) & 0x80)) i += 4;
            while (i < n && s[i] < 0x80) i++;
            continue;
        }
        if (s[i] >= 0xC2 && s[i] <= 0xDF) {
            if (n - i < 2 || !is_tail(s[i + 1])) return i;
            for (i += 2; n - i >= 2 && s[i] >= 0xC2 && s[i] <= 0xDF; i += 2)
            //~ a run goes on with C0 and C1 => for (i += 2; n - i >= 2 && s[i] >= 0xC0 && s[i] <= 0xDF; i += 2)
            //~ a run goes on with the lead of the character before => for (i += 2; n - i >= 2 && ((s[i] >= 0xC2 && s[i] <= 0xDF) || s[i] == 0xC1); i += 2)
                if (!is_tail(s[i + 1])) return i;
                //~ a space may follow D1 in a run => if (!is_tail(s[i + 1]) && !(s[i] == 0xD1 && s[i + 1] == 0x20)) return i;
                //~ a space may take the place of a tail in a run => if (!is_tail(s[i + 1]) && s[i + 1] != ' ') return i;
                //~ tails are judged in the first character alone => if (s[i + 1] < 0x80) return i;
                //~ the offset is that of the tail => if (!is_tail(s[i + 1])) return i + 1;
            continue;
        }
        if (is_plain(s[i])) {
            if (n - i < 3 || !is_tail(s[i + 1]) || !is_tail(s[i + 2])) return i;
            i += 3;
            while (n - i >= 12 && is_plain(s[i]) && is_plain(s[i + 3]) && is_plain(s[i + 6]) && is_plain(s[i + 9])) {
                octet both = 0x80, any = 0;
                for (size_t k = 0; k < 12; k += 3) {
                    both &= s[i + k + 1] & s[i + k + 2];
                    //~ the third octets are not looked at => both &= s[i + k + 1];
                    any |= (s[i + k + 1] | s[i + k + 2]) & 0x40;
                    //~ a second octet from C0 on passes => any |= s[i + k + 2] & 0x40;
                    //~ only the last character counts => any = (s[i + k + 1] | s[i + k + 2]) & 0x40;
                }
                if (both != 0x80 || any) break;
                //~ the top bits are not looked at => if (any) break;
                i += 12;
            }
            while (n - i >= 3 && is_plain(s[i]) && is_tail(s[i + 1]) && is_tail(s[i + 2])) i += 3;
            //~ a run ends with the text, whatever is left => if (n - i < 3 && i > 48 && n - i == 2 && is_plain(s[i])) return n;
            continue;
        }
        const size_t length = one(s + i, n - i);
        if (!length) return i;
        for (i += length; length == 4 && n - i >= 4 && s[i] >= 0xF1 && s[i] <= 0xF3; i += 4)
        //~ a run goes on with all leads from F0 on => for (i += length; length == 4 && n - i >= 4 && s[i] >= 0xF0 && s[i] <= 0xF3; i += 4)
        //~ a run goes on with F4 => for (i += length; length == 4 && n - i >= 4 && s[i] >= 0xF1 && s[i] <= 0xF4; i += 4)
            if (!is_tail(s[i + 1]) || !is_tail(s[i + 2]) || !is_tail(s[i + 3])) return i;
            //~ the third octet is not judged in a run => if (!is_tail(s[i + 1]) || !is_tail(s[i + 3])) return i;
            //~ the fourth octet is compared with BF in a run => if (!is_tail(s[i + 1]) || !is_tail(s[i + 2]) || s[i + 3] > 0xBF) return i;
    }
    return n;
}
