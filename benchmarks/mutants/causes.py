"""Wrong decoders, each with one fault, whose condition is known: an expression that C and Python both read.

A fault is *what* is wrong (some ill-formed octets are accepted, or characters refused) *where* a condition holds. Each
draws octets that it concerns and text that makes its condition true. ``truth.py`` has the model in Python, which says
of any question whether the answer is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from mutants.faults import NOTABLE, sequence
from mutants.questions import KINDS, Parts, some_text, text
from overlong.reference import dialect

VALIDATOR, DECODER, DECODER_16, REPLACER, STREAM, CALLABLE = (
    "validator",
    "decoder",
    "decoder to UTF-16",
    "replacer",
    "stream",
    "callable",
)
"""The kinds of decoders."""

Piece = Callable[[Random], bytes]
Around = Callable[[Random, bytes], Parts]


@dataclass(frozen=True)
class Cause:
    """A wrong decoder."""

    symbol: str
    kind: str
    family: str
    words: str
    code: str
    """A macro with its arguments, as of a mutant."""
    draw: Callable[[Random], Parts]
    """Draws parts that it probably answers wrongly."""

    @property
    def looks_behind(self) -> bool:
        """True if its answer may depend on octets behind the input, so that the fault is one of memory."""
        return self.code.startswith("BEYOND")


@dataclass(frozen=True)
class What:
    """The octets that a fault concerns."""

    words: str
    piece: Piece
    accepts: str = ""
    """The number of octets that are passed over; empty if a character is refused."""
    refuses: str = ""
    at_end: bool = False
    """True if it shows only at the end of the input."""


@dataclass(frozen=True)
class Where:
    """The condition under which a fault shows, with text around a piece that probably makes it true."""

    words: str
    condition: str
    around: Around


def _around(random: Random, piece: bytes) -> Parts:
    return Parts(some_text(random), piece, some_text(random))


EVERYWHERE = Where("", "true", _around)


def _behind(size: Callable[[Random], int], kind: bytes | None = None) -> Around:
    """Text of a drawn number of octets before the piece."""
    return lambda random, piece: Parts(text(random, size(random), kind), piece, some_text(random))


# What is wrong


def _form(words: str, length: int, first: int, last: int) -> What:
    return What(
        f"accepts {words}",
        lambda random: sequence(random.choice((first, last, random.randint(first, last))), length),
        accepts=f"LOOSE({length}, {first:#x}, {last:#x})",
    )


def _form_drawn(random: Random) -> What:
    """A whole set of ill-formed sequences, a part of it, or one of them."""
    name, length, least, most = random.choice(
        (
            ("overlong forms", 2, 0, 0x7F),
            ("overlong forms", 3, 0, 0x7FF),
            ("overlong forms", 4, 0, 0xFFFF),
            ("surrogates", 3, 0xD800, 0xDFFF),
            ("forms beyond U+10FFFF", 4, 0x110000, 0x13FFFF),
            ("forms by F5 to F7", 4, 0x140000, 0x1FFFFF),
        )
    )
    part = random.choice(("all", "all", "one", "some"))
    if part == "one":
        least = most = random.choice((least, most))
    elif part == "some":
        row = (most - least + 1) // random.choice((2, 4))
        least += row * random.randrange((most - least + 1) // row)
        most = least + row - 1
    shown = f"{sequence(least, length).hex(' ')} to {sequence(most, length).hex(' ')}".upper().replace("TO", "to")
    return _form(f"{name}, {shown}" if least < most else f"{name}, {shown[: 3 * length - 1]}", length, least, most)


def _stray(random: Random) -> What:
    octet = random.choice((0x80, 0xBF, 0xC0, 0xF5, 0xFF))
    return What(f"accepts octet {octet:02X}", lambda _: bytes([octet]), accepts=f"s[i] == {octet:#x}")


def _tails(_: Random) -> What:
    return What("accepts tail octets", lambda random: bytes([random.randrange(0x80, 0xC0)]), accepts="TAIL[s[i]]")


def _unchecked(random: Random) -> What:
    length = random.choice((2, 3, 4))
    place = random.randrange(1, length)
    least, most = random.choice(((0, 0x7F), (0xC0, 0xFF), (0x20, 0x2F), (0x7F, 0x7F)))

    def piece(random: Random) -> bytes:
        whole = _character(random, length)
        return whole[:place] + bytes([random.randint(least, most)]) + whole[place + 1 :]

    shown = f"{least:02X}" if least == most else f"{least:02X} to {most:02X}"
    words = f"accepts {shown} as octet {place + 1} of {length}"
    return What(words, piece, accepts=f"but_for(s + i, left, {length}, {place}, {least:#x}, {most:#x})")


def _cut_short(random: Random) -> What:
    length = random.choice((2, 3, 4))
    kept = random.randrange(1, length)
    accepts = f"left == {kept} && LENGTH[s[i]] == {length} && cut_short(s + i, left) ? left : 0"
    return What(
        f"accepts the first {kept} of {length} octets at the end",
        lambda random: _character(random, length)[:kept],
        accepts=accepts,
        at_end=True,
    )


def _character(random: Random, length: int) -> bytes:
    """A character of so many octets."""
    least, most = ((0, 0x7F), (0x80, 0x7FF), (0x800, 0xD7FF), (0x10000, 0x10FFFF))[length - 1]
    return chr(random.choice((least, most, random.randint(least, most)))).encode()


def _one_refused(random: Random) -> What:
    number = random.choice((*NOTABLE, 0xE9, 0x20AC, 0x1F600))
    return What(f"refuses U+{number:04X}", lambda _: chr(number).encode(), refuses=f"c == {number:#x}")


def _some_refused(random: Random) -> What:
    length = random.choice((2, 3, 4))
    words = f"refuses characters of {length} octets"
    return What(words, lambda random: _character(random, length), refuses=f"k == {length}")


_WHATS: tuple[tuple[Callable[[Random], What], int], ...] = (
    (_form_drawn, 6),
    (_stray, 2),
    (_tails, 1),
    (_unchecked, 2),
    (_cut_short, 1),
    (_one_refused, 2),
    (_some_refused, 1),
)


def what(random: Random, *, at_end: bool = True) -> What:
    """A fault; ``at_end`` false: one that does not show only at the end."""
    makers, weights = zip(*_WHATS, strict=True)
    while True:
        made: What = random.choices(makers, weights)[0](random)
        if at_end or not made.at_end:
            return made


def _refused(random: Random) -> What:
    return random.choice((_one_refused, _some_refused))(random)


# Where it is wrong


def _modulo(block: int) -> Callable[[Random], Where]:
    def make(random: Random) -> Where:
        rest = random.randrange(block)
        around = _behind(lambda random: rest + block * random.choice((0, 1, 1, 2, 3, 7)))
        return Where(f"at offset {rest} of blocks of {block}", f"i % {block} == {rest}", around)

    return make


def _least(random: Random) -> int:
    return random.choice((5, 8, 16, 17, 31, 32, 64, 100, 128, 255, 1000))


def _from_offset(random: Random) -> Where:
    least = _least(random)
    around = _behind(lambda random: least + random.choice((0, 1, random.randrange(20), random.randrange(200))))
    return Where(f"from offset {least} on", f"i >= {least}", around)


def _at_offset(random: Random) -> Where:
    place = _least(random)
    return Where(f"at offset {place}", f"i == {place}", _behind(lambda _: place))


def _from_count(random: Random) -> Where:
    least = random.choice((3, 8, 15, 16, 33, 64))

    def around(random: Random, piece: bytes) -> Parts:
        count = least + random.choice((0, 1, random.randrange(10)))
        kinds = (random.choice(KINDS),) if random.random() < 0.6 else KINDS
        return Parts(b"".join(random.choice(kinds) for _ in range(count)), piece, some_text(random))

    return Where(f"after {least} characters", f"count >= {least}", around)


def _from_wide(random: Random) -> Where:
    least = random.choice((2, 5, 8, 16))

    def around(random: Random, piece: bytes) -> Parts:
        characters = random.choices(KINDS[1:], k=least + random.choice((0, 1, 3)))
        gaps = random.choice((b"", b"a", b"aa"))
        return Parts(gaps.join(characters), piece, some_text(random))

    return Where(f"after {least} characters beyond ASCII", f"wide >= {least}", around)


def _seen(random: Random) -> Where:
    number = random.choice((0, 0x2F, 0x7F, 0xE9, 0x7FF, 0x20AC, 0xFEFF, 0x1F600))
    seen = chr(number).encode()
    return Where(
        f"after U+{number:04X} anywhere",
        f"seen(s, i, {number:#x})",
        lambda random, piece: Parts(some_text(random) + seen + some_text(random), piece, some_text(random)),
    )


def _after(random: Random) -> Where:
    number = random.choice((0, 9, 0x2F, 0x7F, 0xE9, 0x3B1, 0x20AC, 0xFEFF, 0x1F600))
    before = chr(number).encode()
    if random.random() < 0.5:
        condition = f"before && number(s + i - before, before) == {number:#x}"
        words = f"right after U+{number:04X}"
    else:
        condition, words = f"LEAD_BEFORE == {before[0]:#x}", f"right after a character with lead {before[0]:02X}"
    return Where(words, condition, lambda random, piece: Parts(some_text(random) + before, piece, some_text(random)))


def _sized(size: Callable[[Random, int], int]) -> Around:
    """Text on one side of the piece, or on both, that gives the input a length."""

    def around(random: Random, piece: bytes) -> Parts:
        more = max(0, size(random, len(piece)) - len(piece))
        first = random.choice((0, more, random.randint(0, more)))
        return Parts(text(random, first), piece, text(random, more - first))

    return around


def _length_modulo(random: Random) -> Where:
    block = random.choice((4, 8, 16, 32))
    rest = random.randrange(block)

    def size(random: Random, least: int) -> int:
        return least + (rest - least) % block + block * random.choice((0, 0, 1, 2, 5))

    return Where(f"in lengths of {rest} modulo {block}", f"n % {block} == {rest}", _sized(size))


def _longer_than(most: int) -> Callable[[Random], Where]:
    def size(random: Random, _: int) -> int:
        return most + random.choice((1, 1, 2, random.randint(1, 64)))

    return lambda _: Where(f"in inputs of more than {most} octets", f"n > {most}", _sized(size))


def _at_address(random: Random) -> Where:
    rest = random.randrange(8)
    if random.random() < 0.5:
        words, condition = f"at addresses of {rest} modulo 8", f"(ADDRESS + i) % 8 == {rest}"
    else:
        words, condition = f"in inputs at addresses of {rest} modulo 8", f"ADDRESS % 8 == {rest}"
    return Where(
        words,
        condition,
        lambda random, piece: Parts(some_text(random), piece, some_text(random), address=random.randrange(64)),
    )


def _in_text_of(length: int) -> Callable[[Random], Where]:
    def make(random: Random) -> Where:
        least = length * random.choice((3, 8, 16))
        around = _behind(lambda random: least + length * random.randrange(6), KINDS[length - 1])
        words = f"from offset {least} on, in text of characters of {length} octets"
        return Where(words, f"i >= {least} && only(s, i, {length})", around)

    return make


# Whole decoders


@dataclass(frozen=True)
class Made:
    """A drawn decoder without its name."""

    words: str
    code: str
    draw: Callable[[Random], Parts]


def _drawing(what: What, where: Where) -> Callable[[Random], Parts]:
    def draw(random: Random) -> Parts:
        parts = where.around(random, what.piece(random))
        return replace(parts, before=parts.before + parts.behind, behind=b"") if what.at_end else parts

    return draw


def _walk(what: What, where: Where) -> Made:
    accepts = f"({what.accepts}) && ({where.condition}) ? ({what.accepts}) : 0" if what.accepts else "0"
    refuses = f"({what.refuses}) && ({where.condition})" if what.refuses else "false"
    return Made(f"{what.words} {where.words}".strip(), f"WALK(NAME, {accepts}, {refuses}, ok)", _drawing(what, where))


def _placed(where: Callable[[Random], Where], *, at_end: bool = True) -> Callable[[Random], Made]:
    return lambda random: _walk(what(random, at_end=at_end), where(random))


def _with(fault: Callable[[Random], What], where: Callable[[Random], Where]) -> Callable[[Random], Made]:
    return lambda random: _walk(fault(random), where(random))


def _cancel(every: int, rest: int) -> Callable[[Random], Made]:
    """Errors are counted, and the count is misread."""

    def draw(random: Random) -> Parts:
        count = (rest or every) + every * random.choice((0, 0, 1, 2))
        gap = random.choice((b"", b"a", b"aa", KINDS[2]))
        return Parts(some_text(random), gap.join(random.choices((b"\x80", b"\xff", b"\xc3"), k=count)), gap)

    verdict = f"ok && errors % {every} == 0" if not rest else f"ok && (errors == 0 || errors % {every} == {rest})"
    numbers = ", ".join(str((rest or every) + every * k) for k in range(3))
    code = f"WALK(NAME, !character(s + i, left) ? subpart(s + i, left) : 0, false, {verdict})"
    return lambda _: Made(f"accepts errors if there are {numbers} … of them", code, draw)


def _unseen(words: str, condition: str, size: Callable[[Random], int]) -> Made:
    """Some octets are not looked at: there the input may hold anything."""

    def draw(random: Random) -> Parts:
        whole = size(random)
        piece = random.choice((b"\x80", b"\xff", b"\xc3", b"\xed\xa0\x80"))
        at = random.choice((whole, whole - random.randrange(1, 9), random.randint(0, whole)))
        return Parts(text(random, max(0, at - len(piece))), piece, text(random, max(0, whole - at)))

    return Made(words, f"WALK(NAME, ({condition}) ? left : 0, false, ok)", draw)


def _short_length(bits: int) -> Callable[[Random], Made]:
    most = 1 << bits
    condition = f"i >= (n & {most - 1:#x})"
    return lambda _: _unseen(
        f"reads only the length modulo {most}",
        condition,
        lambda random: most * random.choice((1, 1, 2) if bits < 12 else (1,)) + random.choice((0, 1, 2, 7, 40)),
    )


def _rest_of_blocks(random: Random) -> Made:
    block = random.choice((8, 16, 32, 64))
    return _unseen(
        f"does not look behind the last block of {block}",
        f"n >= {block} && i >= n / {block} * {block}",
        lambda random: block * random.randint(1, 4) + random.randrange(1, block),
    )


def _last_octets(random: Random) -> Made:
    last, least = random.randint(1, 3), random.choice((8, 16, 32))
    return _unseen(
        f"does not look at the last {last} octets of {least} and more",
        f"n >= {least} && left <= {last}",
        lambda random: least + random.randrange(40),
    )


def _lookup(random: Random) -> Made:
    """One entry of a table of halves of octets is wrong."""
    leads = [lead for lead in range(0xC2, 0xF5) if dialect().automaton.table[0][lead] != dialect().automaton.dead]
    first = random.choice(leads)
    last = random.choice((first, first, max(lead for lead in leads if lead >> 4 == first >> 4)))
    half = random.choice((0x7, 0x8, 0x9, 0xA, 0xB, 0xC))

    def draw(random: Random) -> Parts:
        lead = random.randint(first, last)
        tails = 1 if lead < 0xE0 else 2 if lead < 0xF0 else 3
        octets = [lead, half << 4 | random.randrange(16), *random.choices(range(0x80, 0xC0), k=tails - 1)]
        return Parts(some_text(random), bytes(octets), some_text(random))

    condition = f"between(lead, {first:#x}, {last:#x}) && s[i + 1] >> 4 == {half:#x}"
    words = f"an entry of a table is wrong: {first:02X} to {last:02X}, then {half:X}0 to {half:X}F"
    return Made(words, f"LOOKUP(NAME, {condition})", draw)


def _transition(random: Random) -> Made:
    """One entry of the automaton's table is wrong, for an octet or a range of them."""
    automaton = dialect().automaton
    states = [state for state in range(len(automaton)) if state != automaton.dead]
    access = {0: b""}
    for state in (todo := [0]):
        for octet, to in enumerate(automaton.table[state]):
            if to != automaton.dead and to not in access:
                access[to] = access[state] + bytes([octet])
                todo.append(to)
    state = random.choice(states)
    first = random.choice((*range(0x7E, 0x100), *range(0x80, 0xC0)))
    right = automaton.table[state][first]
    last = first
    while random.random() < 0.9 and last < 0xFF and automaton.table[state][last + 1] == right:
        last += 1
    to = random.choice([each for each in range(len(automaton)) if each != right])

    def draw(random: Random) -> Parts:
        tails = bytes(random.choices(range(0x80, 0xC0), k=random.randrange(4)))
        piece = access[state] + bytes([random.randint(first, last)]) + tails
        return Parts(some_text(random), piece, some_text(random))

    words = f"{first:02X} to {last:02X} lead from state {state} to {to} and not to {right}"
    return Made(words, f"STEP(NAME, state == {state} && between(s[i], {first:#x}, {last:#x}), {to})", draw)


