// Planted bugs: each decoder has one small fault, which bugs.py describes.

#include "utf8.h"

// A validator that skips `accepts` octets unchecked if that is not 0, and refuses a character if `refuses`. Both may
// use: s and n, the input; i, the offset; left = n - i; count, the number of characters so far; `refuses` also k and c,
// the character's length and number.
#define VALIDATOR(name, accepts, refuses)                           \
    bool name(const octet *s, size_t n) {                           \
        size_t i = 0, count = 0;                                    \
        (void)count;                                                \
        while (i < n) {                                             \
            const size_t left = n - i, more = (accepts);            \
            if (more) {                                             \
                i += more;                                          \
            } else {                                                \
                const size_t k = character(s + i, left);            \
                if (!k) return false;                               \
                const uint32_t c = number(s + i, k);                \
                (void)c;                                            \
                if (refuses) return false;                          \
                i += k;                                             \
            }                                                       \
            count++;                                                \
        }                                                           \
        return true;                                                \
    }
#define ACCEPTS(name, octets) VALIDATOR(name, octets, false)
#define REFUSES(name, where) VALIDATOR(name, 0, where)

REFUSES(right, false)

ACCEPTS(nul_in_two, LOOSE(2, 0, 0))
ACCEPTS(overlong_2, LOOSE(2, 0, 0x7F))
ACCEPTS(overlong_3, LOOSE(3, 0, 0x7FF))
ACCEPTS(overlong_4, LOOSE(4, 0, 0xFFFF))
ACCEPTS(overlong_slash, LOOSE(3, 0x2F, 0x2F))
ACCEPTS(last_overlong, LOOSE(3, 0x7FF, 0x7FF))
ACCEPTS(surrogates, LOOSE(3, 0xD800, 0xDFFF))
ACCEPTS(trail_surrogates, LOOSE(3, 0xDC00, 0xDFFF))
ACCEPTS(surrogate_pairs,
        LOOSE(3, 0xD800, 0xDBFF) && left >= 6 && loose(s + i + 3, left - 3, 3) &&
                between(number(s + i + 3, 3), 0xDC00, 0xDFFF)
            ? 6
            : 0)
ACCEPTS(beyond_by_one, LOOSE(4, 0x110000, 0x110000))
ACCEPTS(beyond_f4, LOOSE(4, 0x110000, 0x13FFFF))
ACCEPTS(beyond_f5, LOOSE(4, 0x140000, 0x1FFFFF))
ACCEPTS(five_octets, LOOSE(5, 0, 0x3FFFFFF))
ACCEPTS(six_octets, LOOSE(6, 0x4000000, 0x7FFFFFFF))
ACCEPTS(skips_ff, s[i] == 0xFF)
ACCEPTS(stray_tail, TAIL[s[i]])
ACCEPTS(one_tail_more, i >= 2 && TAIL[s[i]] && LENGTH[s[i - 2]] == 2)
ACCEPTS(any_end, cut_short(s + i, left) ? left : 0)
ACCEPTS(end_after_two_of_three, LENGTH[s[i]] == 3 && left == 2 && cut_short(s + i, left) ? 2 : 0)
ACCEPTS(second_unchecked, LENGTH[s[i]] == 2 && left >= 2 && NEXT[0][s[i]] != DEAD ? 2 : 0)
ACCEPTS(third_unchecked, LENGTH[s[i]] == 3 && left >= 3 && !character(s + i, left) && cut_short(s + i, 2) ? 3 : 0)
ACCEPTS(fourth_unchecked, LENGTH[s[i]] == 4 && left >= 4 && !character(s + i, left) && cut_short(s + i, 3) ? 4 : 0)
ACCEPTS(top_bit_is_tail,
        LENGTH[s[i]] == 2 && left >= 2 && NEXT[0][s[i]] != DEAD && LENGTH[s[i + 1]] != 1 ? 2 : 0)
REFUSES(no_nul, c == 0)
REFUSES(no_delete, c == 0x7F)
REFUSES(first_of_two, c == 0x80)
REFUSES(last_of_two, between(c, 0x7C0, 0x7FF))
REFUSES(first_of_three, c == 0x800)
REFUSES(before_surrogates, c == 0xD7FF)
REFUSES(all_of_ed, between(c, 0xD000, 0xD7FF))
REFUSES(after_surrogates, c == 0xE000)
REFUSES(no_signature, c == 0xFEFF)
REFUSES(noncharacters_of_bmp, between(c, 0xFDD0, 0xFDEF) || between(c, 0xFFFE, 0xFFFF))
REFUSES(first_of_four, c == 0x10000)
REFUSES(last_plane, c >= 0x100000)
REFUSES(last_of_all, c == 0x10FFFF)
REFUSES(no_four, k == 4)
REFUSES(last_tail, k > 1 && TAIL[s[i + k - 1]] && BITS[s[i + k - 1]] == (1u << TAIL_BITS) - 1)

