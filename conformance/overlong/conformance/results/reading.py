"""Any file that overlong leaves behind, read into a report; ``report.json``, a report, is written here, too.

``matrix.json`` names for each target the folder of its results, or says what is known of it if it has none.
``campaign.json`` says what was found in the targets of a campaign, and when; the fuzz layer wrote it, and its file is
all that is known of it here.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.finding import claim_of
from overlong.conformance.results.invocation import TYPED, replay_found
from overlong.conformance.results.model import (
    INPUTS,
    MINIMAL,
    PEER,
    PEER_ANSWERS,
    STABLE,
    TELLING,
    WAITS,
    Cause,
    Drawing,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
    failing_claims,
    state_of,
)
from overlong.conformance.results.records import (
    MOST_MAPS,
    ReportError,
    agreeing,
    cause_of,
    checked,
    document,
    examined,
    map_of,
    not_of,
    packed,
    regular,
    spelt,
    state_recorded,
)
from overlong.conformance.results.results_file import RESULTS, report_of_results
from overlong.conformance.results.statements import report_of_certificate, report_of_sweep
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands
from overlong.conformance.vectors.expected import CATEGORY_OF
from overlong.conformance.vectors.vector import FOUND, Profile, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path


SCHEMA = "overlong/report-1"
_CLEAN = (State.CONFORMS, State.NOTHING)
"""The states of a target in which nothing fails."""
_MOST_MAPS = 128 * MOST_MAPS
"""The most maps of all targets together: 128 MiB."""


def data(report: Report) -> str:
    """The report as a JSON document."""
    return spelt(as_json(report), indent=2) + "\n"


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data; only a diff has changes."""
    extra = {name: value for name, value in report.extra.items() if name != "since"}
    return {"schema": SCHEMA, "state": report.state.value, **plain(replace(report, extra=extra))}


