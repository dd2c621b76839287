/* Turn a number into an input of a campaign, by choices that depend on the number, the seed and the tables alone.
 *
 * This is fuzz/choice.py, which says more, in words of 64 bits; tests hold the two equal. The tables are laid
 * out by fuzz/generated.py, and the constants here are the ones there. Octets are copied in words where that is
 * faster: what stands behind them is overwritten.
 */
#ifndef OVERLONG_GENERATOR_H
#define OVERLONG_GENERATOR_H

#include "core.h"

#define LONGEST 4224u
#define SLACK 64u
#define REACH (2 * LONGEST + 2 * SLACK)

/* Cells at the start of the table; each pair is a group: its start and its size. */
enum {
  KEY, OPENING, OPENINGS, STRATEGIES, STRATEGY_COUNT, CHANGES, CHANGE_COUNT, RANGES, RANGE_COUNT, ANY, ANY_COUNT,
  OCTETS_AT, OCTETS_COUNT, BEGINS, SEEDS, SEED_COUNT
};
/* Cells of a strategy, and of a section. */
enum { ROUNDS, SECTIONS, SECTIONS_END };
enum {
  LENGTHS, LENGTH_COUNT, KINDS, KIND_COUNT, COUNTS, COUNT_COUNT, TOKENS, TOKEN_COUNT, RUNS, RUN_COUNT, PIECES, SECTION
};
/* The mutations of an input. */
enum { DELETE, INSERT, CHANGE, DUPLICATE, MOVE, SPLICE, CROSS };

/* Writer of Python: `table` is what follows it. */
typedef struct {
  const uint8_t *pool;
  uint8_t *spare; /* room for 3 * REACH octets, which hold nothing between calls */
  uint64_t table[];
} generator;

#define BITS 63
#define MASK ((UINT64_C(1) << BITS) - 1)
#define DRAWN (UINT64_C(1) << 62)
#define COIN (UINT64_C(1) << 30)
#define NEARBY 64u
#define COPIED_IN_WORDS 128u

INLINE uint64_t least(uint64_t one, uint64_t other) { return one < other ? one : other; }

INLINE uint64_t mixed(uint64_t number) {
  number &= MASK;
  number = (number ^ number >> 30) * 0x3F58476D1CE4E5B9u & MASK;
  number = (number ^ number >> 27) * 0x14D049BB133111EBu & MASK;
  return number ^ number >> 31;
}

INLINE uint64_t following(uint64_t state) { return (state * 0x5851F42D4C957F2Du + 0x14057B7EF767814Fu) & MASK; }

INLINE uint64_t below(uint64_t state, uint64_t count) { return (state >> 31) * count >> 32; }

INLINE uint64_t one_of(const uint64_t *table, uint64_t group, uint64_t state) {
  return table[table[group] + below(state, table[group + 1])];
}

INLINE void copy(uint8_t *to, const uint8_t *from, uint64_t count) {
  if (count > COPIED_IN_WORDS) {
    memcpy(to, from, count);
    return;
  }
  for (uint64_t done = 0; done < count; done += WORD) store64(to + done, load64(from + done));
}

/* Write a token, a word whose highest octet is its length; its end. */
INLINE uint8_t *write_token(uint8_t *at, uint64_t token) {
  store64(at, token);
  return at + (token >> 56);
}

/* The octets of a token as a word: fixed, or each drawn from its range. */
INLINE uint64_t spelt(const uint64_t *table, uint64_t token, uint64_t state) {
  if (token < DRAWN) return token;
  uint64_t word = table[token - DRAWN], spans = table[token - DRAWN + 1], number = mixed(state);
  for (uint64_t shift = 0; spans; shift += 8) {
    word += (number & 0x1FF) * ((spans & 0xFF) + 1) >> 9 << shift;
    number >>= 9;
    spans >>= 8;
  }
  return word;
}

static uint8_t *piece_of_seed(const generator *by, uint8_t *at, uint64_t state, uint64_t lengths) {
  const uint64_t entry = one_of(by->table, SEEDS, state);
  uint64_t start = entry >> 16, length = entry & 0xFFFF;
  if (lengths) {
    state = following(state);
    const uint64_t wanted = one_of(by->table, lengths, state);
    state = following(state);
    const uint64_t begin = state & COIN ? below(state, length + 1) : 0;
    start += begin;
    length = least(wanted, length - begin);
  }
  copy(at, by->pool + start, length);
  return at + length;
}

