"""Turns divergences into buckets: a condition where experiments find one, else the code and the place."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.examination.asking import OutOfBudget
from overlong.conformance.examination.consequence import cause_of
from overlong.conformance.examination.examine import MOST, is_examinable, why
from overlong.conformance.examination.explanation import condition_of, takes
from overlong.conformance.examination.shrinking import is_answer, shrunk
from overlong.conformance.oracle.finding import id_of
from overlong.conformance.oracle.target import BudgetSpent
from overlong.conformance.protocol.kind import MEMORY, Code
from overlong.conformance.protocol.wire import AGAIN, OTHER_INPUT, STREAMING
from overlong.conformance.support.printable import printable
from overlong.fuzz.campaign.stability import stable, steady
from overlong.fuzz.campaign.state import CampaignError
from overlong.fuzz.execution.differences import difference
from overlong.fuzz.execution.places import place_of
from overlong.fuzz.execution.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.condition import AnyCondition
    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.examination.shrinking import Findings
    from overlong.conformance.oracle.finding import Finding, Why
    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.campaign.stored import StoredFinding
    from overlong.fuzz.execution.engine import CampaignJob, Divergence

_SECONDS = 5.0  # to shrink the input of a fault
_DIFFERENCE = 1.0  # to shrink that of a difference: there are many, and they are no faults
_PATIENCE = 4
"""How much longer the search may take for a crash or a hang than for an answer: each showing costs a process."""


@dataclass(frozen=True)
class Examined:
    """The result of an examination: the bucket, and the least example found."""

    id: str
    """Id of the bucket."""
    target: str
    peer: str
    """The other target, if it is a difference."""
    finding: Finding
    place: str
    minimal: bool
    why: Why | None = None
    telling: bytes = b""


class Unfinished(Exception):
    """There is no time left to examine a divergence, which waits for the next run."""


class Probing:
    """Asks the targets of a job, each in processes of its own, which are kept from one divergence to the next."""

    def __init__(self, job: CampaignJob, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Start no process before the first examination.

        Args:
            job: whose targets.
            meanwhile: called between two questions. If it raises, the examination ends.
        """
        self._meanwhile = meanwhile
        self._elsewhere = 0.0
        self._profile = job.profile
        self._conditions: dict[str, AnyCondition] = {}
        probes = [Probe(target, job.limits, job.profile) for target in job.targets]
        self._probes = {probe.id: probe for probe in probes}

    def joined(self, divergence: Divergence, known: Sequence[StoredFinding]) -> str:
        """The id of the known finding that predicts a divergence, or has its code and place; empty if there is none.

        Raises:
            CampaignError: a known finding cannot be read.
        """
        return self._joined(divergence.finding, _of_target(known, divergence.target))

    def examine(self, divergence: Divergence, known: Sequence[StoredFinding]) -> Examined | str:
        """Find the bucket and the least example of a divergence; or the id of a known finding that it belongs to.

        Raises:
            CampaignError: a known finding cannot be read.
            TargetError: the target cannot be asked any more.
            Unfinished: there is no time left.
        """
        probe, finding, target = self._probes[divergence.target], divergence.finding, divergence.target
        if divergence.peer:
            return self._difference(divergence, probe)
        mine = _of_target(known, target)
        finding = steady(finding, probe)
        finding = cause_of(finding, partial(probe.ask_one, operation=finding.operation)) or finding
        if joined := self._joined(finding, mine):
            return joined
        if is_examinable(finding.code, finding.operation) and sum(each.why is not None for each in mine) < MOST:
            found = self._why(finding, probe)
            if found is not None and found.condition is not None:
                return _explained(found, divergence, finding)
        seconds = _SECONDS * (1 if is_answer(finding) else _PATIENCE)
        small, minimal = shrunk(finding, self._within(partial(probe.findings, operation=finding.operation), seconds))
        decodes = small.operation not in OTHER_INPUT
        place = place_of(small.vector) if small.code in _BREAKDOWNS and decodes else small.place
        return Examined(_name(target, small, place), target, "", small, place, minimal)

    def _joined(self, finding: Finding, known: Sequence[StoredFinding]) -> str:
        """The id of the known finding whose cause has this one, too, or that has its place; empty if there is none."""
        unexplained = _name(known[0].target, finding) if known else ""
        takes = (self._takes(each, finding) if each.why is not None else each.id == unexplained for each in known)
        return next((each.id for each, taken in zip(known, takes, strict=True) if taken), "")

    def _takes(self, known: StoredFinding, finding: Finding) -> bool:
        """True if a finding belongs to the cause of a known one."""
        assert known.why is not None
        return takes(self._condition(known), known, known.why.share, finding)

    def _condition(self, known: StoredFinding) -> AnyCondition:
        """The condition of a known finding.

        Raises:
            CampaignError: it is none.
        """
        assert known.why is not None
        if known.id not in self._conditions:
            try:
                self._conditions[known.id] = condition_of(known.why.condition)
            except (ValueError, LookupError, TypeError) as error:
                raise CampaignError(
                    f"finding {printable(known.id, 40)}: condition: it is damaged; choose another folder with -o"
                ) from error
        return self._conditions[known.id]

    def _why(self, finding: Finding, probe: Probe) -> Explanation | None:
        """What experiments find; None if they do not show it again, or the target fails too often."""
        try:
            return why(finding, cast("Target", _Watched(probe.opened(), self._meanwhile)), self._profile)
        except BudgetSpent:
            probe.renew()
            return None

    def _difference(self, divergence: Divergence, probe: Probe) -> Examined:
        """A habit shows in many places, but is one finding."""
        target, peer, finding = divergence.target, divergence.peer, divergence.finding
        operation, both = finding.operation, (probe, self._probes[peer])
        if operation not in STREAMING + AGAIN:
            finding = replace(finding, vector=replace(finding.vector, chunks=None, earlier=None))

        def differs(vectors: Sequence[Vector]) -> Iterator[Finding | None]:
            profiles, said = [each.profile for each in both], [each.ask(vectors, operation) for each in both]
            for vector, (one, fault), (other, fault_of_peer) in zip(vectors, *said, strict=True):
                right = fault is None and fault_of_peer is None
                yield difference(vector, operation, one, other, profiles) if right else None

        small, minimal = shrunk(finding, self._within(differs, _DIFFERENCE))
        return Examined(id_of(json.dumps([target, peer, small.code])), target, peer, small, "", minimal)

    def stable(self, examined: Examined) -> int:
        """How often the finding recurs in ``stored.AGAIN`` repetitions, each in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
            Unfinished: there is no time left.
        """
        return stable(examined.finding, self._probes[examined.target], self._meanwhile)

    def _within(self, asked: Callable[[Sequence[Vector]], Iterable[Finding | None]], seconds: float) -> Findings:
        """Asks as long as there is time."""
        deadline = self._clock() + seconds

        def ask(vectors: Sequence[Vector]) -> list[Finding | None]:
            if self._clock() >= deadline:
                raise OutOfBudget
            return list(asked(vectors))

        return ask

    def _clock(self) -> float:
        """Seconds, without the time spent on other work."""
        began = time.monotonic()
        self._meanwhile()
        now = time.monotonic()
        self._elsewhere += now - began
        return now - self._elsewhere

    def close(self) -> None:
        """End all processes. Never raises."""
        for probe in self._probes.values():
            probe.close()


