"""Suites of octets in parts: streams in chunks, after other streams, or after many octets; and values of a list."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations, pairwise, product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN, SEPARATE, STREAMING
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.families.family import first_and_last, prefixes
from overlong.conformance.vectors.pieces import fillers, pieces
from overlong.conformance.vectors.suites.suite import BATCH, Suite, batched, core_vectors, in_batches, of_vectors
from overlong.conformance.vectors.vector import LONGEST_HEX, Vector
from overlong.reference import MaximalSubpart, dialect, encode_scalars
from overlong.reference.automaton import access_words, in_shortlex, shortlex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect
    from overlong.reference.automaton import Automaton


# Chunking: the same octets, cut into chunks. A stream decoder must give the result of the whole input.
#
# Every vector of the core is cut in these ways, each cut once:
#
# - up to 24 octets: at every place (two chunks), at every two places (three chunks), and at every place with an empty
#   chunk in the cut;
# - up to 300 octets: at every place; at two places one to three octets apart, if the first is within four octets of an
#   octet that is not ASCII, or of a multiple of 64; with an empty chunk in a cut within that distance;
# - beyond: the same, but only at places within four octets of an end, of a multiple of 1024, or of a flaw;
# - whole; octet by octet (up to 300 octets); octet by octet with an empty chunk after each octet (up to 24); with empty
#   chunks at the start, at the end and at both.
#
# So every character and every flaw of the core is cut at each place and at each two places, U+FEFF at the start too.

SHORT = 24
"""The most octets of an input that is cut in every way into two and three."""
MEDIUM = 300
"""The most octets of an input that is cut in every way into two: more than 256, a usual size of buffers."""
NEAR = 4
"""The octets of the longest character."""


def cuts(octets: bytes) -> Iterator[tuple[int, ...]]:
    """The chunk lengths of the cuts listed above, without repetition."""
    yield from dict.fromkeys(_cuts(octets))


def _cuts(octets: bytes) -> Iterator[tuple[int, ...]]:
    size = len(octets)
    yield (size,)
    yield from ((0, size), (size, 0), (0, size, 0))
    places = places_to_cut(octets)
    yield from ((place, size - place) for place in places)
    if size <= SHORT:
        yield from ((first, second - first, size - second) for first, second in combinations(places, 2))
        yield from ((place, 0, size - place) for place in places)
        yield (1, 0) * size or (0,)
    else:
        chosen = set(places)
        for first in filter(_near_edges(octets).__contains__, places):
            yield (first, 0, size - first)
            for width in range(1, NEAR):
                if first + width in chosen:
                    yield (first, width, size - first - width)
    if 0 < size <= MEDIUM:
        yield (1,) * size


def places_to_cut(octets: bytes) -> list[int]:
    """The places at which ``octets`` are cut into two: all of them, or those beside edges and flaws."""
    size = len(octets)
    inside = range(1, size)
    if size <= MEDIUM:
        return list(inside)
    edges = {0, size, *range(0, size, 1024)}
    for found in Vector("", octets).segments:
        if isinstance(found, MaximalSubpart):
            edges |= {found.offset, found.offset + found.length}
    return sorted(place for place in _around(edges) if place in inside)


def _near_edges(octets: bytes) -> set[int]:
    """Places within four octets of an octet that is not ASCII, or of a multiple of 64."""
    return _around({place for place, octet in enumerate(octets) if octet > 0x7F or place % 64 == 0})


def _around(places: set[int]) -> set[int]:
    return {near for place in places for near in range(place - NEAR, place + NEAR + 1)}


def _chunked() -> Iterator[tuple[Vector, tuple[int, ...]]]:
    return ((vector, chunks) for vector in core_vectors() for chunks in cuts(vector.octets))


def _batches(_: Profile) -> Iterator[Batch]:
    for some in batched(_chunked(), BATCH):
        vectors, chunks = zip(*some, strict=True)
        comments = tuple([vector.comment for vector in vectors])
        yield Batch.of_strings("chunking", [vector.octets for vector in vectors], chunks, comments)


CHUNKING = Suite("chunking", "the result does not depend on where the input is cut", _batches, asks=STREAMING)


# Used before: a decoder that has decoded one stream and was reset must decode another like a new decoder.
#
# The suite has every earlier stream with every later one. An earlier stream is: nothing, well-formed text, a character
# truncated after each of its octets (in one chunk, and octet by octet), a refusal of each kind of defect in the first,
# a middle or the last chunk, a signature, or half a signature. A leftover state would spoil the later streams. All of
# these are also in the suite "chunking", so the earlier stream causes any failure that occurs only here. A few more
# vectors are inputs that a real decoder got wrong.

SIGNATURE = encode_scalars([0xFEFF])

LATER: tuple[tuple[bytes, ...], ...] = (
    (b"",),
    (b"a",),
    (b"a", b""),
    (b"", b"a"),
    (b"\x80",),
    (b"\x80\x80",),
    (b"\x80\x80\x80",),
    (b"\x80", b"\x80\x80"),
    (b"\xbf",),
    (b"\xc2",),
    (b"\xf0\x90\x80",),
    (b"\xc2", b"\x80"),
    (b"\xf0\x90", b"\x80\x80"),
    (b"\xff",),
    (b"\xff", b""),
    (SIGNATURE,),
    (SIGNATURE[:1], SIGNATURE[1:]),
    (SIGNATURE + b"a\xc3\xa9",),
)
"""Chunks of the later streams: tail octets first, a letter, characters cut in two or truncated, an ill-formed first
octet, a signature, and nothing."""


@cache
def earlier_streams() -> tuple[tuple[bytes, ...], ...]:
    """Chunks of the earlier streams, each once."""
    return tuple(dict.fromkeys(_earlier()))


def _earlier() -> Iterator[tuple[bytes, ...]]:
    yield from ((b"",), (b"a",), (b"\xc2\x80",), (b"\xf0\x90", b"\x80\x80"), (b"a", b""))
    yield from ((SIGNATURE,), (SIGNATURE, b"a"), (SIGNATURE[:1], SIGNATURE[1:]), (b"", SIGNATURE[:2]))
    for begun in unfinished():
        yield (begun,)
        yield tuple(bytes([octet]) for octet in begun)
        yield (begun, b"")
        yield (b"a" + begun[:1], begun[1:])
        yield (begun, b"a")  # refused in the second chunk
    for flawed in defects():
        yield from ((flawed,), (flawed, b"a"), (b"a", flawed, b"a"), (b"a", flawed))
        yield tuple(bytes([octet]) for octet in flawed)


def unfinished(spoken: Dialect | None = None) -> list[bytes]:
    """The least octets that lead to each place inside a character, for each form of the grammar."""
    automaton = (spoken or dialect()).unfolded
    words = access_words(automaton)
    inside = {state for state in range(len(automaton)) if not automaton.accepting[state]} - {0, automaton.dead}
    return in_shortlex(words[state] for state in inside)


def defects() -> list[bytes]:
    """For each kind of defect that does not need the end of the input, the least octets of the core that have it."""
    least: dict[str, bytes] = {}
    for vector in sorted(core_vectors(), key=lambda vector: shortlex(vector.octets)):
        if vector.flaw is not None and not vector.flaw.incomplete:
            least.setdefault(vector.flaw.defect.code, vector.octets)
    return list(least.values())


def _known() -> Iterator[Vector]:
    """A bug of Firefox's decoder: after a refusal it put a signature out as a character."""
    references = (
        "https://bugzilla.mozilla.org/show_bug.cgi?id=2005419",
        "https://github.com/web-platform-tests/wpt/pull/56892",
    )
    for later in (SIGNATURE, SIGNATURE + b"@", SIGNATURE * 2):
        comment = "a signature is one again after a stream that was refused"
        chunks = (len(later),)
        yield Vector("again", later, comment, chunks, (), "Firefox", references, earlier=(b"\xff",))


