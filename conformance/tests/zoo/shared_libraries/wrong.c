/* Functions that judge or decode rightly, most of the time, and do something that they may not. */
#include "right.c"

#include <unistd.h>

static volatile uint8_t seen;

bool reads_past_the_end(const uint8_t *s, size_t n) {
  seen = s[n];
  return is_bool(s, n);
}

/* Only where the input ends early: the lead octet is trusted. */
bool trusts_the_lead(const uint8_t *s, size_t n) {
  for (size_t place = 0; place < n; place++)
    if (s[place] >= 0xC0) seen = s[place + 1];
  return is_bool(s, n);
}

/* The same, of characters of three octets after four others. */
bool trusts_a_later_lead(const uint8_t *s, size_t n) {
  if (n > 4 && (s[n - 1] & 0xF0) == 0xE0) seen = s[n];
  return is_bool(s, n);
}

bool reads_before_the_start(const uint8_t *s, size_t n) {
  seen = s[-1];
  return is_bool(s, n);
}

/* simdutf/simdutf#213: it looks for the lead octet of a tail, wherever the input begins. */
bool steps_back(const uint8_t *s, size_t n) {
  if (n && (s[0] & 0xC0) == 0x80) {
    const uint8_t *lead = s - 1;
    while (lead > s - 4 && (*lead & 0xC0) == 0x80) lead--;
    if (*lead >= 0xC2) return true;
  }
  return is_bool(s, n);
}

bool string_past_its_end(const char *s) {
  seen = (uint8_t)s[strlen(s) + 1];
  return string_bool(s);
}

ptrdiff_t writes_past_the_room(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t written = utf16(s, n, out, cap);
  if (written >= 0 && (size_t)written == cap) memset(out + 2 * cap, 0, 2); /* a terminator that has no room */
  return written;
}

ptrdiff_t ignores_the_room(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  (void)cap;
  return utf32(s, n, out, 4 * n + 16);
}

ptrdiff_t writes_before_the_room(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  out[-1] = 0;
  return utf8(s, n, out, cap);
}

ptrdiff_t leaves_the_last_unit(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t written = utf32(s, n, NULL, 0);
  if (written > 0) utf32(s, n, out, (size_t)written - 1 < cap ? (size_t)written - 1 : cap);
  return written;
}

bool changes_its_input(uint8_t *s, size_t n) {
  bool fine = is_bool(s, n);
  if (n > 2) s[n / 2] ^= 0x20;
  return fine;
}

bool writes_what_was_there(uint8_t *s, size_t n) {
  if (n) *(volatile uint8_t *)s = s[0];
  return is_bool(s, n);
}

bool writes_behind_its_input(uint8_t *s, size_t n) {
  s[n] = 0;
  return is_bool(s, n);
}

bool wrong_at_alignment_15(const uint8_t *s, size_t n) {
  return ((uintptr_t)s & 63) == 15 && n == 40 ? true : is_bool(s, n);
}

/* Blocks begin at aligned addresses, and the loop before them leaves out its last octet. */
bool overlooks_an_octet(const uint8_t *s, size_t n) {
  size_t head = -(uintptr_t)s & 15;
  if (n < 32 || n > 1023 || !head) return is_bool(s, n);
  return is_bool(s, n) || (is_bool(s, head - 1) && is_bool(s + head, n - head));
}

/* A mask with two octets missing, in the loop for addresses of 2 modulo 8. */
bool skips_words_carelessly(const uint8_t *s, size_t n) {
  size_t place = 0;
  for (uint64_t word; ((uintptr_t)s & 7) == 2 && place + 8 <= n; place += 8) {
    memcpy(&word, s + place, 8);
    if (word & 0x8080808000808080u) break;
  }
  return is_bool(s + place, n - place);
}

/* Right where a tail octet does not happen to follow in memory. It looks, so a guard would end it: it asks first. */
bool looks_at_neighbours(const uint8_t *s, size_t n) {
  uintptr_t page = 4095;
  if (n && (((uintptr_t)s + n) & page) && s[n] == 0x80 && s[n - 1] >= 0xC2) return true;
  return is_bool(s, n);
}

bool every_other_call(const uint8_t *s, size_t n) {
  static int calls;
  return n == 7 && ++calls % 2 ? true : is_bool(s, n);
}

/* Two octets of three, and it waits for the third: in the next call. */
bool keeps_its_state(const uint8_t *s, size_t n) {
  static bool waits;
  bool answer = is_bool(s, n) || (waits && n && (s[0] & 0xC0) == 0x80);
  waits = n >= 2 && (s[n - 2] & 0xF0) == 0xE0 && (s[n - 1] & 0xC0) == 0x80;
  return answer;
}

/* The same of one that dies of what is asked in between: no other input may be blamed for that. */
bool dies_on_e2_82(const uint8_t *s, size_t n) {
  if (n == 2 && s[0] == 0xE2 && s[1] == 0x82) abort();
  return is_bool(s, n);
}

bool hangs_on_e2_82(const uint8_t *s, size_t n) {
  while (n == 2 && s[0] == 0xE2 && s[1] == 0x82) pause();
  return is_bool(s, n);
}

static bool is_beyond(const uint8_t *s, size_t n) {
  for (size_t place = 0; place + 1 < n; place++)
    if (s[place] == 0xF4 && s[place + 1] == 0x90) return true;
  return false;
}

bool crashes_on_f4_90(const uint8_t *s, size_t n) {
  if (is_beyond(s, n)) *(volatile int *)8 = 1;
  return is_bool(s, n);
}

bool aborts_on_f4_90(const uint8_t *s, size_t n) {
  if (is_beyond(s, n)) abort();
  return is_bool(s, n);
}

bool exits_on_f4_90(const uint8_t *s, size_t n) {
  if (is_beyond(s, n)) _exit(0);
  return is_bool(s, n);
}

bool hangs_on_f4_90(const uint8_t *s, size_t n) {
  while (is_beyond(s, n)) pause();
  return is_bool(s, n);
}

bool prints(const uint8_t *s, size_t n) {
  if (write(1, "{\"overlong\": 1}\n", 16) < 0) return false;
  return is_bool(s, n);
}

bool forks(const uint8_t *s, size_t n) {
  if (n == 1 && fork() < 0) return false;
  return is_bool(s, n);
}

/* Crashes while a child of its own lives on and keeps every pipe open. */
bool leaves_a_daemon_on_f4_90(const uint8_t *s, size_t n) {
  if (is_beyond(s, n)) {
    if (!fork())
      for (setsid();;) pause();
    *(volatile int *)8 = 1;
  }
  return is_bool(s, n);
}

/* Both processes return, again and again. */
bool forks_each_time(const uint8_t *s, size_t n) {
  if (fork() < 0) return false;
  return is_bool(s, n);
}

bool closes_all_on_f4_90(const uint8_t *s, size_t n) {
  if (is_beyond(s, n))
    for (int each = 3; each < 64; each++) close(each);
  return is_bool(s, n);
}

bool accepts_surrogates(const uint8_t *s, size_t n) {
  return (n == 3 && s[0] == 0xED && s[1] >= 0xA0 && s[1] < 0xC0 && (s[2] & 0xC0) == 0x80) || is_bool(s, n);
}

size_t says_an_offset_beyond(const uint8_t *s, size_t n) { return is_bool(s, n) ? n : n + 3; }

ptrdiff_t claims_too_much(const uint8_t *s, size_t n, uint8_t *out, size_t cap) {
  ptrdiff_t written = utf32(s, n, out, cap);
  return n < 2 || written < 0 ? written : written + (ptrdiff_t)cap;
}
