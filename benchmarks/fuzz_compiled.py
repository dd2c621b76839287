# pyright: basic
"""The cost of a campaign on C functions, on one core: alone, three one after the other, and beside libFuzzer.

Three validators in C, each written another way from the same tables, compiled with ``-O2``. Printed are, turn by turn
and as a median:

* executions a second of the compiled loop with each of them: inputs made, read by the oracle, asked and judged, in CPU
  time of this process; the same with a function that does nothing; and of the engine, sandbox and all, by the clock;
* inputs a second for which all three are asked and judged, one after the other on one core;
* inputs a second of ``libfuzzer_three.cc``, built by clang with ``-O2 -fsanitize=fuzzer``, that compares the three with
  a table-driven reference, in CPU time, from a small corpus; and the ratio. Left out, and said so, without clang.

It prints figures and gives no verdict. Bounds of the project: 5 million executions a second; 3 times libFuzzer.

    python benchmarks/fuzz_compiled.py [INPUTS]     (of a turn; usually 2 000 000)
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from overlong.conformance.oracle.target import ExpectedAnswers
from overlong.conformance.sweep.request import PROGRESS_OCTETS, Progress
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.fuzz.engines.compiled import InputLoop
from overlong.fuzz.engines.executor import Executor, inputs_from
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.engines.probe import Probe
from overlong.fuzz.generated import Generated
from overlong.reference.dialect import dialect
from runner import arguments, figure, load, of_children, ratios, timed

USUAL, TURNS = 2_000_000, 5
EXECUTIONS, LIBFUZZER = 5.0, 3.0  # bounds: million executions a second, and times libFuzzer
ABI = "bool(ptr,len)"
THREE = ("first", "second", "third")
HARNESS = Path(__file__).with_name("libfuzzer_three.cc")
HEADER = r"""
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef LINKAGE
#define LINKAGE static
#endif
%(tables)s
/* A table of states by octets. */
LINKAGE bool first(const uint8_t *s, size_t n) {
  size_t state = 0;
  for (size_t k = 0; k < n; k++) state = table[state][s[k]];
  return accepting[state];
}

/* Classes of octets, and an end as soon as nothing can follow. */
LINKAGE bool second(const uint8_t *s, size_t n) {
  unsigned state = 0;
  for (size_t k = 0; k < n; k++) {
    state = by_class[state][class_of[s[k]]];
    if (state == DEAD) return false;
  }
  return accepting[state];
}

/* A character at a time: one octet, or as many as its states take. */
LINKAGE bool third(const uint8_t *s, size_t n) {
  const uint8_t *end = s + n;
  while (s < end) {
    unsigned state = table[0][*s++];
    while (state != 0) {
      if (state == DEAD || s == end) return false;
      state = table[state][*s++];
    }
  }
  return true;
}

LINKAGE bool reference(const uint8_t *s, size_t n) {
  unsigned state = 0;
  for (size_t k = 0; k < n; k++) state = table[state][s[k]];
  return accepting[state];
}

LINKAGE bool nothing(const uint8_t *s, size_t n) { return (void)s, (void)n, true; }
"""


def write_header(folder: Path) -> None:
    """The validators, with the tables of RFC 3629's automaton."""
    automaton = dialect().automaton
    classes = [next(n for n, each in enumerate(automaton.classes) if octet in each.octets) for octet in range(256)]
    by_class = [[row[each.least] for each in automaton.classes] for row in automaton.table]

    def rows(name: str, table: list[list[int]]) -> str:
        inner = ",".join("{" + ",".join(map(str, row)) + "}" for row in table)
        return f"static const uint8_t {name}[][{len(table[0])}] = {{{inner}}};"

    tables = [
        rows("table", [list(row) for row in automaton.table]),
        rows("by_class", by_class),
        f"static const uint8_t class_of[] = {{{','.join(map(str, classes))}}};",
        f"static const uint8_t accepting[] = {{{','.join(str(int(each)) for each in automaton.accepting)}}};",
        f"enum {{ DEAD = {automaton.dead} }};",
    ]
    (folder / "validators.h").write_text(HEADER % {"tables": "\n".join(tables)}, "ascii")


def built(folder: Path) -> Path:
    """The library of the functions."""
    (folder / "validators.c").write_text('#define LINKAGE\n#include "validators.h"\n', "ascii")
    library = folder / "validators.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", folder / "validators.c", "-o", library], check=True)
    return library


