# pyright: basic
"""The cost of a sweep, compared with the same loop in C: all strings of four octets, verdict and full output.

gcc compiles the C loop with ``-O3 -march=native``. The loop makes the same strings, writes the number of each to memory
before its call, calls the same function by its address, checks verdict, offset and output against the same table, and
adds up the same sums. The benchmark fails if the two loops differ in a sum or a kind. They take turns, leading octet by
leading octet, in CPU time. Bounds: 1.3 times the C loop for a function that does nothing, 1.15 times for any other, and
2 s for the more than five million strings of ``placed-64``.

Functions: one that returns at once; GLib's ``g_utf8_validate``; simdutf8, the Rust crate, built by cargo; a decoder to
UTF-32 in plain C. A missing peer is left out and named. The output has the ratio of the total times, and the median of
the ratios at each leading octet. The bounds are for that median, because a busy machine disturbs it less.

    python benchmarks/sweep_exhaustive.py [LEADING-OCTETS]     (of 256; usually 24, evenly spread)
"""

from __future__ import annotations

import ctypes
import ctypes.util
import mmap
import subprocess
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.oracle.target import ExpectedAnswers
from overlong.conformance.sweep.compiled import PROGRESS_OCTETS, GridLoop, Progress, character_bits
from overlong.conformance.sweep.grid import account
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.reference.dialect import dialect
from runner import arguments, figure, simdutf8, timed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.sweep.grid import Grid

USUAL = 24
EMPTY_BOUND, BOUND, PLACED_BOUND = 1.3, 1.15, 2.0
EACH = 1 << 24
"""The number of strings of four octets with the same first one."""

C_SOURCE = r"""
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct { int64_t strings, octets, well_formed, accepted; uint64_t checksum; } sums;
enum { NOT_SAID = 0xFFFFFFFF, REFUSED_WELL_FORMED = 1, ACCEPTED_ILL_FORMED, OTHER_OUTPUT, OTHER_OFFSET, BROKEN = 7 };
typedef struct { uint8_t state, offset, units; uint32_t number, wanted[4]; } place;

static const uint8_t (*table)[256], *accepting, *lead;
static uint32_t tail_bits;
void prepare(const uint8_t *given_table, const uint8_t *given_accepting, const uint8_t *given_lead, uint32_t bits) {
  table = (const uint8_t (*)[256])given_table, accepting = given_accepting, lead = given_lead, tail_bits = bits;
}

static inline place read_octet(place p, uint8_t octet, size_t offset) {
  p.number = accepting[p.state] ? lead[octet] : p.number << tail_bits | (octet & ((1u << tail_bits) - 1));
  p.state = table[p.state][octet];
  if (accepting[p.state]) p.offset = offset, p.wanted[p.units++] = p.number;
  return p;
}

static _Alignas(64) uint8_t input[256];
static _Alignas(64) uint32_t out[64];

/* All strings of four octets that begin with `first`. What comes last sets status (0, 1, 2) and number. */
#define LOOP(NAME, TYPE, OUTPUT, ...) \
void NAME(TYPE f, uint64_t first, volatile uint64_t *counter, uint8_t *kinds, sums *all) { \
  sums s = *all; \
  uint8_t *string = input + 64; \
  const size_t length = 4; \
  memset(input, 0x80, sizeof input); \
  uint64_t index = first << 24; \
  place one = read_octet((place){0}, first, 1); \
  for (int b = 0; b < 256; b++) { \
    place two = read_octet(one, b, 2); \
    for (int c = 0; c < 256; c++) { \
      place three = read_octet(two, c, 3); \
      uint64_t head = first | b << 8 | c << 16 | 0x8080808000000000u; \
      for (uint64_t d = 0; d < 256; d++, index++) { \
        uint64_t status = 0, number = 0; \
        *counter = index; \
        *(uint64_t *)string = head | d << 24; \
        __VA_ARGS__ \
        bool right = accepting[table[three.state][d]]; \
        s.well_formed += right; \
        if (status == 0) { \
          s.accepted++; \
          if (!right) kinds[index] = ACCEPTED_ILL_FORMED; \
          else if (OUTPUT) { \
            place four = read_octet(three, d, 4); \
            bool same = number == four.units; \
            for (size_t k = 0; same && k < number; k++) same = out[k] == four.wanted[k]; \
            if (!same) kinds[index] = OTHER_OUTPUT; \
          } \
        } else if (status == 2) kinds[index] = BROKEN; \
        else if (right) kinds[index] = REFUSED_WELL_FORMED; \
        else if (number != NOT_SAID && number != three.offset) kinds[index] = OTHER_OFFSET; \
        s.checksum += ((number << 2 | status) + 1) * (index * 0x9E3779B97F4A7C15u | 1); \
      } \
    } \
  } \
  s.strings += 1 << 24, s.octets += length << 24; \
  *all = s; \
}

typedef bool judge(const uint8_t *, size_t);
typedef int validate(const uint8_t *, ptrdiff_t, const uint8_t **);
typedef ptrdiff_t decode(const uint8_t *, size_t, uint32_t *, size_t);
LOOP(with_bool, judge *, 0, if (!f(string, length)) status = 1, number = NOT_SAID;)
LOOP(with_glib, validate *, 0, {
  const uint8_t *end = NULL;
  int fine = f(string, length, &end);
  number = end - string;
  if (fine) status = number == length ? 0 : 2, number = 0;
  else if (number < length) status = 1;
  else status = 2, number = 0;
})
LOOP(with_output, decode *, 1, {
  ptrdiff_t written = f(string, length, out, 4 * length + 16);
  if (written < 0) status = 1, number = NOT_SAID;
  else if (written > 4 * (ptrdiff_t)length + 16) status = 2;
  else number = written;
})

bool nothing(const uint8_t *s, size_t n) { return (void)s, (void)n, false; }

ptrdiff_t to_utf32(const uint8_t *s, size_t n, uint32_t *to, size_t cap) {
  size_t written = 0, state = 0;
  uint32_t number = 0;
  for (size_t k = 0; k < n; k++) {
    number = accepting[state] ? lead[s[k]] : number << tail_bits | (s[k] & ((1u << tail_bits) - 1));
    state = table[state][s[k]];
    if (accepting[state]) {
      if (written < cap) to[written] = number;
      written++;
    }
  }
  return accepting[state] ? (ptrdiff_t)written : -1;
}
"""


