"""Triage: passes that re-examine a divergence before it becomes a finding (:func:`passes`).

A pass may withhold strings from the batches, take findings of a batch, see every finding that enters the run, and ask
the target again after all suites. Its outcome then enters the run. If the run is interrupted before a pass could ask,
the findings that it took enter unchanged, except suspicions that only a control could confirm.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import cycle
from typing import TYPE_CHECKING

from overlong.conformance.oracle.again import OF_EACH, RerunQueue, can_differ, otherwise, sample_of
from overlong.conformance.oracle.compare import compare, lost_in, used_before
from overlong.conformance.oracle.limits import JUDGED, judged_alone, limits_of, to_be_judged, without
from overlong.conformance.oracle.own_mode import confirmed, suspicion
from overlong.conformance.oracle.stream_fault import lost_states
from overlong.conformance.oracle.together import NOT_IN_THREADS, can_ask, chosen, raced
from overlong.conformance.protocol.kind import POSITION, Code
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    DECODE,
    ENCODING,
    IN_MEMORY,
    OTHER_INPUT,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    VALIDATE,
)
from overlong.conformance.results.run import offered
from overlong.conformance.vectors.batch import Batch, Member
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.own_mode import Suspicion
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.run import Run, SuiteRun

SLOW = "slow"
"""The trait of a target that takes a millisecond or more for an input."""
_NAMED = "core"
"""The suite that has each kind of fault once: all its strings are asked singly, except of a slow target."""
_IN_THREADS = 8
"""The strings of a batch that threads may be asked."""
_RESULT_IN_A_STREAM = (Code.CHUNKING, Code.EARLIER_STREAM)
_NAMED_LATE = (*_RESULT_IN_A_STREAM, Code.STREAM_OFFSET, Code.HELD_BACK, Code.LATE, Code.EARLY)
"""The codes that are decided last: another finding may show the cause."""


class Pass:
    """One pass of triage; methods that it does not define change nothing."""

    is_suspicion = False
    """True if vectors that it takes count as failures only after the second question."""

    def __init__(self, run: Run) -> None:
        """``run`` may not have begun yet."""
        self.run = run
        self.found: list[Finding] = []
        """The findings that enter the run after the pass, even if it could not ask."""

    def keeps(self, batch: Batch, part: SuiteRun) -> Batch:  # noqa: ARG002 - for those that look
        """The vectors of a batch that this pass does not withhold."""
        return batch

    def takes(self, finding: Finding, part: SuiteRun) -> bool:  # noqa: ARG002 - likewise
        """True if it takes a finding of a batch, which then enters the run only through this pass."""
        return False

    def enters(self, finding: Finding) -> Finding:
        """Return a finding on its way into the run, possibly changed."""
        return finding

    def all_enter(self, found: Divergences) -> None:
        """Return divergences of whole inputs on their way into the run, possibly changed."""

    def ask(self, target: Target) -> None:
        """Ask again, and leave the outcome in ``found``.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """


class DeclaredLimits(Pass):
    """Declared limits set vectors aside: these are asked last, and judged by the limits."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._limits = limits_of(run.greeting)
        self._touched: list[Vector] = []

    def keeps(self, batch: Batch, part: SuiteRun) -> Batch:
        if not self._limits or set(part.operations) & set(ENCODING):
            return batch
        kept, touched = without(batch, self._limits)
        part.aside += len(touched)
        if part.suite.name in JUDGED:
            self._touched += touched
        return kept

    def ask(self, target: Target) -> None:
        greeting = self.run.greeting
        for answered in target.observe(to_be_judged(self._touched, offered(VALIDATE + DECODE + REPLACE, greeting))):
            if (finding := judged_alone(answered, greeting)[1]) is not None:
                self.found.append(finding)


class SuspicionConfirmed(Pass):
    """An unknown error mode: a suspicion becomes a finding if a control confirms it."""

    is_suspicion = True

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._suspicions: list[Suspicion] = []
        self._part_of: dict[int, SuiteRun] = {}  # by the finding's id

    def takes(self, finding: Finding, part: SuiteRun) -> bool:
        if (suspected := suspicion(finding)) is None:
            return False
        self._suspicions.append(suspected)
        self._part_of[id(suspected.finding)] = part
        return True

    def ask(self, target: Target) -> None:
        for finding in confirmed(self._suspicions, target):
            self._part_of[id(finding)].failed(finding.vector)
            self.found.append(finding)


