"""Find the least input that shows a finding: shortlex-least among all tried inputs, and 1-minimal.

Other shrinkers do not fit: Hypothesis's has no public entry for a given input, and picire asks about one candidate at a
time. A target behind a pipe costs a round trip for each question, so this one asks candidates together, the least
first, and the first that shows the finding wins. Nothing depends on chance, and time only ends the search.

The search keeps the operation and the code; if something is accepted or refused wrongly, also the grammar's
alternative, so that a search that began at one fault does not end at another. The alternative changes if all of its
kind show the same in that place, and the code if every flaw does (``alike.py``): then the fault does not depend on it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.kind import POSITION, VERDICT, Code
from overlong.conformance.protocol.observation import Accepted, Crashed, Failed, Refused, TimedOut
from overlong.conformance.protocol.wire import (
    AGAIN,
    AGAIN_REPLACE,
    DECODE,
    GUARDED,
    REPLACE,
    REPLACING,
    STREAM_DECODE,
    STREAM_REPLACE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.minimise.alike import cut_alike, kinds, unchecked
from overlong.fuzz.minimise.bucket import KEPT, PLACED, UNSTABLE, placement
from overlong.fuzz.minimise.place import OTHERWISE, REFUSED, place_of, spliced
from overlong.fuzz.minimise.smaller import (
    blanked,
    cores,
    exchanged,
    fewer_chunks,
    filled_ranges,
    less_before,
    lonely_segments,
    moved,
    octets_lowered,
    shorter_runs,
    values_lowered,
    without_octets,
    without_pairs,
    without_ranges,
)
from overlong.fuzz.minimise.stored import ANYWHERE
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.minimise.alike import Kind

_TOGETHER, _OCTETS = 256, 1 << 16
"""The most candidates to ask together, and their octets."""
_EXAMINED = 8
"""The same for examinations of memory: larger requests do not get every answer (``shared_library.py``)."""
_DOUBTED, _DOUBTED_FAULTS = 8, 1
"""How often a finding must show before minimisation, with other inputs in between; and one that ends its process."""
_DOUBTED_MEMORY = 3
_PATIENCE = 4
"""How much longer the search may take for a crash or a hang than for an answer: each showing costs a process."""
_COARSE = 64
"""The number of parts of an input to try first, before single octets."""
_COUNTED_WRONGLY, _REPLACED_WRONGLY = Code.REPLACEMENT_COUNT, Code.REPLACEMENT_TEXT
WRONG_IN_CHUNKS, WRONG_AFTERWARDS = Code.CHUNKING, Code.EARLIER_STREAM
_CHANGING = (UNSTABLE, PLACED, KEPT)


@dataclass(frozen=True)
class Minimised:
    """The result of a minimisation."""

    finding: Finding
    """The finding of the least input; its operation or code may be those of the cause."""
    minimal: bool
    """True if no octet of its input can be left out or made smaller; False if time ran out first, or it is unstable."""
    asked: int
    """The number of inputs asked."""


def minimise(
    finding: Finding, probe: Probe, *, seconds: float = 5.0, clock: Callable[[], float] = time.monotonic
) -> Minimised:
    """Find the least input that shows the same as a finding.

    If whole inputs show a finding of streams, replacement or memory, too, it becomes a finding of whole inputs. If it
    does not show each time, it becomes OV605, unstable; or, if an examination of memory shows that the answer depends
    on the place or on earlier calls, a finding of that.

    Args:
        finding: the engine's finding.
        probe: asks its target.
        seconds: after them only the batch under way is finished; for a crash or a hang :data:`_PATIENCE` times as many.
        clock: a clock in seconds.

    Raises:
        TargetError: the target does not start any more.
    """
    patience = _PATIENCE if isinstance(finding.observed, Crashed | TimedOut) else 1
    search = _Search(finding, probe, clock, clock() + patience * seconds)
    try:
        if not search.shows():
            return Minimised(search.unstable(), minimal=False, asked=search.asked)
        search.take_the_cause()
        while True:
            search.run()
            if not search.take_the_whole():
                break
        if search.is_answer and not search.shows():
            return Minimised(search.unstable(), minimal=False, asked=search.asked)
    except _OutOfTime:
        return Minimised(search.finding, minimal=False, asked=search.asked)
    return Minimised(search.finding, minimal=True, asked=search.asked)


class _OutOfTime(Exception):
    pass


def order(vector: Vector) -> tuple[object, ...]:
    """The order of inputs: shortlex by octets; then by the stream before; then fewer chunks, which end sooner."""
    earlier = vector.earlier or ()
    before = b"".join(earlier)
    octets, chunks = vector.octets, vector.chunks or ()
    return len(octets), octets, len(before), before, len(chunks), chunks, len(earlier), tuple(map(len, earlier))


class _Search:
    """A finding that shrinks."""

    def __init__(self, finding: Finding, probe: Probe, clock: Callable[[], float], deadline: float) -> None:
        self.finding = finding
        self.asked = 0
        self._probe, self._clock, self._deadline = probe, clock, deadline
        self._first = finding
        self._tried: set[tuple[object, ...]] = set()
        """The vectors that did not show it."""

    def run(self) -> None:
        """Try all ideas until none helps.

        Raises:
            _OutOfTime: time is up; the finding is the best so far.
        """
        # the likeliest first: a crash costs a process each time, a hang the time limit
        self._less(lambda: cores(self._vector, place_of(self.finding)))
        self._step(blanked(self._vector, place_of(self.finding)))
        self._less(partial(self._of, lonely_segments))
        self._halving(without_ranges, _COARSE)
        self._halving(filled_ranges, _COARSE)
        self._halving(without_ranges, 0)
        self._halving(filled_ranges, 0)
        ideas: tuple[Callable[[Vector], Iterator[Vector]], ...] = (
            fewer_chunks,
            less_before,
            shorter_runs,
            without_pairs,
            without_octets,
            values_lowered,
            octets_lowered,
            exchanged,
            moved,
        )
        at = None
        while at is not self.finding:
            at = self.finding
            self._less(lambda: cores(self._vector, place_of(self.finding)))
            self._alike()
            for idea in ideas:
                self._less(partial(self._of, idea))

    @property
    def is_answer(self) -> bool:
        """True if the target answered; otherwise it crashed or hung, which takes long to see again."""
        return isinstance(self.finding.observed, Accepted | Refused | Failed)

    def shows(self) -> bool:
        """True if the finding shows each time, after any other input."""
        finding = self.finding
        if finding.code in _CHANGING and finding.operation != GUARDED:
            return False
        answered = self.is_answer
        times = _DOUBTED if answered else _DOUBTED_FAULTS
        if finding.operation == GUARDED:
            times = _DOUBTED_MEMORY
        harmless = [spliced(finding.vector, 0, len(finding.vector.octets), octets) for octets in (b"", b"\0")]
        asked = [each for number in range(times) for each in (harmless[number % 2], finding.vector)]
        said = self._ask([*asked, finding.vector] if answered else asked, finding.operation)
        shown = [
            found for found, vector in zip(said, [*asked, finding.vector], strict=False) if vector is finding.vector
        ]
        first = shown[0]
        if first is not None and all(each is not None and each.code == first.code for each in shown):
            self.finding = first
            return True
        return False

    def unstable(self) -> Finding:
        """The finding as one of a changing answer, or of memory if an examination shows the reason."""
        finding = self._first
        if GUARDED in self._probe.operations and finding.operation in VALIDATE + DECODE:
            (examined,) = self._ask([finding.vector], GUARDED)
            if examined is not None and examined.code in _CHANGING:
                return examined
        if finding.code in _CHANGING:
            return finding
        detail = ("each time", "not so when it was asked again")
        return replace(finding, code=UNSTABLE, place=place_of_fault(finding.operation), detail=detail)

    def take_the_cause(self) -> None:
        """The reason for a refusal at another offset, if it accepts or refuses something wrongly before."""
        self.asked += 1
        self.finding = self._probe.cause_of(self.finding)
        self.take_the_whole()

    def take_the_whole(self) -> bool:
        """Replace the finding by one of a simpler operation or another aspect, if these octets show one."""
        return self._take_first(self._plainer()) or self._take_first(self._result()) or self._take_first(self._memory())

    def _take_first(self, asked: Iterable[tuple[str, Vector, Callable[[Finding], bool]]]) -> bool:
        for operation, vector, fits in asked:
            if operation in self._probe.operations:
                (found,) = self._ask([vector], operation)
                if found is not None and fits(found):
                    self.finding = found
                    self._tried.clear()
                    return True
        return False

    def _plainer(self) -> Iterator[tuple[str, Vector, Callable[[Finding], bool]]]:
        """The same octets as a whole input; for a decoder used before, with a new decoder."""
        finding = self.finding
        if finding.operation in VALIDATE + DECODE:
            return
        whole = replace(finding.vector, chunks=None, earlier=None)
        for operation in DECODE + VALIDATE:
            yield operation, whole, lambda found: found.claim != POSITION or finding.claim == POSITION
        if finding.operation in STREAM_REPLACE + AGAIN_REPLACE:
            yield REPLACE, whole, lambda found: found.operation == REPLACE
        if finding.operation in AGAIN:
            operation = STREAM_REPLACE if finding.operation in REPLACING else STREAM_DECODE
            yield operation, replace(finding.vector, earlier=None), lambda found: found.operation == operation

    def _result(self) -> Iterator[tuple[str, Vector, Callable[[Finding], bool]]]:
        """If a stream's answer came in the wrong chunk, try the same stream with a wrong result."""
        finding = self.finding
        if finding.code in (WRONG_IN_CHUNKS, WRONG_AFTERWARDS) or finding.operation not in STREAMING + AGAIN:
            return
        code = WRONG_AFTERWARDS if finding.operation in AGAIN else WRONG_IN_CHUNKS
        for vector in cut_alike(finding.vector, place_of(finding)):
            yield finding.operation, vector, lambda found: found.code == code

    def _memory(self) -> Iterator[tuple[str, Vector, Callable[[Finding], bool]]]:
        """If the place of a whole input matters, perhaps its place in memory counts, and not that in the input."""
        finding = self.finding
        if finding.operation in VALIDATE + DECODE and placement(finding, place_of(finding)) != ANYWHERE:
            yield GUARDED, finding.vector, lambda found: found.code in _CHANGING

    @property
    def _vector(self) -> Vector:
        return self.finding.vector

    def _halving(self, idea: Callable[[Vector, int], Iterator[Vector]], parts: int) -> None:
        """Ranges of half the input, of a quarter, and so on, up to a number of parts, or down to single segments."""
        size = max(1, len(self._vector.segments) // 2)
        while size and (not parts or size * parts >= len(self._vector.segments)):
            self._less(partial(self._of_size, idea, size))
            size //= 2

    def _of(self, idea: Callable[[Vector], Iterator[Vector]]) -> Iterator[Vector]:
        return idea(self._vector)

    def _of_size(self, idea: Callable[[Vector, int], Iterator[Vector]], size: int) -> Iterator[Vector]:
        return idea(self._vector, size)

    def _less(self, idea: Callable[[], Iterable[Vector]]) -> None:
        """Take the least candidate that shows it, until there is none."""
        while self._step(idea()):
            pass

    def _step(self, candidates: Iterable[Vector]) -> bool:
        now = order(self._vector)
        ordered = {order(each): each for each in candidates}
        waiting = [ordered[key] for key in sorted(key for key in ordered if key < now and key not in self._tried)]
        for batch in self._batches(waiting):
            for vector, found in zip(batch, self._ask(batch, self.finding.operation), strict=True):
                if found is not None and self._is_kept(found):
                    self.finding = found
                    return True
                self._tried.add(order(vector))
        return False

    def _alike(self) -> None:
        """Replace it by another character or flaw, if all of its kind show the same."""
        finding, place = self.finding, place_of(self.finding)
        if not place.length or not self.is_answer:
            return
        vector, flaw = finding.vector, finding.vector.flaw
        within = placement(finding, place) != ANYWHERE
        if (finding.code in DEFECTS and within) or (finding.claim == POSITION and flaw is not None):
            found = self._all_show(unchecked(vector, place), of_one_code=finding.claim == POSITION)
            if found is not None and self._take(found):
                return
        free = within or (finding.claim != VERDICT and finding.code != OTHERWISE)
        free = free or (flaw is not None and flaw.incomplete)
        for kind in kinds(vector, place, free=free):
            found = self._all_show(kind, of_one_code=True)
            if found is not None and self._take(found):
                return

    def _take(self, found: Finding) -> bool:
        if order(found.vector) >= order(self._vector):
            return False
        self.finding = found
        self._tried.clear()  # the kept properties may have changed
        return True

    def _all_show(self, kind: Kind, *, of_one_code: bool) -> Finding | None:
        """The least finding, if each member has one of this code, or one that accepts a flaw."""
        every = [vector for member in kind for vector in member]
        said: list[Finding | None] = []
        for batch in self._batches(every):
            said += self._ask(batch, self.finding.operation)
        answers, least = iter(said), list[Finding]()
        for member in kind:
            shown = [found for found in (next(answers) for _ in member) if found is not None]
            fitting = [
                found for found in shown if (found.code == self.finding.code if of_one_code else found.code in DEFECTS)
            ]
            if not fitting:
                return None
            least += fitting
        return min(least, key=lambda found: order(found.vector), default=None)

    def _is_kept(self, found: Finding) -> bool:
        """True if a candidate shows the same."""
        finding = self.finding
        if (finding.code, found.code) == (_COUNTED_WRONGLY, _REPLACED_WRONGLY):
            return True  # a decoder that swallows octets also swallows ill-formed ones, and only their number shows it
        if found.code != finding.code:
            return False
        if finding.code == _REPLACED_WRONGLY:
            return found.place == finding.place
        if finding.code not in DEFECTS and finding.code not in (REFUSED, OTHERWISE):
            return True
        was, now = place_of(finding), place_of(found)
        return not was.certain or now.form == was.form or (not now.form and not found.vector.octets)

    def _batches(self, vectors: Sequence[Vector]) -> Iterator[list[Vector]]:
        """Groups of vectors to ask together, in order."""
        finding = self.finding
        most = _TOGETHER if finding.operation != GUARDED else _EXAMINED
        if not self.is_answer:
            most = 1  # each showing ends a process, which takes long, and only the first counts
        batch, octets = list[Vector](), 0
        for vector in vectors:
            if batch and (len(batch) == most or octets + len(vector.octets) > _OCTETS):
                yield batch
                batch, octets = [], 0
            batch.append(vector)
            octets += len(vector.octets)
        if batch:
            yield batch

    def _ask(self, vectors: Sequence[Vector], operation: str) -> list[Finding | None]:
        if self.asked and self._clock() >= self._deadline:
            raise _OutOfTime
        self.asked += len(vectors)
        return [found for _, found in self._probe.ask(vectors, operation)]
