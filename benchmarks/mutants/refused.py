"""Finds wrong implementations as ``overlong certify`` does: by suites and plans in this process, else by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mutants.measuring import CERTIFIED, QUICKLY, of_suites, plan_finds
from mutants.served import certificate_of
from mutants.shaped import LIBRARY, REPLACING, Prover, in_child
from mutants.shapes import STREAM
from mutants.spoken import OF_ALL, OF_QUICK
from overlong.conformance.certification.tiers import FULL, USUAL, seeds_of
from overlong.conformance.oracle.target import expectation
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import DECODE, REPLACE, UNITS, VALIDATE
from overlong.conformance.sweep.compiled import GridLoop
from overlong.conformance.sweep.plan import LARGEST_SHARD
from overlong.conformance.sweep.schemes import DRAWN
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.build import ADAPTERS
from overlong.conformance.vectors.suites import QUICK, SUITES
from overlong.conformance.vectors.vector import RFC3629

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from mutants.shaped import Texts
    from mutants.shapes import Shaped

_PROGRAM = "replaced"
_LISTED = 60.0
_SWEPT = 120.0
"""The processor seconds of the suites, and of a plan, after which a mutant hangs."""


class Refuser:
    """Says for each mutant what finds it. Makes strings and plans once, for forked processes too."""

    def __init__(self, folder: Path, seeds: Sequence[int], compiler: str = "cc") -> None:
        self._folder, self._prover = folder, Prover(folder / LIBRARY)
        self._lucky = tuple(f"{DRAWN.name}-{seed}" for seed in seeds)
        source = Path(__file__).with_name(f"{_PROGRAM}.c")
        words = [
            compiler,
            "-std=gnu11",
            "-O2",
            f"-I{ADAPTERS / 'c'}",
            "-o",
            str(folder / _PROGRAM),
            str(source),
            "-ldl",
        ]
        subprocess.run(words, check=True)
        self._lists = {
            operation: {
                name: self._texts(of_suites(suites, operation))
                for name, suites in ((OF_QUICK, QUICK), (OF_ALL, SUITES))
            }
            for operation in (VALIDATE, DECODE, REPLACE)
        }
        self._kinds = np.zeros(LARGEST_SHARD, np.uint8)

    def _texts(self, strings: Iterator[bytes]) -> Texts:
        kept = list(strings)
        ends = np.cumsum([len(each) for each in kept], dtype=np.uint64)
        return self._prover.judged(np.frombuffer(b"".join(kept), np.uint8), ends, np.zeros(len(kept), np.uint8))

    def words(self, mutant: Shaped) -> list[str]:
        """A mutant as a target on the command line."""
        library = self._folder / LIBRARY
        if mutant.abi == REPLACING:
            return ["--", str(self._folder / _PROGRAM), str(library), mutant.symbol]
        return [f"so:{library}:{','.join(mutant.symbols)}?abi={mutant.abi}"]

    def found(self, mutant: Shaped) -> list[str]:
        """What finds a mutant first, then the columns that do: ``drawn-SEED`` for each seed, if only luck may."""
        found = list[str]()
        found += self._by_lists(mutant)
        if OF_QUICK in found:
            return [*found, QUICKLY]
        if mutant.abi != REPLACING:
            found += self._by_plans(mutant, known=bool(found))
        if CERTIFIED not in found:
            if mutant.abi != REPLACING:
                found += [each for each in self._lucky if self._by_plan(mutant, each)]
            if names := self.certified(mutant):
                found += [*(each for each in names if each not in found), CERTIFIED]
        if CERTIFIED in found and QUICKLY not in found and self.certified(mutant, "--quick"):
            found.append(QUICKLY)
        return list(dict.fromkeys(found))

    def _by_lists(self, mutant: Shaped) -> list[str]:
        if mutant.abi.startswith("stream"):  # its suites say how they cut
            return []
        texts = self._lists[_operation(mutant)]
        found = [name for name in texts if self._prover.wrong_at(mutant, texts[name], _LISTED) != (-1, 0)]
        return [*found, CERTIFIED] if found else []

    def _by_plans(self, mutant: Shaped, *, known: bool) -> list[str]:
        """The first plan of the tier ``full`` that finds it, unless that is known, and the first of ``usual``."""
        first = None if known else next((each for each in FULL.plans if self._by_plan(mutant, each)), "")
        if first == "":
            return []  # what no plan of `full` finds, the smaller ones of `usual` do not
        found = [first, CERTIFIED] if first else []
        passed = FULL.plans[: FULL.plans.index(first)] if first else ()
        asked = [each for each in USUAL.plans if each not in passed]
        quick = first if first in asked else next((each for each in asked if self._by_plan(mutant, each)), "")
        return [*found, quick, QUICKLY] if quick else found

    def _by_plan(self, mutant: Shaped, name: str) -> bool:
        abi = ABIS[mutant.abi]
        units = UNITS[abi.units or "utf-32"]
        greeting = Greeting("mutant", "", "c", DECODE if abi.units else VALIDATE, units, "")
        addresses = self._prover.addresses(mutant)[: len(STREAM) - 1]

        def asked() -> bool:
            expected = expectation(RFC3629, greeting, _operation(mutant))
            return plan_finds(GridLoop(abi, addresses, expected, RFC3629.dialect.layout), name, self._kinds)

        told = in_child(asked, _SWEPT)
        return isinstance(told, signal.Signals) or told

    def certified(self, mutant: Shaped, *options: str) -> list[str]:
        """The suites and plans by which ``overlong certify`` refuses it, except those that a seed draws."""
        (folder := self._folder / f"certified-{os.getpid()}").mkdir(exist_ok=True)
        certificate_of([*options, *self.words(mutant)], folder)
        results = (folder / "certified" / "results.jsonl").read_text("utf-8").splitlines()
        records = [json.loads(each) for each in results]
        suites = [each["suite"] for each in records if each["record"] == "suite" and each["failing"]]
        plans = [each["plan"] for each in records if each["record"] == "sweep" and each["kinds"]]
        return suites + [each for each in plans if not seeds_of([each])]


def _operation(mutant: Shaped) -> str:
    if mutant.abi == REPLACING:
        return REPLACE
    return DECODE if ABIS[mutant.abi].units else VALIDATE
