"""The divergences of a sweep, as a few buckets: which plans to describe, an example of each set, and why it diverges.

An example is asked again singly, in the ordinary way: expected and observed answers. Before that, some strings of each
plan of a batched target are asked singly as well: see ``oracle/apart.py``. The examiner finds the causes, and
each set gets the first that predicts it. A set may have several causes, and its least string shows one. So some strings
are drawn from each set, and a cause of those that no other predicts gets a bucket of its own, with as many strings as
were drawn.

The divergences of giant strings are one set, with one sentence. The strings of the plan are the experiments: each power
of two is there with an error behind it, and with an error that only a length of fewer bits hides. Nothing is asked
again, and no string is made.
"""

from __future__ import annotations

import random
import zlib
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import symptom_of
from overlong.conformance.examination.examine import MOST, is_examinable, rank, why
from overlong.conformance.examination.text import text_of
from overlong.conformance.oracle.apart import (
    RERUN,
    RerunQueue,
    can_differ,
    expected_under,
    judged_alone,
    limits_of,
    otherwise,
)
from overlong.conformance.oracle.compare import compare_batch, expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    CRASHED,
    DEMANDED,
    KINDS,
    MISBEHAVED,
    NO_DIVERGENCE,
    OTHER_OFFSET,
    OTHERWISE,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    BudgetSpent,
    TargetError,
)
from overlong.conformance.protocol.observation import POSITION, Accepted, Code, Crashed, Failed, Refused, TimedOut
from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.results.run import offered
from overlong.conformance.results.sweeps import DivergentSet, PlanRun, SweepBucket, SweepRun, Where
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.grid import LETTER
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.vectors.batch import Batch, Member
from overlong.conformance.vectors.vector import SWEPT, Vector
from overlong.reference import Rejected
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.oracle.target import ExpectedAnswers, Target
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.results.sweeps import ShardResult
    from overlong.conformance.sweep.ledger import Ledger
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.vectors.vector import Profile

Again = dict[str, tuple[int, list[tuple[Where, Finding]]]]
"""For each plan, the number of its strings that were asked singly, and those that were wrong."""
_FAILURES = 32
"""The further failures that a target is allowed for each example that is tested again: each repetition may fail."""
_TOLD = 2
"""The number of plans whose divergences a certificate describes."""


def telling(diverging: Sequence[PlanRun]) -> list[PlanRun]:
    """The first few plans with divergent strings, and further plans with a new kind of divergence.

    A fault shows in many plans. Describing it takes seconds in each, and most descriptions are the same.
    """
    told: list[PlanRun] = []
    for part in diverging:
        if len(told) < _TOLD or not set(part.kinds) <= {kind for each in told for kind in each.kinds}:
            told.append(part)
    return told


def describe(
    run: SweepRun,
    diverging: Sequence[PlanRun],
    ledger: Ledger,
    target: FramedTarget,
    expected: ExpectedAnswers,
    known: Sequence[Explanation],
) -> None:
    """Add the divergences of some plans, as a few sets; the example of each is asked again singly, and examined.

    If the target fails too often, the run is incomplete, and keeps what was asked again before that.
    """
    if not diverging:
        return
    from overlong.conformance.sweep.summary import summarise

    found, giants = list[tuple[str, DivergentSet]](), list[SweepBucket]()
    for part in diverging:
        plan, results = plan_named(part.plan, run.profile), ledger.results(part.plan)
        if not plan.giant:
            found += [(plan.name, each) for each in summarise(plan, expected, results)]
        elif (giant := bucket_of(plan, run.operation, run.profile, results)) is not None:
            giants = [giant]  # a later plan has the strings of an earlier one
    # the limit was for the sweep, which has found the crashes
    target.restart_budget += _FAILURES * (len(found) + len(giants))
    buckets = list[SweepBucket]()
    try:
        target.open()
        for giant in giants:
            if is_wrong_without_letters(giant, target):
                found.append((giant.plan, giant.found))
            else:
                run.buckets.append(giant)
        for name, each in found:
            finding = asked_again(target, run.profile, run.operation, each, in_process=run.in_process)
            buckets.append(SweepBucket(name, each, finding))
        run.buckets += explained(buckets, target, run.profile, known)
        buckets.clear()
    except (BudgetSpent, TargetError) as error:
        run.incomplete = run.incomplete or str(error)
        run.buckets += buckets


