"""The runner: suites to a target, answers to the comparison, divergences to buckets.

It knows nothing of where the target runs and nothing of how results are shown.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import (
    compare,
    compare_batch,
    expected_of,
    lost_in,
    place_of_fault,
    used_before,
)
from overlong.conformance.oracle.divergences import Divergences, divergences
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.flaky import RerunQueue
from overlong.conformance.oracle.limits import JUDGED, judged, limits_of, to_be_judged, without
from overlong.conformance.oracle.own_mode import confirmed, suspicion
from overlong.conformance.oracle.stream_state import lost_states
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.kind import (
    POSITION,
    SCALARS,
    VERDICT,
)
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    DECODE,
    ENCODING,
    NOT_SAID,
    REFUSED,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    VALIDATE,
    read_numbers,
)
from overlong.conformance.results.run import FAILS, HOLDS, NOT_MEASURED, Run, SuiteRun, offered, offered_in, shown_by
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from overlong.conformance.oracle.own_mode import Suspicion
    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.vectors.suites.suite import Suite

_RESULT_IN_A_STREAM = ("OV501", "OV502")
_NAMED_LATE = (*_RESULT_IN_A_STREAM, "OV503", "OV511", "OV512", "OV513")
"""What is named when all is known: another finding may show the cause."""

Progress = Callable[[str, int, int], None]
"""Called with the name of the suite at work, the vectors done, and all that will be, of every suite."""


class Runner:
    """Runs suites on one target."""

    def __init__(
        self,
        target: Target,
        *,
        profile: Profile = RFC3629,
        found: Callable[[Finding], None] | None = None,
        diverged: Callable[[Divergences], None] | None = None,
    ) -> None:
        """``found`` is told every finding as it is made, and ``diverged`` those that are made of a batch at once."""
        self.target = target
        self.run = Run(target.id, target.greeting, profile=profile)
        self._found, self._diverged = found, diverged
        self._rerun_queue = RerunQueue()
        self._whole: dict[tuple[bytes, bool], Finding] = {}  # of vectors that chunking asks again
        self._limits = limits_of(target.greeting)
        self._refused, self._placed = Counter[str](), Counter[str]()  # by operation
        self._touched: list[Vector] = []  # set aside, and to be judged apart

    def suites(self, suites: Sequence[Suite], progress: Progress) -> Run:
        """Run ``suites``; an interruption or a spent budget ends the run and keeps what was measured.

        All suites are one stream of requests, so the target works while the harness thinks.
        """
        started = time.monotonic()
        run = self.run
        profiled = [replace(suite, profile=run.measured_by) for suite in suites]
        parts = {suite.name: SuiteRun(suite, offered_in(suite, run.greeting)) for suite in profiled}
        run.suites = [part for part in parts.values() if part.operations]
        total = sum(part.suite.size for part in run.suites)
        asked = (
            (kept, operation)
            for part in run.suites
            for batch in part.suite.batches()
            if (kept := self._kept(batch, part))
            for operation in part.operations
        )
        doubtful: list[Finding] = []
        late: list[Finding] = []
        suspicions: list[tuple[Suspicion, SuiteRun]] = []
        try:
            for answered in self.target.observe(asked):
                part = parts[answered.batch.suite]
                self._keep(answered, part)
                for finding in self._judge(answered, part):
                    if (suspected := suspicion(finding)) is not None:
                        suspicions.append((suspected, part))
                        continue
                    part.failed(finding.vector)
                    if finding.operation == DECODE and finding.claim == VERDICT and finding.vector.flaw is None:
                        part.without_text += 1
                    if finding.code == "OV301":
                        doubtful.append(finding)
                    elif finding.code in _NAMED_LATE:
                        late.append(finding)
                    else:
                        self._add(finding)
                if answered.operation == part.operations[-1]:
                    progress(part.suite.name, run.vectors, total)
            for finding in self._set_aside():
                self._add(finding)
            self._confirm(suspicions)
            doubtful = list(self._second_look(doubtful))
            late = list(self._named(late))
        except KeyboardInterrupt:
            run.incomplete = "interrupted"
        except (BudgetSpent, TargetError) as error:
            run.incomplete = str(error)
        for finding in (*doubtful, *late):  # with what a second look found, or as they were if it was broken off
            self._add(finding)
        self._ask_again()
        run.seconds = time.monotonic() - started
        run.restarts = self.target.restarts
        self._settle_claims()
        return run

    def _keep(self, answered: Answered, part: SuiteRun) -> None:
        """Keep what is to be kept of some answers, right or wrong."""
        part.asked(answered)
        if part.suite.name == "core" and answered.operation in VALIDATE + DECODE:
            self._look_for_sameness(answered)
        self._count_offsets(answered)

    def _judge(self, answered: Answered, part: SuiteRun) -> Iterator[Finding]:
        """The findings in some answers, but for those that are counted in columns."""
        if (in_columns := divergences(answered, self.run.greeting)) is not None:
            self._add_all(in_columns, part)
            return
        yield from compare_batch(answered, self.run.greeting)
        if answered.unstable is not None:
            among = "one of the vectors asked together; none fails when it is asked by itself"
            vector = replace(answered.batch[0], comment=among)
            yield Finding(
                vector,
                answered.operation,
                "OV605",
                expected_of(vector, answered.operation),
                answered.unstable,
                place_of_fault(answered.operation),
            )

    def _look_for_sameness(self, answered: Answered) -> None:
        """Keep two different answers, if there are two."""
        kept = self.run.core_answers.setdefault(answered.operation, set())
        units = self.run.greeting.units_of(answered.operation)
        observations = answered.answers.observations(units, verdict_only=answered.operation == VALIDATE)
        for place, observed in enumerate(observations):
            if len(kept) > 1:
                return
            said = answered.faults.get(place, observed)
            kept.add(Refused(None, None, None) if isinstance(said, Refused) else said)

    def _kept(self, batch: Batch, part: SuiteRun) -> Batch:
        """The batch without what a declared limit touches."""
        if not self._limits or set(part.operations) & set(ENCODING):
            return batch
        kept, touched = without(batch, self._limits)
        part.aside += len(touched)
        if part.suite.name in JUDGED:
            self._touched += touched
        return kept

    def _set_aside(self) -> Iterator[Finding]:
        """What was set aside, judged by the declared limits for which it was."""
        for answered in self.target.observe(
            to_be_judged(self._touched, offered(VALIDATE + DECODE + REPLACE, self.run.greeting))
        ):
            units = self.run.greeting.units_of(answered.operation)
            observations = answered.answers.observations(units, verdict_only=answered.operation == VALIDATE)
            for place, observed in enumerate(observations):
                vector = answered.batch[place]
                finding = judged(vector, answered.operation, answered.faults.get(place, observed), self._limits)
                if finding is not None:
                    yield finding

    def _confirm(self, suspicions: Sequence[tuple[Suspicion, SuiteRun]]) -> None:
        """Add the findings that their controls confirm."""
        part_of = {id(each.finding): part for each, part in suspicions}
        for finding in confirmed([each for each, _ in suspicions], self.target):
            part_of[id(finding)].failed(finding.vector)
            self._add(finding)

    def _ask_again(self) -> None:
        """The first findings of each bucket, if the run is whole: a decoder that answers otherwise is unstable."""
        if self.run.incomplete:
            return
        try:
            for finding in self._rerun_queue.flaky(self.target):
                self._add(finding)
        except KeyboardInterrupt:
            self.run.incomplete = "interrupted"
        except (BudgetSpent, TargetError) as error:
            self.run.incomplete = str(error)

    def _second_look(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Offsets beyond the first flaw: did the decoder report badly, or accept the flaw and fail later?

        It is asked about the octets before the offset that it reported. If it accepts those, then that is
        the fault, and these octets are its example.
        """
        beyond: dict[tuple[str, bytes], list[Finding]] = {}
        for finding in findings:
            flaw, observed = finding.vector.flaw, finding.observed
            assert flaw is not None
            assert isinstance(observed, Refused)
            in_octets = finding.vector.profile.counts == "octets"
            if in_octets and observed.offset is not None and flaw.offset < observed.offset < len(finding.vector.octets):
                key = finding.operation, finding.vector.octets[: observed.offset]
                beyond.setdefault(key, []).append(finding)
            else:
                yield finding
        profile = self.run.measured_by
        asked = [(Batch.of([Vector("input", octets, profile=profile)]), operation) for operation, octets in beyond]
        for answered in self.target.observe(asked):
            units = self.run.greeting.units_of(answered.operation)
            (observed,) = answered.answers.observations(units, verdict_only=answered.operation == VALIDATE)
            vector = answered.batch[0]
            for finding in beyond[answered.operation, vector.octets]:
                cause = None
                if isinstance(observed, Accepted) and not answered.faults:
                    prefix = Vector(finding.vector.category, vector.octets, profile=profile)
                    cause = compare(prefix, finding.operation, observed)
                yield cause or finding

    def _named(self, findings: Sequence[Finding]) -> Iterator[Finding]:
        """Findings in streams, under the cause that others of them show without doubt.

        A stream that is cut inside several characters may have lost any of several states: the blame goes to one
        that some other stream shows to be lost, and so it does if the result was right, but late. What a decoder
        used before gets wrong, and a new one too, is no fault of what came before. And what goes wrong in one
        chunk, too, does not depend on chunks.
        """
        wholes = self._in_one_chunk([each for each in findings if each.code in _RESULT_IN_A_STREAM])
        new_ones = any(set(part.operations) & set(STREAM_DECODE + STREAM_REPLACE) for part in self.run.suites)
        streamed: dict[tuple[bytes, tuple[int, ...] | None, bool, bool], Finding] = {}
        candidates = [lost_in(each) if each.code == "OV501" else () for each in findings]
        certain = {  # what goes wrong in one chunk, too, lost nothing between chunks
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
                else:  # that a new one is not late is known only if one was asked
                    yield used_before(finding) if wrong or new_ones else finding
            elif whole is not None and wrong:
                yield replace(finding, code=whole.code, place=whole.place)
            else:
                possible = lost_states(vector) if certain and not wrong else places
                lost = next((place for place in possible if place in certain), "")
                named = replace(finding, code="OV501", place=lost) if lost else finding
                streamed.setdefault(key, named)
                yield named

    def _in_one_chunk(self, findings: Sequence[Finding]) -> dict[tuple[bytes, bool], Finding]:
        """What is wrong with the same octets when they come in one chunk."""
        wrong: dict[tuple[bytes, bool], Finding] = {}
        units = self.run.greeting.units
        for operation in offered(STREAM_DECODE + STREAM_REPLACE, self.run.greeting):
            replacing = operation in REPLACING
            streams = (each.vector for each in findings if (each.operation in REPLACING) == replacing)
            inputs = {vector.octets: vector.profile for vector in streams}
            vectors = [Vector("input", octets, chunks=(len(octets),), profile=inputs[octets]) for octets in inputs]
            for answered in self.target.observe([(Batch.of(vectors), operation)] if vectors else []):
                for place, observed in enumerate(answered.answers.observations(units, verdict_only=False)):
                    vector = replace(answered.batch[place], chunks=None)
                    whole = compare(vector, REPLACE if replacing else DECODE, answered.faults.get(place, observed))
                    if whole is not None and whole.claim != POSITION:
                        wrong[vector.octets, replacing] = whole
        return wrong

    def _add(self, finding: Finding) -> None:
        finding = self._same_as_whole(finding)
        self.run.add(finding)
        self._rerun_queue.add(finding)
        if self._found is not None:
            self._found(finding)

    def _add_all(self, found: Divergences, part: SuiteRun) -> None:
        """Add divergences of whole inputs, as one by one."""
        if not len(found):
            return
        part.diverged(found)
        if found.operation not in ENCODING:
            core = self._asked_in_chunks
            for index in [index for index, octets in enumerate(found.octets) if octets in core]:
                self._same_as_whole(found.finding(index))
        self.run.diverged(found)
        for finding in found.first(self._rerun_queue.wanted):
            self._rerun_queue.add(finding)
        if self._diverged is not None:
            self._diverged(found)

    @cached_property
    def _asked_in_chunks(self) -> frozenset[bytes]:
        """The inputs that chunking asks again."""
        return frozenset(vector.octets for vector in core_vectors())

    def _same_as_whole(self, finding: Finding) -> Finding:
        """A stream that fails as the whole input does has no fault of its own: it belongs to that bucket."""
        if finding.operation in ENCODING:  # what it was given is no stream of octets
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

    def _count_offsets(self, answered: Answered) -> None:
        if answered.operation not in VALIDATE + DECODE:
            return
        refused = answered.answers.statuses.count(REFUSED)
        if refused:
            self._refused[answered.operation] += refused
            self._placed[answered.operation] += refused - read_numbers(answered.answers.numbers).count(NOT_SAID)
            self.run.placed = self._placed.total()
            self.run.refusals = sum(count for operation, count in self._refused.items() if self._placed[operation])

    def _settle_claims(self) -> None:
        """A claim holds if an operation shows it that left no vector unanswered, and nothing refutes it.

        Of characters that are refused nobody sees what they would become: then the scalars are not measured.
        """
        run = self.run
        asked = {operation for part in run.suites if part.done for operation in part.operations}
        answered = asked - set(run.unsupported)
        run.claims.update(dict.fromkeys(shown_by(answered, run.greeting.error_mode), HOLDS))
        if run.without_text:
            run.claims[SCALARS] = NOT_MEASURED
        if run.placed and run.claims[VERDICT] == HOLDS:
            run.claims[POSITION] = HOLDS
        for bucket in run.buckets.values():
            run.claims[bucket.example.claim] = FAILS
