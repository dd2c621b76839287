"""``campaign.json``: the targets of a campaign, what was found in each, and when.

The fuzz layer wrote it; its file is all that is known of it here.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import claim_of
from overlong.conformance.results.headline import WAITS, State, state_of
from overlong.conformance.results.inputs import TYPED
from overlong.conformance.results.invocation import replay_found
from overlong.conformance.results.model import (
    INPUTS,
    MINIMAL,
    PEER,
    PEER_ANSWERS,
    STABLE,
    TELLING,
    Cause,
    Moment,
    Report,
    ReportKind,
    Standing,
    Subject,
    failing_claims,
)
from overlong.conformance.results.reading.documents import checked
from overlong.conformance.results.reading.recorded import agreeing, examined
from overlong.conformance.support.printable import counted, spaced_hex, thousands
from overlong.conformance.vectors.expected import CATEGORY_OF
from overlong.conformance.vectors.vector import FOUND, Profile, Vector

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

_AGAIN = 10
"""How often a finding was asked again."""
_OF_CHANCE = {"seconds", "stable", "count"}
"""The members of a finding that may differ in another run. All counts may, since a target may answer at random."""


def report_of_campaign(data: dict[str, Any], path: Path) -> Report:
    """The report that ``campaign.json`` gives.

    Raises:
        ReportError: it is not as the schema has it.
        ValueError: it contradicts itself.
    """
    checked(data, "campaign-1", path)
    _check(data)
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


def _check(data: Mapping[str, Any]) -> None:
    """Check that a campaign's sums are those of its findings, each of which is of one of its targets.

    Raises:
        ValueError: they are not.
    """
    names = [target["id"] for target in data["targets"]]
    for number, each in enumerate(data["findings"]):
        for member in ("target", "peer"):
            if each[member] not in (*names, *[""] * (member == "peer")):
                raise ValueError(f"findings[{number}].{member}: it is no target of this campaign")
    faults = Counter(each["target"] for each in data["findings"] if not each["peer"])
    for number, target in enumerate(data["targets"]):
        agreeing(f"targets[{number}].findings", target["findings"], faults[target["id"]])
    result = "NOT MEASURED" if not data["executions"] else "FAILED" if faults else "PASSED"
    agreeing("result", data["result"], result)
    agreeing("findings_digest", data["findings_digest"]["sha256"], digest_of_findings(data["findings"]))


def digest_of_findings(findings: Iterable[Mapping[str, Any]]) -> str:
    """SHA-256 of the findings of ``campaign.json`` without times, counts and repetitions."""
    whole = hashlib.sha256()
    for each in sorted(findings, key=lambda found: found["id"]):
        plain = {name: value for name, value in each.items() if name not in _OF_CHANCE}
        whole.update(json.dumps(plain, sort_keys=True).encode("ascii") + b"\n")
    return whole.hexdigest()


def _subject(target: Mapping[str, Any], data: Mapping[str, Any], folder: Path) -> Subject:
    """One target, with what was found in it, and how it differs from others."""
    name = target["id"]
    mine = [each for each in data["findings"] if each["target"] == name]
    causes = tuple(cause_of_stored(each, data["profile"], str(folder)) for each in mine)
    executions = sum(target["executions"].values())
    found = any(not each["peer"] for each in data["findings"])
    waits = data["faults_wait"] and not found
    state = state_of(failing_claims({}, causes), held=True, incomplete=waits) if executions else State.NOT_MEASURED
    edges = data["edges"]
    recorded = {
        "engine": data["engine"],
        "seed": str(data["seed"]),
        INPUTS: thousands(data["inputs"]),
        "executions": thousands(executions),
        "octets": thousands(data["octets"]),
        "reference edges": f"{thousands(edges['reached'])} of {thousands(edges['all'])}",
    }
    if data["coverage"]:
        recorded["target edges"] = thousands(data["coverage"])
    return Subject(
        id=name,
        state=state,
        why="it was not tested" if not executions else WAITS if state is State.INCOMPLETE else "",
        operations="".join(target["executions"]),
        digest=target["digest"]["sha256"],
        profile=data["profile"],
        command=data["command"],
        causes=causes,
        seconds=data["times"]["seconds"],
        findings_digest=data["findings_digest"]["sha256"],
        recorded=recorded,
    )


def cause_of_stored(found: Mapping[str, Any], profile: str, folder: str) -> Cause:
    """The cause that a finding tells.

    Args:
        found: as the schema has it.
        profile: that its target was measured by.
        folder: of the campaign.
    """
    octets = bytes.fromhex(found["octets"])
    chunks = None if found["chunks"] is None else tuple(found["chunks"])
    earlier = None if found["earlier"] is None else tuple(map(bytes.fromhex, found["earlier"]))
    vector = Vector(CATEGORY_OF.get(found["operation"], FOUND), octets, chunks=chunks, earlier=earlier)
    peer = found["peer"]
    more = list(examined(found))
    if found.get("telling"):
        more.append((TELLING, spaced_hex(bytes.fromhex(found["telling"]))))
    if peer:
        more += [(PEER, peer), (PEER_ANSWERS, found["expected"])]
    more.append((STABLE, f"{found['stable']} of {_AGAIN}"))
    if not found["minimal"]:
        more.append((MINIMAL, "perhaps not the least input"))
    cause = Cause(
        code=found["code"],
        title=found["title"],
        section=found["section"],
        place=found["place"],
        claim="" if peer else claim_of(found["code"], found["operation"]),
        count=found["count"],
        id=found["id"],
        vector=vector.id if len(vector.in_full) > TYPED else vector.in_full,
        octets=octets,
        operation=found["operation"],
        expected=found["expected"],
        observed=found["observed"],
        chunks=chunks,
        earlier=earlier,
        standing=Standing.DIFFERENCE if peer else Standing.UNEXPECTED,
        reason=f"{peer} answers otherwise, and RFC 3629 leaves it open" if peer else "",
        more=tuple(more),
    )
    measured_by = Profile(profile.partition("@")[0])
    return replace(cause, reproduce=replay_found(cause, cause.id, found["target"], measured_by, folder))
