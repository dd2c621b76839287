"""Findings of any run by id: of a campaign from its store, of certify, matrix and sweep from their files."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.report.data import plain
from overlong.conformance.report.found import how_given
from overlong.conformance.report.lines import command_lines
from overlong.conformance.report.text import lines_of_cause
from overlong.conformance.results.invocation import spelled
from overlong.conformance.results.model import SENTENCE, ReportKind, Standing
from overlong.conformance.results.reading import ReportError, read
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign import campaign
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.store import DATABASE
from overlong.fuzz.campaign.stored import StoredFinding
from overlong.fuzz.campaign.written import FINDING_SCHEMA, finding_as_json
from overlong.fuzz.report.campaign import Found, explain_command, kind_of, lines_of_stored
from overlong.reference import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Cause, Subject

_NAMED = 4
"""The most findings that an error names."""


@dataclass(frozen=True)
class Reported:
    """A finding of a report; all text comes from the file, and may be hostile."""

    cause: Cause
    subject: Subject

    @property
    def id(self) -> str:
        return self.cause.id

    @property
    def vector(self) -> str:
        """The id of its vector in a report."""
        return self.cause.vector

    @property
    def target(self) -> str:
        return self.subject.id

    @property
    def operation(self) -> str:
        return self.cause.operation

    @property
    def code(self) -> str:
        return self.cause.code

    @property
    def title(self) -> str:
        return self.cause.title

    @property
    def section(self) -> str:
        return self.cause.section

    @property
    def where(self) -> str:
        """Its place in the grammar, or its defect."""
        return self.cause.place

    @property
    def octets(self) -> bytes:
        return self.cause.octets

    @property
    def chunks(self) -> tuple[int, ...] | None:
        return self.cause.chunks

    @property
    def earlier(self) -> tuple[bytes, ...] | None:
        return self.cause.earlier

    @property
    def expected(self) -> str:
        return self.cause.expected

    @property
    def observed(self) -> str:
        return self.cause.observed

    @property
    def is_difference(self) -> bool:
        """True for a difference that RFC 3629 allows, which is no fault."""
        return self.cause.standing is Standing.DIFFERENCE


def findings_in(folder: Path | str) -> Sequence[Found]:
    """The findings of a run, in the order of its report.

    Args:
        folder: the folder of a run of certify, matrix, sweep or fuzz; or a file of its results.

    Raises:
        CampaignError: there is no such run, or it cannot be read.
    """
    folder = Path(folder)
    shown = printable(str(folder))
    try:
        if (folder / DATABASE).exists():
            return campaign.findings_in(folder)
        if not folder.exists():
            raise CampaignError(f"{shown}: no such folder; name that of a run of certify, matrix, sweep or fuzz")
        report = read([folder])
    except ReportError as error:
        raise CampaignError(str(error)) from None
    except OSError as error:
        raise CampaignError(f"{shown}: {error.strerror}; name the folder of another run") from error
    if report.kind is ReportKind.DIFF:
        raise CampaignError(f"{shown}: a diff; name the folder of one of its sides")
    found: dict[tuple[str, str], Reported] = {}
    for subject in report.subjects:
        for cause in subject.causes:
            found.setdefault((subject.id, cause.id), Reported(cause, subject))  # several plans may show the same string
    return list(found.values())


def finding_named(folder: Path | str, name: str) -> Found:
    """The finding of an id, of a unique beginning of one (``D-7f3a``), or of a vector's id (``overlong/c0ae``).

    Raises:
        CampaignError: there is no finding, none of that name, or more than one.
    """
    found = findings_in(folder)
    shown, where = printable(name, 40), printable(str(folder))
    wanted = name if name[:2].upper() == "D-" else f"D-{name}"
    wanted = f"D-{wanted[2:].lower()}"
    fitting = [each for each in found if each.id.startswith(wanted)] if name else []
    fitting = fitting or [each for each in found if isinstance(each, Reported) and each.vector == name]
    if len(fitting) == 1:
        return fitting[0]
    ids = list(dict.fromkeys(printable(each.id, 40) for each in fitting))
    if len(ids) > 1:
        raise CampaignError(f"{where}: {shown} stands for {', '.join(ids[:_NAMED])}; write one of them")
    if ids:
        targets = ", ".join(printable(each.target, 60) for each in fitting[:_NAMED])
        raise CampaignError(f"{where}: {shown} was found in {targets}; name the folder of one of these")
    there = [printable(each.id, 40) for each in found[:_NAMED]]
    listed = f"those there are {', '.join(there)}{', …' if len(found) > _NAMED else ''}"
    raise CampaignError(f"{where}: there is no finding {shown}; {listed if found else 'nothing was found'}")


def profile_of(folder: Path | str, found: Found) -> Profile:
    """The profile of a finding's target.

    Raises:
        CampaignError: the campaign's file is damaged, or the report of another version.
    """
    if not isinstance(found, Reported):
        return campaign.profile_of(folder)
    speaks = found.subject.profile.partition("@")[0]
    if speaks not in DIALECTS:
        raise CampaignError(
            f"{printable(str(folder))}: measured by {printable(speaks, 40)}, a dialect that is not known here; "
            "update overlong"
        )
    return Profile(speaks)


def language_of(found: Found) -> str:
    """The target's language by its greeting, if known."""
    return found.subject.language if isinstance(found, Reported) else ""


def as_json(found: Found) -> dict[str, Any]:
    """A finding as plain data, octets as hexadecimal digits: from a campaign's store, or from a report."""
    if isinstance(found, StoredFinding):
        return {"schema": FINDING_SCHEMA, **finding_as_json(found)}
    assert isinstance(found, Reported)
    return {
        "schema": "overlong/cause-1",
        "target": found.target,
        "profile": found.subject.profile,
        **plain(found.cause),
    }


def in_full(found: Found) -> str:
    """The argument of ``overlong replay`` for its vector, with every octet."""
    if not isinstance(found, Reported):
        return spelled(found)
    category = found.vector.rpartition("/")[0] or "input"
    return Vector(category, found.octets, chunks=found.chunks, earlier=found.earlier).in_full


def line_of(found: Found) -> str:
    """A finding in a line of a list."""
    if isinstance(found, StoredFinding):
        word, peer = ("difference: ", f" and {printable(found.peer)}") if found.is_difference else ("", "")
        return f"{found.id}  {word}{kind_of(found)}  {printable(found.target)}{peer}  {how_given(found)}"
    assert isinstance(found, Reported)
    word = "" if found.cause.standing is Standing.UNEXPECTED else f"{found.cause.standing.value}: "
    name = f"  ({printable(found.vector)})" if found.vector else ""
    kind = printable(f"{found.code} {dict(found.cause.more).get(SENTENCE) or found.title}")
    return f"{printable(found.id, 40)}  {word}{kind}  {printable(found.target)}  {how_given(found)}{name}"


def lines_of(found: Found, profile: Profile, folder: str, width: int) -> Iterator[str]:
    """The lines on one finding; the last is the command that explains it."""
    if isinstance(found, StoredFinding):
        yield from lines_of_stored(found, profile, folder, width)
        return
    assert isinstance(found, Reported)
    first, *rest = lines_of_cause(found.cause, width)
    yield first
    target = f"target {printable(found.target, 400)}"
    yield from textwrap.wrap(target, width, initial_indent="     ", subsequent_indent="       ")
    yield from rest
    yield from command_lines(explain_command(found, folder), "     explain: ")