class Alone:
    """The compiled loop with one function, in this process."""

    def __init__(self, library: ctypes.CDLL, symbol: str) -> None:
        spoken = dialect()
        expected = ExpectedAnswers(spoken.automaton, "V", "", offsets=True, strips_signature=False)
        address = ctypes.cast(library[symbol], ctypes.c_void_p).value or 0
        self._loop = InputLoop(ABIS[ABI], [address], expected, spoken.layout)
        self._progress = Progress(bytearray(PROGRESS_OCTETS))
        self.octets, self.agrees = 0, True

    def seconds(self, inputs: Generated, first: int, count: int) -> float:
        """The CPU time for a number of inputs."""
        self._progress.begin(first)
        kinds = bytearray(count)
        taken = timed(lambda: self._loop.run(inputs, first + count, self._progress, kinds, first), time.process_time)
        self.octets, self.agrees = self._progress.sums["octets"], not any(kinds)
        return taken


class LibFuzzer:
    """The harness; its corpus is made anew for each turn."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._program = folder, folder / "three"
        words: list[str | Path] = ["clang++", "-O2", "-fsanitize=fuzzer", "-I", folder, HARNESS, "-o", self._program]
        subprocess.run(words, check=True, capture_output=True)

    def seconds(self, seed: int, count: int) -> float:
        """The CPU time for a number of inputs."""
        corpus = self._folder / f"corpus-{seed}"
        corpus.mkdir()
        for number in (*range(0x41, 0x60), 0xE9, 0x20AC, 0x1F600):
            (corpus / f"{number}").write_bytes((dialect().layout.encode(number) or b"") * 3)
        before = of_children()
        words: list[str | Path] = [self._program, f"-runs={count}", f"-seed={seed}", "-verbosity=0", corpus]
        subprocess.run(words, check=True, capture_output=True, cwd=self._folder)
        return of_children() - before


def shown(name: str, count: int, seconds: list[float], bound: float | None = None) -> list[float]:
    """Put down millions a second of all turns, and return them."""
    rates = [count / each / 1e6 for each in seconds]
    figure(f"campaign on C, {name}", rates, "million a second", at_least=bound)
    return rates


def main() -> None:
    """Print all figures."""
    count = arguments(__doc__, inputs=USUAL).inputs
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_header(folder)
        path = built(folder)
        library, inputs = ctypes.CDLL(str(path)), Generated(1)
        alone = {symbol: Alone(library, symbol) for symbol in (*THREE, "nothing")}
        native = LibFuzzer(folder) if shutil.which("clang++") else None
        target = f"so:{path}:first?abi={ABI}"
        engine = Executor(CampaignJob((target,), 1), Probe(target), Generated(1))
        engine.kinds(0, 4096)
        assert engine.in_process is not None
        ours = {symbol: list[float]() for symbol in alone}
        clock, theirs, agree = list[float](), list[float](), True
        for turn in range(TURNS):
            for symbol, each in alone.items():
                ours[symbol].append(each.seconds(inputs, turn * count, count))
                agree &= symbol == "nothing" or each.agrees
            clock.append(engine.in_process.run(inputs_from(turn * count, min(count, 1 << 24))).seconds)
            if native is not None:
                theirs.append(native.seconds(turn + 1, count))
        engine.close()
        octets = alone["nothing"].octets / count
        print(f"{count:,} inputs a turn, {octets:.1f} octets each; load of the machine {load():.1f}")
        for symbol, seconds in ours.items():
            shown(f"loop, CPU time: {symbol}", count, seconds, EXECUTIONS)
        shown("engine in its sandbox, by the clock", min(count, 1 << 24), clock)
        apart: list[float] = [sum(each) for each in zip(*(ours[symbol] for symbol in THREE), strict=True)]
        three = shown("loop, CPU time: all three", count, apart)
        if native is None:
            print("libFuzzer is left out: clang++ is not on the path")
        else:
            beside = shown("libFuzzer, CPU time: all three", count, theirs)
            figure("campaign on three C functions, as fast as libFuzzer", ratios(three, beside), at_least=LIBFUZZER)
        print("all validators agree with the oracle" if agree else "A VALIDATOR DIFFERS: the figures are worth nothing")


if __name__ == "__main__":
    main()
