/* The walk of an automaton: for each octet one load that depends on no other, and one shift (Vognsen, "Shift-based
 * DFAs"). A word holds all transitions of an octet; a state is the shift that selects one: a multiple of four.
 */
#ifndef OVERLONG_AUTOMATON_H
#define OVERLONG_AUTOMATON_H

#include "core.h"

#define STEP 4u
#define STATES 15u

/* AutomatonWords of Python's ShiftAutomaton. */
typedef struct {
  const uint64_t *transitions; /* for each octet */
  uint64_t accepting;          /* a bit for each accepting state, at its shift */
  uint64_t dead;               /* the state that no string leaves, or no state */
  uint64_t plain;              /* a bit in each octet: octets without it stay in the start; 0: there is none */
} automaton;

INLINE bool accepts(const automaton *by, uint64_t state) { return by->accepting >> state & 1; }

INLINE uint64_t step(const automaton *by, uint64_t state, uint8_t octet) {
  return by->transitions[octet] >> state & STEP * STATES;
}

typedef struct {
  uint64_t state;
  int64_t seen;   /* octets that were read when a state last accepted; -1: none did, nor the first */
  uint64_t count; /* octets that were read; the last of them leads to the dead state, if that ended it */
} reading;

INLINE reading read_octets(const automaton *by, const uint8_t *octets, uint64_t length, uint64_t state) {
  uint64_t place = 0;
  int64_t seen = accepts(by, state) ? 0 : -1;
  while (place < length) {
    if (state == 0 && by->plain && place + WORD <= length) {
      while (place + WORD <= length && !(load64(octets + place) & by->plain)) place += WORD;
      seen = (int64_t)place;
      if (place == length) break;
    }
    state = step(by, state, octets[place]);
    place++;
    if (state == by->dead) break;
    if (accepts(by, state)) seen = (int64_t)place;
  }
  return (reading){state, seen, place};
}

/* The same as one number: bit 0 says whether the last state accepts, all others are `seen`. */
INLINE int64_t verdict(const automaton *by, const uint8_t *octets, uint64_t length, uint64_t state) {
  const reading found = read_octets(by, octets, length, state);
  return found.seen * 2 + accepts(by, found.state);
}

#endif
