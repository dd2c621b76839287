"""One target, open as long as a campaign needs it: vectors to findings, whatever the target does to itself; and the
differences between two targets that RFC 3629 allows: neither is at fault, but a user of both may be surprised.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.oracle.apart import affected, judged, limits_of
from overlong.conformance.oracle.compare import (
    compare,
    compare_batch,
    confirms,
    control_of,
    expected_of,
    place_of_fault,
)
from overlong.conformance.oracle.finding import Finding, observed_in_words
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Accepted, Code, Refused
from overlong.conformance.protocol.wire import (
    AGAIN,
    ASK,
    DECODE,
    ENCODING,
    GUARDED,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.results.run import offered
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import RFC3629, Profile, Vector
from overlong.fuzz.engines.job import Divergence, Fingerprint, named
from overlong.reference import Decoded, Rejected
from overlong.reference.automaton import shortlex

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

    from overlong.conformance.oracle.apart import DeclaredLimit
    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.generated import Generated
    from overlong.reference import Outcome

ORDER = DECODE + VALIDATE + REPLACE + STREAMING + AGAIN + GUARDED
"""Operations, those first whose findings others may repeat."""
WHOLE = DECODE + VALIDATE + STREAM_DECODE + REPLACE + STREAM_REPLACE
"""Operations that a whole input can be asked by, the best first; a stream of one chunk is one."""
OCTETS = 1 << 20
"""About how many octets make a batch."""
SAMPLE = 64
"""The first so many inputs of a block are asked in every other way, too."""
_BUDGET = 8
"""Restarts that find one culprit, and some more."""
_IN_VAIN = 3
"""Budgets spent in a row without one answer, after which a target is given up."""


class Probe:
    """Asks a target, restarts it, and goes on."""

    def __init__(self, target: str | tuple[str, ...], limits: Limits | None = None, profile: Profile = RFC3629) -> None:
        """Nothing is started before something is asked.

        Args:
            target: its name, as on the command line; or a command that speaks the protocol.
            limits: of its processes. Restarts are no limit of a campaign: they only cost time.
            profile: what it is measured by, but for what it says of itself.
        """
        self.target = target
        self.limits = limits or Limits()
        self._asked_profile = profile
        self._open: FramedTarget | None = None
        self.notes: list[str] = []
        """What else was seen of it, each safe to show."""

    @property
    def id(self) -> str:
        """The name by which a user asks for it again."""
        return named(self.target)

    @property
    def greeting(self) -> Greeting:
        """Its capabilities.

        Raises:
            TargetError: it does not start.
        """
        return self.opened().greeting

    @property
    def profile(self) -> Profile:
        """What it is measured by, with what it says of itself."""
        return self._asked_profile.as_said(self.greeting)

    @property
    def operations(self) -> str:
        """What it offers, in the order of :data:`ORDER`."""
        known = offered(ORDER, self.greeting)
        return "".join(operation for operation in ORDER if operation in known)

    @property
    def beside(self) -> str:
        """The operations beside decoding that it offers: those of an encoder, and questions."""
        return offered(ENCODING + ASK, self.greeting)

    @property
    def whole(self) -> str:
        """The operation that whole inputs are asked by; empty if it offers none."""
        return next((operation for operation in WHOLE if operation in self.operations), "")

    @property
    def takes(self) -> int:
        """Vectors in a request, for now."""
        return self.opened().takes

    def opened(self) -> FramedTarget:
        """The target, which is started if it is not.

        Raises:
            TargetError: there is no such target, or it does not start, or it cannot be asked anything new.
        """
        if self._open is None:
            target = resolve(self.target, self.limits)
            if not isinstance(target, FramedTarget):
                raise TargetError(f"{printable(self.id)}: recorded answers answer no more; fuzz the decoder itself")
            target.restart_budget = max(target.restart_budget, _BUDGET)
            target.open()
            self._open = target
        return self._open

    def ask(self, vectors: Sequence[Vector], operation: str) -> list[tuple[Observation, Finding | None]]:
        """What it answers to each vector, and what is wrong with that.

        Args:
            vectors: any; one without chunks is one chunk to a stream, and chunks do not matter to whole inputs.
            operation: one that it offers.

        Raises:
            TargetError: it does not start any more, or fails again and again without answering anything.
        """
        fitting = [self._fitting(vector, operation) for vector in vectors]
        said = self._ask(fitting, operation)
        found = [(place, finding) for place, (_, finding) in enumerate(said) if finding is not None]
        suspected = [(*each, control) for each in found if (control := control_of(each[1])) is not None]
        controls = self._ask([control for _, _, control in suspected], operation) if suspected else []
        for (place, finding, _), (observed, _) in zip(suspected, controls, strict=True):
            if not confirms(finding, observed):
                said[place] = said[place][0], None
        return said

    def _ask(self, fitting: Sequence[Vector], operation: str) -> list[tuple[Observation, Finding | None]]:
        """The same of vectors as the operation takes them, as far as no control is needed."""
        said: list[tuple[Observation, Finding | None]] = []
        asked = self.observe(lambda place: ((batch, operation) for batch in _batches(fitting[place:])), len(fitting))
        for place, answered in asked:
            said += self._judged(answered, fitting[place:])
        return said

    def observe(
        self, asked_from: Callable[[int], Iterator[tuple[Batch, str]]], count: int
    ) -> Generator[tuple[int, Answered]]:
        """Its answers to batches, which may come back in parts, each with the number of inputs before it.

        Args:
            asked_from: makes the batches of the inputs from a number on.
            count: inputs in all.

        Raises:
            TargetError: as :meth:`ask`.
        """
        done = in_vain = 0
        while done < count:
            before = done
            try:
                for answered in self.opened().observe(asked_from(before)):
                    yield done, answered
                    done += len(answered.batch)
            except BudgetSpent as spent:
                in_vain = in_vain + 1 if done == before else 0
                self.close()
                if in_vain == _IN_VAIN:
                    raise TargetError(str(spent)) from spent

    def findings(self, vectors: Sequence[Vector], operation: str) -> list[Finding | None]:
        """What is wrong with its answer to each vector.

        Raises:
            TargetError: as :meth:`ask`.
        """
        return [finding for _, finding in self.ask(vectors, operation)]

    def ask_one(self, vector: Vector, operation: str) -> Finding | None:
        """What is wrong with its answer to one vector.

        Raises:
            TargetError: as :meth:`ask`.
        """
        (finding,) = self.findings([vector], operation)
        return finding

    def fresh(self) -> Probe:
        """The same target in processes of its own, not yet started."""
        return Probe(self.target, self.limits, self._asked_profile)

    def close(self) -> None:
        """End its processes. When it is asked again, it gets new ones, and a new budget of restarts. Never raises."""
        if self._open is not None:
            target, self._open = self._open, None
            target.close()
            self.notes += [note for note in target.notes if note not in self.notes]

    def _fitting(self, vector: Vector, operation: str) -> Vector:
        """The vector as the operation takes it."""
        chunks = earlier = None
        if operation in STREAMING + AGAIN:
            chunks = vector.chunks if vector.chunks is not None else (len(vector.octets),)
        if operation in AGAIN:
            earlier = vector.earlier or ()
        return replace(vector, chunks=chunks, earlier=earlier, profile=self.profile)

    def _judged(self, answered: Answered, vectors: Sequence[Vector]) -> Iterator[tuple[Observation, Finding | None]]:
        """The answers to the first of these vectors."""
        operation, greeting = answered.operation, self.greeting
        limits = limits_of(greeting)
        observations = answered.answers.observations(greeting.units_of(operation), verdict_only=operation == VALIDATE)
        found: dict[str, Finding] = {}
        for finding in compare_batch(answered, greeting):  # of what is wrong with one, the first is its result
            found.setdefault(finding.vector.comment, finding)
        for place, (vector, answer) in enumerate(zip(vectors, observations, strict=False)):
            observed = answered.faults.get(place, answer)
            if affected(vector.octets, operation, limits):
                yield observed, _judged_apart(vector, operation, observed, limits)
            elif (wrong := found.get(answered.batch.comments[place])) is not None:
                yield observed, _as_whole(replace(wrong, vector=vector))
            elif answered.unstable is not None and place == 0:
                expected = expected_of(vector, operation)
                text = place_of_fault(operation)
                yield answered.unstable, Finding(vector, operation, Code.UNSTABLE, expected, answered.unstable, text)
            else:
                yield observed, None


def _as_whole(finding: Finding) -> Finding:
    """What goes wrong in a stream of one chunk does not depend on chunks."""
    vector, operation = finding.vector, finding.operation
    if finding.code != Code.CHUNKING or vector.chunks != (len(vector.octets),):
        return finding
    whole = compare(vector, REPLACE if operation in REPLACING else DECODE, finding.observed)
    return finding if whole is None else replace(finding, code=whole.code, place=whole.place)


def _judged_apart(
    vector: Vector, operation: str, observed: Observation, limits: tuple[DeclaredLimit, ...]
) -> Finding | None:
    """What is wrong with the answer to a string that a limit touches. What becomes of it in pieces is undeclared."""
    if operation in VALIDATE + DECODE + REPLACE or not isinstance(observed, Accepted | Refused):
        return judged(vector, operation, observed, limits)
    return None


def _batches(vectors: Sequence[Vector]) -> Iterator[Batch]:
    """They in batches of a bounded size, each with its number for a comment: answers come back in parts."""
    numbered = [replace(vector, comment=str(number)) for number, vector in enumerate(vectors)]
    start = 0
    sizes = list(accumulate((len(vector.octets) for vector in vectors), initial=0))
    for end in range(1, len(vectors) + 1):
        if end == len(vectors) or sizes[end + 1] - sizes[start] > OCTETS:
            yield Batch.of(numbered[start:end])
            start = end


class Sampled(NamedTuple):
    """An answer to one input."""

    number: int
    """Number of the input."""
    vector: Vector
    operation: str
    observed: Observation
    finding: Finding | None


def sampled(probe: Probe, generated: Generated, indices: Sequence[int], operations: str) -> Iterator[Sampled]:
    """What a target answers to inputs of these numbers, one operation after the other.

    Raises:
        TargetError: it does not start any more, or fails again and again without answering anything.
    """
    vectors = {
        index: Vector("fuzz", generated.string(index), chunks=generated.chunks(index), earlier=generated.earlier(index))
        for index in indices
    }
    for operation in operations:
        # a decoder that nothing came before is what streams are asked of anyway
        asked = {index: each for index, each in vectors.items() if operation not in AGAIN or each.earlier}
        said = probe.ask(list(asked.values()), operation)
        for (index, vector), (observed, finding) in zip(asked.items(), said, strict=True):
            yield Sampled(index, vector, operation, observed, finding)


KIND = "difference"
"""The kind of a fingerprint."""


def differences(
    said: Sequence[tuple[str, Profile, Iterable[Sampled]]], counts: Counter[Fingerprint]
) -> Iterator[Divergence]:
    """The shortest input for each habit in which two targets differ.

    The replacement of ill-formed octets follows from the declared error mode if the answer is correct. So of targets
    with the same error mode, only the first takes part in that comparison.

    Args:
        said: the name, the profile and the answers of each target.
        counts: the number of inputs for each difference, to which this adds.
    """
    least: dict[Fingerprint, Divergence] = {}
    samples = [(name, profile, tuple(sample)) for name, profile, sample in said]
    answers = [(name, profile, _right(sample)) for name, profile, sample in samples]
    offered = [{each.operation for each in sample} for _, _, sample in samples]
    habits: dict[tuple[str, str], int] = {}
    for place, (_, profile, _) in enumerate(answers):
        for operation in offered[place]:
            habits.setdefault((profile.own_mode or profile.replaces, operation), place)
    for place, (name, profile, mine) in enumerate(answers):
        for other, (peer, their_profile, theirs) in enumerate(answers[place + 1 :], place + 1):
            compared = set(VALIDATE + DECODE)
            # a decoder that replaces a whole input so does it in streams, too
            both = offered[place] & offered[other]
            operation = next((each for each in (REPLACE, STREAM_REPLACE) if each in both), "")
            speak = [habits.get((each.own_mode or each.replaces, operation)) for each in (profile, their_profile)]
            if speak == [place, other]:
                compared.add(operation)
            for (number, operation), (vector, observed) in mine.items():
                if operation not in compared or (number, operation) not in theirs:
                    continue
                second = theirs[number, operation][1]
                finding = difference(vector, operation, observed, second, (profile, their_profile))
                if finding is None:
                    continue
                fingerprint = Fingerprint(name, operation, KIND, f"{peer}, {finding.place}")
                counts[fingerprint] += 1
                known = least.get(fingerprint)
                if known is None or shortlex(vector.octets) < shortlex(known.finding.vector.octets):
                    least[fingerprint] = Divergence(name, finding, fingerprint, number, peer)
    yield from least.values()


def _right(sample: Iterable[Sampled]) -> dict[tuple[int, str], tuple[Vector, Observation]]:
    """The answers that can be differences, since they are no faults."""
    return {(each.number, each.operation): (each.vector, each.observed) for each in sample if each.finding is None}


def difference(
    vector: Vector, operation: str, observed: Observation, other: Observation, profiles: Sequence[Profile]
) -> Finding | None:
    """The difference between two right answers; None if all parts that both report are equal.

    Args:
        vector: the input.
        operation: of both answers.
        observed: the answer of the first target.
        other: that of its peer.
        profiles: of both.
    """
    in_octets = all(each.counts == "octets" for each in profiles)
    if (what := _what(observed, other, in_octets=in_octets)) is None:
        return None
    code, words = what
    detail = observed_in_words(other, operation), ""  # only the reported parts: a refusal may have no length
    return Finding(vector, operation, code, _as_outcome(other), observed, words, detail)


def _what(one: Observation, other: Observation, *, in_octets: bool) -> tuple[str, str] | None:
    """The nearest code, and the difference in words; None if all parts that both report are equal."""
    match one, other:
        case Accepted(mine), Accepted(theirs):
            return None if mine is None or theirs is None or mine == theirs else (Code.REPLACEMENT_TEXT, "other output")
        case Refused(offset, length), Refused(their_offset, their_length):
            if not in_octets or offset is None or their_offset is None:
                return None
            if offset != their_offset:
                return Code.OFFSET, "another offset"
            differs = length is not None and their_length is not None and length != their_length
            return (Code.LENGTH, "another length") if differs else None
        case (Accepted(), Refused()) | (Refused(), Accepted()):
            return Code.UNDECLARED, "another verdict"
        case _:
            return None


def _as_outcome(observed: Observation) -> Outcome:
    """What the peer answered, as what stands beside the target's answer."""
    match observed:
        case Accepted(values):
            return Decoded(values or ())
        case Refused(offset, length, incomplete):
            return Rejected(offset or 0, length or 1, incomplete=bool(incomplete))
        case _:
            raise AssertionError(observed_in_words(observed))
