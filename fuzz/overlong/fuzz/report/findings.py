"""Findings of any run by id, from the files that it wrote."""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import explain_code, explain_octets
from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.protocol.wire import ASK, ENCODING, QUESTION
from overlong.conformance.report.text import block, core, is_difference, lines_of_cause
from overlong.conformance.report.wording import command_lines, given
from overlong.conformance.results.invocation import replay_found, spelled
from overlong.conformance.results.model import PEER, SENTENCE, STABLE, Cause, ReportKind, Standing
from overlong.conformance.results.reading import plain, read
from overlong.conformance.results.records import ReportError
from overlong.conformance.support.printable import printable, spaced_hex
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.fuzz.campaign.state import REPETITIONS, CampaignError
from overlong.reference import DEFECTS, DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAMED = 4
"""The most findings that an error names."""
_OPEN = (
    "A difference is no fault: RFC 3629 allows both answers. But two programs that read the same octets with these "
    "targets get different results; if the programs must agree, their specification has to choose."
)
_UNSTABLE = (
    "The finding did not recur in every fresh process: some state outlives a call, or the target reads beyond its "
    "input. Run the input many times; under a sanitizer if the target is native code."
)


@dataclass(frozen=True, kw_only=True)
class Found(Cause):
    """A finding of a report; all text comes from the file, and may be hostile."""

    target: str
    measured_by: str = "rfc3629@1"
    """The name of the target's profile."""
    language: str = ""
    """The target's language by its greeting, if known."""

    @property
    def where(self) -> str:
        """When it shows if that is known, else its place; may be empty."""
        return dict(self.more).get(SENTENCE) or self.place

    @property
    def profile(self) -> Profile:
        """What its target was measured by.

        Raises:
            CampaignError: the report is of another version.
        """
        speaks = self.measured_by.partition("@")[0]
        if speaks not in DIALECTS:
            raise CampaignError(
                f"{printable(self.id)}: measured by {printable(speaks, 40)}, a dialect that is not known here; "
                "update overlong"
            )
        return Profile(speaks)


def findings_in(folder: Path | str) -> list[Found]:
    """The findings of a run, in the order of its report.

    Args:
        folder: the folder of a run of certify, matrix, sweep or fuzz; or a file of its results.

    Raises:
        CampaignError: there is no such run, or it cannot be read.
    """
    folder = Path(folder)
    shown = printable(str(folder))
    try:
        if not folder.exists():
            raise CampaignError(f"{shown}: no such folder; name that of a run of certify, matrix, sweep or fuzz")
        report = read([folder])
    except ReportError as error:
        raise CampaignError(str(error)) from None
    except OSError as error:
        raise CampaignError(f"{shown}: {error.strerror}; name the folder of another run") from error
    if report.kind is ReportKind.DIFF:
        raise CampaignError(f"{shown}: a diff; name the folder of one of its sides")
    found: dict[tuple[str, str], Found] = {}
    for subject in report.subjects:
        for cause in subject.causes:  # several plans may show the same string
            of = Found(**vars(cause), target=subject.id, measured_by=subject.profile, language=subject.language)
            found.setdefault((subject.id, cause.id), of)
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
    fitting = fitting or [each for each in found if each.vector == name]
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


def as_json(found: Found) -> dict[str, Any]:
    """A finding as plain data, octets as hexadecimal digits."""
    said = {"schema": "overlong/report-1", "profile": found.measured_by, **plain(found)}
    return {name: value for name, value in said.items() if name not in {"measured_by", "language"}}


def in_full(found: Found) -> str:
    """The argument of ``overlong replay`` for its vector, with every octet."""
    if STABLE in dict(found.more):  # of a campaign
        return spelled(found)
    category = found.vector.rpartition("/")[0] or "input"
    return Vector(category, found.octets, chunks=found.chunks, earlier=found.earlier).in_full


def line_of(found: Found) -> str:
    """A finding in a line of a list."""
    more = dict(found.more)
    word = "" if found.standing is Standing.UNEXPECTED else f"{found.standing.value}: "
    name = f"  ({printable(found.vector)})" if "/" in found.vector and STABLE not in more else ""
    what = more.get(SENTENCE) or found.title
    kind = printable(what if is_difference(found) else f"{found.code} {what}")
    target = printable(found.target) + (f" and {printable(more[PEER])}" if PEER in more else "")
    return f"{printable(found.id, 40)}  {word}{kind}  {target}  {given(found)}{name}"


def lines_of(found: Found, folder: str, width: int, *, explain: bool = True) -> Iterator[str]:
    """The lines on one finding; ``explain``: the last is the command that explains it."""
    more, further = dict(found.more), list[tuple[str, str]]()
    if PEER in more:
        further.append(("compare", replay_found(found, found.id, more[PEER], found.profile, folder)))
    if explain:
        further.append(("explain", shlex.join(["overlong", "explain", folder, found.id])))
    if STABLE in more:  # of a campaign
        yield from block(found, found.target, width, further)
        return
    first, *rest = lines_of_cause(found, width)
    yield first
    target = f"target {printable(found.target, 400)}"
    yield from textwrap.wrap(target, width, initial_indent="     ", subsequent_indent="       ")
    yield from rest
    for title, command in further:
        yield from command_lines(command, f"     {title}: ")


def explain_finding(stored: Found, folder: str, width: int, offered: Iterable[str]) -> Iterator[str]:
    """All about a finding: its facts, next steps, the path of its octets, and the meaning of its code.

    Args:
        stored: the finding.
        folder: of its run.
        width: of the lines, none of which is styled; commands may be wider.
        offered: the words after ``overlong finding`` that apply to it.
    """
    yield from lines_of(stored, folder, width, explain=False)
    for word in offered:
        yield f"     {word}: {printable(shlex.join(['overlong', 'finding', word, folder, stored.id]), 1000)}"
    if stored.operation not in ENCODING:  # the input of an encoder is no UTF-8
        yield ""
        yield from _walk(stored, width)
    differs = is_difference(stored)
    if not differs and (stored.code in DEFECTS or stored.code in KINDS):
        yield ""
        yield from explain_code(stored.code, width)
    unstable = dict(stored.more).get(STABLE, always := f"{REPETITIONS} of {REPETITIONS}") != always
    for paragraph in (_OPEN * differs, _UNSTABLE * unstable):
        if paragraph:
            yield ""
            yield from textwrap.wrap(paragraph, width)


def _walk(stored: Found, width: int) -> Iterator[str]:
    """The path of the finding's octets, without filler, through the automaton."""
    octets = stored.octets[QUESTION.size :] if stored.operation == ASK else stored.octets
    start, end = core(Vector("fuzz", octets, profile=stored.profile))
    if (start, end) != (0, len(octets)):
        before, after = octets[:start], octets[end:]
        aside = [f"{spaced_hex(before)} before them"] * bool(before) + [f"{spaced_hex(after)} after them"] * bool(after)
        line = f"Its octets from offset {start} on ({', '.join(aside)}):"
        yield from textwrap.wrap(line, width)
    yield from explain_octets(octets[start:end], width, stored.profile)
