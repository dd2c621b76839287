"""The runner: asks a target suites, compares the answers, and sorts divergences into buckets through triage.

It knows neither where the target runs nor how results are shown. At the end it looks at the run as a whole: for signs
that the adapter, not its decoder, is wrong (:func:`sign`), and for claims with little evidence (:func:`caveats`).
"""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain
from math import inf
from typing import TYPE_CHECKING

from overlong.conformance.certification.tiers import MOST, Pace, next_after
from overlong.conformance.certification.triage import Noted, Triage, note, note_all
from overlong.conformance.oracle.compare import compare_batch, expected_of, place_of_fault
from overlong.conformance.oracle.divergences import Divergences, divergences
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import GRAVE, POSITION, SCALARS, VERDICT, Accepted, Code, Refused
from overlong.conformance.protocol.wire import DECODE, NOT_SAID, REFUSED, VALIDATE, read_numbers
from overlong.conformance.results.model import FAILS, HOLDS, NOT_MEASURED
from overlong.conformance.results.run import Run, SuiteRun, offered_in, shown_by
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.suites import SHARED
from overlong.conformance.vectors.vector import RFC3629, Profile
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.oracle.finding import Bucket
    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.vectors.batch import Batch
    from overlong.conformance.vectors.suites.suite import Suite


Progress = Callable[[str, int, int], None]
"""Called with the name of the current suite, the finished vectors, and the total vectors of all suites."""


def no_progress(_suite: str, _done: int, _total: int) -> None:
    """Show nothing."""


