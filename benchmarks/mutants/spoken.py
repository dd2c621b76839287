"""Wrong decoders behind the protocol: one program for a whole population; its argument chooses the decoder."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mutants.population import HEADERS, Mutant, options, those_shown
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import HEAD, UNITS, big_endian, frame
from overlong.conformance.results.run import offered_in
from overlong.conformance.targets.build import ADAPTERS
from overlong.conformance.vectors.suites import QUICK, SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from overlong.conformance.vectors.batch import Batch

RIGHT = "right"
OF_QUICK, OF_ALL = "suites of --quick", "all suites"
_MAIN = """
int main(int argc, char **argv) {
    for (size_t k = 0; argc == 2 && k < sizeof all / sizeof *all; k++)
        if (!strcmp(argv[1], all[k].name)) return serve_named(&all[k]);
    return 3;
}
"""


@dataclass(frozen=True)
class Spoken(Mutant):
    """One wrong decoder."""

    requests: tuple[tuple[str, bytes], ...] = ()
    """Operations with payloads that may prove it wrong: first the candidates, then the proof."""


@dataclass(frozen=True, eq=False)
class Population:
    """The distinguishing data of a population."""

    name: str
    header: Path
    right: str
    """The macro of the decoder without a fault."""
    drawn: Callable[[int, float], list[Spoken]]
    operations: str
    """The letters of its operations."""
    suites: Sequence[str]
    """The suites with their own column."""

    def command(self, symbol: str) -> tuple[str, str]:
        """The target's command."""
        return f"./{self.name}", symbol

    def build(self, folder: Path, mutants: Iterable[Mutant], compiler: str = "cc") -> None:
        """Compile them to one program.

        Raises:
            OSError: there is no compiler.
            subprocess.CalledProcessError: the compiler failed and printed why.
        """
        symbols = [RIGHT, *(each.symbol for each in mutants)]
        code = [self.right, *(each.code.replace("NAME", each.symbol) for each in mutants)]
        listed = f"static const struct named all[] = {{{', '.join(f'NAMED({each})' for each in symbols)}}};"
        source = folder / f"{self.name}.c"
        source.write_text("\n".join((f'#include "{self.header.name}"', *code, listed, _MAIN)), "ascii")
        words = [compiler, *options(folder, (*HEADERS, self.header)), f"-I{ADAPTERS / 'c'}"]
        subprocess.run([*words, "-o", str(folder / self.name), str(source)], check=True)

    def answers(self, folder: Path, symbol: str, requests: Path) -> bytes:
        """The output of a decoder for a file of requests, after its greeting."""
        with requests.open("rb") as file:
            done = subprocess.run([folder / self.name, symbol], stdin=file, capture_output=True, check=True)
        return done.stdout.partition(b"\n")[2]

    def population(self, folder: Path, seed: int, share: float = 1.0) -> tuple[list[Spoken], int]:
        """The built mutants that are proved wrong, and the number of draws without a proof."""
        candidates, asked = self.drawn(seed, share), folder / "candidates"
        self.build(folder, candidates)

        def proved(mutant: Spoken) -> Spoken | None:
            requests = [frame(0, operation.encode() + payload) for operation, payload in mutant.requests]
            asked.write_bytes(b"".join(requests))
            answers = zip(*(frames(self.answers(folder, each, asked)) for each in (mutant.symbol, RIGHT)), strict=True)
            shown = [request for request, (one, other) in zip(mutant.requests, answers, strict=True) if one != other]
            return replace(mutant, requests=(min(shown, key=lambda each: len(each[1])),)) if shown else None

        return those_shown(candidates, proved)


def frames(octets: bytes) -> list[bytes]:
    """The frames of a row of octets."""
    found, start = list[bytes](), 0
    while start < len(octets):
        end = start + 4 + HEAD.unpack_from(octets, start)[0]
        found.append(octets[start:end])
        start = end
    return found


def _batched(batch: Batch, operation: str) -> bytes:
    lengths, octets = batch.payloads(operation)
    return frame(0, b"B" + operation.encode() + big_endian("I", [len(lengths), *lengths]) + octets)


class FinderOfSpoken:
    """Finds mutants by suites: makes their requests once, and compares answers with those of the right program."""

    def __init__(self, population: Population, folder: Path) -> None:
        self._population, self._folder = population, folder
        self._right = dict[str, bytes]()
        greeting = Greeting("", "", "", population.operations, UNITS["utf-32"], "replacement")
        for name, suite in SUITES.items():
            if operations := offered_in(suite, greeting):
                with self._requests(name).open("wb") as file:
                    for operation in operations:
                        file.writelines(_batched(batch, operation) for batch in suite.batches())
                self._right[name] = population.answers(folder, RIGHT, self._requests(name))

    def _requests(self, suite: str) -> Path:
        return self._folder / f"{self._population.name}.{suite}"

    @property
    def columns(self) -> list[str]:
        """The names of some suites, then of all together."""
        more = [] if set(self._right) <= set(QUICK) else [OF_QUICK]
        return [*self._population.suites, *more, OF_ALL]

    def found(self, mutant: Mutant) -> list[str]:
        """The suites and columns that find it."""
        found = [
            name
            for name, right in self._right.items()
            if self._population.answers(self._folder, mutant.symbol, self._requests(name)) != right
        ]
        return [*found, *[OF_QUICK] * (not set(QUICK).isdisjoint(found)), *[OF_ALL] * bool(found)]
