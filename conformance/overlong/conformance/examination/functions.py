"""A function beside a decoder: which questions it answers wrongly, learned from many texts and arguments.

What decides that a function is wrong about some texts only is the character at the argument, and the text around it.
The place of a question is the character that its argument points at: the one at an offset, the one before it for
``previous``, the one that a limit or a room ends within or right before. Without an argument it is the last character.
So the places of questions are those of octets, and rules are learned as those of decoders are. Some functions answer
another question instead: another count, the argument itself, fewer octets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from random import Random
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.examination.asking import Question as Given
from overlong.conformance.examination.rules import AnyCondition, Atom, Table, all_hold
from overlong.conformance.examination.sentence import about
from overlong.conformance.examination.text import BLOCKS, FLAG, NUMBER, OCTET, Factor, Site, factor_named, text_of
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.protocol.wire import ASK
from overlong.conformance.vectors.expected import Asked, units_of
from overlong.conformance.vectors.families.family import CHARACTERS
from overlong.conformance.vectors.suites.functions import LENGTHS, long_texts, short_texts
from overlong.reference import dialect
from overlong.reference.questions import QUESTIONS, is_fixed, modes_of, right
from overlong.reference.reading import FORMS, SUBPARTS, Piece, Reading, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.rules import Rule
    from overlong.conformance.oracle.finding import Finding
    from overlong.reference.questions import Numbers, Right

_SIZES = (1, 2, 3, 4)


@dataclass(slots=True)
class Place(Site):
    """A character of a text about which there is a question."""

    argument: int = 0
    inside: int = 0
    """The units of the character before the argument; of ``previous``, those after it."""
    lacks: int = 0
    """The units of room that the character needs besides what is left."""
    past: int = 0
    """The argument less the units of the text."""
    given: int = 0
    """The units that a converter gets."""
    is_flaw: bool = False
    is_text: bool = True
    """The whole text is well-formed."""
    counted: int = 0
    """The octets that belong to what is before the argument: all, if there is none."""


def place_of(asked: Asked, mode: str) -> Place:
    """The place that the argument of a question points at; ``mode``: the declared modes."""
    question, argument, octets = asked
    reading = _reading(octets, mode)
    pieces, ends = reading.pieces, units_of(question, reading)
    place = _place(asked, reading)
    if not pieces:
        return place
    if not question.argument:
        return _at(place, pieces[-1], counted_to=len(octets))
    before = question is QUESTIONS["previous"]
    number = (bisect_left if before else bisect_right)(ends, argument) - 1
    place.argument, place.past = argument, argument - ends[-1]
    if number < len(pieces):
        piece = pieces[max(number, 0)]
        place.inside = piece.end - argument if before else argument - ends[max(number, 0)]
        place.lacks = ends[number + 1] - argument if question.written else 0
        return _at(place, piece, counted_to=piece.offset)
    place.counted = place.start = place.end = len(octets)
    return place


def places_of(asked: Asked, mode: str) -> Iterator[Place]:
    """All characters of the text, each as a place."""
    reading = _reading(asked.text, mode)
    for piece in reading.pieces:
        yield _at(_place(asked, reading), piece, counted_to=piece.offset)


def _reading(octets: bytes, mode: str) -> Reading:
    """A text, divided as the declared modes say."""
    return read(octets, modes_of(mode)[0] or SUBPARTS)


def _place(asked: Asked, reading: Reading) -> Place:
    found = Place(text_of(dialect()), asked.text, 0, 0)
    found.is_text = reading.is_well_formed
    if asked.question.given != "utf-8":
        found.given = FORMS[asked.question.given].ends(reading)[-1]
    return found


def _at(place: Place, piece: Piece, counted_to: int) -> Place:
    place.start, place.end, place.is_flaw, place.counted = piece.offset, piece.end, not piece.is_character, counted_to
    return place


def _of(value: Callable[[Place], int]) -> Callable[[Site], int]:
    return cast("Callable[[Site], int]", value)


def _of_size(size: int) -> Callable[[Place], int]:
    others = bytes(octet for octet in range(256) if text_of(dialect()).sizes.get(octet) != size)
    return lambda place: len(place.octets[: place.counted].translate(None, others))


FACTORS = (
    Factor("size", NUMBER, _of(lambda place: place.end - place.start)),
    Factor("inside", NUMBER, _of(lambda place: place.inside)),
    Factor("lacks", NUMBER, _of(lambda place: place.lacks)),
    Factor("ill-formed", FLAG, _of(lambda place: place.is_flaw)),
    Factor("tail", FLAG, lambda site: int(any(map(dialect().layout.is_tail, site.octets[site.start : site.end][:1])))),
    Factor("well-formed", FLAG, _of(lambda place: place.is_text), 1),
    Factor("lead", OCTET, lambda site: site.octets[site.start] if site.start < len(site.octets) else -1, 1),
    *(Factor(f"of {size} octets", NUMBER, _of(_of_size(size))) for size in _SIZES),
    *map(factor_named, ("length", "offset", "behind", "characters", "wide")),
    Factor("argument", NUMBER, _of(lambda place: place.argument)),
    Factor("past", NUMBER, _of(lambda place: place.past)),
    Factor("given", NUMBER, _of(lambda place: place.given)),
    *map(factor_named, ("size before", "octet -1", "octet +1", "zeros")),
    *(factor_named(f"across {block}") for block in BLOCKS[1:]),
    *(factor_named(f"rest of {block}") for block in BLOCKS),
)
"""The factors, those first that are preferred if two explain the same."""
FACTOR = {factor.name: factor for factor in FACTORS}


def _as(name: str, asked: Asked) -> int:
    question = QUESTIONS[name]
    arguments = question.asked(asked.text)
    return right(question, asked.text, min(asked.argument, arguments[-1])).numbers[-1]


def _argument(asked: Asked) -> int:
    return min(asked.argument, len(asked.text))


def _before(most: int, asked: Asked) -> int:
    """The boundary before an offset, if it is near enough."""
    floor = _as("floor", asked)
    return max(floor, _argument(asked) - most)


def _width(most: int, asked: Asked) -> int:
    return min(right(asked.question, asked.text, asked.argument).numbers[-1], most)


def _surrogates(asked: Asked) -> int:
    """Each UTF-16 code unit as if it were a character."""
    return sum(len(FORMS["utf-8"].write(0xFFFF if piece.units > 1 else piece.scalar)) * piece.units
               for piece in read(asked.text).pieces)  # fmt: skip


OTHERS: tuple[tuple[str, tuple[str, ...], Callable[[Asked], int]], ...] = (
    ("counts octets", ("count-scalars", "count-utf16"), lambda asked: len(asked.text)),
    ("counts scalar values", ("count-utf16", "size-from-utf16", "size-from-utf32"), partial(_as, "count-scalars")),
    ("counts UTF-16 code units", ("count-scalars", "size-from-utf16", "size-from-utf32"),
     partial(_as, "count-utf16")),
    ("counts each half of a surrogate pair as a character", ("size-from-utf16", "size-from-utf32"), _surrogates),
    ("counts scalar values", ("utf16-of-offset",), partial(_as, "scalar-of-offset")),
    ("counts scalar values", ("truncate-utf16",), partial(_as, "truncate-scalars")),
    ("counts scalar values", ("offset-of-utf16",), partial(_as, "offset-of-scalar")),
    ("counts UTF-16 code units", ("scalar-of-offset",), partial(_as, "utf16-of-offset")),
    ("counts UTF-16 code units", ("offset-of-scalar",), partial(_as, "offset-of-utf16")),
    ("counts UTF-16 code units", ("truncate-scalars",), partial(_as, "truncate-utf16")),
    ("counts octets", ("utf16-of-offset", "scalar-of-offset", "offset-of-utf16", "offset-of-scalar",
                       "truncate-scalars", "truncate-utf16"), _argument),
    ("cuts at the limit, wherever that is", ("truncate",), _argument),
    ("takes any offset for a boundary", ("floor", "ceil"), _argument),
    ("answers the boundary after the offset", ("floor",), partial(_as, "ceil")),
    ("answers the boundary before the offset", ("ceil",), partial(_as, "floor")),
    ("keeps the character that the limit is inside", ("truncate",), partial(_as, "ceil")),
    ("takes each octet for the start of a character", ("is-boundary",), lambda _: 1),
    *((f"goes back at most {most} octet{'s' * (most > 1)}", ("floor", "truncate"), partial(_before, most))
      for most in (1, 2)),
    *((f"steps over at most {most} octet{'s' * (most > 1)}", ("next", "previous"), partial(_width, most))
      for most in (1, 2, 3)),
)  # fmt: skip
"""What functions answer instead of the right number: how a sentence says it, and files keep it; to which questions; and
the last number of the answer to well-formed text. The likeliest come first."""


def others_of(question: str) -> dict[str, Callable[[Asked], int]]:
    """Those to a question."""
    return {name: number for name, questions, number in OTHERS if question in questions}


def _is_wrong(other: Callable[[Asked], int], asked: Asked, expected: Right) -> bool:
    """True if another answer than the right ones is wrong."""
    among: set[Numbers] = {expected.numbers, *expected.also}
    fixed = expected.judged and not expected.refusal
    return fixed and other(asked) not in {numbers[-1] for numbers in among}


@dataclass(frozen=True)
class OfQuestions(AnyCondition):
    """Questions of one kind that a function answers wrongly."""

    symptom: str
    """The code of the least example."""
    question: str
    divides: str
    """The declared modes."""
    atoms: Rule = ()
    """What must hold of the character at the argument, and of the text."""
    anywhere: bool = False
    """True if it must hold of any character."""
    other: str = ""
    """What the function answers, if that is known: then it is wrong where that is."""
    of_text: bool = False
    """True if it was learned from well-formed text: of other text, no answer is fixed unless a mode is declared."""

    def takes(self, finding: Finding) -> bool:
        """True if a wrong answer belongs to this cause."""
        if self.holds(finding.vector.octets):
            return True
        asked = Asked.of(finding.vector.octets)
        open_ = self.of_text and not modes_of(self.divides)[0] and not is_fixed(asked.question, asked.text)
        return open_ and (asked.question.name, finding.code) == (self.question, self.symptom)

    def holds(self, question: Given | bytes) -> bool:
        """True if the function is predicted to answer a question wrongly for this cause."""
        asked = Asked.of(question if isinstance(question, bytes) else question.octets)
        if asked.question.name != self.question:
            return False
        if self.other:
            return _is_wrong(others_of(self.question)[self.other], asked, asked.right(self.divides))
        return self.holds_at(places_of(asked, self.divides) if self.anywhere else [place_of(asked, self.divides)])

    def holds_at(self, places: Iterable[Place]) -> bool:
        """True if the rule holds at one of some places."""
        return any(all_hold(self.atoms, place, FACTOR.__getitem__) for place in places)

    def predicts(self, code: str, finding: Finding) -> bool:  # noqa: ARG002 (a decoder needs it)
        return finding.operation == ASK and self.takes(finding)

    def to_json(self) -> dict[str, object]:
        said: dict[str, object] = {"symptom": self.symptom, "question": self.question}
        said |= {"ill-formed": self.divides} if self.divides else {}
        said |= {"other": self.other} if self.other else {"rule": [atom.to_json() for atom in self.atoms]}
        said |= {"anywhere": True} if self.anywhere else {}
        return said | ({"of text": True} if self.of_text else {})

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> OfQuestions:
        """The condition that :meth:`to_json` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        question, other = QUESTIONS[read["question"]].name, str(read.get("other", ""))
        if other:
            others_of(question)[other]
        atoms = tuple(Atom.of_json(each, FACTOR.__getitem__) for each in read.get("rule", ()))
        anywhere, of_text = (bool(read.get(name, False)) for name in ("anywhere", "of text"))
        return cls(str(read["symptom"]), question, str(read.get("ill-formed", "")), atoms, anywhere, other, of_text)

    @property
    def sentence(self) -> str:
        """``truncate cuts characters of 3 octets if the limit is inside them``."""
        if self.other:
            return f"{self.question} {self.other}"
        return f"{self.question} {about(self.symptom, self.atoms, QUESTIONS[self.question], anywhere=self.anywhere)}"


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


