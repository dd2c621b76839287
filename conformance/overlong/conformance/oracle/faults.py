"""The fault in an answer to a question about a text, or of an encoder: its kind, its place, and a sentence.

Of a question, judged first is what no mode allows: an answer out of range, and a cut inside a well-formed character.
Then, where the standard or a declared mode fixes the answer, whether it is that one. A converter in little room is
wrong if what it took and what it wrote do not belong together, or if it stops early.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.greeting import WORDS
from overlong.conformance.protocol.observation import FUNCTIONS, KINDS, Accepted, Code, Failed, Misbehaved, Refused
from overlong.conformance.protocol.wire import ANNOUNCE
from overlong.conformance.support.printable import code_points, counted, printable, spaced_hex
from overlong.conformance.vectors.expected import Asked, pattern, pieces, replacement, right_numbers
from overlong.reference import Decoded
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES, TRAIL_SURROGATES
from overlong.reference.questions import QUESTIONS, Numbers, cut_by, is_fixed, is_possible
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.expected import Piece as Written
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Dialect, Outcome
    from overlong.reference.reading import Piece


_SHOWN = 16
"""The most octets of a text, or units of an output, in a sentence."""
_COUNTED = {
    "count-scalars": "scalar value",
    "count-utf16": "UTF-16 code unit",
    **{name: "octet" for name in QUESTIONS if name.startswith("size-")},
}
_CODES = {
    **dict.fromkeys(_COUNTED, Code.WRONG_COUNT),
    **dict.fromkeys(("is-boundary", "floor", "ceil"), Code.WRONG_BOUNDARY),
    **dict.fromkeys(("next", "previous"), Code.WRONG_STEP),
    **dict.fromkeys(("utf16-of-offset", "offset-of-utf16", "scalar-of-offset", "offset-of-scalar"), Code.WRONG_INDEX),
}
"""The code of another answer than the right one; of other questions it is that a wrong length was kept."""


TOLD = {
    *(code for code, kind in KINDS.items() if kind.claim == FUNCTIONS),
    *(Code.INTERNAL_ERROR, Code.CRASHED, Code.TIMED_OUT, Code.MISBEHAVED),
}
"""The codes for which :func:`fault_in_words` has a sentence."""


def shape_fault(vector: Vector, observed: Accepted | Refused) -> Misbehaved | None:
    """The breach of an answer that is not made of as many numbers as the question has."""
    question = Asked.of(vector.octets).question
    if isinstance(observed, Refused):
        return None
    count = len(observed.values or ())
    if count == question.answers or (question.written and count):
        return None
    said = counted(count, "number")
    return Misbehaved(f"answered {said} to {question.name}, which has {question.answers}")


def function_fault(vector: Vector, observed: Accepted | Refused) -> tuple[str, str] | None:
    """The code and the place of a divergence; None if there is none."""
    asked, mode = Asked.of(vector.octets), vector.profile.divides
    question, argument, text = asked
    right = asked.right(mode)
    kind = "well-formed text" if is_fixed(question, text) else "ill-formed text"
    if isinstance(observed, Refused):
        return None if right.refusal else (Code.QUESTION_REFUSED, f"{question.name}, {kind}")
    numbers: Numbers = tuple(observed.values or ())
    cut = cut_by(question, text, numbers, mode)
    possible = is_possible(question, text, argument, numbers)
    if not possible and (_CODES.get(question.name) != Code.WRONG_BOUNDARY or numbers[-1] > len(text)):
        return Code.OUT_OF_RANGE, f"{question.name}, {kind}"
    if cut is not None:
        return Code.CHARACTER_CUT, f"{question.name}, {_character_of(cut)}"
    if possible and right.accepts(numbers):
        return None
    if question.written:
        return _wrong_conversion(asked, numbers, right.numbers)
    where = _where(asked, numbers, right.numbers)
    return _CODES.get(question.name, Code.WRONG_LENGTH), f"{question.name}, {where}"


def is_tolerated(vector: Vector, observed: Observation) -> bool:
    """True if another answer than the reference's is known to be right, too, from a question like this one."""
    key = pattern(vector.octets)
    if key is None or not isinstance(observed, Accepted | Refused):
        return False
    numbers = observed.values if isinstance(observed, Accepted) else None
    if numbers and len(numbers) > 1:  # of a step: another scalar value than the right one is like any other
        numbers = (
            len(numbers),
            numbers[-1],
            int(numbers[0] == right_numbers(vector.octets, vector.profile.divides)[0]),
        )
    found = _TOLERATED.get((key, vector.profile.divides, numbers))
    if found is None:
        found = shape_fault(vector, observed) is None and function_fault(vector, observed) is None
        _TOLERATED[key, vector.profile.divides, numbers] = found
    return found


_TOLERATED = dict[tuple[bytes, str, Numbers | None], bool]()


