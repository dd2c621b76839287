"""Turns divergences into findings: chooses those to examine, counts the rest, and finds the cause of each.

Divergences with one fingerprint mostly have one cause. So the first is looked at, and the rest are counted. But another
cause may hide behind the same fingerprint, so one more is looked at each time the length of the campaign has doubled.
What a known condition predicts is not examined, which takes seconds. All this depends only on the numbers of inputs,
not on their division into units. A difference shows in every other input, and is no fault, so its first example is
enough.

A cause is a condition where experiments find one, else the code and the place. Its answers show again: each time that
the process is asked, and in fresh processes.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.examination.asking import OutOfBudget
from overlong.conformance.examination.examine import MOST, condition_of, is_examinable, rank, takes, why
from overlong.conformance.examination.least import CHANGING, cause_of, is_answer, order, shrunk, spliced
from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.oracle.finding import id_of
from overlong.conformance.oracle.target import BudgetSpent
from overlong.conformance.protocol.observation import MEMORY, Code
from overlong.conformance.protocol.wire import AGAIN, DECODE, GUARDED, OTHER_INPUT, STREAMING, VALIDATE
from overlong.conformance.results.invocation import found as vector_of
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import held
from overlong.conformance.sweep.pool import cpus
from overlong.conformance.vectors.expected import WIDTHS, Asked
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.state import REPETITIONS, Known, StoredFinding
from overlong.fuzz.engines.job import octave, place_of
from overlong.fuzz.engines.probe import Probe, difference
from overlong.fuzz.generated import BLOCK
from overlong.reference.automaton import shortlex
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.examination.least import Findings
    from overlong.conformance.examination.rules import AnyCondition
    from overlong.conformance.oracle.finding import Finding, Why
    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.campaign.state import State
    from overlong.fuzz.engines.job import CampaignJob, Divergence, Fingerprint, UnitResult

AT_ONCE = 64
"""Fingerprints of one target and kind that are examined as they come, if no known condition predicts them; of more, the
128th, the 256th and so on. This caps triage, so that one broken decoder cannot starve the rest."""
_SECONDS = 5.0  # to shrink the input of a fault
_DIFFERENCE = 1.0  # to shrink that of a difference: there are many, and they are no faults
_PATIENCE = 4
"""How much longer the search may take for a crash or a hang than for an answer: each showing costs a process."""
_DOUBTED, _DOUBTED_MEMORY, _DOUBTED_FAULTS = 8, 3, 1
"""How often a finding must show again, with other inputs in between; in memory; and one that ends its process."""
_LOOK = 0.05  # seconds between two looks at other work
_LONGEST = 500  # characters of what was expected or observed


def triage(
    state: State, result: UnitResult, examiner: Probing, spent: Callable[[], float], examined: Callable[[], None]
) -> None:
    """Examine and count what a unit has shown. If an exception ends it, the next call for the unit goes on.

    Args:
        state: of the campaign; all earlier units are triaged.
        result: of the next unit.
        examiner: examines new divergences.
        spent: gives the seconds of campaign time.
        examined: called after each examination, which may have added a finding.

    Raises:
        CampaignError: a known finding cannot be read.
        TargetError: a target cannot be asked any more.
        Unfinished: there is no time left.
    """
    for each in sorted(result.divergences, key=_first):
        if (each.fingerprint, each.index) not in state.taken and _take(state, each, examiner, result, spent):
            examined()
    with held():
        left, end = Counter(result.counts), result.unit.stop
        for fingerprint, number in [each for each in state.taken if each[1] < end]:
            left[fingerprint] -= 1
            state.taken.discard((fingerprint, number))
        for fingerprint, count in (+left).items():
            state.count(fingerprint, count)
        state.inputs, state.octets = end, state.octets + result.octets
        state.asked += result.asked
        state.coverage = max(state.coverage, result.coverage)


def _first(divergence: Divergence) -> tuple[object, ...]:
    """The order of examinations in a block: what may explain others before them, then the least."""
    finding = divergence.finding
    examinable = not divergence.peer and is_examinable(finding.code, finding.operation)
    telling = rank(finding.code, finding.operation) if examinable else (0, 0)
    least, block = shortlex(finding.vector.octets), divergence.index // BLOCK
    return block, bool(divergence.peer), not examinable, telling, least, divergence.fingerprint


def _take(
    state: State, divergence: Divergence, examiner: Probing, result: UnitResult, spent: Callable[[], float]
) -> bool:
    """Look at a divergence if it is due. True if it was examined, which takes seconds."""
    fingerprint, when = divergence.fingerprint, octave(divergence.index // BLOCK)
    known = state.fingerprints.get(fingerprint, Known())
    if known.octave and (divergence.peer or when <= known.octave):
        return False
    found: StoredFinding | str = "" if divergence.peer else examiner.joined(divergence, [*state.findings.values()])
    new: StoredFinding | None = None
    due = not found and (bool(known.finding) if known.octave else _is_due(state, fingerprint))
    if due:
        found = examiner.examine(divergence, [*state.findings.values()])
    if not isinstance(found, str):
        there = state.findings.get(found.id)
        if there is None or (order(found), found.operation) < (order(there), there.operation):
            stable = found.stable if found.is_difference else examiner.stable(found)
            new = replace(found, stable=stable, seconds=spent())
            if there is not None:
                new = replace(new, first=there.first, seconds=there.seconds, count=there.count)
    with held():
        if new is not None:
            is_first = new.id not in state.findings
            state.findings[new.id] = new
            if is_first:
                state.discovered(new.seconds, result.executions, new.id)
        if name := found if isinstance(found, str) else found.id:
            state.count(fingerprint, 1, name)
            state.taken.add((fingerprint, divergence.index))
        state.fingerprints.setdefault(fingerprint, known).octave = when
    return due


def _is_due(state: State, fingerprint: Fingerprint) -> bool:
    """True if the example of a new fingerprint is to be examined."""
    number = 1 + state.distinct(fingerprint.target, fingerprint.kind)
    return number <= AT_ONCE or not number & (number - 1)


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

    def examine(self, divergence: Divergence, known: Sequence[StoredFinding]) -> StoredFinding | str:
        """Find the bucket and the least example of a divergence; or the id of a known finding that it belongs to.

        The finding counts no inputs yet; when it was found, and how stable it is, it does not say.

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
        return stored(divergence, _name(target, small, place), small, place, minimal=minimal)

    def _joined(self, finding: Finding, known: Sequence[StoredFinding]) -> str:
        """The id of the known finding whose cause has this one, too, or that has its place; empty if there is none."""
        unexplained = _name(known[0].target, finding) if known else ""
        for each in known:
            if each.why is None:
                if each.id == unexplained:
                    return each.id
            elif takes(self._condition(each, each.why), each, each.why.share, finding):
                return each.id
        return ""

    def _condition(self, known: StoredFinding, why: Why) -> AnyCondition:
        """The condition of a known finding.

        Raises:
            CampaignError: it is none.
        """
        if known.id not in self._conditions:
            try:
                self._conditions[known.id] = condition_of(why.condition)
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
            probe.close()
            return None

    def _difference(self, divergence: Divergence, probe: Probe) -> StoredFinding:
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
        return stored(divergence, id_of(json.dumps([target, peer, small.code])), small, "", minimal=minimal)

    def stable(self, found: StoredFinding) -> int:
        """How often the finding recurs in :data:`~.state.REPETITIONS`, each in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
            Unfinished: there is no time left.
        """
        return stable(vector_of(found), found.operation, found.code, self._probes[found.target], self._meanwhile)

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


