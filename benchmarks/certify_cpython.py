"""What certifying costs: ``overlong certify cpython`` against a bare loop over the same strings.

Both run in one process run, in turn, several times; the figures are ratios of wall time. The loop decodes
each string once. The certificate decodes each twice (strictly and replacing), in two worker processes, sends
octets there and answers back, and compares verdict, scalar values, error position and replacement. So it keeps two
cores busy, which slow each other down on many machines: a second process runs the loop, too, while one is timed.
The workers' part is also measured alone, in this process: cut each batch, decode its strings twice, and put the
answers into columns. Bounds: 3.5, and 4.5 for the first in its process, which compiles the grammar and makes the
suites, and is measured in three processes. The suite of mixtures has few strings, but long ones; the time to draw them
and to work out their answers, once in a process, is a figure of its own.

    python benchmarks/certify_cpython.py [ROUNDS]
"""

from __future__ import annotations

import multiprocessing
import struct
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING

from overlong.conformance import certify
from overlong.conformance.protocol.wire import DECODE, REPLACE, UNITS, VALIDATE
from overlong.conformance.targets.adapters.cpython import Strict
from overlong.conformance.targets.adapters.serving import batch_response, pieces
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.suites.mixtures import MIXTURES
from runner import arguments, bare_loop, figure, ratios, spread, timed, turns

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = [
    name for name, suite in SUITES.items() if set(suite.asks) & set(VALIDATE + DECODE + REPLACE) and suite != MIXTURES
]
BOUND, FIRST_BOUND = 3.5, 4.5
FIRST = 3
"""The processes whose first certificate is timed."""
START_UP_BOUND = 0.3


def certified() -> None:
    """From naming the target to the verdict, start of the worker included."""
    assert certify("cpython", suites=NAMES).conformant


def first_certified(_: int) -> float:
    """Seconds of the first certificate of a process."""
    return timed(certified)


def loop_beside_another(strings: Sequence[bytes]) -> float:
    """Seconds of a bare loop while another process runs it, too."""
    other = multiprocessing.get_context("fork").Process(target=_loops, args=[strings], daemon=True)
    other.start()
    try:
        bare_loop(strings[: len(strings) // 8])  # until the other has begun
        return bare_loop(strings)
    finally:
        other.kill()
        other.join()


def _loops(strings: Sequence[bytes]) -> None:
    while True:
        bare_loop(strings)


def answered(payloads: list[bytes]) -> None:
    """The worker's part without its start and its pipes, for batches in the form of the wire."""
    for payload in payloads:
        items = pieces(payload)
        for operation in (Strict.operations["D"], Strict.operations["L"]):
            batch_response(operation, items, len(payload))


def mixed() -> None:
    """Draw the mixtures, and work out the answers to them."""
    for batch in MIXTURES.batches():
        batch.expected(REPLACE, UNITS["utf-32"])


def start_up() -> None:
    """``overlong --help``."""
    subprocess.run([sys.executable, "-m", "overlong", "--help"], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Print the ratios."""
    rounds = arguments(__doc__, rounds=9).rounds
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as fresh:
        first = list(fresh.map(first_certified, range(FIRST)))
    certified()  # the others find the suites made
    batches = [batch for name in NAMES for batch in SUITES[name].batches()]
    strings = [vector.octets for batch in batches for vector in batch]
    payloads = [struct.pack(">I", len(batch)) + batch.lengths_on_wire(DECODE) + batch.octets for batch in batches]
    contenders = {
        "certify": lambda: timed(certified),
        "harness": lambda: timed(certified, time.process_time),
        "worker": lambda: timed(lambda: answered(payloads), time.process_time),
        "loop": lambda: loop_beside_another(strings),
        "loop in CPU seconds": lambda: timed(lambda: bare_loop(strings), time.process_time),
    }
    taken = turns(rounds, contenders)
    mixtures = timed(mixed)
    helps = [timed(start_up) for _ in range(rounds)]
    print(f"{len(strings):,} strings, bare loop: seconds, {spread(taken['loop'])}")
    figure("certify cpython / bare loop", ratios(taken["certify"], taken["loop"]), at_most=BOUND)
    in_first = [each / loop for each in first for loop in taken["loop"]]
    figure("the first in its process / bare loop", in_first, at_most=FIRST_BOUND)
    loops = taken["loop in CPU seconds"]
    figure("to cut, decode twice and answer / bare loop, in CPU seconds", ratios(taken["worker"], loops))
    figure("the harness / bare loop, in CPU seconds", ratios(taken["harness"], loops))
    figure("mixtures and their answers", [mixtures], "s")
    figure("overlong --help", helps, "s", at_most=START_UP_BOUND)


if __name__ == "__main__":
    main()
