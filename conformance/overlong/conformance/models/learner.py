"""Learn a machine from questions (Angluin 1987; Rivest and Schapire 1993; for Mealy machines, Shahbaz and Groz 2009).

The learner keeps access words, each leading to a state of its own, and suffixes that distinguish these states. It asks
all octets after every access word, and assumes nothing about octets being alike. When every octet leads to a known
state, it has a hypothesis. It tests that with the W-method: the hypothesis' own complete suite with room for more
states, the suites of the reference, and the core vectors. Each wrong answer gives a suffix, and a new state.

If the decoder is a machine of no more states, the learned machine equals it. That is the W-method's theorem at depth 0,
where the learner asks every octet in every state. The deeper suites take two octets of each class. So they rest on one
more assumption: octets that are alike in the machine are alike in the decoder.

The learner asks a :class:`MembershipOracle`: a target's answers to strings, each asked once, many at a time.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import accumulate, chain, product
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import marks_in
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.protocol.observation import Accepted, Refused, describe
from overlong.conformance.protocol.wire import STREAMING, VALIDATE, read_numbers
from overlong.conformance.support.printable import thousands
from overlong.conformance.vectors.batch import Batch
from overlong.reference.automaton import OCTETS
from overlong.reference.machine import Transducer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.oracle.target import Answered, Target
    from overlong.conformance.protocol.observation import Observation


_AT_ONCE = 8192


class Unlearnable(Exception):
    """The target has no machine that can be learned; the message says why."""


class MembershipOracle:
    """One operation of a target. Streams are sent octet by octet, and then ended."""

    def __init__(self, target: Target, operation: str, budget: int) -> None:
        """``budget``: the most strings to ask."""
        self._target, self.operation, self._budget = target, operation, budget
        self._answers: dict[bytes, Observation] = {}
        self._marks: dict[bytes, tuple[int, ...]] = {}

    @property
    def asked(self) -> int:
        """The number of strings asked so far."""
        return len(self._answers)

    def ask(self, strings: Iterable[bytes]) -> None:
        """Fetch the answers to ``strings``, and to all their prefixes.

        Raises:
            Unlearnable: the budget is spent, or an answer is no verdict.
            BudgetSpent: the target fails too often.
        """
        known, wanted = self._answers, dict[bytes, None]()
        for string in strings:
            end = len(string)
            while end >= 0 and (prefix := string[:end]) not in known and prefix not in wanted:
                wanted[prefix] = None
                end -= 1
        if self.asked + len(wanted) > self._budget:
            raise Unlearnable(
                f"not settled after {thousands(self.asked)} questions; allow more with --limit questions=N, "
                "or its answers depend on more than a machine of this size remembers"
            )
        asked = sorted(wanted)
        batches = [(self._batch(asked[at : at + _AT_ONCE]), self.operation) for at in range(0, len(asked), _AT_ONCE)]
        problems = [why for answered in self._target.observe(batches) if (why := self._keep(answered))]
        if problems:  # raised only after all answers have come, so that none is under way
            raise Unlearnable(problems[0])

    def knows(self, string: bytes) -> bool:
        """True if the answers to ``string``, and to it without its last octet, are known."""
        return string in self._answers and string[:-1] in self._answers

    def __getitem__(self, string: bytes) -> Observation:
        return self._answers[string]

    def marks(self, string: bytes) -> tuple[int, ...]:
        """The marks of the stream: one for each octet and the end; the chunk of the refusal; or none."""
        return self._marks[string]

    def items(self) -> Iterator[tuple[bytes, Observation]]:
        """All strings so far, with their answers."""
        return iter(self._answers.items())

    def _batch(self, strings: Sequence[bytes]) -> Batch:
        chunks = None
        if self.operation in STREAMING:
            chunks = tuple((1,) * len(string) + (0,) for string in strings)
        return Batch("input", array("I", map(len, strings)), b"".join(strings), chunks)

    def _keep(self, answered: Answered) -> str:
        """Keep answers; return the reason if that is impossible, otherwise nothing."""
        batch = answered.batch
        if answered.faults or answered.unstable is not None:
            place, fault = next(iter(answered.faults.items()), (0, answered.unstable))
            assert fault is not None
            return f"it fails on {_shown(batch[place].octets)}: {describe(fault)}"
        units = self._target.greeting.units_of(self.operation)
        observations = answered.answers.observations(units, verdict_only=self.operation == VALIDATE)
        strings = [
            batch.octets[end - size : end] for end, size in zip(accumulate(batch.lengths), batch.lengths, strict=True)
        ]
        for string, observed in zip(strings, observations, strict=True):
            if not isinstance(observed, Accepted | Refused):
                return f"it gives no verdict on {_shown(string)}: {observed_in_words(observed)}"
            self._answers[string] = observed
        if answered.answers.marks:
            self._keep_marks(strings, answered)
        return ""

    def _keep_marks(self, strings: Sequence[bytes], answered: Answered) -> None:
        answers, counts = answered.answers, [len(string) + 1 for string in strings]
        marked = self._target.greeting.marks_refusals
        for string, marks in zip(
            strings, marks_in(answers.statuses, answers.marks, counts, marked=marked), strict=True
        ):
            self._marks[string] = tuple(read_numbers(marks))


Change = Callable[[MembershipOracle, bytes], Hashable]
"""The effect of the last octet of a string, from the answers to the string with and without it."""

_STATES = 80
"""The most states, more than any known decoder has: rfc2279 with an error mode has under 60."""


class Learner:
    """Learns one aspect of one operation."""

    def __init__(self, oracle: MembershipOracle, change: Change, suffixes: Iterable[bytes]) -> None:
        """``suffixes``: a first guess of words that distinguish states."""
        self._oracle, self._change = oracle, change
        self._access: list[bytes] = [b""]
        self._suffixes = list(dict.fromkeys(suffixes))
        self._cache: dict[bytes, Hashable] = {}
        self._signatures: dict[bytes, tuple[Hashable, ...]] = {}
        """The answers after each word, for as many of the suffixes as have been asked there."""

    def learn(self, trials: Iterable[Sequence[bytes]], depth: int, enough: int) -> tuple[Transducer, int]:
        """Learn the machine that answers as the target does.

        Args:
            trials: strings that test a hypothesis, besides its own suite.
            depth: the depth of the deepest suite that tests a hypothesis.
            enough: the most strings of a suite of depth 1 or more; larger ones are not tried.

        Returns:
            the machine; and the depth of its deepest suite, in which two octets of each class stand for all.

        Raises:
            Unlearnable: the target has too many states, or its answers change.
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
                return machine, reached
            self._suffixes.append(self._suffix(table, wrong))

    def _along(self, octets: bytes, start: int) -> tuple[Hashable, ...]:
        """The effect of each octet from ``start`` on."""
        result: list[Hashable] = []
        for end in range(start + 1, len(octets) + 1):
            string = octets[:end]
            if string not in self._cache:
                self._cache[string] = self._change(self._oracle, string)
            result.append(self._cache[string])
        return tuple(result)

    def _signature(self, word: bytes) -> tuple[Hashable, ...]:
        """The answers that distinguish the state after ``word`` from others."""
        fresh = tuple(self._along(word + suffix, len(word)) for suffix in self._unasked(word))
        known = self._signatures[word] = self._signatures.get(word, ()) + fresh
        return known

    def _unasked(self, word: bytes) -> Sequence[bytes]:
        """The suffixes that have not been asked after ``word``."""
        return self._suffixes[len(self._signatures.get(word, ())) :]

    def _hypothesis(self) -> Transducer:
        """Close the table, and read it as a machine whose states are the access words."""
        while True:
            asked = [reach + bytes([octet]) for reach in self._access for octet in OCTETS]
            self._oracle.ask(
                word + suffix for word in (*self._access, *asked) for suffix in (b"", *self._unasked(word))
            )
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
        """The first of ``strings`` on which the machine is wrong, up to the octet with the wrong answer."""
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
        """A suffix that distinguishes two states which the machine treats as one (Rivest and Schapire)."""
        last = self._along(wrong, len(wrong) - 1)
        for at in range(1, len(wrong)):
            word = self._access[machine.run(wrong[:at])] + wrong[at:]
            self._oracle.ask([word])
            if self._along(word, len(word) - 1) != last:
                suffix = wrong[at:]
                if suffix in self._suffixes:
                    break
                return suffix
        raise Unlearnable(f"its answers to {wrong.hex(' ').upper()} are not those of any machine: test it twice")


def deep_suite(machine: Transducer, depth: int) -> list[bytes]:
    """The suite: access words, up to ``depth`` + 1 octets of every class, and words that identify the state.

    Octets of a class are alike in the machine; at depth 0 the suite has all 256 octets.
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


def _shown(octets: bytes) -> str:
    return octets.hex(" ").upper() or "nothing"