def _explained(found: Explanation, divergence: Divergence, examined: Finding) -> StoredFinding:
    assert found.condition is not None
    shown = found.finding
    if shown is None or examined.claim == MEMORY != shown.claim:
        shown = examined
    return replace(
        stored(
            divergence,
            id_of(json.dumps([divergence.target, found.condition.id])),
            shown,
            shown.place,
            minimal=shown is found.finding,
        ),
        why=replace(found.why, condition=found.condition.kept()),
        telling=found.telling.vector.octets if found.telling is not None else b"",
    )


def stored(divergence: Divergence, name: str, finding: Finding, place: str, *, minimal: bool) -> StoredFinding:
    """What a campaign keeps of the finding that a divergence led to, before it is counted."""
    vector, peer = finding.vector, divergence.peer
    return StoredFinding(
        id=name,
        target=divergence.target,
        operation=finding.operation,
        code=finding.code,
        place=printable(place),
        title=printable(finding.place if peer else finding.title),
        section="" if peer else finding.section,
        octets=vector.octets,
        chunks=vector.chunks,
        earlier=vector.earlier,
        expected=printable(finding.detail[0] if peer else finding.expected_words, _LONGEST),
        observed=printable(finding.observed_words, _LONGEST),
        peer=peer,
        minimal=minimal,
        stable=REPETITIONS if peer else 0,
        count=0,
        first=divergence.index,
        seconds=0.0,
    )


