"""The reference as machines: one for each dialect's verdict, places and error modes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import cache, lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from overlong.reference.answer import (
    ACCEPTED,
    FIRST_ABOVE_ASCII,
    REFUSED,
    REFUSED_AT_THE_END,
    Place,
    output_change,
    place_change,
    verdict,
)
from overlong.reference.automaton import OCTETS
from overlong.reference.decoder import Decoded, outcome, taken
from overlong.reference.dialect import dialect
from overlong.reference.encoder import encode_scalars
from overlong.reference.error_mode import ERROR_MODES, ESCAPES, REPLACEMENT_CHARACTER, Fold, MaximalSubpart, WellFormed
from overlong.reference.layout import load_layout
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE
from overlong.reference.transducer import Transducer

if TYPE_CHECKING:
    from overlong.reference.dialect import Dialect
    from overlong.reference.error_mode import ErrorMode

Answer = Callable[[bytes, int], Hashable]
"""The change that an octet makes after some octets."""


@cache
def verdict_machine(spoken: Dialect) -> Transducer:
    """After each octet: the verdict on the octets so far, and the scalar rule that applies."""

    def change(octets: bytes, octet: int) -> Hashable:
        read = octets + bytes([octet])
        return verdict(read, outcome(read, "fatal", spoken))

    return _explored(spoken, ERROR_MODES["fatal"], change)


@cache
def place_machine(spoken: Dialect, *, lengths: bool = True, incompletes: bool = True) -> Transducer:
    """The change of the place of refusal by each octet, for a decoder that also reports length and incompleteness."""

    @lru_cache(maxsize=2)  # each state's octets are asked for again with every octet behind them
    def place(octets: bytes) -> Place | None:
        found = outcome(octets, "fatal", spoken)
        if isinstance(found, Decoded):
            return None
        return Place(found.offset, found.length if lengths else None, found.incomplete if incompletes else None)

    def change(octets: bytes, octet: int) -> Hashable:
        read = octets + bytes([octet])
        return place_change(read, place(octets), place(read))

    return _explored(spoken, ERROR_MODES["fatal"], change)


@cache
def detection_machine(spoken: Dialect) -> Transducer:
    """After each octet of a stream: accepted if it ends here, refused only if it ends here, or refused already."""

    def change(octets: bytes, octet: int) -> Hashable:
        found = outcome(octets + bytes([octet]), "fatal", spoken)
        if isinstance(found, Decoded):
            return ACCEPTED
        return REFUSED_AT_THE_END if found.incomplete else REFUSED

    return _explored(spoken, ERROR_MODES["fatal"], change)


@cache
def output_machine(spoken: Dialect, mode: ErrorMode) -> Transducer:
    """The change of the output by each octet in an error mode, if the input ends there."""
    return _output_machine(spoken, mode, ended=True)


@cache
def release_machine(spoken: Dialect, mode: ErrorMode) -> Transducer:
    """The output that each octet of a stream adds, in a decoder that holds nothing back."""
    return _output_machine(spoken, mode, ended=False)


def _output_machine(spoken: Dialect, mode: ErrorMode, *, ended: bool) -> Transducer:
    @lru_cache(maxsize=2)  # as above
    def put_out(octets: bytes) -> tuple[int, ...]:
        found = list(taken(octets, mode, spoken))
        if not ended and found and isinstance(found[-1], MaximalSubpart) and found[-1].incomplete:
            found.pop()
        return tuple(chain.from_iterable(mode.outputs(found, octets)))

    def change(octets: bytes, octet: int) -> Hashable:
        read = octets + bytes([octet])
        return output_change(read, put_out(octets), put_out(read))

    return _explored(spoken, mode, change)


def _explored(spoken: Dialect, mode: ErrorMode, change: Answer) -> Transducer:
    """The machine of ``change``. Octets that lead to the same :func:`_situation` have the same future."""
    examples: dict[Hashable, bytes] = {}

    def step(state: Hashable, octet: int) -> tuple[Hashable, Hashable]:
        octets = examples[state]
        read = octets + bytes([octet])
        after = _situation(read, spoken, mode)
        examples.setdefault(after, read)
        return after, change(octets, octet)

    start = _situation(b"", spoken, mode)
    examples[start] = b""
    return Transducer.explore(start, step, _alike(spoken))


@cache
def _alike(spoken: Dialect) -> list[list[int]]:
    """Groups of octets that the dialect, the names of defects and all error modes treat alike."""
    widest, tables = load_layout("rfc2279"), [each.automaton.table for each in (spoken, dialect(), dialect("cesu-8"))]
    remembered = frozenset(chain.from_iterable(_REMEMBERED))
    groups: dict[Hashable, list[int]] = {}
    for octet in OCTETS:
        row = widest.announced(octet)
        kind = (
            tuple(tuple(states[octet] for states in table) for table in tables),
            row and len(row.templates),
            _stands_for_itself(octet),
            octet if octet in remembered else None,
        )
        groups.setdefault(kind, []).append(octet)
    return list(groups.values())


def _stands_for_itself(octet: int) -> bool:
    """True if Windows-1252 agrees with ISO 8859-1 on this octet."""
    stands_for = ERROR_MODES["windows-1252"].stands_for
    assert stands_for is not None
    return stands_for(bytes([octet])) == (octet,)


_PAIR = 6  # octets of a pair of surrogates


def _remembered() -> Iterator[bytes]:
    """Sequences whose exact octets count, not only their classes: the signature, and those whose number is traced
    to another source (:func:`overlong.reference.answer.traced`) because that has the same number.
    """
    for row in load_layout("rfc2279").rows[1:]:
        yield row.octets(REPLACEMENT_CHARACTER)
        yield row.octets(FIRST_ABOVE_ASCII)[:-1]  # with any last octet, equal to that in ISO 8859-1
        yield row.octets(ESCAPES + FIRST_ABOVE_ASCII)[:-1]  # the same, in utf-8b
    yield encode_scalars([0xC3])  # equal to its first octet in ISO 8859-1
    yield encode_scalars([SIGNATURE])


_REMEMBERED = tuple(_remembered())


def _situation(octets: bytes, spoken: Dialect, mode: ErrorMode) -> Hashable:
    """The state that a decoder must remember: everything in the octets read that affects later answers."""
    automaton = spoken.automaton
    found = list(taken(octets, mode, spoken))
    flawed = any(isinstance(each, MaximalSubpart) for each in found[:-1])
    pending, owes = b"", 0
    begun = found[-1] if found else None
    if isinstance(begun, MaximalSubpart) and begun.incomplete:
        found.pop()
        pending = octets[begun.offset :]
        if mode.absorbs is not None and (mode.swallows or mode.absorbs_broken):  # after leads of RFC 3629
            owes = mode.absorbs(begun, pending[0])
    fold = Fold(ERROR_MODES["skip"] if mode.stands_for is None else mode)
    for each in found:
        fold.put_out(each, octets)
    between = 0
    if found and isinstance(found[-1], WellFormed):
        last = found[-1]
        between = automaton.run(octets[last.offset : last.offset + last.length], 0)
    strict = mode.stands_for is None
    refused = strict and (flawed or any(isinstance(each, MaximalSubpart) for each in found))
    if refused:
        return "refused"
    exact = pending if any(each.startswith(pending) for each in _REMEMBERED) else b""
    waits = bool(found) and isinstance(found[-1], WellFormed) and found[-1].scalar in LEAD_SURROGATES
    return (
        between,
        fold.owed,
        owes,
        tuple(automaton.walk(pending, between)),
        exact,
        spoken.rule.drops_signature
        and (not found, any(isinstance(each, WellFormed) and each.silent for each in found)),
        strict and any(each.length == _PAIR for each in found),
        spoken.rule.joins_pairs
        and (waits, tuple(dialect("cesu-8").automaton.walk(pending))),  # which knows the halves of pairs
    )