REFUSES(three_across_64, k == 3 && i / 64 != (i + k - 1) / 64)
REFUSES(any_across_16, i / 16 != (i + k - 1) / 16)
REFUSES(any_from_64, k > 1 && i >= 64)
REFUSES(three_after_16, k == 3 && count >= 16)
REFUSES(four_ends_at_32, k == 4 && (i + k) % 32 == 0)
REFUSES(longer_than_2048, n > 2048)
ACCEPTS(beyond_at_15, i == 15 && count == 15 ? LOOSE(4, 0x110000, 0x13FFFF) : 0)
ACCEPTS(end_at_32, n % 32 == 0 && cut_short(s + i, left) ? left : 0)
ACCEPTS(rest_of_blocks, n >= 16 && i >= n / 16 * 16 ? left : 0)
ACCEPTS(tail_at_7, i % 8 == 7 && TAIL[s[i]])
ACCEPTS(longer_than_1024, n > 1024 ? LOOSE(2, 0, 0x7F) : 0)
ACCEPTS(after_nul, i > 0 && s[i - 1] == 0 ? left : 0)

bool length_in_8_bits(const octet *s, size_t n) { return !(uint8_t)n || right(s, n); }

// Memory, and state that outlives a call.

bool place_matters(const octet *s, size_t n) {
    if ((uintptr_t)s % 32 == 16) return overlong_2(s, n);
    return right(s, n);
}

bool reads_beyond(const octet *s, size_t n) {
    size_t i = 0;
    while (i < n) {
        const size_t length = LENGTH[s[i]];
        volatile octet last = length > 2 ? s[i + length - 1] : 0;  // before checking that it is there
        (void)last;
        const size_t k = character(s + i, n - i);
        if (!k) return false;
        i += k;
    }
    return true;
}

bool once_in_50(const octet *s, size_t n) {
    static unsigned calls;
    return ++calls % 50 ? right(s, n) : !right(s, n);
}

bool keeps_state(const octet *s, size_t n) {
    static unsigned state;  // of the last call, if it ended inside a character
    const unsigned before = state;
    state = 0;
    for (size_t i = 0; i < n; i++)
        if ((state = NEXT[state][s[i]]) == DEAD) break;
    if (state == DEAD || ACCEPTING[state]) state = 0;
    return before ? !right(s, n) : right(s, n);
}

// Faults.

bool aborts_on_f8(const octet *s, size_t n) {
    if (memchr(s, 0xF8, n)) abort();
    return right(s, n);
}

bool null_after_32(const octet *s, size_t n) {
    for (size_t i = 32; i < n; i++)
        if (LENGTH[s[i]] == 4) return *(volatile bool *)NULL;
    return right(s, n);
}

bool exits_on_cut(const octet *s, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (LENGTH[s[i]] == 3 && cut_short(s + i, n - i)) _exit(0);
    return right(s, n);
}

bool hangs(const octet *s, size_t n) {
    for (size_t i = 0; i + 1 < n; i++)
        while (s[i] == 0xFE && *(const volatile octet *)(s + i + 1) == 0xFF) continue;
    return right(s, n);
}

// Decoders.

// A decoder to units of some bits. It is right except that `change` may alter c, the number of the character of k
// octets at i, or drop the character by `continue`.
#define DECODER(name, unit, change)                                             \
    ptrdiff_t name(const octet *s, size_t n, unit *out, size_t capacity) {      \
        size_t i = 0, written = 0, k = 0;                                       \
        for (; i < n; i += k) {                                                 \
            if (!(k = character(s + i, n - i))) return -1;                      \
            uint32_t c = number(s + i, k);                                      \
            change;                                                             \
            if (sizeof(unit) == 2 && c > 0xFFFF) {                              \
                const uint32_t high = 0xD7C0 + (c >> 10), low = 0xDC00 + (c & 0x3FF); \
                written += put(out, written, capacity, high);                   \
                c = low;                                                        \
            }                                                                   \
            written += put(out, written, capacity, c);                          \
        }                                                                       \
        return (ptrdiff_t)written;                                              \
    }