class Asked(NamedTuple):
    """A function, and the way both loops call it."""

    name: str
    function: Any
    abi: str
    c_loop: str
    bound: float


@cache
def tables() -> tuple[bytes, bytes, bytes, int]:
    """Tables of RFC 3629 for the C loops: states, accepting ones, bits of leading octets, bits of a tail octet."""
    automaton, (first, others) = dialect().automaton, character_bits(dialect().layout)
    states = bytes(state for row in automaton.table for state in row)
    return states, bytes(automaton.accepting), first.tobytes(), int(others[0])


def built(folder: Path) -> ctypes.CDLL:
    """The C loops and the functions in C, with the tables of RFC 3629."""
    (folder / "loops.c").write_text(C_SOURCE, "ascii")
    words = ["gcc", "-O3", "-march=native", "-fno-strict-aliasing", "-shared", "-fPIC"]
    subprocess.run([*words, folder / "loops.c", "-o", folder / "loops.so"], check=True)
    library = ctypes.CDLL(str(folder / "loops.so"))
    library.prepare.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_uint32]
    library.prepare(*tables())
    return library


def functions(library: ctypes.CDLL, folder: Path) -> Iterator[Asked]:
    """The functions that are available."""
    yield Asked("nothing", library.nothing, "bool(ptr,len)", "with_bool", EMPTY_BOUND)
    glib = ctypes.util.find_library("glib-2.0")
    if glib is None:
        print("left out: GLib is missing")
    else:
        yield Asked("GLib", ctypes.CDLL(glib).g_utf8_validate, "glib(ptr,len,end)", "with_glib", BOUND)
    if (crate := simdutf8(folder)) is not None:
        yield Asked("simdutf8", crate.verdict, "bool(ptr,len)", "with_bool", BOUND)
    yield Asked("to UTF-32", library.to_utf32, "utf32(ptr,len,out,cap)", "with_output", BOUND)