AFTER, AT_PLACE, AMONG = Code.EARLIER_CALLS, Code.PLACE_IN_MEMORY, Code.UNSTABLE
"""The codes of a divergence that its string alone does not reproduce: it depends on the earlier string; or on the
place in memory, if the target was called in its own process; or on the strings asked with it. A failure that
does not recur gets the last code, whatever its cause."""
_FAILED = {CRASHED, TIMED_OUT, MISBEHAVED}


def asked_again(
    target: FramedTarget,
    profile: Profile,
    operation: str,
    found: DivergentSet,
    *,
    in_process: bool,
) -> Finding:
    """The fault in the answer to the least of some strings; if there is none, the condition of its divergence.

    If repeated questions get different answers, that is the fault. If the answer depends on the place in memory, a
    function is examined (``G``), which names the address or the guard that shows it.

    Args:
        target: open.
        profile: the profile to judge by.
        operation: ``V`` or ``D``.
        found: the set with that string as its example.
        in_process: the sweep called the target in its own process.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked any more.
    """
    greeting, octets = target.greeting, found.example
    vector = Vector(SWEPT, octets, profile=profile.as_said(greeting))
    limits = limits_of(greeting)
    touched = any(limit.touches(octets) for limit in limits)
    for answered in target.observe([(Batch.of([vector]), operation)]):
        observed, finding = judged_alone(answered, greeting)
        if finding is not None:
            return _rerun(target, finding)
        expected = next(iter(expected_under(vector, operation, limits)), expected_of(vector, operation))
        is_placed = in_process and found.kind not in _FAILED
        if is_placed and not touched and (in_memory := _examined(target, vector)) is not None:
            return in_memory
        code = AFTER if found.where.earlier is not None else AT_PLACE if is_placed else AMONG
        said_then = f"that is right; in the sweep: {KINDS[found.kind]}"
        # the answer in the sweep was wrong all the same, whatever it depends on
        refutes = DEMANDED.get(found.kind, "")
        right = Finding(vector, operation, code, expected, observed, KINDS[found.kind], ("", said_then), refutes)
        return _rerun(target, right)
    raise TargetError(f"{target.id}: it gives no answer to a string of the sweep when tested again")


def _examined(target: FramedTarget, vector: Vector) -> Finding | None:
    """The fault of memory that explains an answer that is right when tested again: it names the address."""
    for answered in target.observe([(Batch.of([vector]), each) for each in offered(GUARDED, target.greeting)]):
        return next(compare_batch(answered, target.greeting), None)
    return None


def _rerun(target: FramedTarget, finding: Finding) -> Finding:
    """The finding; or an unstable target, if repeated questions get different answers."""
    queue = RerunQueue()
    for _ in range(RERUN):  # a random answer can be right several times in a row
        queue.add(finding)
    return next(iter(list(queue.flaky(target))), finding)  # leave no answer in the pipe


_OCTETS = 1 << 16
"""The most octets of the strings drawn from a set that are asked: the readable judge takes a quarter of a second."""

_LONG, _MANY = 1 << 10, 64
"""The octets, and the errors, of a text that is long, and errors throughout."""


def explained(
    buckets: Sequence[SweepBucket], target: Target, profile: Profile, known: Iterable[Explanation] = ()
) -> list[SweepBucket]:
    """The sets with their causes, in the same order; the most telling that none predicts is examined first.

    Args:
        buckets: the sets, without causes.
        target: open.
        profile: what it is measured by.
        known: causes that are known already.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    causes, found = _Causes(list(known)), list(buckets)
    left = 0 if any(each.finding.code == Code.UNSTABLE for each in buckets) else MOST
    for place in sorted(range(len(buckets)), key=lambda place: _order(buckets[place].finding, profile)):
        bucket = buckets[place]
        finding = _with_earlier(bucket)
        cause = next((each for each in causes.all if each.joins(finding)), causes.found_again(finding))
        if cause is None and left and is_examinable(finding.code, finding.operation):
            left -= 1
            cause = causes.learned(finding, target, profile)
        found[place] = replace(bucket, why=cause)
    for place, bucket in enumerate(found):
        if bucket.why is not None and bucket.found.drawn and left:
            further = list(_further(bucket, target, profile, causes, left))
            left -= len(further)
            found += further
            beside = sum(each.found.count for each in further)
            found[place] = replace(bucket, found=replace(bucket.found, count=bucket.found.count - beside))
    return _united(found)


class _Causes:
    """The causes that are known.

    The rule of a cause that is found again does not predict all that it does. What else has that code belongs to it,
    and if it is found once more, what else has that symptom.
    """

    def __init__(self, known: list[Explanation]) -> None:
        self.all = known
        self._again = dict[str, "Explanation"]()
        self._times = Counter[str]()

    def found_again(self, finding: Finding) -> Explanation | None:
        """The cause of a finding by its code or symptom alone."""
        return self._again.get(finding.code, self._again.get(symptom_of(finding.code)))

    def learned(self, finding: Finding, target: Target, profile: Profile) -> Explanation | None:
        """The cause of a finding, by experiment; None if there is no condition.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        cause = why(finding, target, profile)
        if cause is None or cause.condition is None:
            return None
        if any(each.id == cause.id for each in self.all):
            self._times[cause.id] += 1
            self._again[finding.code if self._times[cause.id] == 1 else symptom_of(finding.code)] = cause
        self.all.append(cause)
        return cause


