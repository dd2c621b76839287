"""``campaign.json``: the targets of a campaign, what was found in each, and when.

The fuzz layer wrote it; its file is all that is known of it here.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import claim_of
from overlong.conformance.results.headline import WAITS, State, state_of
from overlong.conformance.results.invocation import reproduce_command
from overlong.conformance.results.model import Cause, Moment, Report, ReportKind, Standing, Subject, failing_claims
from overlong.conformance.results.reading.documents import checked
from overlong.conformance.support.printable import counted, thousands
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import FOUND, Vector

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TYPED = 100
"""Octets that a command line spells out; the others ``overlong finding show`` fetches."""
_AGAIN = 10
"""How often a finding was asked again."""


def report_of_campaign(data: dict[str, Any], path: Path) -> Report:
    """The report that ``campaign.json`` gives.

    Raises:
        ReportError: it is not as the schema has it.
    """
    checked(data, "campaign-1", path)
    subjects = tuple(_subject(target, data, path.parent) for target in data["targets"])
    times = data["times"]
    found, moments = 0, list[Moment]()
    for each in times["discoveries"]:
        found += each["finding"] is not None
        moments.append(Moment(each["seconds"], each["executions"], found, each["features"]))
    notes = list(data["notes"])
    if data["waiting"]:
        notes.append(f"{counted(data['waiting'], 'span')} of inputs not examined yet: --resume does")
    return Report(
        kind=ReportKind.FUZZ,
        title=subjects[0].id if len(subjects) == 1 else f"{len(subjects)} decoders",
        generator=data["generator"],
        subjects=subjects,
        environment=data["environment"],
        time=times["begun"],
        discovery=tuple(moments),
        notes=tuple(notes),
        source=path.name,
    )


def _subject(target: Mapping[str, Any], data: Mapping[str, Any], folder: Path) -> Subject:
    """One target, with what was found in it, and how it differs from others."""
    name = target["id"]
    mine = [each for each in data["findings"] if each["target"] == name]
    causes = tuple(_cause(each, data["profile"], folder) for each in mine)
    executions = sum(target["executions"].values())
    found = any(not each["peer"] for each in data["findings"])
    waits = data.get("faults_wait", bool(data["waiting"])) and not found
    state = state_of(failing_claims({}, causes), held=True, incomplete=waits) if executions else State.NOT_MEASURED
    edges = data["edges"]
    recorded = {
        "engine": data["engine"],
        "seed": str(data["seed"]),
        "inputs": thousands(data["inputs"]),
        "executions": thousands(executions),
        "octets": thousands(data["octets"]),
        "reference edges": f"{thousands(edges['reached'])} of {thousands(edges['all'])}",
    }
    if data["coverage"]:
        recorded["target edges"] = thousands(data["coverage"])
    return Subject(
        id=name,
        state=state,
        why="it was asked nothing" if not executions else WAITS if state is State.INCOMPLETE else "",
        operations="".join(target["executions"]),
        digest=target["digest"]["sha256"],
        profile=data["profile"],
        command=data["command"],
        causes=causes,
        seconds=data["times"]["seconds"],
        findings_digest=data["findings_digest"]["sha256"],
        recorded=recorded,
    )


def _cause(found: Mapping[str, Any], profile: str, folder: Path) -> Cause:
    octets = bytes.fromhex(found["octets"])
    chunks = None if found["chunks"] is None else tuple(found["chunks"])
    earlier = None if found["earlier"] is None else tuple(map(bytes.fromhex, found["earlier"]))
    vector = Vector(FOUND, octets, chunks=chunks, earlier=earlier)
    at = f"an octet of {found['octets_at']}" if found["octets_at"] else "the end of the input"
    peer = found["peer"]
    more = [("where", found["placement"])]
    if peer:
        more += [("the other target", peer), ("the other", found["expected"])]
    more.append(("stable", f"{found['stable']} of {_AGAIN}"))
    if not found["minimal"]:
        more.append(("minimal", "perhaps not the least input"))
    return Cause(
        code=found["code"],
        title=found["title"],
        section=found["section"],
        place=f"{found['form']} at {at}" if found["form"] else at,
        claim="" if peer else claim_of(found["code"], found["operation"]),
        count=found["count"],
        id=found["id"],
        vector=vector.in_full if len(octets) <= _TYPED else vector.id,
        octets=octets,
        operation=found["operation"],
        expected=found["expected"],
        observed=found["observed"],
        chunks=chunks,
        earlier=earlier,
        reproduce=_again(found, vector, profile, folder),
        standing=Standing.DIFFERENCE if peer else Standing.UNEXPECTED,
        reason=f"{peer} answers otherwise, and RFC 3629 leaves it open" if peer else "",
        more=tuple(more),
    )


def _again(found: Mapping[str, Any], vector: Vector, profile: str, folder: Path) -> str:
    """The command that shows it again."""
    name = found["target"]
    target: str | list[str] = name
    if name.startswith("-- "):
        try:
            target = shlex.split(name)[1:]
        except ValueError:  # it was shortened, or never was one
            return ""
    measured_by = Profile(profile.partition("@")[0])
    if len(vector.octets) + sum(map(len, vector.earlier or ())) <= _TYPED:
        return reproduce_command("replay", target, vector.in_full, profile=measured_by)
    fetched = "OCTETS"
    shown = shlex.join(["overlong", "finding", "show", "--format", "id", str(folder), found["id"]])
    return reproduce_command("replay", target, fetched, profile=measured_by).replace(fetched, f'"$({shown})"', 1)
