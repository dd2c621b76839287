/* What decoding.c reads an automaton and its numbers from, and what it finds. native.py fills it in. */
#ifndef OVERLONG_DECODING_H
#define OVERLONG_DECODING_H

#include "core.h"

#define ENDS 30u

typedef struct {
  uint64_t from, to; /* states: 0 is the start; each of the others leads to later ones, or to the start */
  uint64_t low, stop; /* the edge's octets are below end `stop`, and not below end `low` */
} edge;

typedef struct {
  const uint64_t *rows;  /* for each octet: at the shift of each state, the shift of the next; the start is 0 */
  const uint8_t *begins; /* for each octet 1, if it is live from the start */
  uint64_t dead;         /* the shift of that state; or none */
  uint64_t plain;        /* a bit in each octet: octets without it stay in the start; 0: there is none */
  const edge *edges;     /* by `from`; the last one's is `states` */
  uint64_t states;       /* 0: blocks cannot be read by this automaton */
  uint64_t count;        /* of the ends */
  uint64_t ends[ENDS];   /* of the ranges of octets; after these, one that is below all octets and one above */
} shifts;

typedef struct {
  int64_t offset;     /* of the first error; -1: there is none */
  int64_t length;     /* of its maximal subpart */
  int64_t incomplete; /* the octets ended inside a character that could be completed */
} first_error;

typedef struct {
  uint64_t plain;               /* a bit in each octet: octets without it are their own number; 0: there is none */
  uint64_t rows[UINT8_MAX + 1]; /* for each octet its bits, above six that say how far it shifts those of earlier octets;
                                   32, out of the number, if it begins a character */
} layout;

EXPORT void find_first_error(const shifts *, const uint8_t *, uint64_t, first_error *);
EXPORT void find_numbers(const layout *, const uint8_t *, uint64_t, uint32_t *, uint64_t *);

#endif
