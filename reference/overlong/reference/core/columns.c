/* Strings in a row, read for what Python keeps in columns: verdicts, and features. */
#include "core.h"

/* oracle/columnar.py: for each string the octets read when it was last accepted, those read until nothing could be
 * accepted any more, and the last state. */
EXPORT void read_columns(
    const uint8_t *octets, const int64_t *ends, uint64_t strings, const uint8_t (*table)[256], const uint8_t *accepting,
    uint64_t dead, uint32_t *last, uint32_t *live, uint8_t *states) {
  uint64_t start = 0;
  for (uint64_t string = 0; string < strings; string++) {
    const uint64_t end = (uint64_t)ends[string];
    uint64_t accepted = 0, alive = 0;
    uint8_t state = 0;
    for (uint64_t place = start; place < end; place++) {
      state = table[state][octets[place]];
      if (state == dead) break;
      alive = place + 1 - start;
      if (accepting[state]) accepted = alive;
    }
    last[string] = (uint32_t)accepted, live[string] = (uint32_t)alive, states[string] = state;
    start = end;
  }
}

/* The numbers of the characters in the strings that were accepted, and the characters of each string; for `rows` see
 * decoding.h. The first number is no character's: there is room for one more than octets. */
EXPORT void number_columns(
    const uint8_t *octets, const int64_t *ends, uint64_t strings, const uint8_t *accepted, const uint64_t *rows,
    uint32_t *numbers, uint32_t *characters) {
  uint64_t start = 0, count = 0;
  for (uint64_t string = 0; string < strings; string++) {
    const uint64_t end = (uint64_t)ends[string], before = count;
    uint64_t number = 0;
    for (uint64_t place = start; accepted[string] && place < end; place++) {
      const uint64_t bits = rows[octets[place]];
      number = number << (bits & 63) | bits >> 6;
      count += bits >> 5 & 1;
      numbers[count] = (uint32_t)number;
    }
    characters[string] = (uint32_t)(count - before);
    start = end;
  }
}

/* fuzz/engines/job.py: for each feature the length and the number of the shortest input that reaches it. */
typedef struct {
  const int64_t *starts, *nexts; /* for each state and octet: its first feature; the next state, or below 0 */
  const int64_t *places;         /* for each offset up to NEAR, and then for each of AGAIN */
  int64_t width, placed;         /* classes of octets and the end; kinds of places */
  int64_t *shortest, *found;
} features;
enum { NEAR = 64, AGAIN = 16 };

static void reach(const features *of, int64_t feature, uint64_t offset, int64_t length, int64_t index) {
  feature += of->places[offset < NEAR ? offset : NEAR + offset % AGAIN];
  if (length < of->shortest[feature]) of->shortest[feature] = length, of->found[feature] = index;
}

EXPORT void reach_features(const features *of, uint64_t inputs, const int64_t *lengths, const uint8_t *octets) {
  for (uint64_t index = 0; index < inputs; index++) {
    const int64_t length = lengths[index], number = (int64_t)index;
    int64_t state = 0;
    for (uint64_t offset = 0; offset < (uint64_t)length; offset++) {
      const int64_t read = state << 8 | octets[offset];
      reach(of, of->starts[read], offset, length, number);
      state = of->nexts[read];
      if (state < 0) {
        reach(of, of->starts[octets[offset]], offset, length, number);
        state = of->nexts[octets[offset]];
      }
    }
    reach(of, (state * of->width + of->width - 1) * of->placed, (uint64_t)length, length, number);
    octets += length;
  }
}
