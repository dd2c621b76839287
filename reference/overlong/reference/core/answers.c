/* Answers of one function to a batch of inputs, each right before a guard page: what adapters/shared_library.py does by
 * ctypes, one input at a time, in the same order, at thirty times the speed.
 */
#include "convention.h"

#define POISON 0xAA

/* AnswersTask of Python. */
typedef struct {
  const convention *by;
  const uintptr_t *functions;
  const uint8_t *octets;   /* the next input */
  const uint32_t *lengths; /* of all inputs */
  uint64_t next;
  uint64_t inputs;
  uint64_t *item;   /* the number of the current input, for the process that watches this one */
  uint8_t *written; /* the end of inputs, right before a guard: where it can be written, and where the function sees it */
  const uint8_t *ends;
  uint64_t before; /* the octet before an input, and how often it stands there */
  uint64_t times;
  uint64_t terminated; /* an octet 00 stands behind an input */
  uint64_t unit;       /* octets of a unit of output; 0: there is no output */
  uint8_t *out;
  uint64_t room; /* units with room for each octet, and additional ones */
  uint64_t more;
  uint8_t *cells;
  uint8_t *statuses;
  uint32_t *numbers;
  uint8_t *kept; /* room for the next output */
  const volatile uint64_t *original; /* 0 in a fork of the process, where the system can tell (in_core.py) */
  results last;                      /* of the last call */
} answers_task;

/* Ask from `next` on; stop after a call that broke the convention, or forked. */
EXPORT void answer_inputs(answers_task *task) {
  question q = {.functions = task->functions, .out = task->out, .cells = task->cells};
  while (task->next < task->inputs) {
    const uint64_t index = task->next++;
    *task->item = index;
    q.length = task->lengths[index];
    q.octets = task->ends - task->terminated - q.length;
    q.room = task->room * q.length + task->more;
    uint8_t *const end = task->written - task->terminated;
    if (task->terminated) *end = 0;
    memset(end - q.length - task->times, (int)task->before, task->times);
    memcpy(end - q.length, task->octets, q.length);
    task->octets += q.length;
    memset(task->out, POISON, q.room * task->unit);
    task->last = task->by->call(q);
    answer found = task->by->means(task->last, q);
    if (task->unit && found.status == ACCEPTED) {
      if (found.number > q.room) {
        found.status = BROKEN;
      } else {
        memcpy(task->kept, task->out, found.number * task->unit);
        task->kept += found.number * task->unit;
      }
    }
    task->statuses[index] = (uint8_t)found.status;
    task->numbers[index] = (uint32_t)found.number;
    if (found.status == BROKEN || !*task->original) return;
  }
}
