"""Strings that are asked apart from their batch: for a declared limit, singly, in another order, and in threads.

A declared limit is one that a target states in its greeting and cannot avoid: a C string ends at octet 00; a parser
strips a signature; XML excludes most controls. Such a limit is shown and tested as a trait: the affected strings are
not asked with the others; those of the core and of ``complete-0`` are asked afterwards and judged by the limit. So a
limit cannot hide a fault, and a decoder without the declared limit is noticed.

An adapter that passes many strings at once (a column, an array) may answer them differently than single ones: it
reads the octets of neighbours, takes another path for many, or keeps state from one to the next. A function may also
answer otherwise while other threads call it.

A target whose answer changes is flaky, whatever else is wrong. The first findings of each bucket are asked again, each
vector singly. The first answer stays: if answers differ, a further finding lists them all, and none of them counts as
the true one.
"""

from __future__ import annotations

import random
import re
import zlib
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare, compare_batch, control_of, expected_of, is_open, place_of_fault
from overlong.conformance.oracle.finding import BESIDE, Finding, observed_in_words
from overlong.conformance.protocol.observation import (
    POSITION,
    UNDECLARED,
    Accepted,
    Code,
    Crashed,
    Failed,
    Refused,
    TimedOut,
    Unsupported,
)
from overlong.conformance.protocol.wire import (
    ASK,
    ASKING,
    BATCH,
    DECODE,
    ENCODING,
    IN_MEMORY,
    OTHER_INPUT,
    QUESTION,
    REPLACING,
    STREAMING,
)
from overlong.conformance.support.printable import spaced_hex, thousands
from overlong.conformance.vectors.batch import Batch, Member
from overlong.conformance.vectors.expected import words_of
from overlong.reference import Decoded, Rejected
from overlong.reference.defect import UNEXPECTED_TAIL
from overlong.reference.layout import load_layout
from overlong.reference.order import SIGNATURE
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector
    from overlong.reference import Outcome


NUL = b"\0"
_SIGNATURE = load_layout("rfc3629").encode(SIGNATURE) or b""
_NO_CHARACTER = rb"[\x00-\x08\x0B\x0C\x0E-\x1F]|\xEF\xBF[\xBE\xBF]"
"""Code points that XML 1.0 forbids (section 2.2)."""
_LINE_END = re.compile(rb"\r\n?")
"""The line ends that XML reads as LF (section 2.11), unless the adapter writes CR as ``&#13;``."""

JUDGED = ("core", "complete-0")
"""The suites whose set-aside strings test the declared limit."""


@dataclass(frozen=True)
class DeclaredLimit:
    """A member of the greeting, one of its words, and their meaning."""

    member: str
    word: str
    strings: str
    """The affected strings, in words."""
    pattern: re.Pattern[bytes]
    """A pattern that such strings contain."""
    at_start: bool = False
    """True if the pattern must be at the string's start."""
    readings: tuple[Callable[[bytes], bytes], ...] = ()
    """The part of such a string that the decoder sees; several if the adapter may choose one."""
    refused: re.Pattern[bytes] | None = None
    """Octets that the decoder refuses anywhere in such a string."""

    def touches(self, octets: bytes) -> bool:
        """True if the limit affects a string."""
        found = self.pattern.match(octets) if self.at_start else self.pattern.search(octets)
        return found is not None

    @property
    def line(self) -> str:
        """``nul: refused; strings with octet 00 are set aside``."""
        return f"{self.member}: {self.word}; {self.strings} are set aside"


_LIMITS = (
    DeclaredLimit("nul", "ends the string", "strings with octet 00", re.compile(NUL),
          readings=(lambda octets: octets.partition(NUL)[0],)),
    DeclaredLimit("nul", "refused", "strings with octet 00", re.compile(NUL), refused=re.compile(NUL)),
    DeclaredLimit("bom", "strips", "strings that begin with EF BB BF", re.compile(_SIGNATURE), at_start=True,
          readings=(lambda octets: octets.removeprefix(_SIGNATURE),)),
    DeclaredLimit("wrapper", "xml", "strings with what XML 1.0 has no character for, or with CR",
          re.compile(_NO_CHARACTER + rb"|\r"), refused=re.compile(_NO_CHARACTER),
          readings=(bytes, lambda octets: _LINE_END.sub(b"\n", octets))),
)  # fmt: skip


def limits_of(greeting: Greeting) -> tuple[DeclaredLimit, ...]:
    """The limits that a target declares and that affect some strings."""
    return _declared(greeting.traits)


def _declared(said: Mapping[str, str]) -> tuple[DeclaredLimit, ...]:
    return tuple(limit for limit in _LIMITS if said.get(limit.member) == limit.word)


