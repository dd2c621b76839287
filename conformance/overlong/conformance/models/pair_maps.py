"""Maps: a decoder's answers to every pair of octets, alone and after each lead with restricted second octets.

A map asks each of the 65 536 pairs alone, then adds tail octets to pairs that were not accepted. So it shows forms
that no decoder should accept beside those that it should. The reference's maps come from its automaton, by the same
rule, without any run.

A map proves nothing beyond the suites: it is a picture for people. So only targets that fail the verdict get maps, and
a target that hangs or breaks gets none. No clock decides whether there are maps, so two runs of the same target have
the same maps.
"""

from __future__ import annotations

import contextlib
from array import array
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.apart import limits_of
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import TimedOut
from overlong.conformance.protocol.wire import ACCEPTED, DECODE, REFUSED, VALIDATE
from overlong.conformance.results.model import Map
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import RFC3629
from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from overlong.conformance.oracle.target import Target
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

PAIRS = len(OCTETS) ** 2
"""The number of answers in a map."""
ALONE = "lead and second"
"""The name of the map without a prefix."""
NOT_TOLD = 255
"""The answer for a string on which the target broke, or which a declared limit exempts."""

_AT_ONCE = 1 << 14  # strings in a batch
_FAILURES = 8  # failures that are each worth a restart


def prefixes(speaks: str) -> tuple[bytes, ...]:
    """The prefix of each map: nothing, or a lead octet that allows fewer second octets than there are tail octets."""
    spoken = dialect(speaks)
    automaton, tails = spoken.automaton, {octet for octet in OCTETS if spoken.layout.is_tail(octet)}
    restricted: list[bytes] = []
    for lead, state in enumerate(automaton.table[0]):
        if state != automaton.dead and not automaton.accepting[state]:
            seconds = {octet for octet, to in enumerate(automaton.table[state]) if to != automaton.dead}
            if seconds < tails:
                restricted.append(bytes([lead]))
    return b"", *restricted


def name_of(prefix: bytes) -> str:
    """The name of the map of this prefix."""
    return prefix.hex(" ").upper() or ALONE


def tail(speaks: str) -> bytes:
    """The octet that is added to pairs: the least tail octet."""
    return bytes([dialect(speaks).layout.rows[-1].templates[-1].fixed])


def tails_after(prefix: bytes, automaton: Automaton) -> int:
    """The most octets that a character may still lack after ``prefix`` and a pair."""
    missing = lacking(automaton)
    inside = {state for state in automaton.table[automaton.run(prefix)] if not automaton.accepting[state]}
    after = {to for state in inside for to in automaton.table[state]}
    return max((missing[state] for state in after if state in missing), default=0)


def maps_of(target: Target, profile: Profile = RFC3629) -> tuple[Map, ...]:
    """The maps of a target; none if it offers neither V nor D, hangs, or breaks too often.

    Args:
        target: an open target. If the result is empty, close it afterwards: some answers may be under way.
        profile: the target's profile; its dialect gives the prefixes and the tail octet.
    """
    operation = next((each for each in (VALIDATE, DECODE) if each in target.greeting.operations), None)
    if operation is None:
        return ()
    before = prefixes(profile.speaks)
    seen = {prefix: bytearray(PAIRS) for prefix in before}
    try:
        with unreported(target):
            _ask(target, operation, seen, profile)
    except (BudgetSpent, TargetError):
        return ()
    return tuple(Map(name_of(prefix), bytes(seen[prefix])) for prefix in before)


@cache
def reference_maps(profile: str = RFC3629.name) -> tuple[Map, ...]:
    """The maps of the automaton of a profile such as ``rfc3629@1``; none if there is no such profile."""
    speaks = profile.partition("@")[0]
    return painted(dialect(speaks).automaton, speaks) if speaks in DIALECTS else ()


def painted(automaton: Automaton, speaks: str) -> tuple[Map, ...]:
    """The maps of a decoder with this automaton, with the prefixes and the tail octet of a dialect."""
    spoken, octet = dialect(speaks), tail(speaks)
    return tuple(
        Map(name_of(prefix), _painted(automaton, prefix, octet, tails_after(prefix, spoken.automaton)))
        for prefix in prefixes(speaks)
    )


