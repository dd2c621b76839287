/* What all files of the core share: words of memory, and where a string stands.
 *
 * The core calls C functions, and reads octets by an automaton, where Python would be too slow. It knows nothing of
 * Python and nothing of UTF-8: it gets tables and addresses. All numbers are words of 64 bits; structs that Python fills
 * in hold nothing but words, in the order of a NamedTuple of the same name. The core only detects: what differs is asked
 * again and explained elsewhere.
 */
#ifndef OVERLONG_CORE_H
#define OVERLONG_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

_Static_assert(sizeof(void *) == 8 && sizeof(size_t) == 8, "addresses are words of 64 bits");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first octet of a word in memory is its lowest");

#define WORD 8u
#define INLINE static inline __attribute__((always_inline))
#define EXPORT __attribute__((visibility("default")))
#define UNLIKELY(condition) __builtin_expect((condition), 0)

/* Multiples of the golden ratio spread evenly (Knuth, The Art of Computer Programming, 6.4). */
#define ODD 0x9E3779B97F4A7C15u

INLINE uint64_t load64(const uint8_t *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
  return word;
}

INLINE void store64(uint8_t *at, uint64_t word) { memcpy(at, &word, sizeof word); }

/* The lowest octets of a word, all else 0; `octets` is below 8. */
INLINE uint64_t lowest(uint64_t word, uint64_t octets) { return word & ((UINT64_C(1) << 8 * octets) - 1); }

/* Where a string starts, modulo 64: a function of its number alone, so that a string that is asked again is asked there. */
INLINE uint64_t residue(uint64_t number) {
  const uint64_t mixed = number * ODD;
  return (mixed ^ mixed >> 32) * 0xBF58476D1CE4E5B9u >> 58; /* twice: strings with neighbouring numbers stand far apart */
}

#endif
