/* Calls of a function by each convention, and what its results mean: adapters/abi.py, in words of 64 bits.
 *
 * A `question` goes in, an `answer` comes out. Functions of the first kind (`call_…`) make the call; those of the
 * second (`means_…`) read what came back; `ask_…` does both.
 */
#ifndef OVERLONG_CALLS_H
#define OVERLONG_CALLS_H

#include "core.h"

enum { ACCEPTED, REFUSED, BROKEN };
#define NOT_SAID 0xFFFFFFFFu

typedef struct {
  const uintptr_t *functions; /* the function; or a stream's new, feed, finish and free */
  const uint8_t *octets;
  uint64_t length;
  uint8_t *out;
  uint64_t room;  /* units that fit there */
  uint8_t *cells; /* two, CELL octets apart */
} question;

#define CELL 16u

/* Results as they came back, extended to 64 bits by their own sign. */
typedef struct {
  int64_t returned, second, one, two;
} results;

typedef struct {
  uint64_t status;
  uint64_t number; /* accepted: units of output; refused: the offset, or NOT_SAID */
} answer;

typedef results caller(question);
typedef answer meaning(results, question);

/* ---- calls ---- */

/* Not `bool`: a function may leave any octet there, and C would take it for 0 or 1. */
typedef uint8_t octet_of(const uint8_t *, size_t);
typedef int int_of(const uint8_t *, size_t);
typedef uint8_t octet_of_string(const uint8_t *);
typedef int int_of_string(const uint8_t *);
typedef size_t size_of(const uint8_t *, size_t);
typedef struct {
  int error;
  size_t count;
} pair;
typedef pair pair_of(const uint8_t *, size_t);
typedef int ended(const uint8_t *, ptrdiff_t, const uint8_t **);
typedef ptrdiff_t bounded(const uint8_t *, size_t, void *, size_t);
typedef size_t unbounded(const uint8_t *, size_t, void *);
typedef pair pair_written(const uint8_t *, size_t, void *);
typedef void *icu(void *, int32_t, int32_t *, const uint8_t *, int32_t, int32_t *);
typedef ptrdiff_t next_point(const uint8_t *, ptrdiff_t, int32_t *);

INLINE results call_octet(question q) { return (results){((octet_of *)q.functions[0])(q.octets, q.length), 0, 0, 0}; }
INLINE results call_int(question q) { return (results){((int_of *)q.functions[0])(q.octets, q.length), 0, 0, 0}; }
INLINE results call_octet_of_string(question q) {
  return (results){((octet_of_string *)q.functions[0])(q.octets), 0, 0, 0};
}
INLINE results call_int_of_string(question q) {
  return (results){((int_of_string *)q.functions[0])(q.octets), 0, 0, 0};
}
INLINE results call_size(question q) {
  return (results){(int64_t)((size_of *)q.functions[0])(q.octets, q.length), 0, 0, 0};
}
INLINE results call_pair(question q) {
  const pair found = ((pair_of *)q.functions[0])(q.octets, q.length);
  return (results){found.error, (int64_t)found.count, 0, 0};
}
INLINE results call_ended(question q) {
  store64(q.cells, 0);
  const int found = ((ended *)q.functions[0])(q.octets, (ptrdiff_t)q.length, (const uint8_t **)(void *)q.cells);
  return (results){found, 0, (int64_t)load64(q.cells), 0};
}
INLINE results call_bounded(question q) {
  return (results){((bounded *)q.functions[0])(q.octets, q.length, q.out, q.room), 0, 0, 0};
}
INLINE results call_unbounded(question q) {
  return (results){(int64_t)((unbounded *)q.functions[0])(q.octets, q.length, q.out), 0, 0, 0};
}
INLINE results call_pair_written(question q) {
  const pair found = ((pair_written *)q.functions[0])(q.octets, q.length, q.out);
  return (results){found.error, (int64_t)found.count, 0, 0};
}
INLINE results call_icu(question q) {
  int32_t *needed = (int32_t *)(void *)q.cells, *status = (int32_t *)(void *)(q.cells + CELL);
  *needed = *status = 0;
  ((icu *)q.functions[0])(q.out, (int32_t)q.room, needed, q.octets, (int32_t)q.length, status);
  return (results){0, 0, *needed, *status};
}

/* ---- meanings ---- */

INLINE answer accepted(uint64_t units) { return (answer){ACCEPTED, units}; }
INLINE answer refused(void) { return (answer){REFUSED, NOT_SAID}; }
INLINE answer broken(void) { return (answer){BROKEN, 0}; }
INLINE answer refused_at(int64_t offset, question q) {
  return UNLIKELY((uint64_t)offset >= q.length) ? broken() : (answer){REFUSED, (uint64_t)offset};
}
/* An offset from the address of a pointer that came back; computed without signs, since it may be any. */
INLINE int64_t behind(int64_t pointer, question q) { return (int64_t)((uint64_t)pointer - (uintptr_t)q.octets); }

