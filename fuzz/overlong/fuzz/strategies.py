"""Hypothesis strategies for decoders' inputs, read off the automaton. For anybody's tests.

    >>> from hypothesis import given
    >>> from overlong.fuzz.strategies import ill_formed
    >>> @given(ill_formed())
    ... def test_refuses(octets): ...

Random octets are almost never nearly well-formed: a decoder's third branch is not reached by chance.
These strategies walk into every state of the automaton and leave it by both ends of every range.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from overlong.reference import dialect, encode, is_well_formed
from overlong.reference.order import well_formed_products
from overlong.reference.theory import access_words

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


def characters() -> SearchStrategy[bytes]:
    """One well-formed character, each row of the grammar as likely as any other, its ends favoured."""

    def of(ranges: tuple[range, ...]) -> SearchStrategy[bytes]:
        octet = [st.sampled_from([octets[0], octets[-1], *octets]) for octets in ranges]
        return st.tuples(*octet).map(bytes)

    return st.one_of(list(map(of, well_formed_products(dialect().automaton))))


def well_formed(*, max_characters: int = 40) -> SearchStrategy[bytes]:
    """Well-formed octets: text in any script, and text of characters at the edges of the grammar."""
    texts = st.text(max_size=max_characters).map(encode)
    edges = st.lists(characters(), max_size=max_characters).map(b"".join)
    return st.one_of(texts, edges)


def steps() -> SearchStrategy[bytes]:
    """A way into a live state of the automaton, and then an edge octet of some class."""
    automaton = dialect().automaton
    ends = sorted({end for each in automaton.classes for octets in each.ranges for end in (octets.low, octets.high)})
    words = [word for state, word in enumerate(access_words(automaton)) if state != automaton.dead]
    return st.tuples(st.sampled_from(words), st.sampled_from(ends)).map(lambda pair: pair[0] + bytes([pair[1]]))


def near_misses(*, max_pieces: int = 12) -> SearchStrategy[bytes]:
    """Octets that are well-formed or nearly: characters, what begins like one, and a little noise."""
    pieces = st.one_of(steps(), characters(), st.binary(max_size=4))
    return st.lists(pieces, max_size=max_pieces).map(b"".join)


@st.composite
def ill_formed(draw: DrawFn, *, max_pieces: int = 12) -> bytes:
    """Ill-formed octets: something that begins no character or does not end one, among well-formed text."""
    before = draw(well_formed(max_characters=max_pieces))
    flaw = draw(near_misses(max_pieces=3).filter(lambda octets: not is_well_formed(octets)))
    after = draw(near_misses(max_pieces=max_pieces))
    octets = before + flaw + after
    # what follows may complete what was truncated: then the flaw stands last
    return before + flaw if is_well_formed(octets) else octets


@st.composite
def chunked(draw: DrawFn, octets: SearchStrategy[bytes] | None = None, *, max_cuts: int = 6) -> list[bytes]:
    """Octets in chunks, some of them empty."""
    whole = draw(octets if octets is not None else near_misses())
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=max_cuts)))
    return [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
