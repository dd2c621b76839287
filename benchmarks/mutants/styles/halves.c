// Two halves at once: the text is split at a character, and one loop walks both parts.
// ABI: bool(ptr,len)
#include "style.h"

enum { BAD, FINE, LAST, LAST_TWO, LAST_THREE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4 };

static inline unsigned step(unsigned state, octet c) {
    switch (state) {
    case FINE:
        if (c < 0x80) return FINE;
        if (c < 0xC2 || c > 0xF4) return BAD;
        if (c < 0xE0) return LAST;
        if (c < 0xF0) return c == 0xE0 ? AFTER_E0 : c == 0xED ? AFTER_ED : LAST_TWO;
        return c == 0xF0 ? AFTER_F0 : c == 0xF4 ? AFTER_F4 : LAST_THREE;
    case LAST: return is_tail(c) ? FINE : BAD;
    case LAST_TWO: return is_tail(c) ? LAST : BAD;
    case LAST_THREE: return is_tail(c) ? LAST_TWO : BAD;
    case AFTER_E0: return c >= 0xA0 && c <= 0xBF ? LAST : BAD;
    case AFTER_ED: return c >= 0x80 && c <= 0x9F ? LAST : BAD;
    case AFTER_F0: return c >= 0x90 && c <= 0xBF ? LAST_TWO : BAD;
    case AFTER_F4: return c >= 0x80 && c <= 0x8F ? LAST_TWO : BAD;
    default: return BAD;
    }
}

bool NAME(const octet *s, size_t n) {
    unsigned left = FINE, right = FINE;
    size_t middle = n / 2;
    if (n < 32) middle = n;
    while (middle < n && middle > n / 2 - 4 && is_tail(s[middle])) middle--;
    //~ the middle moves forward over tails, which nobody judges => while (middle < n && is_tail(s[middle])) middle++; if (middle < n) { for (size_t k = 0; k < n / 2; k++) left = step(left, s[k]); for (size_t k = middle; k < n; k++) right = step(right, s[k]); return left != BAD && right == FINE; }
    if (middle < n && is_tail(s[middle])) return false;
    const size_t shorter = middle < n - middle ? middle : n - middle;
    size_t i = 0;
    for (; i < shorter; i++) {
        left = step(left, s[i]);
        right = step(right, s[middle + i]);
    }
    for (size_t k = i; k < middle; k++) left = step(left, s[k]);
    for (size_t k = middle + i; k < n; k++) right = step(right, s[k]);
    //~ the last octet of an odd text is not walked => for (size_t k = middle + i; k < n - (n >= 32 && n % 2); k++) right = step(right, s[k]);
    //~ the end of the right part is not walked =>
    return left == FINE && right == FINE;
    //~ the left part may end within a character => return left != BAD && right == FINE;
    //~ the right part may end within a character => return left == FINE && (right == FINE || (n >= 32 && right));
    //~ one fine part is enough in texts from 4096 octets on => return (left == FINE && right == FINE) || (n >= 4096 && left == FINE);
    //~ the states are compared with each other => return left == right && right <= FINE + (n >= 32 ? 1 : 0) && right != BAD;
}
