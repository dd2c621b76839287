"""In threads: asks strings while other threads of the target are asked others, and compares with the answers alone."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare, expected_of, place_of_fault
from overlong.conformance.oracle.finding import BESIDE, Finding, observed_in_words
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted, Crashed, Failed, Refused, TimedOut, Unsupported
from overlong.conformance.protocol.wire import ASK, IN_MEMORY, STREAMING
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.vectors.batch import Batch, Member
from overlong.conformance.vectors.expected import words_of
from overlong.reference import Decoded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.conformance.vectors.vector import Vector

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
