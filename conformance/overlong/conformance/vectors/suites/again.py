"""Used before: a decoder that has decoded one stream and was reset must decode another like a new decoder.

The suite has every earlier stream with every later one. An earlier stream is: nothing, well-formed text, a
character truncated after each of its octets (in one chunk, and octet by octet), a refusal of each kind of defect in
the first, a middle or the last chunk, a signature, or half a signature. A leftover state would spoil the later
streams. All of these are also in the suite "chunking", so the earlier stream causes any failure that occurs only
here. A few more vectors are inputs that a real decoder got wrong.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import AGAIN
from overlong.conformance.vectors.suites.core import core_vectors
from overlong.conformance.vectors.suites.suite import of_vectors
from overlong.conformance.vectors.vector import Vector
from overlong.reference import dialect, encode_scalars
from overlong.reference.automaton import access_words, in_shortlex, shortlex

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.reference import Dialect

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
