"""Triage: re-examines a divergence before it becomes a finding (:class:`Triage`).

It withholds strings from the batches, takes findings of a batch, sees every finding that enters the run, and asks the
target again after all suites, in some passes. Their outcome then enters the run. If the run is interrupted before a
pass could ask, the findings that it took enter unchanged, except suspicions that only a control could confirm.

What enters the run is noted (:class:`Alike`): of divergences that are alike, as many as their causes can be found from.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import compress, cycle
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import (
    JUDGED,
    NOT_IN_THREADS,
    OF_EACH,
    RerunQueue,
    can_ask,
    can_differ,
    chosen,
    judged_alone,
    limits_of,
    otherwise,
    raced,
    sample_of,
    to_be_judged,
    without,
)
from overlong.conformance.oracle.compare import compare, confirmed, control_of, lost_in, lost_states, used_before
from overlong.conformance.protocol.observation import POSITION, Code
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
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
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


class Triage:
    """What a run withholds, takes, changes and asks again, so that a divergence has the code and place of its cause."""

    def __init__(self, run: Run, threads: int = 0) -> None:
        """``run`` may not have begun yet. ``threads``: also ask in so many at once; 0: not at all."""
        self._run, self._threads = run, threads
        self._limits, self._touched = limits_of(run.greeting), list[Vector]()
        self._suspicions: list[tuple[Finding, Vector]] = []  # each with its control
        self._part_of: dict[int, SuiteRun] = {}  # by the id of a suspicion's finding
        self._late: list[Finding] = []
        self._whole: dict[tuple[bytes, bool], Finding] = {}  # for vectors that chunked suites ask again
        self._alone: list[tuple[tuple[Member, str], SuiteRun]] = []
        self._again = RerunQueue()
        self._together: dict[tuple[str, str], list[Member]] = {}
        passes: list[tuple[Callable[[Target, list[Finding]], None], list[Finding]]] = [
            (self._judge_by_limits, []),
            (self._confirm_suspicions, []),
            (self._name_late, self._late),
            (self._ask_alone, []),
            (self._ask_again, []),
        ]
        self.passes = [*passes, *([(self._ask_in_threads, list["Finding"]())] if threads else [])]
        """Each asks a target again after all suites, in this order, and leaves what enters the run in the list. That
        enters even if the pass could not ask. All findings before :meth:`_ask_again` have entered when it asks.
        """

    def keeps(self, batch: Batch, part: SuiteRun) -> Batch:
        """The vectors of a batch that are not withheld; some of them are asked again later."""
        if self._limits and not set(part.operations) & set(ENCODING):
            batch, touched = without(batch, self._limits)
            part.aside += len(touched)
            if part.suite.name in JUDGED:
                self._touched += touched
        greeting = self._run.greeting
        if len(batch) and can_differ(greeting) and not set(IN_MEMORY) & set(part.operations):
            whole = part.suite.name == _NAMED and SLOW not in greeting.traits
            sample = sample_of(batch, len(batch)) if whole else [each.alone for each in sample_of(batch, OF_EACH)]
            # one operation each: a request takes 0.1 ms
            self._alone += ((asked, part) for asked in zip(sample, cycle(part.operations)))
        if len(batch) and self._threads and can_ask(greeting):
            for operation in part.operations:
                if operation not in NOT_IN_THREADS + AGAIN:
                    key = operation, batch.category if operation == ASK else ""
                    members = self._together.setdefault(key, [])
                    members.extend(each.alone for each in sample_of(batch, _IN_THREADS))
        return batch

    def takes(self, finding: Finding, part: SuiteRun) -> bool:
        """True if a pass takes a finding of a batch, which then enters the run only after that.

        The vector of a suspicion counts as a failure only if it is confirmed.
        """
        if (control := control_of(finding)) is not None:
            self._suspicions.append((finding, control))
            self._part_of[id(finding)] = part
            return True
        part.failed(finding.vector)
        if finding.code in _NAMED_LATE:
            self._late.append(finding)
            return True
        return False

    def enters(self, finding: Finding) -> Finding:
        """Return a finding on its way into the run: a stream that fails like the whole input gets that one's bucket."""
        finding = self._same_as_whole(finding)
        self._again.add(finding)
        return finding

    def all_enter(self, found: Divergences) -> None:
        """Note divergences of whole inputs on their way into the run."""
        core = _asked_in_chunks()
        if found.operation not in OTHER_INPUT and not core.isdisjoint(found.octets):
            for index in [index for index, octets in enumerate(found.octets) if octets in core]:
                self._same_as_whole(found.finding(index))
        for finding in found.first(self._again.wanted):
            self._again.add(finding)

    def _same_as_whole(self, finding: Finding) -> Finding:
        if finding.operation in OTHER_INPUT:  # it is no stream of octets
            return finding
        key = finding.vector.octets, finding.operation in REPLACING
        if finding.vector.chunks is None:
            if finding.claim != POSITION and finding.vector.octets in _asked_in_chunks():
                self._whole.setdefault(key, finding)
            return finding
        whole = self._whole.get(key)
        if whole is None or finding.code not in _RESULT_IN_A_STREAM:
            return finding
        return replace(finding, code=whole.code, place=whole.place)

    def _judge_by_limits(self, target: Target, found: list[Finding]) -> None:
        """Declared limits set vectors aside: these are asked last, and judged by the limits."""
        greeting = self._run.greeting
        asked = to_be_judged(self._touched, offered(VALIDATE + DECODE + REPLACE, greeting))
        judged = (judged_alone(answered, greeting)[1] for answered in target.observe(asked))
        found += (finding for finding in judged if finding is not None)

    def _confirm_suspicions(self, target: Target, found: list[Finding]) -> None:
        """An unknown error mode: a suspicion becomes a finding if a control confirms it."""
        for finding in confirmed(self._suspicions, target):
            self._part_of[id(finding)].failed(finding.vector)
            found.append(finding)

    def _name_late(self, target: Target, found: list[Finding]) -> None:
        """Streams: file findings under a state that other findings prove lost.

        A stream that is cut inside several characters may have lost any of several states. The blame goes to a state
        that another stream proves lost; the same holds for a right but late result. A fault that a new decoder also
        shows was not caused by earlier use, and a fault that also shows in one chunk does not depend on chunks.
        """
        found[:] = self._named(found, target)

    def _named(self, findings: Sequence[Finding], target: Target) -> Iterator[Finding]:
        wholes = self._in_one_chunk([each for each in findings if each.code in _RESULT_IN_A_STREAM], target)
        new_ones = any(set(part.operations) & set(STREAM_DECODE + STREAM_REPLACE) for part in self._run.suites)
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
        units = self._run.greeting.units
        for operation in offered(STREAM_DECODE + STREAM_REPLACE, self._run.greeting):
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

    def _ask_alone(self, target: Target, found: list[Finding]) -> None:
        """Batched or alone: ask some strings of each batch again, singly and in another order.

        An answer that was wrong in its batch is already a finding; one that was right there and is wrong now becomes a
        new finding.
        """
        right = [each for each in self._alone if not each[1].has_failed(each[0][0].vector)]  # a crash would only recur
        for place, finding in list(otherwise([asked for asked, _ in right], target)):
            right[place][1].failed(finding.vector)
            found.append(finding)

    def _ask_again(self, target: Target, found: list[Finding]) -> None:
        """Flaky answers: ask the first findings of each bucket again; another answer means an unstable target."""
        found += self._again.flaky(target)

    def _ask_in_threads(self, target: Target, found: list[Finding]) -> None:
        """In threads: ask some strings of each suite while other threads are asked others."""
        if not can_ask(self._run.greeting):
            self._run.notes.append("not called in threads: its adapter cannot do that ('overlong docs protocol')")
        for (operation, _), members in self._together.items():
            found += raced(chosen(members), operation, self._threads, target)


