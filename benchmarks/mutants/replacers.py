"""A population of decoders that replace wrongly: too many or too few U+FFFD, text that is lost, or U+FFFD for text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from mutants import faults
from mutants.outputs import PLACES, drawn_of_kind, witnesses
from mutants.spoken import Population, Spoken
from overlong.conformance.protocol.wire import REPLACE

if TYPE_CHECKING:
    from mutants.faults import Fault, Place

_PLACES = (*PLACES, ("count of errors", faults.after_errors))
_ILL_FORMED = (
    ("is one U+FFFD", "0xFFFD", "1", "more"),
    ("is left out", "0xFFFD", "0", "more"),
    ("is put out as its number", "more == 1 ? s[i] : number(s + i, more)", "1", "more"),
    ("is a U+FFFD for each octet", "0xFFFD", "m", "m"),
    ("has one U+FFFD too many", "0xFFFD", "2", "m"),
    ("has one U+FFFD too few", "0xFFFD", "0", "m"),
    ("takes the octet behind it along", "0xFFFD", "1", "m + 1"),
    ("takes the character behind it along", "0xFFFD", "1", "m + character(s + i + m, left - m)"),
    ("takes all behind it along", "0xFFFD", "1", "left"),
    ("is a question mark", "'?'", "1", "m"),
)
"""A treatment of ill-formed octets: the output, its repetitions, and the skipped octets."""
_CHARACTER = (
    ("is a U+FFFD", "0xFFFD", "1", "k"),
    ("is a U+FFFD for each octet", "0xFFFD", "k", "k"),
    ("is left out", "c", "0", "k"),
    ("comes twice", "c", "2", "k"),
)
"""The same for a character."""
_OF_EACH = {"ill-formed": 9, "character": 3}


def _requests(what: Fault, place: Place) -> tuple[tuple[str, bytes], ...]:
    return tuple((REPLACE, octets) for (octets,) in witnesses(what, place))


def _ill_formed(random: Random, place: Place) -> Spoken:
    what = drawn_of_kind(random, refuses=False, placed=bool(place.words))
    words, *how = random.choice(_ILL_FORMED)
    words = f"{what.words.removesuffix(' passed over')} {words} {place.words}".strip()
    code = f"REPLACE(NAME, ({place.condition}) ? ({what.accepts}) : 0, false, {', '.join(how)})"
    return Spoken("", "", words, code, requests=_requests(what, place))


def _character(random: Random, place: Place) -> Spoken:
    what = drawn_of_kind(random, refuses=True, placed=bool(place.words))
    words, *how = random.choice(_CHARACTER)
    words = f"{what.words.removesuffix(' refused')} {words} {place.words}".strip()
    code = f"REPLACE(NAME, 0, ({place.condition}) && ({what.refuses}), {', '.join(how)})"
    return Spoken("", "", words, code, requests=_requests(what, place))


def drawn(seed: int, share: float = 1.0) -> list[Spoken]:
    """Candidates, in order, all different."""
    random, found = Random(seed), dict[str, Spoken]()  # noqa: S311 (no secret)
    for kind, make in (("ill-formed", _ill_formed), ("character", _character)):
        for name, place in _PLACES:
            for _ in range(max(1, round(_OF_EACH[kind] * share))):
                made = make(random, place(random))
                found.setdefault(made.code, replace(made, family=f"{kind}: {name}"))
    return [replace(each, symbol=f"l{number:04}") for number, each in enumerate(found.values())]


REPLACERS = Population(
    "replacers",
    Path(__file__).with_name("replacers.h"),
    "REPLACE(right, 0, false, 0, 1, 1)",
    drawn,
    REPLACE,
    ("core", "complete-0", "complete-0-replacing", "mixtures"),
)
