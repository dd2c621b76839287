"""The condition of a function beside a decoder: what decides that it is wrong about some texts only.

That is the character at the argument, and the text around it. The place of a question is the character that its
argument points at: the one at an offset, the one before it for ``previous``, the one that a limit or a room ends within
or right before. Without an argument it is the last character. So the places of questions are those of octets, and rules
are learned as those of decoders are. Some functions answer another question instead: another count, the argument
itself, fewer octets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.examination.condition import AnyCondition
from overlong.conformance.examination.factors import BLOCKS, FLAG, NUMBER, OCTET, Factor, Site, across, factor_named
from overlong.conformance.examination.rules import Atom, all_hold
from overlong.conformance.examination.sentence import counted, numbers, phrase
from overlong.conformance.examination.text import octets_in_words, text_of
from overlong.conformance.protocol.observation import KINDS, Code
from overlong.conformance.vectors.questions import Asked, units_of
from overlong.reference import dialect
from overlong.reference.questions import QUESTIONS, Question, is_fixed, modes_of, right
from overlong.reference.reading import FORMS, SUBPARTS, Piece, Reading, read

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.examination.asking import Question as Given
    from overlong.conformance.examination.rules import Rule
    from overlong.conformance.examination.text import Text
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
    found = Place(_text(), asked.text, 0, 0)
    found.is_text = reading.is_well_formed
    if asked.question.given != "utf-8":
        found.given = FORMS[asked.question.given].ends(reading)[-1]
    return found


def _at(place: Place, piece: Piece, counted_to: int) -> Place:
    place.start, place.end, place.is_flaw, place.counted = piece.offset, piece.end, not piece.is_character, counted_to
    return place


@cache
def _text() -> Text:
    return text_of(dialect())


def _of(value: Callable[[Place], int]) -> Callable[[Site], int]:
    return cast("Callable[[Site], int]", value)


def _of_size(size: int) -> Callable[[Place], int]:
    others = bytes(octet for octet in range(256) if _text().sizes.get(octet) != size)
    return lambda place: len(place.octets[: place.counted].translate(None, others))


FACTORS = (
    Factor("size", NUMBER, _of(lambda place: place.end - place.start)),
    Factor("inside", NUMBER, _of(lambda place: place.inside)),
    Factor("lacks", NUMBER, _of(lambda place: place.lacks)),
    Factor("ill-formed", FLAG, _of(lambda place: place.is_flaw)),
    Factor(
        "tail",
        FLAG,
        lambda site: int(dialect().layout.is_tail(site.octets[site.start])) if site.start < site.end else 0,
    ),
    Factor("well-formed", FLAG, _of(lambda place: place.is_text), 1),
    Factor("lead", OCTET, lambda site: site.octets[site.start] if site.start < len(site.octets) else -1, 1),
    *(Factor(f"of {size} octets", NUMBER, _of(_of_size(size))) for size in _SIZES),
    *map(factor_named, ("length", "offset", "behind", "characters", "wide")),
    Factor("argument", NUMBER, _of(lambda place: place.argument)),
    Factor("past", NUMBER, _of(lambda place: place.past)),
    Factor("given", NUMBER, _of(lambda place: place.given)),
    *map(factor_named, ("size before", "octet -1", "octet +1", "zeros")),
    *map(across, BLOCKS[1:]),
    *(factor_named(f"rest of {block}") for block in BLOCKS),
)
"""The factors, those first that are preferred if two explain the same."""
FACTOR = {factor.name: factor for factor in FACTORS}


_END = "the end of the text"
_OF_THE_CHARACTER = ("size", "lead", "ill-formed", "tail")


def in_words(atoms: Sequence[Atom], question: Question, *, anywhere: bool, of_text: bool) -> str:
    """``characters of 3 or more octets if the limit is inside them``; ``text if the limit is inside a character``.

    Args:
        atoms: what must hold.
        question: the question.
        anywhere: of any character; else of the one at the argument.
        of_text: the verb speaks of text, not of characters.
    """
    own = [atom for atom in atoms if atom.factor in _OF_THE_CHARACTER]
    inside = [atom for atom in atoms if atom.factor == "inside"]
    phrases = [_phrase(atom, question) for atom in atoms if atom not in own + inside]
    phrases.sort(key=lambda each: not each.startswith("in text "))
    head = "text" if of_text else _characters(own, one=False)
    it = _characters(own, one=True) if of_text else "them"
    if not atoms:
        head = f"any {head.removesuffix('s')}"
    elif (anywhere or not question.argument) and own and of_text:
        head += f" with {it}" if anywhere else f" that ends with {it}"
    elif question.written:
        ifs = [f"{it} {'does' if of_text else 'do'} not fit"] if own and of_text else []
        head += " if " * bool(ifs or inside) + " and ".join([*ifs, *(_left(atom, question) for atom in inside)])
    elif question.argument and (inside or (own and of_text)):
        place = "at" if it == _END else "in"
        head += f" if the {question.argument} is {_into(inside[0], question) if inside else place} {it}"
    more = " and ".join(phrases)
    return f"{head} {more.removeprefix('in text ') if head == 'text' else more}".rstrip()


def _characters(own: Sequence[Atom], *, one: bool) -> str:
    """``characters of 3 octets``; or ``a character of 3 octets``."""
    said, noun, begin = list[str](), "a character" if one else "characters", "begins" if one else "begin"
    for atom in own:
        match atom.factor:
            case "size" if atom.high == 0:
                return _END
            case "size" if (atom.low, atom.high, atom.modulus) == (1, None, 0):
                pass
            case "size":
                said.append(f"of {numbers(atom)} octet{'s' * ((atom.low, atom.high) != (1, 1))}")
            case "lead":
                some = [value for value in sorted(atom.values or ()) if value >= 0]
                said.append(f"that {begin} with {'anything but ' * atom.without}{octets_in_words(some)}")
            case "tail":
                noun = "characters or leads" if atom.high == 0 else "tails without a lead"
            case _:
                noun = noun if atom.high == 0 else "ill-formed octets"
    return " ".join([noun, *said])


def _phrase(atom: Atom, question: Question) -> str:
    name, argument = atom.factor, question.argument
    match name:
        case "lacks":
            return (
                f"if {counted(atom, FORMS[question.written].word)} of room {'is' if atom.high == 1 else 'are'} missing"
            )
        case "argument":
            return f"with {argument} {numbers(atom)}"
        case "past":
            return _past(atom, argument)
        case "given":
            return f"in text of {counted(atom, FORMS[question.given].word)}"
        case "well-formed":
            return "in ill-formed text" if atom.high == 0 else "in well-formed text"
        case _ if name.startswith("of "):
            where = f" before the {argument}" if argument else ""
            if atom.high == 0 or (atom.low, atom.high, atom.modulus) == (1, None, 0):
                return f"with {'no' if atom.high == 0 else 'a'} character {name}{where}"
            return f"with {counted(atom, 'character')} {name}{where}"
        case _:
            return phrase(atom).replace("in inputs of", "in text of")


def _into(atom: Atom, question: Question) -> str:
    """Where the argument points within a character."""
    before = question is QUESTIONS["previous"]
    if atom.high == 0:
        return f"at the {'end' if before else 'start'} of"
    if (atom.low, atom.high, atom.modulus) == (1, None, 0):
        return "inside"
    return f"{counted(atom, 'octet')} {'before the end of' if before else 'into'}"


def _left(atom: Atom, question: Question) -> str:
    word = FORMS[question.written].word
    return "no room is left" if atom.high == 0 else f"room for {counted(atom, word)} is left"


def _past(atom: Atom, argument: str) -> str:
    if atom.low is not None and atom.low >= 0 and atom.high is None:
        return f"if the {argument} is {'past' if atom.low else 'at or past'} the end"
    if atom.low == atom.high == 0:
        return f"if the {argument} is at the end"
    if atom.high is not None and atom.high < 0 and atom.low is None:
        return f"if the {argument} is {-atom.high} or more before the end"
    return f"if the {argument} less all of the text is {numbers(atom)}"


@dataclass(frozen=True)
class Other:
    """An answer to well-formed text."""

    name: str
    """How a sentence says it, and how files keep it."""
    questions: tuple[str, ...]
    number: Callable[[Asked], int]
    """The last number of the answer."""

    def gives(self, asked: Asked, numbers: Sequence[int]) -> bool:
        """True if these are its numbers."""
        return bool(numbers) and numbers[-1] == self.number(asked)

    def differs(self, asked: Asked, expected: Right) -> bool:
        """True if its answer is wrong."""
        among: set[Numbers] = {expected.numbers, *expected.also}
        fixed = expected.judged and not expected.refusal
        return fixed and self.number(asked) not in {numbers[-1] for numbers in among}


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


OTHERS: tuple[Other, ...] = (
    Other("counts octets", ("count-scalars", "count-utf16"), lambda asked: len(asked.text)),
    Other("counts scalar values", ("count-utf16", "size-from-utf16", "size-from-utf32"), partial(_as, "count-scalars")),
    Other("counts UTF-16 code units", ("count-scalars", "size-from-utf16", "size-from-utf32"),
          partial(_as, "count-utf16")),
    Other("counts each half of a surrogate pair as a character", ("size-from-utf16", "size-from-utf32"), _surrogates),
    Other("counts scalar values", ("utf16-of-offset",), partial(_as, "scalar-of-offset")),
    Other("counts scalar values", ("truncate-utf16",), partial(_as, "truncate-scalars")),
    Other("counts scalar values", ("offset-of-utf16",), partial(_as, "offset-of-scalar")),
    Other("counts UTF-16 code units", ("scalar-of-offset",), partial(_as, "utf16-of-offset")),
    Other("counts UTF-16 code units", ("offset-of-scalar",), partial(_as, "offset-of-utf16")),
    Other("counts UTF-16 code units", ("truncate-scalars",), partial(_as, "truncate-utf16")),
    Other("counts octets", ("utf16-of-offset", "scalar-of-offset", "offset-of-utf16", "offset-of-scalar",
                            "truncate-scalars", "truncate-utf16"), _argument),
    Other("cuts at the limit, wherever that is", ("truncate",), _argument),
    Other("takes any offset for a boundary", ("floor", "ceil"), _argument),
    Other("answers the boundary after the offset", ("floor",), partial(_as, "ceil")),
    Other("answers the boundary before the offset", ("ceil",), partial(_as, "floor")),
    Other("keeps the character that the limit is inside", ("truncate",), partial(_as, "ceil")),
    Other("takes each octet for the start of a character", ("is-boundary",), lambda _: 1),
    *(Other(f"goes back at most {most} octet{'s' * (most > 1)}", ("floor", "truncate"), partial(_before, most))
      for most in (1, 2)),
    *(Other(f"steps over at most {most} octet{'s' * (most > 1)}", ("next", "previous"), partial(_width, most))
      for most in (1, 2, 3)),
)  # fmt: skip
"""The answers, the likeliest first."""


def others_of(question: str) -> list[Other]:
    """Those of a question."""
    return [each for each in OTHERS if question in each.questions]


def other_named(question: str, name: str) -> Other:
    """The one of a question and a name.

    Raises:
        LookupError: there is none.
    """
    found = [each for each in others_of(question) if each.name == name]
    return found[0]


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
            return other_named(self.question, self.other).differs(asked, asked.right(self.divides))
        return self.holds_at(places_of(asked, self.divides) if self.anywhere else [place_of(asked, self.divides)])

    def holds_at(self, places: Iterable[Place]) -> bool:
        """True if the rule holds at one of some places."""
        return any(all_hold(self.atoms, place, FACTOR.__getitem__) for place in places)

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
            other_named(question, other)
        return cls(
            str(read["symptom"]),
            question,
            str(read.get("ill-formed", "")),
            tuple(Atom.of_json(each, FACTOR.__getitem__) for each in read.get("rule", ())),
            anywhere=bool(read.get("anywhere", False)),
            other=other,
            of_text=bool(read.get("of text", False)),
        )

    @property
    def sentence(self) -> str:
        """``truncate cuts characters of 3 octets if the limit is inside them``."""
        if self.other:
            return f"{self.question} {self.other}"
        verb, of_text = _VERBS.get(self.symptom, ("", True))
        if QUESTIONS[self.question].written and self.symptom == Code.WRONG_LENGTH:
            verb = "stops early in"
        verb = verb or f"shows '{KINDS[self.symptom].title}' for"
        what = in_words(self.atoms, QUESTIONS[self.question], anywhere=self.anywhere, of_text=of_text)
        return f"{self.question} {verb} {what}"


_VERBS: dict[str, tuple[str, bool]] = {
    Code.WRONG_COUNT: ("counts wrongly", True),
    Code.WRONG_BOUNDARY: ("answers wrongly about", False),
    Code.CHARACTER_CUT: ("cuts", False),
    Code.WRONG_LENGTH: ("keeps a wrong length of", True),
    Code.WRONG_STEP: ("steps wrongly over", False),
    Code.WRONG_INDEX: ("gives a wrong index in", True),
    Code.OUT_OF_RANGE: ("answers out of range for", True),
    Code.QUESTION_REFUSED: ("refuses", True),
    Code.WRONG_CONVERSION: ("writes wrong output for", True),
    Code.INTERNAL_ERROR: ("fails with an internal error at", True),
}
"""What a function does, and whether it does that to text rather than to characters."""
