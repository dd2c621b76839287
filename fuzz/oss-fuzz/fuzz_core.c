/* The core in C against a walk of the same automaton, octet by octet: the first error, the numbers, the verdict.
 *
 * core_tables.py prints the tables. An input is read as it is, and many times in a row, which brings it across words,
 * rows and blocks. Octets stand in memory of exactly their size, so that a sanitizer sees what is read behind them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "automaton.h"
#include "decoding.h"

/* columns.c */
void read_columns(
    const uint8_t *, const int64_t *, uint64_t, const uint8_t (*)[256], const uint8_t *, uint64_t, uint32_t *, uint32_t *,
    uint8_t *);

#include "core_tables.h"

#define MOST (UINT64_C(1) << 14) /* octets of the longest text: many blocks */

static void require(bool right, const char *what, uint64_t size) {
  if (right) return;
  fprintf(stderr, "overlong: %s differs from the walk, of %zu octets\n", what, (size_t)size);
  abort();
}

typedef struct {
  uint64_t state;
  int64_t last; /* octets read when it last accepted; -1: it did not */
  uint64_t live;
  uint64_t count; /* of numbers */
} walked;

static walked walk(const uint8_t *octets, uint64_t size, uint32_t *numbers) {
  walked found = {0, accepting[0] ? 0 : -1, 0, 0};
  uint64_t number = 0;
  for (uint64_t place = 0; place < size; place++) {
    const uint8_t octet = octets[place];
    number = found.state == 0 ? lead_bits[octet] : number << tail_bits | (octet & ((1u << tail_bits) - 1));
    found.state = table[found.state][octet];
    if (found.state == dead) return found;
    found.live = place + 1;
    if (!accepting[found.state]) continue;
    found.last = (int64_t)found.live;
    numbers[found.count++] = (uint32_t)number;
  }
  return found;
}

static void compare(const uint8_t *octets, uint64_t size) {
  uint32_t *const numbers = malloc((size + 1) * sizeof *numbers), *const found = malloc((size + 1) * sizeof *found);
  if (!numbers || !found) abort();
  const walked right = walk(octets, size, numbers);
  const bool is_right = right.last == (int64_t)size;

  first_error error;
  find_first_error(&by_shifts, octets, size, &error);
  const int64_t length = (int64_t)right.live - right.last;
  require(error.offset == (is_right ? -1 : right.last), "the offset of the first error", size);
  require(error.length == (is_right ? 0 : length ? length : 1), "its length", size);
  require(error.incomplete == (!is_right && right.state != dead), "whether it is incomplete", size);

  require(verdict(&words, octets, size, 0) == right.last * 2 + is_right, "the verdict", size);

  if (is_right) {
    uint64_t count;
    find_numbers(&by_layout, octets, size, found, &count);
    require(count == right.count, "the count of numbers", size);
    require(!memcmp(found + 1, numbers, count * sizeof *numbers), "a number", size);
  }

  const int64_t end = (int64_t)size;
  uint32_t last, live;
  uint8_t state;
  read_columns(octets, &end, 1, table, accepting, dead, &last, &live, &state);
  require(last == (uint32_t)right.last && live == right.live && state == right.state, "a column", size);

  free(numbers);
  free(found);
}

int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t size) {
  compare(octets, size);
  if (!size) return 0;
  const uint64_t times = 1 + octets[size - 1] % (MOST / size + 1);
  uint8_t *const text = malloc(size * times);
  if (!text) abort();
  for (uint64_t done = 0; done < times; done++) memcpy(text + size * done, octets, size);
  compare(text, size * times);
  free(text);
  return 0;
}