@cache
def _asked_in_chunks() -> frozenset[bytes]:
    """The inputs that chunked suites ask again."""
    return frozenset(vector.octets for vector in core_vectors())


_KEPT = 96
"""About how many divergences that are alike are held against each condition; the others go with them."""


@dataclass
class Alike:
    """Divergences of one code, place, operation and category."""

    key: tuple[str, str]
    operation: str
    category: str
    kept: list[Finding] = field(default_factory=list["Finding"])
    """Some of them, evenly spread."""
    count: int = 0
    """Their number; when causes are found, that of those which have none yet."""
    tried: bool = False
    """True if an examination did not help, or there can be none."""
    less: Finding | None = None
    """A less example that an examination found, though no condition."""
    _step: int = 1
    _all: tuple[int, int] = 0, 0

    def add(self, many: int, of: Callable[[int], Finding]) -> None:
        """Count some more, and keep a few of them."""
        places = range(-self.count % self._step, many, self._step)
        if len(places) > _KEPT:
            places = places[:: len(places) // _KEPT]
        self.kept += map(of, places)
        self.count += many
        while len(self.kept) > 2 * _KEPT:
            self.kept, self._step = self.kept[::2], self._step * 2

    def begin(self, findings: list[Finding], *, tried: bool) -> None:
        """Stand for all by these findings from now on: causes take them away."""
        self.kept, self.tried, self._all = findings, tried, (self.count, len(findings))

    @property
    def least(self) -> Finding:
        return min(self.kept, key=lambda each: each.order)

    def take(self, joins: Callable[[Finding], bool]) -> tuple[list[Finding], int]:
        """Take those that belong to a cause, and their number."""
        taken, rest = list["Finding"](), list["Finding"]()
        for each in self.kept:
            (taken if joins(each) else rest).append(each)
        self.kept = rest
        count, kept = self._all
        number = len(taken) * count // kept if rest else self.count
        self.count -= number
        return taken, number


Noted = dict[tuple[tuple[str, str], str, str], Alike]
"""The divergences of a run, by what they have in common."""


def note(finding: Finding, noted: Noted) -> None:
    """Take note of a finding."""
    _alike(finding.bucket, finding.operation, finding.vector.category, noted).add(1, lambda _: finding)


def note_all(found: Divergences, noted: Noted) -> None:
    """Take note of divergences in columns."""
    for bucket in found.counts:
        keys = {key for key, each in found.bucket_of.items() if each == bucket}
        rows: Sequence[int] = range(len(found))
        if len(found.counts) > 1:
            rows = list(compress(rows, map(keys.__contains__, found.keys)))
        _alike(bucket, found.operation, found.batch.category, noted).add(len(rows), partial(_row, found, rows))


def _alike(key: tuple[str, str], operation: str, category: str, noted: Noted) -> Alike:
    return noted.setdefault((key, operation, category), Alike(key, operation, category))


def _row(found: Divergences, rows: Sequence[int], place: int) -> Finding:
    return found.finding(rows[place])
