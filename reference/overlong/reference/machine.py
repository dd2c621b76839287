"""Decoders as machines that answer every octet. Testing theory needs them where a verdict is not enough.

Theory of operation. A decoder is a function from octets to an answer: a verdict, a refusal with its place, or
scalar values. Reading one more octet changes its answer. The change is described relative to the end of the
input, so that it does not grow with what was read before: "drops one, puts out U+FFFD twice". Outputs grow without
bound, and machines are finite. So a number put out is described by its source: "the number of the last three octets",
"U+FFFD", "the last octet but one plus DC00". A place is described by its distance. Both are counted from the end of the
input.

A decoder is thereby a Mealy machine over octets whose outputs are changes, and two decoders give the same answers to
everything if and only if their machines are equivalent: the changes along a word multiply up to the answer (in the
free group over scalar values), and the answer to nothing is nothing.

So the W-method (Vasilevskii 1973, Chow 1978) gives complete suites for them as it does for acceptors: access
words, each followed by nothing or by any octet, followed by words that tell the state reached from all others.

The reference is given as machines: one for each dialect's verdict, places and error modes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from overlong.reference.automaton import (
    OCTETS,
    Automaton,
    OctetClass,
    access_words,
    identifying_words,
    in_shortlex,
    merged,
    words_apart,
    wp_suite,
)
from overlong.reference.decoder import Decoded, Outcome, Rejected, decode_scalars, encode_scalars, outcome, taken
from overlong.reference.dialect import dialect
from overlong.reference.error_mode import ERROR_MODES, ESCAPES, REPLACEMENT_CHARACTER, Fold, MaximalSubpart, WellFormed
from overlong.reference.layout import load_layout
from overlong.reference.order import LEAD_SURROGATES, SIGNATURE, TRAIL_SURROGATES, from_utf16, joined

if TYPE_CHECKING:
    from overlong.reference.dialect import Dialect
    from overlong.reference.error_mode import ErrorMode


_FAR = 6
"""The number of octets within which the source of an output is sought: the length of the longest sequence."""


FIRST_ABOVE_ASCII = 0x80


class Traced(NamedTuple):
    """A number put out: its source, and how many octets back the source begins. ``back`` is 0 for a constant."""

    made_by: str
    back: int
    number: int = 0


class OutputChange(NamedTuple):
    """The answer loses its last ``dropped`` numbers, then gains others."""

    dropped: int
    added: tuple[Traced, ...]


class Place(NamedTuple):
    """The place of the refusal that a decoder reports; None for each part that it does not report.

    In a change, ``offset`` counts back from the end of the input.
    """

    offset: int
    length: int | None
    incomplete: bool | None


ACCEPTED, REFUSED, REFUSED_AT_THE_END, THE_SAME = "accepted", "refused", "refused at the end", "the same place"
PAIRS_JOINED, SIGNATURE_DROPPED, OTHER_VALUES = (
    "accepted, pairs of surrogates joined",
    "accepted, signature dropped",
    "accepted, other values",
)


def traced(number: int, octets: bytes) -> Traced:
    """The source of a number that was put out when ``octets`` had been read.

    If several sources are possible, the first of: the constant U+FFFD; the last octet, as an error mode maps it; a
    sequence at the end; an octet before the last. So U+0080 to U+00BF are always traced to their last octet.
    """
    if number == REPLACEMENT_CHARACTER:
        return Traced("constant", 0, number)
    backs = range(1, min(_FAR, len(octets)) + 1)
    return (
        _of_octet(number, octets, 1)
        or next((found for back in backs if (found := _of_sequence(number, octets, back))), None)
        or next((found for back in backs if (found := _of_octet(number, octets, back))), None)
        or (Traced("pair", _FAR) if joined_from(octets[-_FAR:]) == number else Traced("constant", 0, number))
    )


def _of_octet(number: int, octets: bytes, back: int) -> Traced | None:
    octet = octets[-back:][:1]
    if octet and octet[0] >= FIRST_ABOVE_ASCII:
        for name in ("iso-8859-1", "utf-8b", "windows-1252"):
            stands_for = ERROR_MODES[name].stands_for
            assert stands_for is not None
            if stands_for(octet) == (number,):
                return Traced(name, back)
    return None


def _of_sequence(number: int, octets: bytes, back: int) -> Traced | None:
    tail = octets[-back:]
    row = load_layout("rfc2279").announced(tail[0])
    if row is not None and len(row.templates) == back and row.fits(tail) and row.number(tail) == number:
        return Traced("octets", back)
    return None


def joined_from(octets: bytes) -> int | None:
    """The supplementary character of two surrogates in three octets each; None for any other octets."""
    row = load_layout("rfc2279").rows[2]
    if len(octets) != 6 or not row.fits(octets[:3]) or not row.fits(octets[3:]):
        return None
    lead, trail = row.number(octets[:3]), row.number(octets[3:])
    return joined(lead, trail) if lead in LEAD_SURROGATES and trail in TRAIL_SURROGATES else None


def output_change(octets: bytes, before: tuple[int, ...], after: tuple[int, ...]) -> OutputChange:
    """The change of the output by the last of ``octets``."""
    kept = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        kept += 1
    return OutputChange(len(before) - kept, tuple(traced(number, octets) for number in after[kept:]))


def place_change(octets: bytes, before: Place | None, after: Place | None) -> Place | str:
    """The change of the place of refusal by the last of ``octets``; a place of None means accepted."""
    if after is None:
        return ACCEPTED
    if before == after:
        return THE_SAME
    return Place(len(octets) - after.offset, after.length, after.incomplete)


def verdict(octets: bytes, after: Outcome) -> str:
    """The verdict on ``octets``: accepted or refused, and the scalar rule that applies."""
    if isinstance(after, Rejected):
        return REFUSED
    plain = _read(octets)
    if plain is not None:
        if after.scalars == plain:
            return ACCEPTED
        if after.scalars == tuple(number for _, number in from_utf16(plain)):
            return PAIRS_JOINED
        if plain[:1] == (SIGNATURE,) and after.scalars == plain[1:]:
            return SIGNATURE_DROPPED
    return OTHER_VALUES


def _read(octets: bytes) -> tuple[int, ...] | None:
    """The numbers of sequences whose lengths their lead octets announce; None if ``octets`` are no such sequences."""
    laxest = dialect("lax-rfc2279")
    return decode_scalars(octets, spoken=laxest) if laxest.automaton.accepts(octets) else None


Change = Hashable
"""The change of the answer by one octet."""


@dataclass(frozen=True, eq=False)
class Transducer:
    """A complete Mealy machine over octets; state 0 is the start.

    ``table[state][octet]`` is the next state, ``changes[state][octet]`` the change of the answer.
    """

    table: tuple[tuple[int, ...], ...]
    changes: tuple[tuple[Change, ...], ...]

    def __len__(self) -> int:
        return len(self.table)

    @classmethod
    def of(cls, automaton: Automaton) -> Transducer:
        """The machine of an acceptor: after each octet, its answer is whether it accepts the octets so far."""
        rows = tuple(tuple(automaton.accepting[to] for to in row) for row in automaton.table)
        return cls(automaton.table, rows)

    @classmethod
    def explore(
        cls,
        start: Hashable,
        step: Callable[[Hashable, int], tuple[Hashable, Change]],
        alike: Iterable[Sequence[int]],
    ) -> Transducer:
        """The minimal machine of the function ``step``, (state, octet) -> (state, change), from ``start`` on.

        Args:
            start: the state before anything is read.
            step: the effect of an octet in a state.
            alike: groups of octets that have the same effect in every state; the first stands for all.
        """
        groups = [list(group) for group in alike]
        numbers: dict[Hashable, int] = {start: 0}
        queue: list[Hashable] = [start]
        table: list[tuple[int, ...]] = []
        changes: list[tuple[Change, ...]] = []
        for state in queue:
            row: list[int] = [0] * len(OCTETS)
            answers: list[Change] = [None] * len(OCTETS)
            for group in groups:
                to, change = step(state, group[0])
                if to not in numbers:
                    numbers[to] = len(numbers)
                    queue.append(to)
                for octet in group:
                    row[octet], answers[octet] = numbers[to], change
            table.append(tuple(row))
            changes.append(tuple(answers))
        return cls(tuple(table), tuple(changes)).minimal()

    def run(self, octets: bytes, state: int = 0) -> int:
        """The state after ``octets``."""
        for octet in octets:
            state = self.table[state][octet]
        return state

    def along(self, octets: bytes, state: int = 0) -> tuple[Change, ...]:
        """The change by each of ``octets``."""
        result: list[Change] = []
        for octet in octets:
            result.append(self.changes[state][octet])
            state = self.table[state][octet]
        return tuple(result)

    @cached_property
    def classes(self) -> tuple[OctetClass, ...]:
        """The octets, grouped by their effects in all states, in the order of their least octets."""
        columns: dict[Hashable, list[int]] = {}
        for octet in OCTETS:
            pairs = zip(self.table, self.changes, strict=True)
            columns.setdefault(tuple((row[octet], answers[octet]) for row, answers in pairs), []).append(octet)
        return tuple(OctetClass(tuple(octets)) for octets in columns.values())

    def minimal(self) -> Transducer:
        """The machine with the same answers and the fewest states, numbered in breadth-first order."""
        number, order = merged(self.table, self.changes, [octets.least for octets in self.classes])
        return Transducer(
            tuple(tuple(number[to] for to in self.table[state]) for state in order),
            tuple(self.changes[state] for state in order),
        )

    @cached_property
    def access_words(self) -> tuple[bytes, ...]:
        """The shortlex-least word that leads to each state."""
        return access_words(self)

    @cached_property
    def characterising_set(self) -> tuple[bytes, ...]:
        """Words that distinguish every two states, in shortlex order.

        Raises:
            ValueError: two states are equivalent, so the machine is not minimal.
        """
        return words_apart(
            len(self),
            lambda pair: difference(self, self, pair),
            self.along,
        )

    @cached_property
    def identifiers(self) -> tuple[tuple[bytes, ...], ...]:
        """For each state, words of the characterising set that set it apart from all others, by a greedy search."""
        return tuple(identifying_words(len(self), self.characterising_set, self.along))

    def complete_strings(self) -> tuple[bytes, ...]:
        """The complete suite of depth 0, shortlex order.

        A decoder with at most ``len(self)`` states is right on every input if and only if it is right on these strings
        and their prefixes.
        """
        identify = [(b"", *words) for words in self.identifiers]
        strings = set(map(b"".join, wp_suite(self, (b"", *self.characterising_set), identify)))
        return tuple(in_shortlex(strings))


def difference(left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)) -> bytes | None:
    """The shortlex-least word at whose last octet the two answer differently; None if there is none."""
    return next((word for word, _ in differences(left, right, states)), None)


def differences(
    left: Transducer, right: Transducer, states: tuple[int, int] = (0, 0)
) -> Iterator[tuple[bytes, tuple[int, int]]]:
    """Shortlex-least words at whose last octet the two answer differently, one for each octet of each pair of states.

    Each word comes with the pair of states before that octet. Pairs that are reached only through a difference are
    left out: their differences follow from the first one.
    """
    words: dict[tuple[int, int], bytes] = {states: b""}
    queue = [states]
    for pair in queue:
        one, other = pair
        rows = zip(left.changes[one], right.changes[other], left.table[one], right.table[other], strict=True)
        for octet, (said, wanted, *to) in enumerate(rows):
            word = words[pair] + bytes([octet])
            if said != wanted:
                yield word, pair
            elif (following := (to[0], to[1])) not in words:
                words[following] = word
                queue.append(following)


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
    to another source (:func:`overlong.reference.machine.traced`) because that has the same number.
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
