"""Complete suites (``vectors/complete.py`` makes the strings of the first), and every string up to a given length.

The suites for error modes are about a decoder's treatment of ill-formed octets: the place of a refusal, and the output.
They are derived from the machines of the reference (:mod:`overlong.reference.machine`). A decoder with at most as many
states answers all of a suite correctly, prefixes included, if and only if it answers every input correctly. The suite
includes the prefixes, because two states may differ in the middle of a word although their whole outputs are equal.

The suites of every string are for files, scores and comparisons, not for certificates.
"""

from __future__ import annotations

from functools import cache, partial
from itertools import chain
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import POSITION, REPLACEMENT, VERDICT
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.byte_ranges import ByteRangeSequence, all_strings
from overlong.conformance.vectors.complete import strings_for
from overlong.conformance.vectors.suites.suite import BATCH, Suite, batched, whole_inputs
from overlong.reference.automaton import in_shortlex
from overlong.reference.machine import output_machine, place_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.machine import Transducer

COMPLETE = Suite(
    "complete-0",
    "no decoder of up to {states} states that differs from {speaks} passes this",
    lambda profile: whole_inputs("complete", strings_for(profile.dialect)),
    proves=VERDICT,
)


def _places(profile: Profile) -> Transducer:
    return place_machine(profile.dialect)


def _outputs(profile: Profile) -> Transducer:
    return output_machine(profile.dialect, profile.mode)


@cache
def _with_prefixes(machine: Transducer) -> tuple[bytes, ...]:
    strings = machine.complete_strings()
    prefixes = {string[:end] for string in strings for end in range(len(string) + 1)}
    return tuple(in_shortlex(prefixes))


COMPLETE_REFUSING = Suite(
    "complete-0-refusing",
    "no decoder of up to {states} states that reports another error position passes this",
    lambda profile: whole_inputs("refusing", _with_prefixes(_places(profile))),
    asks=VALIDATE + DECODE,
    machine=_places,
    proves=POSITION,
)
COMPLETE_REPLACING = Suite(
    "complete-0-replacing",
    "no decoder of up to {states} states that replaces otherwise passes this",
    lambda profile: whole_inputs("replacing", _with_prefixes(_outputs(profile))),
    asks=REPLACE,
    machine=_outputs,
    proves=REPLACEMENT,
    replaces_by_mode=True,
)

LONGEST = 4


def _sequences(longest: int) -> Iterator[ByteRangeSequence]:
    for length in range(1, longest + 1):
        yield from all_strings("exhaustive", length)


def _batches(longest: int, _: Profile) -> Iterator[Batch]:
    for some in batched(chain.from_iterable(map(_strings, _sequences(longest))), BATCH):
        yield Batch.of_strings("exhaustive", some)


def _strings(sequence: ByteRangeSequence) -> Iterator[bytes]:
    octets, length = sequence.octets, len(sequence.ranges)
    return (octets[start : start + length] for start in range(0, len(octets), length))


@cache
def exhaustive(longest: int) -> Suite:
    """The suite of all strings of 1 to ``longest`` octets."""
    return Suite(
        f"exhaustive-{longest}",
        f"every string of 1 to {longest} octets" if longest > 1 else "every octet alone",
        partial(_batches, longest),
        count=lambda _: sum(0x100**length for length in range(1, longest + 1)),
        sequences=partial(_sequences, longest),
    )
