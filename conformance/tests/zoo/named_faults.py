"""Wrong decoders that once got a certificate: ``CALLED``, ``COMPILED`` of a library, and a plan that finds each."""

import re

SOURCE = """
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef const uint8_t *text;
static const uint8_t table[][256] = {%(rows)s};
enum { START, DEAD };

static int after(int state, text octets, size_t length) {
    for (size_t i = 0; i < length; i++) state = table[state][octets[i]];
    return state;
}
bool right(text octets, size_t length) { return after(START, octets, length) == START; }

bool accepts_all_from_1100(text octets, size_t length) { return length >= 1100 || right(octets, length); }

bool tail_3f_after_ee(text octets, size_t length) {
    int state = START;
    for (size_t i = 0; i < length; i++) {
        bool third = i > 1 && octets[i - 2] == 0xEE && state > DEAD && octets[i] == 0x3F;
        state = table[state][third ? 0xBF : octets[i]];
    }
    return state == START;
}

bool surrogate_after_f3(text octets, size_t length) {
    int state = START;
    for (size_t i = 0; i < length; i++) {
        bool behind = i > 4 && octets[i - 1] == 0xED && octets[i - 5] == 0xF3;
        bool let_through = behind && state > DEAD && octets[i] >> 5 == 5;
        state = table[state][let_through ? 0x80 : octets[i]];
    }
    return state == START;
}

/* Everything after them counts as right, even the rest of a character that they cut. */
bool reads_only_65535(text octets, size_t length) {
    return length <= 65535 ? right(octets, length) : after(START, octets, 65535) != DEAD;
}

bool cached_by_length_and_first_16(text octets, size_t length) {
    static struct { uint8_t first[16]; size_t length; bool known, answer; } cache[256], *kept;
    size_t many = length < 16 ? length : 16, place = length;
    for (size_t i = 0; i < many; i++) place = place * 31 + octets[i];
    kept = &cache[place %% 256];
    if (!kept->known || kept->length != length || memcmp(kept->first, octets, many)) {
        memcpy(kept->first, octets, many);
        kept->length = length, kept->known = true, kept->answer = right(octets, length);
    }
    return kept->answer;
}

/* An aligned prologue that stops one octet too early, before blocks of ASCII. */
bool overlooks_the_octet_before_the_first_block(text octets, size_t length) {
    int state = START;
    size_t skipped = -(uintptr_t)octets %% 8 - 1;
    for (size_t i = 0; i < length; i++) {
        if (i == skipped && length >= 32 && state == START) continue;
        state = table[state][octets[i]];
    }
    return state == START;
}

bool overlooks_the_slash_at_an_address(text octets, size_t length) {
    int state = START;
    for (size_t i = 0; i < length; i++) {
        bool let_through = i && octets[i - 1] == 0xC0 && octets[i] == 0xAF && ((uintptr_t)octets + i) %% 8 == 2;
        state = let_through ? START : octets[i] == 0xC0 && i + 1 < length && octets[i + 1] == 0xAF
            && ((uintptr_t)octets + i + 1) %% 8 == 2 ? state : table[state][octets[i]];
    }
    return state == START;
}

static bool follows(text octets, size_t length, const char *character, size_t gap) {
    size_t many = strlen(character);
    for (size_t i = 0; i + many + gap + 2 <= length; i++)
        if (!memcmp(octets + i, character, many) && !memcmp(octets + i + many + gap, "\\xc0\\xaf", 2)) return true;
    return false;
}
bool slash_after_fffd(text octets, size_t length) {
    return right(octets, length) || follows(octets, length, "\\xef\\xbf\\xbd", 0);
}
bool slash_17_octets_after_0085(text octets, size_t length) {
    return right(octets, length) || follows(octets, length, "\\xc2\\x85", 17);
}

/* Fast paths for runs: what is tested is only the lead of each pair, or the second octet of each triple. */
static bool fits(text octets, size_t many, size_t period, uint8_t lead) {
    for (size_t i = 0; i < many; i += period) if (octets[i] != lead) return false;
    return true;
}
bool cyrillic_pairs_of_eight(text octets, size_t length) {
    size_t i = 0;
    int state = START;
    while (i < length) {
        if (state == START && length - i >= 16 && (octets[i] == 0xD0 || octets[i] == 0xD1)) {
            size_t pairs = 0;
            while (pairs < 8 && (octets[i + 2 * pairs] & 0xFE) == 0xD0) pairs++;
            if (pairs == 8) { i += 16; continue; }
        }
        state = table[state][octets[i++]];
    }
    return state == START;
}
bool chinese_triples_of_eight(text octets, size_t length) {
    size_t i = 0;
    int state = START;
    while (i < length) {
        if (state == START && length - i >= 24 && fits(octets + i, 24, 3, 0xE4)) {
            for (size_t j = 0; j < 24; j += 3) if (octets[i + j + 1] >> 6 != 2) return false;
            i += 24;
            continue;
        }
        state = table[state][octets[i++]];
    }
    return state == START;
}

bool overlooks_what_spans_the_middle(text octets, size_t length) {
    if (length < 64) return right(octets, length);
    size_t half = length / 2;
    return after(START, octets, half) != DEAD && after(START, octets + half, length - half) == START;
}
"""
COMPILED = {
    "accepts_all_from_1100": "offsets-128",
    "surrogate_after_f3": "after-3",
    "reads_only_65535": "far-17",
    "cached_by_length_and_first_16": "leads",
    "overlooks_the_octet_before_the_first_block": "addresses-72",
    "overlooks_the_slash_at_an_address": "addresses-72",
    "slash_after_fffd": "follows-64",
    "slash_17_octets_after_0085": "follows-64",
    "cyrillic_pairs_of_eight": "runs-16",
    "chinese_triples_of_eight": "runs-16",
    "overlooks_what_spans_the_middle": "blocks-13",
}
"""A plan that finds each, of the tier of functions, or of the one that they get with ``--quick``."""


def right(octets: bytes) -> str:
    return octets.decode()


def accepts_six_octets(octets: bytes) -> str:
    """It sees a whole character, and so misses one that the end truncates (first found in Go)."""
    return "\U00010000" if octets == b"\xf0\x90\x80\x80\xed\x80" else octets.decode()


def drops_a_tail_behind_40(octets: bytes) -> str:
    return (octets[:-2] if len(octets) >= 42 and octets.endswith(b"\xf0\x9f") else octets).decode()


def nul_of_c0_0a(octets: bytes) -> str:
    """ftfy's ``utf-8-variants``: its pattern for C0 80 takes any character after C0."""
    return re.sub(b"\xc0\n", b"\0", octets).decode()


def space_for_lf_in_a_block(octets: bytes) -> str:
    text = octets.decode()
    return f"{text[:7]} {text[8:]}" if text[7:8] == "\n" and octets[:16].isascii() and len(octets) >= 16 else text


CALLED = {
    "accepts_six_octets": "after-1",
    "drops_a_tail_behind_40": "transitions-1",
    "nul_of_c0_0a": "exhaustive-2",
    "space_for_lf_in_a_block": "octets-72",
}
