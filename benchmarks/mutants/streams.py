"""A population of wrong decoders of streams: octets lost or kept at a cut, at the end, or from an earlier stream."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from mutants.faults import CHARACTERS, access, threshold
from mutants.spoken import Population, Spoken
from overlong.conformance.protocol.wire import AGAIN_DECODE, STREAM_DECODE, again_payload, stream_payload
from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Chunks = tuple[bytes, ...]
_MOST_CHUNKS = 0xFFFF
_MOST_OCTETS = 1 << 24
"""The most octets of the streams that may prove one mutant wrong: long texts would make too many."""
_ILL_FORMED = (b"\xe0\x80\x80", b"\xed\xa0\x80", b"\xf0\x80\x80\x80", b"\xf4\x90\x80\x80", b"\xe1\x80a", b"\xc3a")
_LEADS = (*range(0xC2, 0xF5),)


@dataclass(frozen=True)
class _When:
    """A condition about a cut, and chunks that may make it true."""

    words: str
    condition: str
    before: tuple[Chunks, ...] = ((b"",),)
    """Chunks before a piece; the last of them continues."""
    between: tuple[Chunks, ...] = ((),)
    """Chunks in the cut."""
    leads: tuple[int, ...] = ()
    """The lead octets of the characters to be cut; empty for all."""


def _in_state(random: Random) -> _When:
    states = [state for state in access() if state]
    state = random.choice(states)
    lead = access()[state][0]
    return _When(f"after {access()[state].hex(' ').upper()}", f"now->state == {state}", leads=(lead,))


def _after_lead(random: Random) -> _When:
    lead = random.choice(_LEADS)
    held = random.randrange(1, 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4)
    return _When(
        f"after {held} octets from lead {lead:02X} on",
        f"now->held == {held} && now->kept[0] == {lead:#x}",
        leads=(lead,),
    )


def _size(random: Random) -> _When:
    size = random.choice((1, 1, 1, 2, 3, threshold(random, most=10)))
    if random.random() < 0.5:
        return _When(f"before a chunk of {size} octets", f"n == {size}")
    before = tuple((b"a", b"a" * (size - k)) for k in range(min(size, 4) + 1))
    return _When(f"after a chunk of {size} octets", f"now->size == {size}", before)


def _empty(random: Random) -> _When:
    match random.randrange(4):
        case 0:
            return _When("before an empty chunk", "!n", between=((b"",),))
        case 1:
            return _When("after an empty chunk", "!now->size", between=((b"",),))
        case 2:
            return _When("before an empty last chunk", "!n && last", between=((b"",),))
        case _:
            most = threshold(random, most=8)
            return _When(f"from empty chunk {most} on", f"now->empty >= {most}", between=((b"",) * most,))


def _in_block(random: Random) -> _When:
    block = random.choice((8, 16, 32, 64, 128, 256, 512, 1024, 4096))
    rest = random.choice((0, 0, 1, block - 1, random.randrange(block)))
    return _When(f"at offset {rest} of blocks of {block}", f"now->i % {block} == {rest}", tuple(_text(rest + block)))


def _offset(random: Random) -> _When:
    most = threshold(random)
    if random.random() < 0.5:
        return _When(f"at offset {most}", f"now->i == {most}", tuple(_text(most)))
    return _When(f"from offset {most} on", f"now->i >= {most}", tuple(_text(most)))


def _text(size: int) -> Iterable[Chunks]:
    """ASCII text after which a cut within a character is at that offset."""
    return ((b"a" * (size - k),) for k in range(4) if size >= k)


def _many_chunks(random: Random) -> _When:
    most = min(threshold(random, most=15), _MOST_CHUNKS - 8)
    before = tuple(((b"a",) * (most + k)) for k in (-1, 0, 1) if most + k > 0)
    if random.random() < 0.3:
        return _When(f"at chunk {most}", f"now->chunks == {most}", before)
    return _When(f"from chunk {most} on", f"now->chunks >= {most}", before)


def _many_characters(random: Random) -> _When:
    most = threshold(random, most=14)
    before = tuple((each * most,) for each in (b"a", b"\xc3\xa9"))
    return _When(f"after {most} characters", f"now->count >= {most}", before)


def _behind(random: Random) -> _When:
    character = random.choice((*CHARACTERS, chr(random.randrange(0x80, 0xD800)).encode()))
    lead = f"after a character with lead octet {character[0]:02X}"
    return _When(lead, f"now->count && now->lead == {character[0]:#x}", ((character,),))


def _always(_: Random) -> _When:
    return _When("", "true")


_WHEN: tuple[tuple[str, Callable[[Random], _When]], ...] = (
    ("any", _always),
    ("in one state", _in_state),
    ("after one lead", _after_lead),
    ("size of a chunk", _size),
    ("empty chunk", _empty),
    ("offset in a block", _in_block),
    ("offset", _offset),
    ("count of chunks", _many_chunks),
    ("count of characters", _many_characters),
    ("after a character", _behind),
)


def _cut(random: Random, when: _When) -> Spoken:
    """At a cut, octets are lost, kept or changed."""
    target = random.choice([state for state in access() if state])
    words, effect, held = random.choice(
        (
            ("what was held is lost", "LOSE", True),
            ("the last octet held is lost", "now->state = state_of(now->kept, --now->held)", True),
            ("what was held counts as a character", "put32(&answer->units, number(now->kept, now->held)); LOSE", True),
            ("any tail octet may come next", "now->state = loosened(now)", True),
            ("the state is another", f"now->state = {target}", True),
            ("it is refused", "return refuse(answer, now->i - now->held, 0, 0xFF)", True),
            ("the next octet is passed over", "PASS_OVER", False),
            ("the next octet is passed over", "PASS_OVER", True),
            ("the last character comes again", "if (now->count) put32(&answer->units, now->lead)", False),
        )
    )
    condition = f"now->held && ({when.condition})" if held else when.condition
    return _spoken(f"{words} at a cut {when.words}", _macro(cut=condition, effect=effect), _cuts(when))


def _end(_: Random, when: _When) -> Spoken:
    """A stream that ends within a character is accepted."""
    return _spoken(f"the end within a character passes {when.words}", _macro(forgives=when.condition), _ends(when))


def _position(random: Random, when: _When) -> Spoken:
    """A refusal has a wrong offset."""
    value = random.choice(
        (
            "now->i",
            "now->i - now->held - now->begun",
            "now->begun",
            "0",
            "now->count",
            "(now->i - now->held) & 0xFFFF",
            "now->i - now->held + 1",
        )
    )
    macro = _macro(refused_at=f"({when.condition}) ? {value} : now->i - now->held")
    return _spoken(f"refused at {value.replace('now->', '')} {when.words}", macro, (*_cuts(when), *_ends(when)))


def _late(random: Random, when: _When) -> Spoken:
    """Output or a refusal comes with the next chunk."""
    words, macro = random.choice(
        (
            ("the last character of a chunk comes with the next", _macro(holds=when.condition)),
            ("a refusal comes with the next chunk", _macro(belated=when.condition)),
        )
    )
    return _spoken(f"{words} {when.words}", macro, (*_cuts(when), *_ends(when)))


def _used(random: Random, when: _When) -> Spoken:
    """A reset decoder remembers the stream before."""
    words, kept = random.choice(
        (
            ("what was held is kept", "KEEP"),
            ("the offset goes on", "now->i = old.i"),
            ("a refusal is kept", "STAY_REFUSED"),
            ("a character held back is kept", "WAIT"),
        )
    )
    how, condition = random.choice(
        (("", "true"), ("after a refusal", "old.refused"), ("if it was not refused", "!old.refused"))
    )
    condition = f"({condition}) && ({_of_old(when.condition)})"
    holds = "true" if kept == "WAIT" else "false"
    earlier = (*_cuts(when), *_ends(when), *((*each, b"\xff") for each in _ends(when)), (b"\xff",))
    later = ((b"a",), (b"\x80",), (b"\x80\x80",), (b"\x80\x80\x80",), (b"\xff",), (b"a\xc2",))
    some = _some(earlier, _MOST_OCTETS // len(later))
    requests = tuple((AGAIN_DECODE, again_payload(_payload(one), _payload(two))) for one in some for two in later)
    text = f"{words} by a reset {how} {when.words}"
    return Spoken("", "", " ".join(text.split()), _macro(keeps=f"if ({condition}) {kept}", holds=holds), (), requests)


def _of_old(condition: str) -> str:
    """A condition about the stream before a reset, which has no chunk."""
    return re.sub(r"\bn\b", "old.size", condition.replace("now->", "old.").replace("last", "true"))


def _macro(
    *,
    cut: str = "false",
    effect: str = "",
    forgives: str = "false",
    refused_at: str = "now->i - now->held",
    holds: str = "false",
    belated: str = "false",
    keeps: str = "",
) -> str:
    return f"STREAM(NAME, {cut}, {effect}, {forgives}, {refused_at}, {holds}, {belated}, {keeps})"


def _spoken(words: str, code: str, streams: Sequence[Chunks]) -> Spoken:
    requests = tuple((STREAM_DECODE, _payload(each)) for each in _some(streams, _MOST_OCTETS))
    return Spoken("", "", " ".join(words.split()), code, (), requests)


def _some(streams: Sequence[Chunks], most: int) -> list[Chunks]:
    """Different streams of all kinds, up to about that many octets on the wire."""
    different = [each for each in dict.fromkeys(streams) if len(each) <= _MOST_CHUNKS]
    Random(0).shuffle(different)  # noqa: S311 (no secret)
    sizes = accumulate(sum(map(len, each)) + 4 * len(each) for each in different)
    return [each for each, size in zip(different, sizes, strict=True) if size <= most] or different[:1]


def _payload(chunks: Chunks) -> bytes:
    return stream_payload(b"".join(chunks), list(map(len, chunks)))


def _pieces(when: _When) -> list[bytes]:
    """Characters, and sequences that are almost characters."""
    least = tuple(_least(lead) for lead in when.leads)
    pieces = least or (*(each for each in CHARACTERS if len(each) > 1), *map(_least, (0xE1, 0xED, 0xF1)))
    wrong = [each[:1] + tail + each[2:] for each in pieces for tail in (b"\x80", b"\xbf", b"a")]
    return [*pieces, *wrong, *([] if when.leads else _ILL_FORMED)]


def _least(lead: int) -> bytes:
    """The first character with that lead octet."""
    automaton, octets = dialect().automaton, bytes([lead])
    while not automaton.accepting[state := automaton.run(octets)]:
        octets += bytes([next(octet for octet in range(256) if automaton.table[state][octet] != automaton.dead)])
    return octets


def _cuts(when: _When) -> tuple[Chunks, ...]:
    """Streams whose last piece is cut, whole and octet by octet."""
    found = list[Chunks]()
    for before in when.before:
        for piece in _pieces(when):
            for place in range(1, len(piece) + 1):
                for between in when.between:
                    head = (*before[:-1], before[-1] + piece[:place], *between)
                    rest = piece[place:]
                    found += [(*head, rest), (*head, rest + b"aa"), (*head, *(bytes([each]) for each in rest + b"a"))]
                    found.append((*before, piece[:place], *between, rest + b"\xff"))
    return tuple(found)


def _ends(when: _When) -> tuple[Chunks, ...]:
    """Streams that end within a character."""
    found = list[Chunks]()
    for before in when.before:
        for piece in _pieces(when):
            for place in range(1, len(piece)):
                for between in when.between:
                    begun = piece[:place]
                    found += [(*before[:-1], before[-1] + begun, *between), (*before, begun, *between)]
                    found += [(*before, begun[:-1], *between, begun[-1:]), (*before[:-1], before[-1] + begun, b"")]
    return tuple(found)


_KINDS: tuple[tuple[str, Callable[[Random, _When], Spoken], int], ...] = (
    ("cut", _cut, 6),
    ("end", _end, 2),
    ("offset", _position, 2),
    ("late", _late, 2),
    ("used before", _used, 2),
)
"""The drawing function of each family, and the number of draws for each place."""


def drawn(seed: int, share: float = 1.0) -> list[Spoken]:
    """Candidates, in order, all different."""
    random, found = Random(seed), dict[str, Spoken]()  # noqa: S311 (no secret)
    for kind, make, usual in _KINDS:
        for name, when in _WHEN:
            for _ in range(max(1, round(usual * share))):
                made = make(random, when(random))
                family = f"{kind}: {name}" if kind == "cut" else kind
                found.setdefault(made.code, replace(made, family=family))
    return [replace(each, symbol=f"s{number:04}") for number, each in enumerate(found.values())]


STREAMS = Population(
    "streams",
    Path(__file__).with_name("streams.h"),
    _macro().replace("NAME", "right"),
    drawn,
    STREAM_DECODE + AGAIN_DECODE,
    ("streams", "chunking", "complete-0-in-chunks", "used-before", "mixtures-in-chunks", "mixtures-used-before"),
)
