"""What a campaign has done and found: in memory while it runs, and in ``campaign.json``, from which it goes on.

The results of units come in any order, and are triaged in the order of their numbers. That order, not speed, decides
what is found. The state has what is triaged; what is not is asked again after the end of a process. So a campaign that
was killed ends as one that was not.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import Why, claim_of
from overlong.conformance.results.records import why_as_json
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import timestamp
from overlong.fuzz.execution.job import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlong.fuzz.execution.job import CampaignJob


class CampaignError(Exception):
    """A folder cannot be used, or not for this campaign. The message is one line with the folder and the remedy."""


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
