// An automaton in tables: octets have classes, and rows of states say what follows each class.
// ABI: errpos(ptr,len)
#include "style.h"

enum { BAD, FINE, LAST, LAST_TWO, LAST_THREE, AFTER_E0, AFTER_ED, AFTER_F0, AFTER_F4, STATES };

static const octet class_of[256] = {
    [0x80 ... 0x8F] = 1,
    [0x90 ... 0x9F] = 2,
    [0xA0 ... 0xBF] = 3,
    [0xC0 ... 0xC1] = 4,
    //~ C1 is a lead => [0xC0 ... 0xC1] = 4, [0xC1] = 5,
    //~ C0 is a lead => [0xC0 ... 0xC1] = 4, [0xC0] = 5,
    [0xC2 ... 0xDF] = 5,
    //~ DF is no lead => [0xC2 ... 0xDF] = 5, [0xDF] = 4,
    //~ D0 has the class of E1 => [0xC2 ... 0xDF] = 5, [0xD0] = 7,
    [0xE0] = 6,
    //~ E0 is like E1 => [0xE0] = 7,
    [0xE1 ... 0xEC] = 7,
    //~ EC is like ED => [0xE1 ... 0xEC] = 7, [0xEC] = 8,
    //~ E8 has the class of a tail => [0xE1 ... 0xEC] = 7, [0xE8] = 3,
    [0xED] = 8,
    //~ ED is like EE => [0xED] = 7,
    [0xEE ... 0xEF] = 7,
    //~ EF is no lead => [0xEE ... 0xEF] = 7, [0xEF] = 4,
    [0xF0] = 9,
    //~ F0 is like F1 => [0xF0] = 10,
    [0xF1 ... 0xF3] = 10,
    [0xF4] = 11,
    //~ F4 is like F3 => [0xF4] = 10,
    [0xF5 ... 0xFF] = 4,
    //~ F5 is like F3 => [0xF5 ... 0xFF] = 4, [0xF5] = 10,
    //~ FF is ASCII => [0xF5 ... 0xFE] = 4,
    //~ FE is a tail => [0xF5 ... 0xFF] = 4, [0xFE] = 3,
};

static const octet following[STATES][12] = {
    [FINE] = {FINE, BAD, BAD, BAD, BAD, LAST, AFTER_E0, LAST_TWO, AFTER_ED, AFTER_F0, LAST_THREE, AFTER_F4},
    [LAST] = {[1] = FINE, [2] = FINE, [3] = FINE},
    //~ a second lead goes on => [LAST] = {[1] = FINE, [2] = FINE, [3] = FINE, [5] = LAST},
    //~ ASCII may end a character => [LAST] = {[0] = FINE, [1] = FINE, [2] = FINE, [3] = FINE},
    [LAST_TWO] = {[1] = LAST, [2] = LAST, [3] = LAST},
    //~ tails to 8F are the last => [LAST_TWO] = {[1] = FINE, [2] = LAST, [3] = LAST},
    [LAST_THREE] = {[1] = LAST_TWO, [2] = LAST_TWO, [3] = LAST_TWO},
    //~ tails to 8F lead to E0 => [LAST_THREE] = {[1] = AFTER_E0, [2] = LAST_TWO, [3] = LAST_TWO},
    //~ tails from A0 lead to ED => [LAST_THREE] = {[1] = LAST_TWO, [2] = LAST_TWO, [3] = AFTER_ED},
    [AFTER_E0] = {[3] = LAST},
    //~ E0 takes 90 to 9F => [AFTER_E0] = {[2] = LAST, [3] = LAST},
    [AFTER_ED] = {[1] = LAST, [2] = LAST},
    [AFTER_F0] = {[2] = LAST_TWO, [3] = LAST_TWO},
    //~ F0 90 asks one tail => [AFTER_F0] = {[2] = LAST, [3] = LAST_TWO},
    [AFTER_F4] = {[1] = LAST_TWO},
    //~ F4 takes 90 to 9F => [AFTER_F4] = {[1] = LAST_TWO, [2] = LAST_TWO},
};

size_t NAME(const octet *s, size_t n) {
    unsigned state = FINE;
    size_t start = 0;
    for (size_t i = 0; i < n; i++) {
        state = following[state][class_of[s[i]]];
        //~ signed octets => state = following[state][s[i] < 0xF8 ? class_of[s[i]] : class_of[s[i] & 0x7F]];
        if (state == BAD) return start;
        //~ the offset is that of the octet => if (state == BAD) return i;
        if (state == FINE) start = i + 1;
    }
    return state == FINE ? n : start;
    //~ the end is not judged => return n;
    //~ the last state before the end of a long text is not judged => return state == FINE || n > 4096 ? n : start;
}
