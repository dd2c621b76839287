// Functions of simdutf with the calling conventions of 'overlong docs abis', for the library libsimdutf.
#include "simdutf.h"
#include <vector>

extern "C" {
bool validate_utf8(const char *octets, size_t length) { return simdutf::validate_utf8(octets, length); }

simdutf::result validate_utf8_with_errors(const char *octets, size_t length) {
    return simdutf::validate_utf8_with_errors(octets, length);
}

size_t convert_utf8_to_utf16(const char *octets, size_t length, char16_t *out) {
    return simdutf::convert_utf8_to_utf16(octets, length, out);
}

simdutf::result convert_utf8_to_utf16_with_errors(const char *octets, size_t length, char16_t *out) {
    return simdutf::convert_utf8_to_utf16_with_errors(octets, length, out);
}

size_t convert_utf8_to_utf32(const char *octets, size_t length, char32_t *out) {
    return simdutf::convert_utf8_to_utf32(octets, length, out);
}

simdutf::result convert_utf8_to_utf32_with_errors(const char *octets, size_t length, char32_t *out) {
    return simdutf::convert_utf8_to_utf32_with_errors(octets, length, out);
}

// There and back, so that what is written is judged, too: 0 where the first conversion refuses.
size_t convert_utf16_to_utf8(const char *octets, size_t length, char *out) {
    std::vector<char16_t> units(length + 1);
    return simdutf::convert_utf16_to_utf8(
        units.data(), simdutf::convert_utf8_to_utf16(octets, length, units.data()), out);
}

size_t convert_utf32_to_utf8(const char *octets, size_t length, char *out) {
    std::vector<char32_t> units(length + 1);
    return simdutf::convert_utf32_to_utf8(
        units.data(), simdutf::convert_utf8_to_utf32(octets, length, units.data()), out);
}

// They do not say what they took: a caller reads it off what they wrote, as here.
size_t convert_utf16_to_utf8_safe(const char16_t *units, size_t length, char *out, size_t room, size_t *taken) {
    size_t written = simdutf::convert_utf16_to_utf8_safe(units, length, out, room);
    *taken = simdutf::utf16_length_from_utf8(out, written);
    return written;
}

size_t convert_latin1_to_utf8_safe(const char *units, size_t length, char *out, size_t room, size_t *taken) {
    size_t written = simdutf::convert_latin1_to_utf8_safe(units, length, out, room);
    *taken = simdutf::latin1_length_from_utf8(out, written);
    return written;
}

size_t count_utf8(const char *octets, size_t length) { return simdutf::count_utf8(octets, length); }

size_t utf32_length_from_utf8(const char *octets, size_t length) {
    return simdutf::utf32_length_from_utf8(octets, length);
}

size_t utf16_length_from_utf8(const char *octets, size_t length) {
    return simdutf::utf16_length_from_utf8(octets, length);
}

size_t utf8_length_from_utf16(const char16_t *units, size_t length) {
    return simdutf::utf8_length_from_utf16(units, length);
}

size_t utf8_length_from_utf16_with_replacement(const char16_t *units, size_t length) {
    return simdutf::utf8_length_from_utf16_with_replacement(units, length).count;
}

size_t utf8_length_from_utf32(const char32_t *units, size_t length) {
    return simdutf::utf8_length_from_utf32(units, length);
}

size_t utf8_length_from_latin1(const char *units, size_t length) {
    return simdutf::utf8_length_from_latin1(units, length);
}

size_t trim_partial_utf8(const char *octets, size_t length) { return simdutf::trim_partial_utf8(octets, length); }
}
