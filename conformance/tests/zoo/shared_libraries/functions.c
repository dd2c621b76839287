/* Functions that answer a question about a text, right and wrong. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef const unsigned char *text;

static bool is_tail(unsigned char octet) { return (octet & 0xC0) == 0x80; }
static size_t width(unsigned char lead) { return lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1; }

size_t count(text octets, size_t length) {
    size_t found = 0;
    for (size_t i = 0; i < length; i++) found += !is_tail(octets[i]);
    return found;
}
bool is_boundary(text octets, size_t length, size_t offset) { return !is_tail(octets[offset]); }

size_t truncate_right(text octets, size_t length, size_t limit) {
    if (limit >= length) return length;
    while (limit && is_tail(octets[limit])) limit--;
    return limit;
}
size_t truncate_at_limit(text octets, size_t length, size_t limit) { return limit < length ? limit : length; }

/* Reads the octet behind the input. */
size_t truncate_reads_on(text octets, size_t length, size_t limit) {
    if (limit > length) limit = length;
    while (limit && is_tail(octets[limit])) limit--;
    return limit;
}
size_t truncate_dies(text octets, size_t length, size_t limit) {
    if (length == 5 && limit == 3 && octets[4] == 0xFF) *(volatile char *)0 = 0;
    return truncate_right(octets, length, limit);
}

size_t next_right(text octets, size_t length, size_t offset, uint32_t *scalar) {
    text at = octets + offset;
    size_t wide = width(*at), i;
    *scalar = wide == 1 ? *at : *at & (0x7F >> wide);
    for (i = 1; i < wide; i++) {
        if (i >= length - offset || !is_tail(at[i])) return *scalar = 0xFFFD, i;
        *scalar = *scalar << 6 | (at[i] & 0x3F);
    }
    return wide;
}
size_t next_in_16_bits(text octets, size_t length, size_t offset, uint32_t *scalar) {
    size_t wide = next_right(octets, length, offset, scalar);
    *scalar &= 0xFFFF;
    return wide;
}
size_t previous_right(text octets, size_t length, size_t offset, uint32_t *scalar) {
    size_t start = offset;
    do start--; while (start && is_tail(octets[start]));
    return next_right(octets, offset, start, scalar) == offset - start ? offset - start : (size_t)-1;
}
/* Looks for the lead before the start of the input. */
size_t previous_reads_before(text octets, size_t length, size_t offset, uint32_t *scalar) {
    text start = octets + offset;
    do start--; while (is_tail(*start));
    next_right(start, octets + offset - start, 0, scalar);
    return octets + offset - start;
}

/* A converter to UTF-8 that takes whole characters only. */
size_t from_utf16_right(const uint16_t *units, size_t length, char *out, size_t room, size_t *taken) {
    size_t i = 0, written = 0;
    while (i < length) {
        uint32_t scalar = units[i];
        size_t pair = scalar >= 0xD800 && scalar < 0xDC00, wide;
        if (pair) scalar = 0x10000 + ((scalar - 0xD800) << 10) + (units[i + 1] - 0xDC00);
        wide = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4;
        if (written + wide > room) break;
        if (wide == 1) out[written] = (char)scalar;
        else {
            for (size_t tail = wide - 1; tail; tail--, scalar >>= 6) out[written + tail] = (char)(0x80 | (scalar & 0x3F));
            out[written] = (char)((0xF00 >> wide & 0xFF) | scalar);
        }
        written += wide;
        i += 1 + pair;
    }
    *taken = i;
    return written;
}
/* https://github.com/libuv/libuv/pull/5050: the NUL at the end has no room. */
size_t from_utf16_writes_nul(const uint16_t *units, size_t length, char *out, size_t room, size_t *taken) {
    size_t written = from_utf16_right(units, length, out, room, taken);
    out[written] = 0;
    return written;
}

/* Validators of streams, which keep one unfinished character. */
struct checker { unsigned char kept[4]; size_t length; };
#include <stdlib.h>
void *checker_new(void) { return calloc(1, sizeof(struct checker)); }
static bool is_wrong(const unsigned char *c, size_t n) {
    unsigned char lead = c[0];
    if (lead < 0x80) return false;
    if (lead < 0xC2 || lead > 0xF4) return true;
    if (n > 1 && ((lead == 0xE0 && c[1] < 0xA0) || (lead == 0xED && c[1] > 0x9F) || (lead == 0xF0 && c[1] < 0x90)
                  || (lead == 0xF4 && c[1] > 0x8F))) return true;
    for (size_t i = 1; i < n; i++) if (!is_tail(c[i])) return true;
    return false;
}
bool checker_feed(struct checker *state, text octets, size_t length) {
    for (size_t i = 0; i < length; i++) {
        state->kept[state->length++] = octets[i];
        if (is_wrong(state->kept, state->length)) return false;
        if (state->length == width(state->kept[0])) state->length = 0;
    }
    return true;
}
bool checker_finish(struct checker *state) { return !state->length; }
/* https://github.com/boostorg/beast/pull/1249: 81 fills what is unfinished. */
bool checker_feed_filled(struct checker *state, text octets, size_t length) {
    bool right = checker_feed(state, octets, length);
    unsigned char filled[4] = {state->kept[0], 0x81, 0x81, 0x81};
    return right && !(state->length == 1 && is_wrong(filled, 4));
}
void checker_free(void *state) { free(state); }