def _united(buckets: Sequence[SweepBucket]) -> list[SweepBucket]:
    """The sets; those whose causes are parts of one have it."""
    causes, places = list["Explanation"](), dict[int, int]()
    for each in buckets:
        if (cause := each.why) is None:
            continue
        place, united = cause.among(causes) or (len(causes), cause)
        causes[place : place + 1] = [united]
        places[id(cause)] = place
    return [replace(each, why=causes[places[id(each.why)]]) if each.why is not None else each for each in buckets]


def _further(
    bucket: SweepBucket, target: Target, profile: Profile, causes: _Causes, most: int
) -> Iterator[SweepBucket]:
    """The causes of those strings drawn from a set that no known cause predicts, each with their number."""
    limits, profile = limits_of(target.greeting), profile.as_said(target.greeting)
    where: dict[bytes, Where] = {}
    octets_left = _OCTETS
    for octets, at in sorted(bucket.found.drawn, key=lambda each: len(each[0])):
        octets_left -= len(octets)
        if octets_left >= 0 and not any(limit.touches(octets) for limit in limits):
            where[octets] = at
    if not where:
        return
    batch = Batch.of([Vector(SWEPT, octets, profile=profile) for octets in where])
    left: list[Finding] = [
        finding
        for answered in target.observe([(batch, bucket.finding.operation)])
        for finding in compare_batch(answered, target.greeting)
        if is_examinable(finding.code, finding.operation) and not any(cause.takes(finding) for cause in causes.all)
    ]
    left.sort(key=lambda each: each.order)
    while left and most:
        most -= 1
        first = left.pop(0)
        if causes.found_again(first) is not None or (cause := causes.learned(first, target, profile)) is None:
            continue
        same = [each for each in left if cause.takes(each)]
        left = [each for each in left if each not in same]
        octets = first.vector.octets
        some = replace(bucket.found, count=1 + len(same), example=octets, where=where[octets], drawn=())
        yield replace(bucket, found=some, finding=first, why=cause)


def _order(finding: Finding, profile: Profile) -> tuple[bool, bool, tuple[int, int], object]:
    """The order of examinations: last those of texts that are errors throughout, of which many words are a cause."""
    can_be = is_examinable(finding.code, finding.operation)
    kind = rank(finding.code, finding.operation) if can_be else (0, 0)
    octets = finding.vector.octets
    throughout = can_be and len(octets) > _LONG and text_of(profile.dialect).has_more_flaws(octets, _MANY)
    return not can_be, throughout, kind, finding.order


def _with_earlier(bucket: SweepBucket) -> Finding:
    """The finding; if its answer depends on the string before, with that."""
    finding, earlier = bucket.finding, bucket.found.where.earlier
    if finding.code != Code.EARLIER_CALLS or earlier is None:
        return finding
    return replace(finding, vector=replace(finding.vector, earlier=(earlier,)))


_TELLING = (ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED, CRASHED, TIMED_OUT, BROKEN, OTHER_OFFSET)
"""The kinds, the worst first."""


