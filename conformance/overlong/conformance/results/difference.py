"""Compares two reports: what improved, what regressed, and what cannot be compared.

The absence of a cause on one side proves something only if that side was asked the same: the same profile, the same
vectors, by the same operation, to the end. If not, the cause is not "fixed", and the diff gives the reason.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal

from overlong.conformance.protocol.wire import REPLACING
from overlong.conformance.results.model import (
    BEFORE,
    DIFF_ORDER,
    EXPECTED,
    FAILS,
    FEWER,
    HOLDS,
    MORE,
    NOT_MEASURED,
    Report,
    ReportKind,
    Standing,
    State,
    Subject,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Cause, ReportPart


FailOn = Literal["regression", "new", "any", "none"]
"""What makes a diff fail: a new cause on inputs that the older side was asked, too, or an old cause that more inputs
show; that, or a cause on inputs that the older side was not asked; any difference; nothing."""
_SIDE = ("id", "name", "version", "digest", "state", "why", "profile", "command")
"""What a diff says of a side of a pair."""
_SHOWN = (*_SIDE, "language", "operations", "error_mode", "claims")
"""What the subject of a diff has from a side of its pair."""


def difference(older: Report, newer: Report) -> Report:
    """Compare the causes of ``newer`` with those of ``older``: a report of the kind :attr:`ReportKind.DIFF`.

    Targets are paired by their names; if each side has exactly one, these two are a pair whatever their names.
    Every cause of either side is in it once, with a :class:`Standing`: FIXED, REGRESSED, NEW, SAME, CHANGED or
    NOT_COMPARABLE. A fixed cause has the data of the older side; a cause of the newer side has the data of that side.
    """
    pairs = _pairs(older.subjects, newer.subjects)
    subjects, claims = list[Subject](), list[dict[str, str]]()
    for before, now in pairs:
        chance = ReportKind.FUZZ in (older.kind, newer.kind)
        causes = tuple(sorted(_causes(before, now, chance=chance), key=lambda cause: DIFF_ORDER.index(cause.standing)))
        subject = _subject(before, now, causes)
        subjects.append(subject)
        claims += _claims(before, now, subject)
    counts = Counter(cause.standing.value for subject in subjects for cause in subject.causes)
    sides = {"older": older, "newer": newer}
    titles = [side.source or side.title for side in (older, newer)]
    return Report(
        ReportKind.DIFF,
        " → ".join(titles),
        newer.generator,
        tuple(subjects),
        environment=newer.environment,
        time=newer.time,
        notes=tuple(_notes(older, newer)),
        incomplete="; ".join(f"the {name} side: {side.incomplete}" for name, side in sides.items() if side.incomplete),
        source=" ".join(side.source for side in sides.values() if side.source),
        extra={
            "sources": {name: _source(side) for name, side in sides.items()},
            "older": [_described(before) for before, _ in pairs],
            "newer": [_described(now) for _, now in pairs],
            "claims": claims,
            "counts": {standing.value: counts[standing.value] for standing in DIFF_ORDER},
        },
    )


def since(older: Report, newer: Report) -> Report:
    """``newer``, with the changes of its claims and causes since ``older`` in ``extra["since"]``, for a page.

    The contents come from :func:`difference`: ``sources``, ``older``, ``newer``, ``claims`` and ``counts`` as in a
    diff, and ``causes``: the target's name, the cause's key, and the standing of each cause.
    """
    diff = difference(older, newer)
    causes = [
        {
            "subject": subject.id,
            "key": cause.key,
            "code": cause.code,
            "title": cause.title,
            "standing": cause.standing.value,
        }
        for subject in diff.subjects
        for cause in subject.causes
    ]
    return replace(newer, extra={**newer.extra, "since": {**diff.extra, "causes": causes}})


def fails(diff: Report, on: FailOn) -> bool:
    """True if the diff has a standing of ``on``; expected deviations fail only with ``any``."""
    if on == "none":
        return False
    causes = [cause for subject in diff.subjects for cause in subject.causes]
    if on == "any":
        unpaired = not all((*diff.extra["older"], *diff.extra["newer"]))
        standings = {cause.standing for cause in causes} | {claim["standing"] for claim in diff.extra["claims"]}
        return unpaired or bool(standings - {Standing.SAME})
    unexpected = [cause for cause in causes if EXPECTED not in dict(cause.more)]
    worse = (cause.standing is Standing.REGRESSED or MORE in dict(cause.more) for cause in unexpected)
    return any(worse) or (on == "new" and any(cause.standing is Standing.NEW for cause in unexpected))


def is_incomplete(diff: Report) -> bool:
    """True if a side of a pair is incomplete, so that its missing part could hold regressions."""
    pairs = zip(diff.extra["older"], diff.extra["newer"], strict=True)
    unlike = any(
        (before["state"] == State.NOT_MEASURED) != (now["state"] == State.NOT_MEASURED)
        or State.INCOMPLETE in (before["state"], now["state"])
        for before, now in pairs
        if before and now
    )
    return bool(diff.incomplete) or unlike


# -- pairs


def _pairs(older: Sequence[Subject], newer: Sequence[Subject]) -> list[tuple[Subject | None, Subject | None]]:
    """Each target of either side once: in the newer order, then those that only the older side has."""
    if len(older) == len(newer) == 1:
        return [(older[0], newer[0])]
    names = dict.fromkeys([subject.id for subject in newer] + [subject.id for subject in older])
    of_name = [[[each for each in side if each.id == name] for side in (older, newer)] for name in names]
    return [pair for befores, nows in of_name for pair in zip_longest(befores, nows)]


def _subject(before: Subject | None, now: Subject | None, causes: tuple[Cause, ...]) -> Subject:
    """The side of a pair that a report shows: the newer, or the older if there is no newer."""
    shown = now or before
    assert shown is not None
    return Subject(**{name: getattr(shown, name) for name in _SHOWN}, causes=causes)


def _described(subject: Subject | None) -> dict[str, str]:
    """The identifying data of one side of a pair; empty if the side is missing."""
    return {} if subject is None else {name: str(getattr(subject, name)) for name in _SIDE}


def _source(side: Report) -> dict[str, str]:
    return {name: str(getattr(side, name)) for name in ("kind", "title", "source", "generator", "time")}


def _notes(older: Report, newer: Report) -> Iterator[str]:
    if older.generator != newer.generator:
        yield f"measured by {older.generator} and {newer.generator}"
    if older.kind is not newer.kind:
        yield f"results of {older.kind.value} are held against results of {newer.kind.value}"
    if older.environment != newer.environment and older.environment and newer.environment:
        yield f"measured on {_words(older.environment)} and {_words(newer.environment)}"


def _words(environment: dict[str, str]) -> str:
    return " ".join(environment.values())


# -- claims


def _claims(before: Subject | None, now: Subject | None, shown: Subject) -> Iterator[dict[str, str]]:
    """The older and the newer result of each claim, in the order of the certificate."""
    if before is None or now is None:
        return
    for claim in dict.fromkeys([*now.claims, *before.claims]):
        was, became = before.claims.get(claim, NOT_MEASURED), now.claims.get(claim, NOT_MEASURED)
        standings = {cause.standing for cause in shown.causes if cause.claim == claim}
        yield {
            "subject": shown.id,
            "claim": claim,
            "older": was,
            "newer": became,
            "standing": _standing_of_claim(was, became, standings).value,
        }


def _standing_of_claim(was: str, became: str, causes: set[Standing]) -> Standing:
    """The standing of a claim follows its causes: it is fixed only if all of them are."""
    if was == became:
        return Standing.SAME
    if (was, became) == (HOLDS, FAILS):
        worst = (each for each in (Standing.REGRESSED, Standing.NEW) if each in causes)
        return next(worst, Standing.NOT_COMPARABLE)
    if (was, became) == (FAILS, HOLDS):
        return Standing.FIXED if causes == {Standing.FIXED} else Standing.NOT_COMPARABLE
    return Standing.NEW if became == FAILS else Standing.NOT_COMPARABLE


# -- causes


def _causes(before: Subject | None, now: Subject | None, *, chance: bool) -> Iterator[Cause]:
    """Each cause of either side once, with its standing."""
    found = _keyed(before)
    for name, cause in _keyed(now).items():
        expected = ((EXPECTED, cause.reason),) if cause.standing is Standing.EXPECTED else ()
        cause = replace(cause, reason="", more=(*cause.more, *expected))  # noqa: PLW2901
        if (same := found.pop(name, None)) is None:
            standing, why = _alone(cause, now, before, "older", chance=chance)
            yield replace(cause, standing=standing, reason=why)
        else:
            yield _on_both(same, cause, before, now, chance=chance)
    for cause in found.values():
        _, why = _alone(cause, before, now, "newer", chance=chance)
        yield replace(cause, standing=Standing.NOT_COMPARABLE if why else Standing.FIXED, reason=why)


def _keyed(subject: Subject | None) -> dict[tuple[str, int], Cause]:
    """Causes by their stable name; a campaign may have several of one name."""
    seen: Counter[str] = Counter()
    keyed = dict[tuple[str, int], "Cause"]()
    for cause in subject.causes if subject else ():
        keyed[cause.key, seen[cause.key]] = cause
        seen[cause.key] += 1
    return keyed


def _on_both(was: Cause, now: Cause, before: Subject | None, after: Subject | None, *, chance: bool) -> Cause:
    assert before is not None
    assert after is not None
    if before.profile != after.profile:
        return replace(now, standing=Standing.NOT_COMPARABLE, reason=_profiles(before, after))
    _, of_newer = _alone(was, before, after, "newer", chance=chance)
    _, of_older = _alone(now, after, before, "older", chance=chance)
    unlike = of_newer or of_older
    more, reasons = list(now.more), list[str]()
    if _example(was) == _example(now):
        if (was.expected, was.observed) != (now.expected, now.observed):
            more.append((BEFORE, was.observed))
            reasons.append("it answers otherwise than before")
    elif not unlike:
        more.append((BEFORE, f"{was.vector}: {was.observed}"))
        reasons.append("another input is the least that shows it")
    if not unlike and was.count != now.count:
        more.append((MORE if now.count > was.count else FEWER, f"{was.count} before, {now.count} now"))
        reasons.append(f"divergences: {was.count} before, {now.count} now")
    if reasons:
        return replace(now, standing=Standing.CHANGED, reason="; ".join(reasons), more=tuple(more))
    return replace(now, standing=Standing.SAME, reason=unlike and f"the counts do not compare: {unlike}")


def _example(cause: Cause) -> tuple[Any, ...]:
    return cause.vector, cause.octets, cause.operation, cause.chunks, cause.earlier


def _alone(
    cause: Cause, here: Subject | None, there: Subject | None, side: str, *, chance: bool
) -> tuple[Standing, str]:
    """The standing of a cause that one side has, if that is the newer one; and why the other side does not compare.

    REGRESSED, without a reason, if the other side was asked all inputs that could show it; NEW if it was asked fewer;
    NOT_COMPARABLE if it was asked others, or nothing.

    Args:
        cause: of the target ``here``.
        here: the target with the cause.
        there: the other side.
        side: the name of the other side: older or newer.
        chance: one side is a campaign, which never asks the same inputs twice.
    """
    assert here is not None
    if there is None:
        return Standing.NOT_COMPARABLE, f"the {side} side has no {here.id}"
    if here.profile != there.profile:
        return Standing.NOT_COMPARABLE, _profiles(here, there) if side == "newer" else _profiles(there, here)
    if there.state in (State.NOT_MEASURED, State.INCOMPLETE):
        return Standing.NOT_COMPARABLE, f"the {side} side is {there.state.value}" + (
            f": {there.why}" if there.why else ""
        )
    if chance:
        return Standing.NEW, "a campaign does not test the same inputs twice"
    if there.claims.get(cause.claim) == NOT_MEASURED and here.claims.get(cause.claim) != NOT_MEASURED:
        return Standing.NEW, f"{cause.claim} was not measured on the {side} side"
    if cause.operation in REPLACING and here.error_mode != there.error_mode:
        return Standing.NOT_COMPARABLE, f"the {side} side has another error mode"
    needed = _inputs(cause.operation, here.parts)
    there_is = _inputs(cause.operation, [part for part in there.parts if part.asked + part.set_aside >= part.all])
    if not needed:
        return Standing.NOT_COMPARABLE, "no suite is recorded that tested it"
    if missing := [name for name in needed if name not in there_is]:
        return Standing.NEW, f"the {side} side was not tested with {', '.join(missing)}"
    if other := [name for name, digest in needed.items() if there_is[name] != digest]:
        return Standing.NOT_COMPARABLE, f"the {side} side was tested with other vectors in {', '.join(other)}"
    return Standing.REGRESSED, ""


def _profiles(before: Subject, after: Subject) -> str:
    return f"other profiles: {before.profile} and {after.profile}"


def _inputs(operation: str, parts: Sequence[ReportPart]) -> dict[str, str]:
    """The suites and plans that were asked by an operation, with the digest of their vectors; plans are their names."""
    return {
        part.name: "" if part.is_sweep else part.digest
        for part in parts
        if part.asked > 0 and (operation in part.operations or not part.operations)
    }
