"""Learn a machine from questions (Angluin 1987; Rivest and Schapire 1993; for Mealy machines, Shahbaz and Groz 2009).

The learner keeps access words, each leading to a state of its own, and suffixes that tell these states apart. All
octets are asked after every access word: nothing is assumed about which of them are alike. When every octet leads
to a known state there is a hypothesis, and it is tested with the W-method: its own complete suite with room for
more states, the suites of the reference, and the core vectors. One wrong answer gives a suffix, and a new state.

The machine learned is that of the decoder if the decoder is a machine of no more states: that is the W-method's
theorem at depth 0, for which every octet was asked in every state. The deeper suites take two octets of each class,
and so rest on one more assumption, that octets which are alike in the machine are alike in the decoder.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, product
from typing import TYPE_CHECKING

from overlong.conformance.models.identify.membership_oracle import MembershipOracle, Unlearnable
from overlong.reference.automaton import OCTETS
from overlong.reference.transducer import Transducer

if TYPE_CHECKING:
    from collections.abc import Sequence

Change = Callable[[MembershipOracle, bytes], Hashable]
"""What the last octet of a string did, read off the answers to the string and to what is before its last octet."""

_STATES = 80
"""More than any decoder known: rfc2279 with an error mode has under 60."""


@dataclass(frozen=True)
class Learned:
    """A machine, and how it was tried.

    ``depth``: of its deepest suite, two octets of each class standing for all.
    """

    machine: Transducer
    depth: int
    questions: int


class Learner:
    """Learns one aspect of one operation."""

    def __init__(self, oracle: MembershipOracle, change: Change, suffixes: Iterable[bytes]) -> None:
        """``suffixes``: a first guess of words that tell states apart."""
        self._oracle, self._change = oracle, change
        self._access: list[bytes] = [b""]
        self._suffixes = list(dict.fromkeys(suffixes))
        self._cache: dict[bytes, Hashable] = {}

    def learn(self, trials: Iterable[Sequence[bytes]], depth: int, enough: int) -> Learned:
        """The machine that answers as the target does.

        Args:
            trials: strings to try a hypothesis on, beside its own suite.
            depth: of the deepest suite that a hypothesis is tried with.
            enough: strings of the hypothesis' own suite at which no deeper one is tried.

        Raises:
            Unlearnable: it has too many states, or answers change.
        """
        while True:
            table = self._hypothesis()
            reached = 0
            own = (reach + suffix for reach in self._access for suffix in self._suffixes)
            wrong = self._refuted(table, chain(own, chain.from_iterable(trials)))
            machine = table if wrong is not None else table.minimal()
            for more in range(depth + 1):
                if wrong is not None:
                    break
                suite = deep_suite(machine, more)
                if more and len(suite) > enough:
                    break
                wrong, reached = self._refuted(machine, suite), more
            if wrong is None:
                return Learned(machine, reached, self._oracle.asked)
            self._suffixes.append(self._suffix(table, wrong))

    def _along(self, octets: bytes, start: int) -> tuple[Hashable, ...]:
        """What each octet from ``start`` on did."""
        result: list[Hashable] = []
        for end in range(start + 1, len(octets) + 1):
            string = octets[:end]
            if string not in self._cache:
                self._cache[string] = self._change(self._oracle, string)
            result.append(self._cache[string])
        return tuple(result)

    def _signature(self, word: bytes) -> tuple[Hashable, ...]:
        """What tells the state after ``word`` from others."""
        return tuple(self._along(word + suffix, len(word)) for suffix in self._suffixes)

    def _hypothesis(self) -> Transducer:
        """The table closed, and read as a machine: its states are the access words."""
        while True:
            asked = [reach + bytes([octet]) for reach in self._access for octet in OCTETS]
            self._oracle.ask(word + suffix for word in (*self._access, *asked) for suffix in (b"", *self._suffixes))
            states = {self._signature(reach): number for number, reach in reversed(list(enumerate(self._access)))}
            fresh = dict[Hashable, bytes]()
            for word in sorted(asked, key=lambda word: (len(word), word)):
                signature = self._signature(word)
                if signature not in states:
                    fresh.setdefault(signature, word)
            if not fresh:
                break
            self._access.extend(fresh.values())
            if len(self._access) > _STATES:
                raise Unlearnable(f"it is no machine of up to {_STATES} states: its answers depend on more than that")
        table = tuple(
            tuple(states[self._signature(reach + bytes([octet]))] for octet in OCTETS) for reach in self._access
        )
        changes = tuple(
            tuple(self._along(reach + bytes([octet]), len(reach))[0] for octet in OCTETS) for reach in self._access
        )
        return Transducer(table, changes)

    def _refuted(self, machine: Transducer, strings: Iterable[bytes]) -> bytes | None:
        """The first of ``strings`` on which the machine is wrong, up to the octet where it is."""
        for some in _portions(strings):
            self._oracle.ask(some)
            for string in some:
                said, foretold = self._along(string, 0), machine.along(string)
                if said != foretold:
                    return string[
                        : 1 + next(at for at, pair in enumerate(zip(said, foretold, strict=True)) if pair[0] != pair[1])
                    ]
        return None

    def _suffix(self, machine: Transducer, wrong: bytes) -> bytes:
        """A suffix that tells two states apart which the machine takes for one (Rivest and Schapire)."""
        last = self._along(wrong, len(wrong) - 1)
        for at in range(1, len(wrong)):
            word = self._access[machine.run(wrong[:at])] + wrong[at:]
            self._oracle.ask([word])
            if self._along(word, len(word) - 1) != last:
                suffix = wrong[at:]
                if suffix in self._suffixes:
                    break
                return suffix
        raise Unlearnable(f"its answers to {wrong.hex(' ').upper()} are not those of any machine: ask it twice")


def deep_suite(machine: Transducer, depth: int) -> list[bytes]:
    """Access words, up to ``depth`` + 1 octets of every class, and words that identify the state.

    Octets of a class are alike in the machine; at depth 0 all 256 of them stand.
    """
    if depth == 0:
        return list(machine.complete_strings())
    few = [bytes([octets.least]) for octets in machine.classes]
    few += [bytes([octets.octets[-1]]) for octets in machine.classes if len(octets.octets) > 1]
    return [
        step + word
        for state, reach in enumerate(machine.access_words)
        for middle in map(b"".join, product(few, repeat=depth + 1))
        for step in [reach + middle]
        for word in machine.identifiers[machine.run(middle, state)]
    ]


def _portions(strings: Iterable[bytes], size: int = 8192) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    for string in strings:
        some.append(string)
        if len(some) == size:
            yield some
            some = []
    if some:
        yield some
