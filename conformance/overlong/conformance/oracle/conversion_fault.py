"""The fault of a converter in little room: what it took and what it wrote do not belong together, or it stops early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import Code
from overlong.conformance.support.printable import counted, spaced_hex
from overlong.reference.form import FORMS
from overlong.reference.reading import Piece, read

if TYPE_CHECKING:
    from overlong.conformance.vectors.questions import Asked
    from overlong.reference.questions import Numbers

_SHOWN = 16
"""The most octets of a text, or units of an output, in a sentence."""


def wrong_conversion(asked: Asked, numbers: Numbers, right: Numbers) -> tuple[str, str]:
    """It stops where it need not, or what it wrote is not what it took."""
    question, text = asked.question, read(asked.text)
    is_its_text = numbers[1:] == _stand_for(asked, numbers[0])
    if is_its_text:
        return Code.WRONG_LENGTH, f"{question.name}, {'nothing taken' if not numbers[0] else 'stopped early'}"
    ends = FORMS[question.written].ends(text)
    wrong = next((n for n, (a, b) in enumerate(zip(numbers[1:], right[1:], strict=False)) if a != b), len(right) - 1)
    piece = next((each for each, end in zip(text.pieces, ends[1:], strict=True) if wrong < end), None)
    return Code.WRONG_CONVERSION, f"{question.name}, {character_of(piece) if piece else 'at the end'}"


def _stand_for(asked: Asked, taken: int) -> Numbers:
    """The units for so much of the text."""
    question, text = asked.question, read(asked.text)
    count = FORMS[question.given].ends(text).index(taken)
    return FORMS[question.written].units(text)[: FORMS[question.written].ends(text)[count]]


def _units(asked: Asked, numbers: Numbers) -> str:
    """``E2 82`` or ``D83D DE00``."""
    digits = 2 * FORMS[asked.question.written].size
    shown = " ".join(f"{each:0{digits}X}" for each in numbers[:_SHOWN])
    return (f"{shown} …" if len(numbers) > _SHOWN else shown) or "nothing"


def conversion_in_words(asked: Asked, code: str, numbers: Numbers, cut: Piece | None) -> str:
    """``from-utf16 takes 1 of 2 UTF-16 code units of F0 9F 92 A9 (room 3) and writes EF BF BD``."""
    question, text = asked.question, read(asked.text)
    given, name = FORMS[question.given], question.name
    octets, room = spaced_hex(asked.text, _SHOWN), f"room {asked.argument}"
    took = f"takes {numbers[0]} of {counted(given.ends(text)[-1], given.word)} of {octets} ({room})"
    wrote = f"writes {_units(asked, numbers[1:])}"
    if code == Code.CHARACTER_CUT and cut is not None:
        start = next(end for piece, end in zip(text.pieces, given.ends(text), strict=False) if piece == cut)
        whole = counted(len(given.write(cut.scalar)), given.word)
        character = spaced_hex(asked.text[cut.offset : cut.end])
        return f"{name} cuts {character} at {numbers[0] - start} of {whole} ({room}), and {wrote}"
    if code == Code.OUT_OF_RANGE:
        return f"{name} {took} and writes {counted(len(numbers) - 1, FORMS[question.written].word)}"
    if code == Code.WRONG_LENGTH:
        return f"{name} {took}, and more fits"
    return f"{name} {took} and {wrote}; right is {_units(asked, _stand_for(asked, numbers[0]))}"


def conversion_answer(asked: Asked, numbers: Numbers) -> str:
    """``takes 1, writes E2 82``."""
    return f"takes {numbers[0]}, writes {_units(asked, numbers[1:])}" if numbers else "nothing"


def character_of(piece: Piece) -> str:
    """``a character of 3 octets``: the place of a fault."""
    return f"a character of {counted(piece.length, 'octet')}"
