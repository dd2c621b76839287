"""Find mutants: lists of strings in a C loop, and the plans of sweeps in the compiled loop."""

from __future__ import annotations

import csv
import random
import time
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mutants.outputs import Outputs
from mutants.population import Library, Mutant
from mutants.spoken import OF_ALL, OF_QUICK
from overlong.conformance.certification.tiers import AMPLE, BRIEF, FULL, LEAN, LEAST, SMALL, USUAL, Tier
from overlong.conformance.oracle.target import expectation
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import DECODE, REPLACE, UNITS, VALIDATE
from overlong.conformance.results.run import offered_in
from overlong.conformance.sweep.compiled import GridLoop
from overlong.conformance.sweep.plan import LARGEST_SHARD, plan_named
from overlong.conformance.sweep.request import PROGRESS_OCTETS, Progress
from overlong.conformance.sweep.schemes import DRAWN
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.vectors.suites import QUICK, SUITES
from overlong.conformance.vectors.vector import RFC3629

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ABI = ABIS["bool(ptr,len)"]
HURRIED, WHOLE = f"tier {USUAL.name}", f"tier {FULL.name}"
QUICKLY, CERTIFIED = "certify --quick", "certify"
"""The findings of some suites, or of a tier."""
_GREETING = Greeting("mutant", "", "c", DECODE + VALIDATE + REPLACE, UNITS["utf-32"], "replacement")
_RANDOM = 1_000_000
_ELSEWHERE = Path(__file__).parents[2] / "corpora" / "elsewhere"


@dataclass(frozen=True)
class Strings:
    """Many strings in a row of octets, each with its verdict."""

    octets: bytes
    ends: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, strings: Iterable[bytes], library: Library) -> Strings:
        """All in order, judged by the library's right validator."""
        kept = list(strings)
        right = np.fromiter((library.right(each, len(each)) for each in kept), np.uint8, len(kept))
        return cls(b"".join(kept), np.cumsum([len(each) for each in kept], dtype=np.uint64), right)

    def __len__(self) -> int:
        return len(self.right)


def of_suites(names: Iterable[str], operation: str = VALIDATE) -> Iterator[bytes]:
    """The strings of some suites for an operation."""
    for name in names:
        if operation not in offered_in(SUITES[name], _GREETING):
            continue
        for batch in SUITES[name].batches():
            start = 0
            for length in batch.lengths:
                yield batch.octets[start : start + length]
                start += length


