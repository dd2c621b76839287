"""Plans: which strings a sweep asks, as grids; :data:`PLANS` has each kind by its name."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.sweep.grid import CONTINUATION, Axis, Grid
from overlong.conformance.vectors.suites.complete import strings_for
from overlong.reference.order import well_formed_products
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.reference.automaton import Automaton, OctetClass

_PLACES = ("first octet", "second octet", "third octet", "fourth octet", "fifth octet", "sixth octet")
LONGEST = 4
"""Octets of a placed string: those of the longest character of RFC 3629."""
BOTH_ENDS = 2
"""Octets of a placed string up to which each class goes by its least and its greatest octet."""
WITH_A_TAIL = 3
"""Octets of a placed string that has text behind it: the text is what its fourth octet would be."""
TAIL = 64
"""Octets behind a placed string, where there are any: a block of the widest vector unit."""
NO_OCTET = 0xFF
"""An octet that occurs in no well-formed string."""
_FAR = tuple(near + by for power in range(10, 17) for near in (1 << power,) for by in (-4, -3, -2, -1, 0, 1, 2, 3, 4))
"""Lengths that are asked besides: around powers of two, where counters and buffers end."""
BLOCKS = (8, 16, 32, 64, 128)
"""Octets in the blocks of decoders that read more than one at a time."""
_REACH = 8
"""Octets before a boundary at which a pair of the longest characters can begin and still reach it."""
_BEHIND_PAIR = 16


@dataclass(frozen=True)
class KindOfPlan:
    """Plans that differ by a number."""

    name: str
    shows: str
    """What it shows, in a sentence; ``{}`` stands for the number, ``{states}`` and ``{speaks}`` for the profile's
    automaton's with as many states more, and its dialect."""
    grids: Callable[[Profile, int], Iterator[Grid]]
    least: int | None = None
    """The smallest number; None if it takes none."""
    usual: int = 0
    most: int = 0

    @property
    def form(self) -> str:
        """How its name is written."""
        return self.name if self.least is None else f"{self.name}-{self.usual}"


def every_octet() -> tuple[bytes, ...]:
    """The 256 octets."""
    return tuple(bytes([octet]) for octet in range(256))


def class_strings(automaton: Automaton, length: int, *, ends: bool = False) -> tuple[bytes, ...]:
    """Every string of that many classes of octets, each class by its least octet; octet 00 gives way to a letter.

    An octet 00 says something of its own to many decoders, and the class of ASCII has others. Of octets that occur in
    nothing well-formed it is the greatest: FF is a mark of their own to some. With ``ends`` each class goes by its
    other end, too: C0 is a mark of its own as well.
    """
    names = [_name(automaton, octets) for octets in automaton.classes]
    others = [bytes([octets.octets[end]]) for octets in automaton.classes for end in (0, -1) if ends]
    names += [name for name in dict.fromkeys(others) if name not in names and name != b"\0"]
    return tuple(map(b"".join, product(names, repeat=length)))


def _name(automaton: Automaton, octets: OctetClass) -> bytes:
    if octets.least == 0 and ord("A") in octets.octets:
        return b"A"
    occurs = any(row[octets.least] != automaton.dead for row in automaton.table)
    return bytes([octets.least if occurs else octets.octets[-1]])


