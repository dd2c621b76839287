/* One call again and again while other threads call the same function, in rounds that all threads begin together. */
#include <sched.h>

#include "convention.h"

#define POISON 0xAA
#define PATIENT 1000u /* looks at the others before this thread lets another one run */

/* A question about a text: whatever stands in more registers than the function reads does no harm. */
typedef size_t of_words(const uint8_t *, size_t, uintptr_t, uintptr_t, uintptr_t);

/* TogetherTask of Python. */
typedef struct {
  const convention *by; /* null for a question */
  question q;
  uint64_t words[3]; /* a question's arguments after address and length */
  uint64_t mask;     /* the bits of its result */
  uint64_t unit;     /* octets of a unit of output; 0: there is no output */
  uint64_t watched;  /* octets of output with room */
  const uint8_t *right; /* output and cells of the call that was alone */
  answer alone;         /* and its answer; for a question the result */
  uint64_t rounds;
  uint64_t calls; /* in a round */
  uint64_t threads;
  uint64_t *arrived; /* at all rounds together */
  uint64_t differs;  /* the first other answer is in `found`, its output and cells in `kept` */
  answer found;
  uint8_t *kept;
} together_task;

static answer called(const together_task *task) {
  const question *q = &task->q;
  memset(q->out, POISON, task->watched);
  memset(q->cells, 0, 2 * CELL);
  if (task->by) return task->by->ask(*q);
  const size_t result = ((of_words *)q->functions[0])(q->octets, q->length, task->words[0], task->words[1], task->words[2]);
  return (answer){ACCEPTED, result & task->mask};
}

static bool is_alike(const together_task *task, answer found) {
  if (found.status != task->alone.status || found.number != task->alone.number) return false;
  const uint64_t written = found.status == ACCEPTED ? found.number * task->unit : 0;
  if (memcmp(task->q.out, task->right, written < task->watched ? written : task->watched)) return false;
  return task->by || !memcmp(task->q.cells, task->right + task->watched, 2 * CELL);
}

static void keep(const together_task *task, uint8_t *to) {
  memcpy(to, task->q.out, task->watched);
  memcpy(to + task->watched, task->q.cells, 2 * CELL);
}

static void wait_for_others(const together_task *task, uint64_t round) {
  __atomic_add_fetch(task->arrived, 1, __ATOMIC_SEQ_CST);
  for (uint64_t looks = 1; __atomic_load_n(task->arrived, __ATOMIC_SEQ_CST) < round * task->threads; looks++) {
    if (looks % PATIENT == 0) sched_yield();
  }
}

/* A thread whose answers differ goes on, for the others wait for it. */
EXPORT void call_together(together_task *task) {
  for (uint64_t round = 1; round <= task->rounds; round++) {
    wait_for_others(task, round);
    for (uint64_t call = 0; call < task->calls; call++) {
      const answer found = called(task);
      if (task->differs || is_alike(task, found)) continue;
      task->differs = 1;
      task->found = found;
      keep(task, task->kept);
    }
  }
}

/* The call alone, for the comparison. */
EXPORT void call_alone(together_task *task) {
  task->alone = called(task);
  keep(task, task->kept);
}
