"""Examines an encoder: which numbers it encodes wrongly, and where.

Numbers are asked alone first, halving between answers. An encoder that is wrong in some texts only is asked texts:
which number matters, its place, and the text around it.
"""

from __future__ import annotations

from collections import Counter
from itertools import compress, groupby
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import RIGHT, Question, between
from overlong.conformance.examination.of_numbers import FACTORS, LAST, OfNumbers, sites_of, whole_site
from overlong.conformance.examination.rules import Table
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import ENCODE_UTF16, big_endian
from overlong.conformance.vectors.encoding import SCALARS, UTF16, WIDTHS, in_units, pieces, replacement
from overlong.conformance.vectors.suites.encoding import EDGES, FLAWS, LETTERS
from overlong.reference.order import CODE_POINTS, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.factors import Site
    from overlong.conformance.examination.rules import Rule

_SEED, _CHECKED, _DRAWN, _ROUNDS = 0, 400, 300, 4
_PLACES = (0, 0x80, 0x800, 0xD800, 0xDC00, 0xE000, 0xFDD0, 0xFEFF, 0x110000, 0x20_0000, 0x400_0000)
_PLANES = range(0xFFFE, CODE_POINTS.stop, 0x10000)
_BEHIND = (0, 1, 2, 20)
_TEXTS, _LAST_UNIT = 16, 0xFFFF
_NOTED = 8
"""The most places of one text that are learned from."""
_DENSE, _EVERY, _DRAWN_IN_TEXT, _SMALL = 12, 128, 30, 80
_ROUNDS_OF_TEXTS, _CHECKED_TEXTS = 5, 200
_MISSED = 0.01
"""The most that a condition may predict wrongly: less would be a riddle."""
_SHARE = 6
"""Each step may ask one part in so many of the octets that are left."""
_FLAWED = tuple(flaw[0] for flaw in FLAWS if len(flaw) == 1)
_SURROGATES = (0xD800, 0xDBFF, 0xDC00, 0xDFFF)


