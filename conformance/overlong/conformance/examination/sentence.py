"""The sentence of a condition: one grammar of wording for all reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS
from overlong.conformance.examination.factors import NONE, seen_octets
from overlong.conformance.examination.products import in_words, octets_in_words
from overlong.conformance.protocol.kind import KINDS, Code
from overlong.conformance.support.printable import thousands
from overlong.reference import WellFormed, dialect, segments

if TYPE_CHECKING:
    from overlong.conformance.examination.atoms import Atom
    from overlong.conformance.examination.condition import Condition

_VERBS: dict[str, str] = {
    ACCEPTS: "accepts",
    Code.REFUSED: "refuses",
    Code.SCALARS: "puts out otherwise",
    Code.OFFSET: "reports another offset for",
    Code.LENGTH: "reports another length for",
    Code.INCOMPLETE: "is wrong on missing input for",
    Code.REPLACEMENT_COUNT: "puts out a wrong number of U+FFFD for",
    Code.REPLACEMENT_TEXT: "loses or changes text at",
    Code.CHUNKING: "gives another result in chunks for",
    Code.EARLIER_STREAM: "gives another result after an earlier stream for",
    Code.HELD_BACK: "holds back output at",
    Code.LATE: "refuses late",
    Code.EARLY: "answers too early at",
    Code.STREAM_OFFSET: "reports another offset in a stream for",
}
_LISTED = 4


def sentence_of(condition: Condition) -> str:
    """``accepts E0 80-9F 80-BF``; ``refuses U+00E9``; ``accepts C0 AF at offset 17 or more``."""
    if condition.carries:
        return f"goes on {' and '.join(_phrase(atom) for atom in condition.rule.atoms)}"
    verb = _VERBS.get(condition.symptom) or KINDS[condition.symptom].title
    what = _what(condition)
    where = " and ".join(_phrase(atom) for atom in condition.rule.atoms)
    if condition.subparts or (condition.symptom == ACCEPTS and _is_anything(condition)):
        what = "any error" if condition.symptom == ACCEPTS else "an error"
    if condition.symptom == ACCEPTS and 0 < condition.commits < min(map(len, condition.words)):
        begun = in_words(list(dict.fromkeys(word[: condition.commits] for word in condition.words)))
        verb, what = "reads", f"{begun} as the beginning of {what}"
    return " ".join(filter(None, (verb, what, where)))


def _is_anything(condition: Condition) -> bool:
    return any(len(product) == 1 and set(range(0x80, 0x100)) <= product[0] for product in condition.words)


def _what(condition: Condition) -> str:
    if condition.streams and condition.words[: len(condition.text.products)] == condition.text.products:
        return "a character"
    if condition.words == ((),):
        return "well-formed text"
    if all(len(octets) == 1 for product in condition.words for octets in product) and len(condition.words) <= _LISTED:
        named = [_scalars(bytes(min(octets) for octets in product), condition.speaks) for product in condition.words]
        if all(named):
            return " or ".join(named)
    if sizes := _sizes(condition):
        return sizes
    return in_words(condition.words)


def _scalars(octets: bytes, speaks: str) -> str:
    found = list(segments(octets, spoken=dialect(speaks)))
    if not all(isinstance(each, WellFormed) for each in found):
        return ""
    return " ".join(f"U+{scalar:04X}" for each in found if isinstance(each, WellFormed) for scalar in each.scalars)


def _sizes(condition: Condition) -> str:
    """``characters of 3 octets``, if the words are all of them."""
    text = condition.text
    for size in sorted(set(text.sizes.values())):
        products = [product for product in text.products if len(product) == size]
        if len(condition.words) and all(
            any(
                all(one <= other for one, other in zip(product, word, strict=True))
                for word in condition.words
                if len(word) == size
            )
            for product in products
        ):
            return f"characters of {size} octet{'s' * (size > 1)}"
    return ""


def _numbers(atom: Atom) -> str:
    if atom.values is not None:
        return _listed([thousands(value) for value in sorted(atom.values)])
    if atom.modulus:
        rests = sorted(atom.rests)
        rest = (
            f"{rests[0]} to {rests[-1]}"
            if len(rests) > 2 and rests[-1] - rests[0] == len(rests) - 1
            else _listed(list(map(str, rests)))
        )
        from_on = f", from {thousands(atom.low)} on" if atom.low else ""
        return (f"a multiple of {atom.modulus}" if rests == [0] else f"{rest} modulo {atom.modulus}") + from_on
    if atom.low == atom.high:
        return thousands(atom.low or 0)
    if atom.low is not None and atom.high is not None:
        return f"{thousands(atom.low)} to {thousands(atom.high)}"
    return f"{thousands(atom.low)} or more" if atom.low is not None else f"{thousands(atom.high or 0)} or less"


def _listed(words: list[str]) -> str:
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _octets(atom: Atom) -> str:
    some = sorted(atom.values or ())
    named = [octets_in_words([value for value in some if value >= 0])] if any(value >= 0 for value in some) else []
    words = _listed([*named, *(["nothing"] if NONE in some else [])])
    return f"anything but {words}" if atom.without else words


def _before_sizes(atom: Atom) -> str:
    return (
        "before a character" if (atom.low, atom.high) == (1, None) else f"before a character of {_numbers(atom)} octets"
    )


def _phrase(atom: Atom) -> str:
    name, number = atom.factor, ""
    if atom.values is None:
        number = _numbers(atom)
    match name:
        case "offset":
            return f"at offset {_numbers(atom)}"
        case "length":
            return f"in inputs of {_numbers(atom)} octets"
        case "behind":
            if atom.high == 0:
                return "at the end"
            return f"with {_numbers(atom)} octets behind"
        case "characters":
            return "at the start" if atom.high == 0 else f"after {_numbers(atom)} characters"
        case "wide":
            return f"after {_numbers(atom)} characters beyond ASCII"
        case "errors":
            return f"after {_numbers(atom)} errors"
        case "total":
            return f"if there are {_numbers(atom)} of them"
        case "size before":
            return "after no character" if atom.high == 0 else f"after a character of {_numbers(atom)} octets"
        case "size behind":
            return "before no character" if atom.high == 0 else _before_sizes(atom)
        case "size of all before":
            return f"in text of characters of {_numbers(atom)} octets"
        case "lead before":
            return f"after a character that begins with {_octets(atom)}"
        case "character before":
            names = [
                _scalars(value.to_bytes((value.bit_length() + 7) // 8 or 1, "big"), "rfc3629") or "none"
                for value in sorted(atom.values or ())
            ]
            shown = _listed(
                names if len(names) <= _LISTED else [*names[: _LISTED - 1], f"{len(names) - _LISTED + 1} others"]
            )
            return f"after {'anything but ' * atom.without}{shown}"
        case _ if (octets := seen_octets(name)) is not None:
            return f"{'not ' * (atom.high == 0)}after {_scalars(octets, 'rfc3629') or octets.hex(' ').upper()} anywhere"
        case "octet -1":
            return f"after {_octets(atom)}"
        case "octet +1":
            return f"before {_octets(atom)}"
        case _ if name.startswith("octet -"):
            return f"{name[7:]} octets after {_octets(atom)}"
        case _ if name.startswith("octet +"):
            return f"if octet {name[7:]} behind is {_octets(atom)}"
        case "ascii before":
            return f"after {number} octets of ASCII"
        case "ascii behind":
            return f"before {number} octets of ASCII"
        case "zeros":
            return f"after {number} octets 00" if atom.high == 0 or (atom.low or 0) > 1 else "after an octet 00"
        case _ if name.startswith("rest of "):
            return f"{'not ' * (atom.high == 0)}in the rest after blocks of {name[8:]}"
        case _ if name.startswith("beyond "):
            return f"{'not ' * (atom.high == 0)}beyond the length in {name[7:]}"
        case "units":
            return f"after {_numbers(atom)} units of UTF-16"
        case "after cut":
            return (
                "cut before its end"
                if (atom.low, atom.high) == (1, None)
                else f"{_numbers(atom)} octets before its end"
            )
        case "cut":
            return "if no cut is in it" if atom.high == NONE else f"cut after {_numbers(atom)} of its octets"
        case "in chunk":
            return f"{_numbers(atom)} octets into a chunk"
        case "chunks before":
            return f"after {_numbers(atom)} chunks"
        case "chunks":
            return f"in {_numbers(atom)} chunks"
        case "unfinished before":
            return f"after an earlier call that ended within a character that begins with {_octets(atom)}"
        case "address" | "address of input":
            return f"{'in inputs ' * (name != 'address')}at addresses of {_numbers(atom)}"
        case "came":
            return f"of which {_numbers(atom)} octets came"
        case "size":
            return f"of {_numbers(atom)} octets"
        case "lead":
            return f"that begins with {_octets(atom)}"
        case "begun":
            return (
                "in a later chunk" if atom.low and atom.high is None else f"in a chunk that begins at {_numbers(atom)}"
            )
        case "accepted before":
            return (
                f"after a call that was {'accepted' if atom.low == 1 else 'refused' if atom.low == 0 else 'the first'}"
            )
        case "length before":
            return f"after a call of {number} octets"
        case "same length before":
            return f"after a call of {'the same' if atom.low else 'another'} length"
        case "longer before":
            return f"after a {'longer' if atom.low else 'shorter'} call"
        case _:
            return f"where {name} is {number}"