class StateLost(Pass):
    """Streams: files findings under a state that other findings prove lost.

    A stream that is cut inside several characters may have lost any of several states. The blame goes to a state
    that another stream proves lost; the same holds for a right but late result. A fault that a new decoder also
    shows was not caused by earlier use, and a fault that also shows in one chunk does not depend on chunks.
    """

    def takes(self, finding: Finding, part: SuiteRun) -> bool:  # noqa: ARG002
        if finding.code not in _NAMED_LATE:
            return False
        self.found.append(finding)
        return True

    def ask(self, target: Target) -> None:
        self.found = list(self._named(self.found, target))

    def _named(self, findings: Sequence[Finding], target: Target) -> Iterator[Finding]:
        wholes = self._in_one_chunk([each for each in findings if each.code in _RESULT_IN_A_STREAM], target)
        new_ones = any(set(part.operations) & set(STREAM_DECODE + STREAM_REPLACE) for part in self.run.suites)
        streamed: dict[tuple[bytes, tuple[int, ...] | None, bool, bool], Finding] = {}
        candidates = [lost_in(each) if each.code == Code.CHUNKING else () for each in findings]
        certain = {  # a fault that also shows in one chunk lost nothing between chunks
            places[0]
            for each, places in zip(findings, candidates, strict=True)
            if len(places) == 1 and (each.vector.octets, each.operation in REPLACING) not in wholes
        }
        for finding, places in zip(findings, candidates, strict=True):
            vector = finding.vector
            wrong = finding.code in _RESULT_IN_A_STREAM
            key = vector.octets, vector.chunks, finding.operation in REPLACING, wrong
            whole = wholes.get((vector.octets, finding.operation in REPLACING))
            if finding.operation in AGAIN:
                same = streamed.get(key)
                if whole is not None and wrong:
                    same = whole
                if same is not None:
                    yield replace(finding, code=same.code, place=same.place)
                else:  # a new decoder is known not to be late only if one was asked
                    yield used_before(finding) if wrong or new_ones else finding
            elif whole is not None and wrong:
                yield replace(finding, code=whole.code, place=whole.place)
            else:
                possible = lost_states(vector) if certain and not wrong else places
                lost = next((place for place in possible if place in certain), "")
                named = replace(finding, code=Code.CHUNKING, place=lost) if lost else finding
                streamed.setdefault(key, named)
                yield named

    def _in_one_chunk(self, findings: Sequence[Finding], target: Target) -> dict[tuple[bytes, bool], Finding]:
        """The fault in the answer to the same octets in one chunk."""
        wrong: dict[tuple[bytes, bool], Finding] = {}
        units = self.run.greeting.units
        for operation in offered(STREAM_DECODE + STREAM_REPLACE, self.run.greeting):
            replacing = operation in REPLACING
            streams = (each.vector for each in findings if (each.operation in REPLACING) == replacing)
            inputs = {vector.octets: vector.profile for vector in streams}
            vectors = [Vector("input", octets, chunks=(len(octets),), profile=inputs[octets]) for octets in inputs]
            for answered in target.observe([(Batch.of(vectors), operation)] if vectors else []):
                for place, observed in enumerate(answered.answers.observations(units, verdict_only=False)):
                    vector = replace(answered.batch[place], chunks=None)
                    whole = compare(vector, REPLACE if replacing else DECODE, answered.faults.get(place, observed))
                    if whole is not None and whole.claim != POSITION:
                        wrong[vector.octets, replacing] = whole
        return wrong


