/* ICU4C: "converter" is ucnv_toUnicode, stopping and substituting, and ucnv_fromUChars; "string" is u_strFromUTF8 and
   u_strToUTF8; "macro" is U8_NEXT and U8_APPEND. */
#include "frames.h"
#include <unicode/ucnv.h>
#include <unicode/ustring.h>
#include <unicode/utf8.h>

static UConverter *stopping, *substituting;
static uint32_t consumed; /* octets of the stream before the chunk */

static void failed(UErrorCode code) { die(u_errorName(code)); }

static UConverter *opened(UConverterToUCallback callback) {
    UErrorCode code = U_ZERO_ERROR;
    UConverter *converter = ucnv_open("UTF-8", &code);
    ucnv_setToUCallBack(converter, callback, NULL, NULL, NULL, &code);
    ucnv_setFromUCallBack(converter, UCNV_FROM_U_CALLBACK_STOP, NULL, NULL, NULL, &code);
    if (U_FAILURE(code)) failed(code);
    return converter;
}

static char convert(UConverter *converter, const uint8_t *chunk, size_t size, int last, Answer *answer) {
    const char *in = (const char *)chunk, *end = in + size;
    UErrorCode code;
    do {
        UChar room[256], *out = room;
        code = U_ZERO_ERROR;
        ucnv_toUnicode(converter, &out, room + 256, &in, end, NULL, (UBool)last, &code);
        for (const UChar *unit = room; unit < out; unit++) put16(&answer->units, *unit);
    } while (code == U_BUFFER_OVERFLOW_ERROR);
    if (U_FAILURE(code)) {
        char octets[16];
        int8_t length = sizeof octets;
        UErrorCode asked = U_ZERO_ERROR;
        if (code != U_ILLEGAL_CHAR_FOUND && code != U_INVALID_CHAR_FOUND && code != U_TRUNCATED_CHAR_FOUND) failed(code);
        ucnv_getInvalidChars(converter, octets, &length, &asked);
        if (U_FAILURE(asked)) failed(asked);
        uint32_t read = consumed + (uint32_t)(in - (const char *)chunk);
        return refuse(answer, read - length, length, code == U_TRUNCATED_CHAR_FOUND);
    }
    consumed += size;
    return ACCEPTED;
}

static void reset(UConverter *converter) { ucnv_resetToUnicode(converter); consumed = 0; }
static void reset_stopping(void) { reset(stopping); }
static void reset_substituting(void) { reset(substituting); }

static void renew(UConverter **converter, UConverterToUCallback callback) {
    ucnv_close(*converter);
    *converter = opened(callback);
    consumed = 0;
}
static void start_stopping(void) { renew(&stopping, UCNV_TO_U_CALLBACK_STOP); }
static void start_substituting(void) { renew(&substituting, UCNV_TO_U_CALLBACK_SUBSTITUTE); }

static char next_stopping(const uint8_t *chunk, size_t size, int last, Answer *answer) {
    return convert(stopping, chunk, size, last, answer);
}
static char next_substituting(const uint8_t *chunk, size_t size, int last, Answer *answer) {
    return convert(substituting, chunk, size, last, answer);
}

static char converter_decode(const uint8_t *octets, size_t size, Answer *answer) {
    reset_stopping();
    return next_stopping(octets, size, 1, answer);
}
static char converter_replace(const uint8_t *octets, size_t size, Answer *answer) {
    reset_substituting();
    return next_substituting(octets, size, 1, answer);
}

/* Room for `size` units, which UTF-8 of as many octets never exceeds. */
static UChar *room_for(size_t size) {
    static Buffer room;
    grow(&room, (size + 1) * sizeof(UChar));
    return (UChar *)room.data;
}

/* The encoder's output, if there is any; neither encoder reports where it stopped. */
static char encoded(UErrorCode code, size_t length, Answer *answer) {
    if (code == U_INVALID_CHAR_FOUND || code == U_ILLEGAL_CHAR_FOUND || code == U_TRUNCATED_CHAR_FOUND)
        return refuse_silently(answer);
    if (U_FAILURE(code)) failed(code);
    answer->units.size += length;
    return ACCEPTED;
}
static char converter_encode16(const uint8_t *payload, size_t size, Answer *answer) {
    UErrorCode code = U_ZERO_ERROR;
    Buffer *octets = &answer->units;
    grow(octets, 2 * size + 1); /* three octets for a unit of two, and NUL */
    char *out = (char *)octets->data + octets->size;
    int32_t length = ucnv_fromUChars(stopping, out, (int32_t)(2 * size + 1), (UChar *)units_of(payload, size),
                                     (int32_t)(size / 2), &code);
    return encoded(code, (size_t)length, answer);
}
static char string_encode16(const uint8_t *payload, size_t size, Answer *answer) {
    UErrorCode code = U_ZERO_ERROR;
    Buffer *octets = &answer->units;
    int32_t length = 0;
    grow(octets, 2 * size + 1);
    u_strToUTF8((char *)octets->data + octets->size, (int32_t)(2 * size + 1), &length, (UChar *)units_of(payload, size),
                (int32_t)(size / 2), &code);
    return encoded(code, (size_t)length, answer);
}