@cache
def _vectors() -> tuple[Vector, ...]:
    computed = (
        Vector("again", b"".join(later), chunks=tuple(map(len, later)), earlier=earlier)
        for earlier, later in product(earlier_streams(), LATER)
    )
    return (*computed, *_known())


USED_BEFORE = of_vectors(
    "used-before",
    "the result does not depend on the stream that the decoder decoded before",
    lambda _: _vectors(),
    AGAIN,
    listed=_vectors,
)


# Totals: a decoder object that has been fed many octets must answer like a new one.
#
# Some objects count what they have decoded, and fail from some total on: wasm-bindgen's kept one that failed after a
# mebioctet in all (#4472). One suite has streams of 2^16 octets before an error or a character. In the others, the
# earlier stream has 2^16 to 2^24 octets; after a reset, the later stream has a few. Chunks end inside characters.
#
# Totals of 2^20 octets are not asked in one stream: to compute the answer would take seconds for each.

CATEGORY = "totals"
_IN_ALL = 1 << 16
"""The octets of a stream."""
_CHUNKS = 16
"""The approximate number of chunks: few, since some decoders read all octets again with each."""
_ODD = 3
"""The octets by which chunks are shorter, so that they cut characters at each place in turn."""
_NO_LEAD = b"\xff"


def _cut(octets: bytes) -> Iterator[bytes]:
    size = len(octets) // _CHUNKS - _ODD
    return (octets[start : start + size] for start in range(0, len(octets), size))


