/* Encoders, each with another idea of what is no scalar value. */
#include <stddef.h>
#include <stdint.h>

static size_t put(char *out, size_t room, uint32_t scalar) {
    size_t wide = scalar < 0x80 ? 1 : scalar < 0x800 ? 2 : scalar < 0x10000 ? 3 : 4;
    if (wide > room) return 0;
    if (wide == 1) out[0] = (char)scalar;
    else {
        for (size_t tail = wide - 1; tail; tail--, scalar >>= 6) out[tail] = (char)(0x80 | (scalar & 0x3F));
        out[0] = (char)((0xF00 >> wide & 0xFF) | scalar);
    }
    return wide;
}

static int is_lead(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
static int is_trail(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

/* LONE: what it does at a surrogate that is no half of a pair. */
#define FROM_UTF16(NAME, LONE)                                                                              \
    size_t NAME(const uint16_t *units, size_t length, char *out, size_t room, size_t *taken) {             \
        size_t i = 0, written = 0, wide;                                                                    \
        for (; i < length; written += wide) {                                                               \
            uint32_t scalar = units[i];                                                                     \
            size_t pair = is_lead(scalar) && i + 1 < length && is_trail(units[i + 1]);                      \
            if (pair) scalar = 0x10000 + ((scalar - 0xD800) << 10) + (units[i + 1] - 0xDC00);               \
            else if (is_lead(scalar) || is_trail(scalar)) { LONE }                                          \
            wide = put(out + written, room - written, scalar);                                              \
            if (!wide) break;                                                                               \
            i += 1 + pair;                                                                                  \
        }                                                                                                   \
        *taken = i;                                                                                         \
        return written;                                                                                     \
    }
FROM_UTF16(refuses_lone, return (size_t)-1;)
FROM_UTF16(stops_at_lone, break;)
FROM_UTF16(replaces_lone, scalar = 0xFFFD;)
FROM_UTF16(writes_lone, )
FROM_UTF16(replaces_leads_only, if (is_trail(scalar)) return (size_t)-1; scalar = 0xFFFD;)

size_t refuses_beyond(const uint32_t *points, size_t length, char *out, size_t room, size_t *taken) {
    size_t i = 0, written = 0, wide;
    for (; i < length; i++, written += wide) {
        if (points[i] > 0x10FFFF || is_lead(points[i]) || is_trail(points[i])) return (size_t)-1;
        if (!(wide = put(out + written, room - written, points[i]))) break;
    }
    *taken = i;
    return written;
}
size_t writes_beyond(const uint32_t *points, size_t length, char *out, size_t room, size_t *taken) {
    size_t i = 0, written = 0, wide;
    for (; i < length; i++, written += wide) {
        if (is_lead(points[i]) || is_trail(points[i])) return (size_t)-1;
        if (!(wide = put(out + written, room - written, points[i]))) break;
    }
    *taken = i;
    return written;
}

size_t size_replaces_lone(const uint16_t *units, size_t length) {
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        size_t pair = is_lead(units[i]) && i + 1 < length && is_trail(units[i + 1]);
        size += pair ? 4 : units[i] < 0x80 ? 1 : units[i] < 0x800 ? 2 : 3;
        i += pair;
    }
    return size;
}
size_t size_believes_leads(const uint16_t *units, size_t length) {
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        size += is_lead(units[i]) ? 4 : units[i] < 0x80 ? 1 : units[i] < 0x800 ? 2 : 3;
        i += is_lead(units[i]);
    }
    return size;
}
