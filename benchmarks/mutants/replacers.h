// Wrong replacers: each puts out what RFC 3629 and Unicode ask for, except where and when `replacers.py` says.
// Expressions may use the names of `mutants.h`; k and c, the length and number of the character here, if there is one;
// m, the number of octets that a right decoder would skip; more, the number that the fault skips.

#include "frames.h"
#include "mutants.h"

// If `accepts` is not 0, or `changes` holds for a character, puts out `value` the given number of times and skips
// `step` octets.
#define REPLACE(name, accepts, changes, value, times, step)                              \
    static char name(const octet *s, size_t n, Answer *answer) {                         \
        size_t i = 0, count = 0, wide = 0, errors = 0, before = 0;                       \
        (void)wide, (void)errors;                                                        \
        while (i < n) {                                                                  \
            const size_t left = n - i, k = character(s + i, left);                       \
            const size_t m = k ? k : subpart(s + i, left), more = (accepts);             \
            const uint32_t c = k ? number(s + i, k) : 0xFFFD;                            \
            const bool wrong = more || (k && (changes));                                 \
            const uint32_t out = wrong ? (uint32_t)(value) : c;                          \
            const size_t passed = wrong ? (size_t)(step) : m;                            \
            for (size_t t = wrong ? (times) : 1; t; t--) put32(&answer->units, out);     \
            i += passed < left ? passed : left;                                          \
            before = k;                                                                  \
            wide += k > 1;                                                               \
            errors += !k;                                                                \
            count++;                                                                     \
        }                                                                                \
        return ACCEPTED;                                                                 \
    }

#define NAMED(name) {#name, name}
struct named {
    const char *name;
    Whole *replace;
};

static int serve_named(const struct named *named) {
    return serve(&(Decoder){.name = named->name, .version = "1", .language = "C", .unit = 4, .replace = named->replace});
}
