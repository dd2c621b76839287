// Wrong decoders: each is the right one, except that one character comes out as another or a refusal has a wrong
// offset, where and when `outputs.py` says. Expressions may use the names of `mutants.h`; those about characters also
// k and c.

#include "mutants.h"

struct decoded {
    int error;
    size_t count;
};

// If `changes`, a character comes out as `value`; if `moves`, a refusal reports `offset`.
#define DECODE(name, changes, value, moves, offset)                                      \
    struct past past_##name;                                                             \
    struct decoded name(const octet *s, size_t n, uint32_t *out) {                       \
        size_t i = 0, count = 0, wide = 0, zeros = 0, before = 0;                        \
        (void)wide, (void)zeros;                                                         \
        while (i < n) {                                                                  \
            const size_t left = n - i, k = character(s + i, left);                       \
            if (!k) return (struct decoded){1, (moves) ? (size_t)(offset) : i};          \
            const uint32_t c = number(s + i, k);                                         \
            out[count] = (changes) ? (uint32_t)(value) : c;                              \
            i += k;                                                                      \
            before = k;                                                                  \
            wide += k > 1;                                                               \
            zeros += c == 0;                                                             \
            count++;                                                                     \
        }                                                                                \
        return (struct decoded){0, count};                                               \
    }
