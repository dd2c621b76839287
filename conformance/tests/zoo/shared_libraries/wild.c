// Functions of every convention whose answers have nothing to do with UTF-8: many are impossible.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <uchar.h>
#include <unistd.h>

// Of the octets before the input, too: both ways of calling write the same there.
static uint64_t hash(const char *octets, size_t length) {
    uint64_t found = 14695981039346656037u;
    for (ptrdiff_t i = -64; i < (ptrdiff_t)length; i++) found = (found ^ (unsigned char)octets[i]) * 1099511628211u;
    return found ^ found >> 29;
}

bool wild_bool(const char *octets, size_t length) { return hash(octets, length) & 1; }
int wild_int(const char *octets, size_t length) { return (int)(hash(octets, length) % 3) - 1; }
int wild_string(const char *string) { return wild_int(string, strlen(string)); }
size_t wild_errpos(const char *octets, size_t length) { return hash(octets, length) % (length + 3); }
ptrdiff_t wild_minus1(const char *octets, size_t length) { return (ptrdiff_t)wild_errpos(octets, length) - 2; }
const char *wild_null(const char *octets, size_t length) {
    return hash(octets, length) & 1 ? octets + wild_minus1(octets, length) : 0;
}
struct pair { int error; size_t count; };
struct pair wild_result(const char *octets, size_t length) {
    return (struct pair){(int)(hash(octets, length) & 1), (size_t)wild_minus1(octets, length)};
}
int wild_glib(const char *octets, ptrdiff_t length, const char **end) {
    *end = octets + wild_minus1(octets, (size_t)length);
    return hash(octets, (size_t)length) & 1;
}

#define DECODERS(bits, unit)                                                                              \
    static ptrdiff_t put##bits(uint64_t found, unit *out, size_t room) {                                   \
        ptrdiff_t units = (ptrdiff_t)(found % (room + 4)) - 2;                                             \
        for (ptrdiff_t i = 0; i < units - 1 && i < (ptrdiff_t)room; i++) out[i] = (unit)(found >> i % 32); \
        return units;                                                                                     \
    }                                                                                                     \
    ptrdiff_t wild_utf##bits(const char *octets, size_t length, unit *out, size_t capacity) {              \
        return put##bits(hash(octets, length), out, capacity);                                            \
    }                                                                                                     \
    size_t wild_short##bits(const char *octets, size_t length, unit *out) {                                \
        return (size_t)put##bits(hash(octets, length), out, length);                                      \
    }                                                                                                     \
    struct pair wild_pair##bits(const char *octets, size_t length, unit *out) {                            \
        uint64_t found = hash(octets, length);                                                            \
        return (struct pair){(int)(found >> 40 & 1), (size_t)put##bits(found, out, length)};              \
    }
DECODERS(8, char)
DECODERS(16, char16_t)
DECODERS(32, char32_t)

char16_t *wild_icu(char16_t *out, int32_t capacity, int32_t *out_length, const char *octets, int32_t length,
                   int32_t *status) {
    uint64_t found = hash(octets, (size_t)length);
    *out_length = (int32_t)put16(found, out, (size_t)capacity);
    *status = (int32_t)(found >> 40 & 15) - 1;
    return out;
}

// It accepts everything; of U+10FFFF it reads an octet more, and at U+10FFFE it forks.
bool over_reads_and_forks(const char *octets, size_t length) {
    if (length != 4 || memcmp(octets, "\xF4\x8F\xBF", 3)) return true;
    if (octets[3] == '\xBE') fork();
    return octets[3] != '\xBF' || ((const volatile char *)octets)[length] >= -128;
}
