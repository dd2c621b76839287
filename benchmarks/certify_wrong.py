"""The cost of being wrong everywhere: ``certify`` of such decoders, in multiples of the time for right ones.

Each wrong decoder is compared with the right one of its kind, which has the same adapter and speed. Both are certified
as a user does it, in turn; the figures are medians of ratios of CPU seconds, of harness and target together. Bound: 2.

Suites alone take up to nine times as long: the judge handles answers to well-formed strings in whole batches, but it
examines 18,000 divergences among ill-formed strings singly, and learns the dialect, which a right decoder does not
need. Sweeps outweigh that, and are shorter for a wrong decoder.

    python benchmarks/certify_wrong.py [ROUNDS [quick|default|both]]
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import partial
from pathlib import Path

from overlong.conformance.support.process import module
from runner import arguments, figure, of_children, ratios, spread, turns

DECODERS = Path(__file__).with_name("wrong_everywhere.py")
PAIRS = {
    "refuses_all": "right_validator",
    "accepts_all": "right_validator",
    "latin_1": "right_decoder",
    "refuses_all_at_0": "right_decoder",
}
"""The right decoder for each."""
BOUND = 2.0
WORDS = {"quick": ["--quick"], "default": []}


def seconds(name: str, words: list[str]) -> float:
    """CPU seconds to certify it, including the writing of results."""
    with tempfile.TemporaryDirectory() as folder:
        before = of_children()
        command = module("overlong", "certify", *words, "-q", "-o", folder, f"py:{DECODERS}:{name}")
        subprocess.run(command, check=False, capture_output=True)
        return of_children() - before


def main() -> None:
    """Print the ratios."""
    given = arguments(__doc__, rounds=3, how="both")
    for how, words in WORDS.items() if given.how == "both" else [(given.how, WORDS[given.how])]:
        for wrong, right in PAIRS.items():
            taken = turns(given.rounds, {name: partial(seconds, name, words) for name in (wrong, right)})
            print(f"{right}: CPU seconds, {spread(taken[right])}")
            said = f"{how}: {wrong} / {right}, in CPU seconds"
            figure(said, ratios(taken[wrong], taken[right]), at_most=BOUND)


if __name__ == "__main__":
    main()
