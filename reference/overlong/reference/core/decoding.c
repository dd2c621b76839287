/* The first error of one text, and its numbers, by an automaton.
 *
 * A step from octet to octet waits for the one before. So a text is read in blocks, all octets of a block at once
 * (bit-parallel simulation: Baeza-Yates and Gonnet 1992; on text: Cameron's Parabix, 2008). A set of a block's octets
 * is a vector: octet `j + ACROSS * r` of the block is bit r of element j, so sets come from comparing whole rows. For
 * each state there is the set of octets that lead to it: those which follow an octet that leads to a state before it,
 * and lie in the range of an edge. native.py says which automata can be read so, and why the answer is exact. All
 * others, and the block with the first error, are read octet by octet, by the rows of a shift automaton
 * (reference/shift.py).
 */
#include "decoding.h"

#define SHIFT 63u
#define STATES 10u
#define ROWS 8u
#define BLOCK (ROWS * ACROSS)

#ifdef __x86_64__
#define ACROSS 32u
#define WIDE __attribute__((target("avx2,bmi2")))
static bool is_wide(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2"); }
#else
#define ACROSS 16u
#define WIDE
static bool is_wide(void) { return true; }
#endif

typedef uint8_t set __attribute__((vector_size(ACROSS)));
typedef int8_t row __attribute__((vector_size(ACROSS)));
typedef int8_t row_anywhere __attribute__((vector_size(ACROSS), aligned(1), may_alias));
typedef uint64_t word_set __attribute__((vector_size(ACROSS)));

/* Each word of `words` becomes the one before it, the first the last. */
#if defined(__x86_64__) && defined(__clang__)
#define WORDS_BEFORE(words) __builtin_shufflevector(words, words, 3, 0, 1, 2)
#elif defined(__x86_64__)
#define WORDS_BEFORE(words) __builtin_shuffle(words, (word_set){3, 0, 1, 2})
#elif defined(__clang__)
#define WORDS_BEFORE(words) __builtin_shufflevector(words, words, 1, 0)
#else
#define WORDS_BEFORE(words) __builtin_shuffle(words, (word_set){1, 0})
#endif

/* The end of the octets, in steps of 64 from `at` on, that are plain. */
INLINE uint64_t behind_plain(const shifts *by, const uint8_t *octets, uint64_t size, uint64_t at) {
  for (; by->plain && at + 8 * WORD <= size; at += 8 * WORD) {
    uint64_t all = 0;
    for (uint64_t word = 0; word < 8; word++) all |= load64(octets + at + WORD * word);
    if (all & by->plain) break;
  }
  return at;
}

/* The end of the blocks in which all octets are live, so no error begins and ends there. */
WIDE static uint64_t read_blocks(const shifts *by, const uint8_t *octets, uint64_t size) {
  const set none = {0}, first = {UINT8_MAX};
  set below[ENDS + 2], after[STATES], last[STATES]; /* each set of `last` is moved on by one octet */
  for (uint64_t state = 0; state < STATES; state++) after[state] = last[state] = none;
  below[by->count] = none;
  below[by->count + 1] = ~none;
  bool inside = false; /* a character has begun before `at` */
  for (uint64_t at = 0;; at += BLOCK) {
    const uint64_t behind = behind_plain(by, octets, size, at);
    if (UNLIKELY(behind > at) && !inside) at = behind; /* in this order: nobody can foresee `inside` */
    if (at + BLOCK > size) return at;
    row block[ROWS];
    /* Signed numbers are compared in one step. GCC would copy half a row at a time, and wait for it. */
    for (uint64_t r = 0; r < ROWS; r++) block[r] = *(const row_anywhere *)(octets + at + ACROSS * r) ^ INT8_MIN;
    for (uint64_t end = 0; end < by->count; end++) {
      const row least = (row){0} + (int8_t)(by->ends[end] ^ 0x80);
      set under = none;
      for (uint64_t r = ROWS; r-- > 0;) under = under + under - (set)(block[r] < least);
      below[end] = under;
    }
    set begins = none, within = none, continues = none, pending = none;
    const edge *way = by->edges;
    for (; way->from == 0; way++) {
      const set here = below[way->stop] & ~below[way->low];
      begins |= here;
      after[way->to] |= here;
    }
    for (uint64_t state = 1; state < by->states; state++) {
      const word_set words = (word_set)after[state];
      const set moved = (set)(words << 8 | WORDS_BEFORE(words) >> 56);
      /* The first element has the last one's octets, each to be moved a row on, where the block before continues. */
      const set carried = (set)((word_set)last[state] >> 7) & 1;
      const set ready = moved + ((moved + carried) & first);
      last[state] = moved;
      after[state] = none; /* for the next block */
      pending |= moved;
      within |= ready;
      for (; way->from == state; way++) {
        const set here = below[way->stop] & ~below[way->low] & ready;
        continues |= here;
        after[way->to] |= here;
      }
    }
    const word_set dead = (word_set)~((begins & ~within) | continues);
    uint64_t any = 0;
    for (uint64_t word = 0; word < ACROSS / WORD; word++) any |= dead[word];
    if (any) return at;
    inside = pending[0] >> 7;
  }
}

EXPORT void find_first_error(const shifts *by, const uint8_t *octets, uint64_t size, first_error *found) {
  uint64_t at = by->states && is_wide() ? read_blocks(by, octets, size) : behind_plain(by, octets, size, 0);
  /* All octets before are live. One that can begin a character is live in the start only: it was read there. */
  while (at > 0 && !by->begins[octets[--at]]) continue;
  uint64_t state = 0;
  for (uint64_t place = at; place < size; place++) { /* `at`: where it was last in the start */
    state = by->rows[octets[place]] >> (state & SHIFT) & SHIFT;
    if (state == by->dead) {
      *found = (first_error){(int64_t)at, place > at ? (int64_t)(place - at) : 1, 0};
      return;
    }
    at = state == 0 ? place + 1 : at;
  }
  *found = at < size ? (first_error){(int64_t)at, (int64_t)(size - at), 1} : (first_error){-1, 0, 0};
}

#define PIECE (2 * WORD)

/* Each octet overwrites its character's number, the last one completes it. The first number is no character's. */
INLINE uint64_t read_numbers(const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers) {
  uint64_t number = 0, count = 0;
  for (uint64_t at = 0; at < size; at += PIECE) {
    const uint64_t length = size - at < PIECE ? size - at : PIECE;
    const uint8_t *const piece = octets + at;
    if (by->plain && length == PIECE && !((load64(piece) | load64(piece + WORD)) & by->plain)) {
      for (uint64_t place = 0; place < PIECE; place++) numbers[count + 1 + place] = piece[place];
      count += PIECE;
      continue;
    }
    for (uint64_t place = 0; place < length; place++) {
      const uint64_t bits = by->rows[piece[place]];
      number = number << (bits & SHIFT) | bits >> 6;
      count += bits >> 5 & 1;
      numbers[count] = (uint32_t)number;
    }
  }
  return count;
}

WIDE static uint64_t read_numbers_wide(const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers) {
  return read_numbers(by, octets, size, numbers);
}

/* The numbers of well-formed octets, and their count; there is room for one number more than octets. */
EXPORT void find_numbers(
    const layout *by, const uint8_t *octets, uint64_t size, uint32_t *numbers, uint64_t *count) {
  *count = (is_wide() ? read_numbers_wide : read_numbers)(by, octets, size, numbers);
}
