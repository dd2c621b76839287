"""Find a less input that shows the same as a finding which the examiner cannot explain: a crash, a time-out.

Other shrinkers do not fit: Hypothesis's has no public entry for a given input, and picire asks about one candidate at a
time. A target behind a pipe costs a round trip for each question, so this one asks candidates together, the least
first, and the first that shows the finding wins. Nothing depends on chance, and time only ends the search.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Accepted, Failed, Refused
from overlong.conformance.protocol.wire import GUARDED
from overlong.fuzz.minimise.place import spliced

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.execution.probe import Probe

FILLER = b"\0"
_TOGETHER, _OCTETS = 256, 1 << 16
"""The most candidates to ask together, and their octets."""
_IN_MEMORY = 8
"""The same for examinations of memory: larger requests do not get every answer (``shared_library.py``)."""
_PART = 8
"""The most octets of a part that may show it alone."""
_NEAR = 256
"""The most filler before it."""
_PATIENCE = 4
"""How much longer the search may take for a crash or a hang than for an answer: each showing costs a process."""


def shrunk(finding: Finding, probe: Probe, seconds: float, clock: Callable[[], float]) -> tuple[Finding, bool]:
    """The finding of a less input, and False if time ended the search.

    Args:
        finding: shows each time.
        probe: asks its target.
        seconds: after them only the batch under way is finished; a crash or a hang has more of them.
        clock: a clock in seconds.

    Raises:
        TargetError: the target does not start any more.
    """
    answered = isinstance(finding.observed, Accepted | Refused | Failed)
    search = _Search(finding, probe, clock, clock() + (1 if answered else _PATIENCE) * seconds)
    search.most = 1 if not answered else _IN_MEMORY if finding.operation == GUARDED else _TOGETHER
    try:
        search.run()
    except _OutOfTime:
        return search.finding, False
    return search.finding, True


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

    most = _TOGETHER
    """Candidates in a batch; one, if each showing ends a process."""

    def __init__(self, finding: Finding, probe: Probe, clock: Callable[[], float], deadline: float) -> None:
        self.finding = finding
        self._probe, self._clock, self._deadline = probe, clock, deadline
        self._tried: set[tuple[object, ...]] = set()
        """The vectors that did not show it."""

    def run(self) -> None:
        """Try all ideas until none helps.

        Raises:
            _OutOfTime: time is up; the finding is the best so far.
        """
        # the likeliest first: a crash costs a process each time, a hang the time limit
        self._halving(2 * _PART)
        self._less(_parts)
        self._halving(1)
        at = None
        while at is not self.finding:
            at = self.finding
            for idea in (_fewer_chunks, _less_before, partial(_without, size=1), _lowered):
                self._less(idea)

    def _halving(self, least: int) -> None:
        """Ranges of half the input, of a quarter, and so on."""
        size = len(self.finding.vector.octets) // 2
        while size >= least:
            self._less(partial(_without, size=size))
            self._less(partial(_filled, size=size))
            size //= 2

    def _less(self, idea: Callable[[Vector], Iterator[Vector]]) -> None:
        """Take the least candidate that shows it, until there is none."""
        while self._step(idea(self.finding.vector)):
            pass

    def _step(self, candidates: Iterable[Vector]) -> bool:
        now = order(self.finding.vector)
        ordered = {order(each): each for each in candidates}
        waiting = [ordered[key] for key in sorted(key for key in ordered if key < now and key not in self._tried)]
        while waiting:
            if self._clock() >= self._deadline:
                raise _OutOfTime
            many = max(1, min(self.most, _OCTETS // max(1, len(waiting[-1].octets))))
            batch, waiting = waiting[:many], waiting[many:]
            for vector, (_, found) in zip(batch, self._probe.ask(batch, self.finding.operation), strict=True):
                if found is not None and found.bucket == self.finding.bucket:
                    self.finding = found
                    return True
                self._tried.add(order(vector))
        return False


def _parts(vector: Vector) -> Iterator[Vector]:
    """A few octets from the start of a character or a flaw on, alone or with only filler before them."""
    octets = vector.octets
    for start in {found.offset for found in vector.segments}:
        for end in range(start + 1, min(start + _PART, len(octets)) + 1):
            part = spliced(vector, end, len(octets), b"")
            yield spliced(part, 0, start, b"")
            if start <= _NEAR:
                yield spliced(part, 0, start, FILLER * start)


def _ranges(octets: bytes, size: int) -> Iterator[tuple[int, int]]:
    yield from pairwise([*range(0, len(octets), size), len(octets)])


def _without(vector: Vector, size: int) -> Iterator[Vector]:
    """Without one of the ranges of ``size`` octets."""
    for start, end in _ranges(vector.octets, size):
        yield spliced(vector, start, end, b"")


def _filled(vector: Vector, size: int) -> Iterator[Vector]:
    """With one of the ranges of ``size`` octets replaced by filler."""
    for start, end in _ranges(vector.octets, size):
        yield spliced(vector, start, end, FILLER * (end - start))


def _lowered(vector: Vector) -> Iterator[Vector]:
    """With one octet smaller: every smaller value at every place."""
    for place, octet in enumerate(vector.octets):
        for lesser in range(octet):
            yield spliced(vector, place, place + 1, bytes([lesser]))


def _fewer_chunks(vector: Vector) -> Iterator[Vector]:
    """In one chunk, in two, or without one of the cuts."""
    if vector.chunks is None:
        return
    chunks, length = vector.chunks, len(vector.octets)
    yield replace(vector, chunks=(length,) if length else ())
    yield from (replace(vector, chunks=(at, length - at)) for at in range(1, length))
    for number in range(len(chunks) - 1):
        yield replace(vector, chunks=(*chunks[:number], chunks[number] + chunks[number + 1], *chunks[number + 2 :]))


def _less_before(vector: Vector) -> Iterator[Vector]:
    """After a shorter stream, one in one chunk, or one of smaller octets."""
    if not vector.earlier:
        return
    octets = b"".join(vector.earlier)
    before = replace(vector, octets=octets, chunks=None, earlier=None)
    yield replace(vector, earlier=())
    yield replace(vector, earlier=(octets,))
    size = len(octets)
    while size:
        yield from (replace(vector, earlier=(less.octets,)) for less in _without(before, size))
        size //= 2
    yield from (replace(vector, earlier=(less.octets,)) for less in _lowered(before))
