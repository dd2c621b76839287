/* A grid's strings as a source of the loop: what they share is made and read once.
 *
 * Each axis except the last keeps what stands before it, as an odometer keeps its digits, in memory of the source's own.
 * From there it is copied to where the run's strings stand. The automaton's verdict on each choice of the last axis is
 * known for every state.
 */
#include "judging.h"

typedef struct {
  uint64_t choice; /* the current one of this axis */
  uint64_t state;  /* what stands before it: the automaton's state, … */
  int64_t seen;
  uint64_t length;
  uint64_t value;
  int64_t units;
} level;

typedef struct {
  uint64_t first; /* the number of its first piece */
  uint64_t size;
} axis;

/* Behind a LoopTask: GridWords of Python. */
typedef struct {
  loop_task loop;
  const uint8_t *octets; /* of all pieces, in a row */
  const uint64_t *starts;
  const axis *axes;
  const uint64_t *alike;  /* for each choice of the last axis: the next one of another length */
  const uint64_t *padded; /* and its octets as a word, with what stands behind it */
  const int64_t *verdicts;
  uint64_t is_short; /* no choice of the last axis is longer than a word: the loop writes it */
  uint64_t is_placed; /* the choice of the first axis is the address modulo 64 */
  uint64_t longest_last;
  uint64_t last_axis;
  level *levels;
  uint8_t *line;    /* the string without its last piece */
  uint8_t *earlier; /* the earlier string */
  uint8_t *spare;   /* a word that nobody reads */
  uint64_t dirty;   /* how far behind `base` there may be something else than the filler */
  int64_t begun;    /* a string's number minus the number of its last piece; -1: nothing was laid out */
} grid_task;

/* Make and read the pieces of the axes from `changed` on, except the last. */
static void advance(uint64_t changed, grid_task *task) {
  const loop_task *loop = &task->loop;
  for (uint64_t number = changed; number < task->last_axis; number++) {
    level now = task->levels[number];
    const uint64_t *ends = task->starts + task->axes[number].first + now.choice;
    const uint8_t *piece = task->octets + ends[0];
    const uint64_t many = ends[1] - ends[0];
    if (number < loop->earlier) {
      memcpy(task->earlier + now.length, piece, many);
      now.length += many;
    } else {
      memcpy(task->line + now.length, piece, many);
      if (loop->unit) {
        const output all = output_of(piece, many, now.state, (output){now.value, now.units}, loop->unit, loop);
        now.value = all.value, now.units = all.units;
      }
      const reading found = read_octets(loop->by, piece, many, now.state);
      now.state = found.state;
      if (found.seen >= 0) now.seen = (int64_t)now.length + found.seen;
      now.length += many;
    }
    if (number + 1 == loop->earlier) {
      memset(task->earlier + now.length, (int)loop->behind, AROUND);
      task->loop.length_before = now.length;
      now = (level){0};
    }
    now.choice = task->levels[number + 1].choice;
    task->levels[number + 1] = now;
  }
}

/* Go on to a choice of the last axis; the first axis whose choice changes. */
static uint64_t next_choice(uint64_t choice, grid_task *task) {
  uint64_t number = task->last_axis;
  while (number && choice == task->axes[number].size) {
    task->levels[number].choice = 0;
    number--;
    choice = task->levels[number].choice + 1;
  }
  task->levels[number].choice = choice;
  return number;
}

/* Lay out a run: a single string if the loop cannot write its last piece. */
EXPORT void lay_out_grid(grid_task *task) {
  loop_task *loop = &task->loop;
  advance(task->begun < 0 ? 0 : next_choice(loop->next - (uint64_t)task->begun, task), task);
  const level now = task->levels[task->last_axis];
  const axis last = task->axes[task->last_axis];
  const uint64_t *ends = task->starts + last.first + now.choice;
  const uint8_t *pieces = task->octets + ends[0];
  const uint64_t many = ends[1] - ends[0], length = now.length;
  loop->strings = task->is_short ? task->alike[now.choice] - now.choice : 1;
  const uint64_t run = loop->next + loop->strings; /* its number, wherever it is begun */
  uint8_t *const start = start_at(task->is_placed ? task->levels[0].choice : residue(run), loop);
  memcpy(start, task->line, length);
  uint8_t *end = start + length;
  loop->at = task->is_short ? end : task->spare;
  loop->shift = loop->head = 0;
  if (!task->is_short) {
    memcpy(end, pieces, many);
    end += many;
  } else if (length < WORD && length + task->longest_last <= WORD) {
    loop->at = start;
    loop->shift = 8 * length;
    loop->head = lowest(load64(start), length);
  }
  uint8_t *const dirty = loop->base + task->dirty;
  if (dirty > end) memset(end, (int)loop->behind, (size_t)(dirty - end));
  task->dirty = (uint64_t)(end - loop->base) + WORD * task->is_short;
  task->begun = (int64_t)(loop->next - now.choice);
  loop->input = start;
  loop->whole = length + many;
  loop->length = length;
  loop->words = task->padded + now.choice;
  loop->pieces = pieces;
  loop->read = task->verdicts + now.state / STEP * last.size + now.choice;
  loop->seen = now.seen;
  loop->state = now.state;
  loop->value = now.value;
  loop->units = now.units;
}

/* Read every choice of an axis from every state. */
EXPORT void read_choices(
    const automaton *by, const uint8_t *octets, const uint64_t *starts, int64_t *verdicts, uint64_t states,
    uint64_t choices) {
  for (uint64_t state = 0; state < states; state++) {
    for (uint64_t choice = 0; choice < choices; choice++) {
      const uint64_t length = starts[choice + 1] - starts[choice];
      verdicts[state * choices + choice] = verdict(by, octets + starts[choice], length, STEP * state);
    }
  }
}
