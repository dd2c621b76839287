"""The cost of being wrong everywhere: ``certify`` of such decoders, in multiples of the time for right ones.

Each wrong decoder is compared with the right one of its kind, which has the same adapter and speed. They run in turn,
several times, in one process; the figures are medians of ratios of wall time. There are no sweeps, which have another
judge. Bound: 2. Most miss it: two processes answer sooner than the judge examines wrong answers. It handles answers to
well-formed strings in whole batches, about a microsecond each; but it examines 18,000 divergences among ill-formed
strings and streams singly, writes 12,000 of them, and learns the dialect of the wrong decoder, which a right one does
not need.

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
    "refuses_all": ("right_validator", 3.4),
    "accepts_all": ("right_validator", None),
    "latin_1": ("right_decoder", 9.5),
    "refuses_all_at_0": ("right_decoder", 6.5),
}
"""The right decoder for each; and the ratio so far, if the bound is missed."""
BOUND = 2.0


def seconds(name: str, suites: list[str] | None) -> float:
    """The time to certify it, including the writing of results."""
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
