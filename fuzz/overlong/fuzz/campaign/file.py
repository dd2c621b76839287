"""The files of a campaign: ``campaign.json``, from which it goes on and reports are made, and two for each finding.

The same seed and number of inputs give the same octets except for times, which have their own members.
"""

from __future__ import annotations

import errno
import hashlib
import json
import platform
import shlex
from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.invocation import INPUTS, found, kept_in, write_inputs
from overlong.conformance.results.reading import digest_of_findings, report_of_campaign
from overlong.conformance.results.records import ReportError, document, spelt
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.printable import as_name, printable
from overlong.conformance.support.provenance import generator, timestamp
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.vector import Profile
from overlong.fuzz.campaign.corpus import within, written_at_once
from overlong.fuzz.campaign.state import CampaignError, Known, State, StoredFinding
from overlong.fuzz.execution.job import CampaignJob, Fingerprint
from overlong.reference import DIALECTS, ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from overlong.fuzz.engines.result import UnitResult

STATEMENT, FINDINGS = "campaign.json", "findings"
SCHEMA, FINDING_SCHEMA = "overlong/campaign-1", "overlong/finding-1"


def statement(state: State, waiting: Sequence[UnitResult], edges: tuple[int, int]) -> dict[str, Any]:
    """The contents of ``campaign.json``.

    Args:
        state: of the campaign.
        waiting: results that are not triaged yet.
        edges: transitions of the reference's automaton: reached, and all.
    """
    job = state.job
    findings = [each.as_json() for each in state.findings.values()]
    faults = [each["target"] for each in findings if not each["peer"]]
    asked = state.asked.copy()
    for each in waiting:
        asked += each.asked
    inputs = state.inputs + sum(each.unit.count for each in waiting)
    targets = [
        {
            "id": name,
            "digest": {"sha256": digest},
            "executions": {operation: count for (of, operation), count in sorted(asked.items()) if of == name},
            "findings": faults.count(name),
        }
        for name, digest in zip(job.names, state.identities, strict=True)
    ]
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "environment": {"system": platform.system(), "machine": platform.machine()},
        "result": "NOT MEASURED" if not asked.total() else "FAILED" if faults else "PASSED",
        "targets": targets,
        "profile": job.profile.name,
        "engine": job.engine,
        "seed": job.seed,
        "seeds": [state.seeds],
        "command": command_of(job, inputs, seeds=bool(state.seeds["inputs"])),
        "inputs": inputs,
        "executions": asked.total(),
        "octets": state.octets + sum(each.octets for each in waiting),
        "edges": {"reached": edges[0], "all": edges[1]},
        "features": len(state.features),
        "coverage": max(state.coverage, *(each.coverage for each in waiting), 0),
        "findings": findings,
        "findings_digest": {"sha256": digest_of_findings(findings)},
        "notes": state.notes,
        "waiting": len(waiting),
        "faults_wait": faults_wait(state, waiting),
        "times": {
            "begun": state.begun,
            "written": timestamp(),
            "seconds": round(state.seconds, 3),
            "discoveries": state.discoveries,
        },
        "resume": {
            "targets": [each if isinstance(each, str) else list(each) for each in job.targets],
            "profile": asdict(job.profile),
            "limits": asdict(job.limits),
            "inputs": state.inputs,
            "octets": state.octets,
            "coverage": state.coverage,
            "asked": [{"target": name, "operation": word, "count": n} for (name, word), n in state.asked.items()],
            "fingerprints": [{**of._asdict(), **asdict(known)} for of, known in state.fingerprints.items()],
            "taken": [{**of._asdict(), "number": number} for of, number in sorted(state.taken)],
            "features": sorted(state.features),
        },
    }


def state_in(folder: Path) -> State:
    """The campaign that began in a folder, which may be a stranger's; its job has no seeds.

    Raises:
        CampaignError: there is none; it is of another version, or damaged.
    """
    path = within(folder, STATEMENT)
    shown = printable(str(path))
    if not path.exists():
        raise CampaignError(
            f"{printable(str(folder))}: no campaign has begun there; leave out --resume, or name the folder of one"
        )
    try:
        data = document(path)
        report_of_campaign(data, path)  # which checks it
    except OSError as error:
        raise CampaignError(f"{shown}: {error.strerror}; choose another folder with -o") from error
    except ReportError as error:
        raise CampaignError(str(error)) from None
    except ValueError as error:
        raise CampaignError(f"{shown}: {error}; it is damaged; choose another folder with -o") from None
    if data["generator"] != generator():
        raise CampaignError(
            f"{shown}: begun with {printable(data['generator'], 40)}, which may make other inputs than "
            f"{generator()}; use that, or begin a new one with -o"
        )
    try:
        left = data["resume"]
        profile = Profile(**left["profile"])
        if profile.speaks not in DIALECTS or profile.replaces not in ERROR_MODES:
            raise ValueError
        targets = tuple(
            as_name(each) if isinstance(each, str) else tuple(map(as_name, each)) for each in left["targets"]
        )
        job = CampaignJob(targets, data["seed"], data["engine"], profile, Limits(**left["limits"]))
        if [each["id"] for each in data["targets"]] != [*job.names]:
            raise ValueError
        (seeds,) = data["seeds"]
        digests = tuple(each["digest"]["sha256"] for each in data["targets"])
        return _state(data, job, digests, seeds)
    except (ValueError, LookupError, TypeError) as error:
        raise CampaignError(f"{shown}: resume: it is damaged; choose another folder with -o") from error