class SameAsWhole(Pass):
    """Same as the whole input: a stream that fails like the whole input belongs to that one's bucket."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._whole: dict[tuple[bytes, bool], Finding] = {}  # for vectors that chunked suites ask again

    @cached_property
    def _asked_in_chunks(self) -> frozenset[bytes]:
        """The inputs that chunked suites ask again."""
        return frozenset(vector.octets for vector in core_vectors())

    def enters(self, finding: Finding) -> Finding:
        if finding.operation in OTHER_INPUT:  # it is no stream of octets
            return finding
        key = finding.vector.octets, finding.operation in REPLACING
        if finding.vector.chunks is None:
            if finding.claim != POSITION and finding.vector.octets in self._asked_in_chunks:
                self._whole.setdefault(key, finding)
            return finding
        whole = self._whole.get(key)
        if whole is None or finding.code not in _RESULT_IN_A_STREAM:
            return finding
        return replace(finding, code=whole.code, place=whole.place)

    def all_enter(self, found: Divergences) -> None:
        if found.operation not in OTHER_INPUT:
            core = self._asked_in_chunks
            if core.isdisjoint(found.octets):
                return
            for index in [index for index, octets in enumerate(found.octets) if octets in core]:
                self.enters(found.finding(index))


class Alone(Pass):
    """Batched or alone: asks some strings of each batch again, singly and in another order.

    An answer that was wrong in its batch is already a finding; one that was right there and is wrong now becomes a
    new finding.
    """

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._samples: list[tuple[Member, str]] = []
        self._parts: list[SuiteRun] = []

    def keeps(self, batch: Batch, part: SuiteRun) -> Batch:
        if can_differ(self.run.greeting) and len(batch) and not set(IN_MEMORY) & set(part.operations):
            whole = part.suite.name == _NAMED and SLOW not in self.run.greeting.traits
            sample = sample_of(batch, len(batch)) if whole else [each.alone for each in sample_of(batch, OF_EACH)]
            self._samples += zip(sample, cycle(part.operations))  # one operation each: a request takes 0.1 ms
            self._parts += [part] * len(sample)
        return batch

    def ask(self, target: Target) -> None:
        right = [  # a crash would only recur
            (each, part)
            for each, part in zip(self._samples, self._parts, strict=True)
            if not part.has_failed(each[0].vector)
        ]
        for place, finding in list(otherwise([each for each, _ in right], target)):
            right[place][1].failed(finding.vector)
            self.found.append(finding)


class Rerun(Pass):
    """Flaky answers: the first findings of each bucket are asked again; a different answer means an unstable target."""

    def __init__(self, run: Run) -> None:
        super().__init__(run)
        self._queue = RerunQueue()

    def enters(self, finding: Finding) -> Finding:
        self._queue.add(finding)
        return finding

    def all_enter(self, found: Divergences) -> None:
        for finding in found.first(self._queue.wanted):
            self._queue.add(finding)

    def ask(self, target: Target) -> None:
        for finding in self._queue.flaky(target):
            self.found.append(finding)


class InThreads(Pass):
    """In threads: asks some strings of each suite while other threads are asked others, if that is wanted."""

    def __init__(self, run: Run, threads: int) -> None:
        super().__init__(run)
        self._threads = threads
        self._samples: dict[tuple[str, str], list[Member]] = {}

    def keeps(self, batch: Batch, part: SuiteRun) -> Batch:
        if can_ask(self.run.greeting) and len(batch):
            for operation in part.operations:
                if operation not in NOT_IN_THREADS + AGAIN:
                    key = operation, batch.category if operation == ASK else ""
                    self._samples.setdefault(key, []).extend(each.alone for each in sample_of(batch, _IN_THREADS))
        return batch

    def ask(self, target: Target) -> None:
        if not can_ask(self.run.greeting):
            self.run.notes.append("not called in threads: its adapter cannot do that ('overlong docs protocol')")
        for (operation, _), members in self._samples.items():
            self.found += raced(chosen(members), operation, self._threads, target)


def passes(run: Run, threads: int = 0) -> tuple[Pass, ...]:
    """A new pass of each kind, in their order: Rerun asks once all findings before it have been added.

    ``threads``: the last pass asks in so many at once; 0: there is none.
    """
    kinds: tuple[type[Pass], ...] = (DeclaredLimits, SuspicionConfirmed, StateLost, SameAsWhole, Alone, Rerun)
    return (*(kind(run) for kind in kinds), *([InThreads(run, threads)] if threads else []))
