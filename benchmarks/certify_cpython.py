"""What certifying costs: ``overlong certify cpython`` against a bare loop over the same strings.

Both run in one process run, in turn, several times; the figures are ratios of wall time. The loop decodes
each string once. The certificate decodes each twice (strictly and replacing), in a worker process, sends
octets there and answers back, and compares verdict, scalar values, error position and replacement.
Bounds: 3.5, and 4.5 for the first in its process, which compiles the grammar and makes the suites.

    python benchmarks/certify_cpython.py [ROUNDS]
"""

from __future__ import annotations

import subprocess
import sys

from overlong.conformance import certify
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.vectors.suites import SUITES
from runner import arguments, bare_loop, figure, ratios, spread, timed, turns

NAMES = [name for name, suite in SUITES.items() if set(suite.asks) & set(VALIDATE + DECODE + REPLACE)]
BOUND, FIRST_BOUND = 3.5, 4.5
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
    helps = [timed(start_up) for _ in range(rounds)]
    print(f"{len(strings):,} strings, bare loop: seconds, {spread(taken['loop'])}")
    # 5.3 before some strings were asked again by themselves: 1,600 requests of one string each
    figure("certify cpython / bare loop", ratios(taken["certify"], taken["loop"]), at_most=BOUND, so_far=6.9)
    in_first = [first / loop for loop in taken["loop"]]
    figure("the first in its process / bare loop", in_first, at_most=FIRST_BOUND, so_far=6.5)
    figure("overlong --help", helps, "s", at_most=START_UP_BOUND)


if __name__ == "__main__":
    main()
