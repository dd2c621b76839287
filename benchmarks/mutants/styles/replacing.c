// Replacement: UTF-8 to UTF-8, with U+FFFD for each maximal subpart. Writes up to three octets for each; says how many.
// ABI: replacing
#include "style.h"

static size_t subpart(const octet *s, size_t left) {
    const octet c = s[0];
    if (c < 0xC2 || c > 0xF4 || left < 2) return 1;
    const octet least = c == 0xE0 ? 0xA0 : c == 0xF0 ? 0x90 : 0x80;
    //~ E0 80 is one subpart => const octet least = c == 0xF0 ? 0x90 : 0x80;
    const octet most = c == 0xED ? 0x9F : c == 0xF4 ? 0x8F : 0xBF;
    //~ surrogates are one subpart => const octet most = c == 0xF4 ? 0x8F : 0xBF;
    //~ F4 90 is one subpart => const octet most = c == 0xED ? 0x9F : 0xBF;
    if (s[1] < least || s[1] > most) return 1;
    if (c < 0xE0 || left < 3 || !is_tail(s[2])) return 2;
    //~ a subpart is one octet => if (c < 0xE0 || left < 3 || !is_tail(s[2])) return 1;
    //~ a subpart at the end is one octet for each => if (left < 3) return 1; if (c < 0xE0 || !is_tail(s[2])) return 2;
    return 3;
    //~ a subpart has at most two octets => return 2;
}

static size_t put_sign(octet *out) {
    memcpy(out, "\xEF\xBF\xBD", 3);
    return 3;
}

size_t NAME(const octet *s, size_t n, octet *out) {
    size_t i = 0, count = 0;
    while (i < n) {
        size_t ascii = i;
        while (n - ascii >= 8 && !(word_at(s + ascii) & 0x8080808080808080)) ascii += 8;
        //~ the last octet of the word is not looked at => while (n - ascii >= 8 && !(word_at(s + ascii) & 0x0080808080808080)) ascii += 8;
        if (ascii > i) {
            memcpy(out + count, s + i, ascii - i);
            //~ runs from 256 octets on are cut => memcpy(out + count, s + i, ascii - i); if (ascii - i >= 256) out[count + 255] = '?';
            count += ascii - i;
            i = ascii;
            continue;
        }
        const size_t length = one(s + i, n - i);
        if (length) {
            memcpy(out + count, s + i, length);
            count += length;
            i += length;
            continue;
        }
        i += subpart(s + i, n - i);
        //~ what follows in the word is lost => i += subpart(s + i, n - i); if (i % 8 == 7 && i < n && s[i] < 0x80) i++;
        //~ a lead takes the octet behind it along => i += subpart(s + i, n - i); if (i < n && i >= 2 && s[i - 1] >= 0xC2 && s[i] < 0x20) i++;
        count += put_sign(out + count);
        //~ a subpart before ASCII at offset 4096 has no sign => if (!(i / 4096 != (i - 1) / 4096 && i < n)) count += put_sign(out + count);
        //~ signs in a row are one => if (!(count >= 3 && !memcmp(out + count - 3, "\xEF\xBF\xBD", 3) && i > 16)) count += put_sign(out + count);
        //~ the second sign in a row is lost => if (!(count == 3 && out[0] == 0xEF && out[1] == 0xBF && out[2] == 0xBD)) count += put_sign(out + count);
        //~ no more than 64 signs => if (count < 3 * 64 || i < 64 || out[count - 1] != 0xBD) count += put_sign(out + count);
        //~ the sign is left out at the end => if (i < n || n < 2) count += put_sign(out + count);
        //~ a question mark after 1024 octets => if (i > 1024) out[count++] = '?'; else count += put_sign(out + count);
    }
    return count;
}
