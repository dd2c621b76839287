"""The strings of the complete suite, derived from the automaton: they catch every wrong automaton of the same size.

For depth ``d``, a decoder whose verdict is computed by some deterministic automaton of at most ``n + d``
states (n = 9 for RFC 3629, the dead state included) answers all of it correctly if and only if it accepts
exactly the well-formed strings.

The construction is the Wp-method (:func:`overlong.reference.automaton.wp_suite`). One more observation makes it
smaller. If an octet leads to the dead state, any of the suite's accepted suffixes may show that the state is dead.
A suffix that begins with an octet ``y`` also shows the transition of ``y`` in the dead state, since all those octets
lead to the same state. Then that transition needs no string of its own. ``docs/theory.md`` has the proof.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.vectors.profile import RFC3629
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

if TYPE_CHECKING:
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton


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