def fillers(automaton: Automaton) -> tuple[bytes, ...]:
    """One character of each length that there is, in the middle of its range: neither its first nor its last."""
    found: dict[int, bytes] = {}
    for ranges in well_formed_products(automaton):
        found.setdefault(len(ranges), bytes(octets[len(octets) // 2] for octets in ranges))
    return tuple(found[length] for length in sorted(found))


def filled(filler: bytes, length: int) -> bytes:
    """``length`` octets of well-formed text: fillers, and before them as many ASCII letters as it takes."""
    count, letters = divmod(length, len(filler))
    return b"a" * letters + filler * count


def _exhaustive(_profile: Profile, longest: int) -> Iterator[Grid]:
    """All strings of up to so many octets."""
    for length in range(1, longest + 1):
        yield Grid(tuple(Axis(place, every_octet()) for place in _PLACES[:length]))


EXHAUSTIVE = KindOfPlan("exhaustive", "every string of 1 to {} octets", _exhaustive, 1, 3, 6)


def _depth(profile: Profile, depth: int) -> Iterator[Grid]:
    """The complete suite to any depth, made as it is asked: the W-method (Vasilevskii 1973, Chow 1978).

    An access word for every state, then every string of up to ``depth + 1`` octets, then every word of a
    characterising set. A decoder whose verdict is computed by some deterministic automaton of at most ``n + depth``
    states passes all of it if and only if it accepts exactly the well-formed strings.
    """
    automaton = profile.dialect.automaton
    access = Axis("access word", access_words(automaton))
    words = Axis("suffix", characterising_set(automaton))
    for length in range(depth + 2):
        between = [Axis(f"octet {number} after it", every_octet()) for number in range(1, length + 1)]
        yield Grid((access, *between, words))


DEPTH = KindOfPlan(
    "depth", "no decoder of up to {states} states that differs from {speaks} passes this", _depth, 0, 1, 4
)


def _placed(profile: Profile, furthest: int) -> Iterator[Grid]:
    """Every string of up to four classes of octets at every offset: what goes wrong at an edge of a block of octets."""
    automaton = profile.dialect.automaton
    strings = [class_strings(automaton, length, ends=length <= BOTH_ENDS) for length in range(1, LONGEST + 1)]
    for filler in fillers(automaton):
        before = Axis(
            "text before it",
            tuple(filled(filler, offset) for offset in range(furthest + 1)),
            tuple((len(filler), offset) for offset in range(furthest + 1)),
            ("octets of the filler", "offset"),
        )
        yield Grid((before, Axis("placed string", sum(strings, ()))), around=CONTINUATION)
        tail = Axis("text behind it", (filler * (TAIL // len(filler)),))
        yield Grid((before, Axis("placed string", sum(strings[:WITH_A_TAIL], ())), tail), around=NO_OCTET)


PLACED = KindOfPlan(
    "placed",
    "every string of up to four classes of octets at every offset from 0 to {}, between characters of every length",
    *(_placed, 0, 64, 4096),
)


def _lengths(profile: Profile, longest: int) -> Iterator[Grid]:
    """Every length: text that is well-formed, or wrong at its very end, or at its very beginning."""
    automaton = profile.dialect.automaton
    ends = (b"", *class_strings(automaton, 1), *class_strings(automaton, 2))
    heads = (b"", *class_strings(automaton, 1))
    near = range(longest + 1)
    far = [length for length in _FAR if length > longest]
    for filler in fillers(automaton):
        for lengths, some in ((near, ends), (far, heads)):
            if lengths:
                text = Axis(
                    "text",
                    tuple(filled(filler, length) for length in lengths),
                    tuple((len(filler), length) for length in lengths),
                    ("octets of the filler", "length"),
                )
                yield Grid((text, Axis("end", some)))
                yield Grid((Axis("head", heads[1:]), text))


LENGTHS = KindOfPlan(
    "lengths",
    "text of every length from 0 to {} octets and around powers of two, and an error at its end or its beginning",
    *(_lengths, 0, 1024, 4096),
)


def _characters(automaton: Automaton) -> tuple[bytes, ...]:
    """The first and the last of each kind of character, also cut short; out of its range; and every class alone."""
    found: dict[bytes, None] = {}
    for ranges in well_formed_products(automaton):
        for whole in (bytes(octets[0] for octets in ranges), bytes(octets[-1] for octets in ranges)):
            for end in range(1, len(ranges) + 1):
                found.setdefault(whole[:end])
        found.update(dict.fromkeys(_out_of_range(automaton, bytes(octets[0] for octets in ranges))))
    found.update(dict.fromkeys(class_strings(automaton, 1)))
    found.pop(b"\0", None)  # says something of its own to many decoders
    return tuple(found)


def _out_of_range(automaton: Automaton, whole: bytes) -> Iterator[bytes]:
    """A character with another tail octet in its second place, where that is too much or too little."""
    tails = {octet for octet, to in enumerate(automaton.table[automaton.run(whole[:-1])]) if automaton.accepting[to]}
    for octets in automaton.classes:
        begun = whole[:1] + bytes([octets.least])
        if len(whole) > len(begun) and octets.least in tails and automaton.run(begun) == automaton.dead:
            yield begun + whole[2:]


def _pairs(profile: Profile, _number: int) -> Iterator[Grid]:
    """Every two characters across every boundary of a block: what is carried from one block to the next."""
    automaton = profile.dialect.automaton
    characters = _characters(automaton)
    offsets = sorted({block - back for block in BLOCKS for back in range(_REACH + 1)})
    for filler in fillers(automaton):
        before = Axis(
            "text before it",
            tuple(filled(filler, offset) for offset in offsets),
            tuple((len(filler), offset) for offset in offsets),
            ("octets of the filler", "offset"),
        )
        tail = Axis("text behind it", (b"", filled(filler, _BEHIND_PAIR)))
        yield Grid((before, Axis("first character", characters), Axis("second character", characters), tail))


PAIRS = KindOfPlan("pairs", "every two characters, whole or cut short, at every boundary of 8 to 128 octets", _pairs)


def _order(profile: Profile, _number: int) -> Iterator[Grid]:
    """What an earlier call leaves behind: the complete suite, right after strings that end in every state."""
    automaton = profile.dialect.automaton
    words = (b"", *characterising_set(automaton))
    before = dict.fromkeys(map(b"".join, product(access_words(automaton), words)))
    earlier = Axis("earlier string", tuple(before))
    short = class_strings(automaton, 1) + class_strings(automaton, 2)  # a character, and then an error behind it
    strings = dict.fromkeys((*strings_for(profile.dialect), *short))
    yield Grid((earlier, Axis("string", tuple(strings))), earlier=1)


ORDER = KindOfPlan("order", "every string of the complete suite, right after one that ends in each state", _order)

PLANS: dict[str, KindOfPlan] = {kind.name: kind for kind in (EXHAUSTIVE, DEPTH, PLACED, LENGTHS, PAIRS, ORDER)}