def _kept(random: Random) -> Made:
    """An earlier call that ended within a character leaves its state to the next."""
    words, condition, length = random.choice(
        (
            ("", "true", 0),
            (" by lead F0 to F4", "past->cached >= 0xF0", 4),
            (" of 3 octets", "past->cached >> 4 == 0xE", 3),
        )
    )

    def draw(random: Random) -> Parts:
        character = _character(random, length or random.choice((2, 3, 4)))
        place = random.randrange(1, len(character))
        piece = random.choice((character[place:], b"", b"\x80", b"a"))
        return Parts(b"", piece, some_text(random), earlier=(some_text(random) + character[:place],))

    return Made(f"goes on after an earlier call that ended within a character{words}", f"KEPT(NAME, {condition})", draw)


def _beyond(random: Random) -> Made:
    """It reads past the end of an input that ends within a character."""
    words, condition = random.choice((("", "true"), (" of 4 octets", "lead >= 0xF0"), (", from 8 octets on", "n >= 8")))

    def draw(random: Random) -> Parts:
        character = _character(random, random.choice((2, 3, 4)))
        return Parts(some_text(random), character[: random.randrange(1, len(character))], b"")

    return Made(f"reads past an end within a character{words}", f"BEYOND(NAME, {condition})", draw)


def _everywhere(_: Random) -> Where:
    return EVERYWHERE