Row = tuple[Asked, "Finding | None"]
"""A question, and what is wrong with its answer."""


class FunctionCourse:
    """Experiments with one function."""

    def __init__(self, asker: Asker, finding: Finding, fresh: int) -> None:
        """``finding``: what is wrong with the example; ``fresh``: the questions of the last check."""
        self.asker, self.finding, self._fresh_asked = asker, finding, fresh
        self.asked, self._example = Asked.of(finding.vector.octets), finding
        self.question, self.mode = self.asked.question, asker.profile.divides
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self._rows = dict[bytes, Row]()
        self._places = dict[tuple[bytes, bool], list[Place]]()
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
            if not any(finding for _, finding in self._rows.values()):
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
        wrong = ((asked, finding) for asked, finding in self._rows.values() if finding is not None)
        explained = (finding for asked, finding in wrong if self._meets(condition, asked))
        self.finding = min(explained, key=lambda found: (len(found.vector.octets), found.order), default=example)
        return best

    def _confirmed(self) -> tuple[OfQuestions, int, int]:
        """The condition once fresh questions correct it no more, or are used up."""
        missed = predicted = checked = 0
        condition = self._best()
        for number in range(_ROUNDS):
            size = self._fresh_asked if not missed and number else min(self._fresh_asked, 400)
            rows = self._ask(self._fresh(condition, min(size, self.asker.left // 2)))
            missed, checked = self._missed(condition, judged := self._judged(rows)), len(judged)
            predicted = checked - missed
            if not missed and number:
                break
            condition = self._best() if missed and number < _ROUNDS - 1 else condition
        return condition, predicted, checked

    def _best(self) -> OfQuestions:
        """The condition that explains most answers; of several, the one with an answer, and then the shortest."""
        rows = self._judged(self._rows.values())
        others = others_of(self.question.name).items()
        other = next((name for name, number in others if self._gives(number, rows)), None)
        if other is not None:
            return self._condition(other=other)
        best, missed = self._by_rule(rows, anywhere=False)
        if missed:
            anywhere, fewer = self._by_rule(rows, anywhere=True)
            return anywhere if fewer < missed else best
        return best

    def _judged(self, rows: Iterable[Row]) -> list[Row]:
        """The rows of right answers, and of wrong ones that may have the same cause."""
        return [(asked, finding) for asked, finding in rows if finding is None or self._alike(finding)]

    def _meets(self, condition: OfQuestions, asked: Asked) -> bool:
        """True if the condition predicts a wrong answer."""
        if condition.other:
            return condition.holds(asked.payload)
        return condition.holds_at(self._places_of(asked, anywhere=condition.anywhere))

    def _places_of(self, asked: Asked, *, anywhere: bool) -> list[Place]:
        key = asked.payload, anywhere
        if key not in self._places:
            self._places[key] = [*places_of(asked, self.mode)] if anywhere else [place_of(asked, self.mode)]
        return self._places[key]

    def _missed(self, condition: OfQuestions, rows: Sequence[Row]) -> int:
        """The number of answers that a condition predicts wrongly."""
        return sum(self._meets(condition, asked) != (finding is not None) for asked, finding in rows)

    def _gives(self, other: Callable[[Asked], int], rows: Sequence[Row]) -> bool:
        """True if all answers are those that are known to be given instead of right ones."""
        for asked, finding in rows:
            if finding is None:
                if _is_wrong(other, asked, asked.right(self.mode)):
                    return False
                continue
            values = finding.observed.values if isinstance(finding.observed, Accepted) else None
            if not values or values[-1] != other(asked):
                return False
        return True

    def _by_rule(self, rows: Sequence[Row], *, anywhere: bool) -> tuple[OfQuestions, int]:
        """The cheapest rule about the character at the argument, or about any; and the answers that it misses."""
        table = Table(FACTORS)
        for asked, finding in rows:
            places, wrong = self._places_of(asked, anywhere=anywhere), finding is not None
            some = [place for place in places if place.end - place.start > 1 or place.is_flaw] or places
            for place in places if not wrong else some if len(some) == 1 else ():
                table.add(place, wrong=wrong)
        condition = self._condition(atoms=table.rule(), anywhere=anywhere)
        return condition, self._missed(condition, rows)

    def _condition(self, atoms: Rule = (), other: str = "", *, anywhere: bool = False) -> OfQuestions:
        code, name = self.finding.code, self.question.name
        return OfQuestions(code, name, self.mode, atoms, anywhere, other, of_text=not self._flawed)

    # ---- asking ----

    def _ask(self, some: Iterable[Asked]) -> list[Row]:
        """Ask what is not known yet, and learn the answers."""
        new = {each.payload: each for each in some}
        ordered = sorted(new, key=lambda octets: new[octets].text)  # a text is read once
        new = {octets: new[octets] for octets in ordered if octets not in self._rows}
        said = self.asker.findings(list(map(Given, new)))
        rows = list(zip(new.values(), said, strict=True))
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
        few = (b"".join(some) for count in (1, 2, 3) for some in product(CHARACTERS, repeat=count))
        plain = list(self._questions(few))
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
        most = max(count // 2, count - len(outside)), max(count // 2, count - len(inside))
        return [*inside[: most[0]], *outside[: most[1]]][:count]

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
