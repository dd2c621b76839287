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
import time

from overlong.conformance import certify
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.vectors.suites import SUITES

NAMES = [name for name, suite in SUITES.items() if set(suite.asks) & set(VALIDATE + DECODE + REPLACE)]
BOUND = 4.0
START_UP_BOUND = 0.3


def bare_loop(strings: list[bytes]) -> float:
    """Seconds for ``bytes.decode`` of each string."""
    started = time.perf_counter()
    for octets in strings:
        try:
            octets.decode("utf-8")
        except UnicodeDecodeError:
            pass
    return time.perf_counter() - started


def certified() -> float:
    """Seconds from naming the target to the verdict, start of the worker included."""
    started = time.perf_counter()
    assert certify("cpython", suites=NAMES).conformant
    return time.perf_counter() - started


def start_up() -> float:
    """Seconds for ``overlong --help``."""
    started = time.perf_counter()
    subprocess.run([sys.executable, "-m", "overlong", "--help"], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def main() -> None:
    """Print the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    first = certified()  # compiles the grammar and makes the suites; the others find them made
    strings = [vector.octets for name in NAMES for batch in SUITES[name].batches() for vector in batch]
    pairs = [(certified(), bare_loop(strings)) for _ in range(rounds)]
    ratios = sorted(certificate / loop for certificate, loop in pairs)
    loop = statistics.median(seconds for _, seconds in pairs)
    helps = sorted(start_up() for _ in range(rounds))
    print(f"{len(strings):,} strings, bare loop {loop:.3f} s")
    print(
        f"certify / loop: median {statistics.median(ratios):.2f}, {ratios[0]:.2f} to {ratios[-1]:.2f} (bound {BOUND})"
    )
    print(f"the first in its process: {first / loop:.2f}")
    print(f"overlong --help: median {statistics.median(helps):.3f} s (bound {START_UP_BOUND} s)")


if __name__ == "__main__":
    main()