static char string_answer(const UChar *text, int32_t length, UErrorCode code, Answer *answer) {
    if (code == U_INVALID_CHAR_FOUND) return refuse_silently(answer);
    if (U_FAILURE(code)) failed(code);
    for (int32_t place = 0; place < length; place++) put16(&answer->units, text[place]);
    return ACCEPTED;
}
static char string_decode(const uint8_t *octets, size_t size, Answer *answer) {
    UErrorCode code = U_ZERO_ERROR;
    UChar *text = room_for(size);
    int32_t length = 0;
    u_strFromUTF8(text, (int32_t)size + 1, &length, (const char *)octets, (int32_t)size, &code);
    return string_answer(text, length, code, answer);
}
static char string_replace(const uint8_t *octets, size_t size, Answer *answer) {
    UErrorCode code = U_ZERO_ERROR;
    UChar *text = room_for(size);
    int32_t length = 0;
    u_strFromUTF8WithSub(text, (int32_t)size + 1, &length, (const char *)octets, (int32_t)size, 0xFFFD, NULL, &code);
    return string_answer(text, length, code, answer);
}

static char macro_decode(const uint8_t *octets, size_t size, Answer *answer) {
    for (int32_t place = 0, begun; place < (int32_t)size;) {
        UChar32 character;
        begun = place;
        U8_NEXT(octets, place, (int32_t)size, character);
        if (character < 0) return refuse(answer, begun, place - begun, INCOMPLETE_NOT_SAID);
        put32(&answer->units, character);
    }
    return ACCEPTED;
}
static char macro_encode(const uint8_t *payload, size_t size, Answer *answer) {
    const uint32_t *points = points_of(payload, size);
    for (size_t index = 0; index < size / 4; index++) {
        uint8_t octets[U8_MAX_LENGTH];
        int32_t length = 0;
        UBool wrong = false;
        U8_APPEND(octets, length, U8_MAX_LENGTH, (UChar32)points[index], wrong);
        if (wrong) return refuse(answer, (size_t)index, LENGTH_NOT_SAID, 0);
        put(&answer->units, octets, (size_t)length);
    }
    return ACCEPTED;
}
static char macro_replace(const uint8_t *octets, size_t size, Answer *answer) {
    for (int32_t place = 0; place < (int32_t)size;) {
        UChar32 character;
        U8_NEXT_OR_FFFD(octets, place, (int32_t)size, character);
        put32(&answer->units, character);
    }
    return ACCEPTED;
}

int main(int count, char **words) {
    char version[U_MAX_VERSION_STRING_LENGTH + 8] = "ICU ";
    UVersionInfo numbers;
    u_getVersion(numbers);
    u_versionToString(numbers, version + 4);
    Decoder decoder = {.version = version, .language = "C", .unit = 2};
    if (asked_for(count, words, "converter")) {
        stopping = opened(UCNV_TO_U_CALLBACK_STOP);
        substituting = opened(UCNV_TO_U_CALLBACK_SUBSTITUTE);
        decoder.name = "ucnv_toUnicode";
        decoder.members = ", \"stream_offsets\": \"stream\"";
        decoder.decode = converter_decode;
        decoder.replace = converter_replace;
        decoder.encode16 = converter_encode16;
        decoder.strict = (Stream){start_stopping, next_stopping, reset_stopping};
        decoder.lossy = (Stream){start_substituting, next_substituting, reset_substituting};
    } else if (asked_for(count, words, "string")) {
        decoder.name = "u_strFromUTF8";
        decoder.decode = string_decode;
        decoder.replace = string_replace;
        decoder.encode16 = string_encode16;
    } else {
        decoder.name = "U8_NEXT";
        decoder.unit = 4;
        decoder.decode = macro_decode;
        decoder.replace = macro_replace;
        decoder.encode = macro_encode;
    }
    return serve(&decoder);
}
