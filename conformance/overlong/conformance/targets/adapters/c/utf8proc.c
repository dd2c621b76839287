/* utf8proc: utf8proc_iterate, which reads one character after the other; utf8proc_encode_char, which asks its caller
   to look at the code point first: utf8proc_codepoint_valid does. */
#include "frames.h"
#include <utf8proc.h>

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        utf8proc_int32_t character;
        utf8proc_ssize_t used = utf8proc_iterate(octets + place, (utf8proc_ssize_t)(size - place), &character);
        if (used == UTF8PROC_ERROR_INVALIDUTF8)
            return refuse(answer, (size_t)place, LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
        if (used <= 0) die(utf8proc_errmsg(used));
        put32(&answer->units, (uint32_t)character);
        place += used;
    }
    return ACCEPTED;
}

static char encode(const uint8_t *payload, size_t size, Answer *answer) {
    const uint32_t *points = points_of(payload, size);
    for (size_t index = 0; index < size / 4; index++) {
        utf8proc_uint8_t octets[4];
        utf8proc_int32_t point = (utf8proc_int32_t)points[index];
        if (!utf8proc_codepoint_valid(point)) return refuse(answer, (size_t)index, LENGTH_NOT_SAID, 0);
        put(&answer->units, octets, (size_t)utf8proc_encode_char(point, octets));
    }
    return ACCEPTED;
}

int main(void) {
    char version[64];
    snprintf(version, sizeof version, "utf8proc %s", utf8proc_version());
    Decoder decoder = {
        .name = "utf8proc_iterate", .version = version, .language = "C", .unit = 4, .decode = decode, .encode = encode,
    };
    return serve(&decoder);
}
