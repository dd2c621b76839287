"""What ``identify`` found, for a terminal and as data."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.protocol.kind import POSITION
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.report.wording import with_version
from overlong.conformance.support.printable import printable, spaced_hex, thousands
from overlong.reference import Decoded, Rejected
from overlong.reference.answer import REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.models.identify.beside import Against
    from overlong.conformance.models.identify.departures import Departure
    from overlong.conformance.models.identify.identify import Example, Portrait, Trait

_SHOWN = 6
_LABEL = 25
_ACCEPTS, _REFUSES = "accepts", "refuses"


def portrait_lines(portrait: Portrait, width: int) -> Iterator[str]:
    """The lines of the report, none wider than ``width``."""
    yield from with_version(printable(portrait.target), portrait.greeting.version, width)
    yield ""
    for trait in portrait.traits:
        yield from textwrap.wrap(f"{trait.title:<{_LABEL}}{_headline(trait)}", width, subsequent_indent=" " * _LABEL)
        for example in trait.examples[:_SHOWN]:
            yield from textwrap.wrap(
                _sentence(trait, example), width, initial_indent=" " * _LABEL, subsequent_indent=" " * (_LABEL + 2)
            )
        if len(trait.departures) > _SHOWN:
            yield f"{'':<{_LABEL}}and {len(trait.departures) - _SHOWN} more"
        for each in trait.against[:_SHOWN]:
            yield from textwrap.wrap(
                _told(each), width, initial_indent=" " * _LABEL, subsequent_indent=" " * (_LABEL + 2)
            )
        if len(trait.against) > _SHOWN:
            yield f"{'':<{_LABEL}}and {len(trait.against) - _SHOWN} more"
    if not portrait.traits:
        yield "nothing to learn: it offers none of V, D, L, S and T"
        return
    yield ""
    yield from textwrap.wrap(_bound(portrait), width)


def _headline(trait: Trait) -> str:
    if trait.learned is None:
        return f"not settled: {printable(trait.why_not)}"
    if trait.exact:
        return f"exactly {trait.name}" if " " not in trait.name else trait.name
    return f"{trait.name} except:"


def _sentence(trait: Trait, example: Example) -> str:
    """``accepts C0 80: U+0000``."""
    departure = example.departure
    if trait.title.startswith("dialect"):
        if departure.said == "refused":
            return f"{_REFUSES} {departure}"
        if departure.wanted == "refused":
            return f"{_ACCEPTS} {departure}: {spaced_hex(departure.witness)} is {_value(example.said)}"
    said, wanted = _participle(printable(example.said)), _participle(printable(example.wanted))
    shown = spaced_hex(departure.witness)
    if trait.title.startswith("withholding"):
        return f"{departure}: after {shown} {said}, not {wanted.removesuffix(' is out')}"
    if trait.title.startswith("error mode") and not said.startswith("refused"):
        return f"{departure}: {shown} becomes {said}, not {wanted}"
    if trait.title == "detection" and wanted == REFUSED:
        wanted += " at once"
    return f"{departure}: {shown} is {said}, not {wanted}"


def _told(against: Against) -> str:
    """``from offset 32 on C0 80 is accepted, not refused``."""
    finding = against.finding
    place = ""
    if against.word:
        place = f"from offset {against.offset} on " if against.onwards else f"at offset {against.offset} "
    match finding.expected, finding.observed:
        case Rejected(), Accepted():
            words = "is accepted, not refused"
        case Decoded(), Refused():
            words = "is refused, not accepted"
        case Rejected(), Refused() if finding.claim == POSITION:
            words = f"is {printable(finding.observed_words)}, not {_participle(finding.expected_words)}"
        case _, Accepted() | Refused():
            words = finding.title
            return f"{place}{spaced_hex(against.shown)}: {words}"
        case _:
            words = f"gets no answer: {printable(finding.observed_words)}"
    return f"{place}{spaced_hex(against.shown)} {words}"


def _participle(words: str) -> str:
    """``accepted as U+0041`` for ``accept U+0041``, and the like: one form for both sides."""
    words = re.sub("^reject(?= )", "refused", words)
    words = re.sub("^accept(?=[ ,])", "accepted", words)
    return words.replace("accepted U+", "accepted as U+")


def _value(said: str) -> str:
    return printable(said.removeprefix("accepted").strip() or "accepted")


def _bound(portrait: Portrait) -> str:
    learned = [trait for trait in portrait.traits if trait.learned is not None and not trait.against]
    sizes = [f"{trait.title} {len(trait.learned.machine)}" for trait in learned if trait.learned is not None]
    asked = f"asked {thousands(portrait.questions)} strings"
    if portrait.tried:
        asked += f", and {thousands(portrait.tried)} from elsewhere to try what is exact"
    if not sizes:
        return asked
    other = "other " if any(trait.against for trait in portrait.traits) else ""
    return f"{asked}; no {other}line is wrong if the decoder is a machine of at most so many states: {', '.join(sizes)}"


def portrait_as_json(portrait: Portrait) -> dict[str, Any]:
    """The portrait as data."""
    return {
        "schema": "overlong/identity-1",
        "target": portrait.target,
        "version": portrait.greeting.version,
        "language": portrait.greeting.language,
        "questions": portrait.questions,
        "tried": portrait.tried,
        "traits": [_trait_as_json(trait) for trait in portrait.traits],
    }


def _trait_as_json(trait: Trait) -> dict[str, Any]:
    result: dict[str, Any] = {
        "title": trait.title,
        "operation": trait.operation,
        "like": trait.name,
        "exact": trait.exact,
        "departures": [_departure_as_json(trait, place) for place in range(len(trait.departures))],
        "tried": trait.tried,
        "against": [_against_as_json(each) for each in trait.against],
    }
    if trait.learned is None:
        return {**result, "not_settled": trait.why_not}
    machine = trait.learned.machine
    classes = machine.classes
    return {
        **result,
        "states_allowed_for": len(machine),
        "more_states_if_octets_of_a_class_are_alike": trait.learned.depth,
        "machine": {
            "classes": [str(octets) for octets in classes],
            "next": [[row[octets.least] for octets in classes] for row in machine.table],
            "changes": [[_change(row[octets.least]) for octets in classes] for row in machine.changes],
        },
    }


def _departure_as_json(trait: Trait, place: int) -> dict[str, Any]:
    departure: Departure = trait.departures[place]
    result: dict[str, Any] = {
        "octets": [str(octets) for octets in departure.classes],
        "witness": departure.witness.hex(),
    }
    if place < len(trait.examples):
        result |= {"observed": trait.examples[place].said, "expected": trait.examples[place].wanted}
    return result


def _against_as_json(against: Against) -> dict[str, Any]:
    finding = against.finding
    return {
        "witness": against.octets.hex(),
        "count": against.count,
        "offset": against.offset if against.word else None,
        "onwards": against.onwards,
        "octets": against.shown.hex(),
        "code": finding.code,
        "observed": finding.observed_words,
        "expected": finding.expected_words,
    }


def _change(change: object) -> object:
    """A change as plain data: words, or the fields of what it is."""
    if not isinstance(change, tuple):
        return change
    parts = [_change(each) for each in cast("tuple[object, ...]", change)]
    names = getattr(cast("object", change), "_fields", None)
    return parts if names is None else dict(zip(names, parts, strict=True))
