/* utf8proc: utf8proc_iterate, which reads one character after the other. */
#include "frames.h"
#include <utf8proc.h>

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        utf8proc_int32_t character;
        utf8proc_ssize_t used = utf8proc_iterate(octets + place, (utf8proc_ssize_t)(size - place), &character);
        if (used == UTF8PROC_ERROR_INVALIDUTF8)
            return refuse(answer, (uint32_t)place, LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
        if (used <= 0) die(utf8proc_errmsg(used));
        put32(&answer->units, (uint32_t)character);
        place += used;
    }
    return ACCEPTED;
}

int main(void) {
    char version[64];
    snprintf(version, sizeof version, "utf8proc %s", utf8proc_version());
    Decoder decoder = {.name = "utf8proc_iterate", .version = version, .language = "C", .unit = 4, .decode = decode};
    return serve(&decoder);
}
