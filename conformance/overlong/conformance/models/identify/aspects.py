"""The aspects of a decoder to learn, each with the effect of an octet and the machines to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.models.identify.beside import RESULTS
from overlong.conformance.oracle.finding import expected_in_words, observed_in_words
from overlong.conformance.protocol.kind import EARLIEST, POSITION
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.support.printable import code_points
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference import DIALECTS, ERROR_MODES, Decoded, Dialect, decode_scalars, dialect, outcome
from overlong.reference.answer import (
    ACCEPTED,
    REFUSED,
    REFUSED_AT_THE_END,
    Place,
    output_change,
    place_change,
    verdict,
)
from overlong.reference.machine import (
    detection_machine,
    output_machine,
    place_machine,
    release_machine,
    verdict_machine,
)
from overlong.reference.transducer import Transducer

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator

    from overlong.conformance.models.identify.membership_oracle import MembershipOracle
    from overlong.conformance.protocol.units import Units


class KnownAspect(NamedTuple):
    """A known machine by name, and its decoder's answers in words."""

    name: str
    machine: Transducer
    words: Callable[[bytes], str]
    profile: Profile | None = None
    """The profile of a decoder with this machine; None if no single dialect and error mode describes it."""


@dataclass(frozen=True)
class Aspect:
    """One aspect of a decoder's behaviour.

    ``known`` yields the machines to compare with, the likeliest first.
    """

    title: str
    change: Callable[[MembershipOracle, bytes], Hashable]
    words: Callable[[MembershipOracle, bytes], str]
    known: Callable[[], Iterator[KnownAspect]]
    claims: frozenset[str] = RESULTS
    """The claims of a certificate about this aspect."""


def dialect_aspect(*, with_values: bool) -> Aspect:
    """The accepted language, and its scalar rule."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        observed = oracle[octets]
        if isinstance(observed, Refused):
            return REFUSED
        assert isinstance(observed, Accepted)
        return ACCEPTED if observed.values is None else verdict(octets, Decoded(observed.values))

    def machine(spoken: Dialect) -> Transducer:
        if with_values:
            return verdict_machine(spoken)
        accepts = Transducer.of(spoken.automaton)
        rows = tuple(tuple(ACCEPTED if each else REFUSED for each in row) for row in accepts.changes)
        return Transducer(accepts.table, rows).minimal()

    def known() -> Iterator[KnownAspect]:
        for name in DIALECTS:
            spoken = dialect(name)
            yield KnownAspect(name, machine(spoken), partial(_expected, spoken), Profile(name))

    return Aspect("dialect", change, _observed, known)


def place_aspect(speaks: Iterable[str], refusals: Iterable[Refused]) -> Aspect:
    """The reported place of a refusal."""
    said = list(refusals)
    lengths, incompletes = any(r.length is not None for r in said), any(r.incomplete is not None for r in said)

    def place(oracle: MembershipOracle, octets: bytes) -> Place | None:
        observed = oracle[octets]
        if not isinstance(observed, Refused):
            return None
        return Place(-1 if observed.offset is None else observed.offset, observed.length, observed.incomplete)

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return place_change(octets, place(oracle, octets[:-1]), place(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        for name in speaks:
            spoken = dialect(name)
            machine = place_machine(spoken, lengths=lengths, incompletes=incompletes)
            yield KnownAspect(name, machine, partial(_expected, spoken), Profile(name))

    return Aspect("error position", change, _observed, known, frozenset({POSITION}))


def output_aspect(speaks: Iterable[str]) -> Aspect:
    """The output for ill-formed octets."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return output_change(octets, _values(oracle, octets[:-1]), _values(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        for name in speaks:
            for mode in ERROR_MODES.values():
                if mode.stands_for is not None:
                    label = mode.name if name == "rfc3629" else f"{mode.name} over {name}"
                    spoken = dialect(name)
                    replaced = partial(_replaced, spoken, mode.name)
                    yield KnownAspect(label, output_machine(spoken, mode), replaced, Profile(name, mode.name))

    return Aspect("error mode", change, _put_out, known)


def release_aspect(spoken: str, mode: str, units: Units) -> Aspect:
    """The time of a stream's output, octet by octet."""

    def released(oracle: MembershipOracle, octets: bytes) -> tuple[int, ...]:
        values = _values(oracle, octets)
        *_, before_the_end, _ = (0, *oracle.marks(octets))
        count, taken = 0, 0
        while count < before_the_end and taken < len(values):
            count += units.count(values[taken : taken + 1])
            taken += 1
        return values[:taken]

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        return output_change(octets, released(oracle, octets[:-1]), released(oracle, octets))

    def known() -> Iterator[KnownAspect]:
        machine = release_machine(dialect(spoken), ERROR_MODES[mode])
        profile = Profile(spoken, mode)

        def certain(octets: bytes) -> str:
            vector = Vector("input", octets, chunks=(1,) * len(octets), profile=profile)
            return f"{code_points(tuple(chain.from_iterable(vector.chunked[:-1])))} is out"

        yield KnownAspect("nothing held back", machine, certain, profile)

    def words(oracle: MembershipOracle, octets: bytes) -> str:
        return f"{code_points(released(oracle, octets))} is out"

    return Aspect("withholding", change, words, known, frozenset({EARLIEST}))


def detection_aspect(spoken: str) -> Aspect:
    """The time of a stream's refusal, octet by octet."""

    def change(oracle: MembershipOracle, octets: bytes) -> Hashable:
        observed = oracle[octets]
        if isinstance(observed, Accepted):
            return ACCEPTED
        return REFUSED if oracle.marks(octets)[0] <= len(octets) else REFUSED_AT_THE_END

    def known() -> Iterator[KnownAspect]:
        machine = detection_machine(dialect(spoken))

        def expected(octets: bytes) -> str:
            return str(machine.along(octets)[-1])

        yield KnownAspect("as early as can be", machine, expected, Profile(spoken))

    def words(oracle: MembershipOracle, octets: bytes) -> str:
        return str(change(oracle, octets))

    return Aspect("detection", change, words, known, frozenset({EARLIEST}))


def _expected(spoken: Dialect, octets: bytes) -> str:
    return expected_in_words(outcome(octets, "fatal", spoken))


def _replaced(spoken: Dialect, mode: str, octets: bytes) -> str:
    return code_points(decode_scalars(octets, mode, spoken))


def _observed(oracle: MembershipOracle, octets: bytes) -> str:
    return observed_in_words(oracle[octets])


def _put_out(oracle: MembershipOracle, octets: bytes) -> str:
    observed = oracle[octets]
    if isinstance(observed, Accepted) and observed.values is not None:
        return code_points(observed.values)
    return observed_in_words(observed)


def _values(oracle: MembershipOracle, octets: bytes) -> tuple[int, ...]:
    observed = oracle[octets]
    if isinstance(observed, Accepted) and observed.values is not None:
        return observed.values
    return (REFUSES,)


REFUSES = -1
"""Stands in the output of a decoder that refused instead of replacing."""
