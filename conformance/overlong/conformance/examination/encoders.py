"""An encoder: which numbers it encodes wrongly, where they stand, and in what text.

A text is looked at as one octet for each of its numbers, or code units: the kind of that number. So the places of its
numbers are those of octets, and rules are learned as those of decoders are. Numbers are asked alone first, halving
between answers. An encoder that is wrong in some texts only is asked texts: which number matters, its place, and the
text around it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate, compress, groupby
from random import Random
from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.asking import RIGHT, Question, between
from overlong.conformance.examination.rules import AnyCondition, Atom, Table, all_hold
from overlong.conformance.examination.sentence import counted, listed, numbers, phrase, such_as
from overlong.conformance.examination.text import BLOCKS, NONE, NUMBER, OCTET, Factor, Site, factor_named, text_of
from overlong.conformance.protocol.observation import KINDS, Code
from overlong.conformance.protocol.wire import ENCODE_UTF16, ENCODING, big_endian
from overlong.conformance.vectors.expected import CATEGORY_OF, WIDTHS, in_units, numbered, octets_of, replacement
from overlong.conformance.vectors.suites.encoding import EDGES, FLAWS, LETTERS
from overlong.reference import DIALECTS, dialect
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.rules import Rule
    from overlong.conformance.oracle.finding import Finding
    from overlong.reference import Dialect

_REST, _LONGEST, _LEAD, _TRAIL, _BEYOND = 0, 6, 0x10, 0x11, 0x12
"""Kinds besides the lengths of characters in octets. A rest is the second half of a pair."""
_MIXED, _LAST_UNIT = 0xFF, 0xFFFF
_FLAWS = {_LEAD: "lone lead surrogates", _TRAIL: "lone trail surrogates", _BEYOND: "numbers beyond 10FFFF"}
LAST = 0xFFFF_FFFF
"""The greatest number that an encoder can be asked."""
_NAMED = 5
"""The most runs of numbers that a sentence names."""


def sites_of(
    operation: str, payload: bytes, speaks: str, has: Callable[[int], bool]
) -> Iterator[tuple[int, bool, Site]]:
    """Some numbers of a text, whether each is a scalar value, and its place: those that ``has``, and all flaws."""
    found, spoken = list(numbered(operation, payload)), dialect(speaks)
    distinct = {number for _, number in found}
    kinds = {number: _kind(number, spoken) for number in distinct}
    some = {number for number in distinct if has(number) or kinds[number] in _FLAWS}
    wide = {number: 2 if operation == ENCODE_UTF16 and number > _LAST_UNIT else 1 for number in distinct}
    spelt = {number: bytes([kinds[number], _REST][: wide[number]]) for number in distinct}
    text, octets = text_of(spoken), b"".join([spelt[number] for _, number in found])
    for place, number in found if some else ():
        if number in some:
            yield number, kinds[number] not in _FLAWS, Site(text, octets, place, place + wide[number])


def whole_site(operation: str, payload: bytes, speaks: str) -> Site:
    """A text as one place: at its beginning."""
    first = next(sites_of(operation, payload, speaks, lambda _: True), None)
    return Site(text_of(dialect(speaks)), b"" if first is None else first[2].octets, 0, 0)


def _kind(number: int, spoken: Dialect) -> int:
    octets = octets_of(number, spoken)
    if octets is not None:
        return len(octets)
    return (_LEAD if number in LEAD_SURROGATES else _TRAIL) if number in SURROGATES else _BEYOND


def _octets(kinds: bytes) -> int:
    return sum(length * kinds.count(length) for length in range(1, _LONGEST + 1))


def _others(site: Site) -> int:
    """The kind of all other numbers, if they have one."""
    kinds = set(site.before + site.behind) - {_REST}
    return NONE if not kinds else kinds.pop() if len(kinds) == 1 else _MIXED


def _before(site: Site) -> int:
    return next(reversed(site.before.translate(None, bytes([_REST]))), NONE)


FACTORS = (
    Factor("index", NUMBER, lambda site: site.start),
    Factor("numbers", NUMBER, lambda site: len(site.octets)),
    Factor("numbers behind", NUMBER, lambda site: len(site.octets) - site.end),
    Factor("octets before", NUMBER, lambda site: _octets(site.before), 1),
    Factor("octets in all", NUMBER, lambda site: _octets(site.octets), 1),
    Factor("kind of others", OCTET, _others),
    Factor("kind before", OCTET, _before),
    *(factor_named(f"rest of {block}") for block in BLOCKS),
)
FACTOR = {factor.name: factor for factor in FACTORS}


_SAID = {"numbers": "in text of", "octets in all": "in text of", "octets before": "after", "numbers behind": "before"}


def _phrase(atom: Atom, unit: str) -> str:
    name = atom.factor
    if name == "numbers behind" and atom.high == 0:
        return "at the end"
    if name in _SAID:
        return f"{_SAID[name]} {counted(atom, 'octet' if name.startswith('octets') else unit)}"
    if not name.startswith("kind"):
        return f"at index {numbers(atom)}" if name == "index" else phrase(atom)
    kinds = listed([_named(kind) for kind in sorted(atom.values or ())])
    return f"{'after' if name == 'kind before' else 'in text of'} {'anything but ' * atom.without}{kinds}"


def _named(kind: int) -> str:
    if kind in (NONE, _MIXED):
        return "nothing else" if kind == NONE else "several kinds"
    return _FLAWS.get(kind) or f"characters of {kind} octet{'s' * (kind > 1)}"


_VERBS: dict[str, str] = {
    Code.SCALAR_REFUSED: "refuses to encode",
    Code.WRONG_OCTETS: "writes other octets for",
    Code.SURROGATE_ENCODED: "writes surrogates for",
    Code.BEYOND_ENCODED: "encodes",
    Code.SIZE: "announces another size for",
    Code.REFUSAL_PLACE: "reports another place for",
    Code.INTERNAL_ERROR: "fails with an internal error at",
    Code.ENCODER_REPLACEMENT: "does not refuse or replace as declared",
}


@dataclass(frozen=True)
class OfNumbers(AnyCondition):
    """Numbers that an encoder encodes wrongly."""

    symptom: str
    runs: tuple[tuple[int, int], ...]
    """The first and the last number of each run, in order."""
    speaks: str
    operation: str
    encodes: str
    """What the encoder does with what is no scalar value."""
    always: bool = False
    """True if the numbers do not matter: it encodes none at all wrongly, or all text of some kind or length."""
    atoms: Rule = ()
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
            wrong = self._holds_at(whole_site(operation, octets, self.speaks))
        sites = list(sites_of(operation, octets, self.speaks, self._has))
        if self.silent and refuses and not all(is_scalar for _, is_scalar, _ in sites):
            return False
        for number, is_scalar, site in sites:
            if self._has(number) and self._holds_at(site):
                if not is_scalar or self.symptom == Code.SCALAR_REFUSED:
                    return True
                wrong = True
            elif not is_scalar and refuses:
                return False  # rightly refused: nothing else shows
        return wrong

    def _holds_at(self, site: Site) -> bool:
        return all_hold(self.atoms, site, FACTOR.__getitem__)

    def _has(self, number: int) -> bool:
        place = bisect_right(self.runs, (number, LAST)) - 1
        return place >= 0 and number <= self.runs[place][1]

    def predicts(self, code: str, finding: Finding) -> bool:  # noqa: ARG002 (a decoder needs it)
        return finding.operation in ENCODING and self.holds(finding.vector.octets, finding.operation)

    def to_json(self) -> dict[str, object]:
        numbers = [list(run) for run in self.runs]
        said: dict[str, object] = {"symptom": self.symptom, "numbers": numbers, "dialect": self.speaks}
        if self.atoms:
            said["rule"] = [atom.to_json() for atom in self.atoms]
        return said | {name: True for name in ("always", "silent") if getattr(self, name)}

    def kept(self) -> dict[str, object]:
        return {**self.to_json(), "operation": self.operation, "encodes": self.encodes}

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> OfNumbers:
        """The condition that :meth:`kept` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        if read["dialect"] not in DIALECTS:
            raise ValueError(read["dialect"])
        runs = tuple((int(first), int(last)) for first, last in read["numbers"])
        atoms = tuple(Atom.of_json(each, FACTOR.__getitem__) for each in read.get("rule", ()))
        always, silent = (bool(read.get(name, False)) for name in ("always", "silent"))
        operation, encodes = str(read["operation"]), str(read["encodes"])
        return cls(str(read["symptom"]), runs, read["dialect"], operation, encodes, always, atoms, silent)

    @property
    def sentence(self) -> str:
        """``refuses to encode U+FFFE``."""
        return f"{_VERBS.get(self.symptom) or KINDS[self.symptom].title} {self.numbers}"

    @property
    def numbers(self) -> str:
        """``U+DC00 to U+DFFF at index 32 or more``; ``66 characters, such as U+FDD0, U+8FFFE and U+10FFFF``."""
        unit = "code unit" if self.operation == ENCODE_UTF16 else "code point"
        said = [_phrase(atom, unit) for atom in sorted(self.atoms, key=lambda atom: not atom.factor.startswith("kind"))]
        if self.always:
            return f"text {' and '.join(said).replace('in text of', 'of')}" if said else "any text"
        named = [_name(first) if first == last else f"{_name(first)} to {_name(last)}" for first, last in self.runs]
        some = " or ".join(named)
        if len(named) > _NAMED:
            count = sum(last - first + 1 for first, last in self.runs)
            what = "characters" if self.symptom == Code.SCALAR_REFUSED else "numbers"
            some = such_as(count, what, [_name(first) for first, _ in self.runs[:-1]] + [_name(self.runs[-1][1])])
        return " ".join(filter(None, (some, " and ".join(said))))