def aside_in_words(said: Mapping[str, str], numbers: Iterable[int]) -> str:
    """``4 785 vectors set aside (wrapper: xml)``: for every headline; empty if nothing is set aside.

    Args:
        said: the limits that a greeting declares, possibly from a file of results.
        numbers: the number of vectors set aside in each suite.
    """
    number = sum(numbers)
    if not number:
        return ""
    declared = ", ".join(f"{limit.member}: {limit.word}" for limit in _declared(said)) or "no trait is declared"
    return f"{thousands(number)} vector{'' if number == 1 else 's'} set aside ({declared})"


def affected(octets: bytes, operation: str, limits: tuple[DeclaredLimit, ...]) -> bool:
    """True if a limit affects the text in an operation's input; numbers for an encoder are no such text."""
    if operation in ENCODING:
        return False
    text = octets[QUESTION.size :] if operation in ASKING else octets
    return any(limit.touches(text) for limit in limits)


def without(batch: Batch, limits: tuple[DeclaredLimit, ...]) -> tuple[Batch, list[Vector]]:
    """The batch without the strings that a limit affects, possibly empty; and these strings."""
    if not any(limit.pattern.search(batch.octets) for limit in limits):  # no further cost for most batches
        return batch, []
    operation = ASK if batch.category in QUESTIONS else DECODE
    aside = [place for place, vector in enumerate(batch) if affected(vector.octets, operation, limits)]
    if not aside:
        return batch, []
    gone = set(aside)
    kept = [vector for place, vector in enumerate(batch) if place not in gone]
    touched = [batch[place] for place in aside]
    if not kept:
        return batch.part(0, 0), touched
    return replace(Batch.of(kept), suite=batch.suite), touched


def expected_under(vector: Vector, operation: str, limits: tuple[DeclaredLimit, ...]) -> tuple[Outcome, ...]:
    """The right answers of a decoder with these limits, the likeliest first; empty if the limits leave them open."""
    touching = [limit for limit in limits if limit.touches(vector.octets)]
    if not touching:
        return (expected_of(vector, operation),)
    refused = [found for limit in touching if limit.refused and (found := limit.refused.search(vector.octets))]
    if len(refused) == len(touching):
        if operation in REPLACING:
            return ()
        start, end = min(found.span() for found in refused)
        sooner = vector.flaw is not None and vector.flaw.offset < start
        return (vector.strict if sooner else Rejected(start, end - start, incomplete=False),)
    if len(touching) > 1:  # the combined effect of two limits is not declared
        return ()
    readings = dict.fromkeys(read(vector.octets) for read in touching[0].readings)
    read_as = [replace(vector, octets=octets) for octets in readings]
    if any(is_open(each, operation) for each in read_as):
        return ()
    return tuple(expected_of(each, operation) for each in read_as)


def judged(vector: Vector, operation: str, observed: Observation, limits: tuple[DeclaredLimit, ...]) -> Finding | None:
    """The fault in an answer to a string that a limit affects; None if there is none or the limits leave it open.

    Verdict and text are judged. The error offset is not, because the target does not declare whether stripped
    octets count; and no answer to a question is, as what it counts of such a text is undeclared.
    """
    if not isinstance(observed, Accepted | Refused):
        return compare(vector, operation, observed)
    if operation in ASKING:
        return None
    expected = expected_under(vector, operation, limits)
    if not expected or any(_same(each, observed) for each in expected):
        return None
    line = next(limit.line for limit in limits if limit.touches(vector.octets))
    undeclared = compare(vector, operation, observed)
    if undeclared is None or undeclared.claim == POSITION:  # the declaration is wrong, not the decoder
        return Finding(vector, operation, UNDECLARED, expected[0], observed, line)
    line += "; the answer is wrong without the declaration, too"
    return Finding(vector, operation, UNDECLARED, expected[0], observed, line, refutes=undeclared.claim)


def judged_alone(answered: Answered, greeting: Greeting) -> tuple[Observation, Finding | None]:
    """The answer to a string that was asked alone, and its fault: by the declared limits if one affects the string."""
    operation, (vector,), limits = answered.operation, answered.batch.vectors, limits_of(greeting)
    (observed,) = answered.observed(greeting)
    if affected(vector.octets, operation, limits):
        return observed, judged(vector, operation, observed, limits)
    return observed, next(compare_batch(answered, greeting), None)


def _same(expected: Outcome, observed: Observation) -> bool:
    match expected, observed:
        case Rejected(), Refused():
            return True
        case Decoded(scalars), Accepted(values):
            return values is None or values == scalars
        case _:
            return False


def to_be_judged(aside: list[Vector], operations: str) -> Iterator[tuple[Batch, str]]:
    """The questions for the strings that were set aside."""
    for operation in operations:
        for vector in aside:
            yield Batch.of([vector]), operation


