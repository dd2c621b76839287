"""The sentence of a condition: one grammar of wording for all reports."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS
from overlong.conformance.examination.condition import OFFSETS
from overlong.conformance.examination.encoders import OfNumbers
from overlong.conformance.examination.functions import OfQuestions
from overlong.conformance.examination.phrases import counted, in_order, listed, phrase, scalars, such_as
from overlong.conformance.examination.text import SHOWN, in_words, is_part, without
from overlong.conformance.protocol.kind import KINDS, Code
from overlong.conformance.protocol.wire import AGAIN
from overlong.conformance.support.printable import thousands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.rules import Atom

_VERBS: dict[str, str] = {
    ACCEPTS: "accepts",
    Code.REFUSED: "refuses",
    Code.SCALARS: "outputs other characters for",
    Code.OFFSET: "reports another offset for",
    Code.LENGTH: "reports another length for",
    Code.INCOMPLETE: "is wrong on missing input for",
    Code.REPLACEMENT_COUNT: "outputs a wrong number of U+FFFD for",
    Code.REPLACEMENT_TEXT: "loses or changes text at",
    Code.CHUNKING: "gives another result in chunks for",
    Code.EARLIER_STREAM: "gives another result after an earlier stream for",
    Code.HELD_BACK: "holds back output at",
    Code.LATE: "refuses late",
    Code.INTERNAL_ERROR: "fails with an internal error at",
    Code.EARLY: "answers too early at",
    Code.STREAM_OFFSET: "reports another offset in a stream for",
}
_OF_ENCODERS: dict[str, str] = {
    Code.SCALAR_REFUSED: "refuses to encode",
    Code.WRONG_OCTETS: "writes other octets for",
    Code.SURROGATE_ENCODED: "writes surrogates for",
    Code.BEYOND_ENCODED: "encodes",
    Code.SIZE: "announces another size for",
    Code.REFUSAL_PLACE: "reports another place for",
    Code.INTERNAL_ERROR: "fails with an internal error at",
    Code.ENCODER_REPLACEMENT: "does not refuse or replace as declared",
}
_LISTED = 4
_NAMED = 1 << 12
"""The most characters that are counted singly."""


def sentence_of(condition: Condition | OfNumbers | OfQuestions, code: str = "") -> str:
    """``accepts E0 80-9F 80-BF``; ``refuses U+00E9``; ``accepts C0 AF at offset 17 or more``.

    Args:
        condition: in words.
        code: of the example; a target that fails on errors reports no offset for them, either.
    """
    if isinstance(condition, OfQuestions):
        return condition.sentence
    if isinstance(condition, OfNumbers):
        return f"{_OF_ENCODERS.get(condition.symptom) or KINDS[condition.symptom].title} {condition.numbers}"
    atoms = in_order(condition.rule.atoms)
    if condition.carries:
        where = _where(atoms)
        return f"goes on {where.replace('earlier call', 'earlier stream') if condition.operation in AGAIN else where}"
    if condition.withholds:
        return "holds back all output of a stream"
    if condition.reads:
        return f"reads only the first {thousands(condition.reads)} octets"
    if condition.symptom == ACCEPTS and (condition.subparts or condition.of_any_error):
        return _of_any_error(atoms)
    symptom = code if code == Code.INTERNAL_ERROR and condition.symptom in OFFSETS else condition.symptom
    verb, what = _VERBS.get(symptom) or KINDS[symptom].title, _what(condition)
    if condition.symptom == ACCEPTS and 0 < condition.commits < min(map(len, condition.words)):
        begun = in_words(list(dict.fromkeys(word[: condition.commits] for word in condition.words)))
        verb, what = "reads", f"{begun} as the beginning of {what}"
    return " ".join(filter(None, (verb, what, _where(atoms))))


def _where(atoms: Sequence[Atom]) -> str:
    """What is told of the octets themselves, and of where they stand."""
    return " and ".join(map(phrase, atoms))


def _of_any_error(atoms: Sequence[Atom]) -> str:
    """``reads only the first 65 535 octets``; ``misses octet 4 of each block of 32``; ``accepts errors …``."""
    if len(atoms) == 1:
        (atom,) = atoms
        plain = not atom.modulus and atom.values is None
        if atom.factor == "offset" and plain and atom.low and atom.high is None:
            return f"reads only the first {counted(_equal(atom, atom.low), 'octet')}"
        if atom.factor == "behind" and plain and atom.low is None:
            return f"does not read the last {counted(_equal(atom, (atom.high or 0) + 1), 'octet')}"
        if atom.factor in ("offset", "address") and atom.modulus and atom.low is None:
            rests = listed(list(map(str, sorted(atom.rests))))
            return f"misses octet {rests} of each {'aligned ' * (atom.factor == 'address')}block of {atom.modulus}"
        if atom.factor.startswith("beyond") and atom.low == 1:
            return f"reads only as many octets as the length modulo {thousands(1 << int(atom.factor.split()[1]))}"
    return f"accepts errors {_where(atoms)}".rstrip()


def _equal(atom: Atom, number: int) -> Atom:
    return replace(atom, low=number, high=number)


def _what(condition: Condition) -> str:
    if condition.of_characters:
        return "an error" if condition.symptom == Code.LATE else "a character"
    if condition.subparts or (condition.symptom in OFFSETS and condition.of_any_error):
        return "an error"
    if condition.words == ((),):
        return "well-formed text"
    if all(len(octets) == 1 for word in condition.words for octets in word) and len(condition.words) <= _LISTED:
        named = [scalars(bytes(min(octets) for octets in word), condition.speaks) for word in condition.words]
        if all(named):
            return " or ".join(named)
    truncated = condition.text.truncated
    if condition.symptom == ACCEPTS and not any(without(each, condition.words) for each in truncated):
        others = [part for word in condition.words for part in without(word, truncated)]
        return " or ".join(["truncated sequences", *([in_words(others)] if others else [])])
    if condition.symptom != ACCEPTS and (sizes := _sizes(condition)):
        return sizes
    return _characters(condition) or in_words(condition.words)


def _characters(condition: Condition) -> str:
    """``29 characters, such as U+0009, U+0020 and U+3000``, if the words are characters of many patterns."""
    if len(condition.words) <= SHOWN or sum(prod(map(len, each)) for each in condition.words) > _NAMED:
        return ""
    words = {bytes(octets) for each in condition.words for octets in product(*map(sorted, each))}
    named = [scalars(octets, condition.speaks) for octets in sorted(words)]
    if not all(named) or any(" " in each for each in named):
        return ""
    return such_as(len(named), "characters", named)


def _sizes(condition: Condition) -> str:
    """``characters of 3 octets``, if the words are all characters of some sizes."""
    text, words = condition.text, condition.words
    sizes, every = sorted({len(word) for word in words}), sorted(set(text.sizes.values()))
    wanted = [each for each in text.products if len(each) in sizes]
    covered = (any(map(partial(is_part, each), words)) for each in wanted)
    if not wanted or not {*sizes} <= {*every} or not all(covered):
        return ""
    if len(sizes) == 1:
        return f"characters of {sizes[0]} octet{'s' * (sizes[0] > 1)}"
    if sizes == every:
        return "any character"
    return "characters beyond ASCII" if sizes == every[1:] else f"characters of {listed(list(map(str, sizes)))} octets"
