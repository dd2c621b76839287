"""The speed of the oracle, compared with a shift automaton in C and with decoders that are written for speed.

The benchmark compiles the C loops with gcc, and with clang if it is installed: with ``-O3``, and again with
``-march=native``. Their rows are those of
:mod:`overlong.reference.tables`. simdutf8 is the Rust crate, built by cargo; Node.js uses simdutf for ``isUtf8``. A
missing peer is left out and named.

Each text is one piece of a mebioctet: ASCII; characters of one to four octets, mixed; or CJK, three octets each. All
contenders take turns, in CPU time. The output has medians: gigabytes a second, and the ratios of each round. Bounds:
the verdict runs at least at 0.9 times the speed of each C loop, and on mixed text at a third of simdutf's; numbers run
at least at 0.9 times the speed of ``gcc -O3``. That C loop reads the octets once and writes into memory that it has.
The oracle reads them twice and allocates its output, which is dropped before the next turn, so that memory is reused.

    python benchmarks/oracle.py [ROUNDS]
"""

from __future__ import annotations

import ctypes
import random
import shutil
import statistics
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.reference.decoder import encode_scalars
from overlong.reference.dialect import dialect
from overlong.reference.native import oracle
from runner import arguments, figure, ratios, simdutf8, timed, turns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Contender = Callable[[int], float]  # the number of turns, and their CPU seconds

SIZE = 1 << 20
TURNS = 10
C_BOUND, SIMD_BOUND = 0.9, 1 / 3

C_SOURCE = """
#include <stddef.h>
#include <stdint.h>
static const uint64_t rows[256] = {ROWS};
static const uint32_t bits[256] = {BITS}, tail[256] = {TAIL};
static uint32_t numbers[SIZE];

int verdict(const uint8_t *octets, size_t size) {
    uint64_t state = 0;
    for (size_t i = 0; i < size; i++) state = rows[octets[i]] >> (state & 63);
    return (state & 63) == 0;
}

int decode(const uint8_t *octets, size_t size) {
    uint64_t state = 0;
    uint32_t number = 0;
    size_t count = 0;
    for (size_t i = 0; i < size; i++) {
        uint8_t octet = octets[i];
        state = rows[octet] >> (state & 63);
        number = (tail[octet] ? number << tail[octet] : 0) | bits[octet];
        numbers[count] = number;
        count += (state & 63) == 0;
    }
    return (state & 63) == 0 ? (int)count : -1;
}
"""
NODE_SOURCE = """
const { isUtf8 } = require("node:buffer"), octets = require("node:fs").readFileSync(process.argv[1]);
require("node:readline").createInterface({ input: process.stdin }).on("line", (turns) => {
    const before = process.cpuUsage();
    for (let turn = 0; turn < turns; turn++) if (!isUtf8(octets)) throw new Error("refused");
    const used = process.cpuUsage(before);
    console.log((used.user + used.system) / 1e6);
});
"""


def texts() -> dict[str, bytes]:
    """The texts, the same on every machine."""
    rows, draw = dialect().layout.rows, random.Random(3629)  # noqa: S311 (the same text every time)
    accepts = dialect().automaton.accepts
    pools = [[n for n in row.numbers[:: max(1, len(row.numbers) >> 10)] if accepts(row.octets(n))] for row in rows]

    def of(pick: Callable[[], int]) -> bytes:
        octets, size = list[bytes](), 0
        while size < SIZE:
            octets.append(encode_scalars([pick()]))
            size += len(octets[-1])
        return b"".join(octets)

    return {
        "ascii": of(lambda: draw.choice(pools[0])),
        "mixed": of(lambda: draw.choice(draw.choice(pools))),
        "cjk": of(lambda: draw.randrange(0x4E00, 0xA000)),
    }


def repeated(call: Callable[[], object]) -> Contender:
    """The contenders that use CPU time of this process."""

    def all_turns(count: int) -> None:
        for _ in range(count):
            call()

    return lambda count: timed(lambda: all_turns(count), time.process_time)