@contextlib.contextmanager
def unreported(target: Target) -> Generator[None]:
    """In this context, no run reports the target's failures, and few failures are worth a restart."""
    if not isinstance(target, FramedTarget):
        yield
        return
    budget, restarts, notes = target.restart_budget, target.restarts, len(target.notes)
    target.restart_budget = restarts + _FAILURES
    try:
        yield
    finally:
        target.restart_budget, target.restarts = budget, restarts
        del target.notes[notes:]


def lacking(automaton: Automaton) -> dict[int, int]:
    """For each state from which a word is accepted, the length of the shortest such word."""
    missing = {state: 0 for state, accepts in enumerate(automaton.accepting) if accepts}
    queue = list(missing)
    for near in queue:
        for state, row in enumerate(automaton.table):
            if state not in missing and near in row:
                missing[state] = missing[near] + 1
                queue.append(state)
    return missing


def _painted(automaton: Automaton, prefix: bytes, octet: bytes, tails: int) -> bytes:
    def first(state: int) -> int:
        """The answer in a map for the state after a pair."""
        for count in range(tails + 1):
            if automaton.accepting[state]:
                return count + 1
            state = automaton.run(octet, state)
        return 0

    answers = [first(state) for state in range(len(automaton))]
    row = automaton.table[automaton.run(prefix)]
    return b"".join(bytes([answers[to] for to in automaton.table[state]]) for state in row)


def _ask(target: Target, operation: str, seen: dict[bytes, bytearray], profile: Profile) -> None:
    """Fill in the answers, round by round; each round adds one more tail octet to pairs that were not accepted.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: the target does not answer in time, or does not start any more.
    """
    limits = limits_of(target.greeting)
    automaton, octet = profile.dialect.automaton, tail(profile.speaks)
    left: dict[bytes, Sequence[int]] = dict.fromkeys(seen, range(PAIRS))
    for tails in range(1 + max(tails_after(prefix, automaton) for prefix in seen)):
        asked: list[tuple[bytes, Sequence[int]]] = []
        batches: list[Batch] = []
        for prefix, places in left.items():
            if tails > tails_after(prefix, automaton):
                continue
            for start in range(0, len(places), _AT_ONCE):
                strings = [prefix + _pairs()[place] + octet * tails for place in places[start : start + _AT_ONCE]]
                some = places[start : start + _AT_ONCE]
                if limits:
                    aside = {at for at, string in enumerate(strings) if any(limit.touches(string) for limit in limits)}
                    for at in aside:
                        seen[prefix][some[at]] = NOT_TOLD
                    strings = [string for at, string in enumerate(strings) if at not in aside]
                    some = [place for at, place in enumerate(some) if at not in aside]
                if strings:
                    asked.append((prefix, some))
                    batches.append(_batch(strings))
        statuses = b"".join(_answers(target, operation, batches))
        told = {ACCEPTED[0]: tails + 1, REFUSED[0]: 0}
        answers = statuses.translate(bytes(told.get(each, NOT_TOLD) for each in OCTETS))
        before = 0
        for prefix, some in asked:
            for place, answer in zip(some, answers[before : before + len(some)], strict=True):
                seen[prefix][place] = answer
            before += len(some)
        left = {prefix: [at for at, answer in enumerate(found) if not answer] for prefix, found in seen.items()}


def _answers(target: Target, operation: str, batches: Sequence[Batch]) -> Iterator[bytearray]:
    """The statuses of the answers to all strings in order, in pieces; 0 if the target broke."""
    for answered in target.observe((batch, operation) for batch in batches):
        if any(isinstance(fault, TimedOut) for fault in answered.faults.values()):
            raise TargetError("it does not answer in time")
        statuses = bytearray(answered.answers.statuses)
        for at in answered.faults:
            statuses[at] = 0
        yield statuses


def _batch(strings: Sequence[bytes]) -> Batch:
    return Batch("input", array("I", [len(strings[0])]) * len(strings), b"".join(strings))


@cache
def _pairs() -> tuple[bytes, ...]:
    return tuple(bytes([one, other]) for one in OCTETS for other in OCTETS)