def steady(finding: Finding, probe: Probe) -> Finding:
    """The finding as it shows each time in new processes, after any other input.

    If it does not, it is one of a changing answer; or of memory, if an examination of that shows the reason.

    Raises:
        TargetError: the target cannot be asked any more.
    """
    probe.close()  # what it was asked before must not matter
    if finding.code not in CHANGING or finding.operation == GUARDED:
        vector, times = finding.vector, _DOUBTED_MEMORY if finding.operation == GUARDED else _DOUBTED
        harmless = [spliced(vector, 0, len(vector.octets), octets) for octets in _harmless(vector.category)]
        asked = [each for number in range(times) for each in (harmless[number % len(harmless)], vector)]
        asked = [*asked, vector] if is_answer(finding) else asked[: 2 * _DOUBTED_FAULTS]
        said = zip(asked, probe.ask(asked, finding.operation), strict=True)
        first, *others = [found for each, (_, found) in said if each is vector]
        if first is not None and all(each is not None and each.code == first.code for each in others):
            return first
    if GUARDED in probe.operations and finding.operation in VALIDATE + DECODE:
        examined = probe.ask_one(finding.vector, GUARDED)
        if examined is not None and examined.code in CHANGING:
            return examined
    if finding.code in CHANGING:
        return finding
    detail = ("each time", "not so when it was asked again")
    return replace(finding, code=Code.UNSTABLE, place=place_of_fault(finding.operation), detail=detail)


def _harmless(category: str) -> tuple[bytes, ...]:
    """One or two inputs of a category to ask in between."""
    if category in QUESTIONS:
        question = QUESTIONS[category]
        text = b"aaa"  # long enough for every argument
        return tuple(Asked(question, number, text).payload for number in question.asked(text)[-2:])
    return b"", bytes(WIDTHS.get(category, 1))


def stable(vector: Vector, operation: str, code: str, probe: Probe, meanwhile: Callable[[], None]) -> int:
    """Return how often a finding shows, out of :data:`~.state.REPETITIONS`, each in fresh processes.

    A child forked from an earlier process does not count as fresh. A finding of a changing answer shows if the answer
    is wrong in any way.

    Args:
        vector: its input.
        operation: by which it is asked.
        code: of the finding.
        probe: its target. Its processes stay as they are: others start, one for each processor at a time.
        meanwhile: called while they start and answer. If it raises, no further process starts.

    Raises:
        TargetError: the target does not start any more.
    """

    def shows() -> bool:
        fresh = probe.fresh()
        try:
            again = fresh.ask_one(vector, operation)
        finally:
            fresh.close()
        return again is not None and (again.code == code or code in CHANGING)

    with ThreadPoolExecutor(cpus()) as executor:
        waiting = [executor.submit(shows) for _ in range(REPETITIONS)]
        try:
            left = set(waiting)
            while left:
                _, left = wait(left, _LOOK)
                meanwhile()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return sum(each.result() for each in waiting)
