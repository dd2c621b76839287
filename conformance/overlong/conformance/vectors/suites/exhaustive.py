"""The complete suite (see ``vectors/complete.py``), and every string up to a given length.

The latter suites are for files, scores and comparisons, not for certificates.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import VERDICT
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.byte_ranges import ByteRangeSequence, all_strings
from overlong.conformance.vectors.complete import strings_for
from overlong.conformance.vectors.suites.suite import BATCH, Suite, whole_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile

COMPLETE = Suite(
    "complete-0",
    "no decoder of up to {states} states that differs from {speaks} passes this",
    lambda profile: whole_inputs("complete", strings_for(profile.dialect)),
    lambda profile: len(strings_for(profile.dialect)),
    proves=VERDICT,
)
LONGEST = 4


def _sequences(longest: int) -> Iterator[ByteRangeSequence]:
    for length in range(1, longest + 1):
        yield from all_strings("exhaustive", length)


def _batches(longest: int, _: Profile) -> Iterator[Batch]:
    waiting: list[bytes] = []
    for each in _sequences(longest):
        octets, length = each.octets, len(each.ranges)
        waiting += [octets[start : start + length] for start in range(0, len(octets), length)]
        while len(waiting) >= BATCH:
            yield Batch.of_strings("exhaustive", waiting[:BATCH])
            waiting = waiting[BATCH:]
    if waiting:
        yield Batch.of_strings("exhaustive", waiting)


@cache
def exhaustive(longest: int) -> Suite:
    """The suite of all strings of 1 to ``longest`` octets."""
    return Suite(
        f"exhaustive-{longest}",
        f"every string of 1 to {longest} octets" if longest > 1 else "every octet alone",
        partial(_batches, longest),
        lambda _: sum(0x100**length for length in range(1, longest + 1)),
        sequences=partial(_sequences, longest),
    )
