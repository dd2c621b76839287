"""Hypothesis strategies for decoders' inputs, read off the automaton. For tests of your own.

    >>> from hypothesis import given
    >>> from overlong.fuzz.strategies import chunked, defect, ill_formed, well_formed
    >>> @given(ill_formed())
    ... def test_refuses(octets): ...
    >>> @given(well_formed())
    ... def test_accepts(octets): ...
    >>> @given(defect("OV201"))  # overlong forms; shrinks to C0
    ... def test_no_overlong_form_passes(octets): ...
    >>> @given(chunked())  # a list of chunks, for a decoder of streams
    ... def test_chunks_do_not_matter(chunks): ...

Random octets are almost never nearly well-formed: a decoder's third branch is not reached by chance.
These strategies walk into every state of the automaton and leave it by both ends of every range. What decoders of
streams can do wrong between calls is for ``overlong.fuzz.streams``.
"""

from __future__ import annotations

from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from overlong.conformance.vectors.formats.text import tokens
from overlong.conformance.vectors.vector import cut
from overlong.fuzz.choice import tokens_of
from overlong.reference import DEFECTS, MaximalSubpart, dialect, encode, is_well_formed, segments
from overlong.reference.automaton import access_words, shortlex
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy


@cache
def characters() -> SearchStrategy[bytes]:
    """One well-formed character, each row of the grammar as likely as any other, its ends favoured."""

    def of(ranges: tuple[range, ...]) -> SearchStrategy[bytes]:
        octet = [st.sampled_from([octets[0], octets[-1], *octets]) for octets in ranges]
        return st.tuples(*octet).map(bytes)

    return st.one_of(list(map(of, well_formed_products(dialect().automaton))))


def well_formed(*, max_characters: int = 40) -> SearchStrategy[bytes]:
    """Well-formed octets: text in any script, and text of characters at the edges of the grammar."""
    return _well_formed(max_characters)


@cache  # what is made anew for each draw costs more than drawing
def _well_formed(most: int) -> SearchStrategy[bytes]:
    texts = st.text(max_size=most).map(encode)
    return st.one_of(texts, st.lists(characters(), max_size=most).map(b"".join))


@cache
def unfinished() -> SearchStrategy[bytes]:
    """A way into a live state of the automaton: nothing, or what begins a character and does not end it."""
    return st.sampled_from(_ways_in())


@cache
def steps() -> SearchStrategy[bytes]:
    """A way into a live state of the automaton, and then an edge octet of some class."""
    ranges = [octets for each in dialect().automaton.classes for octets in each.ranges]
    ends = sorted({end for octets in ranges for end in (octets.low, octets.high)})
    return st.tuples(unfinished(), st.sampled_from(ends)).map(lambda pair: pair[0] + bytes([pair[1]]))


@cache
def _ways_in() -> list[bytes]:
    automaton = dialect().automaton
    return [word for state, word in enumerate(access_words(automaton)) if state != automaton.dead]


def near_misses(*, max_pieces: int = 12) -> SearchStrategy[bytes]:
    """Octets that are well-formed or nearly: characters, what begins like one, and a little noise."""
    return _near_misses(max_pieces)


@cache
def _near_misses(most: int) -> SearchStrategy[bytes]:
    pieces = st.one_of(steps(), characters(), st.binary(max_size=4))
    return st.lists(pieces, max_size=most).map(b"".join)


@cache
def _flawed(most: int) -> SearchStrategy[bytes]:
    return _near_misses(most).filter(lambda octets: not is_well_formed(octets))


@st.composite
def ill_formed(draw: DrawFn, *, max_pieces: int = 12) -> bytes:
    """Ill-formed octets: something that begins no character or does not end one, among well-formed text."""
    before = draw(well_formed(max_characters=max_pieces))
    flaw = draw(_flawed(3))
    after = draw(near_misses(max_pieces=max_pieces))
    octets = before + flaw + after
    # what follows may complete what was truncated: then the flaw stands last
    return before + flaw if is_well_formed(octets) else octets


def defects() -> tuple[str, ...]:
    """The codes of the defects that RFC 3629 knows, which :func:`defect` takes."""
    return tuple(sorted(_flaws()))


