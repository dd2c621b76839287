"""Examines a function beside a decoder: which questions it answers wrongly, learned from many texts and arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import Question
from overlong.conformance.examination.of_questions import FACTORS, OfQuestions, others_of, place_of, places_of
from overlong.conformance.examination.rules import Table
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.vectors.expected import Asked, units_of
from overlong.conformance.vectors.families.family import CHARACTERS
from overlong.conformance.vectors.suites.functions import LENGTHS, long_texts, short_texts
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.of_questions import Other, Place
    from overlong.conformance.examination.rules import Rule
    from overlong.conformance.oracle.finding import Finding

_SEED = 0
_POOL = 1500
"""The most questions that are learned from at first."""
_SHARE = 3
"""They are at most one in so many of those that may be asked."""
_ROUNDS = 5
_ARGUMENTS = 24
"""The most arguments of one text."""
_NEAR = (0, 1, 2, 3)
_MISSED = 0.01
LONGEST = 300
"""The most octets of an example, and of texts made at will."""
_FLAWS = (b"\x80", b"\xff", b"\xc3", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf0")


@dataclass(frozen=True)
class _Row:
    """A question, and what is wrong with its answer."""

    asked: Asked
    finding: Finding | None
    mode: str

    @property
    def wrong(self) -> bool:
        return self.finding is not None

    @cached_property
    def place(self) -> Place:
        return place_of(self.asked, self.mode)

    @cached_property
    def places(self) -> list[Place]:
        return list(places_of(self.asked, self.mode))

    def meets(self, condition: OfQuestions) -> bool:
        """True if the condition predicts a wrong answer."""
        if condition.other:
            return condition.holds(self.asked.payload)
        return condition.holds_at(self.places if condition.anywhere else [self.place])


class FunctionCourse:
    """Experiments with one function."""

    def __init__(self, asker: Asker, finding: Finding, fresh: int) -> None:
        """``finding``: what is wrong with the example; ``fresh``: the questions of the last check."""
        self.asker, self.finding, self._fresh_asked = asker, finding, fresh
        self.asked, self._example = Asked.of(finding.vector.octets), finding
        self.question, self.mode = self.asked.question, asker.profile.divides
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self._rows = dict[bytes, _Row]()
        self._alike: Callable[[Finding], bool] = lambda _: True
        """Whether another wrong answer may have the same cause."""
        self._flawed = False
        """True if text is asked that is ill-formed."""

    def run(self) -> tuple[OfQuestions | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number.

        Raises:
            OutOfBudget: there are too few questions.
        """
        for self._flawed in (False, True):
            self._ask([self.asked] if self._flawed or read(self.asked.text).is_well_formed else [])
            self._ask(self._known_texts())
            if not any(row.wrong for row in self._rows.values()):
                continue
            found = self._learned()
            if found is not None and found[0].takes(self._example):
                return found
        return None, 0, 0

    # ---- learning ----

    def _learned(self) -> tuple[OfQuestions, int, int] | None:
        """The best condition, and how it predicts."""
        example, best = self._example, None
        ways: tuple[Callable[[Finding], bool], ...] = (
            lambda _: True,
            lambda found: found.code == example.code,
            lambda found: found.bucket == example.bucket,
        )
        for self._alike in ways:
            found = self._confirmed()
            if best is None or found[1] * best[2] > best[1] * found[2]:
                best = found
            if found[2] and found[1] >= (1 - _MISSED) * found[2]:
                break
        assert best is not None
        condition = best[0]
        explained = [row.finding for row in self._rows.values()
                     if row.finding is not None and row.meets(condition)]  # fmt: skip
        self.finding = min(explained, key=lambda found: (len(found.vector.octets), found.order), default=example)
        return best

    def _confirmed(self) -> tuple[OfQuestions, int, int]:
        """The condition once fresh questions correct it no more, or are used up."""
        missed = predicted = checked = 0
        condition = self._best()
        for number in range(_ROUNDS):
            size = self._fresh_asked if not missed and number else min(self._fresh_asked, 400)
            rows = self._ask(self._fresh(condition, min(size, self.asker.left // 2)))
            judged = [row for row in rows if row.finding is None or self._alike(row.finding)]
            missed = sum(row.meets(condition) != row.wrong for row in judged)
            predicted, checked = len(judged) - missed, len(judged)
            if not missed and number:
                break
            condition = self._best() if missed and number < _ROUNDS - 1 else condition
        return condition, predicted, checked

    def _best(self) -> OfQuestions:
        """The condition that explains most answers; of several, the one with an answer, and then the shortest."""
        rows = [row for row in self._rows.values() if row.finding is None or self._alike(row.finding)]
        other = next((each for each in others_of(self.question.name) if self._gives(each, rows)), None)
        if other is not None:
            return self._condition(other=other.name)
        best, missed = self._by_rule(rows, anywhere=False)
        if missed:
            anywhere, fewer = self._by_rule(rows, anywhere=True)
            return anywhere if fewer < missed else best
        return best

    def _gives(self, other: Other, rows: Sequence[_Row]) -> bool:
        """True if all answers are those that are known to be given instead of right ones."""
        for row in rows:
            if row.finding is None:
                if other.differs(row.asked, row.asked.right(self.mode)):
                    return False
            else:
                said = row.finding.observed
                if not isinstance(said, Accepted) or not other.gives(row.asked, said.values or ()):
                    return False
        return True

    def _by_rule(self, rows: Sequence[_Row], *, anywhere: bool) -> tuple[OfQuestions, int]:
        """The cheapest rule about the character at the argument, or about any; and the answers that it misses."""
        table = Table(FACTORS)
        for row in rows:
            if not anywhere:
                table.add(row.place, wrong=row.wrong)
                continue
            some = [place for place in row.places if place.end - place.start > 1 or place.is_flaw] or row.places
            for place in row.places if not row.wrong else some if len(some) == 1 else ():
                table.add(place, wrong=row.wrong)
        condition = self._condition(atoms=table.rule(), anywhere=anywhere)
        return condition, sum(row.meets(condition) != row.wrong for row in rows)

    def _condition(self, atoms: Rule = (), other: str = "", *, anywhere: bool = False) -> OfQuestions:
        code, name = self.finding.code, self.question.name
        return OfQuestions(code, name, self.mode, atoms, anywhere, other, of_text=not self._flawed)

    # ---- asking ----

    def _ask(self, some: Iterable[Asked]) -> list[_Row]:
        """Ask what is not known yet, and learn the answers."""
        new = {each.payload: each for each in some}
        ordered = sorted(new, key=lambda octets: new[octets].text)  # a text is read once
        new = {octets: new[octets] for octets in ordered if octets not in self._rows}
        said = self.asker.findings([Question(octets) for octets in new])
        rows = [_Row(each, finding, self.mode) for each, finding in zip(new.values(), said, strict=True)]
        self._rows.update(zip(new, rows, strict=True))
        return rows

    def _questions(self, texts: Iterable[bytes]) -> Iterator[Asked]:
        for text in texts:
            if len(text) > LONGEST + len(self.asked.text):
                continue
            if self.asker.is_limited(Asked(self.question, 0, text).payload):
                continue
            if not self._flawed and not read(text).is_well_formed:
                continue
            for argument in self._arguments(text):
                yield Asked(self.question, argument, text)

    def _arguments(self, text: bytes) -> Sequence[int]:
        """All arguments of a short text, and some of a long one: around a few characters and the ends."""
        every = self.question.asked(text)
        if len(every) <= _ARGUMENTS:
            return every
        ends = units_of(self.question, read(text))
        wide = [end for end, after in pairwise(ends) if after - end > 1]
        around = {*self.random.sample(ends, 2), *self.random.sample(wide, min(len(wide), 2)), self.asked.argument}
        near = {end + more for end in around for more in _NEAR}
        return [each for each in sorted({*near, every[0], *every[-2:]}) if each in every]

    # ---- texts ----

    def _known_texts(self) -> list[Asked]:
        """Questions about texts near the example, and about some of the suite's."""
        most = min(_POOL, self.asker.left // _SHARE)
        near = list(self._questions(dict.fromkeys(self._near(self.asked.text))))
        short = list(short_texts())
        texts = self.random.sample(short, min(len(short), most)) + [text for text, _ in long_texts()]
        plain = list(self._questions(_few()))
        known = list(self._questions(texts))
        chosen = [*self._some(near, most // 3), *self._some(plain, most // 4)]
        return [*chosen, *self._some(known, most - len(chosen))]

    def _some(self, asked: list[Asked], most: int) -> list[Asked]:
        return self.random.sample(asked, min(len(asked), most))

    def _near(self, text: bytes) -> Iterator[bytes]:
        """The text with another character at each place, with more or less around it."""
        yield text
        pieces = [text[piece.offset : piece.end] for piece in read(text).pieces]
        near = range(max(len(pieces) - 12, 0), len(pieces)) if len(pieces) > 24 else range(len(pieces))
        for place in near:
            before, behind = b"".join(pieces[:place]), b"".join(pieces[place + 1 :])
            lead = pieces[place][0]
            for instead in (b"", *CHARACTERS, *self._like(pieces[place]), *(_FLAWS if self._flawed else ())):
                yield before + instead + behind
                if lead >= 0x80 and not before.strip(b"a") and not behind.strip(b"a"):
                    yield instead
        for more in (*range(1, 10), 15, 16, 31, 32, 63, 64):
            for filler in CHARACTERS:
                yield filler * more + text
                yield text + filler * more
        for less in range(1, min(len(pieces), 80)):
            yield b"".join(pieces[less:])
            yield b"".join(pieces[:-less])

    def _like(self, character: bytes) -> list[bytes]:
        """Characters of as many octets: with this lead, or another one."""
        same = [each for each in short_texts() if len(each) == len(character) and len(read(each).pieces) == 1]
        leads = [each for each in same if each[0] == character[0]]
        return [*self.random.sample(leads, min(len(leads), 4)), *self.random.sample(same, min(len(same), 8))]

    def _fresh(self, condition: OfQuestions, count: int) -> list[Asked]:
        """Questions that were not asked, half of them predicted to be answered wrongly if there are as many."""
        drawn = dict[bytes, Asked]()
        for _ in range(4 * count):
            text = self._drawn(condition)
            for each in self._questions([text]):
                if self.random.random() < 3 / _ARGUMENTS + 1 / (1 + len(text)) and each.payload not in self._rows:
                    drawn[each.payload] = each
            if len(drawn) >= 4 * count:
                break
        inside, outside = list[Asked](), list[Asked]()
        for octets, each in drawn.items():
            (inside if condition.holds(octets) else outside).append(each)
        return [*inside[: max(count // 2, count - len(outside))], *outside[: max(count // 2, count - len(inside))]][
            :count
        ]

    def _drawn(self, condition: OfQuestions) -> bytes:
        """A text of a few characters, or one near the example, or one as long as the condition says."""
        random = self.random
        ends = [end for atom in condition.atoms for end in (atom.low, atom.high) if end and end <= LONGEST]
        kind = random.random()
        if kind < 0.35:
            return b"".join(self._character() for _ in range(random.randrange(1, 9)))
        if kind < 0.55:
            pieces = [self.asked.text[piece.offset : piece.end] for piece in read(self.asked.text).pieces]
            for _ in range(random.randrange(1, 4)):
                place = random.randrange(len(pieces) + 1)
                pieces[place : place + random.randrange(3)] = [self._character()] * random.randrange(3)
            return b"".join(pieces)
        size = random.choice((*ends, *LENGTHS, random.randrange(140))) + random.randrange(-3, 5)
        filler = random.choice((b"a", b"a", self._character()))
        text = filler * (max(size, 0) // len(filler))
        place = random.choice((random.randrange(len(text) + 1), *(end for end in ends if end <= len(text))))
        place -= place % len(filler)
        core = self._character()
        cut = place + len(core) if random.random() < 0.5 else place
        return text[:place] + core + text[cut - cut % len(filler) :]

    def _character(self) -> bytes:
        random = self.random
        if self._flawed and random.random() < 0.3:
            return random.choice(_FLAWS)
        if random.random() < 0.5:
            return random.choice(CHARACTERS)
        least, most = random.choice(
            ((0x20, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0xE000, 0xFFFF), (0x10000, 0x10FFFF))
        )
        return chr(random.randint(least, most)).encode()


def _few() -> Iterator[bytes]:
    """Every few characters of each length."""
    yield from (b"".join(some) for count in (1, 2, 3) for some in product(CHARACTERS, repeat=count))
