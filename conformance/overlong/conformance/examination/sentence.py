"""The sentence of a condition: one grammar of wording for all reports.

An atom of its rule is a phrase: ``at offset 17 or more``; ``after 1 error``; ``in inputs of 3 modulo 4 octets``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS
from overlong.conformance.examination.condition import OFFSETS
from overlong.conformance.examination.text import (
    NONE,
    SHOWN,
    block_of,
    in_words,
    is_part,
    octets_in_words,
    octets_placed,
    seen_octets,
    without,
)
from overlong.conformance.protocol.observation import KINDS, Code
from overlong.conformance.protocol.wire import AGAIN
from overlong.conformance.support.printable import thousands
from overlong.reference import WellFormed, dialect, segments
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.rules import Atom
    from overlong.reference.questions import Question

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
_LISTED = 4
_NAMED = 1 << 12
"""The most characters that are counted singly."""
_OF_THE_PLACE = ("size", "came", "lead", "cut off", "cut", "after cut")
"""Factors of the octets themselves: they stand right behind the octets, before what tells of the surroundings."""
_FLAGS: dict[str, tuple[str, str]] = {
    "after error": ("right after an error", "that is not right after an error"),
    "well-formed": ("in well-formed input", "in ill-formed input"),
    "only tails": ("if only tail octets follow in its chunk", "if another octet follows in its chunk"),
    "no lead": ("if no C0-FF follows in its chunk", "if C0-FF follows in its chunk"),
    "cut off": ("that is a character cut off by the end", "that is no character cut off by the end"),
    "accepted before": ("after an earlier call that was accepted", "after an earlier call that was refused"),
    "same length before": ("after an earlier call of the same length", "after an earlier call of another length"),
    "longer before": ("after a longer earlier call", "after an earlier call that was not longer"),
}
_COUNTED: dict[str, tuple[str, ...]] = {
    "length": ("in inputs of", "octet"),
    "characters": ("after", "character"),
    "wide": ("after", "character", " beyond ASCII"),
    "units": ("after", "unit", " of UTF-16"),
    "errors": ("after", "error"),
    "ascii before": ("after", "octet", " of ASCII"),
    "ascii behind": ("before", "octet", " of ASCII"),
    "zeros": ("after", "octet", " 00"),
    "size before": ("after a character of", "octet"),
    "size behind": ("before a character of", "octet"),
    "size of all before": ("in text of characters of", "octet"),
    "length before": ("after an earlier call of", "octet"),
    "chunks before": ("after", "chunk"),
    "chunks": ("in", "chunk"),
    "chunks behind": ("before", "chunk"),
    "in chunk": ("after", "octet", " of its chunk"),
    "size": ("of", "octet"),
}
_NONE_OF: dict[str, str] = {
    "behind": "at the end",
    "characters": "at the start",
    "in chunk": "at the start of its chunk",
    "size before": "after no character",
    "size behind": "before no character",
    "nearest end": "at the start or the end",
}
_UNFINISHED = "after an earlier call that ended within a character "


def sentence_of(condition: Condition, code: str = "") -> str:
    """``accepts E0 80-9F 80-BF``; ``refuses U+00E9``; ``accepts C0 AF at offset 17 or more``.

    Args:
        condition: in words.
        code: of the example; a target that fails on errors reports no offset for them, either.
    """
    atoms = sorted(condition.rule, key=lambda atom: atom.factor not in _OF_THE_PLACE)
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


def phrase(atom: Atom) -> str:
    """An atom in words."""
    name = atom.factor
    if (atom.high == 0 or atom.low == atom.high == 0) and name in _NONE_OF:
        return _NONE_OF[name]
    if name in _FLAGS:
        return _FLAGS[name][atom.high == 0]
    if name in _COUNTED:
        before, *what = _COUNTED[name]
        if name in ("size behind", "size before") and _is_some(atom):
            return f"{before.split()[0]} a character"
        return f"{before} {counted(atom, *what)}"
    if (octets := seen_octets(name)) is not None:
        return f"{'not ' * (atom.high == 0)}after {scalars(octets, 'rfc3629') or octets.hex(' ').upper()} anywhere"
    if (placed := octets_placed(name)) is not None:
        octets, far = placed
        return f"{'not ' * (atom.high == 0)}{far} octets after {scalars(octets, 'rfc3629')}"
    if (block := block_of(name)) is not None:
        return f"{'not ' * (atom.high == 0)}across {'each' if atom.high else 'a'} multiple of {thousands(block)}"
    return _PHRASES[name](atom) if name in _PHRASES else _by_number(atom)


def _unfinished(atom: Atom) -> str:
    if atom.without and atom.values == frozenset((NONE,)):
        return _UNFINISHED.strip()
    return f"{_UNFINISHED}that begins with {_octets(atom)}"


def _rest_of_chunk(atom: Atom) -> str:
    if atom.low == 0 and atom.high in (None, 0):
        return "that ends its chunk" if atom.high == 0 else "that shows before the end of the stream"
    return f"followed by {numbers(atom)} in its chunk"


def _is_some(atom: Atom) -> bool:
    """True if it says: 1 or more."""
    return (atom.low, atom.high, atom.modulus) == (1, None, 0)


def _cut(atom: Atom) -> str:
    if atom.high == NONE:
        return "that no cut goes through"
    return "that is cut" if _is_some(atom) else f"that is cut after {counted(atom, 'octet')}"


_PHRASES: dict[str, Callable[[Atom], str]] = {
    "offset": lambda atom: f"at offset {numbers(atom)}",
    "behind": lambda atom: f"followed by {counted(atom, 'octet')}",
    "nearest end": lambda atom: f"with {counted(atom, 'octet')} to the nearest end",
    "total": lambda atom: f"if there are {_some_of(atom)} of them",
    "came": lambda atom: f"of which {counted(atom, 'octet')} {'is' if _is_one(atom) else 'are'} there",
    "lead": lambda atom: f"that begins with {_octets(atom)}",
    "lead before": lambda atom: f"after a character that begins with {_octets(atom)}",
    "unfinished before": _unfinished,
    "rest before": lambda atom: f"after an earlier call that ended in {_texts(atom)}",
    "character before": lambda atom: f"after {_scalars_in_row(atom)}",
    "octet -1": lambda atom: f"after {_octets(atom)}",
    "octet +1": lambda atom: f"before {_octets(atom)}",
    "cut": _cut,
    "after cut": lambda atom: f"cut before {'the end' if _is_some(atom) else counted(atom, 'octet')}",
    "address": lambda atom: f"at addresses of {numbers(atom)}",
    "address of input": lambda atom: f"in inputs at addresses of {numbers(atom)}",
    "rest of chunk": _rest_of_chunk,
    "due": lambda atom: (
        f"while {'octets' if _is_some(atom) else counted(atom, 'octet')} that its lead announces are missing"
    ),
    "begun": lambda atom: (
        "in a later chunk" if atom.low and atom.high is None else f"in a chunk that begins at {numbers(atom)}"
    ),
}


def _by_number(atom: Atom) -> str:
    """Of a factor whose name has a number in it."""
    kind, *_, number = atom.factor.replace(" bits", "").split(" ")
    not_ = "not " * (atom.high == 0)
    match kind:
        case "octet":
            far = number[1:]
            return (
                f"{far} octets after {_octets(atom)}"
                if number[0] == "-"
                else f"if octet {far} after it is {_octets(atom)}"
            )
        case "rest":
            return f"{not_}in the rest after blocks of {number}"
        case "beyond":
            return f"{not_}beyond the length modulo {thousands(1 << int(number))}"
        case _:
            return f"where {atom.factor} is {numbers(atom)}"


def counted(atom: Atom, noun: str, more: str = "") -> str:
    """``1 error``; ``3 or more errors``; with ``more`` behind that."""
    return f"{_fewer(atom)} {noun}{'s' * (not _is_one(atom))}{more}"


def _fewer(atom: Atom) -> str:
    """The numbers, of what is counted."""
    return numbers(atom).replace(" or less", " or fewer")


def _is_one(atom: Atom) -> bool:
    return atom.low == atom.high == 1 and not atom.modulus


def numbers(atom: Atom) -> str:
    """``17 or more``; ``28 modulo 32``; ``3, 4 or 7``."""
    if atom.values is not None:
        return listed([thousands(value) for value in sorted(atom.values)])
    if atom.modulus:
        rests = sorted(atom.rests)
        is_run = len(rests) > 2 and rests[-1] - rests[0] == len(rests) - 1
        rest = f"{rests[0]} to {rests[-1]}" if is_run else listed(list(map(str, rests)))
        from_on = f", from {thousands(atom.low)} on" if atom.low else ""
        return (f"a multiple of {atom.modulus}" if rests == [0] else f"{rest} modulo {atom.modulus}") + from_on
    if atom.low == atom.high:
        return thousands(atom.low or 0)
    if atom.low is not None and atom.high is not None:
        return f"{thousands(atom.low)} to {thousands(atom.high)}"
    return f"{thousands(atom.low)} or more" if atom.low is not None else f"{thousands(atom.high or 0)} or less"


def _some_of(atom: Atom) -> str:
    """``3, 6, 9 …``."""
    if not atom.modulus:
        return _fewer(atom)
    first = [count for count in range(1, 4 * atom.modulus) if atom.holds(count)]
    return f"{', '.join(map(str, first[: max(3, len(atom.rests))]))} …"


def _octets(atom: Atom) -> str:
    some = [value for value in sorted(atom.values or ()) if value >= 0]
    words = listed([*([octets_in_words(some)] if some else []), *(["nothing"] if NONE in (atom.values or ()) else [])])
    return f"anything but {words}" if atom.without else words


def _strings(atom: Atom) -> list[bytes]:
    """Values of octets in a row, as octets."""
    return [
        value.to_bytes((value.bit_length() + 7) // 8 or 1, "big") for value in sorted(atom.values or ()) if value >= 0
    ]


def _texts(atom: Atom) -> str:
    named = [each.hex(" ").upper() for each in _strings(atom)]
    return _shortened(named, without=atom.without)


def _scalars_in_row(atom: Atom) -> str:
    return _shortened([scalars(each, "rfc3629") or "none" for each in _strings(atom)], without=atom.without)


def _shortened(named: list[str], *, without: bool) -> str:
    more = [f"{len(named) - _LISTED + 1} others"] if len(named) > _LISTED else []
    shown = listed([*named[: _LISTED - 1 if more else _LISTED], *more]) if named else "nothing"
    return f"{'anything but ' * without}{shown}"


def listed(words: list[str]) -> str:
    """``a, b or c``."""
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} or {words[-1]}"


def such_as(count: int, what: str, named: Sequence[str]) -> str:
    """``66 characters, such as U+FDD0, U+8FFFE and U+10FFFF``: the first of many, the middle one and the last."""
    return f"{thousands(count)} {what}, such as {named[0]}, {named[len(named) // 2]} and {named[-1]}"


def scalars(octets: bytes, speaks: str) -> str:
    """``U+00E9``; empty if the octets are ill-formed."""
    found = list(segments(octets, spoken=dialect(speaks)))
    if not all(isinstance(each, WellFormed) for each in found):
        return ""
    return " ".join(f"U+{scalar:04X}" for each in found if isinstance(each, WellFormed) for scalar in each.scalars)


# ---- functions beside a decoder ----

_END = "the end of the text"
_OF_THE_CHARACTER = ("size", "lead", "ill-formed", "tail")


_OF_FUNCTIONS: dict[str, tuple[str, bool]] = {
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


def about(symptom: str, atoms: Sequence[Atom], question: Question, *, anywhere: bool) -> str:
    """``cuts characters of 3 or more octets if the limit is inside them``; ``refuses text with limit 0``.

    Args:
        symptom: what a function does.
        atoms: what must hold.
        question: the question.
        anywhere: of any character; else of the one at the argument.
    """
    verb, of_text = _OF_FUNCTIONS.get(symptom) or (f"shows '{KINDS[symptom].title}' for", True)
    if question.written and symptom == Code.WRONG_LENGTH:
        verb = "stops early in"
    own = [atom for atom in atoms if atom.factor in _OF_THE_CHARACTER]
    inside = [atom for atom in atoms if atom.factor == "inside"]
    phrases = [_of_question(atom, question) for atom in atoms if atom not in own + inside]
    phrases.sort(key=lambda each: not each.startswith("in text "))
    head = "text" if of_text else _kind_of_characters(own, one=False)
    it = _kind_of_characters(own, one=True) if of_text else "them"
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
    return f"{verb} {head} {more.removeprefix('in text ') if head == 'text' else more}".rstrip()


def _kind_of_characters(own: Sequence[Atom], *, one: bool) -> str:
    """``characters of 3 octets``; or ``a character of 3 octets``."""
    said, noun, begin = list[str](), "a character" if one else "characters", "begins" if one else "begin"
    for atom in own:
        match atom.factor:
            case "size" if atom.high == 0:
                return _END
            case "size" if _is_some(atom):
                pass
            case "size":
                said.append(f"of {counted(atom, 'octet')}")
            case "lead":
                some = [value for value in sorted(atom.values or ()) if value >= 0]
                said.append(f"that {begin} with {'anything but ' * atom.without}{octets_in_words(some)}")
            case "tail":
                noun = "characters or leads" if atom.high == 0 else "tails without a lead"
            case _:
                noun = noun if atom.high == 0 else "ill-formed octets"
    return " ".join([noun, *said])


def _of_question(atom: Atom, question: Question) -> str:
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
            if atom.high == 0 or _is_some(atom):
                return f"with {'no' if atom.high == 0 else 'a'} character {name}{where}"
            return f"with {counted(atom, 'character')} {name}{where}"
        case _:
            return phrase(atom).replace("in inputs of", "in text of")


def _into(atom: Atom, question: Question) -> str:
    """Where the argument points within a character."""
    before = question is QUESTIONS["previous"]
    if atom.high == 0:
        return f"at the {'end' if before else 'start'} of"
    if _is_some(atom):
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
