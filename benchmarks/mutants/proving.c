// The search for strings that prove mutants of `styles/` wrong: texts of many kinds, lengths and addresses, well-formed
// or with an error or two. It knows nothing of the plans of sweeps. `shaped.py` calls it.

#include <stdio.h>

#include "utf8.h"

static uint64_t dice;

static uint64_t roll(void) {
    dice ^= dice << 13;
    dice ^= dice >> 7;
    return dice ^= dice << 17;
}
static size_t below(size_t most) { return (size_t)((roll() >> 11) % most); }
static bool chance(size_t percent) { return below(100) < percent; }
static uint32_t among(uint32_t least, uint32_t most) { return least + (uint32_t)below(most - least + 1); }

static size_t put(octet *to, uint32_t c) {
    if (c < 0x80) return to[0] = (octet)c, 1;
    const size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t k = length; --k; c >>= 6) to[k] = (octet)(0x80 | (c & 0x3F));
    to[0] = (octet)((0xF00 >> length & 0xFF) | c);
    return length;
}

static const uint32_t ranges[][2] = {
    {'a', 'z'}, {' ', '~'}, {0, 0x7F}, // ASCII
    {0x80, 0x7FF}, {0xC0, 0x17F}, {0x410, 0x44F}, {0x5D0, 0x5EA}, {0x621, 0x64A}, // two octets
    {0x800, 0xFFFD}, {0x905, 0x939}, {0x3041, 0x30F6}, {0x4E00, 0x9FA5}, {0xAC00, 0xD7A3}, {0xE000, 0xFFFF}, {0x1E00, 0x20BF},
    {0x10000, 0x10FFFF}, {0x1F300, 0x1F6FF}, {0x20000, 0x2A6DF}, {0xE0000, 0xFFFFF}, {0x100000, 0x10FFFF}, // four
};
enum { RANGES = sizeof ranges / sizeof *ranges };
static const uint32_t notable[] = {
    0, 9, 10, 13, ' ', 0x7F, 0x80, 0x85, 0x7FF, 0x800, 0xFFF, 0x1000, 0x2028, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFDD0,
    0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x1FFFE, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF};

static uint32_t one_of(size_t range) {
    uint32_t c;
    do c = range < RANGES ? among(ranges[range][0], ranges[range][1]) : notable[below(sizeof notable / sizeof *notable)];
    while (c >= 0xD800 && c < 0xE000);
    return c;
}

static const char *const errors[] = {
    "\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xAF\xBF", "\xED\xB0\x80",
    "\xED\xBF\xBF", "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xF7\xBF\xBF\xBF",
    "\xF8\x88\x80\x80\x80", "\xFC\x84\x80\x80\x80\x80", "\xFE", "\xFF", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3\x28",
    "\xE2\x28\xA1", "\xE2\x82\x28", "\xF0\x28\x8C\xBC", "\xF0\x90\x28\xBC", "\xF0\x90\x8C\x28", "\xED\xA0\xBD\xED\xB8\x80",
    "\xC0\x80", "\xE4\xB8", "\xE0\xA0\xC0", "\xF3\xA0\x80", "\x80\x80\x80"};
static const octet odd[] = {0x00, 0x20, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
                            0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xF7, 0xF8, 0xFC, 0xFE, 0xFF};

// An offset in a text: near its start, end or middle, at the edge of a block, or anywhere.
static size_t place_in(size_t n) {
    const size_t few = below(n < 8 ? n : 8);
    size_t at;
    switch (below(8)) {
    case 0:
    case 1: return n - 1 - few;
    case 2: return few;
    case 3: return n / 2 + few < n + 4 && n / 2 + few >= 4 ? n / 2 + few - 4 : few;
    case 4:
        at = ((size_t)8 << below(6)) * (1 + below(4)) + few;
        return at < n + 4 && at >= 4 ? at - 4 : few;
    default: return below(n);
    }
}

// A text of about a length; how it is mixed is drawn first.
static size_t text(octet *to, size_t wanted) {
    const size_t how = below(5), main = below(RANGES), other = below(RANGES + 1), every = 1 + below(24);
    size_t n = 0, left = 0, range = main;
    while (n < wanted) {
        switch (how) {
        case 0: range = main; break;
        case 1: range = below(every) ? main : other; break;
        case 2: range = below(RANGES + 1); break;
        case 3: range = below(every) ? below(2) : below(RANGES + 1); break;
        default:
            if (!left) left = 1 + below(20), range = below(RANGES + 1);
            left--;
        }
        n += put(to + n, one_of(range));
    }
    return n;
}