/* Write a section of an input; its end. */
static uint8_t *section(const generator *by, uint64_t row, uint64_t *going, uint8_t *at) {
  const uint64_t *table = by->table, *cells = table + row;
  uint8_t *const begin = at;
  uint64_t state = *going;
  if (cells[PIECES]) {
    at = piece_of_seed(by, at, state, (row + LENGTHS) * (cells[PIECES] - 1));
    state = following(following(following(state)));
  } else if (cells[LENGTH_COUNT]) {
    const uint64_t length = one_of(table, row + LENGTHS, state);
    state = following(state);
    const uint64_t kind = one_of(table, row + KINDS, state), period = kind & 0xFFFF;
    state = following(state);
    const uint64_t start = (kind >> 16) + (period > 1 ? period - 1 - length % period : 0);
    copy(at, by->pool + start, length);
    at += length;
  }
  const uint64_t count = one_of(table, row + COUNTS, state);
  state = following(state);
  for (uint64_t done = 0; done < count; done++) {
    at = write_token(at, spelt(table, one_of(table, row + TOKENS, state), state));
    state = following(state);
  }
  if (cells[RUN_COUNT]) {
    uint8_t *const end = begin + one_of(table, row + RUNS, state);
    state = following(state);
    while (begin < at && at < end) {
      const uint64_t length = least((uint64_t)(at - begin), (uint64_t)(end - at));
      copy(at, begin, length);
      at += length;
    }
  }
  *going = state;
  return at;
}

/* Write the sections of a strategy; their octets. */
static uint64_t sections(const generator *by, uint64_t strategy, uint64_t state, uint8_t *at) {
  uint8_t *const begin = at;
  const uint64_t end = by->table[strategy + SECTIONS_END];
  for (uint64_t row = by->table[strategy + SECTIONS]; row < end; row += SECTION) at = section(by, row, &state, at);
  return least((uint64_t)(at - begin), LONGEST);
}

INLINE uint64_t first_state(const generator *by, uint64_t index) {
  return mixed((index * 0x1E3779B97F4A7C15u & MASK) ^ by->table[KEY]);
}

/* Write the input of a number without its mutations; its octets. */
static uint64_t base_input(const generator *by, uint64_t index, uint8_t *at) {
  const uint64_t state = first_state(by, index);
  return sections(by, one_of(by->table, STRATEGIES, state), following(state), at);
}

/* A place in octets: any, or as often one where a character may begin. */
static uint64_t place_in(const generator *by, const uint8_t *octets, uint64_t length, uint64_t state) {
  uint64_t place = below(state, length + 1);
  if (state & COIN) {
    while (0 < place && place < length && !by->table[by->table[BEGINS] + octets[place]]) place--;
  }
  return place;
}

/* Write octets with one mutation, which may take some from the input of a number; their length. */
static uint64_t changed(
    const generator *by, uint64_t index, uint64_t *going, const uint8_t *octets, uint64_t length, uint8_t *to) {
  const uint64_t *table = by->table;
  uint64_t state = *going;
  const uint64_t way = one_of(table, CHANGES, state);
  state = following(state);
  const uint64_t place = place_in(by, octets, length, state);
  state = following(state);
  const uint64_t many = least(one_of(table, RANGES, state), length - place);
  state = following(state);
  uint8_t *end = to + place;
  uint64_t resumed = place;
  copy(to, octets, place);
  if (way == DELETE) {
    resumed += many;
  } else if (way <= CHANGE) {
    end = write_token(end, spelt(table, one_of(table, way == INSERT ? ANY : OCTETS_AT, state), state));
    resumed = least(place + way - INSERT, length);
  } else if (way == DUPLICATE) {
    copy(end, octets + place, many);
    end += many;
  } else if (way == MOVE) { /* two adjacent ranges change places */
    const uint64_t more = least(one_of(table, RANGES, state), length - place - many);
    copy(end, octets + place + many, more);
    copy(end + more, octets + place, many);
    end += more + many;
    resumed = place + many + more;
  } else {
    uint8_t *const other = by->spare + 2 * REACH;
    uint64_t size = base_input(by, index, other);
    const uint64_t start = place_in(by, other, size, state);
    if (way == CROSS) {
      size = least(size, start + many);
      resumed += many;
    } else {
      resumed = length;
    }
    copy(end, other + start, size - start);
    end += size - start;
  }
  copy(end, octets + resumed, length - resumed);
  *going = following(state);
  return least((uint64_t)(end - to) + length - resumed, LONGEST);
}

/* Write the input of a number; its octets, at most LONGEST. Up to REACH octets from `out` on are overwritten. */
static uint64_t write_input(const generator *by, uint64_t index, uint8_t *out) {
  const uint64_t *table = by->table;
  if (index < table[OPENINGS]) return (uint64_t)(write_token(out, table[table[OPENING] + index]) - out);
  const uint64_t number = index - table[OPENINGS];
  if (number < table[SEED_COUNT]) {
    const uint64_t seed = table[table[SEEDS] + number];
    copy(out, by->pool + (seed >> 16), seed & 0xFFFF);
    return seed & 0xFFFF;
  }
  uint64_t state = first_state(by, index);
  const uint64_t strategy = one_of(table, STRATEGIES, state), rounds = table[strategy + ROUNDS];
  state = following(state);
  if (!rounds) return sections(by, strategy, state, out);
  uint64_t length = base_input(by, index ^ (1 + below(state, NEARBY - 1)), by->spare), at = 0;
  state = following(state);
  for (uint64_t round = 1; round < rounds; round++) {
    length = changed(by, index ^ NEARBY, &state, by->spare + at, length, by->spare + (REACH - at));
    at = REACH - at;
  }
  return changed(by, index ^ NEARBY, &state, by->spare + at, length, out);
}

#endif
