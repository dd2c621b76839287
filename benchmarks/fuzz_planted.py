"""Planted bugs: the engine must find each within a minute of one core, as one finding, and none in correct decoders.

Each bug of ``planted/bugs.py`` is fuzzed alone by the engine that campaigns use, until it is found and for some
seconds more; divergences are examined and put into buckets as in a campaign. A run is one bug with one seed.
Bounds: found within 60 s; exactly one bucket in 95 % of the runs; nothing found in 10 million inputs for right ones.

    python benchmarks/fuzz_planted.py [--quick] [--seeds N] [--more SECONDS] [--right INPUTS] [NAME ...]

``--quick``: every 14th bug, one seed, 200 000 inputs for two right ones. Exits with 1 if a bound is not met.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.targets.limits import Limits
from overlong.fuzz.campaign.examiner import Probing
from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.generated import BLOCK
from planted.bugs import bugs, right
from planted.tables import build
from runner import figure

if TYPE_CHECKING:
    from overlong.fuzz.campaign.state import StoredFinding
    from overlong.fuzz.engines.job import Fingerprint
    from planted.bugs import Bug

SECONDS, SHARE = 60.0, 0.95
_FIRST, _MOST = BLOCK, 64 * BLOCK  # inputs of a unit, which doubles while nothing is found
_SOME = 14  # one of so many bugs, if it is to be quick
_FINGERPRINTS = 12  # that are examined in a run
_LIMITS = Limits(timeout=1.0)


@dataclass
class Run:
    """One bug with one seed."""

    bug: Bug
    seed: int
    inputs: int = 0
    """The seconds until it was found, or all."""
    seconds: float = 0.0
    buckets: dict[str, StoredFinding] = field(default_factory=dict[str, "StoredFinding"])

    @property
    def found(self) -> bool:
        return bool(self.buckets)

    def line(self) -> str:
        """A row of the table."""
        if not self.found:
            return f"{self.bug.name:<24} {self.seed:>2}  NOT FOUND in {self.inputs:,} inputs, {self.seconds:.1f} s"
        words = f"{self.bug.name:<24} {self.seed:>2} {self.inputs:>9,} {self.seconds:>6.1f} s {len(self.buckets):>2}"
        (name, least), *others = self.buckets.items()
        text = f"{words}  {described(name, least)}"
        return "\n".join((text, *(f"{'':<24} also {described(*other)}" for other in others)))


def described(name: str, least: StoredFinding) -> str:
    """A bucket: its id, code, condition and least input."""
    return f"{name} {least.operation} {least.code} {least.where}: {spaced_hex(least.octets)}"


def run(bug: Bug, seed: int, more: float) -> Run:
    """Fuzz it until it is found, and for some seconds more."""
    result = Run(bug, seed)
    job = CampaignJob((bug.target,), seed, limits=_LIMITS)
    engine, examiner = open_engine(job), Probing(job)
    seen: set[Fingerprint] = set()
    first, count = 0, _FIRST
    began = time.monotonic()
    found = None
    try:
        while time.monotonic() < (found + more if found is not None else began + SECONDS):
            ran = engine.run(range(first, first + count))
            first += count
            if ran.divergences and found is None:
                found = time.monotonic()
                result.seconds, result.inputs = found - began, min(each.index for each in ran.divergences) + 1
            for divergence in ran.divergences:
                if divergence.fingerprint not in seen and len(seen) < _FINGERPRINTS:
                    seen.add(divergence.fingerprint)
                    known = list(result.buckets.values())
                    examined = examiner.joined(divergence, known) or examiner.examine(divergence, known)
                    if not isinstance(examined, str):
                        result.buckets.setdefault(examined.id, examined)
            count = min(2 * count, _MOST)
    finally:
        engine.close()
        examiner.close()
    if found is None:
        result.inputs, result.seconds = first, time.monotonic() - began
    return result


def found_in_right(bug: Bug, inputs: int) -> int:
    """The number of divergences in a right decoder, which should be none."""
    engine = open_engine(CampaignJob((bug.target,), limits=_LIMITS))
    began = time.monotonic()
    wrong = 0
    try:
        for first in range(0, inputs, _MOST):
            wrong += engine.run(range(first, min(first + _MOST, inputs))).counts.total()
    finally:
        engine.close()
    print(f"{bug.name:<24} {inputs:>12,} inputs {time.monotonic() - began:>6.1f} s  divergences: {wrong}", flush=True)
    return wrong


def main() -> int:
    """Print the table and the result."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--more", type=float, default=1.0, metavar="SECONDS")
    parser.add_argument("--right", type=int, default=10_000_000, metavar="INPUTS")
    options = parser.parse_args()
    names: list[str] = options.names
    seeds, more, inputs = (1, 0.3, 200_000) if options.quick else (options.seeds, options.more, options.right)
    chosen = [bug for bug in bugs() if not names or bug.name in names]
    with tempfile.TemporaryDirectory() as folder:
        build(Path(folder))
        os.chdir(folder)  # so that targets have the same names, and buckets the same ids, each time
        runs: list[Run] = []
        print("bug, seed, inputs and seconds until found, buckets: the first, its least input")
        for bug in chosen[::_SOME] if options.quick and not names else chosen:
            for seed in range(seeds):
                runs.append(run(bug, seed, more))
                print(runs[-1].line(), flush=True)
        one = sum(len(each.buckets) == 1 for each in runs)
        late = [each for each in runs if not each.found or each.seconds > SECONDS]
        print(f"{len(runs)} runs: found within {SECONDS:g} s: {len(runs) - len(late)}; exactly one bucket: {one}")
        figure(f"{len(runs)} planted bugs, each until found", [each.seconds for each in runs], "s", at_most=SECONDS)
        figure("planted bugs that make one bucket", [100 * one / len(runs)], "%", at_least=100 * SHARE)
        # those in Python, and streams, are asked a hundredth: all that pass through pipes
        wrong = 0
        for bug in list(right())[:: 4 if options.quick else 1] if not names else ():
            wrong += found_in_right(bug, inputs if bug.abi and "stream" not in bug.abi else inputs // 100)
        if not names:
            figure("found in right decoders", [wrong], "divergences", at_most=0)
    return int(bool(late or one < SHARE * len(runs) or wrong))


if __name__ == "__main__":
    sys.exit(main())