@cache
def _text(automaton: Automaton, length: int) -> bytes:
    """Text of the longest characters: it has the fewest."""
    filler = fillers(automaton)[-1]
    return filler * (length // len(filler))


@cache
def _streams(automaton: Automaton) -> tuple[Vector, ...]:
    """Long streams that end with an error, in a character, or with a character."""
    text, filler = _text(automaton, _IN_ALL), fillers(automaton)[-1]
    ends = (_NO_LEAD + b"a", pieces(automaton).kinds[0], filler[:-1], filler + b"a")
    return tuple(_stream(text + end) for end in ends)


def _stream(octets: bytes) -> Vector:
    return Vector(CATEGORY, octets, "after many octets in one stream", tuple(map(len, _cut(octets))))


@cache
def _again(lengths: tuple[int, ...], automaton: Automaton) -> tuple[Vector, ...]:
    """An error, and a character in two chunks, after a long stream of each length."""
    filler = fillers(automaton)[-1]
    later = ((_NO_LEAD,), (filler[:1], filler[1:]))
    return tuple(
        Vector(
            CATEGORY,
            b"".join(chunks),
            "after a stream of many octets",
            tuple(map(len, chunks)),
            earlier=tuple(_cut(_text(automaton, length))),
        )
        for length in lengths
        for chunks in later
    )


def _suite(name: str, sentence: str, asks: str, made: Callable[[Automaton], tuple[Vector, ...]]) -> Suite:
    """One vector in each batch: it takes long."""
    return Suite(name, sentence, lambda profile: in_batches(made(profile.dialect.automaton), 1), asks=asks)


def _used_before(name: str, sentence: str, *lengths: int) -> Suite:
    return _suite(name, sentence, AGAIN, partial(_again, lengths))


TOTALS = _suite("totals", "the result does not depend on how many octets the stream had", STREAMING, _streams)
TOTALS_USED_BEFORE = (
    _used_before("totals-used-before", "nor on how many octets the decoder has decoded before", 1 << 16, 1 << 20),
    _used_before("totals-longer", "the same after 2^22 octets", 1 << 22),
    _used_before("totals-longest", "the same after 2^24 octets", 1 << 24),
)
"""Suites of ever longer streams."""


# Separate values: a list is well-formed if each of its values is well-formed alone, even if joined they differ.
#
# A columnar format keeps the strings of a column in one buffer, with offsets between them. CBOR has text strings in
# chunks, each of which must be well-formed (RFC 8949 section 3.2.3). Some functions take many strings at once. A
# decoder that validates the joined octets as one text accepts the two values C3 and A9, although neither is UTF-8.
#
# So the suite cuts the characters at the ends of the grammar's ranges at every place between values, alone and between
# neighbours. For each such list it has one in which a value holds the whole character. It puts values that are always
# ill-formed at each place, and empty values everywhere. Long values put the cut at the powers of two that bound a width
# of offsets or of lengths; long lists do so with the number of values.

VALUES = "values"
"""The category of vectors that are lists of values; their chunks are the values."""

EDGES = (24, 64, 128, 256, 1 << 12, 1 << 15, 1 << 16)
"""Limits, in octets, of CBOR's lengths, of blocks of vector instructions, and of widths of offsets."""
COUNTS = (64, 256, 1024, 0xFFFF)
"""Numbers of values; the last is the most that a request holds."""

Values = tuple[bytes, ...]
_NEIGHBOURS: tuple[Values, ...] = ((), (b"a",), (b"\xc3\xa9",), (b"",), (b"\xf0\x9f\x98\x80", b""))


def _cut_anywhere(octets: bytes) -> Iterator[Values]:
    """The octets in two or more values, cut at every choice of places."""
    for count in range(1, len(octets)):
        for places in combinations(range(1, len(octets)), count):
            yield tuple(octets[start:end] for start, end in pairwise((0, *places, len(octets))))


def _characters() -> Iterator[tuple[Values, str]]:
    for character in first_and_last():
        yield (character,), "a character"
        yield (character, character), "a character in each value"
        for parts in _cut_anywhere(character):
            yield parts, "a character cut between values"
            yield tuple(each for piece in parts for each in (piece, b""))[:-1], "cut, with an empty value between"
            yield (b"a" + parts[0], *parts[1:-1], parts[-1] + b"a"), "cut, with letters around"
            yield (character + parts[0], *parts[1:-1], parts[-1] + character), "cut, with whole ones around"


def _beside_neighbours() -> Iterator[tuple[Values, str]]:
    whole: tuple[Values, ...] = ((b"\xc3\xa9",), (b"\xe2\x82\xac",), (b"\xf0\x9f\x98\x80",))
    for before in _NEIGHBOURS:
        for after in _NEIGHBOURS:
            for (character,) in whole:
                yield (*before, character, *after), "well-formed neighbours"
                for parts in _cut_anywhere(character):
                    yield (*before, *parts, *after), "cut between values, beside well-formed neighbours"


def _flawed() -> Iterator[tuple[Values, str]]:
    flawed = [(octets, "ill-formed in any company") for octets in defects()]
    flawed += [(octets, "a character cut short") for octets in prefixes()]
    for octets, what in flawed:
        yield (octets,), what
        for before in _NEIGHBOURS[1:]:
            yield (*before, octets), f"{what}, in the last value"
            yield (octets, *before), f"{what}, in the first value"
            yield (*before, octets, *before), f"{what}, in the middle"
    for begun in prefixes():
        yield (begun, b"\x80"), "a value that begins with a tail octet"
        yield (begun, begun), "two characters cut short"


def _plain() -> Iterator[tuple[Values, str]]:
    for values in ((b"",), (b"", b""), (b"a",), (b"a", b"b"), (b"", b"a"), (b"a", b""), (b"\0", b"\0")):
        yield values, "nothing, or ASCII"
    for values in ((SIGNATURE,), (SIGNATURE, SIGNATURE), (SIGNATURE + b"a", b""), (b"a", SIGNATURE)):
        yield values, "a signature in a value"
    yield from ((parts, "a signature cut between values") for parts in _cut_anywhere(SIGNATURE))


def _at_edges() -> Iterator[tuple[Values, str]]:
    """Lists whose cut, or whose end of the joined octets, is before, at and after each edge."""
    for edge in EDGES:
        for size in (edge - 1, edge, edge + 1):
            room = b"a" * (size - 1)
            yield (room + b"a",), f"{size} octets"
            yield (room + b"a", b"\xc3\xa9"), f"{size} octets, then a character"
            yield (b"\xc3\xa9", room + b"a", b"\xc3\xa9"), f"{size} octets between characters"
            yield (room + b"\xc3", b"\xa9"), f"a character cut at offset {size}"
            yield (b"a", room[1:] + b"\xc3", b"\xa9"), f"a character cut at offset {size}, after a value"
            yield (room + b"\xc3", b"\xa9" + room), f"a character cut at offset {size}, and as much after it"
            yield (room, b"\xff"), f"FF at offset {size - 1}"
            yield (room + b"\xc3\xa9"[:1],), f"a character cut short by the end, at offset {size}"


def _many() -> Iterator[tuple[Values, str]]:
    for count in COUNTS:
        yield (b"a",) * count, f"{count} values"
        yield (b"\xc3\xa9",) * count, f"{count} values of one character"
        yield (b"a" * LONGEST_HEX + b"a", *(b"",) * (count - 1)), f"{count} values, all but the first empty"
        cut = (b"\xc3", b"\xa9")
        half = (b"a",) * (count // 2 - 1)
        yield (*half, *cut, *(b"a",) * (count - len(half) - 2)), f"a character cut amid {count} values"
        yield ((b"a",) * (count - 2) + cut), f"a character cut between the last of {count} values"
        yield (cut + (b"a",) * (count - 2)), f"a character cut between the first of {count} values"
        yield ((b"a",) * (count - 1) + cut[:1]), f"a character cut short by the end of {count} values"


@cache
def list_vectors() -> tuple[Vector, ...]:
    """Each list once."""
    first: dict[Values, Vector] = {}
    for make in (_plain, _characters, _beside_neighbours, _flawed, _at_edges, _many):
        for values, what in make():
            vector = Vector(VALUES, b"".join(values), what, chunks=tuple(map(len, values)))
            first.setdefault(values, vector)
    return tuple(first.values())


SEPARATE_VALUES = of_vectors(
    "separate-values", "each value of a list is judged by itself", lambda _: list_vectors(), SEPARATE
)
