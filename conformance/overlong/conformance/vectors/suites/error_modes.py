"""Complete suites for a decoder's treatment of ill-formed octets: the place of a refusal, and the output.

They are derived from the machines of the reference (:mod:`overlong.reference.machine`). A decoder with at most as many
states answers all of a suite correctly, prefixes included, if and only if it answers every input correctly. The suite
includes the prefixes, because two states may differ in the middle of a word although their whole outputs are equal.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import POSITION, REPLACEMENT
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.vectors.suites.suite import Suite, whole_inputs
from overlong.reference.machine import output_machine, place_machine
from overlong.reference.theory import in_shortlex

if TYPE_CHECKING:
    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.transducer import Transducer


def _places(profile: Profile) -> Transducer:
    return place_machine(profile.dialect)


def _outputs(profile: Profile) -> Transducer:
    return output_machine(profile.dialect, profile.mode)


def _refusing(profile: Profile) -> tuple[bytes, ...]:
    return _with_prefixes(_places(profile))


@cache
def _replacing(profile: Profile) -> tuple[bytes, ...]:
    return _with_prefixes(_outputs(profile))


@cache
def _with_prefixes(machine: Transducer) -> tuple[bytes, ...]:
    strings = machine.complete_strings()
    prefixes = {string[:end] for string in strings for end in range(len(string) + 1)}
    return tuple(in_shortlex(prefixes))


COMPLETE_REFUSING = Suite(
    "complete-0-refusing",
    "no decoder of up to {states} states that reports another error position passes this",
    lambda profile: whole_inputs("refusing", _refusing(profile)),
    lambda profile: len(_refusing(profile)),
    asks=VALIDATE + DECODE,
    machine=_places,
    proves=POSITION,
)
COMPLETE_REPLACING = Suite(
    "complete-0-replacing",
    "no decoder of up to {states} states that replaces otherwise passes this",
    lambda profile: whole_inputs("replacing", _replacing(profile)),
    lambda profile: len(_replacing(profile)),
    asks=REPLACE,
    machine=_outputs,
    proves=REPLACEMENT,
    replaces_by_mode=True,
)
