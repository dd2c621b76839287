// The usual method of projects: compare three validators and a reference on every input that libFuzzer makes.
// benchmarks/fuzz_compiled.py builds and runs it: clang++ -O2 -fsanitize=fuzzer -I FOLDER libfuzzer_three.cc
#include <cstdint>
#include <cstdlib>

#include "validators.h" // written by fuzz_compiled.py: first, second, third, and reference

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *octets, size_t length) {
  const bool right = reference(octets, length);
  if (first(octets, length) != right || second(octets, length) != right || third(octets, length) != right) abort();
  return 0;
}
