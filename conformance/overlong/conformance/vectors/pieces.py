"""Strings derived from the automata: pieces of text, right, wrong and truncated; dice; and the complete suite."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from overlong.conformance.vectors.vector import RFC3629
from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import (
    OCTETS,
    WpString,
    access_words,
    characterising_set,
    identifying_words,
    in_shortlex,
    witness,
    wp_suite,
)
from overlong.reference.error_mode import REPLACEMENT_CHARACTER
from overlong.reference.order import SIGNATURE, well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton


# Pieces are put together to strings: characters of every dialect, right, wrong and truncated. Dice draw characters,
# texts and pieces from the grammar, by a seed.

T = TypeVar("T")
LEAST, GREATEST = 0, -1
"""The ends of a range of octets."""
OWN_MEANING = tuple(bytes([octet]) for octet in b"\0\t\n\r \"'/<\\")
"""ASCII characters that end strings or lines, or have a meaning in the syntax of many formats."""
_FREE = 2
"""The octets of a character that take each end of their range independently; the later ones all take the same end."""


@cache
def fillers(automaton: Automaton) -> tuple[bytes, ...]:
    """One character of each possible length, from the middle of its range."""
    found: dict[int, bytes] = {}
    for ranges in well_formed_products(automaton):
        found.setdefault(len(ranges), bytes(octets[len(octets) // 2] for octets in ranges))
    return tuple(found[length] for length in sorted(found))


@cache
def every_class() -> tuple[tuple[int, ...], ...]:
    """The octets by classes: every dialect treats those of one class alike. 24 classes."""
    return tuple(_grouped([row for name in DIALECTS for row in dialect(name).automaton.table]).values())


def ends(classes: Iterable[Sequence[int]]) -> tuple[bytes, ...]:
    """The least and the greatest octet of each class."""
    return tuple(dict.fromkeys(bytes([octets[end]]) for octets in classes for end in (LEAST, GREATEST)))


def _grouped(rows: Sequence[Sequence[int]]) -> dict[tuple[int, ...], tuple[int, ...]]:
    """The octets grouped by their transitions in some rows of tables."""
    found: dict[tuple[int, ...], list[int]] = {}
    for octet, to in enumerate(zip(*rows, strict=True)):
        found.setdefault(to, []).append(octet)
    return {to: tuple(octets) for to, octets in found.items()}


@dataclass(frozen=True)
class Pieces:
    """Strings that represent everything that decoders take for a character or for the beginning of one."""

    characters: tuple[bytes, ...]
    """Well-formed: the first and the last of each kind, the signature, and U+FFFD."""
    wrong: tuple[bytes, ...]
    """The first and the last of each kind that only other dialects have: overlong, surrogates, above U+10FFFF, of five
    and six octets; characters with an octet that is no tail; and octets that begin no character."""
    cut: tuple[bytes, ...]
    """All of these, truncated."""
    kinds: tuple[bytes, ...]
    """One of each kind of error: characters of the same dialects, and one of each length, truncated anywhere."""

    @property
    def ill_formed(self) -> tuple[bytes, ...]:
        """All ill-formed pieces."""
        return (*self.wrong, *self.cut)


@cache
def pieces(automaton: Automaton) -> Pieces:
    """The pieces for a dialect, from the product of the automata of all.

    Octet 00 is omitted: it has a special meaning to many decoders.
    """
    forms = [form for form in _forms() if form != b"\0"]
    begun = {form[:1] for form in forms}
    forms += [octet for octet in ends(every_class()) if octet != b"\0" and octet not in begun]
    of_note = [chr(number).encode() for number in (SIGNATURE, REPLACEMENT_CHARACTER)]
    own = [bytes(r[end] for r in ranges) for ranges in well_formed_products(automaton) for end in (LEAST, GREATEST)]
    characters = [form for form in dict.fromkeys((*forms, *own, *of_note)) if automaton.accepts(form) and form[0]]
    wrong = [form for form in dict.fromkeys((*forms, *_broken(automaton))) if not automaton.accepts(form)]
    cut = dict.fromkeys(form[:end] for form in forms for end in range(1, len(form)) if form[:end] not in forms)
    kinds: dict[tuple[object, ...], bytes] = {}
    for form in wrong:
        kinds.setdefault((len(form), *(dialect(name).automaton.accepts(form) for name in DIALECTS)), form)
    for form in characters:
        for end in range(1, len(form)):
            kinds.setdefault((len(form), end), form[:end])
    return Pieces(tuple(characters), tuple(wrong), tuple(cut), tuple(kinds.values()))


def _broken(automaton: Automaton) -> Iterator[bytes]:
    """Characters of each form with one octet that is no tail at each tail's place: the nearest ones and the last."""
    for ranges in well_formed_products(automaton):
        form = bytes(octets[LEAST] for octets in ranges)
        for place in range(1, len(form)):
            for octet in (ranges[place][LEAST] - 1, ranges[place][GREATEST] + 1, 0x7F, 0xC0, 0xFF):
                broken = form[:place] + bytes([octet]) + form[place + 1 :]
                if not automaton.accepts(broken):
                    yield broken