class EncoderCourse:
    """Experiments with one encoder."""

    def __init__(self, asker: Asker, symptom: str, before: Sequence[int] = (), behind: Sequence[int] = ()) -> None:
        """``before``, ``behind``: the text in which each number is asked."""
        self.asker, self.symptom = asker, symptom
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self.last = CODE_POINTS.stop - 1 if asker.operation == ENCODE_UTF16 else LAST
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
        while further := between(self._known):
            self._ask(further)
        by_answer = groupby(sorted(self._known), self._known.__getitem__)
        runs = [list(run) for wrong, run in by_answer if wrong]
        return tuple((run[0], run[-1]) for run in runs)

    def _condition(self) -> OfNumbers:
        runs = self.runs()
        return self.of(() if self._always else runs, always=self._always, silent=self._silent)

    def of(
        self, runs: tuple[tuple[int, int], ...], *, always: bool, silent: bool = False, atoms: Rule = ()
    ) -> OfNumbers:
        """The condition of this encoder that says this."""
        profile, operation = self.asker.profile, self.asker.operation
        return OfNumbers(
            self.symptom, runs, profile.dialect.name, operation, profile.encodes, always, atoms=atoms, silent=silent
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


def _near(number: int) -> Iterator[int]:
    """Indices or lengths to try, besides that of the example."""
    yield from range(_DENSE)
    yield from ((1 << bits) + more for bits in range(4, (4 * number).bit_length()) for more in (-1, 0, 1))


def _ends(condition: OfNumbers) -> list[int]:
    """The numbers that the rule of a condition names."""
    return [end for atom in condition.atoms for end in (atom.low, atom.high) if end]


class TextCourse:
    """Experiments with one encoder and texts."""

    def __init__(self, asker: Asker, symptom: str) -> None:
        self.asker, self.symptom = asker, symptom
        self.course = EncoderCourse(asker, symptom)
        self.random = self.course.random
        self.least: list[int] = []
        """The shortest text that was answered wrongly."""
        self._table = Table(FACTORS)
        self._letter = LETTERS[0]
        self._core: int | None = None
        """The number that matters; None if it is the whole text."""
        self._runs: tuple[tuple[int, int], ...] = ()
        self._width = WIDTHS[UTF16 if asker.operation == ENCODE_UTF16 else SCALARS]
        self._refuses = replacement(asker.profile.encodes, asker.profile.dialect) is None

    def run(self, octets: bytes) -> tuple[OfNumbers | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number; None if none was found.

        Raises:
            OutOfBudget: there are too few questions.
        """
        self.least = [piece.number for piece in pieces(self.asker.operation, octets, self.asker.profile.dialect)]
        index = self._find()
        if index is None:
            return None, 0, 0
        longest = len(self.least)
        self._vary(index, longest - index - 1)
        if self._core is not None:
            self._widen()
        self._step_by_step(_ends(self._condition()))
        condition = self._condition()
        missed, checked = self._missed(condition, longest)
        for _ in range(_ROUNDS_OF_TEXTS if missed else 0):
            condition = self._condition()
            missed, checked = self._missed(condition, longest)
            if not missed:
                break
        if missed > _MISSED * checked:
            return None, 0, 0  # several numbers matter, or something else that is not looked at
        return condition, checked - missed, checked

    def _find(self) -> int | None:
        """The index of the number that matters among others that are all alike: 0 if none does, None if several do."""
        text = self.least
        scalars = Counter(number for number in text if number in CODE_POINTS and number not in SURROGATES)
        common = scalars.most_common(1)[0][0] if scalars else LETTERS[0]
        for letter in dict.fromkeys((LETTERS[0], common)):
            self._letter = letter
            others = {place for place, number in enumerate(text) if number != letter}
            if self._wrong([plain := self._plain(text, others)])[0]:
                self.least = plain
                return 0
            left = self._decisive(text, others)
            for place in left:
                plain, index = self._plain(text, others - {place}), len(self._plain(text[:place], others))
                if plain == self._around(text[place], index, len(plain) - index - 1):
                    self._core, self.least = text[place], plain
                    self._runs = ((self._core, self._core),)
                    return index
        return None

    def _decisive(self, text: list[int], others: set[int]) -> list[int]:
        """The place, if it is one, that must keep its number among ``others``."""
        left = sorted(others)
        while len(left) > 1:
            halves = left[: len(left) // 2], left[len(left) // 2 :]
            said = self._wrong([self._plain(text, others - {*half}) for half in halves])
            if not any(said):
                return []
            left = halves[0] if said[0] else halves[1]
        return left

    def _plain(self, text: Sequence[int], places: set[int]) -> list[int]:
        """The text with letters at some places, as long as before; a pair has two units of UTF-16."""
        found = list[int]()
        for place, number in enumerate(text):
            if place not in places:
                found.append(number)
            elif self._units(number) < self._units(self._letter):
                found.append(LETTERS[0])
            else:
                found += [self._letter] * (self._units(number) // self._units(self._letter))
        return found

    def _units(self, number: int) -> int:
        return 2 if self.asker.operation == ENCODE_UTF16 and number > _LAST_UNIT else 1

    def _around(self, number: int, index: int, behind: int, letter: int | None = None) -> list[int]:
        one = self._letter if letter is None else letter
        return [*[one] * index, number, *[one] * behind]

    def _vary(self, index: int, behind: int) -> None:
        """Try other indices, lengths and texts, and find by halving where answers change."""
        core, length = self._core, index + 1 + behind
        if core is None:
            near = {length - 1, length, length + 1, 2 * length, 3 * length}
            self._halve({*_near(length), *near}, lambda size: [self._letter] * size)
            same = [[letter] * size for letter in LETTERS for size in (length, 2 * length, length // 2)]
            self._ask([*same, *(self._mixed(length) for _ in range(_TEXTS))])
            return
        near = {(index + 1) * times - 1 for times in (1, 2, 3, 4)}
        indices = {*_near(index), *near, index + 1, max(index - 1, 0)}
        self._halve(indices, lambda place: self._around(core, place, behind))
        self._halve({*_BEHIND, behind, behind + 1, index}, lambda more: self._around(core, index, more))
        same = [self._around(core, index, behind, letter) for letter in LETTERS]
        mixed = [[*self._mixed(index), core, *self._mixed(behind)] for _ in range(_TEXTS)]
        ends = [self._around(core, place, more) for place in indices for more in _BEHIND if more != behind]
        alike = [self._around(core, place, length - 1 - place) for place in range(min(length, _EVERY))]
        first = next((place for place, wrong in enumerate(self._ask(alike)) if wrong), index)
        if first < index:
            self._halve({*_BEHIND, length - 1 - first}, lambda more: self._around(core, first, more))
        self._ask([*same, *mixed, *sorted(ends, key=len)])

    def _halve(self, wanted: Iterable[int], text: Callable[[int], list[int]]) -> None:
        """Ask the texts of some numbers, and of those between a right answer and a wrong one."""
        known, some = dict[int, bool](), sorted(wanted)
        while some:
            said = self._ask(list(map(text, some)))
            known.update(zip(some, said, strict=False))
            if len(said) < len(some):
                some = []
                continue
            some = between(known)

    def _step_by_step(self, ends: Iterable[int]) -> None:
        """Ask texts of one octet more each, around ends that longer characters may have overstepped."""
        sizes = {end + more for end in ends for more in range(-4, 4)}
        core, letter = self._core, LETTERS[0]
        ordered = sorted(size for size in sizes if size >= 0)
        self._ask([[letter] * size if core is None else self._around(core, size, 0, letter) for size in ordered])

    def _widen(self) -> None:
        """Find the other numbers that are encoded wrongly at the place of the least example."""
        index = next(place for place, number in enumerate(self.least) if number == self._core)
        inner = EncoderCourse(self.asker, self.symptom, self.least[:index], self.least[index + 1 :])
        ends = (
            end + more
            for end in (*EDGES, *_SURROGATES, *_FLAWED, self.course.last, self._core or 0)
            for more in (-1, 0, 1)
        )
        drawn = (self.random.randrange(CODE_POINTS.stop) for _ in range(_DRAWN_IN_TEXT))
        self._runs = inner.runs([*ends, *LETTERS, *drawn])

    def _ask(self, texts: Sequence[list[int]]) -> list[bool]:
        """Ask as many of the texts as may be asked now, and learn from the answers."""
        left, some = self.asker.octets // _SHARE, list[list[int]]()
        for text in texts:
            left -= self._width * len(text)
            if left < 0 or len(some) >= self.asker.left:
                break
            some.append(text)
        said = self._wrong(some)
        for text, wrong in zip(some, said, strict=True):
            self._note(text, wrong=wrong)
        return said

    def _wrong(self, texts: Sequence[list[int]]) -> list[bool]:
        said = self.course.wrong([self.course.question(text) for text in texts])
        self.least = min([self.least, *compress(texts, said)], key=len)
        return said

    def _note(self, text: list[int], *, wrong: bool) -> None:
        """Take a text into the table: its place if it has one; if it has several, each of a right answer."""
        payload, speaks = self.course.question(text).octets, self.asker.profile.dialect.name
        if self._core is None:
            if not self._refuses or all(number in CODE_POINTS and number not in SURROGATES for number in text):
                self._table.add(whole_site(self.asker.operation, payload, speaks), wrong=wrong)
            return
        places = list["Site"]()
        for number, is_scalar, site in sites_of(self.asker.operation, payload, speaks, self._has):
            if self._has(number):
                places.append(site)
            if not is_scalar and self._refuses:
                break  # nothing behind shows
        if not wrong or len(places) == 1:
            for site in self.random.sample(places, min(len(places), _NOTED)):
                self._table.add(site, wrong=wrong)

    def _has(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self._runs)

    def _condition(self) -> OfNumbers:
        return self.course.of(self._runs, always=self._core is None, atoms=self._table.rule())

    def _missed(self, condition: OfNumbers, longest: int) -> tuple[int, int]:
        """Of fresh texts, the number that the condition predicts wrongly, and the number asked."""
        texts = [self._fresh(condition, longest) for _ in range(_CHECKED_TEXTS)]
        said = self._ask(texts)
        foreseen = [condition.holds(self.course.question(text)) for text in texts[: len(said)]]
        return sum(one != other for one, other in zip(said, foreseen, strict=True)), len(said)

    def _fresh(self, condition: OfNumbers, longest: int) -> list[int]:
        """A text of lengths that are mostly near what the condition says, or small."""
        random = self.random
        near = random.choice([*_ends(condition), longest]) + random.randrange(-3, 4)
        before = random.choice((near, near, random.randrange(_SMALL), random.randrange(2 * longest)))
        rest = max(longest - before, 0)
        behind = random.choice((0, rest, rest, random.randrange(_SMALL), random.randrange(longest)))
        letter = random.choice((self._letter, self._letter, LETTERS[0], random.choice(LETTERS), None))
        parts = [self._mixed(size) if letter is None else [letter] * size for size in (before, behind)]
        others = [(each, each) for each in (*LETTERS, *_FLAWED)]
        run = random.choice(random.choice((self._runs or others, others)))
        return [*parts[0], min(random.choice((*run, random.randint(*run))), self.course.last), *parts[1]]

    def _mixed(self, length: int) -> list[int]:
        return self.random.choices(LETTERS, k=max(length, 0))