static size_t spoiled(octet *s, size_t n) {
    const size_t at = n ? place_in(n) : 0;
    switch (n ? below(10) : 9) {
    case 0: s[at] = odd[below(sizeof odd)]; return n;
    case 1: s[at] = (octet)roll(); return n;
    case 2: s[at] ^= (octet)(1 << below(8)); return n;
    case 3: memmove(s + at, s + at + 1, n - at - 1); return n - 1;
    case 4: memmove(s + at + 1, s + at, n - at); s[at] = odd[below(sizeof odd)]; return n + 1;
    case 5: return n - 1 - below(n < 3 ? n : 3);
    case 6: { // a character cut by ASCII or other text, as long as blocks are
        const size_t more = ((size_t)8 << below(5)) * (1 + below(2)), edge = at / 8 * 8;
        if (edge < 4) return n;
        put(s + edge - 1 - below(3), one_of(3 + below(RANGES - 3)));
        memmove(s + edge + more, s + edge, n - edge);
        memset(s + edge, 'a', more);
        return n + more;
    }
    default: {
        const char *const error = errors[below(sizeof errors / sizeof *errors)];
        const size_t length = strlen(error);
        if (chance(50)) { // over what is there, or between
            memcpy(s + at, error, length);
            return n < at + length ? at + length : n;
        }
        memmove(s + at + length, s + at, n - at);
        memcpy(s + at, error, length);
        return n + length;
    }
    }
}

static size_t length_drawn(const uint64_t *near, size_t nears, size_t longest) {
    const size_t how = below(100);
    size_t length;
    if (nears && how < 50) length = near[below(nears)] + below(40);
    else if (how < 40) length = below(41);
    else if (how < 65) length = below(101);
    else if (how < 80) length = ((size_t)8 << below(8)) * (1 + below(3)) + below(40);
    else if (how < 97) length = below(300);
    else length = below(5000);
    length = length > 24 ? length - below(24) : length;
    return length < longest - 64 ? length : longest - 64;
}

// Writes up to `count` strings, about `room` octets; `near` are lengths to draw more often. Returns how many.
size_t draw(uint64_t seed, size_t count, octet *all, size_t room, uint64_t *ends, octet *places, const uint64_t *near,
            size_t nears, size_t longest) {
    size_t end = 0, before = 0, k = 0;
    dice = seed * 0x9E3779B97F4A7C15 + 1;
    for (k = 0; k < count && end + 2 * longest < room; k++) {
        octet *const s = all + end;
        size_t n;
        if (k && before && chance(20)) { // the string before, but for an octet or two
            memcpy(s, s - before, n = before);
            places[k] = places[k - 1];
            const size_t one = place_in(n), other = place_in(n);
            const octet there = s[one];
            s[one] = chance(30) ? s[other] : chance(50) ? odd[below(sizeof odd)] : (octet)roll();
            if (chance(30)) s[one] = s[other], s[other] = there; // the sum of octets is the same
        } else {
            n = text(s, length_drawn(near, nears, longest));
            for (size_t times = chance(30) ? 0 : chance(75) ? 1 : 2 + below(2); times; times--) n = spoiled(s, n);
            places[k] = (octet)below(64);
        }
        before = n;
        ends[k] = end += n;
    }
    return k;
}

// The right answers: the offset of the first error; the length if there is none.
void judge(const octet *all, const uint64_t *ends, size_t count, uint64_t *right) {
    for (size_t k = 0; k < count; k++) {
        const size_t start = k ? ends[k - 1] : 0, n = ends[k] - start;
        size_t i = 0, length;
        while (i < n && (length = character(all + start + i, n - i))) i += length;
        right[k] = i;
    }
}

struct result {
    int error;
    size_t count;
};
enum { VERDICT, OFFSET, POINTER, RESULT, UTF16, UTF32, STREAM32, REPLACING };

static size_t decoded(const octet *s, size_t n, int kind, octet *to) {
    size_t count = 0;
    for (size_t i = 0; i < n;) {
        size_t length = character(s + i, n - i);
        uint32_t c = length ? number(s + i, length) : 0xFFFD;
        i += length ? length : subpart(s + i, n - i);
        if (kind == REPLACING) count += put(to + count, c);
        else if (kind != UTF16) ((uint32_t *)to)[count++] = c;
        else if (c < 0x10000) ((uint16_t *)to)[count++] = (uint16_t)c;
        else {
            ((uint16_t *)to)[count++] = (uint16_t)(0xD7C0 + (c >> 10));
            ((uint16_t *)to)[count++] = (uint16_t)(0xDC00 | (c & 0x3FF));
        }
    }
    return count;
}

static const octet canary[16] = "a dead canary.";

