"""What being wrong everywhere costs: ``certify`` of decoders that are, as multiples of what right ones take.

Each wrong one is held against the right one of its kind, which the same adapter calls, and which answers in about as
long. They run in turn, several times, in one process; the figures are medians of ratios of wall time. No sweeps: these
are another judge's. Bound: 2. Of decoders that put out text it is missed. Answers to well-formed strings are told apart
and digested for whole batches, about a microsecond each; but 18,000 that diverge among ill-formed strings and streams
are looked at singly, 12,000 are written out, and what dialect a wrong decoder speaks is learned, which none asks of a
right one.

    python benchmarks/certify_wrong.py [ROUNDS [SUITE ...]]
"""

from __future__ import annotations

import tempfile
import time
from functools import partial
from pathlib import Path

from overlong.conformance import certify
from runner import arguments, figure, ratios, spread, turns

DECODERS = Path(__file__).with_name("wrong_everywhere.py")
PAIRS = {
    "refuses_all": ("right_validator", 2.5),
    "accepts_all": ("right_validator", None),
    "latin_1": ("right_decoder", 8.0),
    "refuses_all_at_0": ("right_decoder", 5.0),
}
"""The right one beside each; and what the ratio is so far, where the bound is missed."""
BOUND = 2.0


def seconds(name: str, suites: list[str] | None) -> float:
    """How long it takes to certify it, results written out."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        certify(f"py:{DECODERS}:{name}", suites=suites, sweeps=(), output=Path(folder) / "results")
        return time.perf_counter() - started


def main() -> None:
    """Print the ratios."""
    given = arguments(__doc__, rounds=3, suites=())
    suites = list(given.suites) or None
    seconds("right_validator", ["core"])  # compiles the grammar
    for wrong, (right, so_far) in PAIRS.items():
        taken = turns(given.rounds, {name: partial(seconds, name, suites) for name in (wrong, right)})
        print(f"{right}: seconds, {spread(taken[right])}")
        figure(f"{wrong} / {right}", ratios(taken[wrong], taken[right]), at_most=BOUND, so_far=so_far)


if __name__ == "__main__":
    main()
