"""One target, open as long as a campaign needs it: vectors to findings, whatever the target does to itself."""

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
from overlong.conformance.oracle.finding import Finding
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
from overlong.fuzz.execution.job import named

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

    from overlong.conformance.oracle.apart import DeclaredLimit
    from overlong.conformance.oracle.target import Answered
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.generation.generated import Generated

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
