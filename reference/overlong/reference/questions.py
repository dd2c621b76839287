"""What functions beside a decoder are asked, and what is right: to count, to find boundaries, to cut, to step.

Each :class:`Question` is answered from the pieces of a text (``reading.py``). For well-formed text the standard fixes
the answer. For ill-formed text a mode does, if the function declares one; otherwise any answer is right that is
possible: within the input and the limit, and at no place inside a well-formed character.

Of a conversion with little room, the answer is how much of the text was taken, and the units that were written. It is
right if these are what that part of the text stands for, no character is cut, and no other character would fit, unless
the converter declares that it stops early.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.reading import FORMS, LEADS, SUBPARTS, Piece, Reading, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Numbers = tuple[int, ...]
EARLY = "early"
"""Declared by a converter that may stop though the next character fits. Else it stops right before what does not fit,
as WHATWG's encodeInto, POSIX's iconv and ISO C's functions do."""
ENOUGH = 4
"""Room in which every character fits: a converter that takes nothing in so much would never end."""


class Right(NamedTuple):
    """What is right for one question."""

    numbers: Numbers
    """The answer of the mode; if none is declared, of the recommended one."""
    also: frozenset[Numbers] = frozenset()
    """Other right answers."""
    refusal: bool = False
    """To refuse is right, too."""
    judged: bool = True
    """False: each possible answer is right."""
    of_character: bool = True
    """False: the piece is ill-formed, and only its width is judged."""
    stops: tuple[tuple[int, int], ...] = ()
    """Of a conversion that stops early: what may be taken instead, and how many units that is."""

    def accepts(self, numbers: Numbers) -> bool:
        """True if an answer that is possible is right."""
        if not self.judged or numbers == self.numbers or numbers in self.also:
            return True
        if (numbers[0], len(numbers) - 1) in self.stops:
            return numbers[1:] == self.numbers[1 : len(numbers)]
        return not self.of_character and numbers[-1:] == self.numbers[-1:]


@dataclass(frozen=True)
class Question:
    """One question about a text, with at most one argument."""

    number: int
    """Its number in the protocol; never reused."""
    name: str
    argument: str
    """The word for its argument; empty if it has none."""
    line: str
    asked: Callable[[bytes], range]
    """The arguments that have an answer."""
    right: Callable[[Reading, int], Right]
    """The answer to a well-formed text, or by a mode."""
    bounds: Callable[[bytes, int], range]
    """Where its last number can lie at all."""
    is_offset: bool = False
    """The answer is an offset at which a caller may cut the text."""
    given: str = "utf-8"
    """The form in which the function gets the text."""
    written: str = ""
    """Of a conversion, the form of its output: an answer is how many units it took, and those that it wrote."""

    @property
    def answers(self) -> int:
        """How many numbers an answer has; of a conversion, the least."""
        if self.written:
            return 1
        return len(self.right(read(b"a"), self.asked(b"a")[-1]).numbers)


def _once(octets: bytes) -> range:  # noqa: ARG001
    return range(1)


def _offsets(octets: bytes) -> range:
    return range(len(octets) + 1)


def _limits(octets: bytes) -> range:
    return range(len(octets) + 2)


def _within(octets: bytes, _argument: int) -> range:
    return range(len(octets) + 1)


def _twice(_octets: bytes, argument: int) -> range:
    """Of code units: a reader of leads alone gives two to F0, whatever follows."""
    return range(2 * argument + 1)


def _up_to(_octets: bytes, argument: int) -> range:
    return range(argument + 1)


def _floor(reading: Reading, offset: int) -> int:
    return reading.boundaries[bisect_right(reading.boundaries, offset) - 1]


def _ceil(reading: Reading, offset: int) -> Right:
    """The start of the text is a boundary; where it begins with tails, a search from there may go on to a lead."""
    found = reading.boundaries[bisect_left(reading.boundaries, offset)]
    return Right((found,), frozenset({(reading.ends[0],)}) if not offset else frozenset())


def _next(reading: Reading, offset: int) -> Right:
    rest = read(reading.octets[offset:], reading.mode)
    piece = rest.pieces[0] if rest.pieces else _tails(0, len(rest.octets))
    if piece.offset:
        piece = _tails(0, piece.offset)
    return _step(piece, judged=offset in reading.starts or not offset)


def _previous(reading: Reading, offset: int) -> Right:
    number = bisect_left(reading.ends, offset)
    if reading.ends[number] == offset:  # what ends at a boundary is divided alike, whatever follows
        return _step(reading.pieces[number - 1] if number else _tails(0, offset), judged=True)
    before = read(reading.octets[:offset], reading.mode)
    return _step(before.pieces[-1] if before.pieces else _tails(0, offset), judged=offset in reading.boundaries)


