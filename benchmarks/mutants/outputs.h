// Wrong decoders: each is the right one, but for a character that comes out as another or a refusal's offset, where and
// when `outputs.py` says. Expressions may use what `mutants.h` says; those of characters k and c, too.

#include "mutants.h"

struct decoded {
    int error;
    size_t count;
};

// Where `changes`, a character comes out as `value`; where `moves`, a refusal is said to be at `offset`.
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