def _of_target(known: Sequence[StoredFinding], target: str) -> list[StoredFinding]:
    """The faults of a target."""
    return [each for each in known if each.target == target and not each.is_difference]


class _Watched:
    """An open target that lets other work be done between two questions; the caller closes it."""

    def __init__(self, target: FramedTarget, meanwhile: Callable[[], None]) -> None:
        self._target, self._meanwhile = target, meanwhile

    def __getattr__(self, name: str) -> Any:
        return getattr(self._target, name)

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        self._meanwhile()
        return self._target.observe(asked)


_BREAKDOWNS = (Code.CRASHED, Code.MISBEHAVED)
"""Codes that have a place only after shrinking. A time-out has none: each try costs the time limit."""


def _name(target: str, finding: Finding, place: str = "") -> str:
    """The id of a bucket that has no condition."""
    if finding.code in (Code.UNSTABLE, Code.EARLIER_CALLS):
        # two names for answers that change from call to call, depending on the first evidence
        return id_of(json.dumps([target, Code.UNSTABLE]))
    return id_of(json.dumps([target, finding.code, place or finding.place]))


def _explained(found: Explanation, divergence: Divergence, examined: Finding) -> Examined:
    assert found.condition is not None
    shown, target = found.finding, divergence.target
    if shown is None or examined.claim == MEMORY != shown.claim:
        shown = examined
    return Examined(
        id_of(json.dumps([target, found.condition.id])),
        target,
        "",
        shown,
        shown.place,
        shown is found.finding,
        replace(found.why, condition=found.condition.kept()),
        found.telling.vector.octets if found.telling is not None else b"",
    )
