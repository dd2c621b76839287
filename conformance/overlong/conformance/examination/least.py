"""The least form of an example: the shorter input that is its cause, its core, or any less input that shows the same.

A consequence is not a cause. A decoder that refuses a character refuses every string that has it, so of an ill-formed
one it reports another place than the first error. One that accepts an error may fail later in the same string.

An example of what can be explained is parted into a core and what stands around it. Any other one shrinks: the least
candidate that shows the same is taken, again and again. Other shrinkers do not fit: Hypothesis's has no public entry
for a given input, and picire asks about one candidate at a time. A target behind a pipe costs a round trip for each
question, so this one asks candidates together, the least first. Nothing depends on chance.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from overlong.conformance.examination.asking import ACCEPTS, OutOfBudget
from overlong.conformance.examination.condition import OFFSETS
from overlong.conformance.protocol.observation import SCALARS, STREAMING, VERDICT, Accepted, Code, Failed, Refused
from overlong.conformance.protocol.wire import ASKING, ENCODING, IN_MEMORY, REPLACING
from overlong.conformance.vectors.expected import question_of
from overlong.conformance.vectors.vector import Vector, cut
from overlong.reference import Decoded, Rejected, WellFormed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.examination.text import Text
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.vectors.vector import Input

    Shows = Callable[[Sequence[bytes]], list[bool]]
    Findings = Callable[[Sequence[Vector]], Sequence[Finding | None]]

_CONSEQUENCES = (
    *(Code.OFFSET, Code.REPLACEMENT_COUNT, Code.REPLACEMENT_TEXT),
    *(Code.CHUNKING, Code.EARLIER_STREAM, Code.STREAM_OFFSET, Code.EARLY),
)
"""The codes of replacers that may be consequences, of whole inputs and of streams."""
_CAUSES = (VERDICT, SCALARS, STREAMING)
"""The claims that the cause of a wrong replacement refutes."""


def cause_of(finding: Finding, ask: Callable[[Vector], Finding | None]) -> Finding | None:
    """The finding that explains another one; None if that is its own cause.

    Args:
        finding: the other one.
        ask: what is wrong with the answer to a vector, by the same operation.
    """
    vector = _cause_in(finding)
    found = ask(vector) if vector is not None else None
    return found if found is not None and _explains(found) else None


def _cause_in(finding: Finding) -> Vector | None:
    """The vector to ask for the cause of a finding; None if the finding is its own cause.

    For a refusal before the first error, or a stream refused too early: the well-formed octets before the error. For a
    refusal after it: the octets before the reported place. For wrong replacement: the text without ill-formed octets.
    """
    vector, flaw = finding.vector, finding.vector.flaw
    if flaw is None:
        return None
    if finding.operation in REPLACING:
        if finding.code not in _CONSEQUENCES:
            return None
        kept = bytearray(len(vector.octets))
        for each in vector.segments:
            if isinstance(each, WellFormed):
                kept[each.offset : each.offset + each.length] = b"\1" * each.length
        return _only(vector, bytes(kept))
    if finding.code in (Code.STREAM_OFFSET, Code.EARLY):
        return _only(vector, b"\1" * flaw.offset)
    if finding.code == Code.OFFSET and (end := _end_of_cause(finding)) is not None:
        return _only(vector, b"\1" * end)
    return None


def _end_of_cause(finding: Finding) -> int | None:
    """The octets to ask of an input that was refused at a wrong place."""
    expected, observed, vector = finding.expected, finding.observed, finding.vector
    assert isinstance(expected, Rejected)
    assert vector.flaw is not None
    if not isinstance(observed, Refused) or observed.offset is None:
        return None
    if observed.offset < expected.offset:
        return vector.flaw.offset
    in_octets = vector.profile.counts == "octets"
    return observed.offset if in_octets and observed.offset < len(vector.octets) else None


def _only(vector: Vector, kept: bytes) -> Vector | None:
    """A vector of those octets that have a 1, in its chunks; None if there are none."""
    octets = bytes(octet for octet, is_kept in zip(vector.octets, kept, strict=False) if is_kept)
    if not octets:
        return None
    chunks = vector.chunks
    if chunks is not None:
        chunks = tuple(map(sum, cut(kept.ljust(len(vector.octets), b"\0"), chunks)))
    category = "input" if chunks is None else vector.category
    return Vector(category, octets, chunks=chunks, profile=vector.profile, earlier=vector.earlier)


def _explains(found: Finding) -> bool:
    """True if the finding in what :func:`_cause_in` made explains the other one.

    Only a wrong verdict explains another place, and neither a crash does, nor an offset.
    """
    if found.operation in REPLACING:
        return found.claim in _CAUSES and isinstance(found.observed, Accepted | Refused)
    return isinstance(found.observed, Refused if isinstance(found.expected, Decoded) else Accepted)


_NEAR = 130
_KEPT = 8
"""The most octets next to the core that are kept as they are."""
BURDEN = 1 << 12
"""Octets of which a string is too long to be varied in every way."""
_FEW = 16
_STEPS, _AT_ONCE = 8, 16
_SIZES = (4, 3, 2, 1)
_EXTENT = 5
"""How many octets behind an error may belong to it."""


def thresholds(most: int) -> list[int]:
    """Numbers at which decoders tend to change what they do: all small ones, and around powers of two and ten."""
    found = set(range(min(most, _NEAR) + 1))
    for power in (*(1 << bits for bits in range(7, 21)), 1000, 10_000, 100_000):
        found |= {power + more for more in (-2, -1, 0, 1, 2) if power + more <= most}
    return sorted(found)


@dataclass(frozen=True)
class Setting:
    """A core, and what stands around it: fillers, and octets that are kept."""

    core: bytes
    filler: bytes = b"a"
    count: int = 0
    kept_before: bytes = b""
    kept_behind: bytes = b""
    filler_behind: bytes = b"a"
    count_behind: int = 0

    @property
    def before(self) -> bytes:
        return self.filler * self.count + self.kept_before

    @property
    def behind(self) -> bytes:
        return self.kept_behind + self.filler_behind * self.count_behind

    @property
    def octets(self) -> bytes:
        return self.before + self.core + self.behind

    def with_core(self, core: bytes) -> bytes:
        """The octets with another core."""
        return self.before + core + self.behind


def parted(octets: bytes, symptom: str, shows: Shows, text: Text, place: int | None = None) -> Setting:
    """The core of some octets that show a symptom.

    Args:
        octets: an example.
        symptom: the symptom.
        shows: asks whether octets show it.
        text: well-formed text.
        place: where the target says that it refused well-formed text.
    """
    if symptom == ACCEPTS or symptom in OFFSETS or text.end(octets) < len(octets):
        octets = _with_one_flaw(octets, text, shows)
        start, end = _flaw(octets, text, shows)
    else:
        found = _character(octets, shows, text, place)
        if found is None:
            return Setting(b"", kept_behind=octets)
        octets, start, end = found
    return Setting(octets[start:end], kept_before=octets[:start], kept_behind=octets[end:])


def _with_one_flaw(octets: bytes, text: Text, shows: Shows) -> bytes:
    """A long input with ASCII around one of its errors, if that shows the same: the last, the middle or the first."""
    if len(octets) <= BURDEN:
        return octets
    starts = [start for start, _ in text.flaws(octets)]
    if len(starts) < _FEW:
        return octets
    spans = [(start, start + size) for start in (starts[-1], starts[len(starts) // 2], starts[0]) for size in _SIZES]
    tried = [
        b"a" * start + octets[start:end] + b"a" * (len(octets) - end) for start, end in spans if end <= len(octets)
    ]
    return next((each for each, shown in zip(tried, shows(tried), strict=True) if shown), octets)


def _flaw(octets: bytes, text: Text, shows: Shows) -> tuple[int, int]:
    """The ill-formed part: from the first flaw, as short as the rest allows, and as the same shows before ASCII."""
    start = text.end(octets)
    end = start + 1
    while end < len(octets) and not text.is_well_formed(octets[end:]):
        end += 1
    end = min(end, len(octets))
    ends = [each for each in range(end, min(end + _EXTENT, len(octets)) + 1) if text.is_well_formed(octets[each:])]
    said = shows([octets[:each] + b"a" * (len(octets) - each) for each in ends])
    return start, next((each for each, shown in zip(ends, said, strict=True) if shown), end)


def _character(octets: bytes, shows: Shows, text: Text, place: int | None) -> tuple[bytes, int, int] | None:
    """Octets with filler wherever it does no harm, and the character that matters; None if none does."""
    octets = blanked(octets, shows, text)
    found = text.pieces(octets)
    said_so = [(start, end) for start, end in found if place is not None and start <= place < end]
    kept = [span for span in found if octets[slice(*span)] != b"a"]
    for spans in (said_so, kept, found):
        tried = spans[-(TOGETHER if len(octets) <= BURDEN else _FEW) :]
        said = shows([octets[:start] + _instead(octets[start:end]) + octets[end:] for start, end in tried])
        needed = [span for span, shown in zip(tried, said, strict=True) if not shown]
        if needed:
            chosen = next((span for span in reversed(needed) if octets[slice(*span)] not in text.fillers), needed[-1])
            return octets, *chosen
    return None


def _instead(character: bytes) -> bytes:
    return b"b" if character == b"a" else b"a" * len(character)


def blanked(octets: bytes, shows: Shows, text: Text) -> bytes:
    """The octets with ASCII for whatever does not matter, each part as long as before."""
    edges = [*(start for start, _ in text.pieces(octets)), len(octets)]
    size = len(edges) // 2
    while size:
        ends = sorted({*edges[::size], len(octets)})
        spans = [(start, end) for start, end in pairwise(ends) if octets[start:end].strip(b"a")]
        if len(spans) > TOGETHER or len(spans) * len(octets) > OCTETS:
            return octets
        at = 0
        while at < len(spans):
            some = spans[at:]
            said = shows([octets[:start] + b"a" * (end - start) + octets[end:] for start, end in some])
            first = next((number for number, shown in enumerate(said) if shown), None)
            if first is None:
                break
            start, end = some[first]
            octets = octets[:start] + b"a" * (end - start) + octets[end:]
            at += first + 1
        size //= 2
    return octets


def simplified(setting: Setting, shows: Shows, text: Text) -> Setting:
    """The setting with as little around the core as shows the same."""
    for _ in range(2):
        before = setting
        for behind in (False, True):
            setting = _first(setting, _simpler(setting, text, behind=behind), shows)
        for behind in (False, True):
            setting = _shorter(setting, shows, behind=behind)
        if setting == before:
            break
    return setting


def _plainness(setting: Setting) -> tuple[int, int, int]:
    return (
        len(setting.octets),
        len(setting.kept_before) + len(setting.kept_behind),
        sum(2 * len(each) + (each == b"\0") for each in (setting.filler, setting.filler_behind)),
    )


def _first(setting: Setting, candidates: Iterable[Setting], shows: Shows) -> Setting:
    """The least of some settings that shows the same."""
    now = _plainness(setting)
    less = sorted((each for each in dict.fromkeys(candidates) if _plainness(each) < now), key=_plainness)
    found = first_shown(less, lambda each: len(each.octets), lambda some: shows([each.octets for each in some]))
    return setting if found is None else found


def _simpler(setting: Setting, text: Text, *, behind: bool) -> Iterable[Setting]:
    octets = setting.behind if behind else setting.before
    plain = octets.rstrip(b"a") if behind else octets.lstrip(b"a")
    for kept in dict.fromkeys((*_kept(octets), len(plain))):
        rest = len(octets) - kept
        place = kept if behind else rest
        if place < len(octets) and octets[place] not in text.leads:  # no character is cut
            continue
        for filler in _unlike(setting.core, text):
            for count in {*range(9), rest // len(filler), rest}:
                if behind:
                    yield replace(setting, filler_behind=filler, count_behind=count, kept_behind=octets[:place])
                else:
                    yield replace(setting, filler=filler, count=count, kept_before=octets[place:])


def _unlike(core: bytes, text: Text) -> list[bytes]:
    """Fillers that are no character like the core: one of these could show the same in its place."""
    return [filler for filler in text.fillers if len(filler) == 1 or len(filler) != len(core)]


def _kept(octets: bytes) -> range:
    """How many octets next to the core to keep: each number, if the octets are no burden."""
    return range(0, min(len(octets), _KEPT) + 1, _KEPT if len(octets) > BURDEN else 1)


def _shorter(setting: Setting, shows: Shows, *, behind: bool) -> Setting:
    """With fewer fillers: the least number if it is small, otherwise found by halving: most faults stay from it on."""

    def with_count(count: int) -> Setting:
        return replace(setting, count_behind=count) if behind else replace(setting, count=count)

    high = setting.count_behind if behind else setting.count
    near = [*range(min(high, _KEPT if len(with_count(0).octets) > BURDEN else _NEAR))]
    low = len(near) - 1
    few = shows([with_count(each).octets for each in near])
    high = next((count for count, shown in enumerate(few) if shown), high)
    while high - low > 1:
        step = max(1, (high - low) // _STEPS)
        tried = [*range(low + step, high, step)][:_AT_ONCE]
        said = shows([with_count(each).octets for each in tried])
        shown = next((number for number, yes in enumerate(said) if yes), len(tried))
        low = tried[shown - 1] if shown else low
        high = tried[shown] if shown < len(tried) else high
        if shown == len(tried) and step == 1:
            break
    return with_count(high)


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
_MOST_FILLER = 256
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
    if finding.code in CHANGING or finding.operation in ENCODING:
        return finding, False
    ask = _of_questions(ask) if finding.operation in ASKING else ask
    most = 1 if not is_answer(finding) else _IN_MEMORY if finding.operation in IN_MEMORY else TOGETHER
    tried: set[tuple[object, ...]] = set()  # the vectors that did not show it

    def shows(vectors: Sequence[Vector]) -> list[bool]:
        nonlocal finding
        said = ask(vectors)
        shown = [found if found is not None and found.bucket == finding.bucket else None for found in said]
        tried.update(order(vector) for vector, found in zip(vectors, shown, strict=True) if found is None)
        finding = next(filter(None, shown), finding)
        return [found is not None for found in shown]

    def less(idea: Callable[[Vector], Iterator[Vector]]) -> None:
        """Take the least candidate that shows it, until there is none."""
        found: Vector | None = finding.vector
        while found is not None:
            now, ordered = order(finding.vector), {order(each): each for each in idea(finding.vector)}
            candidates = [ordered[key] for key in sorted(key for key in ordered if key < now and key not in tried)]
            found = first_shown(candidates, lambda vector: len(vector.octets), shows, most)

    def halving(least: int) -> None:
        """Ranges of half the input, of a quarter, and so on."""
        size = len(finding.vector.octets) // 2
        while size >= least:
            less(partial(_without, size=size))
            less(partial(_filled, size=size))
            size //= 2

    with suppress(OutOfBudget):
        # the likeliest first: a crash costs a process each time, a hang the time limit
        halving(2 * _PART)
        if _is_long(finding.vector):
            return finding, False
        less(_parts)
        halving(1)
        at = None
        while at is not finding:
            at = finding
            for idea in (_fewer_chunks, _less_before, partial(_without, size=1), _lowered):
                less(idea)
        return finding, True
    return finding, False


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
            if start <= _MOST_FILLER:
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
