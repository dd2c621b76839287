"""Historical faults: those of real decoders, as wrong decoders that can run.

Most are wrong grammars: the grammar of RFC 3629 with a part replaced, compiled like the correct one. No grammar of
octets describes the rest: they depend on places in a buffer, concern only the output, or show only at cuts of a
stream. Each runs only until a string has shown it.

Names are stable. ``docs/planted-faults.md`` lists them; ``families/regression.toml`` has the decoders.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, reduce
from typing import TYPE_CHECKING

from overlong.conformance.models.faults import Faults, Specimen
from overlong.conformance.vectors.families.family import overlong
from overlong.reference import Decoded, Dialect, Grammar, dialect, encode_scalars, is_well_formed, outcome
from overlong.reference.automaton import Automaton
from overlong.reference.order import CODE_POINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence

Scalars = tuple[int, ...] | None
"""The output of a decoder; None if it refuses."""


@dataclass(frozen=True)
class WrongDecoder:
    """A decoder with a fault."""

    name: str
    line: str
    differs: Callable[[Specimen], bool]
    """True if its answer to a string is wrong."""
    accepts: Callable[[bytes], bool] | None = None
    """Its verdict, if that is wrong, and not only its output."""


def decoded(octets: bytes) -> Scalars:
    """The output of a correct decoder."""
    found = outcome(octets)
    return found.scalars if isinstance(found, Decoded) else None


def faults_of(decoders: Sequence[WrongDecoder]) -> Faults:
    """The faults of these decoders, by their names."""

    def shown(specimen: Specimen, live: Collection[Hashable]) -> Iterator[str]:
        return (each.name for each in decoders if each.name in live and each.differs(specimen))

    return Faults((each.name for each in decoders), shown)


def _verdict(name: str, line: str, accepts: Callable[[bytes], bool], least: int = 0) -> WrongDecoder:
    """A decoder with wrong verdicts. It is right on all inputs of fewer than ``least`` octets."""

    def differs(specimen: Specimen) -> bool:
        return len(specimen.octets) >= least and accepts(specimen.octets) != specimen.accepted

    return WrongDecoder(name, line, differs, accepts)


def _output(name: str, line: str, decode: Callable[[Specimen], Scalars]) -> WrongDecoder:
    """A decoder with wrong scalar values; it may accept wrong strings, too."""
    return WrongDecoder(name, line, lambda specimen: decode(specimen) != specimen.scalars)


def _stream(name: str, line: str, decode: Callable[[Sequence[bytes]], Scalars]) -> WrongDecoder:
    """A decoder that is right about whole strings, and wrong about chunks."""
    return _output(name, line, lambda specimen: decode(specimen.pieces))


def _grammar(name: str, line: str, *edits: tuple[str, str], truncations: bool = False) -> WrongDecoder:
    """A decoder of another language.

    Args:
        name: its name.
        line: its fault.
        edits: text of the correct grammar, and what replaces it.
        truncations: every live state accepts.
    """

    @cache
    def automaton() -> Automaton:
        """The minimal automaton of its language."""
        right = dialect()
        text = right.grammar.text
        for old, new in edits:
            assert text.count(old) == 1, f"{name}: the grammar has no single {old!r}"
            text = text.replace(old, new)
        made = Dialect(name, Grammar.parse(text, f"{name}.abnf"), right.layout).automaton
        live = (state for state in range(len(made)) if not made.accepting[state] and state != made.dead)
        return reduce(Automaton.flipped, live if truncations else (), made)

    return _verdict(name, line, lambda octets: automaton().accepts(octets))


def _also(name: str, line: str, *alternatives: str) -> WrongDecoder:
    """A decoder with more kinds of characters."""
    last = "/ UTF8-4"
    return _grammar(name, line, (last, " / ".join((last, *alternatives))))


def _but(name: str, line: str, old: str, new: str) -> WrongDecoder:
    """A decoder with one part of the grammar different."""
    return _grammar(name, line, (old, new))


def _spelt(octets: bytes) -> str:
    """Octets in ABNF's notation."""
    return "%x" + octets.hex(".").upper()


_ANYTHING = "*( %x00-FF )"
_TEXT = "*( UTF8-char )"

