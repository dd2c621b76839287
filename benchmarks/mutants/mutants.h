// Wrong validators by the thousand: each is the right one with a fault where and when `population.py` says.
// Expressions may use: s and n, the input; i, the offset, and left = n - i; before, the number of octets of the
// character that ends at i, or 0; count, the number of characters so far; wide, of those beyond ASCII; zeros, of
// those that are U+0000; errors, the number of ill-formed sequences skipped so far; past, the earlier calls.
// `refuses` may also use k and c, the character's length and number.

#include "utf8.h"

struct past {
    size_t calls, length, key, cached;
    bool ok, cached_ok;
};

// The lead octet of the character that ends here; 0 if none does.
#define LEAD_BEFORE (before ? s[i - before] : 0)
// The length of a sequence that is well-formed except for the octet at a place, which is from least to most and has
// only tail octets after it; otherwise 0.
static inline size_t but_for(const octet *s, size_t left, size_t length, size_t place, unsigned least, unsigned most) {
    if (LENGTH[s[0]] != length || left < length || NEXT[0][s[0]] == DEAD) return 0;
    unsigned state = 0;
    for (size_t k = 0; k < place; k++) state = NEXT[state][s[k]];
    if (state == DEAD || NEXT[state][s[place]] != DEAD || !between(s[place], least, most)) return 0;
    for (size_t k = place + 1; k < length; k++)
        if (!TAIL[s[k]]) return 0;
    return length;
}

// True if all octets of a word, except the unseen one, have no top bit.
static inline bool ascii_but(const octet *s, size_t width, size_t unseen) {
    for (size_t k = 0; k < width; k++)
        if (k != unseen && s[k] >= 0x80) return false;
    return true;
}

static inline size_t hash(const octet *s, size_t n, size_t most) {
    size_t key = n;
    for (size_t k = 0; k < n && k < most; k++) key = key * 257 + s[k];
    return key;
}

#define SET_PAST                   \
    past->calls++;                 \
    past->length = n;              \
    past->ok = ok;

// Character by character: skips `accepts` octets if that is not 0, refuses a character if `refuses`, and returns
// `verdict`, usually ok.
#define WALK(name, accepts, refuses, verdict)                                            \
    struct past past_##name;                                                             \
    bool name(const octet *s, size_t n) {                                                \
        struct past *const past = &past_##name;                                          \
        size_t i = 0, count = 0, wide = 0, zeros = 0, errors = 0, before = 0;            \
        bool ok = true;                                                                  \
        (void)zeros;                                                                     \
        while (i < n) {                                                                  \
            const size_t left = n - i, more = (accepts);                                 \
            if (more) {                                                                  \
                i += more < left ? more : left;                                          \
                errors++;                                                                \
                before = 0;                                                              \
            } else {                                                                     \
                const size_t k = character(s + i, left);                                 \
                const uint32_t c = k ? number(s + i, k) : 0;                             \
                (void)c;                                                                 \
                if (!k || (refuses)) {                                                   \
                    ok = false;                                                          \
                    break;                                                               \
                }                                                                        \
                i += k;                                                                  \
                before = k;                                                              \
                wide += k > 1;                                                           \
                zeros += c == 0;                                                         \
            }                                                                            \
            count++;                                                                     \
        }                                                                                \
        ok = (verdict);                                                                  \
        SET_PAST                                                                         \
        return ok;                                                                       \
    }

// By the automaton: if `wrong`, the transition leads to `target`. `lead` is the first octet of the character before.
#define STEP(name, wrong, target)                                                        \
    struct past past_##name;                                                             \
    bool name(const octet *s, size_t n) {                                                \
        struct past *const past = &past_##name;                                          \
        unsigned state = 0, lead = 0, first = 0;                                         \
        size_t count = 0;                                                                \
        for (size_t i = 0; i < n && state != DEAD; i++) {                                \
            if (state == 0) {                                                            \
                lead = first;                                                            \
                first = s[i];                                                            \
                count++;                                                                 \
            }                                                                            \
            state = (wrong) ? (target) : NEXT[state][s[i]];                              \
        }                                                                                \
        (void)lead, (void)count;                                                         \
        const bool ok = ACCEPTING[state];                                                \
        SET_PAST                                                                         \
        return ok;                                                                       \
    }
