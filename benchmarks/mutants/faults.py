"""The fault of a wrong validator, and its place: expressions of C, each with octets that show it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random


@dataclass(frozen=True)
class Fault:
    """A fault, without its place."""

    words: str
    piece: bytes
    """The octets with a wrong answer: ill-formed octets that it skips, or a character that it refuses."""
    accepts: str = ""
    """The number of skipped octets, for ``mutants.h``; empty if a character is refused."""
    refuses: str = ""
    at_end: bool = False
    """True if it shows only at the end of the input."""


@dataclass(frozen=True)
class Place:
    """The place or the time of a fault."""

    words: str
    condition: str
    before: tuple[bytes, ...] = (b"",)
    """Octets to put before a piece; some of them make the condition true."""
    behind: tuple[bytes, ...] = (b"",)
    calls: tuple[tuple[bytes, ...], ...] = ((),)
    """Strings to ask before it."""


def sequence(number: int, length: int) -> bytes:
    """The sequence of a given length for a number, by the layout of RFC 2279."""
    if length == 1:
        return bytes([number])
    tails = [0x80 | number >> 6 * k & 0x3F for k in reversed(range(length - 1))]
    return bytes([(0xFF00 >> length & 0xFF) | number >> 6 * (length - 1), *tails])


NOTABLE = (*b"\0\t\n\r \"'/<\\\x7f", 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF)
"""Characters that programs treat specially: controls, syntax, and the ends of ranges."""
_RARELY = 0.05
"""The share of faults that show in one value of many, at one place only: few bugs are so small."""


def _range(random: Random, words: str, length: int, least: int, most: int, *, placed: bool) -> Fault:
    """A whole range of ill-formed sequences, a part of it, or one of them."""
    match random.randrange(4):
        case 0:
            first, last = least, most
        case 1 if not placed or random.random() < _RARELY:
            first = last = random.randint(least, most)
        case 2:
            first = last = random.choice((least, most))
        case _:
            first, last = random.choice(((least, random.randint(least, most)), (random.randint(least, most), most)))
    shown = f"{first:X}" if first == last else f"{first:X} to {last:X}"
    return Fault(
        f"{words} of {length} octets ({shown})",
        sequence(first, length),
        accepts=f"LOOSE({length}, {first:#x}, {last:#x})",
    )


def _overlong(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    length = random.choice((2, 2, 3, 3, 4))
    return _range(random, "overlong", length, 0, {2: 0x7F, 3: 0x7FF, 4: 0xFFFF}[length], placed=placed)


def _surrogate(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    least, most = random.choice(((0xD800, 0xDFFF), (0xD800, 0xDBFF), (0xDC00, 0xDFFF)))
    return _range(random, "surrogate", 3, least, most, placed=placed)


def _beyond(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    least, most = random.choice(((0x110000, 0x13FFFF), (0x140000, 0x1FFFFF)))
    return _range(random, "beyond", 4, least, most, placed=placed)


def _long_form(random: Random, _placed: bool) -> Fault:  # noqa: FBT001
    length = random.choice((5, 6))
    return _range(random, "form", length, 0, (1 << 26) - 1 if length == 5 else (1 << 31) - 1, placed=True)


def _stray(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    octet = random.choice((0x80, 0xBF, 0xC0, 0xC1, 0xF5, 0xF8, 0xFC, 0xFE, 0xFF))
    if not placed:
        octet = random.choice((*range(0x80, 0xC2), *range(0xF5, 0x100)))
    if random.random() < 0.5:
        return Fault(f"octet {octet:02X} passed over", bytes([octet]), accepts=f"s[i] == {octet:#x}")
    return Fault("tail octets passed over", b"\x80", accepts="TAIL[s[i]]")


def _unchecked(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    """One octet of a character is not checked, or not completely."""
    lead = random.choice((*range(0xC2, 0xE0, 7), *range(0xE0, 0xF0), *range(0xF0, 0xF5)))
    length = 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
    place = random.randrange(1, length)
    least, most = random.choice(((0, 0x7F), (0xC0, 0xFF), (0, 0xFF), (0xC0, 0xC0), (0x7F, 0x7F), (0xFF, 0xFF)))
    if random.random() < (_RARELY if placed else 0.4):
        least = most = random.choice((*range(0x80), *range(0xC0, 0x100)))
    tails = [0x90 if lead in {0xF0, 0xE0} else 0x80] * (length - 1)
    if lead == 0xE0:
        tails[0] = 0xA0
    tails[place - 1] = least
    whose = "" if random.random() < (1 - _RARELY if placed else 0.6) else f"s[i] == {lead:#x} ? "
    called = f"but_for(s + i, left, {length}, {place}, {least:#x}, {most:#x})"
    seen = f"{least:02X}" if least == most else f"{least:02X} to {most:02X}"
    only = f" after {lead:02X}" if whose else ""
    return Fault(
        f"{seen} taken for octet {place + 1} of {length}{only}",
        bytes([lead, *tails]),
        accepts=f"{whose}{called} : 0" if whose else called,
    )


def _cut_short(random: Random, _placed: bool) -> Fault:  # noqa: FBT001
    length = random.choice((2, 3, 4))
    kept = random.randrange(1, length)
    whole = {2: b"\xc3\xa9", 3: b"\xe2\x82\xac", 4: b"\xf0\x9f\x98\x80"}[length]
    return Fault(
        f"{kept} of {length} octets at the end",
        whole[:kept],
        accepts=f"left == {kept} && LENGTH[s[i]] == {length} && cut_short(s + i, left) ? left : 0",
        at_end=True,
    )


def _refused(random: Random, placed: bool) -> Fault:  # noqa: FBT001
    kind = random.randrange(5)
    if kind == 0 or (placed and kind < 3 and random.random() > _RARELY):
        number = random.choice(
            (0, 9, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFEFF, 0xFFFD, 0xFFFF, 0x10000, 0x10FFFF)
        )
    else:
        bits = random.randint(7, 21)
        number = random.randrange(1 << bits - 1, min(1 << bits, 0x110000))
        if 0xD800 <= number <= 0xDFFF:
            number += 0x800
    if kind < 3:
        return Fault(f"U+{number:04X} refused", chr(number).encode(), refuses=f"c == {number:#x}")
    if kind == 3:
        piece = chr(number).encode()
        return Fault(f"lead octet {piece[0]:02X} refused", piece, refuses=f"s[i] == {piece[0]:#x}")
    piece = chr(number).encode()
    return Fault(f"characters of {len(piece)} octets refused", piece, refuses=f"k == {len(piece)}")


_FAULTS: tuple[tuple[Callable[[Random, bool], Fault], int], ...] = (
    (_overlong, 3),
    (_surrogate, 3),
    (_beyond, 2),
    (_long_form, 1),
    (_stray, 3),
    (_unchecked, 4),
    (_cut_short, 2),
    (_refused, 3),
)


def fault(random: Random, *, placed: bool = True, at_end: bool = True) -> Fault:
    """A random fault.

    Args:
        random: the source of the draw.
        placed: true if the fault shows only at some place.
        at_end: true if the fault may show only at the end of an input.
    """
    makers, weights = zip(*_FAULTS, strict=True)
    while True:
        made: Fault = random.choices(makers, weights)[0](random, placed)
        if at_end or not made.at_end:
            return made


CHARACTERS = tuple(
    chr(number).encode() for number in (*b"a\x7f", 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0x10000, 0x10FFFF)
)
"""A character of each length, and the ends of ranges."""
_FILL = (b"a", b"\xc3\xa9", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80")


def _filled(length: int) -> tuple[bytes, ...]:
    """Text of a given number of octets, with characters of each length; ASCII at the start fills it up."""
    return tuple(b"a" * (length % len(each)) + each * (length // len(each)) for each in _FILL)


def threshold(random: Random, *, most: int = 17) -> int:
    """A number at which decoders tend to change their behaviour: a power of two or ten, or another."""
    match random.randrange(4):
        case 0 | 1:
            return max(1, (1 << random.randint(3, most)) + random.choice((-1, 0, 0, 1)))
        case 2:
            return 10 ** random.choice((1, 2, 3, 4, 5)) + random.choice((-1, 0, 1))
        case _:
            return random.randint(2, 1 << random.randint(3, 12))


def anywhere(_: Random) -> Place:
    """Always."""
    return Place("", "true")


def behind_character(random: Random) -> Place:
    """After a character with some lead octet, after one character, or after one with some last octets."""
    number = random.choice((random.randrange(0x80), random.randrange(0x80, 0x800), random.randrange(0x800, 0xD800)))
    number = random.choice((number, random.randrange(0xE000, 0x10000), random.randrange(0x10000, 0x110000)))
    text = chr(number).encode()
    match random.randrange(4):
        case 0:
            number = random.choice(NOTABLE)
            text = chr(number).encode()
            return Place(f"after U+{number:04X}", f"before && number(s + i - before, before) == {number:#x}", (text,))
        case 1 | 2:
            return Place(f"after a character with lead octet {text[0]:02X}", f"LEAD_BEFORE == {text[0]:#x}", (text,))
        case _:
            return Place(f"after octet {text[-1]:02X}", f"i && s[i - 1] == {text[-1]:#x}", (text,))


def behind_kind(random: Random) -> Place:
    """After a character of some length, or after an octet of some kind."""
    condition, text = random.choice(
        (
            ("before == 1", b"a"),
            ("before == 2", "é".encode()),
            ("before == 3", "€".encode()),
            ("before == 4", "😀".encode()),
            ("i && s[i - 1] >= 0x80", "é".encode()),
            ("i && s[i - 1] < 0x80", b"a"),
        )
    )
    return Place(f"where {condition}", condition, (text,))


def behind_two(random: Random) -> Place:
    """After two characters of certain lengths, or two certain octets."""
    one, two = random.choice(CHARACTERS), random.choice(CHARACTERS)
    text = one + two
    if random.random() < 0.5:
        return Place(
            f"after octets {text[-2]:02X} {text[-1]:02X}",
            f"i > 1 && s[i - 2] == {text[-2]:#x} && s[i - 1] == {text[-1]:#x}",
            (text, b"a" + text),
        )
    far = random.randint(2, 5)
    text = two + b"a" * (far - 1)
    return Place(f"{far} octets after {two[-1]:02X}", f"i >= {far} && s[i - {far}] == {two[-1]:#x}", (text,))


def in_front_of(random: Random) -> Place:
    """Before certain octets, at some distance."""
    far = random.randint(1, 8)
    condition, text = random.choice(
        (
            *((f"s[i + {far}] == {octet:#x}", bytes([octet])) for octet in NOTABLE[:10]),
            (f"s[i + {far}] < 0x80", b"a"),
            (f"s[i + {far}] >= 0x80", "é".encode()),
            (f"TAIL[s[i + {far}]]", "😀".encode()),
            (f"LENGTH[s[i + {far}]] == 3", "€".encode()),
            (f"LENGTH[s[i + {far}]] == 4", "😀".encode()),
        )
    )
    return Place(f"where {condition}", f"left > {far} && {condition}", behind=tuple(b"a" * k + text for k in range(9)))


def at_offset(random: Random) -> Place:
    """At an offset modulo the length of a block."""
    block = random.choice((2, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 256))
    rest = random.randrange(block)
    before = tuple(each for k in (rest, rest + block, rest + 2 * block) for each in _filled(k))
    if random.random() < 0.3:
        first = block * random.randint(1, 4)
        before = tuple(each for k in range(rest, rest + 6 * block, block) for each in _filled(k))
        return Place(
            f"at offset {rest} of blocks of {block}, from {first} on", f"i % {block} == {rest} && i >= {first}", before
        )
    return Place(f"at offset {rest} of blocks of {block}", f"i % {block} == {rest}", before)


def from_offset(random: Random) -> Place:
    """From an offset on, or at it."""
    most = threshold(random)
    before = tuple(each for k in (most, most + 1, most + 2, most + 3) for each in _filled(k))
    if random.random() < 0.25 and most < 5000:
        return Place(f"at offset {most}", f"i == {most}", before)
    return Place(f"from offset {most} on", f"i >= {most}", before)


def of_length(random: Random) -> Place:
    """In inputs of a length, or from it on, or of one modulo a block."""
    most = threshold(random)
    lengths = tuple(max(most - k, 0) for k in range(8))
    before = tuple(each for k in lengths for each in _filled(k))
    behind = (b"", *_filled(most))
    match random.randrange(4):
        case 0 if most < 5000:
            return Place(f"in inputs of {most} octets", f"n == {most}", before)
        case 1:
            block = random.choice((4, 8, 16, 32, 64))
            rest = random.randrange(block)
            before = tuple(each for k in range(2 * block) for each in _filled(k))
            return Place(f"in inputs of {rest} octets modulo {block}", f"n % {block} == {rest}", before)
        case _:
            return Place(f"in inputs of {most} octets and more", f"n >= {most}", before, behind)


def before_end(random: Random) -> Place:
    """At a distance from the end."""
    most = threshold(random, most=12)
    behind = tuple(each for k in range(max(0, most - 7), most + 2) for each in _filled(k))
    match random.randrange(3):
        case 0:
            return Place(f"where {most} octets are left", f"left == {most}", behind=behind)
        case 1:
            return Place(f"where {most} octets and more are left", f"left >= {most}", behind=behind)
        case _:
            block = random.choice((4, 8, 16, 32))
            rest = random.randrange(block)
            behind = tuple(each for k in range(2 * block) for each in _filled(k))
            return Place(f"where {rest} modulo {block} are left", f"left % {block} == {rest}", behind=behind)


def after_characters(random: Random) -> Place:
    """After a number of characters, or of characters beyond ASCII."""
    most = threshold(random, most=14)
    which, fill = random.choice((("count", b"a"), ("wide", b"\xc3\xa9"), ("wide", b"\xf0\x9f\x98\x80")))
    what = "characters" if which == "count" else "characters beyond ASCII"
    before = tuple(fill * k for k in (most, most + 1))
    if random.random() < 0.25 and most < 5000:
        return Place(f"after exactly {most} {what}", f"{which} == {most}", before)
    return Place(f"after {most} {what}", f"{which} >= {most}", before)


def after_errors(random: Random) -> Place:
    """After a number of ill-formed sequences, or at each multiple of a number."""
    if random.random() < 0.25:
        every = random.choice((2, 3, 4, 8, 16, 256))
        before = tuple(each * (every - 1) for each in (b"\x80", b"\x80a"))
        return Place(f"at every {every}th error", f"errors % {every} == {every - 1}", before)
    most = threshold(random, most=14)
    before = tuple(each * most for each in (b"\x80", b"\x80a"))
    if random.random() < 0.25 and most < 5000:
        return Place(f"after exactly {most} errors", f"errors == {most}", before)
    return Place(f"after {most} errors", f"errors >= {most}", before)


def history(random: Random) -> Place:
    """Depending on the calls before."""
    most = 1 << random.randint(1, 16)
    match random.randrange(6):
        case 0:
            return Place("if the call before refused", "past->calls && !past->ok", calls=((b"\x80",),))
        case 1:
            return Place("if the call before accepted", "past->calls && past->ok", calls=((b"a",),))
        case 2:
            calls = tuple((b"a" * k,) for k in range(12))
            return Place("if the call before was as long", "past->calls && past->length == n", calls=calls)
        case 3:
            return Place("if the call before was longer", "past->length > n", calls=((b"a" * 100,),))
        case 4:
            return Place(f"from call {most} on", f"past->calls >= {most}", calls=((b"a",) * most,))
        case _:
            length = random.choice((8, 16, 64, 256, 1000))
            return Place(
                f"if the call before had {length} octets and more",
                f"past->length >= {length}",
                calls=((b"a" * length,),),
            )


def after_nul(_: Random) -> Place:
    """After U+0000."""
    return Place("after an octet 00", "zeros", (b"\0", b"\0a"))


@cache
def access() -> dict[int, bytes]:
    """Octets that lead to each state of the automaton except the dead one."""
    automaton = dialect().automaton
    found = {0: b""}
    todo = [0]
    while todo:
        state = todo.pop(0)
        for octet in range(256):
            target = automaton.table[state][octet]
            if target not in found and target != automaton.dead:
                found[target] = found[state] + bytes([octet])
                todo.append(target)
    return found
