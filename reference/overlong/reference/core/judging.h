/* Is an answer right? The kind of a divergence, and the checksum of answers.
 *
 * The expected output is written and compared. In the commonest case, a string that differs from others of its run in
 * its last octet, it is compared without writing.
 */
#ifndef OVERLONG_JUDGING_H
#define OVERLONG_JUDGING_H

#include "calls.h"
#include "loop.h"

/* oracle/target.py */
enum { AGREES, REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED, OTHER_OUTPUT, OTHER_OFFSET, BROKEN_KIND = 7 };

/* The most units that are compared singly: they were just written so, and a wider load would wait for them. */
#define FEW 16

INLINE uint64_t unit_at(const uint8_t *units, uint64_t place, uint64_t size) {
  uint64_t unit = 0;
  if (size == 4) {
    uint32_t found;
    memcpy(&found, units + 4 * place, sizeof found);
    unit = found;
  } else if (size == 2) {
    uint16_t found;
    memcpy(&found, units + 2 * place, sizeof found);
    unit = found;
  } else {
    unit = units[place];
  }
  return unit;
}

INLINE void put_unit(uint8_t *units, uint64_t place, uint64_t size, uint64_t unit) {
  if (size == 4) {
    const uint32_t word = (uint32_t)unit;
    memcpy(units + 4 * place, &word, sizeof word);
  } else if (size == 2) {
    const uint16_t word = (uint16_t)unit;
    memcpy(units + 2 * place, &word, sizeof word);
  } else {
    units[place] = (uint8_t)unit;
  }
}

/* The number of a character after one more octet of it. */
INLINE uint64_t number_after(uint8_t octet, bool begins, uint64_t value, const loop_task *task) {
  const uint64_t free = task->layout[0];
  return begins ? task->lead[octet] : value << free | (octet & ((UINT64_C(1) << free) - 1));
}

enum { ROW_HIGHEST, ROW_OCTETS, ROW_HEAD, ROW_TAIL, ROW };

/* Write the units of a number; their count, or -1 for a number without units. */
static int64_t put_number(uint64_t value, uint64_t size, uint8_t *at, const loop_task *task) {
  if (size == 4) {
    put_unit(at, 0, 4, value);
    return 1;
  }
  if (size == 2) {
    if (value > 0x10FFFF) return -1;
    if (value < 0x10000) {
      put_unit(at, 0, 2, value);
      return 1;
    }
    put_unit(at, 0, 2, 0xD7C0 + (value >> 10));
    put_unit(at, 1, 2, 0xDC00 | (value & 0x3FF));
    return 2;
  }
  const uint64_t free = task->layout[0], *row = task->layout + 1;
  for (uint64_t rows = task->layout_rows; rows > 1 && value > row[ROW_HIGHEST]; rows--) row += ROW;
  for (uint64_t place = row[ROW_OCTETS] - 1; place > 0; place--) {
    at[place] = (uint8_t)(row[ROW_TAIL] | (value & ((UINT64_C(1) << free) - 1)));
    value >>= free;
  }
  at[0] = (uint8_t)(row[ROW_HEAD] | value);
  return (int64_t)row[ROW_OCTETS];
}

typedef struct {
  uint64_t value; /* the bits so far of a begun character's number */
  int64_t units;
} output;

/* Append to the expected output what a piece of a well-formed string adds to it, which the automaton reads from `state`
 * on. */
static output output_of(
    const uint8_t *piece, uint64_t length, uint64_t state, output before, uint64_t size, const loop_task *task) {
  const automaton *by = task->by;
  for (uint64_t place = 0; place < length; place++) {
    before.value = number_after(piece[place], accepts(by, state), before.value, task);
    state = step(by, state, piece[place]);
    if (accepts(by, state) && before.units >= 0) {
      const int64_t added = put_number(before.value, size, task->wanted + (uint64_t)before.units * size, task);
      before.units = added < 0 ? -1 : before.units + added;
    }
  }
  return before;
}

INLINE bool equal(const uint8_t *one, const uint8_t *other, uint64_t units, uint64_t size) {
  if (units > FEW) return memcmp(one, other, units * size) == 0;
  for (uint64_t place = 0; place < units; place++) {
    if (unit_at(one, place, size) != unit_at(other, place, size)) return false;
  }
  return true;
}

INLINE bool has_signature(const loop_task *task) {
  return task->signature_mask && (load64(task->input) & task->signature_mask) == task->signature;
}

/* True if the output is wrong for the string of that number in its run. */
static bool output_differs(uint64_t number, uint64_t in_run, uint64_t size, const loop_task *task) {
  const uint64_t octets = task->whole - task->length;
  const output before = {task->value, task->units};
  const output right = output_of(task->pieces + in_run * octets, octets, task->state, before, size, task);
  const bool same = right.units == (int64_t)number && equal(task->out, task->wanted, number, size);
  return !same && !has_signature(task);
}

/* The same, of a string whose last piece is one octet that completes a character: the commonest case. True: look again. */
INLINE bool octet_differs(uint64_t number, uint8_t octet, uint64_t size, const loop_task *task) {
  const uint64_t units = (uint64_t)task->units;
  if (number != units + 1) return true;
  const uint64_t value = number_after(octet, accepts(task->by, task->state), task->value, task);
  return unit_at(task->out, units, size) != value || !equal(task->out, task->wanted, units, size);
}

/* True if a declared trait leaves open where this string is refused. */
static bool is_set_aside(const loop_task *task) {
  const bool has_room = task->whole >= WORD || task->signature_mask >> 8 * task->whole == 0;
  if (has_room && has_signature(task)) return true;
  return task->has_nul_trait && memchr(task->input, 0, task->whole);
}

typedef struct {
  bool right;      /* it is well-formed */
  uint64_t seen;   /* otherwise, the offset of its error */
  uint64_t in_run; /* its number there */
  bool single;     /* its last piece is one octet that, with the units before it, determines the output */
  uint8_t octet;   /* that octet */
} asked;

INLINE uint8_t judged(answer found, asked string, uint64_t size, bool judges_offsets, const loop_task *task) {
  if (found.status == ACCEPTED) {
    if (UNLIKELY(!string.right)) return ACCEPTED_ILL_FORMED;
    if (!size || (string.single && !octet_differs(found.number, string.octet, size, task))) return AGREES;
    return output_differs(found.number, string.in_run, size, task) ? OTHER_OUTPUT : AGREES;
  }
  if (UNLIKELY(found.status != REFUSED)) return BROKEN_KIND;
  if (UNLIKELY(string.right)) return REFUSED_WELL_FORMED;
  if (judges_offsets && UNLIKELY(found.number != string.seen) && !is_set_aside(task)) return OTHER_OFFSET;
  return AGREES;
}

/* Part of the checksum: the answer to the string of a number (answer_code() of oracle/target.py). */
INLINE uint64_t checked(uint64_t index, answer found) {
  return ((found.number << 2 | found.status) + 1) * (index * ODD | 1);
}

#endif
