"""Examines an encoder: which numbers it encodes wrongly, found by asking numbers alone and halving between answers."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import TYPE_CHECKING, ClassVar

from overlong.conformance.examination.asking import RIGHT, Question
from overlong.conformance.examination.condition import hashed
from overlong.conformance.examination.encoded_texts import all_hold, sites_of, where, whole_site
from overlong.conformance.examination.phrases import such_as
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.units import big_endian
from overlong.conformance.protocol.wire import ENCODE_UTF16
from overlong.conformance.vectors.encoding import in_units, pieces, replacement
from overlong.reference import dialect
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.rules import Atom

_SEED, _CHECKED, _DRAWN, _ROUNDS = 0, 400, 300, 4
_LONGEST = 5
_LAST = 0xFFFF_FFFF
_PLACES = (0, 0x80, 0x800, 0xD800, 0xDC00, 0xE000, 0xFDD0, 0xFEFF, 0x110000, 0x20_0000, 0x400_0000)
_PLANES = range(0xFFFE, CODE_POINTS.stop, 0x10000)


@dataclass(frozen=True)
class OfNumbers:
    """Numbers that an encoder encodes wrongly."""

    streams: ClassVar[bool] = False
    withholds: ClassVar[bool] = False
    recalls: ClassVar[bool] = False
    symptom: str
    runs: tuple[tuple[int, int], ...]
    """The first and the last number of each run, in order."""
    speaks: str
    operation: str
    encodes: str
    """What the encoder does with what is no scalar value."""
    always: bool = False
    """True if the numbers do not matter: it encodes none at all wrongly, or all text of some kind or length."""
    atoms: tuple[Atom, ...] = ()
    """What else must hold of the place of such a number, or of the text."""
    silent: bool = False
    """True if its refusals name no index: it refuses text rightly for any number that is no scalar value."""

    def holds(self, question: Question | bytes, operation: str = "") -> bool:
        """True if the encoder is predicted to answer a question wrongly for this cause.

        Args:
            question: numbers, as an encoder gets them.
            operation: by which it does; empty for the one that was examined.
        """
        octets = question if isinstance(question, bytes) else question.octets
        operation, spoken = operation or self.operation, dialect(self.speaks)
        refuses, wrong = replacement(self.encodes, spoken) is None, self.always
        if self.always and self.atoms:
            wrong = all_hold(self.atoms, whole_site(operation, octets, self.speaks))
        sites = list(sites_of(operation, octets, self.speaks, self._has))
        if self.silent and refuses and not all(is_scalar for _, is_scalar, _ in sites):
            return False
        for number, is_scalar, site in sites:
            if self._has(number) and all_hold(self.atoms, site):
                if not is_scalar or self.symptom == Code.SCALAR_REFUSED:
                    return True
                wrong = True
            elif not is_scalar and refuses:
                return False  # rightly refused: nothing else shows
        return wrong

    def _has(self, number: int) -> bool:
        place = bisect_right(self.runs, (number, _LAST)) - 1
        return place >= 0 and number <= self.runs[place][1]

    @cached_property
    def id(self) -> str:
        """``C-`` and eight digits of a hash."""
        return hashed(self.to_json())

    def to_json(self) -> dict[str, object]:
        """The condition for files."""
        numbers = [list(run) for run in self.runs]
        said: dict[str, object] = {"symptom": self.symptom, "numbers": numbers, "dialect": self.speaks}
        if self.atoms:
            said["rule"] = [atom.to_json() for atom in self.atoms]
        return said | {name: True for name in ("always", "silent") if getattr(self, name)}

    @property
    def numbers(self) -> str:
        """``U+D800 to U+DFFF``; ``U+DC00 to U+DFFF at index 32 or more``."""
        places = where(self.atoms, self.operation, whole=self.always)
        if self.always:
            return f"text {places}" if places else "any text"
        named = [_name(first) if first == last else f"{_name(first)} to {_name(last)}" for first, last in self.runs]
        some = " or ".join(named) if len(named) <= _LONGEST else self._counted
        return " ".join(filter(None, (some, places)))

    @property
    def _counted(self) -> str:
        """``66 characters, such as U+FDD0, U+8FFFE and U+10FFFF``."""
        count = sum(last - first + 1 for first, last in self.runs)
        what = "characters" if self.symptom == Code.SCALAR_REFUSED else "numbers"
        return such_as(count, what, [_name(first) for first, _ in self.runs[:-1]] + [_name(self.runs[-1][1])])


def _name(number: int) -> str:
    return f"U+{number:04X}" if number in CODE_POINTS else f"number {number:X}"


class EncoderCourse:
    """Experiments with one encoder."""

    def __init__(self, asker: Asker, symptom: str, before: Sequence[int] = (), behind: Sequence[int] = ()) -> None:
        """``before``, ``behind``: the text in which each number is asked."""
        self.asker, self.symptom = asker, symptom
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self.last = CODE_POINTS.stop - 1 if asker.operation == ENCODE_UTF16 else _LAST
        """The greatest number that it can be asked."""
        self._before, self._behind = before, behind
        self._known: dict[int, bool] = {}
        self._always = self._silent = False

    def run(self, octets: bytes) -> tuple[OfNumbers | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number.

        Raises:
            OutOfBudget: there are too few questions.
        """
        given = [each.number for each in pieces(self.asker.operation, octets, self.asker.profile.dialect)]
        near = {place + more for place in (*_PLACES, *_PLANES, *given) for more in (-1, 0, 1, 2)}
        self._always = self.wrong([self.question([])])[0]
        self._ask([*near, self.last, *(self.random.randrange(CODE_POINTS.stop) for _ in range(_DRAWN))])
        if not self._always and not any(self._known.values()):
            return None, 0, 0  # no number is wrong alone
        predicted = checked = 0
        condition = self._condition()
        if condition.runs and self.symptom == Code.SCALAR_REFUSED:
            self._silent = not self.wrong([self.question([condition.runs[0][0], SURROGATES.start])])[0]
            condition = self._condition()
        for _ in range(_ROUNDS):
            fresh = [self._drawn(condition) for _ in range(min(_CHECKED, self.asker.left))]
            said = self.wrong([self.question(each) for each in fresh])
            missed = [
                each for each, wrong in zip(fresh, said, strict=True) if condition.holds(self.question(each)) != wrong
            ]
            predicted, checked = len(fresh) - len(missed), len(fresh)
            if not missed:
                break
            self._ask([number for each in missed for number in each])
            condition = self._condition()
        return condition, predicted, checked

    def runs(self, numbers: Iterable[int] = ()) -> tuple[tuple[int, int], ...]:
        """The runs of wrong numbers, each end found by halving; ``numbers``: to be asked first."""
        self._ask(numbers)
        while between := [
            (one + other) // 2
            for one, other in pairwise(sorted(self._known))
            if self._known[one] != self._known[other] and other - one > 1
        ]:
            self._ask(between)
        runs, last = list[tuple[int, int]](), -1
        for number in sorted(self._known):
            if self._known[number]:
                runs = (
                    [*runs[:-1], (runs[-1][0], number)] if runs and last == runs[-1][1] else [*runs, (number, number)]
                )
            last = number
        return tuple(runs)

    def _condition(self) -> OfNumbers:
        runs, profile = self.runs(), self.asker.profile
        spoken, operation = profile.dialect.name, self.asker.operation
        return OfNumbers(
            self.symptom,
            () if self._always else runs,
            spoken,
            operation,
            profile.encodes,
            always=self._always,
            silent=self._silent,
        )

    def _ask(self, numbers: Iterable[int]) -> None:
        new = [each for each in dict.fromkeys(numbers) if 0 <= each <= self.last and each not in self._known]
        self._known.update(
            zip(new, self.wrong([self.question([*self._before, each, *self._behind]) for each in new]), strict=True)
        )

    def wrong(self, asked: Sequence[Question]) -> list[bool]:
        return [symptom != RIGHT for symptom in self.asker.ask(asked)]

    def question(self, numbers: Sequence[int]) -> Question:
        """Numbers as the encoder's input."""
        if self.asker.operation != ENCODE_UTF16:
            return Question(big_endian("I", list(numbers)))
        return Question(in_units(numbers))

    def _drawn(self, condition: OfNumbers) -> list[int]:
        random = self.random
        ends = [
            end + more for run in condition.runs for end in run for more in (-1, 0, 1) if 0 <= end + more <= self.last
        ] or [0]
        return [
            random.choice((random.choice(ends), random.randrange(0x80), random.randrange(self.last + 1)))
            for _ in range(random.randrange(1, 4))
        ]
