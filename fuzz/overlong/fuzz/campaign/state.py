"""What a campaign has done and found: in memory while it runs, and in its files: ``campaign.json``, from which it
goes on and reports are made, and two for each finding.

The results of units come in any order, and are triaged in the order of their numbers. That order, not speed, decides
what is found. The state has what is triaged; what is not is asked again after the end of a process. So a campaign that
was killed ends as one that was not. The same seed and number of inputs give the same octets except for times, which
have their own members.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
from collections import Counter
from dataclasses import asdict, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import Why, claim_of
from overlong.conformance.results.invocation import INPUTS, found, kept_in, write_inputs
from overlong.conformance.results.reading import digest_of_findings, report_of_campaign
from overlong.conformance.results.records import ReportError, document, spelt, why_as_json
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.printable import as_name, printable
from overlong.conformance.support.provenance import generator, timestamp
from overlong.conformance.targets.limits import Limits
from overlong.conformance.vectors.vector import Profile
from overlong.fuzz.campaign.corpus import CampaignError, errors_of, within, written_at_once
from overlong.fuzz.engines.job import CampaignJob, Fingerprint
from overlong.reference import DIALECTS, ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from overlong.fuzz.engines.job import UnitResult


REPETITIONS = 10
"""How often a finding is asked again, each time in a fresh process."""


@dataclass(frozen=True)
class StoredFinding:
    """One cause; its id is a hash of its target and its condition, or of its code and place. All text is printable."""

    id: str
    """``D-7f3a0c19``."""
    target: str
    operation: str
    """The operation's letter."""
    code: str
    """``OV201``."""
    place: str
    """The place in the grammar, or the defect; may be empty."""
    title: str
    section: str
    octets: bytes
    """The least input that shows it."""
    chunks: tuple[int, ...] | None
    earlier: tuple[bytes, ...] | None
    expected: str
    """The expected answer by RFC 3629, in words; for a difference, the peer's answer."""
    observed: str
    peer: str
    """The other target of a difference; empty for a fault."""
    minimal: bool
    """True if no less input was found in the time there was for it."""
    stable: int
    """How often it showed again in fresh processes, out of :data:`REPETITIONS`. A difference, which is no fault, is
    asked again in the same processes, since there are many."""
    count: int
    """The number of inputs of the campaign that showed it, or that its condition predicts."""
    first: int
    """The number of the first input that showed it."""
    seconds: float
    """The campaign time of its discovery, in seconds."""
    why: Why | None = None
    """When the target is wrong; None if experiments could not tell."""
    telling: bytes = b""
    """An input that says more than the least one, if there is one."""

    @property
    def where(self) -> str:
        """When it shows if that is known, else its place; may be empty."""
        return self.why.sentence if self.why is not None else self.place

    @property
    def claim(self) -> str:
        """The claim that it refutes."""
        return claim_of(self.code, self.operation)

    @property
    def is_difference(self) -> bool:
        """True for a difference that RFC 3629 allows, which is no fault."""
        return bool(self.peer)

    def as_json(self) -> dict[str, Any]:
        """It as plain data; octets as hexadecimal digits."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("why", "telling")}
        return {
            **plain,
            "octets": self.octets.hex(),
            "chunks": None if self.chunks is None else list(self.chunks),
            "earlier": None if self.earlier is None else [piece.hex() for piece in self.earlier],
            **why_as_json(self.why),
            **({"telling": self.telling.hex()} if self.telling else {}),
        }

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> StoredFinding:
        """The finding that was written so, by the schema."""
        wanted: dict[str, Any] = {each.name: read[each.name] for each in fields(cls) if each.name in read}
        wanted["octets"] = bytes.fromhex(wanted["octets"])
        wanted["chunks"] = None if read["chunks"] is None else tuple(read["chunks"])
        wanted["earlier"] = None if read["earlier"] is None else tuple(map(bytes.fromhex, read["earlier"]))
        wanted["telling"] = bytes.fromhex(read.get("telling", ""))
        if "sentence" in read:
            condition = dict(read["condition"])
            predicted, asked = read["confirmed"]
            wanted["why"] = Why(read["sentence"], condition.pop("id"), condition, (predicted, asked))
        return cls(**wanted)


@dataclass(frozen=True)
class Status:
    """A moment of a campaign. All text except names of targets is safe to show."""

    job: CampaignJob
    resumed: bool
    """True if the campaign began before this run."""
    inputs: int
    """Inputs of the campaign."""
    executions: int
    """Answers requested in the campaign."""
    rate: float
    """Executions per second in this run, on all processes that it started."""
    octets: int
    """Octets of the inputs."""
    corpus: int
    """Files in the corpus."""
    edges: tuple[int, int]
    """Transitions of the reference's automaton: reached, and all."""
    coverage: int
    """Edges of a target's code that were reached; 0 if no target is instrumented."""
    seconds: float
    """Seconds of this run."""
    earlier: float
    """Seconds of campaign time before this run."""
    last_new: float
    """Seconds since the last new result, or since the start of this run."""
    findings: list[StoredFinding] = field(default_factory=list[StoredFinding])
    """Faults and differences, in the order in which they were found."""
    notes: list[str] = field(default_factory=list[str])
    faults_wait: bool = False
    """True if the run has ended and an unexamined divergence may be a new fault."""