def address(thing: Any) -> int:
    """The address of a function or a buffer."""
    return int(ctypes.cast(thing, ctypes.c_void_p).value or 0)


class Memory:
    """The memory that a loop writes to, for the strings from ``first`` on."""

    def __init__(self, count: int) -> None:
        self.progress = Progress(mmap.mmap(-1, PROGRESS_OCTETS))
        self.kinds = mmap.mmap(-1, count)


def compare(asked: Asked, library: ctypes.CDLL, loop: GridLoop, grid: Grid, leads: list[int]) -> None:
    """Print the cost of the sweep's loop, compared with the one in C."""
    there, here = Memory(EACH), Memory(EACH)
    c_loop, sums, counter = library[asked.c_loop], (ctypes.c_int64 * 5)(), ctypes.c_uint64()
    c_loop.argtypes = [ctypes.c_void_p, ctypes.c_uint64, *[ctypes.c_void_p] * 3]
    kinds = address((ctypes.c_char * EACH).from_buffer(there.kinds))
    times = list[tuple[float, float]]()
    for lead in [leads[0], *leads]:  # the first time is for the page faults
        first = lead * EACH
        here.progress.begin(first)
        ctypes.memset(sums, 0, ctypes.sizeof(sums))
        for memory in (there, here):
            memory.kinds[:] = bytes(EACH)
        given = address(asked.function), lead, ctypes.addressof(counter), kinds - first, ctypes.addressof(sums)
        in_c = timed(partial(c_loop, *given), time.process_time)
        ours = timed(partial(loop.run, grid, first + EACH, here.progress, here.kinds, first), time.process_time)
        progress = here.progress
        found = tuple(progress.sums.values())
        if found != (*sums[:4], sums[4] % (1 << 64)) or here.kinds[:] != there.kinds[:]:
            raise SystemExit(f"{asked.name}: the two loops differ at leading octet {lead:02X}: {found}, {list(sums)}")
        times.append((in_c, ours))
    in_c, ours = (sum(each) / len(leads) / EACH * 1e9 for each in zip(*times[1:], strict=True))
    print(f"{asked.name:10} {in_c:6.2f} ns a string in C, {ours:6.2f} ns here: {ours / in_c:.2f} times")
    each = (mine / theirs for theirs, mine in times[1:])
    figure(f"sweep of four octets, {asked.name} / the same loop in C", each, at_most=asked.bound)


def placed(asked: Asked, loop: GridLoop) -> None:
    """Print the cost of the placed sweep."""
    strings = well_formed = 0
    used = 0.0
    for grid in plan_named("placed-64").grids:
        memory = Memory(grid.size)
        memory.progress.begin(0)
        used += timed(partial(loop.run, grid, grid.size, memory.progress, memory.kinds, 0), time.process_time)
        sums = memory.progress.sums
        strings, well_formed = strings + sums["strings"], well_formed + sums["well_formed"]
        assert sums["well_formed"] == account(grid, dialect().automaton).well_formed
    print(f"{asked.name:10} placed-64: {strings:,} strings")
    figure(f"placed-64, {asked.name}", [used], "s", at_most=PLACED_BOUND)


def main() -> None:
    """Print all ratios."""
    count = arguments(__doc__, leads=USUAL).leads
    leads = sorted({(2 * each + 1) * 256 // (2 * count) for each in range(count)})
    grid = plan_named("exhaustive-4").grids[3]
    print(f"strings of four octets, {len(leads)} leading octets, {len(leads) * EACH:,} strings a loop; CPU time")
    with tempfile.TemporaryDirectory() as name:
        library = built(Path(name))
        for asked in functions(library, Path(name)):
            abi = ABIS[asked.abi]
            started = time.perf_counter()
            expected = ExpectedAnswers(dialect().automaton, "D" if abi.units else "V", abi.units, True, False)  # noqa: FBT003
            loop = GridLoop(abi, [address(asked.function)], expected, dialect().layout)
            print(f"{asked.name:10} compiled or loaded in {time.perf_counter() - started:.2f} s")
            compare(asked, library, loop, grid, leads)
            placed(asked, loop)


if __name__ == "__main__":
    main()