// True if a stream in chunks, drawn by `chunks`, is wrong. The state is used again, or made anew.
static bool stream_is_wrong(void *const *f, const octet *s, size_t n, bool right, octet *out, octet *wanted,
                            uint64_t chunks, bool anew) {
    static void *state;
    void *(*make)(void) = (void *(*)(void))f[0];
    ptrdiff_t (*feed)(void *, const octet *, size_t, uint32_t *, size_t) =
        (ptrdiff_t(*)(void *, const octet *, size_t, uint32_t *, size_t))f[1];
    ptrdiff_t (*finish)(void *, uint32_t *, size_t) = (ptrdiff_t(*)(void *, uint32_t *, size_t))f[2];
    if (state && anew) ((void (*)(void *))f[3])(state), state = NULL;
    if (state) ((void (*)(void *))f[4])(state);
    else state = make();
    dice = chunks | 1;
    const size_t how = below(4), cut = below(n + 1);
    size_t count = 0;
    bool accepted = true;
    for (size_t i = 0; accepted && i < n;) {
        size_t size = how == 0 ? n : how == 1 ? 1 : how == 2 ? below(6) : i < cut ? cut : n;
        if (size > n - i) size = n - i;
        const ptrdiff_t got = feed(state, s + i, size, (uint32_t *)out + count, n + 16 - count);
        if (got < 0) accepted = false;
        else count += (size_t)got;
        if (count > n + 16) return true;
        i += size;
    }
    const ptrdiff_t last = accepted ? finish(state, (uint32_t *)out + count, n + 16 - count) : -1;
    if (last < 0) accepted = false;
    if (accepted != right) return true;
    if (!accepted) return false;
    count += (size_t)last;
    return count != decoded(s, n, UTF32, wanted) || memcmp(out, wanted, 4 * count);
}

// True if the answer to a string is wrong. Neither `out` nor `wanted` is shared; both have room for 4 * n + 64 octets.
static bool is_wrong(int kind, void *const *f, const octet *s, size_t n, size_t right, octet *out, octet *wanted) {
    switch (kind) {
    case VERDICT: return ((bool (*)(const octet *, size_t))f[0])(s, n) != (right == n);
    case OFFSET: return ((size_t(*)(const octet *, size_t))f[0])(s, n) != right;
    case POINTER: return ((const octet *(*)(const octet *, size_t))f[0])(s, n) != (right == n ? NULL : s + right);
    case RESULT: {
        const struct result got = ((struct result(*)(const octet *, size_t))f[0])(s, n);
        return got.error ? right == n || got.count != right : right != n;
    }
    case REPLACING: {
        memcpy(out + 3 * n, canary, sizeof canary);
        const size_t got = ((size_t(*)(const octet *, size_t, octet *))f[0])(s, n, out);
        return memcmp(out + 3 * n, canary, sizeof canary) || got != decoded(s, n, kind, wanted) || memcmp(out, wanted, got);
    }
    default: {
        const size_t unit = kind == UTF16 ? 2 : 4;
        memcpy(out + unit * n, canary, sizeof canary);
        const struct result got = ((struct result(*)(const octet *, size_t, octet *))f[0])(s, n, out);
        if (memcmp(out + unit * n, canary, sizeof canary)) return true;
        if (got.error) return right == n || got.count != right;
        return right != n || got.count != decoded(s, n, kind, wanted) || memcmp(out, wanted, unit * got.count);
    }
    }
}

// Asks the strings from `first` on; returns the number of the first wrong answer, or -1. `now` is the string at work.
// `arena` has room for each string and 256 octets; with `guarded`, strings end at its end, where memory ends.
ptrdiff_t prove(int kind, void *const *f, const octet *all, const uint64_t *ends, const octet *places,
                const uint64_t *right, size_t first, size_t count, octet *arena, size_t room, bool guarded, octet *out,
                octet *wanted, volatile int64_t *now) {
    static const octet around[] = {0x00, 0x80, 'a', 0xBF};
    for (size_t k = first; k < count; k++) {
        const size_t start = k ? ends[k - 1] : 0, n = ends[k] - start;
        octet *s = arena + room - n;
        if (!guarded) {
            s = arena + 64 + places[k];
            memset(s - 16, around[places[k] & 3], 16);
            memset(s + n, around[places[k] >> 2 & 3], 16);
        }
        memcpy(s, all + start, n);
        *now = (int64_t)k;
        const bool wrong = kind == STREAM32 ? stream_is_wrong(f, s, n, right[k] == n, out, wanted, k * 0x9E3779B97F4A7C15, places[k] & 1)
                                            : is_wrong(kind, f, s, n, right[k], out, wanted);
        if (wrong) return (ptrdiff_t)k;
    }
    return -1;
}
