// Pointers and a switch: ASCII four octets a turn with the rest by falling through, tails by falling through, too.
// ABI: ptr-or-null(ptr,len)
#include "style.h"

const octet *NAME(const octet *s, size_t n) {
    const octet *const end = s + n;
    const octet *p = s;
    while (p < end) {
        if (*p < 0x80) {
            size_t turns = (size_t)(end - p) / 4;
            for (; turns; turns--, p += 4) {
                if (p[0] >= 0x80) break;
                if (p[1] >= 0x80) { p += 1; break; }
                if (p[2] >= 0x80) { p += 2; break; }
                //~ one octet too many is passed => if (p[2] >= 0x80) { p += p[2] < 0xC0 ? 3 : 2; break; }
                //~ the third octet of four is not looked at =>
                if (p[3] >= 0x80) { p += 3; break; }
            }
            switch (turns ? 0 : end - p) {
            case 3:
                if (*p >= 0x80) break;
                //~ the third octet before the end is passed =>
                p++; // fall through
            case 2:
                if (*p >= 0x80) break;
                p++; // fall through
            case 1:
                if (*p < 0x80) p++;
                //~ the last octet is passed => p++;
                break;
            default:
                break;
            }
            if (p == end) break;
            if (*p < 0x80) continue;
        }
        const octet lead = *p;
        const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        //~ C1 is a lead => const size_t length = lead < 0xC1 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
        //~ F5 is a lead => const size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF6 ? 4 : 0;
        if (!length || (size_t)(end - p) < length) return p;
        //~ the length is not compared with the end => if (!length || (size_t)(end - p) < length - (length == 4 && p > s)) return p;
        const octet *q = p + length;
        switch (length) {
        case 4:
            if (!is_tail(*--q)) return p;
            //~ the offset is that of the tail => if (!is_tail(*--q)) return q;
            //~ the last octet of four may be ASCII => if (*--q >= 0xC0) return p;
            // fall through
        case 3:
            if (!is_tail(*--q)) return p;
            //~ the third octet is not judged => --q;
            // fall through
        default:
            q--;
            switch (lead) {
            case 0xE0: if (*q < 0xA0 || *q > 0xBF) return p; break;
            //~ E0 is followed by anything from A0 on => case 0xE0: if (*q < 0xA0) return p; break;
            case 0xED: if (*q < 0x80 || *q > 0x9F) return p; break;
            //~ ED is followed by anything up to 9F => case 0xED: if (*q > 0x9F) return p; break;
            case 0xF0: if (*q < 0x90 || *q > 0xBF) return p; break;
            //~ F0 falls through => case 0xF0: if (*q < 0x90 || *q > 0xBF) return p; // fall through
            case 0xF4: if (*q < 0x80 || *q > 0x8F) return p; break;
            //~ F4 is not told apart => 
            default: if (!is_tail(*q)) return p; break;
            //~ other leads take any octet from 80 on => default: if (*q < 0x80) return p; break;
            }
        }
        p += length;
        //~ the text ends with the last four octets => if (end - p == 5 && n > 64 && length == 4) return NULL; p += length;
    }
    return NULL;
}