def plain(value: Any) -> Any:
    """The parts of a report as plain data."""
    match value:
        case Map():
            return {"name": value.name, "answers": packed(value.answers)}
        case Report() | Subject() | Cause() | ReportPart() | Drawing() | Moment():
            return {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        case bytes():
            return value.hex()
        case ReportKind() | State() | Standing():
            return value.value
        case list() | tuple():
            return [plain(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {name: plain(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def of_data(read: dict[str, Any], path: Path) -> Report:
    """The report that was written so.

    Raises:
        ReportError: it is not as the schema has it.
        ValueError: a map in it is none, or the sides of a diff do not match.
    """
    checked(read, "report-1", path, part="report")
    extra = read["extra"]
    pairs = {len(read["subjects"]), *(len(extra.get(side, ())) for side in ("older", "newer"))}
    if (read["kind"] == ReportKind.DIFF) != bool(extra) or (extra and len(pairs) > 1):
        raise ValueError("extra: a diff has it, with both sides of each subject, and nothing else")
    if sum(len(each["maps"]) for each in read["subjects"]) > _MOST_MAPS:
        raise ValueError(f"subjects: more than {_MOST_MAPS} maps")
    members: dict[str, Any] = _members(read, Report)
    members |= {
        "kind": ReportKind(read["kind"]),
        "subjects": tuple(_subject(each) for each in read["subjects"]),
        "discovery": tuple(Moment(**each) for each in read["discovery"]),
        "notes": tuple(read["notes"]),
    }
    return Report(**members)


def _subject(read: dict[str, Any]) -> Subject:
    automaton = read["automaton"]
    members: dict[str, Any] = _members(read, Subject)
    members |= {
        "state": State(read["state"]),
        "parts": tuple(ReportPart(**each) for each in read["parts"]),
        "causes": tuple(map(_cause, read["causes"])),
        "stale": tuple(map(_cause, read["stale"])),
        "not_covered": tuple(read["not_covered"]),
        "notes": tuple(read["notes"]),
        "categories": {name: (asked, failing) for name, (asked, failing) in read["categories"].items()},
        "maps": tuple(map_of(each["name"], each["answers"]) for each in read["maps"]),
        "automaton": None if automaton is None else Drawing(**automaton),
    }
    subject = Subject(**members)
    if looks_clean(subject):
        agreeing(f"the state of {printable(subject.id)}", subject.state, State.DIVERGES)
    return subject


def looks_clean(subject: Subject) -> bool:
    """True if a target's state says that nothing fails, and its claims or causes say that something does."""
    return subject.state in _CLEAN and bool(failing_claims(subject.claims, subject.causes))


def _cause(read: dict[str, Any]) -> Cause:
    chunks, earlier = read["chunks"], read["earlier"]
    members: dict[str, Any] = _members(read, Cause)
    members |= {
        "octets": bytes.fromhex(read["octets"]),
        "chunks": None if chunks is None else tuple(chunks),
        "earlier": None if earlier is None else tuple(map(bytes.fromhex, earlier)),
        "standing": Standing(read["standing"]),
        "more": tuple((title, text) for title, text in read["more"]),
    }
    return Cause(**members)


def _members(read: dict[str, Any], of: type[Any]) -> dict[str, Any]:
    """The members that ``of`` has fields for."""
    return {each.name: read[each.name] for each in fields(of) if each.name in read}  # some are younger than the file


def report_of_matrix(data: dict[str, Any], path: Path) -> Report:
    """The report that ``matrix.json`` and the folders beside it give.

    Raises:
        ReportError: it is not as the schema has it, or the results of a target are not.
        ValueError: it contradicts itself.
        OSError: they cannot be read.
    """
    checked(data, "matrix-1", path)
    folders = [folder for row in data["targets"] if (folder := row.get("folder", ""))]
    if len(set(folders)) < len(folders):
        raise ValueError("targets: two have one folder")
    subjects = tuple(_subject_of_row(row, path) for row in data["targets"])
    return Report(
        kind=ReportKind.MATRIX,
        title="1 decoder" if len(subjects) == 1 else f"{len(subjects)} decoders",
        generator=data["generator"],
        subjects=subjects,
        environment=data.get("environment", {}),
        time=data.get("time", ""),
        notes=tuple(data.get("notes", ())),
        incomplete=data.get("incomplete", ""),
        source=path.name,
    )


def _subject_of_row(row: Mapping[str, Any], path: Path) -> Subject:
    """A target as its results have it; where there are none, or they are of another run, as its row has it."""
    state, folder = State(row["state"]), row.get("folder", "")
    if folder:
        results = path.parent / folder / RESULTS
        if results.is_file():
            subject = report_of_results(results).subjects[0]
            incomplete = State.INCOMPLETE in (state, subject.state)
            same = subject.claims == row["claims"] and not incomplete
            if same or subject.state is state:  # the results are of the same run
                return replace(subject, seconds=row.get("seconds", 0.0), why=subject.why or row["why"])
    causes = tuple(cause_of(bucket, folder=path.parent / folder) for bucket in row["buckets"])
    if state not in (State.INCOMPLETE, State.NOT_MEASURED):
        agreeing(f"the state of {printable(row['target'])}", state, state_recorded(row["claims"], causes))
    return Subject(
        id=row["target"],
        state=state,
        why=row["why"],
        version=row["version"],
        language=row["language"],
        claims=row["claims"],
        set_aside=row.get("set_aside", ""),
        causes=causes,
        restarts=row["restarts"],
        seconds=row.get("seconds", 0.0),
    )


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
    subjects = tuple(_subject_of_campaign(target, data, path.parent) for target in data["targets"])
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


def _subject_of_campaign(target: Mapping[str, Any], data: Mapping[str, Any], folder: Path) -> Subject:
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


_READERS: dict[str, Callable[[dict[str, Any], Path], Report]] = {
    "overlong/matrix-1": report_of_matrix,
    "overlong/results-1": report_of_sweep,
    "overlong/campaign-1": report_of_campaign,
    SCHEMA: of_data,
}
_IN_FOLDERS = (
    "matrix.json", "diff.json", "campaign.json", "sweep.json", "results.jsonl", "results.jsonl.part",
    "certificate.json", "report.json",
)  # fmt: skip
"""What a folder is read by: the first of these that is in it."""


def read(paths: Sequence[Path]) -> Report:
    """The report that these files give; several of single targets make a matrix.

    Args:
        paths: files, or folders that hold them.

    Raises:
        ReportError: one of them is no file of results, is damaged, or several do not go together.
        OSError: one cannot be read.
    """
    reports = [_read(path) for path in paths]
    if len(reports) == 1:
        return reports[0]
    if not reports:
        raise ReportError("no file of results; name one, or the folder of a run")
    for path, report in zip(paths, reports, strict=True):
        if report.kind in (ReportKind.FUZZ, ReportKind.DIFF):
            raise ReportError(
                f"{printable(str(path))}: a {report.kind.value} is a report of its own; name it without others"
            )
    return _together(reports, paths)


def _together(reports: Sequence[Report], paths: Sequence[Path]) -> Report:
    """One table of all their targets."""
    subjects = tuple(subject for report in reports for subject in report.subjects)
    first = reports[0].environment
    return Report(
        kind=ReportKind.MATRIX,
        title=f"{len(subjects)} decoders",
        generator=", ".join(dict.fromkeys(report.generator for report in reports)),
        subjects=subjects,
        environment=first if all(report.environment == first for report in reports) else {},
        time=max(report.time for report in reports),
        notes=tuple(dict.fromkeys(note for report in reports for note in report.notes)),
        incomplete="; ".join(f"{report.title}: {report.incomplete}" for report in reports if report.incomplete),
        source=", ".join(str(path) for path in paths),
    )


def _read(path: Path) -> Report:
    if path.is_dir():
        found = next((path / name for name in _IN_FOLDERS if (path / name).is_file()), None)
        if found is None:
            raise ReportError(
                f"{printable(str(path))}: no results in this folder; name one that certify, matrix, sweep or fuzz wrote"
            )
        return replace(_read_file(found), source=found.name)
    return _read_file(path)


def _read_file(path: Path) -> Report:
    regular(path)
    with path.open("rb") as file:
        start = file.read(64)
    if path.suffix == ".jsonl" or path.name.endswith(".jsonl.part") or start.startswith(b'{"record"'):
        return report_of_results(path)
    data = document(path)
    if not isinstance(data, dict):
        raise ReportError(f"{printable(str(path))}:1: no file of results; name one that overlong wrote")
    read_from = cast("dict[str, Any]", data)
    schema = read_from.get("schema")
    reader = _READERS.get(schema) if isinstance(schema, str) else None
    if "_type" in read_from:
        reader = report_of_certificate
    if reader is None:
        nearest = next((each for each in _READERS if str(schema).startswith(each.rstrip("0123456789"))), SCHEMA)
        raise not_of(read_from, nearest, path)
    if reader is of_data and "kind" not in read_from:
        raise ReportError(f"{printable(str(path))}:1: what a verb printed is no report; name a file of results")
    try:
        return reader(read_from, path)
    except ReportError:
        raise
    except ValueError as error:  # of the right form, and still not what it should be
        raise ReportError(f"{printable(str(path))}: {printable(str(error))}; measure again") from None