def bucket_of(plan: Plan, operation: str, profile: Profile, results: Iterable[ShardResult]) -> SweepBucket | None:
    """The strings of a plan of giants with wrong answers, as one bucket; None if there are none.

    The vector of its finding lacks the letters between, and the answers count them.

    Args:
        plan: the plan.
        operation: that was asked.
        profile: the profile to judge by.
        results: those of the plan's shards.
    """
    wrong = _wrong(plan, results)
    if not wrong:
        return None
    first, words = wrong[0], _sentence(plan, wrong)
    grid = plan.grids[first.where.grid]
    head, *_ = grid.pieces(first.where.index)
    vector = Vector(SWEPT, first.example, profile=profile, comment=words)
    expected = expected_of(vector, operation)
    if isinstance(expected, Rejected) and expected.offset >= len(head):
        expected = expected._replace(offset=expected.offset + grid.between)
    beyond = f"{thousands(grid.between)} letters stand {f'after octet {len(head)}' if head else 'before it'}"
    refutes = POSITION if first.kind == OTHER_OFFSET else DEMANDED.get(first.kind, "")
    observed = _observed(first.kind, first.words)
    finding = Finding(vector, operation, Code.GIANT, expected, observed, plan.name, ("", beyond), refutes)
    return SweepBucket(plan.name, replace(first, count=len(wrong), words=words), finding)


def is_wrong_without_letters(bucket: SweepBucket, target: FramedTarget) -> bool:
    """True if the answer is wrong without the letters, too: then their number is not the cause.

    Raises:
        BudgetSpent: the target failed more often than its limit.
        TargetError: it cannot be asked.
    """
    finding = bucket.finding
    for answered in target.observe([(Batch.of([finding.vector]), finding.operation)]):
        return next(compare_batch(answered, target.greeting), None) is not None
    return False


def _power(plan: Plan, found: DivergentSet) -> int:
    """The power of two of a giant string's letters, about."""
    return (plan.grids[found.where.grid].between + (1 << 10)).bit_length() - 1


def _wrong(plan: Plan, results: Iterable[ShardResult]) -> list[DivergentSet]:
    """The strings with a wrong answer, the worst first: each is a set of its own, with the words of its fault."""
    found: list[DivergentSet] = []
    for result in results:
        number, texts = result.shard.grid, {fault.index: fault.text for fault in result.faults}
        kinds = enumerate(zlib.decompress(result.kinds), result.shard.first) if result.kinds else ()
        found += (
            DivergentSet(kind, 1, plan.grids[number].string(index), Where(number, index), words=texts.get(index, ""))
            for index, kind in kinds
            if kind not in NO_DIVERGENCE
        )
    return sorted(found, key=lambda each: (_TELLING.index(each.kind), _power(plan, each), shortlex(each.example)))


def _sentence(plan: Plan, wrong: Sequence[DivergentSet]) -> str:
    """What explains the wrong answers; otherwise from which power of two on there are some of each kind."""
    verdicts = {each.where: each.kind for each in wrong}
    for words, read in _MODELS.items():
        if verdicts == _predicted(plan, read):
            return words
    since: dict[int, list[str]] = {}
    for kind in _TELLING:
        powers = [_power(plan, each) for each in wrong if each.kind == kind]
        if powers:
            since.setdefault(min(powers), []).append(_WORDS[kind])
    return "; ".join(f"{' and '.join(since[power])} from 2^{power} octets of text on" for power in sorted(since))


_WORDS = {
    ACCEPTED_ILL_FORMED: "accepts errors",
    REFUSED_WELL_FORMED: "refuses well-formed text",
    CRASHED: "crashes",
    TIMED_OUT: "does not answer in time",
    BROKEN: "reports places that the string does not have",
    OTHER_OFFSET: "reports another offset",
}


def _unsigned(length: int) -> int:
    return length % (1 << 32)


def _signed(length: int) -> int:
    read = _unsigned(length)
    return read if read < 1 << 31 else 0


_MODELS = {
    "reads only the length modulo 2^32": _unsigned,
    "reads the length as a number of 32 bits with a sign": _signed,
}
"""Sentences, and how many octets such a validator reads."""


def _predicted(plan: Plan, read: Callable[[int], int]) -> dict[Where, int]:
    """The wrong answers of a validator that is right about the octets that it reads."""
    automaton = plan.profile.dialect.automaton
    found: dict[Where, int] = {}
    for number, grid in enumerate(plan.grids):
        for index in range(grid.size):
            octets, (head, *_) = grid.string(index), grid.pieces(index)
            length = len(octets) + grid.between
            many = read(length)
            seen = octets if many == length else head.ljust(many, LETTER)[:many]
            right = automaton.accepts(octets)
            if automaton.accepts(seen) != right:
                found[Where(number, index)] = REFUSED_WELL_FORMED if right else ACCEPTED_ILL_FORMED
    return found