OF_EACH = 2
"""The number of a batch's strings that are asked again."""
ALONE, REORDERED = "tested by itself", "tested with others in another order"
"""The circumstances of an answer that differs from the one in the batch."""
AGAIN = 3
"""The repetitions of a divergent vector."""
RERUN = 4
"""The number of each bucket's first findings that are asked again."""


def can_differ(greeting: Greeting) -> bool:
    """True if the target takes many strings in one request."""
    return BATCH in greeting.operations


def sample_of(batch: Batch, most: int = OF_EACH) -> list[Member]:
    """Some strings of a batch: always the same, but not predictable from their places."""
    count = min(most, len(batch))
    chosen = random.Random(zlib.crc32(batch.octets)).sample(range(len(batch)), count)  # noqa: S311 (no secret)
    return [Member(batch, place) for place in chosen]


def otherwise(asked: Sequence[tuple[Member, str]], target: Target) -> Iterator[tuple[int, Finding]]:
    """The strings that the target gets wrong singly, or in another order.

    Strings with the same operation are asked singly, one per request, and then in one batch: both times from the last
    to the first, except that truncated strings come right before strings that begin with a tail. The caller knows
    whether a string was right among its original neighbours.

    Args:
        asked: strings, and the operation of each; none is for guarded memory.
        target: open.

    Yields:
        its index in ``asked``, and the fault: an ``OV607`` that refutes the same claim as the wrong answer. Only the
        first fault of each string.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    told = set[int]()
    groups: dict[tuple[str, bool, bool], list[int]] = {}
    for place in reversed(range(len(asked))):
        member, operation = asked[place]
        groups.setdefault((operation, member.batch.chunks is None, member.batch.earlier is None), []).append(place)
    again, order = list[tuple[Batch, str]](), list[tuple[int, str]]()
    for (operation, _, _), same in groups.items():
        places = same
        if operation not in OTHER_INPUT:
            places = [same[number] for number in _reordered(Batch.gathered([asked[place][0] for place in same]))]
        batch = Batch.gathered([asked[place][0] for place in places])
        again.append((replace(batch, singly=True), operation))
        order += [(place, ALONE) for place in places]
        if len(places) > 1:
            again.append((batch, operation))
            order += [(place, REORDERED) for place in places]
    following = iter(order)
    for answered in target.observe(again):
        found: dict[object, Finding] = {}
        for finding in compare_batch(answered, target.greeting):
            found.setdefault(finding.vector.apart, finding)
        for _ in range(len(answered.batch)):
            place, how = next(following)
            vector = asked[place][0].vector
            wrong = found.get(vector.apart)
            if wrong is None or place in told or control_of(wrong) is not None:
                continue
            told.add(place)
            yield (
                place,
                replace(
                    wrong,
                    vector=vector,
                    code=Code.IN_COMPANY,
                    place=wrong.title,
                    detail=("as among others", how),
                    refutes=wrong.claim,
                ),
            )


def _reordered(batch: Batch) -> list[int]:
    """The order in a batch, where truncated strings are paired with strings that begin with a tail."""
    cut, tails, others = list[int](), list[int](), list[int]()
    for place, flaw in enumerate(batch.flaws):
        begins_with_tail = flaw is not None and flaw.offset == 0 and flaw.defect == UNEXPECTED_TAIL
        (tails if begins_with_tail else cut if flaw is not None and flaw.incomplete else others).append(place)
    return [place for place in chain(*zip_longest(cut, tails), others) if place is not None]


class RerunQueue:
    """The first findings of each bucket, to be asked again at the end."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], list[Finding]] = {}

    def add(self, finding: Finding) -> None:
        """Note a finding, if it is one of the first of its bucket, and an answer. Crashes were already retried.

        A fault that shows only in a batch does not recur here, and that does not make it flaky.
        """
        if finding.detail[1] == REORDERED:
            return
        first = self._first.setdefault(finding.bucket, [])
        if len(first) < RERUN and isinstance(finding.observed, Accepted | Refused | Failed):
            first.append(finding)

    def wanted(self, bucket: tuple[str, str]) -> int:
        """The number of a bucket's findings still to be noted."""
        return RERUN - len(self._first.get(bucket, ()))

    def flaky(self, target: Target) -> Iterator[Finding]:
        """Ask again, and yield the resulting findings of OV605.

        Raises:
            BudgetSpent: it fails too often.
            TargetError: it does not start any more.
        """
        findings = tuple(chain(*self._first.values()))
        waiting = iter(findings)  # separate, because requests run ahead of answers
        asked = ((Batch.of([finding.vector]), finding.operation) for finding in findings for _ in range(AGAIN))
        answers: list[Observation] = []
        for answered in target.observe(asked):
            answers += answered.observed(target.greeting)
            if len(answers) == AGAIN:
                finding = next(waiting)
                if any(_differ(finding.observed, answer) for answer in answers):
                    yield _with_all(finding, answers)
                answers = []