def _most(asked: Asked) -> int:
    return asked.question.bounds(asked.text, asked.argument)[-1]


def _where(asked: Asked, numbers: Numbers, right: Numbers) -> str:
    """What tells one cause from another, as far as octets do: the character in question, or the direction."""
    question, argument, text = asked
    if not is_fixed(question, text):
        return "ill-formed text"
    if _CODES.get(question.name) in (Code.WRONG_COUNT, Code.WRONG_INDEX):
        return "too great" if numbers > right else "too small"
    place = argument - (question.name == "previous") if question.argument == "offset" else min(*numbers, *right)
    found = next((piece for piece in read(text).pieces if piece.offset <= place < piece.end), None)
    return "at the end" if found is None else _character_of(found)


def answer_in_words(payload: bytes, numbers: Numbers) -> str:
    """``3``, or ``U+20AC, 3 octets`` of a step, or what a conversion takes and writes; ``payload``: of the question."""
    if payload and (asked := Asked.of(payload)).question.written:
        return _conversion_answer(asked, numbers)
    if len(numbers) == 2:
        return f"{code_points(numbers[:1])}, {counted(numbers[1], 'octet')}"
    return ", ".join(map(str, numbers)) or "nothing"


def fault_in_words(vector: Vector, code: str, observed: Observation) -> str:
    """``truncate cuts F0 9F 92 A9 at 3 of 4 octets``."""
    asked = Asked.of(vector.octets)
    name, octets = asked.question.name, spaced_hex(asked.text, _SHOWN)
    numbers = (observed.values or ()) if isinstance(observed, Accepted) else ()
    given = f"{octets}, {asked.question.argument} {asked.argument}" if asked.question.argument else octets
    if isinstance(observed, Failed):
        return f"{name} fails on {given}: {printable(observed.text)}"
    if not isinstance(observed, Accepted | Refused):
        return f"{name} {KINDS[code].title} on {given}"
    if not numbers:
        return f"{name} refuses {given}"
    if asked.question.written:
        return _conversion_in_words(asked, code, numbers, cut_by(asked.question, asked.text, numbers))
    right = answer_in_words(vector.octets, asked.right(vector.profile.divides).numbers)
    said = answer_in_words(vector.octets, numbers)
    cut = read(asked.text).cut(numbers[-1]) if asked.question.is_offset else None
    match code:
        case Code.CHARACTER_CUT if cut is not None:
            character = spaced_hex(asked.text[cut.offset : cut.end])
            return f"{name} cuts {character} at {numbers[-1] - cut.offset} of {cut.length} octets"
        case Code.OUT_OF_RANGE:
            return f"{name} answers {said} to {given}; at most {_most(asked)} is possible"
        case Code.WRONG_COUNT:
            return f"{name} takes {octets} for {counted(numbers[0], _COUNTED[name])}; right is {right}"
        case Code.WRONG_BOUNDARY if name == "is-boundary":
            verb = "takes" if numbers[0] else "does not take"
            return f"{name} {verb} offset {asked.argument} of {octets} for the start of a character"
        case Code.WRONG_LENGTH:
            limit = f" ({asked.question.argument} {asked.argument})" if asked.question.argument else ""
            return f"{name} keeps {said} of {counted(len(asked.text), 'octet')} of {octets}{limit}; right are {right}"
        case _:
            return f"{name} answers {said} to {given}; right is {right}"


def _wrong_conversion(asked: Asked, numbers: Numbers, right: Numbers) -> tuple[str, str]:
    """It stops where it need not, or what it wrote is not what it took."""
    question, text = asked.question, read(asked.text)
    is_its_text = numbers[1:] == _stand_for(asked, numbers[0])
    if is_its_text:
        return Code.WRONG_LENGTH, f"{question.name}, {'nothing taken' if not numbers[0] else 'stopped early'}"
    ends = FORMS[question.written].ends(text)
    wrong = next((n for n, (a, b) in enumerate(zip(numbers[1:], right[1:], strict=False)) if a != b), len(right) - 1)
    piece = next((each for each, end in zip(text.pieces, ends[1:], strict=True) if wrong < end), None)
    return Code.WRONG_CONVERSION, f"{question.name}, {_character_of(piece) if piece else 'at the end'}"


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


def _conversion_in_words(asked: Asked, code: str, numbers: Numbers, cut: Piece | None) -> str:
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


def _conversion_answer(asked: Asked, numbers: Numbers) -> str:
    """``takes 1, writes E2 82``."""
    return f"takes {numbers[0]}, writes {_units(asked, numbers[1:])}" if numbers else "nothing"


def _character_of(piece: Piece) -> str:
    """``a character of 3 octets``: the place of a fault."""
    return f"a character of {counted(piece.length, 'octet')}"


