/* GNU libunistring: "steps" is u8_check, u8_mbtoucr, u8_mbtouc and u8_uctomb; "whole" is u8_to_u32, u32_to_u8 and
   u16_to_u8. */
#include "frames.h"
#include <errno.h>
#include <unistr.h>
#include <unistring/version.h>

static char check(const uint8_t *octets, size_t size, Answer *answer) {
    const uint8_t *wrong = u8_check(octets, size);
    if (!wrong) return ACCEPTED;
    return refuse(answer, (size_t)(wrong - octets), LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
}

static char strict_steps(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        ucs4_t character;
        int used = u8_mbtoucr(&character, octets + place, size - place);
        if (used < 0) return refuse(answer, (size_t)place, LENGTH_NOT_SAID, used == -2);
        put32(&answer->units, character);
        place += used;
    }
    return ACCEPTED;
}

static char replacing_steps(const uint8_t *octets, size_t size, Answer *answer) {
    for (size_t place = 0; place < size;) {
        ucs4_t character;
        place += u8_mbtouc(&character, octets + place, size - place);
        put32(&answer->units, character);
    }
    return ACCEPTED;
}

static char whole(const uint8_t *octets, size_t size, Answer *answer) {
    size_t length = 0;
    uint32_t *text = u8_to_u32(octets, size, NULL, &length);
    if (!text) {
        if (errno != EILSEQ) die(strerror(errno));
        return refuse_silently(answer);
    }
    return accept_scalars(answer, text, length, free);
}

static char encode_steps(const uint8_t *payload, size_t size, Answer *answer) {
    const uint32_t *points = points_of(payload, size);
    for (size_t index = 0; index < size / 4; index++) {
        uint8_t octets[6];
        int used = u8_uctomb(octets, points[index], sizeof octets);
        if (used < 0) return refuse(answer, (size_t)index, LENGTH_NOT_SAID, 0);
        put(&answer->units, octets, (size_t)used);
    }
    return ACCEPTED;
}

static char encoded(uint8_t *octets, size_t length, Answer *answer) {
    if (!octets) {
        if (errno != EILSEQ) die(strerror(errno));
        return refuse_silently(answer);
    }
    put(&answer->units, octets, length);
    free(octets);
    return ACCEPTED;
}
static char encode_whole(const uint8_t *payload, size_t size, Answer *answer) {
    size_t length = 0;
    uint8_t *octets = u32_to_u8(points_of(payload, size), size / 4, NULL, &length);
    return encoded(octets, length, answer);
}
static char encode_whole16(const uint8_t *payload, size_t size, Answer *answer) {
    size_t length = 0;
    uint8_t *octets = u16_to_u8(units_of(payload, size), size / 2, NULL, &length);
    return encoded(octets, length, answer);
}

int main(int count, char **words) {
    char version[64];
    snprintf(version, sizeof version, "libunistring %d.%d.%d", _libunistring_version >> 16,
             _libunistring_version >> 8 & 255, _libunistring_version & 255);
    Decoder decoder = {.version = version, .language = "C", .unit = 4};
    if (asked_for(count, words, "steps")) {
        decoder.name = "u8_mbtouc";
        decoder.validate = check;
        decoder.decode = strict_steps;
        decoder.replace = replacing_steps;
        decoder.encode = encode_steps;
    } else {
        decoder.name = "u8_to_u32";
        decoder.decode = whole;
        decoder.encode = encode_whole;
        decoder.encode16 = encode_whole16;
    }
    return serve(&decoder);
}
