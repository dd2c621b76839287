/* The loop of sweeps and campaigns: number a string, ask it, judge it, count it.
 *
 * A source lays out strings in runs. Strings of a run differ only in their last piece, so what they share is read once.
 * A string, or its last piece, of up to eight octets is written by one store: a function that loads a word right after
 * two stores into it would wait for both.
 *
 * Every number is published before its string is asked. Sums are published now and then, in two snapshots of which one
 * is always whole: a process that dies leaves sums that are right up to some string, and the number of the one that
 * killed it.
 */
#include "convention.h"
#include "judging.h"

/* The most strings between two publications of the sums. */
#define FLUSH (UINT64_C(1) << 16)

/* Words of sweep/request.py. */
enum { INDEX, EARLIER, CURRENT, SNAPSHOT = 8, SNAPSHOTS = 8 };

typedef struct {
  uint64_t reached, strings, octets, well_formed, accepted, checksum;
} sums;

INLINE sums *snapshot(uint64_t *progress, uint64_t which) {
  return (sums *)(void *)(progress + SNAPSHOT + SNAPSHOTS * which);
}

static void publish(uint64_t *progress, sums all) {
  const uint64_t other = 1 - progress[CURRENT];
  *snapshot(progress, other) = all;
  __atomic_store_n(&progress[CURRENT], other, __ATOMIC_RELEASE);
}

typedef answer asking(question);

/* Ask all strings from the current progress up to `until`. What is constant where this is called makes a loop of its
 * own: the convention, and whether the source's strings stand `alone`, each a run of its own that is all last piece.
 */
INLINE void ask_all(uint64_t until, loop_task *task, asking *ask, bool says_offsets, bool alone) {
  uint64_t *const progress = task->progress;
  uint8_t *const kinds = task->kinds;
  const uint64_t size = task->unit, origin = task->origin;
  const bool offsets = says_offsets && task->judges_offsets;
  sums all = *snapshot(progress, progress[CURRENT]);
  uint64_t flush = until - all.reached < FLUSH ? until : all.reached + FLUSH;
  question q = {.functions = task->functions, .out = task->out, .cells = task->cells};
  while (all.reached < until) {
    task->next = all.reached;
    task->lay_out(task);
    const uint64_t room = task->room * task->whole + task->more, length = task->length, first = all.reached;
    const uint64_t count = alone ? 1 : task->strings < flush - first ? task->strings : flush - first;
    const bool single = !alone && size > 1 && length && length + 1 == task->whole && task->units >= 0 && task->units <= FEW;
    const uint64_t *const words = task->words, head = task->head, shift = task->shift;
    const int64_t *const read = task->read, seen = task->seen;
    uint8_t *const at = task->at;
    q.octets = task->input, q.length = task->whole, q.room = room;
    for (uint64_t in_run = 0; in_run < count; in_run++) {
      const uint64_t index = first + in_run;
      if (!alone && UNLIKELY(task->earlier != 0)) {
        question before = q;
        before.octets = task->before, before.length = task->length_before;
        before.room = task->room * before.length + task->more;
        progress[EARLIER] = 1;
        progress[INDEX] = index;
        (void)ask(before);
        progress[EARLIER] = 0;
      }
      progress[INDEX] = index;
      if (!alone) store64(at, head | words[in_run] << shift);
      const answer found = ask(q);
      const int64_t end = read[in_run];
      const bool right = end & 1;
      const int64_t last = alone ? end >> 1 : end < 0 ? seen : (int64_t)length + (end >> 1);
      const asked string = {right, (uint64_t)last, in_run, single, alone ? 0 : (uint8_t)words[in_run]};
      const uint8_t kind = judged(found, string, size, offsets, task);
      if (UNLIKELY(kind != AGREES)) kinds[index - origin] = kind;
      all.well_formed += right;
      all.accepted += found.status == ACCEPTED;
      all.checksum += checked(index, found);
    }
    all.reached += count;
    all.strings += count;
    all.octets += count * task->whole;
    if (all.reached == flush) {
      publish(progress, all);
      flush = until - all.reached < FLUSH ? until : all.reached + FLUSH;
    }
  }
}

/* Both loops of a convention. */
#define LOOPS(NAME, ASK, SAYS_OFFSETS) \
  static void NAME##_runs(uint64_t until, loop_task *task) { ask_all(until, task, ASK, SAYS_OFFSETS, false); } \
  static void NAME##_alone(uint64_t until, loop_task *task) { ask_all(until, task, ASK, SAYS_OFFSETS, true); }

