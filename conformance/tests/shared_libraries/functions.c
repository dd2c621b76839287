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
