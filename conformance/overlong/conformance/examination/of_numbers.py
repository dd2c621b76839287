"""The condition of an encoder: the numbers that it encodes wrongly, where they stand, and in what text.

A text is looked at as one octet for each of its numbers, or code units: the kind of that number. So the places of its
numbers are those of octets, and rules are learned as those of decoders are.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.condition import AnyCondition
from overlong.conformance.examination.factors import BLOCKS, NONE, NUMBER, OCTET, Factor, Site, factor_named
from overlong.conformance.examination.rules import Atom, all_hold
from overlong.conformance.examination.sentence import listed, numbers, phrase, such_as
from overlong.conformance.examination.text import text_of
from overlong.conformance.protocol.observation import KINDS, Code
from overlong.conformance.protocol.wire import ENCODE_UTF16
from overlong.conformance.vectors.encoding import numbered, octets_of, replacement
from overlong.reference import DIALECTS, dialect
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from overlong.conformance.examination.asking import Question
    from overlong.conformance.examination.rules import Rule
    from overlong.reference import Dialect

_REST, _LONGEST, _LEAD, _TRAIL, _BEYOND = 0, 6, 0x10, 0x11, 0x12
"""Kinds besides the lengths of characters in octets. A rest is the second half of a pair."""
_MIXED, _LAST_UNIT = 0xFF, 0xFFFF
_FLAWS = {_LEAD: "lone lead surrogates", _TRAIL: "lone trail surrogates", _BEYOND: "numbers beyond 10FFFF"}
_DELETED = bytes([_REST])
LAST = 0xFFFF_FFFF
"""The greatest number that an encoder can be asked."""
_NAMED = 5
"""The most runs of numbers that a sentence names."""


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
FACTOR = {factor.name: factor for factor in FACTORS}


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


_VERBS: dict[str, str] = {
    Code.SCALAR_REFUSED: "refuses to encode",
    Code.WRONG_OCTETS: "writes other octets for",
    Code.SURROGATE_ENCODED: "writes surrogates for",
    Code.BEYOND_ENCODED: "encodes",
    Code.SIZE: "announces another size for",
    Code.REFUSAL_PLACE: "reports another place for",
    Code.INTERNAL_ERROR: "fails with an internal error at",
    Code.ENCODER_REPLACEMENT: "does not refuse or replace as declared",
}


@dataclass(frozen=True)
class OfNumbers(AnyCondition):
    """Numbers that an encoder encodes wrongly."""

    symptom: str
    runs: tuple[tuple[int, int], ...]
    """The first and the last number of each run, in order."""
    speaks: str
    operation: str
    encodes: str
    """What the encoder does with what is no scalar value."""
    always: bool = False
    """True if the numbers do not matter: it encodes none at all wrongly, or all text of some kind or length."""
    atoms: Rule = ()
    """What else must hold of the place of such a number, or of the text."""
    silent: bool = False
    """True if its refusals name no index: it refuses text rightly for any number that is no scalar value."""

    def holds(self, question: Question | bytes, operation: str = "") -> bool:
        """True if the encoder is predicted to answer a question wrongly for this cause.

        Args:
            question: numbers, as an encoder gets them.
            operation: by which it does; empty for the one that was examined.
        """
        octets = question if isinstance(question, bytes) else question.octets
        operation, spoken = operation or self.operation, dialect(self.speaks)
        refuses, wrong = replacement(self.encodes, spoken) is None, self.always
        if self.always and self.atoms:
            wrong = self._holds_at(whole_site(operation, octets, self.speaks))
        sites = list(sites_of(operation, octets, self.speaks, self._has))
        if self.silent and refuses and not all(is_scalar for _, is_scalar, _ in sites):
            return False
        for number, is_scalar, site in sites:
            if self._has(number) and self._holds_at(site):
                if not is_scalar or self.symptom == Code.SCALAR_REFUSED:
                    return True
                wrong = True
            elif not is_scalar and refuses:
                return False  # rightly refused: nothing else shows
        return wrong

    def _holds_at(self, site: Site) -> bool:
        return all_hold(self.atoms, site, FACTOR.__getitem__)

    def _has(self, number: int) -> bool:
        place = bisect_right(self.runs, (number, LAST)) - 1
        return place >= 0 and number <= self.runs[place][1]

    def to_json(self) -> dict[str, object]:
        numbers = [list(run) for run in self.runs]
        said: dict[str, object] = {"symptom": self.symptom, "numbers": numbers, "dialect": self.speaks}
        if self.atoms:
            said["rule"] = [atom.to_json() for atom in self.atoms]
        return said | {name: True for name in ("always", "silent") if getattr(self, name)}

    def kept(self) -> dict[str, object]:
        return {**self.to_json(), "operation": self.operation, "encodes": self.encodes}

    @classmethod
    def of_json(cls, read: Mapping[str, Any]) -> OfNumbers:
        """The condition that :meth:`kept` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        if read["dialect"] not in DIALECTS:
            raise ValueError(read["dialect"])
        return cls(
            str(read["symptom"]),
            tuple((int(first), int(last)) for first, last in read["numbers"]),
            read["dialect"],
            str(read["operation"]),
            str(read["encodes"]),
            always=bool(read.get("always", False)),
            atoms=tuple(Atom.of_json(each, FACTOR.__getitem__) for each in read.get("rule", ())),
            silent=bool(read.get("silent", False)),
        )

    @property
    def sentence(self) -> str:
        """``refuses to encode U+FFFE``."""
        return f"{_VERBS.get(self.symptom) or KINDS[self.symptom].title} {self.numbers}"

    @property
    def numbers(self) -> str:
        """``U+D800 to U+DFFF``; ``U+DC00 to U+DFFF at index 32 or more``."""
        places = where(self.atoms, self.operation, whole=self.always)
        if self.always:
            return f"text {places}" if places else "any text"
        named = [_name(first) if first == last else f"{_name(first)} to {_name(last)}" for first, last in self.runs]
        some = " or ".join(named) if len(named) <= _NAMED else self._counted
        return " ".join(filter(None, (some, places)))

    @property
    def _counted(self) -> str:
        """``66 characters, such as U+FDD0, U+8FFFE and U+10FFFF``."""
        count = sum(last - first + 1 for first, last in self.runs)
        what = "characters" if self.symptom == Code.SCALAR_REFUSED else "numbers"
        return such_as(count, what, [_name(first) for first, _ in self.runs[:-1]] + [_name(self.runs[-1][1])])


def _name(number: int) -> str:
    return f"U+{number:04X}" if number in CODE_POINTS else f"number {number:X}"
