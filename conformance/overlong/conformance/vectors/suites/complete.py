"""Complete suites: no wrong decoder of as few states passes them, nor a wrong error mode, nor a wrong stream decoder.

The suites for error modes are about a decoder's treatment of ill-formed octets: the place of a refusal, and the output.
They are derived from the machines of the reference (:mod:`overlong.reference.machine`). A decoder with at most as many
states answers all of a suite correctly, prefixes included, if and only if it answers every input correctly. The suite
includes the prefixes, because two states may differ in the middle of a word although their whole outputs are equal.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import POSITION, REPLACEMENT, VERDICT
from overlong.conformance.protocol.observation import STREAMING as CLAIM
from overlong.conformance.protocol.wire import DECODE, REPLACE, STREAMING, VALIDATE
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.pieces import identifiers, strings_for
from overlong.conformance.vectors.suites.streams import unfinished
from overlong.conformance.vectors.suites.suite import BATCH, Suite, batched, whole_inputs
from overlong.reference.automaton import OCTETS, access_words, characterising_set, in_shortlex, wp_suite
from overlong.reference.machine import output_machine, place_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton
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
)

# The complete suite in chunks: it tests every octet, every boundary between chunks, and octets after a boundary.
#
# The model of a stream decoder is a deterministic automaton over 257 letters: the 256 octets, and a boundary between
# chunks, which in a correct decoder leads from each state to itself. Let u be the access words of the correct
# automaton's states, W its characterising set, and I the words of W that identify a state. The suite holds (| is a
# boundary, a any octet)
#
# - u w, u | w and u || w for each w of W;
# - u a w and u | a w for each w of I(ua); and beyond what the proof needs
# - u a | w, u | a | w, and the whole octet by octet, for the same;
# - for each further place in a character, of each form of the grammar (the octets v: F1 80, say, after which the
#   correct automaton is in the state of E1): v | a w for each w of I(va); and with a from each class of octets, a
#   boundary inside v instead, or after a too.
#
# What it proves: a decoder that passes, and is always in a state to which some u or u | leads, accepts exactly the
# well-formed streams, however they are cut. The suite tests each of these states with all of W, so the state
# corresponds to one state of the correct automaton. It tests each of the state's transitions, boundaries included, with
# the words that identify the next state. So both automata stay in step for ever. These decoders include every automaton
# of at most 9 states over the 257 letters, and every one with a second set of 9 states after a boundary.
#
# The assumption is a strong one. The suite proves nothing about decoders that distinguish more states than the correct
# automaton (the vectors with v test the likeliest of these), that count chunks or look at their lengths, or that
# remember more than one character; and nothing about the text that a decoder puts out. The suite "chunking" samples
# those.

Cut = tuple[bytes, tuple[int, ...]]
"""Octets, and the lengths of their chunks."""


@cache
def cut_strings(spoken: Dialect) -> tuple[Cut, ...]:
    """The suite, each vector once; vectors with the same octets mostly come one after another."""
    words = access_words(spoken.automaton)
    return tuple(dict.fromkeys((*_of_states(spoken.automaton), *_inside_characters(spoken, frozenset(words)))))


def _of_states(automaton: Automaton) -> Iterator[Cut]:
    words = characterising_set(automaton)
    for test in wp_suite(automaton, words, identifiers(automaton, words)):
        string, before = b"".join(test), len(test.reach)
        after = before + len(test.octet)
        if test.octet:
            yield from _at(string, (), (before,), (after,), (before, after), range(1, len(string)))
        else:
            yield from _at(string, (), (before,), (before, before))


def _inside_characters(spoken: Dialect, known: frozenset[bytes]) -> Iterator[Cut]:
    automaton = spoken.automaton
    identify = identifiers(automaton, characterising_set(automaton))
    examples = {octets.octets[0] for octets in automaton.classes}
    for reach in unfinished(spoken):
        if reach in known:
            continue
        state, before = automaton.run(reach), len(reach)
        for octet in OCTETS:
            for word in identify[automaton.table[state][octet]]:
                string = reach + bytes([octet]) + word
                yield from _at(string, (before,))
                if octet in examples:
                    yield from _at(string, *((place,) for place in range(1, before)), (before, before + 1))


def _at(octets: bytes, *cuts: tuple[int, ...] | range) -> Iterator[Cut]:
    """The octets, once for each of ``cuts``, with boundaries at its places."""
    for places in cuts:
        lengths, start = list[int](), 0
        for place in places:
            lengths.append(place - start)
            start = place
        yield octets, (*lengths, len(octets) - start)


def _batches(profile: Profile) -> Iterator[Batch]:
    for some in batched(cut_strings(profile.dialect), BATCH):
        yield Batch.of_strings("complete", *zip(*some, strict=True))


CHUNK_EDGES = Suite(
    "complete-0-in-chunks",
    "no decoder of up to {states} states, or twice as many around a boundary, that is wrong on streams passes this",
    _batches,
    asks=STREAMING,
    proves=CLAIM,
)
