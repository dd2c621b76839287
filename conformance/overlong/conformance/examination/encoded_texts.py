"""What decides that an encoder is wrong in some texts only: where a number stands, and in what text.

A text is looked at as one octet for each of its numbers, or code units: the kind of that number. So the places of its
numbers are those of octets, and rules are learned as those of decoders are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.factors import BLOCKS, NONE, NUMBER, OCTET, Factor, Site, factor_named
from overlong.conformance.examination.phrases import listed, numbers, phrase
from overlong.conformance.examination.text import text_of
from overlong.conformance.protocol.wire import ENCODE_UTF16
from overlong.conformance.vectors.encoding import numbered, octets_of
from overlong.reference import dialect
from overlong.reference.order import LEAD_SURROGATES, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.examination.rules import Atom
    from overlong.reference import Dialect

_REST, _LONGEST, _LEAD, _TRAIL, _BEYOND = 0, 6, 0x10, 0x11, 0x12
"""Kinds besides the lengths of characters in octets. A rest is the second half of a pair."""
_MIXED, _LAST_UNIT = 0xFF, 0xFFFF
_FLAWS = {_LEAD: "lone lead surrogates", _TRAIL: "lone trail surrogates", _BEYOND: "numbers beyond 10FFFF"}
_DELETED = bytes([_REST])


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
    return next(reversed(site.before.translate(None, _DELETED)), NONE)


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
_VALUES = {factor.name: factor.value for factor in FACTORS}


def all_hold(atoms: Sequence[Atom], site: Site) -> bool:
    """True if all atoms hold at a place of a text."""
    return all(atom.holds(_VALUES[atom.factor](site)) for atom in atoms)


def where(atoms: Sequence[Atom], operation: str, *, whole: bool) -> str:
    """``at index 32 or more``; of a ``whole`` text ``of 64 or more code points``."""
    unit = "code unit" if operation == ENCODE_UTF16 else "code point"
    said = [_phrase(atom, unit) for atom in sorted(atoms, key=lambda atom: not atom.factor.startswith("kind"))]
    return " and ".join(each.replace("in text of", "of") if whole else each for each in said)


def _phrase(atom: Atom, unit: str) -> str:
    match atom.factor:
        case "index":
            return f"at index {numbers(atom)}"
        case "numbers":
            return f"in text of {_counted(atom, unit)}"
        case "octets in all":
            return f"in text of {_counted(atom, 'octet')}"
        case "octets before":
            return f"after {_counted(atom, 'octet')}"
        case "numbers behind":
            return "at the end" if atom.high == 0 else f"before {_counted(atom, unit)}"
        case rest if rest.startswith("rest of"):
            return phrase(atom)
        case _:
            kinds = listed([_named(kind) for kind in sorted(atom.values or ())])
            before = "after" if atom.factor == "kind before" else "in text of"
            return f"{before} {'anything but ' * atom.without}{kinds}"


def _counted(atom: Atom, unit: str) -> str:
    return f"{numbers(atom)} {unit}{'s' * ((atom.low, atom.high) != (1, 1))}"


def _named(kind: int) -> str:
    if kind in (NONE, _MIXED):
        return "nothing else" if kind == NONE else "several kinds"
    return _FLAWS.get(kind) or f"characters of {kind} octet{'s' * (kind > 1)}"