BEYOND, LONE, REVERSED, HALVES, SEVERAL, NOTHING = (
    "number beyond 10FFFF",
    "lone surrogate",
    "reversed pair",
    "the halves of a pair",
    "several characters",
    "no character",
)


_SUPPLEMENTARY = range(0x10000, CODE_POINTS.stop)


def encoder_fault(vector: Vector, operation: str, expected: Outcome, observed: Observation) -> tuple[str, str] | None:
    """The code and the place of a divergence; None if there is none.

    An encoder that replaces may refuse numbers beyond 10FFFF, which few string types can hold. An encoder that
    announces a size may refuse everything that is no scalar value.
    """
    spoken = vector.profile.dialect
    found = tuple(pieces(operation, vector.octets, spoken))
    bad = next((piece for piece in found if piece.octets is None), None)
    match expected, observed:
        case Decoded(octets), Accepted(values) if values == octets:
            return None
        case _, Accepted(values) if operation == ANNOUNCE:
            return Code.SIZE, _name(bad) if bad else _name(found[0]) if len(
                found
            ) == 1 else SEVERAL if found else NOTHING
        case _, Accepted(values):
            return _wrong_octets(found, bytes(values or ()), replacement(vector.profile.encodes, spoken), spoken)
        case _, Refused(offset=offset) if bad is None:
            return Code.SCALAR_REFUSED, _refused(found, offset)
        case _, Refused(offset=offset):
            assert bad is not None
            right = _refusable(found, replaces=isinstance(expected, Decoded), announces=operation == ANNOUNCE)
            if not right:
                return Code.ENCODER_REPLACEMENT, f"{_name(bad)} refused"
            return None if offset is None or offset in right else (Code.REFUSAL_PLACE, _name(bad))
        case _:
            return None


def _refusable(found: Sequence[Written], *, replaces: bool, announces: bool) -> set[int]:
    """The places at which a refusal is right: the first piece of each sort that may be refused."""
    bad = [piece.place for piece in found if piece.octets is None]
    beyond = [piece.place for piece in found if piece.number not in CODE_POINTS]
    if not replaces:
        return set(bad[:1])
    return {*beyond[:1], *(bad[:1] if announces else ())}


def _wrong_octets(found: Sequence[Written], rest: bytes, instead: bytes | None, spoken: Dialect) -> tuple[str, str]:
    """The first piece whose octets are not the output's continuation."""
    for place, piece in enumerate(found):
        wanted = instead if piece.octets is None else piece.octets
        if wanted is not None and rest.startswith(wanted):
            rest = rest[len(wanted) :]
            continue
        if piece.octets is not None:
            return (
                (Code.SURROGATE_ENCODED, HALVES)
                if in_halves(piece.number, rest, spoken)
                else (Code.WRONG_OCTETS, _name(piece))
            )
        others = {replacement(each, spoken) or b"" for each in WORDS["encode_errors"]}
        left_out = b"".join(each.octets or b"" for each in found[place:])
        if rest == left_out or any(each and rest.startswith(each) for each in others):
            return Code.ENCODER_REPLACEMENT, _name(piece)
        if piece.number not in SURROGATES:
            return Code.BEYOND_ENCODED, ""
        after = found[place + 1].number if place + 1 < len(found) else 0
        joined = piece.number in TRAIL_SURROGATES and after in LEAD_SURROGATES
        alone = spoken.layout.encode(piece.number)
        return Code.SURROGATE_ENCODED, REVERSED if joined and not (alone and rest.startswith(alone)) else LONE
    return Code.WRONG_OCTETS, _name(found[-1]) if found else NOTHING  # extra output


def in_halves(number: int, written: bytes, spoken: Dialect) -> bool:
    """True if the output begins with two sequences for a supplementary character, as in CESU-8."""
    if number not in _SUPPLEMENTARY:
        return False
    place = number - _SUPPLEMENTARY.start
    lead, trail = (_surrogates_written(spoken)[half] for half in (place >> 10, 0x400 + (place & 0x3FF)))
    return lead is not None and trail is not None and written.startswith(lead + trail)


@lru_cache(maxsize=16)
def _surrogates_written(spoken: Dialect) -> Sequence[bytes | None]:
    """The sequence of each surrogate, leads first; None if the layout has none."""
    return [spoken.layout.encode(each) for each in SURROGATES]


def _refused(found: Sequence[Written], index: int | None) -> str:
    """The refused character: the one at the reported index, or the first of the longest."""
    if not found:
        return NOTHING
    if index is not None and index >= 0:
        return _name([piece for piece in found if piece.place <= index][-1])
    return _name(max(found, key=lambda piece: len(piece.octets or b"")))


def _name(piece: Written) -> str:
    if piece.octets is None:
        return LONE if piece.number in SURROGATES else BEYOND
    return f"a character of {counted(len(piece.octets), 'octet')}"