def _forms() -> Iterator[bytes]:
    """A first and a last of each kind of character in some dialect, by octets that the dialects distinguish."""
    automata = [dialect(name).automaton for name in DIALECTS]
    dead = tuple(automaton.dead for automaton in automata)

    def beyond(states: tuple[int, ...], form: bytes, last: int) -> Iterator[bytes]:
        rows = [automaton.table[state] for automaton, state in zip(automata, states, strict=True)]
        for to, octets in _grouped(rows).items():
            if to == dead:
                continue
            for end in (LEAST, GREATEST) if len(form) < _FREE else (last,):
                longer = form + bytes([octets[end]])
                if any(each.accepting[state] for each, state in zip(automata, to, strict=True)):
                    yield longer
                else:
                    yield from beyond(to, longer, end)

    return iter(dict.fromkeys(beyond((0,) * len(automata), b"", LEAST)))


def of_every_lead(automaton: Automaton) -> tuple[bytes, ...]:
    """The first and the last character of every lead."""
    found: dict[bytes, None] = {}
    for leads, *rest in well_formed_products(automaton):
        for lead in leads if rest else (leads[1], leads[-1]):  # two of ASCII suffice; octet 00 is special to some
            for end in (0, -1):
                found.setdefault(bytes([lead, *(octets[end] for octets in rest)]))
    return tuple(found)


_LONG = 0.06
"""The share of texts that are longer than a few blocks."""


class Dice:
    """Draws by a seed: ``random.Random.random`` yields the same numbers in every version of Python."""

    def __init__(self, seed: int, automaton: Automaton) -> None:
        self.share = random.Random(seed).random  # noqa: S311 (no secret)
        self._products = tuple(well_formed_products(automaton))
        self._wrong = pieces(automaton).ill_formed

    def below(self, end: int) -> int:
        """A number from 0 to before ``end``."""
        return int(self.share() * end)

    def one_of(self, choices: Sequence[T]) -> T:
        """One of them."""
        return choices[self.below(len(choices))]

    def character(self) -> bytes:
        """A well-formed character: first its kind, so that all are equally frequent, then its octets."""
        return bytes(self.one_of(octets) for octets in self.one_of(self._products))

    def text(self) -> bytes:
        """Well-formed text, of one kind of characters or of many."""
        length = self.below(2000 if self.share() < _LONG else self.one_of((4, 20, 80)))
        kinds = self.one_of(((self.character(),), (b"a", self.character()), ()))
        found = bytearray()
        while len(found) < length:
            found += self.one_of(kinds) if kinds else self.character()
        return bytes(found)

    def piece(self) -> bytes:
        """A piece that may be ill-formed: an error of some kind, a character with a lost or changed octet, or any."""
        kind = self.below(4)
        if kind == 0:
            return self.one_of(self._wrong)
        if kind == 1:
            return bytes(self.below(256) for _ in range(1 + self.below(4)))
        octets = bytearray(self.character())
        place = self.below(len(octets))
        if kind == 2:
            del octets[place]
        else:
            octets[place] = self.below(256)
        return bytes(octets)


