"""Findings of any run, by one name: of a campaign out of its store, of certify, matrix and sweep out of their files."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.report.data import plain
from overlong.conformance.report.found import how_given
from overlong.conformance.report.text import lines_of_cause
from overlong.conformance.results.invocation import spelled
from overlong.conformance.results.model import ReportKind, Standing
from overlong.conformance.results.reading import ReportError, read
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign import campaign
from overlong.fuzz.campaign.statement import FINDING_SCHEMA
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.store import DATABASE, finding_as_json
from overlong.fuzz.minimise.stored import StoredFinding
from overlong.fuzz.report.campaign import Found, explain_command, kind_of, lines_of_stored

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Cause, Subject

_NAMED = 4
"""Findings that are named where one was not found."""


@dataclass(frozen=True)
class Reported:
    """A finding as a report has it; all text is the file's, and may be hostile."""

    cause: Cause
    subject: Subject

    @property
    def id(self) -> str:
        return self.cause.id

    @property
    def vector(self) -> str:
        """The id of its vector, by which a report names it."""
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
        """Its place in the grammar, or in what defect."""
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
        """Whether RFC 3629 leaves it open, so that it is no fault."""
        return self.cause.standing is Standing.DIFFERENCE


def findings_in(folder: Path | str) -> Sequence[Found]:
    """What a run has found, in the order of its report.

    Args:
        folder: of a run of certify, matrix, sweep or fuzz; or a file of its results.

    Raises:
        CampaignError: there is none, or it cannot be read.
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
            found.setdefault((subject.id, cause.id), Reported(cause, subject))  # plans may show the same string
    return list(found.values())


def finding_named(folder: Path | str, name: str) -> Found:
    """The finding of that id, of the only id that begins so (``D-7f3a``), or of that vector's id (``overlong/c0ae``).

    Raises:
        CampaignError: there are none; there is none of that name, or there are several.
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
    """What the target of a finding was measured by.

    Raises:
        CampaignError: the campaign's file is damaged.
    """
    return (
        Profile(found.subject.profile.partition("@")[0]) if isinstance(found, Reported) else campaign.profile_of(folder)
    )


def language_of(found: Found) -> str:
    """The language that the target said it is written in, if that is known."""
    return found.subject.language if isinstance(found, Reported) else ""


def as_json(found: Found) -> dict[str, Any]:
    """A finding as plain data, octets as hexadecimal digits: of a campaign as its store has it, else as a report."""
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
    """What ``overlong replay`` takes for its vector, every octet of it."""
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
    kind = printable(f"{found.code} {found.title}")
    return f"{printable(found.id, 40)}  {word}{kind}  {printable(found.target)}  {how_given(found)}{name}"


def lines_of(found: Found, profile: Profile, folder: str, width: int) -> Iterator[str]:
    """All that a person needs of one finding; the last line is the command that explains it."""
    if isinstance(found, StoredFinding):
        yield from lines_of_stored(found, profile, folder, width)
        return
    assert isinstance(found, Reported)
    first, *rest = lines_of_cause(found.cause, width)
    yield first
    target = f"target {printable(found.target, 400)}"
    yield from textwrap.wrap(target, width, initial_indent="     ", subsequent_indent="       ")
    yield from rest
    yield f"     explain: {printable(explain_command(found, folder), 1000)}"
