@@HEAD@@

#include <dlfcn.h>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#pragma GCC diagnostic ignored "-Wunused" // which parts are used depends on how the functions are called

extern "C" size_t LLVMFuzzerMutate(uint8_t *octets, size_t length, size_t longest);

namespace {

// -- the oracle: the minimal automaton of the grammar of RFC 3629, and its table of bits

@@TABLES@@

// What the reference says of an input.
struct Truth {
  bool well_formed = true;
  size_t offset = 0;             // of the first flaw
  int flaw = 0;                  // the number of a divergence: accepting it
  int first = 0;                 // that of refusing the first character that is not ASCII
  std::vector<uint32_t> scalars; // of well-formed input
};

Truth truth_of(const uint8_t *octets, size_t length) {
  Truth truth;
  unsigned state = 0;
  uint32_t number = 0;
  size_t begin = 0;
  truth.first = length ? REFUSED[octets[0]] : REFUSED[0];
  bool ascii = true;
  for (size_t at = 0; at < length; at++) {
    uint8_t octet = octets[at];
    if (ACCEPTING[state]) begin = at;
    unsigned next = NEXT[state][octet];
    if (next == DEAD) {
      truth.well_formed = false;
      truth.offset = begin;
      truth.flaw = ACCEPTED[state][octet];
      return truth;
    }
    number = at == begin ? octet & MASK[octet] : number << FREE[octet] | (octet & MASK[octet]);
    state = next;
    if (ACCEPTING[state]) {
      truth.scalars.push_back(number);
      if (ascii && begin != at) {
        ascii = false;
        truth.first = REFUSED[octets[begin]];
      }
    }
  }
  if (!ACCEPTING[state]) {
    truth.well_formed = false;
    truth.offset = begin;
    truth.flaw = ACCEPTED_AT_END[state];
  }
  return truth;
}

// -- divergences: a function for each, so that the stack of a crash names the cause

struct Input { const uint8_t *octets; size_t length; };
Input at_hand;

void report(const char *divergence, const char *target) {
  fprintf(stderr, "\n==overlong== %s: %s\ninput:", target, divergence);
  for (size_t at = 0; at < at_hand.length; at++) fprintf(stderr, " %02X", at_hand.octets[at]);
  fprintf(stderr, "\n");
  fflush(stderr);
}

} // namespace

volatile int overlong_kept; // written behind each report, so that no frame is optimised away

#define DIVERGENCE(name)                                                                             \
  extern "C" __attribute__((noinline, used)) void overlong_divergence_##name(const char *target) { \
    report(#name, target);                                                                          \
    abort();                                                                                        \
    overlong_kept++;                                                                                \
  }
@@DIVERGENCES@@

namespace {

using Divergence = void (*)(const char *);
const Divergence DIVERGENCE_NUMBERED[] = {
@@NUMBERED@@
};

// -- what a function answered

struct Answer {
  enum { ACCEPTS, REFUSES, BREAKS } what;
  bool says_where = false;
  size_t offset = 0;
  size_t units = 0;
};

Answer accepts(size_t units = 0) { return {Answer::ACCEPTS, false, 0, units}; }
Answer refuses() { return {Answer::REFUSES, false, 0, 0}; }
Answer refuses_at(size_t offset, size_t length) {
  return {offset < length ? Answer::REFUSES : Answer::BREAKS, true, offset, 0};
}

// Memory of exactly that size: AddressSanitizer reports reads and writes next to it.
struct Room {
  explicit Room(size_t size) : size(size), start(static_cast<char *>(malloc(size))) {}
  Room(const uint8_t *octets, size_t length, bool terminated) : Room(length + terminated) {
    if (length) memcpy(start, octets, length);
    if (terminated) start[length] = 0;
  }
  ~Room() { free(start); }
  size_t size;
  char *start;
};

void judge(const char *target, const Truth &truth, const Answer &answer, const Room &input) {
  if (at_hand.length && memcmp(input.start, at_hand.octets, at_hand.length)) overlong_divergence_OV805(target);
  if (answer.what == Answer::BREAKS) overlong_divergence_OV604(target);
  if (truth.well_formed) {
    if (answer.what == Answer::REFUSES) DIVERGENCE_NUMBERED[truth.first](target);
  } else if (answer.what == Answer::ACCEPTS) {
    DIVERGENCE_NUMBERED[truth.flaw](target);
  } else if (answer.says_where && answer.offset != truth.offset) {
    overlong_divergence_OV301(target);
  }
}

template <typename Unit>
void compare(const char *target, const std::vector<Unit> &expected, const Room &output, const Answer &answer) {
  if (answer.what != Answer::ACCEPTS) return;
  if (answer.units != expected.size() || answer.units * sizeof(Unit) > output.size ||
      (answer.units && memcmp(output.start, expected.data(), answer.units * sizeof(Unit))))
    overlong_divergence_OV102(target);
}

std::vector<char> in_utf8(const Truth &) {
  return std::vector<char>(at_hand.octets, at_hand.octets + at_hand.length);
}

std::vector<char16_t> in_utf16(const Truth &truth) {
  std::vector<char16_t> units;
  for (uint32_t scalar : truth.scalars) {
    if (scalar < SUPPLEMENTARY) {
      units.push_back(static_cast<char16_t>(scalar));
    } else {
      units.push_back(static_cast<char16_t>(LEAD + (scalar - SUPPLEMENTARY) / TRAILS));
      units.push_back(static_cast<char16_t>(TRAIL + (scalar - SUPPLEMENTARY) % TRAILS));
    }
  }
  return units;
}

std::vector<char32_t> in_utf32(const Truth &truth) {
  return std::vector<char32_t>(truth.scalars.begin(), truth.scalars.end());
}

void *symbol(const char *variable, const char *path, const char *name) {
  if (const char *other = getenv(variable)) path = other;
  void *library = dlopen(path, RTLD_NOW);
  void *found = library ? dlsym(library, name) : nullptr;
  if (!found) {
    fprintf(stderr, "%s (set %s to name another library)\n", dlerror(), variable);
    exit(2);
  }
  return found;
}

struct Pair { int error; size_t count; };

} // namespace

// -- the functions
@@TARGETS@@

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t length) {
  at_hand = {octets, length};
  Truth truth = truth_of(octets, length);
@@CALLS@@
  return 0;
}

// -- mutation: tokens of the grammar put in and left out; libFuzzer's own else

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t *octets, size_t length, size_t longest, unsigned seed) {
  uint64_t chance = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
  auto below = [&chance](size_t end) {
    chance ^= chance << 13, chance ^= chance >> 7, chance ^= chance << 17;
    return static_cast<size_t>(chance % end);
  };
  if (below(3) == 0) return LLVMFuzzerMutate(octets, length, longest);
  const Token &token = TOKENS[below(sizeof TOKENS / sizeof *TOKENS)];
  size_t at = below(length + 1), gone = below(2) ? below(4) : 0;
  if (gone > length - at) gone = length - at;
  if (length - gone + token.length > longest) return LLVMFuzzerMutate(octets, length, longest);
  memmove(octets + at + token.length, octets + at + gone, length - at - gone);
  memcpy(octets + at, token.octets, token.length);
  return length - gone + token.length;
}
