// UTF8-CPP: utf8::find_invalid, utf8::next, utf8::replace_invalid; utf8::append and utf8::utf16to8.
#ifndef LIBRARY_VERSION
#define LIBRARY_VERSION ""
#endif
#include "frames.h"
#include <iterator>
#include <string>
#include <utf8.h>

static char validate(const uint8_t *octets, size_t size, Answer *answer) {
    const uint8_t *end = octets + size, *wrong = utf8::find_invalid(octets, end);
    if (wrong == end) return ACCEPTED;
    return refuse(answer, (size_t)(wrong - octets), LENGTH_NOT_SAID, INCOMPLETE_NOT_SAID);
}

static char decode(const uint8_t *octets, size_t size, Answer *answer) {
    const uint8_t *place = octets, *end = octets + size;
    try {
        while (place != end) put32(&answer->units, utf8::next(place, end));
    } catch (const utf8::not_enough_room &) {
        return refuse(answer, (size_t)(place - octets), LENGTH_NOT_SAID, 1);
    } catch (const utf8::exception &) { // invalid_utf8 and invalid_code_point
        return refuse(answer, (size_t)(place - octets), LENGTH_NOT_SAID, 0);
    }
    return ACCEPTED;
}

static char replace(const uint8_t *octets, size_t size, Answer *answer) {
    std::string valid;
    try {
        utf8::replace_invalid(octets, octets + size, std::back_inserter(valid));
    } catch (const utf8::exception &) { // only the exception for truncated text is documented
        return refuse_silently(answer);
    }
    if (decode((const uint8_t *)valid.data(), valid.size(), answer) == REFUSED)
        die("replace_invalid put out what is ill-formed");
    return ACCEPTED;
}

static char encode(const uint8_t *payload, size_t size, Answer *answer) {
    const uint32_t *points = points_of(payload, size);
    std::string octets;
    for (size_t index = 0; index < size / 4; index++) {
        try {
            utf8::append(points[index], std::back_inserter(octets));
        } catch (const utf8::invalid_code_point &) {
            return refuse(answer, (size_t)index, LENGTH_NOT_SAID, 0);
        }
    }
    put(&answer->units, octets.data(), octets.size());
    return ACCEPTED;
}

static char encode16(const uint8_t *payload, size_t size, Answer *answer) {
    const uint16_t *units = units_of(payload, size);
    std::string octets;
    try {
        utf8::utf16to8(units, units + size / 2, std::back_inserter(octets));
    } catch (const utf8::invalid_utf16 &) { // it reports the unit, not its index
        return refuse_silently(answer);
    }
    put(&answer->units, octets.data(), octets.size());
    return ACCEPTED;
}

int main() {
    Decoder decoder = {};
    decoder.name = "utf8::next";
    decoder.version = LIBRARY_VERSION;
    decoder.language = "C++";
    decoder.unit = 4;
    decoder.validate = validate;
    decoder.decode = decode;
    decoder.replace = replace;
    decoder.encode = encode;
    decoder.encode16 = encode16;
    return serve(&decoder);
}
