// What the styles share. `styles.py` defines NAME, and for a stream NEW, FEED, FINISH, FREE and RESET.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned char octet;

struct result {
    int error;
    size_t count;
};

static inline bool is_tail(octet each) { return (each & 0xC0) == 0x80; }

// The length of the well-formed character at s; 0 if there is none. Styles that do not say this their own way use it.
static inline size_t one(const octet *s, size_t left) {
    if (!left) return 0;
    if (s[0] < 0x80) return 1;
    if (s[0] < 0xC2 || s[0] > 0xF4 || left < 2 || !is_tail(s[1])) return 0;
    if (s[0] < 0xE0) return 2;
    if (left < 3 || !is_tail(s[2])) return 0;
    if (s[0] < 0xF0) return (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F) ? 0 : 3;
    if (left < 4 || !is_tail(s[3])) return 0;
    return (s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F) ? 0 : 4;
}

// The number of a well-formed character.
static inline uint32_t number(const octet *s, size_t length) {
    if (length == 1) return s[0];
    uint32_t value = s[0] & (0x7F >> length);
    for (size_t k = 1; k < length; k++) value = value << 6 | (s[k] & 0x3F);
    return value;
}

static inline uint64_t word_at(const octet *s) {
    uint64_t word;
    memcpy(&word, s, sizeof word);
    return word;
}
