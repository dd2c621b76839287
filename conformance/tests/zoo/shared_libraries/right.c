/* One right decoder, called in every way that abi.py knows. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const uint8_t *first, *last;
} octets;

typedef struct {
  int error;
  size_t count;
} result;

/* The octets of the character at s, of n octets; 0 if it is ill-formed, with the length of its maximal subpart. */
static size_t character(const uint8_t *s, size_t n, uint32_t *point, size_t *flawed) {
  uint8_t lead = s[0], low = 0x80, high = 0xBF;
  size_t more = lead < 0x80 ? 0 : lead < 0xC2 ? 9 : lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : lead < 0xF5 ? 3 : 9;
  *flawed = 1;
  if (more == 9) return 0;
  if (lead == 0xE0) low = 0xA0;
  if (lead == 0xED) high = 0x9F;
  if (lead == 0xF0) low = 0x90;
  if (lead == 0xF4) high = 0x8F;
  *point = more == 0 ? lead : lead & (0x3Fu >> more);
  for (size_t k = 1; k <= more; k++) {
    *flawed = k;
    if (k >= n || s[k] < low || s[k] > high) return 0;
    *point = *point << 6 | (s[k] & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return more + 1;
}

size_t errpos(const uint8_t *s, size_t n) {
  size_t place = 0, length, flawed;
  uint32_t point;
  while (place < n && (length = character(s + place, n - place, &point, &flawed))) place += length;
  return place;
}

bool is_bool(const uint8_t *s, size_t n) { return errpos(s, n) == n; }
bool span(octets s) { return is_bool(s.first, (size_t)(s.last - s.first)); }
int is_int(const uint8_t *s, size_t n) { return is_bool(s, n) ? 256 : 0; }
int error(const uint8_t *s, size_t n) { return is_bool(s, n) ? 0 : -5; }
bool string_bool(const char *s) { return is_bool((const uint8_t *)s, strlen(s)); }
int string_int(const char *s) { return string_bool(s) ? 1 << 16 : 0; }
ptrdiff_t minus1(const uint8_t *s, size_t n) { return is_bool(s, n) ? -1 : (ptrdiff_t)errpos(s, n); }
const uint8_t *pointer(const uint8_t *s, size_t n) { return is_bool(s, n) ? NULL : s + errpos(s, n); }
result validated(const uint8_t *s, size_t n) { return (result){is_bool(s, n) ? 0 : 7, errpos(s, n)}; }
int glib(const uint8_t *s, ptrdiff_t n, const uint8_t **end) {
  *end = s + errpos(s, (size_t)n);
  return *end == s + n;
}
ptrdiff_t iterate(const uint8_t *s, ptrdiff_t n, int32_t *point) {
  size_t flawed;
  uint32_t found;
  size_t length = character(s, (size_t)n, &found, &flawed);
  if (length) *point = (int32_t)found;
  return length ? (ptrdiff_t)length : -3;
}

/* The units of a code point in units of `size` octets. */
static size_t put(uint32_t point, size_t size, uint32_t units[4]) {
  if (size == 4 || point < 0x80) return units[0] = point, 1;
  if (size == 2) {
    if (point < 0x10000) return units[0] = point, 1;
    units[0] = 0xD7C0 + (point >> 10), units[1] = 0xDC00 | (point & 0x3FF);
    return 2;
  }
  size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  for (size_t k = more; k; k--, point >>= 6) units[k] = 0x80 | (point & 0x3F);
  units[0] = (0xFF80u >> more & 0xFF) | point;
  return more + 1;
}

/* -1 for what is ill-formed, the units that are needed for what is not; no more than `cap` are written. */
static ptrdiff_t decode(const uint8_t *s, size_t n, uint8_t *out, size_t cap, size_t size) {
  size_t written = 0;
  for (size_t place = 0, length, flawed; place < n; place += length) {
    uint32_t point, units[4];
    if (!(length = character(s + place, n - place, &point, &flawed))) return -1;
    size_t count = put(point, size, units);
    for (size_t k = 0; k < count; k++, written++) {
      uint16_t half = (uint16_t)units[k];
      uint8_t octet = (uint8_t)units[k];
      const void *from = size == 4 ? (const void *)&units[k] : size == 2 ? (const void *)&half : (const void *)&octet;
      if (written < cap) memcpy(out + written * size, from, size);
    }
  }
  return (ptrdiff_t)written;
}

#define DECODERS(name, size) \
  ptrdiff_t name(const uint8_t *s, size_t n, uint8_t *out, size_t cap) { return decode(s, n, out, cap, size); } \
  size_t name##_roomy(const uint8_t *s, size_t n, uint8_t *out) { \
    ptrdiff_t written = decode(s, n, out, n, size); \
    return written < 0 ? 0 : (size_t)written; \
  } \
  result name##_result(const uint8_t *s, size_t n, uint8_t *out) { \
    ptrdiff_t written = decode(s, n, out, n, size); \
    return written < 0 ? (result){1, errpos(s, n)} : (result){0, (size_t)written}; \
  } \
  ptrdiff_t name##_feed(stream *state, const uint8_t *s, size_t n, uint8_t *out, size_t cap) { \
    return feed(state, s, n, out, cap, size); \
  }

typedef struct {
  uint8_t kept[4];
  size_t count;
} stream;

stream *stream_new(void) { return calloc(1, sizeof(stream)); }
void stream_free(stream *state) { free(state); }
void stream_reset(stream *state) { state->count = 0; }
ptrdiff_t stream_finish(stream *state, uint8_t *out, size_t cap) {
  (void)out, (void)cap;
  return state->count ? -1 : 0;
}

static ptrdiff_t feed(stream *state, const uint8_t *s, size_t n, uint8_t *out, size_t cap, size_t size) {
  ptrdiff_t written = 0;
  for (size_t place = 0; place < n; place++) {
    size_t flawed;
    uint32_t point;
    state->kept[state->count++] = s[place];
    if (character(state->kept, state->count, &point, &flawed)) {
      size_t left = (size_t)written < cap ? cap - (size_t)written : 0;
      written += decode(state->kept, state->count, left ? out + (size_t)written * size : NULL, left, size);
      state->count = 0;
    } else if (flawed < state->count) {
      return -1;
    } else if (flawed == 1 && state->count == 1 && (s[place] < 0xC2 || s[place] > 0xF4)) {
      return -1;
    }
  }
  return written;
}

DECODERS(utf8, 1)
DECODERS(utf16, 2)
DECODERS(utf32, 4)

void *icu(uint8_t *out, int32_t cap, int32_t *needed, const uint8_t *s, int32_t n, int32_t *status) {
  ptrdiff_t written = decode(s, (size_t)n, out, (size_t)cap, 2);
  if (written < 0) return *status = 10, NULL;
  *needed = (int32_t)written;
  *status = written > cap ? 15 : written == cap ? -124 : 0;
  return out;
}

bool stream_judge(stream *state, const uint8_t *s, size_t n) { return feed(state, s, n, NULL, 0, 4) >= 0; }
bool stream_judged(stream *state) { return !state->count; }