#define put(out, at, capacity, c) ((at) < (capacity) ? ((out)[at] = (c), 1) : 1)

DECODER(right_32, uint32_t, (void)0)
DECODER(right_16, uint16_t, (void)0)
DECODER(cut_at_16_bits, uint32_t, c &= 0xFFFF)
DECODER(euro_is_c1, uint32_t, if (c == 0x20AC) c = 0x80)
DECODER(signature_stripped, uint32_t, if (c == 0xFEFF && i == 0) continue)
DECODER(wrong_bit, uint32_t, if (k == 3) c ^= 1)
DECODER(kelvin_folded, uint32_t, if (c == 0x212A) c = 'K')
DECODER(nul_left_out, uint32_t, if (c == 0) continue)
DECODER(dropped_at_64, uint32_t, if (i % 64 == 63 && k > 1) continue)

ptrdiff_t low_half_first(const octet *s, size_t n, uint16_t *out, size_t capacity) {
    const ptrdiff_t written = right_16(s, n, out, capacity);
    for (ptrdiff_t i = 0; i + 1 < written && (size_t)i + 1 < capacity; i++)
        if (between(out[i], 0xD800, 0xDBFF)) {
            const uint16_t high = out[i];
            out[i] = out[i + 1];
            out[++i] = high;
        }
    return written;
}

ptrdiff_t writes_beyond(const octet *s, size_t n, uint32_t *out, size_t capacity) {
    const ptrdiff_t written = right_32(s, n, out, capacity);
    if (written >= 0) out[written] = 0;  // a terminator that may have no room
    return written;
}

// Validators that report the error position.

size_t offset_of_offender(const octet *s, size_t n) {
    size_t i = 0, k = 0;
    for (; i < n; i += k)
        if (!(k = character(s + i, n - i))) {
            const size_t length = subpart(s + i, n - i);
            return length > 1 && i + length < n ? i + length : i;
        }
    return n;
}

// Streams.

struct stream {
    unsigned state;
    uint32_t value;
    unsigned read, length;  // octets read of an unfinished character, and its length
    bool failed;
};

void *stream_new(void) { return calloc(1, sizeof(struct stream)); }
void stream_free(void *state) { free(state); }
void stream_reset(void *state) { memset(state, 0, sizeof(struct stream)); }
void stream_reset_but_state(void *state) { ((struct stream *)state)->failed = false; }

static ptrdiff_t stream_finish(void *state, uint32_t *out, size_t capacity) {
    const struct stream *stream = state;
    (void)out, (void)capacity;
    return stream->failed || stream->state ? -1 : 0;
}

ptrdiff_t stream_finish_right(void *state, uint32_t *out, size_t capacity) {
    return stream_finish(state, out, capacity);
}

ptrdiff_t stream_finish_cut(void *state, uint32_t *out, size_t capacity) {
    (void)out, (void)capacity;
    return ((struct stream *)state)->failed ? -1 : 0;
}

ptrdiff_t stream_feed(void *state, const octet *s, size_t n, uint32_t *out, size_t capacity) {
    struct stream *stream = state;
    ptrdiff_t written = 0;
    for (size_t i = 0; i < n && !stream->failed; i++) {
        if (!stream->state) stream->length = LENGTH[s[i]];
        stream->value = stream->state ? stream->value << TAIL_BITS | BITS[s[i]] : BITS[s[i]];
        stream->state = NEXT[stream->state][s[i]];
        stream->read++;
        if (stream->state == DEAD) stream->failed = true;
        if (ACCEPTING[stream->state]) {
            if ((size_t)written < capacity) out[written] = stream->value;
            written++;
            stream->state = 0;
            stream->read = 0;
        }
    }
    return stream->failed ? -1 : written;
}

ptrdiff_t stream_feed_loses_1(void *state, const octet *s, size_t n, uint32_t *out, size_t capacity) {
    struct stream *stream = state;
    if (n && stream->read == 1 && stream->length == 3) stream->state = stream->read = 0;
    return stream_feed(state, s, n, out, capacity);
}

ptrdiff_t stream_feed_loses_all(void *state, const octet *s, size_t n, uint32_t *out, size_t capacity) {
    struct stream *stream = state;
    stream->state = stream->read = 0;
    return stream_feed(state, s, n, out, capacity);
}

ptrdiff_t stream_feed_empty_ends(void *state, const octet *s, size_t n, uint32_t *out, size_t capacity) {
    if (!n) stream_reset(state);  // taken for the end
    return stream_feed(state, s, n, out, capacity);
}