GRAMMARS = (
    _but("unchecked", "nothing is checked at all", _TEXT, _ANYTHING),
    _also("overlong-c0", "C0 begins a character of two octets", "%xC0 UTF8-tail"),
    _also("overlong-c1", "C1 begins a character of two octets (a fix of CVE-2024-46954)", "%xC1 UTF8-tail"),
    _also("overlong-e0", "any tail octet may follow E0", "%xE0 %x80-9F UTF8-tail"),
    _also("overlong-f0", "any tail octet may follow F0", "%xF0 %x80-8F 2( UTF8-tail )"),
    _also("overlong-nul", "C0 80 is NUL, as in Java's modified UTF-8", _spelt(overlong(0, 2))),
    _also(
        "overlong-slash",
        "the slash in two to four octets (CVE-2000-0884)",
        *(_spelt(overlong(0x2F, length)) for length in (2, 3, 4)),
    ),
    _also("overlong-dot", "the full stop in two octets (CVE-2008-2938)", _spelt(overlong(0x2E, 2))),
    _also("overlong-ffff", "F0 8F BF BF, the largest overlong form of four (simdjson#1187)",
          _spelt(overlong(0xFFFF, 4))),
    _also("surrogates", "surrogates are characters of three octets", "%xED %xA0-BF UTF8-tail"),
    _also("surrogates-bc", "surrogates from ED BC on: the range was checked up to BB", "%xED %xBC-BF UTF8-tail"),
    _also(
        "surrogate-pairs",
        "pairs of surrogates, as CESU-8 writes them, but no single ones",
        "%xED %xA0-AF UTF8-tail %xED %xB0-BF UTF8-tail",
    ),
    _also("beyond-f4", "any tail octet may follow F4: numbers up to 13FFFF", "%xF4 %x90-BF 2( UTF8-tail )"),
    _also("beyond-f5", "F5 to F7 begin characters of four octets (duckdb#4708)", "%xF5-F7 3( UTF8-tail )"),
    _also("five-octets", "the five octets of RFC 2279", "%xF8-FB 4( UTF8-tail )"),
    _also("six-octets", "the six octets of RFC 2279", "%xFC-FD 5( UTF8-tail )"),
    _also("fe-ff-skipped", "FE and FF are skipped", "%xFE-FF"),
    _also("lone-tails", "tail octets stand alone", "%x80-BF"),
    _also("tail-too-many", "a tail octet follows a character of three (coreclr#24235)", "%xE1-EC 3( UTF8-tail )"),
    _also("tail-unchecked-2", "the tail of two octets may be ASCII (mqtt5#57)", "%xC2-DF %x00-7F"),
    _also("tail-unchecked-3", "the last of three octets may be ASCII", "%xE1-EC UTF8-tail %x00-7F"),
    _also("tail-unchecked-4", "the last of four octets may be ASCII", "%xF1-F3 2( UTF8-tail ) %x00-7F"),
    _also("tails-unchecked", "three octets are accepted unchecked (CVE-2022-25235)", "%xE1-EC 2( %x00-FF )"),
    _also(
        "upper-bound-only",
        "after ED and F4 only the upper bound is checked (utf-8-validate#32)",
        "%xED %x00-7F UTF8-tail", "%xF4 %x00-7F 2( UTF8-tail )",
    ),
    _grammar("truncated-at-end", "the string may end inside a character (simd-json#166)", truncations=True),
    _but("nul-ends-check", "what follows NUL is not checked", _TEXT, f"{_TEXT} / {_TEXT} %x00 {_ANYTHING}"),
    _but("ed-refused", "all of ED is taken for surrogates (mutf8#1)", "%xED %x80-9F UTF8-tail / ", ""),
    _but("four-octets-refused", "characters beyond U+FFFF are refused (MySQL's utf8mb3)", " / UTF8-4", ""),
    _but("tails-end-at-be", "BF is no tail octet", "%x80-BF", "%x80-BE"),
    _but("nul-refused", "NUL is refused", "%x00-7F", "%x01-7F"),
    _but("end-refused", "a string ends in ASCII: >= for > (actools#11)", _TEXT, f"[ {_TEXT} UTF8-1 ]"),
    _but("ascii-only", "everything but ASCII is refused", "UTF8-1 / UTF8-2 / UTF8-3 / UTF8-4", "UTF8-1"),
)  # fmt: skip


def _only_first(size: int) -> Callable[[bytes], bool]:
    def accepts(octets: bytes) -> bool:
        automaton = dialect().automaton
        return is_well_formed(octets) if len(octets) <= size else automaton.run(octets[:size]) != automaton.dead

    return accepts