INLINE answer means_true(results r, question q) { return (void)q, r.returned ? accepted(0) : refused(); }
INLINE answer means_zero(results r, question q) { return (void)q, r.returned ? refused() : accepted(0); }
INLINE answer means_offset_or_length(results r, question q) {
  return (uint64_t)r.returned == q.length ? accepted(0) : refused_at(r.returned, q);
}
INLINE answer means_offset_or_minus1(results r, question q) {
  return r.returned == -1 ? accepted(0) : refused_at(r.returned, q);
}
INLINE answer means_null(results r, question q) {
  return r.returned ? refused_at(behind(r.returned, q), q) : accepted(0);
}
INLINE answer means_pair(results r, question q) { return r.returned ? refused_at(r.second, q) : accepted(0); }
INLINE answer means_end(results r, question q) {
  if (!r.returned) return refused_at(behind(r.one, q), q);
  return UNLIKELY((uint64_t)behind(r.one, q) != q.length) ? broken() : accepted(0);
}
INLINE answer means_written(results r, question q) {
  return (void)q, r.returned >= 0 ? accepted((uint64_t)r.returned) : refused();
}
INLINE answer means_written_or_zero(results r, question q) {
  return r.returned || !q.length ? accepted((uint64_t)r.returned) : refused();
}
INLINE answer means_pair_written(results r, question q) {
  return r.returned ? refused_at(r.second, q) : accepted((uint64_t)r.second);
}
/* unicode/utypes.h: U_INVALID_CHAR_FOUND, U_TRUNCATED_CHAR_FOUND, U_ILLEGAL_CHAR_FOUND; U_BUFFER_OVERFLOW_ERROR still
 * says how many units it needed. */
enum { ICU_REFUSED_FIRST = 10, ICU_REFUSED_LAST = 12, ICU_OVERFLOW = 15 };
INLINE answer means_icu(results r, question q) {
  (void)q;
  if (r.two <= 0 || r.two == ICU_OVERFLOW) return accepted(r.one > 0 ? (uint64_t)r.one : 0);
  return r.two >= ICU_REFUSED_FIRST && r.two <= ICU_REFUSED_LAST ? refused() : broken();
}
/* One step of an iteration; the number is what it consumed. */
INLINE answer means_consumed(results r, question q) {
  if (r.returned < 0) return refused();
  return r.returned > 0 && (uint64_t)r.returned <= q.length ? accepted((uint64_t)r.returned) : broken();
}

/* ---- answers ---- */

/* The answer of one call: an acceptance claims no more units than fit. */
INLINE answer once(question q, caller *call, meaning *means) {
  const answer found = means(call(q), q);
  return found.status == ACCEPTED && UNLIKELY(found.number > q.room) ? broken() : found;
}

INLINE answer ask_octet_true(question q) { return once(q, call_octet, means_true); }
INLINE answer ask_int_true(question q) { return once(q, call_int, means_true); }
INLINE answer ask_int_zero(question q) { return once(q, call_int, means_zero); }
INLINE answer ask_octet_of_string(question q) { return once(q, call_octet_of_string, means_true); }
INLINE answer ask_int_of_string(question q) { return once(q, call_int_of_string, means_true); }
INLINE answer ask_offset_or_length(question q) { return once(q, call_size, means_offset_or_length); }
INLINE answer ask_offset_or_minus1(question q) { return once(q, call_size, means_offset_or_minus1); }
INLINE answer ask_null(question q) { return once(q, call_size, means_null); }
INLINE answer ask_pair(question q) { return once(q, call_pair, means_pair); }
INLINE answer ask_end(question q) { return once(q, call_ended, means_end); }
INLINE answer ask_written(question q) { return once(q, call_bounded, means_written); }
INLINE answer ask_written_or_zero(question q) { return once(q, call_unbounded, means_written_or_zero); }
INLINE answer ask_pair_written(question q) { return once(q, call_pair_written, means_pair_written); }
INLINE answer ask_icu(question q) { return once(q, call_icu, means_icu); }

/* One call for each code point, until the input ends. */
INLINE answer ask_iterating(question q) {
  uint64_t offset = 0, points = 0;
  while (offset < q.length) {
    int32_t *point = (int32_t *)(void *)(q.out + 4 * points);
    *point = 0;
    question rest = q;
    rest.length = q.length - offset;
    const ptrdiff_t taken = ((next_point *)q.functions[0])(q.octets + offset, (ptrdiff_t)rest.length, point);
    const answer found = means_consumed((results){taken, 0, 0, 0}, rest);
    if (found.status != ACCEPTED) return found.status == REFUSED ? (answer){REFUSED, offset} : broken();
    offset += found.number;
    points++;
  }
  return accepted(points);
}

typedef void *new_stream(void);
typedef ptrdiff_t feed_stream(void *, const uint8_t *, size_t, void *, size_t);
typedef ptrdiff_t finish_stream(void *, void *, size_t);
typedef void free_stream(void *);

/* The input as a stream of one chunk; `unit`: the octets of a unit of output. */
INLINE answer ask_stream(question q, uint64_t unit) {
  void *const state = ((new_stream *)q.functions[0])();
  if (!state) return broken();
  answer found = refused();
  const ptrdiff_t fed = ((feed_stream *)q.functions[1])(state, q.octets, q.length, q.out, q.room);
  if (fed >= 0 && (uint64_t)fed > q.room) {
    found = broken();
  } else if (fed >= 0) {
    const uint64_t left = q.room - (uint64_t)fed;
    const ptrdiff_t last = ((finish_stream *)q.functions[2])(state, q.out + (uint64_t)fed * unit, left);
    if (last >= 0) found = (uint64_t)last > left ? broken() : accepted((uint64_t)(fed + last));
  }
  ((free_stream *)q.functions[3])(state);
  return found;
}
INLINE answer ask_stream_of_8(question q) { return ask_stream(q, 1); }
INLINE answer ask_stream_of_16(question q) { return ask_stream(q, 2); }
INLINE answer ask_stream_of_32(question q) { return ask_stream(q, 4); }

typedef uint8_t feed_judge(void *, const uint8_t *, size_t);
typedef uint8_t finish_judge(void *);

/* Likewise, by a validator that only says yes or no. */
INLINE answer ask_judging_stream(question q) {
  void *const state = ((new_stream *)q.functions[0])();
  if (!state) return broken();
  const int yes = ((feed_judge *)q.functions[1])(state, q.octets, q.length) && ((finish_judge *)q.functions[2])(state);
  ((free_stream *)q.functions[3])(state);
  return yes ? accepted(0) : refused();
}

#endif
