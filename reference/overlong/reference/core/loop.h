/* The task of the loop, which it shares with its source of strings; and the source's part of it. */
#ifndef OVERLONG_LOOP_H
#define OVERLONG_LOOP_H

#include "automaton.h"

/* Octets before and after a string that are the filler's; so many strings may start between them. */
#define AROUND 128u

struct loop_task;
typedef void source(struct loop_task *);

/* LoopTask of Python, which says more. The source's own words follow. */
typedef struct loop_task {
  const automaton *by;
  const uint8_t *lead;    /* the bits of the number in the first octet of a character */
  const uint64_t *layout; /* the number's bits in a later octet; then rows of four: see put_number() */
  uint64_t layout_rows;
  uint64_t unit; /* octets of a unit of output; 0: output is not judged */
  uint64_t judges_offsets;
  uint64_t signature; /* the first octets of strings that are set aside, and their mask; 0: there are none */
  uint64_t signature_mask;
  uint64_t has_nul_trait; /* the offset of a string with octet 00 is not judged */
  const uintptr_t *functions;
  uint64_t room; /* units with room for each octet of the input, and additional ones */
  uint64_t more;
  uint8_t *base;         /* where strings of residue 0 start; AROUND octets before are `around` */
  const uint8_t *before; /* the earlier string */
  uint64_t around;       /* the octet before a string, and the one behind it */
  uint64_t behind;
  uint8_t *out;
  uint8_t *wanted; /* room for the expected output */
  uint8_t *cells;
  uint64_t *progress;
  uint8_t *kinds; /* the kind of string `origin` */
  uint64_t origin;
  source *lay_out;  /* lays out the run from string `next` on: strings of one length that differ in their last piece */
  uint64_t earlier; /* axes of the earlier string, which is not judged */
  uint64_t next;
  /* From here on, the source sets all words, and writes the input before the last piece, and what stands around it. */
  uint64_t length_before; /* of the earlier string */
  uint64_t strings;       /* in the run */
  uint8_t *input;         /* where its strings start */
  uint64_t whole;         /* octets of each string, and of those before its last piece */
  uint64_t length;
  const uint64_t *words; /* the last pieces, or their beginnings, the first octet lowest */
  uint8_t *at;           /* where such a word is written, by how much it is shifted, and what stands below it */
  uint64_t shift;
  uint64_t head;
  const uint8_t *pieces; /* the last pieces in a row */
  const int64_t *read;   /* verdict() of each */
  int64_t seen;          /* before the last piece: where the automaton last accepted, and its state, … */
  uint64_t state;
  uint64_t value; /* … the bits of a begun character's number, and the expected units; below 0: there is no output */
  int64_t units;
} loop_task;

/* Room for a string that starts there, modulo 64: its start, and the filler before it. */
INLINE uint8_t *start_at(uint64_t place, const loop_task *task) {
  uint8_t *const start = task->base + place;
  memset(start - 64, (int)task->around, 64);
  return start;
}

#endif
