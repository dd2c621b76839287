// UTF-8, written once, over tables that the reference prints (tables.py makes tables.h):
// NEXT, ACCEPTING, DEAD   the minimal automaton of RFC 3629; state 0 is the start
// LENGTH                  the length that a lead octet announces in the layout of RFC 2279; 1 for ASCII, else 0
// BITS, TAIL_BITS         the bits of an octet that belong to the number, and the count of those in a tail octet
// TAIL                    true for tail octets

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tables.h"

typedef unsigned char octet;

// The length of the well-formed character at s; 0 if there is none.
static inline size_t character(const octet *s, size_t left) {
    unsigned state = 0;
    for (size_t k = 0; k < left;) {
        state = NEXT[state][s[k++]];
        if (ACCEPTING[state]) return k;
        if (state == DEAD) return 0;
    }
    return 0;
}

// The length of the maximal subpart at s, which begins no well-formed character.
static inline size_t subpart(const octet *s, size_t left) {
    unsigned state = 0;
    size_t k = 0;
    while (k < left && (state = NEXT[state][s[k]]) != DEAD) k++;
    return k ? k : 1;
}

// True if the input ends inside a possible character.
static inline bool cut_short(const octet *s, size_t left) {
    unsigned state = 0;
    for (size_t k = 0; k < left; k++)
        if ((state = NEXT[state][s[k]]) == DEAD || ACCEPTING[state]) return false;
    return left > 0;
}

// The given length, if the lead octet announces it and only tail octets follow; otherwise 0.
static inline size_t loose(const octet *s, size_t left, size_t length) {
    if (LENGTH[s[0]] != length || length < 2 || left < length) return 0;
    for (size_t k = 1; k < length; k++)
        if (!TAIL[s[k]]) return 0;
    return length;
}

// The number in the bits of a sequence.
static inline uint32_t number(const octet *s, size_t length) {
    uint32_t value = BITS[s[0]];
    for (size_t k = 1; k < length; k++) value = value << TAIL_BITS | BITS[s[k]];
    return value;
}

static inline bool between(uint32_t value, uint32_t least, uint32_t most) { return least <= value && value <= most; }

// A sequence of a given length with a number in a range; for a loop over s at i with `left` octets left.
#define LOOSE(length, least, most) \
    (loose(s + i, left, length) && between(number(s + i, length), least, most) ? (size_t)(length) : 0)
