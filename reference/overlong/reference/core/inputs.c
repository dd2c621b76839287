/* Inputs of campaigns, by their numbers, as sources of the loop: each is a run of its own, and all of it last piece. */
#include "generator.h"
#include "loop.h"

/* What InputLoop of Python puts behind a LoopTask. */
typedef struct {
  loop_task loop;
  int64_t *read;       /* room for the verdict */
  const generator *by; /* what inputs are made of */
  uint64_t dirty;      /* how far behind `base` there may be something else than the filler */
} input_task;

/* Fill up behind an input that was just written, maybe over what stood behind it. */
static void lay_out(uint8_t *start, uint64_t length, uint64_t dirty, input_task *task) {
  loop_task *loop = &task->loop;
  uint8_t *const end = start + length, *last = loop->base + task->dirty;
  memset(end, (int)loop->behind, SLACK);
  if (UNLIKELY(last > end + SLACK)) memset(end + SLACK, (int)loop->behind, (size_t)(last - end - SLACK));
  task->dirty = (uint64_t)(start - loop->base) + dirty;
  loop->input = start;
  loop->pieces = start;
  loop->whole = length;
}

EXPORT void make_input(input_task *task) {
  loop_task *loop = &task->loop;
  uint8_t *const start = start_at(residue(loop->next + 1), loop);
  const uint64_t length = write_input(task->by, loop->next, start);
  lay_out(start, length, length < LONGEST ? length : REACH, task); /* of one that was cut off, there was more */
  *task->read = verdict(loop->by, start, length, 0);
}

/* Write inputs in a row while there is room; their number and their octets. */
EXPORT void write_inputs(
    const generator *by, uint64_t first, uint64_t count, uint8_t *out, uint64_t room, uint32_t *lengths,
    uint64_t *made) {
  uint64_t at = 0, done = 0;
  while (done < count && at + REACH <= room) {
    const uint64_t length = write_input(by, first + done, out + at);
    lengths[done++] = (uint32_t)length;
    at += length;
  }
  made[0] = done;
  made[1] = at;
}