def _name(number: int) -> str:
    return f"U+{number:04X}" if number in CODE_POINTS else f"number {number:X}"


_SEED, _CHECKED, _DRAWN, _ROUNDS = 0, 400, 300, 4
_PLACES = (0, 0x80, 0x800, 0xD800, 0xDC00, 0xE000, 0xFDD0, 0xFEFF, 0x110000, 0x20_0000, 0x400_0000)
_PLANES = range(0xFFFE, CODE_POINTS.stop, 0x10000)
_BEHIND = (0, 1, 2, 20)
_TEXTS = 16
_NOTED = 8
"""The most places of one text that are learned from."""
_DENSE, _EVERY, _DRAWN_IN_TEXT, _SMALL = 12, 128, 30, 80
_ROUNDS_OF_TEXTS, _CHECKED_TEXTS = 6, 200
_MISSED = 0.01
"""The most that a condition may predict wrongly: less would be a riddle."""
_SHARE = 6
"""Each step may ask one part in so many of the octets that are left."""
_FLAWED = tuple(flaw[0] for flaw in FLAWS if len(flaw) == 1)
_SURROGATES = (0xD800, 0xDBFF, 0xDC00, 0xDFFF)


def _near(number: int) -> Iterator[int]:
    """Indices or lengths to try, besides that of the example."""
    yield from range(_DENSE)
    yield from ((1 << bits) + more for bits in range(4, (4 * number).bit_length()) for more in (-1, 0, 1))


