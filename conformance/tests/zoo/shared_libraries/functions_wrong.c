// Functions beside decoding that are right about most texts. Tests compile this file and certify each.
// Most loops here are those of fast libraries: sums in narrow lanes, marks at every so many octets, tables with a typo.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <uchar.h>

static bool is_tail(char octet) { return (octet & 0xC0) == 0x80; }

static size_t width_of(char lead) {
    unsigned char octet = (unsigned char)lead;
    return octet < 0xC0 ? 1 : octet < 0xE0 ? 2 : octet < 0xF0 ? 3 : 4;
}

static size_t scalars_in(const char *octets, size_t length) {
    size_t found = 0;
    for (size_t place = 0; place < length; place++) found += !is_tail(octets[place]);
    return found;
}

static size_t units_in(const char *octets, size_t length) {
    size_t found = 0;
    for (size_t place = 0; place < length; place++) found += !is_tail(octets[place]) + ((unsigned char)octets[place] >= 0xF0);
    return found;
}

static size_t floor_of(const char *octets, size_t length, size_t offset) {
    while (offset && offset < length && is_tail(octets[offset])) offset--;
    return offset;
}

static uint32_t scalar_of(const char *octets, size_t width) {
    static const unsigned char mask[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    uint32_t scalar = (unsigned char)octets[0] & mask[width];
    for (size_t place = 1; place < width; place++) scalar = scalar << 6 | (octets[place] & 0x3F);
    return scalar;
}

static size_t units_written(uint32_t scalar, char16_t *out) {
    if (scalar < 0x10000) return *out = (char16_t)scalar, 1;
    out[0] = (char16_t)(0xD7C0 + (scalar >> 10)), out[1] = (char16_t)(0xDC00 | (scalar & 0x3FF));
    return 2;
}

// Sixteen lanes of 8 bits, which are added up only at the end.
size_t count_in_lanes(const char *octets, size_t length) {
    uint8_t lanes[16] = {0};
    size_t place = 0, found = 0;
    for (; place + 16 <= length; place += 16)
        for (size_t lane = 0; lane < 16; lane++) lanes[lane] += !is_tail(octets[place + lane]);
    for (size_t lane = 0; lane < 16; lane++) found += lanes[lane];
    return found + scalars_in(octets + place, length - place);
}

// Added up after 256 blocks of 64 octets, not after 255: 8 bits hold one less.
size_t count_added_up_late(const char *octets, size_t length) {
    uint8_t lanes[64] = {0};
    size_t place = 0, found = 0, blocks = 0;
    for (; place + 64 <= length; place += 64) {
        for (size_t lane = 0; lane < 64; lane++) lanes[lane] += !is_tail(octets[place + lane]);
        if (++blocks % 256 == 0) {
            for (size_t lane = 0; lane < 64; lane++) found += lanes[lane];
            memset(lanes, 0, sizeof lanes);
        }
    }
    for (size_t lane = 0; lane < 64; lane++) found += lanes[lane];
    return found + scalars_in(octets + place, length - place);
}

// Only the pairs are counted in lanes.
size_t utf16_pairs_in_lanes(const char *octets, size_t length) {
    uint8_t lanes[32] = {0};
    size_t place = 0, found = scalars_in(octets, length);
    for (; place + 32 <= length; place += 32)
        for (size_t lane = 0; lane < 32; lane++) lanes[lane] += (unsigned char)octets[place + lane] >= 0xF0;
    for (size_t lane = 0; lane < 32; lane++) found += lanes[lane];
    return found + units_in(octets + place, length - place) - scalars_in(octets + place, length - place);
}

// A pair counts as one unit in blocks of 64 octets.
size_t utf16_without_pairs_in_blocks(const char *octets, size_t length) {
    size_t whole = length - length % 64;
    return scalars_in(octets, whole) + units_in(octets + whole, length - whole);
}

size_t size_in_16_bits(const char16_t *units, size_t length) {
    uint16_t size = 0;
    for (size_t place = 0; place < length; place++) {
        bool is_surrogate = units[place] >= 0xD800 && units[place] < 0xE000;
        size += is_surrogate ? 2 : 1 + (units[place] >= 0x80) + (units[place] >= 0x800);
    }
    return size;
}

size_t truncate_in_16_bits(const char *octets, size_t length, size_t limit) {
    return limit >= length ? length : floor_of(octets, length, (uint16_t)limit);
}

size_t truncate_scalars_in_8_bits(const char *octets, size_t length, size_t limit) {
    size_t place = 0;
    for (uint8_t left = (uint8_t)(limit > length ? length : limit); place < length; place++)
        if (!is_tail(octets[place]) && !left--) break;
    return place;
}

// A page is taken to begin with a character.
size_t floor_by_pages(const char *octets, size_t length, size_t offset) {
    return offset % 4096 ? floor_of(octets, length, offset) : offset;
}

// A table has the units before each 1 024 octets. A character across such a place is counted on both sides.
size_t utf16_by_marks(const char *octets, size_t length, size_t offset) {
    size_t mark = offset - offset % 1024;
    (void)length;
    return units_in(octets, mark) + (mark < offset && is_tail(octets[mark])) + units_in(octets + mark, offset - mark);
}

size_t scalar_in_15_bits(const char *octets, size_t length, size_t offset) {
    (void)length;
    return (size_t)(int16_t)scalars_in(octets, offset);
}

// Output goes through a buffer of 255 units: a pair that does not fit is U+FFFD.
size_t to_utf16_by_buffers(const char *octets, size_t length, char16_t *out, size_t room, size_t *taken) {
    size_t place = 0, written = 0;
    while (place < length) {
        char16_t units[2];
        size_t width = width_of(octets[place]), count = units_written(scalar_of(octets + place, width), units);
        if (written + count > room) break;
        if (count == 2 && written % 255 == 254) units[0] = 0xFFFD, units[1] = 0xFFFD;
        memcpy(out + written, units, count * sizeof *out);
        written += count, place += width;
    }
    *taken = place;
    return written;
}

// NEL is taken for a line feed.
size_t next_of_lines(const char *octets, size_t length, size_t offset, uint32_t *scalar) {
    size_t width = width_of(octets[offset]);
    if (width > length - offset) width = length - offset;
    *scalar = scalar_of(octets + offset, width);
    if (*scalar == 0x85) *scalar = 0x0A;
    return width;
}

// A table of leads with a typo: E9 announces two octets.
size_t trim_by_table(const char *octets, size_t length) {
    for (size_t back = 1; back <= 3 && back <= length; back++) {
        char octet = octets[length - back];
        if (is_tail(octet)) continue;
        size_t width = octet == (char)0xE9 ? 2 : width_of(octet);
        return width > back ? length - back : length;
    }
    return length;
}

// Characters of two octets two at a time: their leads are compared as one number, in which C3 9F looks like ASCII.
size_t count_by_pairs(const char *octets, size_t length) {
    size_t found = scalars_in(octets, length);
    for (size_t place = 0; place + 1 < length; place++) found += octets[place] == (char)0xC3 && octets[place + 1] == (char)0x9F;
    return found;
}

// Looks for a lead before up to five tails, as RFC 2279 had them; each octet that belongs to no character is one step.
size_t previous_of_six(const char *octets, size_t length, size_t offset, uint32_t *scalar) {
    size_t back = 1;
    (void)length;
    while (back < 6 && back < offset && is_tail(octets[offset - back])) back++;
    const char *start = octets + offset - back;
    unsigned char lead = (unsigned char)*start;
    if (back > 4 && lead >= 0xF8) return *scalar = 0xFFFD, back;
    if (back <= 4 && lead < 0xF8 && width_of(*start) == back && !is_tail(*start)) {
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        uint32_t found = scalar_of(start, back);
        if (found >= least[back] && found <= 0x10FFFF && (found < 0xD800 || found > 0xDFFF)) return *scalar = found, back;
    }
    *scalar = 0xFFFD;
    return 1;
}

// FF is taken for the end of the input, as EOF is by a char.
size_t from_latin1_to_eof(const char *octets, size_t length, char *out, size_t room, size_t *taken) {
    size_t place = 0, written = 0;
    for (; place < length && octets[place] != (char)-1; place++) {
        unsigned char octet = (unsigned char)octets[place];
        if (written + 1 + (octet >= 0x80) > room) break;
        if (octet >= 0x80) out[written++] = (char)(0xC0 | octet >> 6);
        out[written++] = (char)(octet < 0x80 ? octet : 0x80 | (octet & 0x3F));
    }
    *taken = place;
    return written;
}

// Functions that leave their memory, and answer rightly nevertheless: what they read there changes no answer.

// Blocks of 16 octets, of which the last reads on; what is not of the text is masked away.
size_t count_reads_on(const char *octets, size_t length) {
    size_t found = 0;
    for (size_t place = 0; place < length; place += 16)
        for (size_t lane = 0; lane < 16; lane++) {
            volatile char octet = octets[place + lane];
            found += (place + lane < length) & !is_tail(octet);
        }
    return found;
}

// Touches the octet behind its room, and leaves it as it was.
size_t from_latin1_touches(const char *octets, size_t length, char *out, size_t room, size_t *taken) {
    volatile char *behind = out + room;
    char kept = *behind;
    *behind = kept;
    size_t written = 0;
    for (*taken = 0; *taken < length; ++*taken) {
        unsigned char octet = (unsigned char)octets[*taken];
        if (written + 1 + (octet >= 0x80) > room) break;
        if (octet >= 0x80) out[written++] = (char)(0xC0 | octet >> 6);
        out[written++] = (char)(octet < 0x80 ? octet : 0x80 | (octet & 0x3F));
    }
    return written;
}

// Looks at all four octets before an offset, and only then where the text begins.
size_t floor_reads_before(const char *octets, size_t length, size_t offset) {
    volatile char before[4];
    for (size_t back = 0; back < 4; back++) before[back] = octets[(ptrdiff_t)offset - (ptrdiff_t)back - 1];
    return floor_of(octets, length, offset);
}

// Right by three octets of lookahead, whatever the lead announces.
size_t next_reads_four(const char *octets, size_t length, size_t offset, uint32_t *scalar) {
    volatile char four[4];
    for (size_t place = 0; place < 4; place++) four[place] = octets[offset + place];
    size_t width = width_of(octets[offset]);
    if (width > length - offset) width = length - offset;
    *scalar = scalar_of(octets + offset, width);
    return width;
}

// Puts a NUL before the place where it cuts, and the octet that was there back.
size_t truncate_writes_to_text(char *octets, size_t length, size_t limit) {
    size_t end = limit >= length ? length : floor_of(octets, length, limit);
    if (end < length) {
        char kept = octets[end];
        ((volatile char *)octets)[end] = 0;
        octets[end] = kept;
    }
    return end;
}

// Writes four octets for each that is not ASCII: there may be room for the two that it counts alone.
size_t from_latin1_in_words(const char *octets, size_t length, char *out, size_t room, size_t *taken) {
    size_t place = 0, written = 0;
    for (; place < length; place++) {
        unsigned char octet = (unsigned char)octets[place];
        if (written + 1 + (octet >= 0x80) > room) break;
        char word[4] = {(char)octet, 0, 0, 0};
        if (octet >= 0x80) word[0] = (char)(0xC0 | octet >> 6), word[1] = (char)(0x80 | (octet & 0x3F));
        memcpy(out + written, word, octet < 0x80 ? 1 : sizeof word);
        written += 1 + (octet >= 0x80);
    }
    *taken = place;
    return written;
}

// Right only at even addresses: the octet at an odd one is looked for one place off.
size_t count_by_alignment(const char *octets, size_t length) {
    return scalars_in(octets, length) + ((uintptr_t)octets % 8 == 6 && length > 20);
}
