"""What ``identify`` learned and what ``score`` counted, as text for a terminal, and as data."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.models.faults import percent
from overlong.conformance.protocol.observation import POSITION, Accepted, Refused
from overlong.conformance.report.wording import with_version
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands
from overlong.reference import Decoded, Rejected
from overlong.reference.machine import REFUSED

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.models.aspects import Counterexample
    from overlong.conformance.models.beside import Against
    from overlong.conformance.models.faults import Faults
    from overlong.conformance.models.identify import LearnedModel, LearnedPart
    from overlong.conformance.models.score import Score


_EXAMPLES = 6
_LABEL = 25  # columns of the first column
_ACCEPTS, _REFUSES = "accepts", "refuses"


def model_lines(model: LearnedModel, width: int) -> Iterator[str]:
    """The lines of the report, none wider than ``width``."""
    yield from with_version(printable(model.target), model.greeting.version, width)
    yield ""
    for part in model.parts:
        yield from textwrap.wrap(f"{part.title:<{_LABEL}}{_headline(part)}", width, subsequent_indent=" " * _LABEL)
        for found in part.counterexamples[:_EXAMPLES]:
            yield from textwrap.wrap(
                _sentence(part, found), width, initial_indent=" " * _LABEL, subsequent_indent=" " * (_LABEL + 2)
            )
        if len(part.counterexamples) > _EXAMPLES:
            yield f"{'':<{_LABEL}}and {len(part.counterexamples) - _EXAMPLES} more"
        for each in part.against[:_EXAMPLES]:
            yield from textwrap.wrap(
                _told(each), width, initial_indent=" " * _LABEL, subsequent_indent=" " * (_LABEL + 2)
            )
        if len(part.against) > _EXAMPLES:
            yield f"{'':<{_LABEL}}and {len(part.against) - _EXAMPLES} more"
    if not model.parts:
        yield "nothing to learn: it offers none of V, D, L, S and T"
        return
    yield ""
    yield from textwrap.wrap(_bound(model), width)


def _headline(part: LearnedPart) -> str:
    if part.machine is None:
        return f"not settled: {printable(part.why_not)}"
    if part.exact:
        return f"exactly {part.name}" if " " not in part.name else part.name
    return f"{part.name} except:"


def _sentence(part: LearnedPart, found: Counterexample) -> str:
    """``accepts C0 80: U+0000``."""
    answer, right = found.words or ("", "")
    if part.title.startswith("dialect"):
        if found.said == "refused":
            return f"{_REFUSES} {found}"
        if found.wanted == "refused":
            return f"{_ACCEPTS} {found}: {spaced_hex(found.witness)} is {_value(answer)}"
    said, wanted = _participle(printable(answer)), _participle(printable(right))
    shown = spaced_hex(found.witness)
    named = "" if part.machine is None else f"{found}: "
    if part.title.startswith("withholding"):
        return f"{named}after {shown} {said}, not {wanted.removesuffix(' is out')}"
    if part.title.startswith("error mode") and not said.startswith("refused"):
        return f"{named}{shown} becomes {said}, not {wanted}"
    if part.title == "detection" and wanted == REFUSED:
        wanted += " at once"
    return f"{named}{shown} is {said}, not {wanted}"


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


def _bound(model: LearnedModel) -> str:
    sizes = [
        f"{part.title} {len(part.machine)}" for part in model.parts if part.machine is not None and not part.against
    ]
    asked = f"tested {thousands(model.questions)} strings"
    if model.tried:
        asked += f", and {thousands(model.tried)} from elsewhere to try what is exact"
    if not sizes:
        return asked
    other = "other " if any(part.against for part in model.parts) else ""
    return f"{asked}; no {other}line is wrong if the decoder is a machine of at most so many states: {', '.join(sizes)}"


def model_as_json(model: LearnedModel) -> dict[str, Any]:
    """The model as data."""
    return {
        "schema": "overlong/report-1",
        "target": model.target,
        "version": model.greeting.version,
        "language": model.greeting.language,
        "questions": model.questions,
        "tried": model.tried,
        "traits": [_part_as_json(part) for part in model.parts],
    }


def _part_as_json(part: LearnedPart) -> dict[str, Any]:
    result: dict[str, Any] = {
        "title": part.title,
        "operation": part.operation,
        "like": part.name,
        "exact": part.exact,
        "departures": [_counterexample_as_json(each) for each in part.counterexamples],
        "tried": part.tried,
        "against": [_against_as_json(each) for each in part.against],
    }
    if part.machine is None:
        return {**result, "not_settled": part.why_not}
    machine = part.machine
    classes = machine.classes
    return {
        **result,
        "states_allowed_for": len(machine),
        "more_states_if_octets_of_a_class_are_alike": part.depth,
        "machine": {
            "classes": [str(octets) for octets in classes],
            "next": [[row[octets.least] for octets in classes] for row in machine.table],
            "changes": [[_change(row[octets.least]) for octets in classes] for row in machine.changes],
        },
    }


def _counterexample_as_json(found: Counterexample) -> dict[str, Any]:
    result: dict[str, Any] = {"octets": [str(octets) for octets in found.classes], "witness": found.witness.hex()}
    if found.words is not None:
        result["observed"], result["expected"] = found.words
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
    """A change as plain data: words, or its fields."""
    if not isinstance(change, tuple):
        return change
    parts = [_change(each) for each in cast("tuple[object, ...]", change)]
    names = getattr(cast("object", change), "_fields", None)
    return parts if names is None else dict(zip(names, parts, strict=True))


SHOWN = 4
"""The number of names of one kind that are written out; the rest are counted."""


def summary(score: Score, *, width: int, added: str = "") -> Iterator[str]:
    """The lines of the report, none (but names of files) wider than ``width``.

    Args:
        score: what was measured.
        width: columns.
        added: the file into which the missing vectors were written, if any.
    """
    names = ", ".join(map(printable, score.names))
    told = f"{counted(score.strings, 'string')}, {thousands(score.with_verdict)} with a verdict"
    if score.read > score.strings:
        told += f"; {counted(score.read - score.strings, 'duplicate')} folded"
    yield f"{names}: {told}"
    for line in (*score.skipped[:SHOWN], *_more(score.skipped)):
        yield f"  {line}"
    yield ""
    yield from _figures("single-transition faults", width, score.transitions)
    yield from _figures("historical faults", width, score.historical)
    if score.streams is None:
        from overlong.conformance.models.historical import STREAMS

        yield f"{'':<{_LABEL}} {len(STREAMS)} more need chunks, which this list has none of"
    else:
        yield from _figures("stream faults", width, score.streams)
    yield from _figures("output faults", width, *score.outputs)
    yield from _figures("alternatives touched", width, score.alternatives)
    yield from _figures("boundaries touched", width, score.boundaries)
    yield ""
    yield from _missed("historical faults missed", score.historical, width)
    if score.streams is not None:
        yield from _missed("stream faults missed", score.streams, width)
    yield from _missed("wrong reports missed", score.shapes, width)
    yield from _missed("no whole character of", score.alternatives, width)
    yield from _missed("never touched", score.boundaries, width, SHOWN // 2)
    yield from _wrong(score, width)
    yield from _to_add(score, added, width)


def _wrapped(text: str, width: int, indent: str = "", hanging: str = "  ") -> list[str]:
    """The lines of ``text``, in which names with hyphens stay whole."""
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False)


def _figures(label: str, width: int, *kinds: Faults) -> Iterator[str]:
    caught, total = sum(each.caught for each in kinds), sum(each.total for each in kinds)
    yield f"{label:<{_LABEL}}{percent(caught, total):5.1f} %   {thousands(caught)} of {thousands(total)}"[:width]


def _more(items: Sequence[str], shown: int = SHOWN) -> Iterator[str]:
    if len(items) > shown:
        yield f"and {thousands(len(items) - shown)} more"


def _missed(label: str, faults: Faults, width: int, shown: int = SHOWN) -> Iterator[str]:
    if faults.missed:
        items = [*faults.missed[:shown], *_more(faults.missed, shown)]
        yield from _wrapped(f"{label}: {'; '.join(items)}", width)


def _wrong(score: Score, width: int) -> Iterator[str]:
    if not score.wrong_count:
        yield "wrong expectations: none" if score.with_verdict else "wrong expectations: the list has none at all"
        return
    yield f"wrong expectations: {thousands(score.wrong_count)}"
    for wrong in score.wrong[:SHOWN]:
        yield from _wrapped(str(wrong), width, "  ", "    ")
    if score.wrong_count > SHOWN:
        yield f"  and {thousands(score.wrong_count - SHOWN)} more"


def _to_add(score: Score, added: str, width: int) -> Iterator[str]:
    if not score.to_add:
        yield f"to reach 100 %: nothing {'of ours ' if score.out_of_reach else ''}to add"
    else:
        count = len(score.to_add)
        bound = (
            "no set of ours has fewer"
            if score.at_least == count
            else f"no set of ours has fewer than {thousands(score.at_least)}"
        )
        where = f"written to {printable(added)}" if added else "--add FILE writes them"
        text = f"to reach 100 %: add {counted(count, 'vector')} ({bound}): {where}"
        yield from _wrapped(text, width)
    if score.out_of_reach:
        yield f"not shown by any vector of ours: {counted(score.out_of_reach, 'fault')}"