def _differ(first: Observation, other: Observation) -> bool:
    """True if verdicts or outputs differ; the place and the text of an error may vary."""
    if isinstance(first, Accepted):
        return first != other
    return type(first) is not type(other)


def _with_all(finding: Finding, answers: list[Observation]) -> Finding:
    words = "; ".join(observed_in_words(answer, finding.operation, finding.vector.octets) for answer in answers)
    return replace(
        finding,
        code=Code.UNSTABLE,
        place=place_of_fault(finding.operation),
        detail=("each time", f"tested again: {words}"),
    )


NOT_IN_THREADS = IN_MEMORY + STREAMING
"""The operations that are not asked so: memory is examined one call at a time."""
_IN_A_REQUEST, _REQUESTS = 16, 6
"""The strings of a request, and the requests for one operation or question."""
_PARTNERS, _TRIES = 6, 3
_SHOWN = 16


def can_ask(greeting: Greeting) -> bool:
    """True if the target answers in several threads at once."""
    return bool(greeting.threads)


def chosen(members: Sequence[Member]) -> list[list[Vector]]:
    """Some of the strings, in requests: half of them the longest, whose calls take long enough to overlap."""
    most = _IN_A_REQUEST * _REQUESTS
    vectors = list({each.vector.id: each.vector for each in members}.values())
    vectors.sort(key=lambda vector: -len(vector.octets))
    longest, rest = vectors[: most // 2], vectors[most // 2 :]
    dice = random.Random(0)  # noqa: S311 (no secret)
    some = [*longest, *dice.sample(rest, min(len(rest), most // 2))]
    dice.shuffle(some)
    return [some[start : start + _IN_A_REQUEST] for start in range(0, len(some), _IN_A_REQUEST)]


def raced(requests: Sequence[Sequence[Vector]], operation: str, threads: int, target: Target) -> Iterator[Finding]:
    """The first string whose answer differs in threads, with the string that another thread had.

    Args:
        requests: strings that are asked together.
        operation: one that takes them.
        threads: so many at once.
        target: open, and it can do that.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    for vectors in requests:
        for place, alone, observed in _differing(vectors, operation, threads, target):
            others = [vectors[(place + step) % len(vectors)] for each in range(1, _PARTNERS) for step in (each, -each)]
            for other in dict.fromkeys(each for each in others if each is not vectors[place]):
                pair = vectors[place], other
                for _ in range(_TRIES):
                    for at, *answers in _differing(pair, operation, threads, target):
                        yield _finding(pair[at], operation, threads, answers, pair[1 - at])
                        return
            yield _finding(vectors[place], operation, threads, (alone, observed), None)
            return


def _differing(
    vectors: Sequence[Vector], operation: str, threads: int, target: Target
) -> list[tuple[int, Observation, Observation]]:
    """The places of strings whose answers differ, with the answers alone and in threads.

    What answers otherwise alone, too, is left out: it needs no threads for that.
    """
    batch = Batch.gathered([Member.of(vector) for vector in vectors])
    said: list[Observation] = []
    failed: Observation | None = None
    batches = batch, batch, replace(batch, threads=threads)
    for answered in target.observe((each, operation) for each in batches):
        said += answered.observed(target.greeting)
        failed = answered.unstable if answered.batch.threads else failed
    count = len(vectors)
    found: list[tuple[int, Observation, Observation]] = [
        (place, alone, observed)
        for place, (alone, again, observed) in enumerate(
            zip(said[:count], said[count : 2 * count], said[2 * count :], strict=True)
        )
        if alone == again and observed != alone and not isinstance(observed, Unsupported | TimedOut)
    ]
    if not found and isinstance(failed, Crashed):
        return [(0, said[0], failed)]
    return found


def _finding(
    vector: Vector, operation: str, threads: int, answers: Sequence[Observation], other: Vector | None
) -> Finding:
    alone, observed = answers
    judged = isinstance(observed, Accepted | Refused | Failed)
    wrong = compare(vector, operation, observed) if judged else None
    expected = expected_of(vector, operation)
    as_alone = f"alone it {observed_in_words(alone, operation, vector.octets)}"
    if isinstance(alone, Accepted) and alone.values is not None:
        expected, as_alone = Decoded(alone.values), "as alone"
    beside = "others" if other is None else shown(other, operation)
    return Finding(
        vector,
        operation,
        Code.IN_THREADS,
        expected,
        observed,
        place_of_fault(operation) if other is None else f"{BESIDE}{other.id}",
        (as_alone, f"in {threads} threads, beside {beside}"),
        "" if wrong is None else wrong.claim,
    )


def shown(vector: Vector, operation: str) -> str:
    """An input in words."""
    return words_of(vector.octets) if operation == ASK else spaced_hex(vector.octets, _SHOWN)