class Runner:
    """Runs suites on one target."""

    def __init__(
        self,
        target: Target,
        *,
        profile: Profile = RFC3629,
        found: Callable[[Finding], None] | None = None,
        diverged: Callable[[Divergences], None] | None = None,
        examined: bool = True,
        threads: int = 0,
        growing: Sequence[Sequence[str]] = (),
        enough: float = inf,
    ) -> None:
        """Prepare.

        Args:
            target: open.
            profile: what it is measured by.
            found: gets every single finding.
            diverged: gets the findings made from a batch at once.
            examined: the target can be asked more, so that causes can be found by experiment.
            threads: also ask it in so many threads at once.
            growing: series of suites of ever longer texts, of which the next is asked if it will take seconds.
            enough: the seconds of one process that the largest suites, which come after the others, may take a target
                that is refused by then; otherwise they are not asked.
        """
        self.target = target
        self.run = Run(target.id, target.greeting, profile=profile)
        self._found, self._diverged = found, diverged
        self._triage = Triage(self.run, threads)
        self._noted: Noted | None = {} if examined else None
        self._growing, self._enough = growing, enough
        self._seconds = defaultdict[tuple[str, str], float](float)  # by operation and suite
        self._vectors = Counter[tuple[str, str]]()
        self._right_again = False  # a vector was right when it was tested again after a failure
        self._refused, self._placed = Counter[str](), Counter[str]()  # by operation

    def suites(self, suites: Sequence[Suite], progress: Progress) -> Run:
        """Run ``suites``; an interruption or a spent budget ends the run and keeps its results.

        All suites form one stream of requests, so the target works while the harness judges.
        """
        started = time.monotonic()
        run = self.run
        profiled = [replace(suite, profile=run.measured_by) for suite in suites]
        parts = {suite.name: SuiteRun(suite, offered_in(suite, run.greeting)) for suite in profiled}
        run.suites = [part for part in parts.values() if part.operations]
        total = sum(part.suite.size for part in run.suites)
        with self._may_break_off():
            for answered in self._answered():
                part = parts[answered.batch.suite]
                self._keep(answered, part)
                for finding in self._judge(answered, part):
                    self._sort(finding, part)
                if answered.operation == part.operations[-1]:
                    progress(part.suite.name, run.vectors, total)
        for ask, found in self._triage.passes:
            with self._may_break_off():
                if not run.incomplete:
                    ask(self.target, found)
            with self._may_break_off():
                for finding in found:
                    self._add(finding)
        run.seconds = time.monotonic() - started
        run.restarts = self.target.restarts
        if self._noted and not run.incomplete:
            from overlong.conformance.certification.causes import settle

            with self._may_break_off():
                settle(run, self._noted.values(), self.target)
        self._settle_claims()
        return run

    def _answered(self) -> Iterator[Answered]:
        """The answers to all suites; the largest come last, and of ever longer texts as many as its time allows."""
        named = {part.suite.name: part for part in self.run.suites}
        series = [[named[name] for name in names if name in named] for names in self._growing]
        largest = [part for name, part in named.items() if name in SHARED]
        later, pace = [*largest, *chain(*series)], Pace()
        for answered in self.target.observe(self._requests([part for part in self.run.suites if part not in later])):
            self._seconds[answered.operation, answered.batch.suite] += answered.seconds
            self._vectors[answered.operation, answered.batch.suite] += len(answered.batch)
            yield answered
        refused = any(bucket.example.claim in GRAVE for bucket in self.run.buckets.values())
        if refused and pace.exceeds(sum(map(self._price, largest)), self._enough):
            self._spare(largest)
        else:
            yield from self.target.observe(self._requests(largest))
        for growing in series:
            yield from self._to_ever_longer(growing)

    def _to_ever_longer(self, growing: Sequence[SuiteRun]) -> Iterator[Answered]:
        """The answers to suites of ever longer texts, until one fails, or would take too long."""
        seconds, restarts, pace = list[float](), self.target.restarts, Pace()
        for place, part in enumerate(growing):
            failed = place and growing[place - 1].failing
            if failed or restarts != self.target.restarts or (seconds and pace.exceeds(next_after(seconds), MOST)):
                self._spare(growing[place:])
                return
            seconds.append(0.0)
            asked: list[tuple[Batch, str]] = []
            for answered in self.target.observe(self._requests([part])):
                seconds[-1] += answered.seconds
                asked.append((answered.batch, answered.operation))
                yield answered
            if part is not growing[-1] and pace.exceeds(next_after(seconds), MOST):  # slow, or the first time?
                again = sum(answered.seconds for answered in self.target.observe(asked))
                seconds[-1] = min(seconds[-1], again)

    def _spare(self, parts: Sequence[SuiteRun]) -> None:
        self.run.suites = [each for each in self.run.suites if each not in parts]

    def _price(self, part: SuiteRun) -> float:
        """The seconds that a suite of short texts will take, at the rate of the suite of the shortest so far."""
        return part.suite.size * sum(
            min(
                (self._seconds[about] / vectors for about, vectors in self._vectors.items() if about[0] == operation),
                default=0.0,
            )
            for operation in part.operations
        )

    def _requests(self, parts: Sequence[SuiteRun]) -> Iterator[tuple[Batch, str]]:
        return (
            (kept, operation)
            for part in parts
            for batch in part.suite.batches()
            if (kept := self._triage.keeps(batch, part))
            for operation in part.operations
        )

    @contextmanager
    def _may_break_off(self) -> Generator[None]:
        """An interruption or a spent budget in this block makes the run incomplete."""
        try:
            yield
        except KeyboardInterrupt:
            self.run.incomplete = "interrupted"
        except (BudgetSpent, TargetError) as error:
            self.run.incomplete = str(error)

    def _sort(self, finding: Finding, part: SuiteRun) -> None:
        """Add a finding of a batch, unless triage takes it."""
        taken = self._triage.takes(finding, part)
        if finding.operation == DECODE and finding.claim == VERDICT and finding.vector.flaw is None:
            part.without_text += 1
        if not taken:
            self._add(finding)

    def _keep(self, answered: Answered, part: SuiteRun) -> None:
        """Keep the required part of some answers, right or wrong."""
        part.asked(answered)
        if part.suite.name == "core" and answered.operation in VALIDATE + DECODE:
            self._look_for_sameness(answered)
        self._count_offsets(answered)

    def _judge(self, answered: Answered, part: SuiteRun) -> Iterator[Finding]:
        """The findings in some answers, except those counted in columns."""
        if (in_columns := divergences(answered, self.run.greeting)) is not None:
            self._add_all(in_columns, part)
            return
        wrong = set[object]()
        for finding in compare_batch(answered, self.run.greeting):
            wrong.add(finding.vector.apart)
            yield finding
        self._right_again = answered.again and (self._right_again or len(wrong) < len(answered.batch))
        if answered.unstable is not None and self._right_again:  # otherwise a finding for each vector shows the fault
            among = "one of the vectors that got no answer together; each gets one when it is tested by itself"
            vector = replace(answered.batch[0], comment=among)
            yield Finding(
                vector,
                answered.operation,
                Code.UNSTABLE,
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

    def _add(self, finding: Finding) -> None:
        finding = self._triage.enters(finding)
        self.run.add(finding)
        if self._noted is not None:
            note(finding, self._noted)
        if self._found is not None:
            self._found(finding)

    def _add_all(self, found: Divergences, part: SuiteRun) -> None:
        """Add divergences of whole inputs, with the same result as adding them singly."""
        if not len(found):
            return
        part.diverged(found)
        self._triage.all_enter(found)
        self.run.diverged(found)
        if self._noted is not None:
            note_all(found, self._noted)
        if self._diverged is not None:
            self._diverged(found)

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
        """A claim holds if nothing refutes it, and an operation that shows it answered every vector.

        Refused characters show no scalar values: then these are not measured.
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


_ENOUGH = 100
"""The number of failing core vectors that is no accident."""
_REFUSED = Code.REFUSED
"""Well-formed text refused."""
_SUBSTITUTES = {0xFFFD: "U+FFFD", 0x3F: "a question mark"}

TURNED_ROUND = (
    "it refuses all that is well-formed and accepts the rest: if the adapter, or the choice of abi=, inverts its "
    "results, fix that first; the verdict is not the decoder's"
)


REFUSES_ALL = (
    "it refuses every string, well-formed ones too: it seems not to look at its input. See first that the adapter "
    "hands over the octets and their number, and reads the answer"
)
ACCEPTS_ALL = (
    "it accepts every string, ill-formed ones too: it seems not to look at its input. See first that the adapter hands "
    "over the octets and their number, and reads the answer"
)
SAME_TEXT = (
    "it makes the same text of every string: it seems not to look at its input. See first that the adapter hands over "
    "the octets and their number, and reads the answer"
)


def sign(run: Run) -> str:
    """A sentence that explains all divergences at once, by a fault of the adapter; empty if nothing hints at one.

    It does not change the verdict, and precedes it: the buckets do not help to fix an adapter.
    """
    core = next((part for part in run.suites if part.suite.name == "core"), None)
    wrong = [bucket for bucket in run.buckets.values() if bucket.example.claim == VERDICT]
    accepting = [bucket for bucket in wrong if bucket.example.code in DEFECTS]
    refusing = [bucket for bucket in wrong if bucket.example.code == _REFUSED]
    if core is not None and core.whole and core.done >= _ENOUGH:
        if always := _always(run):
            return always
        if len(core.failing) == core.done and accepting and len(accepting) + len(refusing) == len(wrong):
            return TURNED_ROUND
    for value, words in _SUBSTITUTES.items():
        if accepting and all(_puts_in(value, bucket) for bucket in accepting):
            return (
                f"where it should refuse it outputs {words}: it replaces, and that is no refusal; switch to the mode "
                "in which it refuses, or let the adapter offer L in place of V and D"
            )
    return ""


def _always(run: Run) -> str:
    """The remark on a target that answered every core string alike."""
    answers = list(run.core_answers.values())
    if not answers or any(len(each) > 1 for each in answers):
        return ""
    first, *others = {observed for each in answers for observed in each}
    if others:
        return ""
    match first:
        case Refused():
            return REFUSES_ALL
        case Accepted(values):
            return ACCEPTS_ALL if values is None else SAME_TEXT
        case _:
            return ""


def caveats(run: Run) -> Iterator[str]:
    """A sentence for each claim with little evidence; none changes the verdict."""
    if run.claims[POSITION] != NOT_MEASURED and run.placed < run.refusals:
        yield (
            f"it says where in {thousands(run.placed)} of {thousands(run.refusals)} refusals: these alone show the "
            "error position"
        )


def _puts_in(value: int, bucket: Bucket) -> bool:
    """True if the example's output has that character, and its input does not."""
    observed, octets = bucket.example.observed, bucket.example.vector.octets
    return isinstance(observed, Accepted) and value in (observed.values or ()) and chr(value).encode() not in octets