def of_others() -> dict[str, list[bytes]]:
    """The strings of other projects' lists, by the list's name."""
    named = tomllib.loads((_ELSEWHERE / "lists.toml").read_text("utf-8"))
    found: dict[str, list[bytes]] = {}
    for name, fields in named.items():
        with (_ELSEWHERE / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            found[fields["short"]] = [bytes.fromhex(row["hex"]) for row in rows]
    return found


def drawn_at_random(count: int) -> Iterator[bytes]:
    """Random octets, of random lengths up to 64."""
    generator = random.Random(0)  # noqa: S311 (no secret)
    for _ in range(count):
        yield generator.randbytes(generator.randint(1, 64))


def lists(library: Library) -> dict[str, Strings]:
    """Lists of strings by name."""
    scalars = (chr(c).encode() for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    return {
        **{name: Strings.of(strings, library) for name, strings in of_others().items()},
        "all scalar values": Strings.of(scalars, library),
        "a million random strings": Strings.of(drawn_at_random(_RANDOM), library),
        "core": Strings.of(of_suites(["core"]), library),
        "complete-0": Strings.of(of_suites(["complete-0"]), library),
        OF_QUICK: Strings.of(of_suites(QUICK), library),
        OF_ALL: Strings.of(of_suites(SUITES), library),
    }


def plan_finds(loop: GridLoop, name: str, kinds: np.ndarray) -> bool:
    """True if a plan finds that what a loop calls is wrong; ``kinds`` has room for a shard."""
    for shard in plan_named(name, RFC3629).shards():
        progress = Progress(bytearray(PROGRESS_OCTETS))
        progress.begin(shard.first)
        grid = plan_named(name, RFC3629).grids[shard.grid]
        loop.run(grid, shard.first + shard.count, progress, kinds.data, shard.first)
        words = kinds[: shard.count]
        if words.any():
            words[:] = 0
            return True
    return False


def column_of(tier: Tier) -> str:
    """The name of a list of plans in the tables; one without a name for users has its number of plans."""
    return f"tier {tier.name}" if tier.is_typed else f"{len(tier.plans)} plans"


class Finder:
    """Asks mutants. Makes strings and plans once, for all mutants and for forked processes."""

    abi, operation = ABI, VALIDATE

    def __init__(self, path: Path, seed: int) -> None:
        self._open(path)
        self.tiers = {column_of(tier): tier.plans for tier in (LEAST, SMALL, BRIEF, LEAN, AMPLE, USUAL, FULL)}
        self.tiers[WHOLE] += (f"{DRAWN.name}-{seed}",)
        self._kinds = np.zeros(LARGEST_SHARD, np.uint8)

    def _open(self, path: Path) -> None:
        self.library = Library(path)
        self.lists = lists(self.library)

    @property
    def columns(self) -> list[str]:
        """The names of all lists, then of the tiers, then of the runs of ``certify``."""
        return [*self.lists, *self.tiers, QUICKLY, CERTIFIED]

    def found(self, mutant: Mutant) -> list[str]:
        """The names of the columns that find a mutant, and of the first plan that does."""
        found = [name for name, strings in self.lists.items() if self._by_list(mutant, strings)[0]]
        known = dict[str, bool]()
        for name, plans in self.tiers.items():
            if any(known.get(plan) for plan in plans) or any(
                known.setdefault(plan, self._by_plan(mutant, plan)[0]) for plan in plans if plan not in known
            ):
                found.append(name)
        for name, parts in ((QUICKLY, (OF_QUICK, HURRIED)), (CERTIFIED, (OF_ALL, WHOLE))):
            if any(part in found for part in parts):
                found.append(name)
        return [*(plan for plan, finds in known.items() if finds), *found]

    def seconds_of_right(self, column: str) -> float:
        """The seconds of a right validator for a list or a tier."""
        right = Mutant("right", "", "", "")
        if column in self.lists:
            return self._by_list(right, self.lists[column])[1]
        return sum(self._by_plan(right, plan)[1] for plan in self.tiers[column])

    def _by_list(self, mutant: Mutant, strings: Strings) -> tuple[bool, float]:
        """True if a list finds a mutant, and the seconds until then."""
        data = (strings.octets, strings.ends.ctypes.data, strings.right.ctypes.data, len(strings))
        address, started = self._begun(mutant), time.process_time()
        place = self.library.first_wrong(address, *data)
        return place >= 0, time.process_time() - started

    def _begun(self, mutant: Mutant) -> int:
        """The address of a mutant in a fresh state."""
        self.library.forget(mutant.symbol)
        return self.library.address(mutant.symbol)

    def _by_plan(self, mutant: Mutant, name: str) -> tuple[bool, float]:
        """True if a plan finds a mutant, and the seconds until then."""
        expected = expectation(RFC3629, _GREETING, self.operation)
        loop = GridLoop(self.abi, [self._begun(mutant)], expected, RFC3629.dialect.layout)
        started = time.process_time()
        return plan_finds(loop, name, self._kinds), time.process_time() - started


class FinderOfOutputs(Finder):
    """The same for decoders, whose outputs are compared."""

    abi, operation = ABIS["utf32-result(ptr,len,out)"], DECODE

    def _open(self, path: Path) -> None:
        self._outputs = Outputs(path)
        named = {"core": ["core"], "complete-0": ["complete-0"], OF_QUICK: QUICK, OF_ALL: SUITES}
        strings = {name: list(of_suites(suites, DECODE)) for name, suites in named.items()}
        self.lists = {
            name: Strings(b"".join(kept), np.cumsum([len(each) for each in kept], dtype=np.uint64), np.zeros(0))
            for name, kept in strings.items()
        }

    def _by_list(self, mutant: Mutant, strings: Strings) -> tuple[bool, float]:
        started = time.process_time()
        found = self._outputs.wrong_at(mutant.symbol, strings.octets, strings.ends) >= 0
        return found, time.process_time() - started

    def _begun(self, mutant: Mutant) -> int:
        return self._outputs.address(mutant.symbol)