def _ends(condition: OfNumbers) -> list[int]:
    """The numbers that the rule of a condition names."""
    return [end for atom in condition.atoms for end in (atom.low, atom.high) if end]


class EncoderCourse:
    """Experiments with one encoder: numbers alone, and then texts if these do not show why its answer is wrong."""

    def __init__(self, asker: Asker, symptom: str) -> None:
        self.asker, self.symptom = asker, symptom
        self.last = CODE_POINTS.stop - 1 if asker.operation == ENCODE_UTF16 else LAST
        """The greatest number that it can be asked."""
        self.least: list[int] = []
        """The shortest text that was answered wrongly."""
        self._known: dict[int, bool] = {}
        """Whether each number is encoded wrongly, in text between these."""
        self._before, self._behind = list[int](), list[int]()
        self._runs: tuple[tuple[int, int], ...] = ()
        self._table = Table(FACTORS)
        self._letter = LETTERS[0]
        self._core: int | None = None
        """The number that matters; None if it is the whole text."""
        self._refuses = replacement(asker.profile.encodes, asker.profile.dialect) is None

    def run(self, asked: Question) -> tuple[OfNumbers | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number; None if none was found.

        Raises:
            OutOfBudget: there are too few questions.
        """
        given = [number for _, number in numbered(self.asker.operation, asked.octets)]
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        found = self._alone(given)
        if found is not None and found[0].holds(asked):
            self.least = [first for first, _ in found[0].runs[:1]]
            return found
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        return self._in_texts(given) or (None, 0, 0)

    def question(self, numbers: Sequence[int]) -> Question:
        """Numbers as the encoder's input."""
        if self.asker.operation != ENCODE_UTF16:
            return Question(big_endian("I", list(numbers)))
        return Question(in_units(numbers))

    def _condition(self, *, always: bool, silent: bool = False, atoms: Rule = ()) -> OfNumbers:
        """The condition of this encoder that says this of the runs of numbers."""
        profile, operation = self.asker.profile, self.asker.operation
        speaks, encodes = profile.dialect.name, profile.encodes
        return OfNumbers(self.symptom, self._runs, speaks, operation, encodes, always, atoms, silent=silent)

    def _wrong(self, texts: Sequence[list[int]]) -> list[bool]:
        said = [symptom != RIGHT for symptom in self.asker.ask(list(map(self.question, texts)))]
        self.least = min([self.least, *compress(texts, said)], key=len)
        return said

    # ---- numbers alone ----

    def _alone(self, given: Sequence[int]) -> tuple[OfNumbers, int, int] | None:
        near = {place + more for place in (*_PLACES, *_PLANES, *given) for more in (-1, 0, 1, 2)}
        always, silent = self._wrong([[]])[0], False
        self._ask_alone([*near, self.last, *(self.random.randrange(CODE_POINTS.stop) for _ in range(_DRAWN))])
        if not always and not any(self._known.values()):
            return None
        predicted = checked = 0
        self._halve_runs(always=always)
        if self._runs and self.symptom == Code.SCALAR_REFUSED:
            silent = not self._wrong([[self._runs[0][0], SURROGATES.start]])[0]
        condition = self._condition(always=always, silent=silent)
        for _ in range(_ROUNDS):
            fresh = [self._few_numbers(condition) for _ in range(min(_CHECKED, self.asker.left))]
            said = zip(fresh, self._wrong(fresh), strict=True)
            missed = [each for each, wrong in said if condition.holds(self.question(each)) != wrong]
            predicted, checked = len(fresh) - len(missed), len(fresh)
            if not missed:
                break
            self._ask_alone(number for each in missed for number in each)
            self._halve_runs(always=always)
            condition = self._condition(always=always, silent=silent)
        return condition, predicted, checked

    def _halve_runs(self, *, always: bool = False) -> None:
        """Find the runs of wrong numbers, each end by halving; there are none if numbers do not matter."""
        while further := between(self._known):
            self._ask_alone(further)
        by_answer = groupby(sorted(self._known), self._known.__getitem__)
        runs = [list(run) for wrong, run in by_answer if wrong and not always]
        self._runs = tuple((run[0], run[-1]) for run in runs)

    def _ask_alone(self, numbers: Iterable[int]) -> None:
        new = [each for each in dict.fromkeys(numbers) if 0 <= each <= self.last and each not in self._known]
        said = self._wrong([[*self._before, each, *self._behind] for each in new])
        self._known.update(zip(new, said, strict=True))

    def _few_numbers(self, condition: OfNumbers) -> list[int]:
        random = self.random
        ends = [end + more for run in condition.runs for end in run for more in (-1, 0, 1)]
        ends = [end for end in ends if 0 <= end <= self.last] or [0]
        return [
            random.choice((random.choice(ends), random.randrange(0x80), random.randrange(self.last + 1)))
            for _ in range(random.randrange(1, 4))
        ]

    # ---- texts ----

    def _in_texts(self, given: list[int]) -> tuple[OfNumbers, int, int] | None:
        self.least, self._runs = given, ()
        index = self._find()
        if index is None:
            return None
        longest = len(self.least)
        self._vary(index, longest - index - 1)
        if self._core is not None:
            self._widen()
        self._step_by_step(_ends(self._learned()))
        condition, missed, checked = None, 0, 0
        for _ in range(_ROUNDS_OF_TEXTS):
            condition = self._learned()
            missed, checked = self._missed(condition, longest)
            if not missed:
                break
        if condition is None or missed > _MISSED * checked:
            return None  # several numbers matter, or something else that is not looked at
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
            some = between(known) if len(said) == len(some) else []

    def _step_by_step(self, ends: Iterable[int]) -> None:
        """Ask texts of one octet more each, around ends that longer characters may have overstepped."""
        core, letter = self._core, LETTERS[0]
        ordered = sorted(size for size in {end + more for end in ends for more in range(-4, 4)} if size >= 0)
        self._ask([[letter] * size if core is None else self._around(core, size, 0, letter) for size in ordered])

    def _widen(self) -> None:
        """Find the other numbers that are encoded wrongly at the place of the least example."""
        index = next(place for place, number in enumerate(self.least) if number == self._core)
        self._before, self._behind, self._known = self.least[:index], self.least[index + 1 :], {}
        ends = (
            end + more for end in (*EDGES, *_SURROGATES, *_FLAWED, self.last, self._core or 0) for more in (-1, 0, 1)
        )
        drawn = (self.random.randrange(CODE_POINTS.stop) for _ in range(_DRAWN_IN_TEXT))
        self._ask_alone([*ends, *LETTERS, *drawn])
        self._halve_runs()

    def _ask(self, texts: Sequence[list[int]]) -> list[bool]:
        """Ask as many of the texts as may be asked now, and learn from the answers."""
        width, most = WIDTHS[CATEGORY_OF[self.asker.operation]], self.asker.octets // _SHARE
        sizes = accumulate(width * len(text) for text in texts)
        some = [text for text, size in zip(texts, sizes, strict=True) if size <= most][: max(self.asker.left, 0)]
        said = self._wrong(some)
        for text, wrong in zip(some, said, strict=True):
            self._note(text, wrong=wrong)
        return said

    def _note(self, text: list[int], *, wrong: bool) -> None:
        """Take a text into the table: its place if it has one; if it has several, each of a right answer."""
        payload, speaks = self.question(text).octets, self.asker.profile.dialect.name
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

    def _learned(self) -> OfNumbers:
        return self._condition(always=self._core is None, atoms=self._table.rule())

    def _missed(self, condition: OfNumbers, longest: int) -> tuple[int, int]:
        """Of fresh texts, the number that the condition predicts wrongly, and the number asked."""
        texts = [self._fresh(condition, longest) for _ in range(_CHECKED_TEXTS)]
        said = self._ask(texts)
        foreseen = [condition.holds(self.question(text)) for text in texts[: len(said)]]
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
        return [*parts[0], min(random.choice((*run, random.randint(*run))), self.last), *parts[1]]

    def _mixed(self, length: int) -> list[int]:
        return self.random.choices(LETTERS, k=max(length, 0))