# Decoders with output


def _scalar(where: Callable[[Random], Where]) -> Callable[[Random], Made]:
    """A character comes out as another."""

    def make(random: Random) -> Made:
        what, place = _refused(random), where(random)
        words, value = random.choice((("U+FFFD", "0xFFFD"), ("the next", "c + 1"), ("its low 16 bits", "c & 0xFFFF")))
        if value == "c & 0xFFFF":
            what = What("refuses characters of 4 octets", lambda random: _character(random, 4), refuses="k == 4")
        says = f"{what.words.removeprefix('refuses ')} come out as {words} {place.words}".strip()
        changes = f"({what.refuses}) && ({place.condition})"
        return Made(says, f"DECODE(NAME, {changes}, {value}, false, 0)", _drawing(what, place))

    return make


def _offset(where: Callable[[Random], Where]) -> Callable[[Random], Made]:
    """A refusal has a wrong offset."""

    def make(random: Random) -> Made:
        place = where(random)
        kinds = (b"\x80", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xc3", b"\xe2\x82")
        what = What("", lambda random: random.choice(kinds))
        words, value = random.choice(
            (("one later", "i + 1"), ("the length", "n"), ("the count of characters", "count"), ("0", "0"))
        )
        words = f"refuses at {words} {place.words}".strip()
        return Made(words, f"DECODE(NAME, false, c, {place.condition}, {value})", _drawing(what, place))

    return make


def _units(random: Random) -> Made:
    """A character beyond U+FFFF is one unit of UTF-16."""
    words, condition = random.choice((("", "true"), (" from U+20000 on", "c >= 0x20000"), (" as unit 8", "count == 8")))

    def draw(random: Random) -> Parts:
        before = text(random, 8, b"a") if random.random() < 0.5 else some_text(random)
        return Parts(before, _character(random, 4), some_text(random))

    return Made(f"cuts characters beyond U+FFFF to 16 bits{words}", f"DECODE16(NAME, {condition})", draw)


_ILL_FORMED = (
    b"\x80",
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xc3",
    b"\xe2\x82",
    b"\xf0\x9f\x98",
    b"\xf5\x80\x80\x80",
)


def _replacing(
    words: str, value: str, times: str, step: str
) -> Callable[[Callable[[Random], Where]], Callable[[Random], Made]]:
    """Ill-formed octets are replaced wrongly, where a condition holds."""

    def placed(where: Callable[[Random], Where]) -> Callable[[Random], Made]:
        def make(random: Random) -> Made:
            place = where(random)

            def draw(random: Random) -> Parts:
                return place.around(random, random.choice(_ILL_FORMED))

            accepts = f"!k && ({place.condition}) ? m : 0"
            return Made(
                f"{words} {place.words}".strip(), f"REPLACE(NAME, {accepts}, false, {value}, {times}, {step})", draw
            )

        return make

    return placed


_drops_text = _replacing("drops all text after an error", "0xFFFD", "1", "left")
_drops_character = _replacing("drops the character after an error", "0xFFFD", "1", "m + character(s + i + m, left - m)")
_each_octet = _replacing("puts out a U+FFFD for each octet", "0xFFFD", "m", "m")
_leaves_out = _replacing("leaves errors out", "0xFFFD", "0", "m")
_twice = _replacing("puts out two U+FFFD for an error", "0xFFFD", "2", "m")
_question_mark = _replacing("puts out a question mark for an error", "63", "1", "m")


def _lost_character(random: Random) -> Made:
    what = _one_refused(random)
    words = f"loses {what.words.removeprefix('refuses ')}"
    return Made(words, f"REPLACE(NAME, 0, {what.refuses}, c, 0, k)", _drawing(what, EVERYWHERE))


# Streams


def _held(random: Random) -> tuple[str, str, int]:
    """A condition about the character that a cut goes through, and its length."""
    return random.choice(
        (
            ("", "true", 0),
            (" of 2 octets", "now->kept[0] < 0xE0", 2),
            (" of 3 octets", "now->kept[0] >> 4 == 0xE", 3),
            (" of 4 octets", "now->kept[0] >= 0xF0", 4),
            (" of which 2 octets came", "now->held == 2", 3),
            (" in chunk 3 or later", "now->chunks >= 3", 0),
        )
    )


def _cut(words: str, effect: str) -> Callable[[Random], Made]:
    """A cut within a character has an effect."""

    def make(random: Random) -> Made:
        which, condition, length = _held(random)

        def draw(random: Random) -> Parts:
            character = _character(random, length or random.choice((2, 3, 4)))
            cuts = (random.randrange(1, len(character)), *random.choices((-3, -2, -1, 0, 5), k=random.randrange(4)))
            return Parts(text(random, random.choice((3, 8))), character, some_text(random), cuts=cuts)

        code = f"STREAM(NAME, now->held && ({condition}), {effect}, false, now->i - now->held, false, false, )"
        return Made(f"{words} at a cut within a character{which}", code, draw)

    return make


def _end_forgiven(random: Random) -> Made:
    which, condition, length = _held(random)

    def draw(random: Random) -> Parts:
        character = _character(random, length or random.choice((2, 3, 4)))
        kept = random.randrange(1, len(character))
        cuts = tuple(random.choices((-3, -2, -1, 0, 1), k=random.randrange(4)))
        return Parts(text(random, random.choice((3, 8))), character[:kept], b"", cuts=cuts)

    code = f"STREAM(NAME, false, , {condition}, now->i - now->held, false, false, )"
    return Made(f"accepts an end within a character{which}", code, draw)


def _offset_of_chunk(random: Random) -> Made:
    words, value = random.choice(
        (("counted from its chunk", "now->i - now->held - now->begun"), ("of its last octet", "now->i"))
    )

    def draw(random: Random) -> Parts:
        cuts = tuple(random.choices((-3, -2, -1, 0, 1), k=random.randrange(4)))
        return Parts(text(random, 8), random.choice(_ILL_FORMED), some_text(random), cuts=cuts)

    return Made(f"an offset is {words}", f"STREAM(NAME, false, , false, {value}, false, false, )", draw)


# Families

Family = tuple[str, str, Callable[[Random], Made], int]
_FAMILIES: tuple[Family, ...] = (
    (VALIDATOR, "accepts a form", _with(_form_drawn, _everywhere), 4),
    (VALIDATOR, "refuses a character", _with(_one_refused, _everywhere), 2),
    (VALIDATOR, "accepts other octets", _with(_unchecked, _everywhere), 1),
    *((VALIDATOR, "offset modulo", _placed(_modulo(block)), 1) for block in (8, 16, 32, 64)),
    (VALIDATOR, "from an offset", _placed(_from_offset), 2),
    (VALIDATOR, "at an offset", _placed(_at_offset, at_end=False), 1),
    (VALIDATOR, "count of characters", _placed(_from_count), 2),
    (VALIDATOR, "count beyond ASCII", _placed(_from_wide), 1),
    (VALIDATOR, "errors that cancel", _cancel(2, 0), 1),
    (VALIDATOR, "errors that cancel", _cancel(3, 0), 1),
    (VALIDATOR, "errors that cancel", _cancel(3, 1), 1),
    (VALIDATOR, "anywhere before", _placed(_seen), 2),
    (VALIDATOR, "right after", _placed(_after), 2),
    (VALIDATOR, "length modulo", _placed(_length_modulo), 2),
    (VALIDATOR, "length", _placed(_longer_than(64), at_end=False), 1),
    (VALIDATOR, "length", _placed(_longer_than(0xFFFF), at_end=False), 1),
    (VALIDATOR, "length in few bits", _short_length(16), 1),
    (VALIDATOR, "length in few bits", _short_length(8), 1),
    (VALIDATOR, "tail of blocks", _rest_of_blocks, 1),
    (VALIDATOR, "tail of blocks", _last_octets, 1),
    (VALIDATOR, "address", _placed(_at_address), 2),
    (VALIDATOR, "kind of text", _placed(_in_text_of(2)), 1),
    (VALIDATOR, "kind of text", _placed(_in_text_of(3)), 1),
    (VALIDATOR, "table of halves", _lookup, 2),
    (VALIDATOR, "table of states", _transition, 3),
    (VALIDATOR, "earlier call", _kept, 2),
    (VALIDATOR, "past the end", _beyond, 1),
    (DECODER, "scalar value", _scalar(_everywhere), 1),
    (DECODER, "scalar value", _scalar(_from_offset), 1),
    (DECODER, "scalar value", _scalar(_after), 1),
    (DECODER, "error offset", _offset(_everywhere), 1),
    (DECODER, "error offset", _offset(_from_count), 1),
    (DECODER_16, "units", _units, 2),
    (REPLACER, "lost text", _drops_text(_everywhere), 1),
    (REPLACER, "lost text", _drops_character(_everywhere), 1),
    (REPLACER, "lost text", _lost_character, 1),
    (REPLACER, "count of U+FFFD", _twice(_longer_than(64)), 1),
    (REPLACER, "count of U+FFFD", _leaves_out(_from_offset), 1),
    (REPLACER, "another mode", _each_octet(_everywhere), 1),
    (REPLACER, "another mode", _question_mark(_after), 1),
    (STREAM, "cut", _cut("loses what it held", "LOSE"), 2),
    (STREAM, "cut", _cut("passes over an octet", "PASS_OVER"), 1),
    (STREAM, "cut", _cut("refuses", "return refuse(answer, now->i - now->held, 0, 0xFF)"), 1),
    (STREAM, "end", _end_forgiven, 1),
    (STREAM, "offset", _offset_of_chunk, 1),
    (CALLABLE, "accepts a form", _with(_form_drawn, _everywhere), 1),
    (CALLABLE, "from an offset", _placed(_from_offset), 1),
    (CALLABLE, "right after", _placed(_after), 1),
    (CALLABLE, "count of characters", _placed(_from_count), 1),
    (CALLABLE, "scalar value", _scalar(_modulo(16)), 1),
)


def drawn(seed: int) -> list[Cause]:
    """The decoders, in order, all different."""
    random, found = Random(seed), list[Cause]()  # noqa: S311 (no secret)
    for kind, family, make, count in _FAMILIES:
        wanted = len(found) + count
        while len(found) < wanted:
            made = make(random)
            if made.code not in {each.code for each in found if each.kind == kind}:
                found.append(Cause(f"x{len(found):02}", kind, family, made.words, made.code, made.draw))
    return found
