/* mbrtowc and wcrtomb of the C library, in a UTF-8 locale: a decoder of streams by its nature, and an encoder. */
#include "frames.h"
#include "libc.h"
#include <limits.h>
#include <locale.h>
#include <wchar.h>

static mbstate_t state;

static void start(void) { memset(&state, 0, sizeof state); }

/* A refusal is at the octet where the refusing call began: the first octet after the last character. */
static char next(const uint8_t *chunk, size_t size, int last, Answer *answer) {
    size_t place = 0, begun = 0;
    while (place < size) {
        wchar_t character;
        size_t used = mbrtowc(&character, (const char *)chunk + place, size - place, &state);
        if (used == (size_t)-1) return refuse(answer, (size_t)place, LENGTH_NOT_SAID, 0);
        begun = place;
        if (used == (size_t)-2) break; /* the state has the whole chunk */
        put32(&answer->units, (uint32_t)character);
        place += used ? used : 1; /* NUL */
    }
    if (last && !mbsinit(&state)) return refuse(answer, (size_t)begun, LENGTH_NOT_SAID, 1);
    return ACCEPTED;
}

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    start();
    return next(octets, size, 1, answer);
}

static char encode(const uint8_t *payload, size_t size, Answer *answer) {
    const uint32_t *points = points_of(payload, size);
    for (size_t index = 0; index < size / 4; index++) {
        char octets[MB_LEN_MAX];
        mbstate_t none = {0};
        size_t used = wcrtomb(octets, (wchar_t)points[index], &none);
        if (used == (size_t)-1) return refuse(answer, (size_t)index, LENGTH_NOT_SAID, 0);
        put(&answer->units, octets, used);
    }
    return ACCEPTED;
}

int main(void) {
    Decoder decoder = {
        .name = LIBC_NAME "-mbrtowc", .version = libc_version(), .language = "C", .unit = 4,
        .members = ", \"stream_offsets\": \"chunk\"",
        .decode = decode, .strict = {start, next}, .encode = encode,
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8")) die("there is no locale C.UTF-8");
    return serve(&decoder);
}