# The strings of the complete suite: they catch every wrong automaton of the same size.
#
# For depth d, a decoder whose verdict is computed by some deterministic automaton of at most n + d states (n = 9 for
# RFC 3629, the dead state included) answers all of it correctly if and only if it accepts exactly the well-formed
# strings.
#
# The construction is the Wp-method (wp_suite of reference.automaton). One more observation makes it smaller. If
# an octet leads to the dead state, any of the suite's accepted suffixes may show that the state is dead. A suffix that
# begins with an octet y also shows the transition of y in the dead state, since all those octets lead to the same
# state. Then that transition needs no string of its own. docs/theory.md has the proof.


def identifiers(automaton: Automaton, words: tuple[bytes, ...]) -> list[tuple[bytes, ...]]:
    """For each state, words of the characterising set that set it apart from all others, by a greedy search."""
    return identifying_words(len(automaton), words, automaton.accepts)


@cache
def complete_strings(automaton: Automaton) -> tuple[bytes, ...]:
    """The complete suite of depth 0, shortlex order.

    Raises:
        ValueError: the automaton is not minimal.
    """
    access = access_words(automaton)
    words = characterising_set(automaton)
    dead = automaton.dead
    to_dead: dict[bytes, None] = {}
    of_dead: list[WpString] = []
    strings: set[bytes] = set()
    for test in wp_suite(automaton, words, identifiers(automaton, words)):
        if not test.octet or dead is None or automaton.run(step := test.reach + test.octet) != dead:
            strings.add(b"".join(test))
        elif test.reach == access[dead]:
            of_dead.append(test)
        elif step != access[dead]:  # the suite has that with the whole characterising set already
            to_dead[step] = None
    if dead is None:
        return tuple(in_shortlex(strings))
    shown = _show_dead(automaton, list(to_dead), access, words, strings)
    strings.update(b"".join(test) for test in of_dead if test.octet + test.word not in shown)
    return tuple(in_shortlex(strings))


def _show_dead(
    automaton: Automaton, steps: list[bytes], access: tuple[bytes, ...], words: tuple[bytes, ...], strings: set[bytes]
) -> set[bytes]:
    """Add, for each of ``steps``, suffixes that each live state's access word accepts; return the suffixes used.

    Any accepted suffix serves for a state: the least one, or an octet before a word of the characterising set, which
    also tests a transition of the dead state.
    """
    live = [state for state in range(len(automaton)) if state != automaton.dead]
    suffixes: dict[frozenset[int], list[bytes]] = defaultdict(list)
    for suffix in in_shortlex({*words, *(bytes([octet]) + word for octet in OCTETS for word in words)}):
        accepting = (u for u in live if access[u] + suffix in strings and automaton.accepts(suffix, u))
        suffixes[frozenset(accepting)].append(suffix)
    used: set[bytes] = set()
    for states in _cover(set(live), list(suffixes)):
        pool = suffixes[states]
        # each suffix once, on the last steps, so that the first octets keep the simplest strings: C0 80, not C0 BF
        for place, step in enumerate(reversed(steps)):
            suffix = pool[place] if place < len(pool) else pool[0]
            strings.add(step + suffix)
            used.add(suffix)
    return used


def _cover(states: set[int], sets: list[frozenset[int]]) -> list[frozenset[int]]:
    """A small choice of ``sets`` whose union is ``states``, by a greedy search; in a tie the first set wins."""
    chosen: list[frozenset[int]] = []
    while states:
        best = max(sets, key=lambda each: len(each & states))
        chosen.append(best)
        states = states - best
    return chosen


@cache
def strings_for(spoken: Dialect) -> tuple[bytes, ...]:
    """The complete suite, and strings that exclude every other dialect: one with more states may pass the suite alone.

    For ``rfc3629`` no string needs to be added, so no other dialect is compiled.
    """
    automaton = spoken.automaton
    strings = complete_strings(automaton)
    if spoken.name == RFC3629.speaks:
        return strings
    witnesses: list[bytes] = []
    for name in DIALECTS:
        other = dialect(name).automaton
        if all(automaton.accepts(string) == other.accepts(string) for string in (*strings, *witnesses)):
            least = witness(automaton, other)
            witnesses.extend([] if least is None else [least])  # utf-8-sig has the language of rfc3629
    return tuple(in_shortlex({*strings, *witnesses}))
