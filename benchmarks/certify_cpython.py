"""What certifying costs: ``overlong certify cpython`` against a bare loop over the same strings.

Both run in one process run, in turn, several times; the figures are ratios of wall time. The loop decodes
each string once. The certificate decodes each twice (strictly and replacing), in a worker process, sends
octets there and answers back, and compares verdict, scalar values, error position and replacement.
Bound: 4.

    python benchmarks/certify_cpython.py [ROUNDS]
"""

from __future__ import annotations

import statistics
import subprocess
import sys

from overlong.conformance import certify
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.vectors.suites import SUITES
from runner import arguments, bare_loop, ratios, spread, timed, turns

NAMES = [name for name, suite in SUITES.items() if set(suite.asks) & set(VALIDATE + DECODE + REPLACE)]
BOUND = 4.0
START_UP_BOUND = 0.3


def certified() -> None:
    """From naming the target to the verdict, start of the worker included."""
    assert certify("cpython", suites=NAMES).conformant


def start_up() -> None:
    """``overlong --help``."""
    subprocess.run([sys.executable, "-m", "overlong", "--help"], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    """Print the ratios."""
    rounds = arguments(__doc__, rounds=9).rounds
    first = timed(certified)  # compiles the grammar and makes the suites; the others find them made
    strings = [vector.octets for name in NAMES for batch in SUITES[name].batches() for vector in batch]
    taken = turns(rounds, {"certify": lambda: timed(certified), "loop": lambda: bare_loop(strings)})
    loop = statistics.median(taken["loop"])
    helps = [timed(start_up) for _ in range(rounds)]
    print(f"{len(strings):,} strings, bare loop {loop:.3f} s")
    print(f"certify / loop: {spread(ratios(taken['certify'], taken['loop']))} (bound {BOUND})")
    print(f"the first in its process: {first / loop:.2f}")
    print(f"overlong --help: median {statistics.median(helps):.3f} s (bound {START_UP_BOUND} s)")


if __name__ == "__main__":
    main()
