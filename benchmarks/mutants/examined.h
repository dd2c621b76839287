// More wrong decoders, for `causes.py`: what validators may also depend on, and validators of other designs.

#include "outputs.h"

// The address of the input.
#define ADDRESS ((size_t)s)

// True if sequences of k octets, by their leads, make up all i octets.
static inline bool only(const octet *s, size_t i, size_t k) {
    for (size_t j = 0; j < i; j += k)
        if (LENGTH[s[j]] != k) return false;
    return i % k == 0;
}

// True if the character c is somewhere in the first i octets.
static inline bool seen(const octet *s, size_t i, uint32_t c) {
    for (size_t j = 0; j < i; j++) {
        const size_t k = character(s + j, i - j);
        if (k && number(s + j, k) == c) return true;
    }
    return false;
}

// True if an octet with these high four bits may follow the lead.
static inline bool allowed(octet lead, octet second) { return NEXT[NEXT[0][lead]][second & 0xF0] != DEAD; }

// By a table of the high halves of second octets for each lead; an entry is wrong if `wrong`.
#define LOOKUP(name, wrong)                                                              \
    struct past past_##name;                                                             \
    bool name(const octet *s, size_t n) {                                                \
        size_t i = 0;                                                                    \
        while (i < n) {                                                                  \
            const octet lead = s[i];                                                     \
            const size_t left = n - i, k = LENGTH[lead];                                 \
            if (NEXT[0][lead] == DEAD || left < k) return false;                         \
            if (k > 1 && allowed(lead, s[i + 1]) == (wrong)) return false;               \
            for (size_t j = 2; j < k; j++)                                               \
                if (!TAIL[s[i + j]]) return false;                                       \
            i += k;                                                                      \
        }                                                                                \
        return true;                                                                     \
    }

// By the automaton. A call that ends within a character leaves its state to the next, if `keeps`. `past->cached` is the
// lead of that character.
#define KEPT(name, keeps)                                                                \
    struct past past_##name;                                                             \
    bool name(const octet *s, size_t n) {                                                \
        struct past *const past = &past_##name;                                          \
        unsigned state = (keeps) ? past->key : 0;                                        \
        size_t first = state ? past->cached : 0;                                         \
        for (size_t i = 0; i < n; i++) {                                                 \
            if (!state) first = s[i];                                                    \
            state = NEXT[state][s[i]];                                                   \
        }                                                                                \
        past->key = state == DEAD ? 0 : state;                                           \
        past->cached = past->key ? first : 0;                                            \
        return ACCEPTING[state];                                                         \
    }

// By the automaton, which reads on past the end of an input that ends within a character, if `reads`.
#define BEYOND(name, reads)                                                              \
    struct past past_##name;                                                             \
    bool name(const octet *s, size_t n) {                                                \
        unsigned state = 0;                                                              \
        octet lead = 0;                                                                  \
        size_t i = 0;                                                                    \
        while (state != DEAD && (i < n || (state && (reads)))) {                         \
            if (!state) lead = s[i];                                                     \
            state = NEXT[state][s[i++]];                                                 \
        }                                                                                \
        (void)lead;                                                                      \
        return ACCEPTING[state];                                                         \
    }

// A decoder to UTF-16, from one to UTF-32. A character beyond U+FFFF is one unit, its low 16 bits, if `cuts`.
#define DECODE16(name, cuts)                                                             \
    struct decoded name(const octet *s, size_t n, uint16_t *out) {                       \
        size_t i = 0, count = 0;                                                         \
        while (i < n) {                                                                  \
            const size_t k = character(s + i, n - i);                                    \
            if (!k) return (struct decoded){1, i};                                       \
            const uint32_t c = number(s + i, k);                                         \
            if (c < 0x10000 || (cuts)) {                                                 \
                out[count++] = (uint16_t)c;                                              \
            } else {                                                                     \
                out[count++] = (uint16_t)(0xD7C0 + (c >> 10));                           \
                out[count++] = (uint16_t)(0xDC00 + (c & 0x3FF));                         \
            }                                                                            \
            i += k;                                                                      \
        }                                                                                \
        return (struct decoded){0, count};                                               \
    }