def _tails(offset: int, length: int) -> Piece:
    """Tails that follow no lead: one step, though no character is counted for them."""
    return Piece(offset, length, REPLACEMENT_CHARACTER, 0, missing=False, is_character=False)


def _step(piece: Piece, *, judged: bool) -> Right:
    """What is right at a piece; ``judged``: the argument is no place inside another."""
    return Right((piece.scalar, piece.length), refusal=not judged, judged=judged, of_character=piece.is_character)


def _number_at(reading: Reading, offset: int, numbers: Sequence[int]) -> Right:
    """An index for an offset; inside a piece it may be that of either end, or between."""
    after = bisect_left(reading.ends, offset)
    high = numbers[after]
    low = high if reading.ends[after] == offset else numbers[max(after - 1, 0)]
    return Right((low,), frozenset((each,) for each in range(low, high + 1)), refusal=low < high)


def _cut_at(reading: Reading, most: int, numbers: Sequence[int]) -> int:
    """The greatest offset before which there are at most so many."""
    return reading.ends[bisect_right(numbers, most) - 1]


def _offset_of(reading: Reading, index: int, numbers: Sequence[int]) -> Right:
    """An offset for an index; between two it may be that of either, and past the end it may be refused."""
    after = min(bisect_left(numbers, index), len(numbers) - 1)
    return Right((_cut_at(reading, index, numbers),), frozenset({(reading.ends[after],)}), refusal=index not in numbers)


def _converter(number: int, given: str, written: str) -> Question:
    """The question of a converter; of a text that its forms do not hold it is not asked."""
    before, after = FORMS[given], FORMS[written]
    if given == "utf-8":
        name, text = f"to-{written.replace('-', '')}", "the text"
    else:
        name, text = f"from-{given.replace('-', '')}", f"text in {before.title}"

    def asked(octets: bytes) -> range:
        reading = read(octets)
        return range(after.ends(reading)[-1] + 2) if before.holds(reading) else range(0)

    def converted(reading: Reading, room: int) -> Right:
        taken, ends = before.ends(reading), after.ends(reading)
        last = bisect_right(ends, room) - 1
        earlier = range(min(room >= ENOUGH, last), last) if last + 1 < len(ends) else ()
        numbers = (taken[last], *after.units(reading)[: ends[last]])
        return Right(numbers, stops=tuple((taken[each], ends[each]) for each in earlier))

    return Question(
        number, name, "room", f"how much of {text} fits into room for so many {after.word}s, and what is written there",
        asked, converted, lambda octets, _: range(before.ends(read(octets))[-1] + 1), given=given, written=written,
    )  # fmt: skip


def _size(number: int, given: str) -> Question:
    """The question of a function that says how much room an encoder needs."""
    form = FORMS[given]
    return Question(
        number, f"size-from-{given.replace('-', '')}", "", f"how many octets text in {form.title} takes",
        lambda octets: range(int(form.holds(read(octets)))), lambda text, _: Right((len(text.octets),)),
        lambda octets, _: range(ENOUGH * form.ends(read(octets))[-1] + 1), given=given,
    )  # fmt: skip


def _trimmed(reading: Reading) -> int:
    return next((piece.offset for piece in reading.pieces if piece.missing), len(reading.octets))