@dataclass
class Known:
    """What is known of a fingerprint."""

    finding: str = ""
    """The id of what its first example was found to be; empty if it was not examined."""
    count: int = 0
    octave: int = 0
    """The last one in which an example was looked at; 0 if it was counted, and none has come yet."""


@dataclass
class State:
    """A campaign: what it does, and all that is triaged."""

    job: CampaignJob
    identities: tuple[str, ...]
    """The digests of its targets when it began."""
    seeds: dict[str, Any]
    """How many inputs it began with, and their digest."""
    begun: str = field(default_factory=timestamp)
    inputs: int = 0
    """Those below this number are triaged."""
    octets: int = 0
    """Of the inputs."""
    coverage: int = 0
    """Edges of a target's code, the most that a unit has told."""
    seconds: float = 0.0
    """Of campaign time, over all runs."""
    asked: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """Executions by target and operation."""
    findings: dict[str, StoredFinding] = field(default_factory=dict[str, StoredFinding])
    """By id, in the order in which they were found."""
    fingerprints: dict[Fingerprint, Known] = field(default_factory=dict[Fingerprint, Known])
    taken: set[tuple[Fingerprint, int]] = field(default_factory=set[tuple[Fingerprint, int]])
    """Divergences of the unit at hand that are counted already, and the numbers of their inputs."""
    features: set[int] = field(default_factory=set[int])
    """Of the reference, reached by the inputs."""
    discoveries: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    """Moments at which something was new, as ``campaign.json`` has them."""
    notes: list[str] = field(default_factory=list[str])
    """What a user should know, each safe to show."""

    def note(self, *notes: str) -> None:
        """Add notes that are not there yet."""
        self.notes += [note for note in notes if note not in self.notes]

    def distinct(self, target: str, kind: str) -> int:
        """How many fingerprints of a target and kind have come with an example."""
        return sum(
            (of.target, of.kind) == (target, kind) and known.octave > 0 for of, known in self.fingerprints.items()
        )

    def count(self, fingerprint: Fingerprint, count: int, name: str = "") -> None:
        """Count inputs for a finding, or for the first one of their fingerprint."""
        known = self.fingerprints.setdefault(fingerprint, Known())
        if name and not known.finding:  # so are those that came without an example
            known.finding = name
            self._add(name, known.count)
        known.count += count
        if named := name or known.finding:
            self._add(named, count)

    def _add(self, name: str, count: int) -> None:
        found = self.findings[name]
        self.findings[name] = replace(found, count=found.count + count)

    def discovered(self, seconds: float, more: int = 0, finding: str | None = None) -> None:
        """Keep the moment of a discovery; ``more``: executions that are not triaged yet."""
        executions, features = self.asked.total() + more, len(self.features)
        self.discoveries.append(
            {"seconds": round(seconds, 3), "executions": executions, "features": features, "finding": finding}
        )

    @property
    def left_out(self) -> list[str]:
        """The divergences that were not examined, in words."""
        sorts, inputs = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
        for of, known in sorted(self.fingerprints.items()):
            if known.octave and not known.finding:
                sorts[of.target, of.kind] += 1
                inputs[of.target, of.kind] += known.count
        return [
            f"{printable(target)}: {number} further sorts of {printable(kind)} ({inputs[target, kind]} inputs) were "
            "counted and not examined: it is wrong in too many ways; fix what was found and begin anew"
            for (target, kind), number in sorts.items()
        ]


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
    inputs = state.inputs + sum(len(each.unit) for each in waiting)
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
    with errors_of(path, "see to it", "go on with --resume"), written_whole(path) as file:
        file.write(spelt(statement(state, waiting, edges), indent=1) + "\n")


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
        with errors_of(path, "see to it", "go on with --resume"):
            path.parent.mkdir(exist_ok=True)
            for file, octets in ((path, text.encode("ascii")), (path.with_suffix(".bin"), each.octets)):
                if not _holds(file, octets):
                    written_at_once(file, octets)
            if not kept_in(within(folder, INPUTS).parent, vector := found(each)):
                write_inputs(folder, [vector])


def _holds(path: Path, octets: bytes) -> bool:
    try:
        return path.lstat().st_size == len(octets) and path.read_bytes() == octets
    except FileNotFoundError:
        return False