def c_loops(folder: Path) -> dict[str, ctypes.CDLL]:
    """The C loops, by compiler and options."""
    spoken = dialect()
    begins = [to != spoken.automaton.dead for to in spoken.automaton.table[0]]
    leads = [spoken.layout.announced(octet) for octet in range(256)]
    last = spoken.layout.rows[-1].templates[-1]
    bits = [row.templates[0].bits(octet) if row else last.bits(octet) for octet, row in enumerate(leads)]
    tail = [0 if begin else last.free for begin in begins]
    table = spoken.automaton.table  # six bits for a state, so that a step needs no mask: faster than ours, of four
    rows = [sum(6 * row[octet] << 6 * state for state, row in enumerate(table)) for octet in range(256)]
    source = C_SOURCE
    for word, numbers in (("ROWS", rows), ("BITS", bits), ("TAIL", tail)):
        source = source.replace(word, ", ".join(f"{number}u" for number in numbers))
    (folder / "loops.c").write_text(source.replace("SIZE", str(SIZE + 8)), "ascii")
    found: dict[str, ctypes.CDLL] = {}
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            print(f"left out: {compiler} is not on the path")
            continue
        for options in (["-O3"], ["-O3", "-march=native"]):
            library = folder / f"{compiler}{len(options)}.so"
            command = [compiler, *options, "-shared", "-fPIC", "-o", str(library), str(folder / "loops.c")]
            subprocess.run(command, check=True)
            found[" ".join([compiler, *options])] = ctypes.CDLL(str(library))
    return found


def accepted(function: Callable[..., int], octets: bytes) -> Contender:
    """A validating function of a library; it must accept the text."""
    assert function(octets, ctypes.c_size_t(len(octets))) > 0
    return repeated(lambda: function(octets, ctypes.c_size_t(len(octets))))


def node(octets: bytes, folder: Path) -> tuple[subprocess.Popen[str], Contender]:
    """Node.js, which measures its own time."""
    (folder / "text").write_bytes(octets)
    process = subprocess.Popen(
        ["node", "-e", NODE_SOURCE, str(folder / "text")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )

    def turns(count: int) -> float:
        assert process.stdin is not None
        assert process.stdout is not None
        print(count, file=process.stdin, flush=True)
        return float(process.stdout.readline())

    return process, turns


def compare(
    name: str, size: int, ours: Contender, others: Mapping[str, tuple[Contender, float | None]], rounds: int
) -> None:
    """Print the speeds, and the ratios of ours to the others' with their bounds."""
    contenders = {"oracle": ours, **{other: contender for other, (contender, _) in others.items()}}
    seconds = turns(rounds, {each: partial(contender, TURNS) for each, contender in contenders.items()}, warm=1)
    for each, all_taken in seconds.items():
        print(f"{name}, {each}: {size * TURNS / statistics.median(all_taken) / 1e9:.2f} GB/s")
    for other, (_, bound) in others.items():
        speeds = ratios(seconds[other], seconds["oracle"])
        figure(f"{name}: oracle, as fast as {other}", speeds, at_least=bound)


def main() -> None:
    """Print speeds and ratios."""
    rounds = arguments(__doc__, rounds=9).rounds
    spoken = oracle()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        loops, crate = c_loops(folder), simdutf8(folder)
        if shutil.which("node") is None:
            print("left out: node is not on the path, so there is no simdutf")
        for text, octets in texts().items():
            simd_bound = SIMD_BOUND if text == "mixed" else None
            others: dict[str, tuple[Contender, float | None]] = {
                loop: (accepted(library.verdict, octets), C_BOUND) for loop, library in loops.items()
            }
            if crate is not None:
                others["simdutf8"] = accepted(crate.verdict, octets), simd_bound
            process: subprocess.Popen[str] | None = None
            if shutil.which("node") is not None:
                process, contender = node(octets, folder)
                others["simdutf"] = contender, simd_bound
            assert spoken.is_well_formed(octets)
            compare(f"verdict, {text}", len(octets), repeated(lambda: spoken.is_well_formed(octets)), others, rounds)  # noqa: B023
            if process is not None:
                process.communicate()
            decoders = {
                loop: (accepted(library.decode, octets), C_BOUND if loop == "gcc -O3" else None)
                for loop, library in loops.items()
            }
            assert spoken.decode_scalars(octets).tolist() == list(map(ord, octets.decode()))
            compare(f"numbers, {text}", len(octets), repeated(lambda: spoken.decode_scalars(octets)), decoders, rounds)  # noqa: B023


if __name__ == "__main__":
    main()
