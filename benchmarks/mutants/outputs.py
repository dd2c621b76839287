"""A population of decoders with right verdicts and wrong outputs: wrong scalar values, wrong offsets."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from mutants import faults
from mutants.faults import fault
from mutants.population import HEADERS, Built, Mutant, options, those_shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from mutants.faults import Fault, Place

LIBRARY = "liboutputs.so"
_HEADERS = (*HEADERS, Path(__file__).with_name("outputs.h"))
_ASKS = """
ptrdiff_t first_wrong(struct decoded (*asked)(const octet *, size_t, uint32_t *), const octet *all,
                      const uint64_t *ends, uint32_t *out, uint32_t *wanted, size_t count) {
    for (size_t k = 0; k < count; k++) {
        const size_t start = k ? ends[k - 1] : 0, length = ends[k] - start;
        const struct decoded is = asked(all + start, length, out), good = right(all + start, length, wanted);
        if (is.error != good.error || is.count != good.count) return (ptrdiff_t)k;
        if (!is.error && memcmp(out, wanted, is.count * sizeof *out)) return (ptrdiff_t)k;
    }
    return -1;
}
"""
PLACES: tuple[tuple[str, Callable[[Random], Place]], ...] = (
    ("anywhere", faults.anywhere),
    ("after a character", faults.behind_character),
    ("offset in a block", faults.at_offset),
    ("offset", faults.from_offset),
    ("length", faults.of_length),
    ("distance from the end", faults.before_end),
    ("count of characters", faults.after_characters),
)
_OF_EACH = 20


def drawn_of_kind(random: Random, *, refuses: bool, placed: bool) -> Fault:
    """A fault of characters, or one of ill-formed octets."""
    while True:
        made = fault(random, placed=placed, at_end=not placed)
        if bool(made.refuses) == refuses:
            return made


def witnesses(what: Fault, place: Place) -> tuple[tuple[bytes, ...], ...]:
    """Strings that may show a fault at a place."""
    behind = (b"",) if what.at_end else (b"", b"a") if place.behind == (b"",) else place.behind
    return tuple((before + what.piece + after,) for before in place.before for after in behind)


def _scalar(random: Random, place: Place) -> Mutant:
    """One character, or each of some kind, comes out as another."""
    what = drawn_of_kind(random, refuses=True, placed=bool(place.words))
    value = random.choice(("c + 1", "c - 1", "0xFFFD", "0", f"c ^ {1 << random.randrange(21):#x}", "c & 0xFFFF"))
    words = f"{what.words.removesuffix(' refused')} output as {value} {place.words}".strip()
    code = f"DECODE(NAME, ({place.condition}) && ({what.refuses}), {value}, false, 0)"
    return Mutant("", "", words, code, witnesses(what, place))


def _offset(random: Random, place: Place) -> Mutant:
    """A refusal has a wrong offset."""
    what = drawn_of_kind(random, refuses=False, placed=bool(place.words))
    value = random.choice(
        ("i + 1", "i ? i - 1 : 1", "n", "0", "count", "i & 0xFF", "i & 0xFFFF", "i + subpart(s + i, left)")
    )
    words = f"{what.words.removesuffix(' passed over')} refused at {value} {place.words}".strip()
    code = f"DECODE(NAME, false, c, ({place.condition}) && ({what.accepts}), {value})"
    return Mutant("", "", words, code, witnesses(what, place))


def drawn(seed: int, share: float = 1.0) -> list[Mutant]:
    """Candidates, in order, all different."""
    random, found = Random(seed), dict[str, Mutant]()  # noqa: S311 (no secret)
    for kind, make in (("scalar value", _scalar), ("error offset", _offset)):
        for name, place in PLACES:
            for _ in range(max(1, round(_OF_EACH * share))):
                made = make(random, place(random))
                found.setdefault(made.code, replace(made, family=f"{kind}: {name}"))
    return [replace(each, symbol=f"o{number:04}") for number, each in enumerate(found.values())]


def build(folder: Path, mutants: list[Mutant], compiler: str = "cc") -> None:
    """Compile them to one library.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed and printed why.
    """
    code = [mutant.code.replace("NAME", mutant.symbol) for mutant in mutants]
    text = "\n".join(('#include "outputs.h"', *code, "DECODE(right, false, c, false, 0)", _ASKS))
    (folder / "outputs.c").write_text(text, "ascii")
    words = [compiler, *options(folder, _HEADERS), "-shared"]
    subprocess.run([*words, "-o", str(folder / LIBRARY), str(folder / "outputs.c")], check=True)


class Outputs(Built):
    """The built library."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, arrays=3)

    def wrong_at(self, symbol: str, octets: bytes, ends: np.ndarray) -> int:
        """The number of the first string with a wrong answer; negative if there is none.

        Args:
            symbol: the symbol of the decoder.
            octets: all strings, one after another.
            ends: the end of each, as ``uint64``.
        """
        longest = int(np.diff(ends, prepend=np.uint64(0)).max(initial=0)) + 1
        out, wanted = np.zeros(longest, np.uint32), np.zeros(longest, np.uint32)
        data = (octets, *(each.ctypes.data for each in (ends, out, wanted)), len(ends))
        return int(self.first_wrong(self.address(symbol), *data))

    def proved(self, mutant: Mutant) -> Mutant | None:
        """The mutant with only the witness that it answers wrongly; None if it answers all rightly."""
        for calls in mutant.witnesses:
            if self.wrong_at(mutant.symbol, calls[-1], np.array([len(calls[-1])], np.uint64)) >= 0:
                return replace(mutant, witnesses=(calls,))
        return None


def population(folder: Path, seed: int = 0, share: float = 1.0) -> tuple[list[Mutant], int]:
    """The built mutants that are proved wrong, and the number of draws without a proof."""
    candidates = drawn(seed, share)
    build(folder, candidates)
    return those_shown(candidates, Outputs(folder / LIBRARY).proved)
