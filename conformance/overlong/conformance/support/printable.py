"""Text for people: made safe to show, counted, with a hint where a name is unknown; times and counts in words."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def printable(text: str, limit: int = 300) -> str:
    """``text`` on one line, with escapes for terminal controls, reordering, line breaks and unassigned characters."""
    shown = "".join(_escaped(character) for character in text[: limit + 1])
    return shown if len(text) <= limit else f"{shown[:limit]}…"


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{{{number:x}}}"


def plain(text: str, limit: int = 400) -> str:
    """``text`` in ASCII without backslashes and trigraphs: in a comment, it is plain words in every language.

    It is cut first and spelt afterwards; other characters appear by their numbers: ``<U+00E9>``.
    """
    cut = text if len(text) <= limit else f"{text[:limit]}…"
    spelt = "".join(
        each if " " <= each <= "~" and each != "\\" else _SPELT.get(each) or f"<U+{ord(each):04X}>" for each in cut
    )
    return re.sub(r"\?{2,}", "?", spelt)


_SPELT = {"…": "...", "§": "section ", "\N{EN DASH}": "-", "\N{EM DASH}": "-"}


class Run(NamedTuple):
    """One octet, or a unit that is repeated."""

    text: str
    size: int
    """In octets."""
    repeats: bool


_REPEATED = re.compile(rb"(.{1,4}?)\1{4,}", re.DOTALL)
"""Five times the same, or more: one octet, or as many as a character can have."""


def runs(octets: bytes) -> Iterator[Run]:
    """The octets in order, each alone, or counted if they repeat."""
    place = 0
    while place < len(octets):
        if found := _REPEATED.match(octets, place):
            unit, size = found[1], found.end() - place
            yield Run(f"{unit.hex(' ').upper()} x {size // len(unit)}", size, repeats=True)
            place = found.end()
        else:
            yield Run(f"{octets[place]:02X}", 1, repeats=False)
            place += 1


def spaced_hex(octets: bytes, limit: int = 24) -> str:
    """``E0 80 AF``; long inputs have repetitions counted, ``61 x 62  E0 80``, and keep their first and last octets."""
    if not octets:
        return "(empty)"
    if len(octets) <= limit:
        return octets.hex(" ").upper()
    found = list(islice(runs(octets), limit + 1))
    if len(found) > limit:
        tail = (Run(f"{octet:02X}", 1, repeats=False) for octet in octets[-4:])
        found = [*found[: limit - 4], Run("…", 0, repeats=False), *tail]
    text = found[0].text
    for before, each in pairwise(found):
        text += ("  " if before.repeats or each.repeats else " ") + each.text
    return f"{text} ({thousands(len(octets))} octets)"


def code_points(values: tuple[int, ...], limit: int = 8) -> str:
    """``U+002F U+0041``; long outputs are cut and counted."""
    if not values:
        return "nothing"
    shown = " ".join(f"U+{value:04X}" for value in values[:limit])
    return shown if len(values) <= limit else f"{shown} … ({thousands(len(values))} values)"


def times(count: int) -> str:
    """``once``, ``twice``, ``3 times``."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def thousands(number: int) -> str:
    """``18 441``."""
    return f"{number:,}".replace(",", " ")


def as_text(name: str) -> str:
    r"""A name without lone surrogates, which stand for octets that are no UTF-8: ``\udcff`` is FF.

    JSON, SQLite and other programs accept only text.
    """
    return re.sub("[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):x}", name)


def as_name(text: str) -> str:
    """The name that :func:`as_text` or :func:`printable` spells, so that a user can type the shown form."""
    return re.sub(
        r"\\u(?:\{(dc[89a-f][0-9a-f])\}|(dc[89a-f][0-9a-f]))", lambda found: chr(int(found[1] or found[2], 16)), text
    )


def counted(number: int, thing: str) -> str:
    """``1 cause``, ``1 200 causes``."""
    return f"{thousands(number)} {thing}{'' if number == 1 else 's'}"


_INLINE = 4


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """``did you mean core?``, the end of an error.

    Args:
        name: the unknown name.
        known: all known names.
        otherwise: the text if no known name is near; by default, all known names.
    """
    known = list(known)
    close = nearest(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return otherwise or f"there is{listed(known)}"


def listed(known: Iterable[str]) -> str:
    """Names after a word of an error: a few on its line; more on lines of their own, so that no name is cut."""
    known = list(known)
    if len(known) <= _INLINE:
        return f" {', '.join(known) or 'none'}"
    return "".join(f"\n  {each}" for each in known)


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known names near to a name, the nearest first, in the spelling of ``known``."""
    from difflib import get_close_matches  # most runs need no hint

    spelt = {each.casefold(): each for each in known}
    return [spelt[each] for each in get_close_matches(name.casefold(), spelt, most)]


_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_TIMES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9}
_LONGEST = 520 * _SECONDS["w"]
MOST_RUNS = 1 << 62
"""The upper limit of numbers of inputs."""


def seconds_of(text: str) -> float:
    """The seconds in ``30s``, ``10m``, ``2h``, ``3d``, ``2w``, ``1.5h``.

    Raises:
        ValueError: the text is none of these; the message says what to write.
    """
    found = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,3})?)([smhdw])", text)
    if found is None:
        raise ValueError(f"{text!r} is not a time; write 30s, 10m, 2h, 3d or 2w")
    seconds = float(found[1]) * _SECONDS[found[2]]
    if not 0 < seconds <= _LONGEST:
        raise ValueError(f"{text!r} is not between 0 and ten years; leave the option out for the default")
    return seconds


def count_of(text: str) -> int:
    """The number in ``5000``, ``10k``, ``5M``, ``2G``; thousands, not powers of two.

    Raises:
        ValueError: the text is none of these, or the number is out of range; the message says what to write.
    """
    found = re.fullmatch(r"([0-9]{1,20})([kMG]?)", text)
    if found is None:
        raise ValueError(f"{text!r} is not a number of inputs; write 5000, 10k, 5M or 2G")
    number = int(found[1]) * _TIMES[found[2]]
    if not 0 < number <= MOST_RUNS:
        raise ValueError(f"{text!r} is not between 1 and 2^62, the number of all inputs")
    return number


def lasting(seconds: float) -> str:
    """``37 s``, ``8 min 37 s``, ``3 h 20 min``, ``5 d 7 h``."""
    left = max(0, int(seconds))
    if left < _SECONDS["m"]:
        return f"{left} s"
    for unit, name, smaller, its_name in (("m", "min", "s", "s"), ("h", "h", "m", "min"), ("d", "d", "h", "h")):
        if left < {"m": 3600, "h": 86_400, "d": left + 1}[unit]:
            whole, rest = divmod(left, _SECONDS[unit])
            parts = rest // _SECONDS[smaller]
            return f"{whole} {name} {parts} {its_name}" if parts else f"{whole} {name}"
    raise AssertionError(seconds)