LOOPS(octet, ask_octet_true, false)
LOOPS(whole, ask_int_true, false)
LOOPS(error, ask_int_zero, false)
LOOPS(string, ask_octet_of_string, false)
LOOPS(string_int, ask_int_of_string, false)
LOOPS(length, ask_offset_or_length, true)
LOOPS(minus1, ask_offset_or_minus1, true)
LOOPS(null, ask_null, true)
LOOPS(pair, ask_pair, true)
LOOPS(end, ask_end, true)
LOOPS(written, ask_written, false)
LOOPS(roomy, ask_written_or_zero, false)
LOOPS(result, ask_pair_written, true)
LOOPS(icu, ask_icu, false)
LOOPS(iterating, ask_iterating, true)
LOOPS(stream8, ask_stream_of_8, false)
LOOPS(stream16, ask_stream_of_16, false)
LOOPS(stream32, ask_stream_of_32, false)
LOOPS(judging_stream, ask_judging_stream, false)

static const convention conventions[] = {
    {"bool(ptr,len)", octet_runs, octet_alone, ask_octet_true, call_octet, means_true},
    {"int(ptr,len)", whole_runs, whole_alone, ask_int_true, call_int, means_true},
    {"error(ptr,len)", error_runs, error_alone, ask_int_zero, call_int, means_zero},
    {"bool(string)", string_runs, string_alone, ask_octet_of_string, call_octet_of_string, means_true},
    {"int(string)", string_int_runs, string_int_alone, ask_int_of_string, call_int_of_string, means_true},
    {"errpos(ptr,len)", length_runs, length_alone, ask_offset_or_length, call_size, means_offset_or_length},
    {"errpos-or-minus1(ptr,len)", minus1_runs, minus1_alone, ask_offset_or_minus1, call_size, means_offset_or_minus1},
    {"ptr-or-null(ptr,len)", null_runs, null_alone, ask_null, call_size, means_null},
    {"result(ptr,len)", pair_runs, pair_alone, ask_pair, call_pair, means_pair},
    {"glib(ptr,len,end)", end_runs, end_alone, ask_end, call_ended, means_end},
    {"utf8(ptr,len,out,cap)", written_runs, written_alone, ask_written, call_bounded, means_written},
    {"utf16(ptr,len,out,cap)", written_runs, written_alone, ask_written, call_bounded, means_written},
    {"utf32(ptr,len,out,cap)", written_runs, written_alone, ask_written, call_bounded, means_written},
    {"utf8(ptr,len,out)", roomy_runs, roomy_alone, ask_written_or_zero, call_unbounded, means_written_or_zero},
    {"utf16(ptr,len,out)", roomy_runs, roomy_alone, ask_written_or_zero, call_unbounded, means_written_or_zero},
    {"utf32(ptr,len,out)", roomy_runs, roomy_alone, ask_written_or_zero, call_unbounded, means_written_or_zero},
    {"utf8-result(ptr,len,out)", result_runs, result_alone, ask_pair_written, call_pair_written, means_pair_written},
    {"utf16-result(ptr,len,out)", result_runs, result_alone, ask_pair_written, call_pair_written, means_pair_written},
    {"utf32-result(ptr,len,out)", result_runs, result_alone, ask_pair_written, call_pair_written, means_pair_written},
    {"icu(out,cap,outlen,ptr,len,status)", icu_runs, icu_alone, ask_icu, call_icu, means_icu},
    {"iterate(ptr,len,point)", iterating_runs, iterating_alone, ask_iterating, NULL, means_consumed},
    {"stream-bool(state,ptr,len)", judging_stream_runs, judging_stream_alone, ask_judging_stream, NULL, NULL},
    {"stream-utf8(state,ptr,len,out,cap)", stream8_runs, stream8_alone, ask_stream_of_8, NULL, NULL},
    {"stream-utf16(state,ptr,len,out,cap)", stream16_runs, stream16_alone, ask_stream_of_16, NULL, NULL},
    {"stream-utf32(state,ptr,len,out,cap)", stream32_runs, stream32_alone, ask_stream_of_32, NULL, NULL},
};

/* The convention of a name, or null. */
EXPORT const convention *convention_of(const char *name) {
  for (size_t place = 0; place < sizeof conventions / sizeof *conventions; place++) {
    if (!strcmp(conventions[place].name, name)) return &conventions[place];
  }
  return NULL;
}

EXPORT void loop_over_runs(const convention *by, uint64_t until, loop_task *task) { by->of_runs(until, task); }
EXPORT void loop_over_single(const convention *by, uint64_t until, loop_task *task) { by->of_alone(until, task); }

/* One answer, and what given results mean: for tests, which compare them with adapters/abi.py. */
EXPORT void ask_once(const convention *by, const question *q, answer *found) { *found = by->ask(*q); }
EXPORT void read_results(const convention *by, const results *r, const question *q, answer *found) {
  *found = by->means(*r, *q);
}
