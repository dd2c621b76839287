"""The shrinker: a less input that shows the same, by taking the least candidate that does, again and again.

Other shrinkers do not fit: Hypothesis's has no public entry for a given input, and picire asks about one candidate at a
time. A target behind a pipe costs a round trip for each question, so this one asks candidates together, the least
first, and the first that shows the finding wins. Nothing depends on chance.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from overlong.conformance.examination.asking import OutOfBudget
from overlong.conformance.protocol.observation import Accepted, Code, Failed, Refused
from overlong.conformance.protocol.wire import ASKING, ENCODING, IN_MEMORY
from overlong.conformance.vectors.questions import question_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Input, Vector

    Findings = Callable[[Sequence[Vector]], Sequence[Finding | None]]

CHANGING = (Code.UNSTABLE, Code.PLACE_IN_MEMORY, Code.EARLIER_CALLS)
"""Codes of answers that change each time, in another place, or after other calls."""
_Candidate = TypeVar("_Candidate")
_FILLER = b"\0"
TOGETHER, OCTETS = 400, 1 << 18
"""The most candidates to ask together, and their octets."""
_IN_MEMORY = 8
"""The same for examinations of memory: larger requests do not get every answer (``shared_library.py``)."""
_PART = 8
"""The most octets of a part that may show it alone."""
_NEAR = 256
"""The most filler before it."""
_LONGEST, _OF_A_CHUNK = 1 << 18, 20
"""The most that copies of an input may take, in octets: one for each of its octets. A chunk is as dear as so many."""


def first_shown(
    candidates: Sequence[_Candidate],
    size: Callable[[_Candidate], int],
    shows: Callable[[Sequence[_Candidate]], Sequence[bool]],
    most: int = TOGETHER,
) -> _Candidate | None:
    """The first candidate that shows it; None if none does.

    Args:
        candidates: in order.
        size: the octets of one.
        shows: asks about some of them, together.
        most: the most to ask together.
    """
    start = 0
    while start < len(candidates):
        end, octets = start, 0
        while end < min(start + most, len(candidates)) and octets <= OCTETS:
            octets += size(candidates[end])
            end += 1
        some = candidates[start:end]
        for each, shown in zip(some, shows(some), strict=True):
            if shown:
                return each
        start = end
    return None


def shrunk(finding: Finding, ask: Findings) -> tuple[Finding, bool]:
    """The finding of a less input, and False if the search ended early: by the budget, or for a long input.

    What changes is not made less, and neither is a text for an encoder, whose octets spell numbers.

    Args:
        finding: shows each time.
        ask: what is wrong with the answer to each of some vectors, by the finding's operation. If it raises
            ``OutOfBudget``, the search ends. A finding that ends its process is asked with one vector at a time.
    """
    search = _Search(finding, _of_questions(ask) if finding.operation in ASKING else ask)
    if finding.code in CHANGING or finding.operation in ENCODING:
        return finding, False
    try:
        search.run()
    except OutOfBudget:
        return search.finding, False
    return search.finding, True


def _of_questions(ask: Findings) -> Findings:
    """The same of candidates that still ask their question, with an argument that has an answer; None of others."""

    def asked(vectors: Sequence[Vector]) -> Sequence[Finding | None]:
        fitting = [question_of(each.octets) == each.category for each in vectors]
        said = iter(ask([each for each, fits in zip(vectors, fitting, strict=True) if fits]))
        return [next(said) if fits else None for fits in fitting]

    return asked


def is_answer(finding: Finding) -> bool:
    """True if the target answered: to show anything else again costs a process, or the time limit."""
    return isinstance(finding.observed, Accepted | Refused | Failed)


def order(example: Input) -> tuple[object, ...]:
    """The order of inputs: shortlex by octets; then by the stream before; then fewer chunks, which end sooner."""
    earlier = example.earlier or ()
    before = b"".join(earlier)
    octets, chunks = example.octets, example.chunks or ()
    return len(octets), octets, len(before), before, len(chunks), chunks, len(earlier), tuple(map(len, earlier))


def spliced(vector: Vector, start: int, end: int, octets: bytes) -> Vector:
    """The vector with other octets from ``start`` to before ``end``; its chunks keep their ends."""
    whole = vector.octets[:start] + octets + vector.octets[end:]
    if vector.chunks is None:
        return replace(vector, octets=whole)
    shift, read, last, chunks = len(octets) - (end - start), 0, 0, list[int]()
    for length in vector.chunks:
        read += length
        moved = read if read <= start else read + shift if read >= end else start + min(read - start, len(octets))
        chunks.append(moved - last)
        last = moved
    if last < len(whole):  # appended to the last chunk
        chunks[-1:] = [sum(chunks[-1:]) + len(whole) - last]
    return replace(vector, octets=whole, chunks=tuple(chunks))


class _Search:
    """A finding that shrinks."""

    def __init__(self, finding: Finding, ask: Findings) -> None:
        self.finding = finding
        self._ask = ask
        self._most = 1 if not is_answer(finding) else _IN_MEMORY if finding.operation in IN_MEMORY else TOGETHER
        self._tried: set[tuple[object, ...]] = set()
        """The vectors that did not show it."""

    def run(self) -> None:
        """Try all ideas until none helps.

        Raises:
            OutOfBudget: no more may be asked, or to make the input less octet by octet would take minutes.
        """
        # the likeliest first: a crash costs a process each time, a hang the time limit
        self._halving(2 * _PART)
        if _is_long(self.finding.vector):
            raise OutOfBudget
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
        less = [ordered[key] for key in sorted(key for key in ordered if key < now and key not in self._tried)]
        return first_shown(less, lambda vector: len(vector.octets), self._shows, self._most) is not None

    def _shows(self, vectors: Sequence[Vector]) -> list[bool]:
        said = self._ask(vectors)
        shows = [found is not None and found.bucket == self.finding.bucket for found in said]
        shown = next((found for found, yes in zip(said, shows, strict=True) if yes), None)
        self._tried.update(order(vector) for vector, yes in zip(vectors, shows, strict=True) if not yes)
        self.finding = shown or self.finding
        return shows


def _is_long(vector: Vector) -> bool:
    """True if it takes minutes to copy an input, and the stream before it, once for each octet."""
    octets = sum(map(len, (vector.octets, *(vector.earlier or ()))))
    return octets * (octets + _OF_A_CHUNK * len(vector.chunks or ())) > _LONGEST


def _parts(vector: Vector) -> Iterator[Vector]:
    """A few octets from the start of a character or a flaw on, alone or with only filler before them."""
    octets = vector.octets
    for start in {found.offset for found in vector.segments}:
        for end in range(start + 1, min(start + _PART, len(octets)) + 1):
            part = spliced(vector, end, len(octets), b"")
            yield spliced(part, 0, start, b"")
            if start <= _NEAR:
                yield spliced(part, 0, start, _FILLER * start)


def _ranges(octets: bytes, size: int) -> Iterator[tuple[int, int]]:
    yield from pairwise([*range(0, len(octets), size), len(octets)])


def _without(vector: Vector, size: int) -> Iterator[Vector]:
    """Without one of the ranges of ``size`` octets."""
    for start, end in _ranges(vector.octets, size):
        yield spliced(vector, start, end, b"")


def _filled(vector: Vector, size: int) -> Iterator[Vector]:
    """With one of the ranges of ``size`` octets replaced by filler."""
    for start, end in _ranges(vector.octets, size):
        yield spliced(vector, start, end, _FILLER * (end - start))


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
