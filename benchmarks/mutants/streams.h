// Wrong decoders of streams: each is the right one, except where and when `streams.py` says. Expressions may use `now`,
// the state of the stream; s and n, the chunk; and last, true for the last chunk. Those about a reset use `old`, the
// state before it.

#include "frames.h"
#include "mutants.h"

struct known {
    unsigned state;
    octet kept[16]; // the character that has begun
    size_t held;    // the number of its octets so far
    size_t i;       // the number of octets taken from the stream
    size_t chunks, size, empty; // chunks so far with this one, octets of the one before, number of empty ones
    size_t count;   // characters
    octet lead;     // of the last character
    size_t begun;   // the offset of this chunk
    uint32_t waiting; // a character that is held back
    bool waits, late, refused;
    uint32_t offset; // of a refusal that comes late
};

static struct known known;

static inline unsigned state_of(const octet *s, size_t n) {
    unsigned state = 0;
    for (size_t k = 0; k < n; k++) state = NEXT[state][s[k]];
    return state;
}

// The state if any tail octet could follow the lead.
static inline unsigned loosened(const struct known *now) {
    const size_t length = now->held == 1 ? LENGTH[now->kept[0]] : 0;
    return length == 3 ? NEXT[0][0xE1] : length == 4 ? NEXT[0][0xF1] : now->state;
}

static void start(void) { memset(&known, 0, sizeof known); }

// At the start of each chunk but the first, `effect` happens if `cut`. If `forgives`, an end within a character is no
// flaw. `offset` is that of a refusal. The last character of a chunk comes with the next if `holds`, and a refusal if
// `late`. `keeps` happens when a used decoder is reset.
#define STREAM(name, cut, effect, forgives, refused_at, holds, belated, keeps)           \
    static char next_##name(const octet *s, size_t n, int last, Answer *answer) {        \
        struct known *const now = &known;                                                \
        if (now->late) return refuse(answer, now->offset, 0, 0xFF);                      \
        if (now->waits) put32(&answer->units, now->waiting), now->waits = false;         \
        now->begun = now->i;                                                             \
        now->empty += !n;                                                                \
        if (now->chunks++ && (cut)) {                                                    \
            effect;                                                                      \
        }                                                                                \
        const size_t units = answer->units.size;                                         \
        for (size_t k = 0; k < n; k++) {                                                 \
            const unsigned next = NEXT[now->state][s[k]];                                \
            if (next == DEAD) {                                                          \
                now->refused = true;                                                     \
                now->offset = (uint32_t)(refused_at);                                    \
                if (last || !(belated)) return refuse(answer, now->offset, 0, 0xFF);     \
                now->late = true;                                                        \
                return ACCEPTED;                                                         \
            }                                                                            \
            if (now->held < sizeof now->kept) now->kept[now->held++] = s[k];             \
            now->i++;                                                                    \
            now->state = next;                                                           \
            if (ACCEPTING[next]) {                                                       \
                put32(&answer->units, number(now->kept, now->held));                     \
                now->lead = now->kept[0];                                                \
                now->held = 0;                                                           \
                now->count++;                                                            \
            }                                                                            \
        }                                                                                \
        if (last && now->held && !(forgives)) {                                          \
            now->refused = true;                                                         \
            return refuse(answer, (uint32_t)(refused_at), 0, 0xFF);                      \
        }                                                                                \
        if (!last && answer->units.size > units && (holds)) {                            \
            answer->units.size -= 4;                                                     \
            now->waiting = get32(answer->units.data + answer->units.size);               \
            now->waits = true;                                                           \
        }                                                                                \
        now->size = n;                                                                   \
        return ACCEPTED;                                                                 \
    }                                                                                    \
    static void reset_##name(void) {                                                     \
        const struct known old = known;                                                  \
        struct known *const now = &known;                                                \
        start();                                                                         \
        (void)old, (void)now;                                                            \
        keeps;                                                                           \
    }

#define LOSE now->state = 0, now->held = 0
#define PASS_OVER if (n) s++, n--, now->i++
#define KEEP now->state = old.state, now->held = old.held, memcpy(now->kept, old.kept, sizeof old.kept)
#define STAY_REFUSED now->late = old.refused, now->offset = old.offset
#define WAIT now->waits = old.waits, now->waiting = old.waiting

#define NAMED(name) {#name, next_##name, reset_##name}
struct named {
    const char *name;
    char (*next)(const octet *, size_t, int, Answer *);
    void (*reset)(void);
};

static int serve_named(const struct named *named) {
    const Stream strict = {start, named->next, named->reset};
    const char *members = ", \"stream_offsets\": \"stream\"";
    return serve(&(Decoder){
        .name = named->name, .version = "1", .language = "C", .unit = 4, .members = members, .strict = strict});
}