def _observed(kind: int, text: str) -> Observation:
    if kind in (REFUSED_WELL_FORMED, OTHER_OFFSET):
        return Refused(int(text) if text.isdecimal() else None)
    if kind == BROKEN:
        return Failed(text)
    if kind == CRASHED:
        return Crashed(text)
    return TimedOut(0) if kind == TIMED_OUT else Accepted(None)


_ONE_IN = 1 << 12
_FEWEST_AGAIN, _MOST_AGAIN = 64, 256
"""The least and the most strings of a plan; between these, one in 4096."""
_OCTETS_AGAIN = 1 << 18
"""The most octets of a plan that are tested again: the reference decoder judges each string, at a microsecond an
octet."""


def ask_again(target: FramedTarget, run: SweepRun, plans: Sequence[Plan]) -> Again:
    """Ask some strings of each plan singly, before the sweep asks all of them in batches.

    Args:
        target: open.
        run: the coming sweep.
        plans: its plans.
    """
    if run.in_process or not can_differ(target.greeting):
        return {}
    profile = run.profile.as_said(target.greeting)
    limits = limits_of(target.greeting)
    sampled = [
        (plan.name, where, Member.of(Vector(SWEPT, octets, profile=profile)))
        for plan in plans
        for where, octets in _sample(plan)
        if not any(limit.touches(octets) for limit in limits)
    ]
    asked = Counter(name for name, _, _ in sampled)
    again: Again = {plan.name: (asked[plan.name], []) for plan in plans}
    try:
        for place, finding in otherwise([(member, run.operation) for _, _, member in sampled], target):
            name, where, _ = sampled[place]
            again[name][1].append((where, finding))
    except (BudgetSpent, TargetError):  # the sweep itself reports such failures
        pass
    return again


def add_again(run: SweepRun, again: Again, ledger: Ledger) -> None:
    """Add to the results of a sweep the strings that were right in it and wrong singly."""
    parts = {part.plan: part for part in run.plans}
    for plan, (asked, found) in again.items():
        if plan not in parts or not found:
            continue
        wrong = set(_diverging(ledger, plan, {where for where, _ in found}))
        alike: dict[tuple[str, str], list[tuple[Where, Finding]]] = {}
        for where, finding in found:
            if where not in wrong:
                alike.setdefault(finding.bucket, []).append((where, finding))
        for some in alike.values():
            where, least = min(some, key=lambda each: each[1].order)
            words = f"right among others: some of {thousands(asked)} that were tested again"
            octets, flaw = least.vector.octets, least.vector.flaw
            defect = "" if flaw is None else flaw.defect.code
            parts[plan].kinds[OTHERWISE] += len(some)
            described = DivergentSet(OTHERWISE, len(some), octets, where, defect, words=words)
            run.buckets.append(SweepBucket(plan, described, least))


def _sample(plan: Plan) -> Iterator[tuple[Where, bytes]]:
    """Some strings of a plan, always the same; none that is judged only after an earlier string."""
    grids = [(number, grid) for number, grid in enumerate(plan.grids) if not grid.earlier]
    ends = list(accumulate(grid.size for _, grid in grids))
    if not ends:
        return
    count = min(max(_FEWEST_AGAIN, ends[-1] // _ONE_IN), _MOST_AGAIN, ends[-1])
    chance, octets = random.Random(zlib.crc32(plan.name.encode())), 0  # noqa: S311 (no secret)
    for place in chance.sample(range(ends[-1]), count):
        at = bisect_right(ends, place)
        number, grid = grids[at]
        index = place - (ends[at] - grid.size)
        string = grid.string(index)
        if octets + len(string) <= _OCTETS_AGAIN:
            octets += len(string)
            yield Where(number, index), string


def _diverging(ledger: Ledger, plan: str, places: set[Where]) -> Iterator[Where]:
    """The places, among some, whose strings also diverge in the sweep, or were skipped by it."""
    for result in ledger.results(plan):
        shard = result.shard
        if result.kinds:
            kinds = zlib.decompress(result.kinds)
            for where in places:
                inside = where.index - shard.first
                if where.grid == shard.grid and 0 <= inside < shard.count and kinds[inside] != AGREES:
                    yield where
