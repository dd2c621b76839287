// Functions of UTF8-CPP with the calling conventions of 'overlong docs abis', for the library libutfcpp.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utf8.h>

// What it answers, or SIZE_MAX if it throws one of its exceptions.
template <typename Function> static size_t refusing(Function function) {
    try {
        return function();
    } catch (const utf8::exception &) {
        return SIZE_MAX;
    }
}

// Of a conversion that refuses: 0.
template <typename Function> static size_t written(Function function) {
    size_t units = refusing(function);
    return units == SIZE_MAX ? 0 : units;
}

extern "C" {
bool is_valid(const char *octets, size_t length) { return utf8::is_valid(octets, octets + length); }

size_t find_invalid(const char *octets, size_t length) {
    return (size_t)(utf8::find_invalid(octets, octets + length) - octets);
}

size_t utf8to16(const char *octets, size_t length, char16_t *out) {
    return written([&] { return (size_t)(utf8::utf8to16(octets, octets + length, out) - out); });
}

size_t utf8to32(const char *octets, size_t length, char32_t *out) {
    return written([&] { return (size_t)(utf8::utf8to32(octets, octets + length, out) - out); });
}

size_t utf16to8(const char16_t *units, size_t length) {
    std::string octets;
    return refusing([&] { return utf8::utf16to8(units, units + length, std::back_inserter(octets)), octets.size(); });
}

size_t utf32to8(const char32_t *units, size_t length) {
    std::string octets;
    return refusing([&] { return utf8::utf32to8(units, units + length, std::back_inserter(octets)), octets.size(); });
}

size_t distance(const char *octets, size_t length) {
    return refusing([&] { return (size_t)utf8::distance(octets, octets + length); });
}

size_t advance(const char *octets, size_t length, size_t index) {
    const char *place = octets;
    return refusing([&] { return utf8::advance(place, index, octets + length), (size_t)(place - octets); });
}

size_t next(const char *octets, size_t length, size_t offset, uint32_t *scalar) {
    const char *place = octets + offset;
    return refusing([&] { return *scalar = utf8::next(place, octets + length), (size_t)(place - octets) - offset; });
}

size_t prior(const char *octets, size_t, size_t offset, uint32_t *scalar) {
    const char *place = octets + offset;
    return refusing([&] { return *scalar = utf8::prior(place, octets), offset - (size_t)(place - octets); });
}
}
