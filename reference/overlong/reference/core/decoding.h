/* What decoding.c reads an automaton and its numbers from, and what it finds. native.py fills it in. */
#ifndef OVERLONG_DECODING_H
#define OVERLONG_DECODING_H

#include "automaton.h"

typedef struct {
  automaton walk;        /* accepts in its start alone */
  const uint8_t *begins; /* for each octet 1, if it is live from the start */
  uint64_t by_rows;      /* 0: there are no Nibbles */
  uint64_t high[2], low[2], second[2], third[2], fourth[2], within[2]; /* Nibbles of Python */
} shifts;

typedef struct {
  int64_t offset;     /* of the first error; -1: there is none */
  int64_t length;     /* of its maximal subpart */
  int64_t incomplete; /* the octets ended inside a character that could be completed */
} first_error;

typedef struct {
  uint64_t places[2]; /* of the octets to pick from a row; one beyond it picks 0 */
  uint64_t bits[2];   /* of the picked octets, those that belong to numbers */
} picks;

typedef struct {
  uint64_t rows[UINT8_MAX + 1]; /* for each octet its bits, above six that say how far it shifts those of earlier octets;
                                   32, out of the number, if it begins a character */
  uint64_t free, single, within[2]; /* Gathering of Python; `free` is 0: there is none */
  picks picks[128];                 /* for each set of ends among four octets and the three before */
} layout;

EXPORT void find_first_error(const shifts *, const uint8_t *, uint64_t, first_error *);
EXPORT void find_numbers(const layout *, const uint8_t *, uint64_t, uint32_t *, uint64_t *);

#endif