def _last_of_block(size: int) -> Callable[[bytes], bool]:
    def accepts(octets: bytes) -> bool:
        patched = bytearray(octets)
        patched[size - 1 :: size] = b"a" * (len(octets) // size)
        return is_well_formed(octets) or is_well_formed(bytes(patched))

    return accepts


def _ascii_block_forgets(size: int) -> Callable[[bytes], bool]:
    def accepts(octets: bytes) -> bool:
        automaton, state = dialect().automaton, 0
        for start in range(0, len(octets), size):
            block = octets[start : start + size]
            if len(block) == size and block.isascii() and state != automaton.dead:
                state = 0
            else:
                state = automaton.run(block, state)
        return automaton.accepting[state]

    return accepts


def _ascii_block_overshoots(size: int, unseen: int) -> Callable[[bytes], bool]:
    def accepts(octets: bytes) -> bool:
        patched = bytearray(octets)
        for start in range(0, len(octets) - size, size):
            if octets[start : start + size].isascii():
                end = start + size
                patched[end : end + unseen] = b"a" * len(octets[end : end + unseen])
        return is_well_formed(octets) or is_well_formed(bytes(patched))

    return accepts


@cache
def _noncharacters() -> tuple[bytes, ...]:
    """The octets of all noncharacters (Unicode D14)."""
    planes = range(0, CODE_POINTS.stop, 0x10000)
    numbers = [*range(0xFDD0, 0xFDF0), *(plane + last for plane in planes for last in (0xFFFE, 0xFFFF))]
    return tuple(encode_scalars([number]) for number in numbers)


def _without_noncharacters(octets: bytes) -> bool:
    # UTF-8 is self-synchronising: in well-formed octets, the octets of a character occur nowhere else
    return is_well_formed(octets) and not any(each in octets for each in _noncharacters())


SIGNATURE = 0xFEFF
_BLOCKS = (16, 32, 64)

VERDICTS = (
    *(
        _verdict(f"only-first-{size}", f"what follows {size} octets is not checked", _only_first(size), size)
        for size in _BLOCKS
    ),
    *(
        _verdict(
            f"block-end-{size}", f"the last octet of a block of {size} is not checked", _last_of_block(size), size
        )
        for size in _BLOCKS
    ),
    *(
        _verdict(
            f"ascii-forgets-{size}",
            f"a block of {size} ASCII octets forgets what was unfinished before it",
            _ascii_block_forgets(size),
            2 * size,
        )
        for size in _BLOCKS
    ),
    _verdict(
        "ascii-overshoots", "after a block of 16 ASCII octets three are skipped (simdutf#381)",
        _ascii_block_overshoots(16, 3), 17,
    ),
    _verdict(
        "replacement-refused", "U+FFFD in the text is mistaken for a fault",
        lambda octets: is_well_formed(octets) and encode_scalars([0xFFFD]) not in octets, 3,
    ),
    _verdict("noncharacters-refused", "noncharacters are refused", _without_noncharacters, 3),
)  # fmt: skip


def _mapped(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Specimen], Scalars]:
    return lambda specimen: None if specimen.scalars is None else change(specimen.scalars)


def _one_line_feed(scalars: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(map(ord, "".join(map(chr, scalars)).replace("\r\n", "\n")))


OUTPUTS = (
    _output("nul-ends-text", "NUL ends the text", lambda specimen: decoded(specimen.octets.partition(b"\0")[0])),
    _output(
        "signature-stripped", "U+FEFF at the start is removed",
        _mapped(lambda scalars: scalars[1:] if scalars[:1] == (SIGNATURE,) else scalars),
    ),
    _output(
        "signatures-dropped", "U+FEFF is dropped inside the text, too",
        _mapped(lambda scalars: scalars[:1] + tuple(each for each in scalars[1:] if each != SIGNATURE)),
    ),
    _output(
        "sixteen-bits", "scalar values are cut to 16 bits",
        _mapped(lambda scalars: tuple(each & 0xFFFF for each in scalars)),
    ),
    _output("text-mode", "CR LF becomes LF: a pipe in text mode", _mapped(_one_line_feed)),
)  # fmt: skip


def _joined(pieces: Iterable[Scalars]) -> Scalars:
    result = list[int]()
    for piece in pieces:
        if piece is None:
            return None
        result += piece
    return tuple(result)


def _signature_in_each(chunks: Sequence[bytes]) -> Scalars:
    signature = encode_scalars([SIGNATURE])
    return decoded(chunks[0] + b"".join(chunk.removeprefix(signature) for chunk in chunks[1:]))


def _loses_two_of_four(chunks: Sequence[bytes]) -> Scalars:
    kept, scalars = b"", list[int]()
    for number, chunk in enumerate(chunks):
        octets = kept + chunk
        kept = b""
        flaw = Specimen(octets).flaw
        if number + 1 < len(chunks) and flaw is not None and flaw.incomplete:
            octets, kept = octets[: flaw.offset], octets[flaw.offset :]
            row = dialect().layout.announced(kept[0])
            if len(kept) == 2 and row is not None and len(row.templates) == 4:
                kept = b""
        piece = decoded(octets)
        if piece is None:
            return None
        scalars += piece
    return tuple(scalars)


STREAMS = (
    _stream("chunks-alone", "each chunk is decoded alone", lambda chunks: _joined(map(decoded, chunks))),
    _stream("two-of-four-lost", "two octets of four at the end of a chunk are lost", _loses_two_of_four),
    _stream("signature-in-chunk", "U+FEFF at the start of a later chunk is removed", _signature_in_each),
)

WHOLE = (*GRAMMARS, *VERDICTS, *OUTPUTS)
"""Those that whole strings can show; the others need chunks."""
CLASSES = {each.name: each.line for each in (*WHOLE, *STREAMS)}
"""The sentence of every class, by its name."""