QUESTIONS = {
    question.name: question
    for question in (
        Question(1, "count-scalars", "", "how many scalar values", _once,
                 lambda text, _: Right((text.counts[-1],)), _within),
        Question(2, "count-utf16", "", "how many UTF-16 code units", _once,
                 lambda text, _: Right((text.units[-1],)),
                 lambda octets, _: _twice(octets, len(octets))),
        Question(3, "is-boundary", "offset", "whether a character starts at an offset",
                 lambda octets: range(len(octets)),
                 lambda text, offset: Right((int(offset in text.starts),)), lambda _octets, _offset: range(2)),
        Question(4, "floor", "offset", "the last boundary that is not after an offset", _offsets,
                 lambda text, offset: Right((_floor(text, offset),)), _up_to, is_offset=True),
        Question(5, "ceil", "offset", "the first boundary that is not before an offset", _offsets,
                 _ceil,
                 lambda octets, offset: range(offset, len(octets) + 1), is_offset=True),
        Question(6, "truncate", "limit", "the length of the longest prefix of at most so many octets that cuts no "
                 "character", _limits, lambda text, most: Right((_floor(text, min(most, len(text.octets))),)),
                 lambda octets, most: range(min(most, len(octets)) + 1), is_offset=True),
        Question(7, "truncate-scalars", "limit", "likewise, of at most so many scalar values", _limits,
                 lambda text, most: Right((_cut_at(text, most, text.counts),)), _within, is_offset=True),
        Question(8, "truncate-utf16", "limit", "likewise, of at most so many UTF-16 code units", _limits,
                 lambda text, most: Right((_cut_at(text, most, text.units),)), _within, is_offset=True),
        Question(9, "trim-partial", "", "the length without an incomplete character at the end", _once,
                 lambda text, _: Right((_trimmed(text),)), _within, is_offset=True),
        Question(10, "next", "offset", "scalar value and width of the character at an offset",
                 lambda octets: range(len(octets)), _next,
                 lambda octets, offset: range(len(octets) - offset + 1)),
        Question(11, "previous", "offset", "scalar value and width of the character before an offset",
                 lambda octets: range(1, len(octets) + 1), _previous, _up_to),
        Question(12, "utf16-of-offset", "offset", "how many UTF-16 code units are before an offset", _offsets,
                 lambda text, offset: _number_at(text, offset, text.units), _twice),
        Question(13, "offset-of-utf16", "index", "the offset of a UTF-16 code unit", _limits,
                 lambda text, index: _offset_of(text, index, text.units), _within, is_offset=True),
        Question(14, "scalar-of-offset", "offset", "how many scalar values are before an offset", _offsets,
                 lambda text, offset: _number_at(text, offset, text.counts), _up_to),
        Question(15, "offset-of-scalar", "index", "the offset of a scalar value", _limits,
                 lambda text, index: _offset_of(text, index, text.counts), _within, is_offset=True),
        _converter(16, "utf-8", "utf-16"),
        _converter(17, "utf-8", "utf-32"),
        _converter(18, "utf-16", "utf-8"),
        _converter(19, "utf-32", "utf-8"),
        _converter(20, "latin-1", "utf-8"),
        _size(21, "utf-16"),
        _size(22, "utf-32"),
        _size(23, "latin-1"),
    )
}  # fmt: skip
"""The questions by name."""
BY_NUMBER = {question.number: question for question in QUESTIONS.values()}


def right(question: Question, octets: bytes, argument: int = 0, mode: str = "") -> Right:
    """What is right for a question.

    Args:
        question: one of :data:`QUESTIONS`.
        octets: the text.
        argument: one of ``question.asked(octets)``.
        mode: the names of the declared modes, with spaces between: of one for ill-formed text, and :data:`EARLY`.
    """
    mode, early = modes_of(mode)
    found = question.right(read(octets, mode or SUBPARTS), argument)
    if question.written:
        return found if early else found._replace(stops=())
    return found if mode or is_fixed(question, octets) else found._replace(refusal=True, judged=False)


def modes_of(names: str) -> tuple[str, bool]:
    """The declared mode for ill-formed text, and whether a converter stops early."""
    words = names.split()
    return " ".join(word for word in words if word != EARLY), EARLY in words


def is_fixed(question: Question, octets: bytes) -> bool:
    """True if the standard fixes the answer: the text is well-formed, or ends amid the character to be trimmed."""
    text = read(octets)
    if question is QUESTIONS["trim-partial"]:
        return all(piece.is_character or piece.missing for piece in text.pieces)
    return text.is_well_formed


def is_possible(question: Question, octets: bytes, argument: int, numbers: Numbers) -> bool:
    """True if the answer is within the input and the limit."""
    if question.written:
        return bool(numbers) and numbers[0] in question.bounds(octets, argument) and len(numbers) - 1 <= argument
    return len(numbers) == question.answers and numbers[-1] in question.bounds(octets, argument)


def cut_by(question: Question, octets: bytes, numbers: Numbers, mode: str = "") -> Piece | None:
    """The well-formed character that an answer cuts; None if none.

    A function that believes leads takes the octets after an ill-formed one for a part of its character: unless it
    declares another mode, a boundary of that reading cuts nothing.
    """
    if question.written:
        ends = FORMS[question.given].ends(read(octets))
        return None if numbers[0] in ends else read(octets).pieces[bisect_right(ends, numbers[0]) - 1]
    if not question.is_offset or (modes_of(mode)[0] in ("", LEADS) and numbers[-1] in read(octets, LEADS).boundaries):
        return None
    return read(octets).cut(numbers[-1])
