// An automaton by shifts: each octet has a word with the next state of every state, six bits each.
// ABI: bool(ptr,len)
#include "style.h"

enum { BAD = 0, FINE = 6, LAST = 12, LAST_TWO = 18, LAST_THREE = 24, E0 = 30, ED = 36, F0 = 42, F4 = 48 };

#define GO(from, to) ((uint64_t)(to) << (from))
#define TAILS (GO(LAST, FINE) | GO(LAST_TWO, LAST) | GO(LAST_THREE, LAST_TWO))

static const uint64_t rows[256] = {
    [0x00 ... 0x7F] = GO(FINE, FINE),
    //~ 7F has no row => [0x00 ... 0x7E] = GO(FINE, FINE),
    //~ 0A also ends a character => [0x00 ... 0x7F] = GO(FINE, FINE), [0x0A] = GO(FINE, FINE) | GO(LAST, FINE),
    [0x80 ... 0x8F] = TAILS | GO(ED, LAST) | GO(F4, LAST_TWO),
    //~ E0 takes 8F => [0x80 ... 0x8F] = TAILS | GO(ED, LAST) | GO(F4, LAST_TWO), [0x8F] = TAILS | GO(ED, LAST) | GO(F4, LAST_TWO) | GO(E0, LAST),
    [0x90 ... 0x9F] = TAILS | GO(ED, LAST) | GO(F0, LAST_TWO),
    [0xA0 ... 0xBF] = TAILS | GO(E0, LAST) | GO(F0, LAST_TWO),
    //~ ED takes A0 => [0xA0 ... 0xBF] = TAILS | GO(E0, LAST) | GO(F0, LAST_TWO), [0xA0] = TAILS | GO(E0, LAST) | GO(ED, LAST) | GO(F0, LAST_TWO),
    //~ BF is no second tail => [0xA0 ... 0xBF] = TAILS | GO(E0, LAST) | GO(F0, LAST_TWO), [0xBF] = GO(LAST, FINE) | GO(E0, LAST) | GO(F0, LAST_TWO),
    [0xC2 ... 0xDF] = GO(FINE, LAST),
    //~ leads from C1 on => [0xC1 ... 0xDF] = GO(FINE, LAST),
    [0xE0] = GO(FINE, E0),
    [0xE1 ... 0xEC] = GO(FINE, LAST_TWO),
    [0xED] = GO(FINE, ED),
    [0xEE ... 0xEF] = GO(FINE, LAST_TWO),
    [0xF0] = GO(FINE, F0),
    [0xF1 ... 0xF3] = GO(FINE, LAST_THREE),
    //~ F1 within a sequence => [0xF1 ... 0xF3] = GO(FINE, LAST_THREE), [0xF1] = GO(FINE, LAST_THREE) | GO(LAST_TWO, LAST_THREE),
    [0xF4] = GO(FINE, F4),
};

static inline uint64_t run(uint64_t state, const octet *s, size_t n) {
    for (size_t k = 0; k < n; k++) state = rows[s[k]] >> (state & 63);
    return state & 63;
}

bool NAME(const octet *s, size_t n) {
    uint64_t state = FINE;
    size_t i = 0;
    for (; n - i >= 8; i += 8) {
        const uint64_t word = word_at(s + i);
        if (state == FINE && !(word & 0x8080808080808080)) continue;
        //~ the fast path forgets the state => if (!(word & 0x8080808080808080)) continue;
        //~ the first octet is not looked at => if (state == FINE && !(word & 0x8080808080808000)) continue;
        //~ the last octet is not looked at => if (state == FINE && !(word & 0x0080808080808080)) continue;
        //~ the mask has the wrong bit in one place => if (state == FINE && !(word & 0x8080808040808080)) continue;
        //~ the fast path is taken while one tail is due => if ((state == FINE || state == LAST) && !(word & 0x8080808080808080)) continue;
        //~ the fast path puts the state right => if (!(word & 0x8080808080808080)) { state = FINE; continue; }
        state = run(state, s + i, 8);
        //~ the seventh octet ends the block => state = run(state, s + i, 7); if (s[i + 7] >= 0x80) state = rows[s[i + 7]] >> state & 63;
        if (state == BAD) return false;
        //~ the check comes at every other block => if (state == BAD && i % 16) return false; if (state == BAD) state = FINE;
    }
    state = run(state, s + i, n - i);
    //~ the state starts again after the blocks => state = run(FINE, s + i, n - i);
    //~ the rest has at most seven octets, one is lost => state = run(state, s + i, n - i == 7 ? 6 : n - i);
    return state == FINE;
    //~ any state but the bad one is fine => return state != BAD;
}