def defect(code: str, *, max_pieces: int = 8) -> SearchStrategy[bytes]:
    """Octets whose first flaw has this defect: well-formed text, the flaw, and anything after it.

    They shrink to the shortlex-least octets that have it: ``C0`` for ``"OV201"``, ``ED A0`` for ``"OV202"``.

    Args:
        code: of a defect that RFC 3629 knows: ``"OV201"`` to ``"OV208"``.
        max_pieces: characters before the flaw, and pieces after it.

    Raises:
        ValueError: there is no such defect, or only other dialects have it.
    """
    if code not in DEFECTS:
        raise ValueError(f"no defect {code!r}; there are {', '.join(DEFECTS)}")
    flaws = _flaws().get(code)
    if flaws is None:
        raise ValueError(f"{code} ({DEFECTS[code].title}): nothing is that by RFC 3629, only other dialects have it")
    before = st.lists(characters(), max_size=max_pieces).map(b"".join)
    after = near_misses(max_pieces=max_pieces)
    parts = st.tuples(before, _one_of_each(flaws), after)
    # what follows may interrupt or complete what was truncated: then the flaw stands last
    return parts.map(lambda found: _kept(found, code))


def _one_of_each(flaws: tuple[tuple[tuple[int, ...], ...], ...]) -> SearchStrategy[bytes]:
    """Octets, one of each of those of one flaw, ends favoured.

    As many things are drawn for each flaw: Hypothesis takes what draws less for simpler, whatever comes of it.
    """
    places = st.sampled_from([0, 0xFF, *range(0x100)])
    longest = max(map(len, flaws))

    def octets(drawn: tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]) -> bytes:
        return bytes(each[place * len(each) >> 8] for each, place in zip(*drawn, strict=False))

    return st.tuples(st.sampled_from(flaws), st.tuples(*[places] * longest)).map(octets)


def _kept(parts: tuple[bytes, bytes, bytes], code: str) -> bytes:
    """The parts in a row; without the last one if that changes the first flaw."""
    before, flaw, after = parts
    return before + flaw + after if first_defect(before + flaw + after) == code else before + flaw


def first_defect(octets: bytes) -> str:
    """The code of the first flaw's defect; empty for well-formed octets."""
    return next((found.defect.code for found in segments(octets) if isinstance(found, MaximalSubpart)), "")


@cache
def _flaws() -> dict[str, tuple[tuple[tuple[int, ...], ...], ...]]:
    """For each defect, what shows it: octets to choose from, one after the other; those with the least octets first.

    Every way out of every row of the grammar: its beginnings with each octet that cannot go on, or with nothing more.
    And what bad decoders take for characters, whole: their later octets are well-formed tails.
    """
    found: dict[str, dict[tuple[tuple[int, ...], ...], None]] = {}
    for ranges in well_formed_products(dialect().automaton):
        for length in range(len(ranges)):
            begun = tuple(tuple(octets) for octets in ranges[:length])
            least = bytes(octets[0] for octets in begun)
            for code, octets in groupby(range(0x100), key=lambda octet: first_defect(least + bytes([octet]))):
                if code and (length == 0 or code != first_defect(least)):
                    found.setdefault(code, {})[(*begun, tuple(octets))] = None
            if least:
                found.setdefault(first_defect(least), {})[begun] = None
    for token in (*tokens(), *tokens_of(dialect()).completed, *tokens_of(dialect()).lenient):
        if code := first_defect(token):
            found.setdefault(code, {})[tuple((octet,) for octet in token)] = None
    return {
        code: tuple(sorted(ways, key=lambda way: shortlex(bytes(octets[0] for octets in way))))
        for code, ways in found.items()
    }


def chunkings(octets: bytes, *, max_cuts: int = 6) -> SearchStrategy[tuple[int, ...]]:
    """Ways to cut octets: the lengths of the chunks, some of them 0."""

    def lengths(cuts: list[int]) -> tuple[int, ...]:
        places = [0, *sorted(cuts), len(octets)]
        return tuple(end - start for start, end in pairwise(places))

    return st.lists(st.sampled_from(range(len(octets) + 1)), max_size=max_cuts).map(lengths)


@st.composite
def chunked(draw: DrawFn, octets: SearchStrategy[bytes] | None = None, *, max_cuts: int = 6) -> list[bytes]:
    """Octets in chunks, some of them empty."""
    whole = draw(octets if octets is not None else near_misses())
    return cut(whole, draw(chunkings(whole, max_cuts=max_cuts)))