def _state(read: Mapping[str, Any], job: CampaignJob, identities: tuple[str, ...], seeds: dict[str, Any]) -> State:
    """The state that ``campaign.json`` holds, by the schema.

    Raises:
        ValueError: it contradicts itself.
    """
    left = read["resume"]
    findings = {each["id"]: StoredFinding.of(each) for each in read["findings"]}
    fingerprints = {_fingerprint(each): Known(**each) for each in left["fingerprints"]}
    if not findings.keys() >= {each.finding for each in fingerprints.values() if each.finding}:
        raise ValueError
    return State(
        job,
        identities,
        seeds,
        read["times"]["begun"],
        left["inputs"],
        left["octets"],
        left["coverage"],
        read["times"]["seconds"],
        Counter({(each["target"], each["operation"]): each["count"] for each in left["asked"]}),
        findings,
        fingerprints,
        {(_fingerprint(each), each["number"]) for each in left["taken"]},
        set(left["features"]),
        read["times"]["discoveries"],
        read["notes"],
    )


def _fingerprint(read: dict[str, Any]) -> Fingerprint:
    """The fingerprint in an object, which keeps the rest."""
    return Fingerprint(*(read.pop(name) for name in Fingerprint._fields))


def write_statement(folder: Path, state: State, waiting: Sequence[UnitResult], edges: tuple[int, int]) -> None:
    """Write ``campaign.json``.

    Raises:
        CampaignError: it cannot be written: then it is as it was.
    """
    path = folder / STATEMENT
    try:
        with written_whole(path) as file:
            file.write(spelt(statement(state, waiting, edges), indent=1) + "\n")
    except OSError as error:
        raise _error(path, error) from error


def seeds_as_json(seeds: Sequence[bytes]) -> dict[str, Any]:
    """How many inputs a campaign begins with, and their SHA-256, with the length of each, in order."""
    whole = hashlib.sha256()
    for octets in seeds:
        whole.update(len(octets).to_bytes(8, "big") + octets)
    return {"from": 0, "inputs": len(seeds), "digest": {"sha256": whole.hexdigest()}}


def faults_wait(state: State, waiting: Iterable[UnitResult]) -> bool:
    """Whether a fault of an unexamined sort was seen that is not triaged."""
    return any(
        not each.peer and each.fingerprint not in state.fingerprints for one in waiting for each in one.divergences
    )


def command_of(job: CampaignJob, inputs: int, *, seeds: bool) -> str:
    """The command that repeats the campaign."""
    words = ["overlong", "fuzz", "--seed", str(job.seed), "--runs", str(inputs)]
    for option, value, otherwise in (
        ("--engine", job.engine, "grammar"),
        ("--profile", job.profile.speaks, "rfc3629"),
    ):
        if value != otherwise:
            words += [option, value]
    words += job.limits.as_words()
    if seeds:
        words += ["--corpus", "SEEDS"]
    words += [target for target in job.targets if isinstance(target, str)]
    for target in job.targets:
        if not isinstance(target, str):
            words += ["--", *target]
    return shlex.join(words)


def write_findings(folder: Path, findings: Iterable[StoredFinding]) -> None:
    """Write ``findings/D-xxxxxxxx.json``, and ``.bin`` with its octets, where they are not there or others are.

    What is too long for a command line goes into a file for ``overlong replay``, too.

    Raises:
        CampaignError: one of them cannot be written: then there is nothing of it.
    """
    for each in findings:
        path = within(folder, FINDINGS) / f"{each.id}.json"
        text = json.dumps({"schema": FINDING_SCHEMA, **each.as_json()}, indent=2) + "\n"
        try:
            path.parent.mkdir(exist_ok=True)
            for file, octets in ((path, text.encode("ascii")), (path.with_suffix(".bin"), each.octets)):
                if not _holds(file, octets):
                    written_at_once(file, octets)
            if not kept_in(within(folder, INPUTS).parent, vector := found(each)):
                write_inputs(folder, [vector])
        except OSError as error:
            raise _error(path, error) from error


def _holds(path: Path, octets: bytes) -> bool:
    try:
        return path.lstat().st_size == len(octets) and path.read_bytes() == octets
    except FileNotFoundError:
        return False


def _error(path: Path, error: OSError) -> CampaignError:
    why = error.strerror or printable(str(error))
    remedy = "make room" if error.errno == errno.ENOSPC else "see to it"
    return CampaignError(f"{printable(str(path))}: {why}; {remedy}, and go on with --resume")
