/* The first error of one text, and its numbers, by tables.
 *
 * A step from octet to octet waits for the one before. So a text is read many octets at once, by tables of 16 octets:
 * tables.py says which automata and layouts can be read so, and why. All others, and a block with an
 * error, are read octet by octet (automaton.h).
 */
#include "decoding.h"

#define SHIFT 63u
#define BEGINS 32u
#define MOST 4u /* octets of a character that is read together with others */
#define ROW 16u
#define BLOCK (8 * ROW)     /* octets that are found right together */
#define PIECE 56u           /* octets whose characters are gathered together, by one word of ends */
#define AHEAD (PIECE + ROW) /* no octet is read as far from the first one of a piece */
#define GATHERED 2048u      /* about so many numbers are joined together, while they are in the cache */
#define ALL UINT64_MAX

typedef uint8_t row __attribute__((vector_size(ROW)));
typedef uint32_t number_row __attribute__((vector_size(ROW)));

#ifdef __x86_64__
#include <immintrin.h>
#define WIDE __attribute__((target("avx2,popcnt")))
static bool is_wide(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"); }
WIDE INLINE row look_up(row table, row nibbles) { return (row)_mm_shuffle_epi8((__m128i)table, (__m128i)nibbles); }
/* The highest bit of each octet. */
WIDE INLINE uint64_t highest_bits(row octets) { return (uint32_t)_mm_movemask_epi8((__m128i)octets); }
#else
#define WIDE
INLINE uint64_t highest_bits(row octets) {
  uint64_t bits = 0, words[2];
  memcpy(words, &octets, sizeof words);
  for (uint64_t word = 0; word < 2; word++) {
    bits |= ((words[word] >> 7 & UINT64_MAX / UINT8_MAX) * 0x0102040810204080u >> 56) << WORD * word;
  }
  return bits;
}
#ifdef __aarch64__
#include <arm_neon.h>
static bool is_wide(void) { return true; }
INLINE row look_up(row table, row nibbles) { return (row)vqtbl1q_u8((uint8x16_t)table, (uint8x16_t)nibbles); }
#else
static bool is_wide(void) { return false; }
INLINE row look_up(row table, row nibbles) {
  row found = {0};
  for (uint64_t place = 0; place < ROW; place++) found[place] = nibbles[place] < ROW ? table[nibbles[place]] : 0;
  return found;
}
#endif
#endif

WIDE INLINE row load_row(const void *from) {
  row octets;
  memcpy(&octets, from, sizeof octets);
  return octets;
}

/* The end of the blocks in which no octet is found wrong. */
WIDE static uint64_t read_blocks(const shifts *by, const uint8_t *octets, uint64_t size) {
  const row high = load_row(by->high), low = load_row(by->low), second = load_row(by->second);
  const row third = load_row(by->third), fourth = load_row(by->fourth), within = load_row(by->within);
  const row plain = (row){0} + (uint8_t)by->walk.plain;
  uint8_t first[MOST + BLOCK] = {0}; /* the first block, after characters of one octet */
  if (size >= BLOCK) memcpy(first + MOST, octets, BLOCK);
  for (uint64_t at = 0;; at += BLOCK) {
    if (at + BLOCK > size) return at;
    const uint8_t *const block = at ? octets + at : first + MOST;
    row any = {0}, wrong = {0};
    for (uint64_t place = 0; place < BLOCK; place += ROW) any |= load_row(block + place);
    /* In a plain block, only its first row comes after other octets. */
    const uint64_t length = highest_bits((row)((any & plain) != 0)) ? BLOCK : ROW;
    for (uint64_t place = 0; place < length; place += ROW) {
      const uint8_t *const here = block + place;
      const row upper = load_row(here) >> 4, before = load_row(here - 1);
      const row pairs = look_up(high, before >> 4) & look_up(low, before & 15) & look_up(second, upper);
      const row later = look_up(third, load_row(here - 2) >> 4) | look_up(fourth, load_row(here - 3) >> 4);
      wrong |= (pairs | later) ^ look_up(within, upper);
    }
    if (highest_bits((row)(wrong != 0))) return at;
  }
}

EXPORT void find_first_error(const shifts *by, const uint8_t *octets, uint64_t size, first_error *found) {
  uint64_t at = by->by_rows && is_wide() ? read_blocks(by, octets, size) : 0;
  /* Of the octets before, one that can begin a character began one: if any is wrong, it is behind the last of these. */
  while (at > 0 && !by->begins[octets[--at]]) continue;
  const reading read = read_octets(&by->walk, octets + at, size - at, 0);
  const bool is_dead = read.state == by->walk.dead;
  const int64_t live = (int64_t)read.count - read.seen - is_dead; /* octets behind the last character */
  const int64_t length = live > 0 ? live : 1;
  *found = read.state ? (first_error){(int64_t)at + read.seen, length, !is_dead} : (first_error){-1, 0, 0};
}

/* Each octet overwrites its character's number, the last one completes it. The first number is no character's. */
INLINE uint64_t read_numbers(
    const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers, uint64_t count) {
  uint64_t number = 0;
  for (uint64_t place = 0; place < size; place++) {
    const uint64_t bits = by->rows[octets[place]];
    number = number << (bits & SHIFT) | bits >> 6;
    count += bits >> 5 & 1;
    numbers[count] = (uint32_t)number;
  }
  return count;
}

/* A bit for each octet of a piece, from the third before it on: does a character end there? */
WIDE INLINE uint64_t ends_around(const layout *by, const uint8_t *piece) {
  uint64_t ends = 0;
  for (uint64_t place = 0; place < 4 * ROW; place += ROW) {
    const row next = load_row(piece - 2 + place);
    ends |= highest_bits(~look_up(load_row(by->within), next >> 4)) << place;
  }
  return ends;
}

/* The characters that end in a piece, each as four octets. */
WIDE INLINE uint64_t gather(const layout *by, const uint8_t *piece, uint64_t ends, uint32_t *numbers) {
  uint64_t count = 0;
  for (uint64_t place = 0; place < PIECE; place += 4) {
    const picks *const which = &by->picks[ends >> place & 0x7F];
    const row picked = look_up(load_row(piece - 3 + place), load_row(which->places)) & load_row(which->bits);
    memcpy(numbers + count, &picked, sizeof picked);
    count += (uint64_t)__builtin_popcountll(ends >> place & 0x78);
  }
  return count;
}

/* Four octets, each with nothing but bits of a number, become the number; the first has its highest bits. */
WIDE INLINE void join(uint32_t *numbers, uint64_t count, uint64_t free) {
  for (uint64_t at = 0; at < count; at++) {
    const uint32_t pairs = ((numbers[at] & 0x00FF00FF) << free) + (numbers[at] >> 8 & 0x00FF00FF);
    numbers[at] = ((pairs & 0xFFFF) << 2 * free) + (pairs >> 16);
  }
}

/* The numbers before and behind whole pieces are read octet by octet. */
WIDE static uint64_t read_pieces(const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers) {
  const uint32_t single = (uint32_t)by->single;
  const uint64_t stop = size < AHEAD ? 0 : size - AHEAD;
  uint64_t at = 0;
  while (at < size && (at < MOST || !(by->rows[octets[at]] & BEGINS))) at++;
  uint64_t count = read_numbers(by, octets, at, numbers, 0);
  while (at < stop) {
    const uint64_t first = count + 1;
    for (; at < stop && count < first + GATHERED; at += PIECE) {
      const uint64_t ends = ends_around(by, octets + at);
      if (ends == ALL) break;
      count += gather(by, octets + at, ends, numbers + count + 1);
    }
    join(numbers + first, count + 1 - first, by->free);
    for (; at < stop && ends_around(by, octets + at) == ALL; at += PIECE, count += PIECE) {
      for (uint64_t place = 0; place < PIECE; place++) numbers[count + 1 + place] = octets[at + place] & single;
    }
  }
  while (at < size && !(by->rows[octets[at]] & BEGINS)) at--;
  return read_numbers(by, octets + at, size - at, numbers, count);
}

/* The numbers of well-formed octets, and their count; there is room for one number more than octets. */
EXPORT void find_numbers(
    const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers, uint64_t *count) {
  const bool by_pieces = by->free && is_wide();
  *count = by_pieces ? read_pieces(by, octets, size, numbers) : read_numbers(by, octets, size, numbers, 0);
}
