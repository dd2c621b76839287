"""What being wrong everywhere costs: ``certify`` of decoders that are, as multiples of what right ones take.

Each wrong one is held against the right one of its kind, which the same adapter calls, and which answers in about as
long. They run in turn, several times, in one process; the figures are medians of ratios of wall time. No sweeps: these
are another judge's. Bound: 2.

    python benchmarks/certify_wrong.py [ROUNDS [SUITE ...]]
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from overlong.conformance import certify

DECODERS = Path(__file__).with_name("wrong_everywhere.py")
PAIRS = {
    "refuses_all": "right_validator",
    "accepts_all": "right_validator",
    "latin_1": "right_decoder",
    "refuses_all_at_0": "right_decoder",
}
BOUND = 2.0


def seconds(name: str, suites: list[str] | None) -> float:
    """How long it takes to certify it, results written out."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        certify(f"py:{DECODERS}:{name}", suites=suites, sweeps=(), output=Path(folder) / "results")
        return time.perf_counter() - started


def main() -> None:
    """Print the ratios."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    suites = sys.argv[2:] or None
    seconds("right_validator", ["core"])  # compiles the grammar
    for wrong, right in PAIRS.items():
        pairs = [(seconds(wrong, suites), seconds(right, suites)) for _ in range(rounds)]
        ratio = statistics.median(first / second for first, second in pairs)
        took = statistics.median(second for _, second in pairs)
        print(f"{wrong}: {ratio:.2f} times {right} ({took:.1f} s); bound {BOUND}")


if __name__ == "__main__":
    main()
