/* The first error of one text, and its numbers, by the rows of a shift automaton (reference/shift.py).
 *
 * A step from octet to octet waits for the one before. So a block is cut into lanes where characters seem to begin, and
 * the lanes are read side by side. A text whose pieces are all accepted is accepted: the automaton accepts in its start
 * only. If one is not, the block is read again, octet by octet, which finds the place.
 */
#include "core.h"

#define LANES 4u
#define BLOCK 4096u
#define SHIFT 63u

typedef struct {
  const uint64_t *rows;  /* for each octet: at the shift of each state, the shift of the next; the start is 0 */
  const uint8_t *begins; /* for each octet 1, if it is live from the start */
  uint64_t dead;         /* the shift of that state; or none */
  uint64_t plain;        /* a bit in each octet: octets without it stay in the start; 0: there is none */
} shifts;

/* The end of the octets, in steps of 64 from `at` on, that are plain. */
static uint64_t behind_plain(const shifts *by, const uint8_t *octets, uint64_t size, uint64_t at) {
  for (; by->plain && at + 8 * WORD <= size; at += 8 * WORD) {
    uint64_t all = 0;
    for (uint64_t word = 0; word < 8; word++) all |= load64(octets + at + WORD * word);
    if (all & by->plain) break;
  }
  return at;
}

/* The last place before `at` where a character seems to begin; `from`, if there is none behind it. */
static const uint8_t *beginning(const shifts *by, const uint8_t *from, const uint8_t *at) {
  while (at > from && !by->begins[*at]) at--;
  return at;
}

/* The end of accepted octets of a block that the automaton reads from its start; null, if it may hold an error. */
INLINE const uint8_t *read_lanes(const shifts *by, const uint8_t *block) {
  const uint64_t *const rows = by->rows;
  const uint8_t *starts[LANES + 1] = {block};
  uint64_t shortest = BLOCK;
  for (uint64_t lane = 0; lane < LANES; lane++) {
    starts[lane + 1] = beginning(by, starts[lane], block + BLOCK / LANES * (lane + 1));
    const uint64_t size = (uint64_t)(starts[lane + 1] - starts[lane]);
    shortest = size < shortest ? size : shortest;
  }
  const uint8_t *a = starts[0], *b = starts[1], *c = starts[2], *d = starts[3];
  uint64_t in_a = 0, in_b = 0, in_c = 0, in_d = 0;
  for (uint64_t place = 0; place < shortest; place++) {
    in_a = rows[a[place]] >> (in_a & SHIFT);
    in_b = rows[b[place]] >> (in_b & SHIFT);
    in_c = rows[c[place]] >> (in_c & SHIFT);
    in_d = rows[d[place]] >> (in_d & SHIFT);
  }
  uint64_t states[LANES] = {in_a, in_b, in_c, in_d}, all = 0;
  for (uint64_t lane = 0; lane < LANES; lane++) {
    for (const uint8_t *at = starts[lane] + shortest; at < starts[lane + 1]; at++) {
      states[lane] = rows[*at] >> (states[lane] & SHIFT);
    }
    all |= states[lane];
  }
  return all & SHIFT || starts[LANES] == block ? NULL : starts[LANES];
}

typedef const uint8_t *reading_lanes(const shifts *, const uint8_t *);

static const uint8_t *read_lanes_anywhere(const shifts *by, const uint8_t *block) { return read_lanes(by, block); }

#ifdef __x86_64__
/* A shift by any register, in one instruction. */
__attribute__((target("bmi2"))) static const uint8_t *read_lanes_with_bmi2(const shifts *by, const uint8_t *block) {
  return read_lanes(by, block);
}
static reading_lanes *fastest(void) { return __builtin_cpu_supports("bmi2") ? read_lanes_with_bmi2 : read_lanes_anywhere; }
#else
static reading_lanes *fastest(void) { return read_lanes_anywhere; }
#endif

typedef struct {
  int64_t offset;     /* of the first error; -1: there is none */
  int64_t length;     /* of its maximal subpart */
  int64_t incomplete; /* the octets ended inside a character that could be completed */
} first_error;

EXPORT void find_first_error(const shifts *by, const uint8_t *octets, uint64_t size, first_error *found) {
  reading_lanes *const read = fastest();
  uint64_t at = behind_plain(by, octets, size, 0);
  while (at + BLOCK < size) { /* a lane ends before an octet that is there */
    const uint8_t *const end = read(by, octets + at);
    if (!end) break;
    at = behind_plain(by, octets, size, (uint64_t)(end - octets));
  }
  uint64_t state = 0;
  for (uint64_t place = at; place < size; place++) { /* `at`: where it was last in the start */
    state = by->rows[octets[place]] >> (state & SHIFT) & SHIFT;
    if (state == 0) {
      at = place + 1;
    } else if (state == by->dead) {
      *found = (first_error){(int64_t)at, place > at ? (int64_t)(place - at) : 1, 0};
      return;
    }
  }
  *found = at < size ? (first_error){(int64_t)at, (int64_t)(size - at), 1} : (first_error){-1, 0, 0};
}

/* The numbers of well-formed octets, and their count. `layout`: for each octet its bits, above six that say how far it
 * shifts the bits of earlier octets; 32, out of the number, if it begins a character. Each octet overwrites its
 * character's number, the last one completes it; there is room for one number more than octets. */
EXPORT void find_numbers(
    const uint64_t *layout, const uint8_t *octets, uint64_t size, uint32_t *numbers, uint64_t *count) {
  uint64_t number = 0;
  uint32_t *at = numbers; /* the first is no character's */
  for (uint64_t place = 0; place < size; place++) {
    const uint64_t row = layout[octets[place]];
    number = (number << (row & SHIFT) | row >> 6) & UINT32_MAX;
    at += row >> 5 & 1;
    *at = (uint32_t)number;
  }
  *count = (uint64_t)(at - numbers);
}
