"""Known-wrong encoders, each with one planted fault, and right ones, to test the judge of encoders.

Each class is a target: ``py:wrong_encoders.py:NAME``. ``WRONG`` has the codes that each must be caught for, ``RIGHT``
names those that must not be accused.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterable
from typing import Any

WRONG: dict[str, set[str]] = {}
RIGHT: list[str] = []
SURROGATES = range(0xD800, 0xE000)


class Bad(Exception):
    """A refusal of the number at an index."""


def refusal(index: int | None) -> Any:
    """A refusal in the form of the adapter, which loads this file."""
    return _adapter().Refusal(index)


def failure(text: str) -> Any:
    """An internal error in the form of the adapter."""
    return _adapter().Bug(text)


def _adapter() -> Any:
    return sys.modules["__main__"]


def scalar(number: int) -> bytes:
    """The octets of a scalar value, by Python's codec."""
    return chr(number).encode("utf-8")


def lax(number: int) -> bytes:
    """RFC 2279's octets, even of surrogates; for numbers beyond 7FFFFFFF, those of the low bits."""
    if number < 0x80:
        return bytes([number])
    for length, bits in ((2, 11), (3, 16), (4, 21), (5, 26), (6, 36)):
        if number < 1 << bits:
            tail = [0x80 | number >> 6 * place & 0x3F for place in reversed(range(length - 1))]
            return bytes([(0xFF00 >> length & 0xFF) | (number >> 6 * (length - 1)) & 0xFF >> (length + 1), *tail])
    raise AssertionError(number)


def is_scalar(number: int) -> bool:
    return number <= 0x10FFFF and number not in SURROGATES


def fatal(number: int) -> bytes:
    if not is_scalar(number):
        raise Bad
    return scalar(number)


def joined(units: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """The characters of UTF-16 and their starting indices."""
    place = 0
    while place < len(units):
        lead, trail = (*units[place : place + 2], 0)[:2]
        if lead in range(0xD800, 0xDC00) and trail in range(0xDC00, 0xE000):
            yield place, 0x10000 + ((lead & 0x3FF) << 10) + (trail & 0x3FF)
            place += 2
        else:
            yield place, lead
            place += 1


Encode = Callable[[int], bytes]
Split = Callable[[tuple[int, ...]], Iterable[tuple[int, int]]]


def written(items: Iterable[tuple[int, int]], encode: Encode) -> bytes:
    """The concatenated pieces; a refusal at the index of the first piece that is not accepted."""
    output = bytearray()
    for place, number in items:
        try:
            output += encode(number)
        except Bad:
            raise Bad(place) from None
    return bytes(output)


def target(
    encode: Encode,
    *,
    split: Split = joined,
    size: Callable[[bytes, tuple[int, ...]], int] = lambda octets, _: len(octets),
    index: Callable[[int], int | None] = lambda place: place,
    finish: Callable[[bytes], bytes] = lambda octets: octets,
    errors: str = "fatal",
    announcing: Encode | None = None,
) -> Any:
    """An object for the adapter with one of these encoders."""

    def one(letter: str, payload: bytes) -> Any:
        numbers = struct.unpack(f">{len(payload) // 2}H" if letter == "F" else f">{len(payload) // 4}I", payload)
        items = split(numbers) if letter == "F" else enumerate(numbers)
        try:
            if letter == "Z":
                return size(written(items, announcing or encode), numbers).to_bytes(4, "big")
            return finish(written(items, encode))
        except Bad as bad:
            return refusal(index(bad.args[0]))
        except IndexError as error:
            return failure(str(error))

    def of(letter: str) -> Any:
        return lambda many: [one(letter, payload) for payload in many]

    class Target:
        operations = {letter: of(letter) for letter in "EFZ"}  # noqa: RUF012
        traits = {"encode_errors": errors}  # noqa: RUF012

    return Target


def replacing(by: bytes) -> Encode:
    return lambda number: scalar(number) if is_scalar(number) else by


# Right ------------------------------------------------------------------------------------------------------

right = target(fatal)
right_silent = target(fatal, index=lambda _: None)
right_replacing = target(replacing(b"\xef\xbf\xbd"), errors="replacement")
right_question_mark = target(replacing(b"?"), errors="question mark")
right_replacing_and_refusing_to_announce = target(replacing(b"\xef\xbf\xbd"), errors="replacement", announcing=fatal)


def _refuses_beyond(number: int) -> bytes:
    if number > 0x10FFFF:
        raise Bad
    return replacing(b"?")(number)


right_in_strings_of_code_points = target(_refuses_beyond, errors="question mark")
RIGHT += [name for name in dir() if name.startswith("right")]

# Wrong ------------------------------------------------------------------------------------------------------


def _surrogatepass(number: int) -> bytes:
    return fatal(number) if number not in SURROGATES else lax(number)


def _halves(number: int) -> bytes:
    if number in range(0x10000, 0x110000):
        low = number - 0x10000
        return lax(0xD800 + (low >> 10)) + lax(0xDC00 + (low & 0x3FF))
    return fatal(number)


def _reversed(units: tuple[int, ...]) -> Iterable[tuple[int, int]]:
    """Any two surrogates of different kinds form a pair."""
    place = 0
    while place < len(units):
        first, second = sorted((*units[place : place + 2], 0)[:2])
        if first in range(0xD800, 0xDC00) and second in range(0xDC00, 0xE000):
            yield place, 0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF)
            place += 2
        else:
            yield place, units[place]
            place += 1


surrogatepass = target(_surrogatepass)
WRONG["surrogatepass"] = {"OV703", "OV706"}
cesu_8_pairs = target(_halves)
WRONG["cesu_8_pairs"] = {"OV703", "OV706"}
unit_by_unit = target(_surrogatepass, split=enumerate, announcing=fatal)
WRONG["unit_by_unit"] = {"OV703"}
pairs_in_any_order = target(fatal, split=_reversed)
WRONG["pairs_in_any_order"] = {"OV703", "OV705"}  # of a reversed pair and a lone surrogate, it refuses the latter
no_pairs = target(fatal, split=enumerate)
WRONG["no_pairs"] = {"OV701", "OV705"}
rfc_2279 = target(lambda number: lax(number) if number > 0x10FFFF else fatal(number))
WRONG["rfc_2279"] = {"OV704", "OV706"}
up_to_1fffff = target(lambda number: lax(number) if number in range(0x110000, 0x200000) else fatal(number))
WRONG["up_to_1fffff"] = {"OV704", "OV706"}
high_bits_cut_off = target(lambda number: fatal(number & 0xFFFFFF))
WRONG["high_bits_cut_off"] = {"OV704", "OV706"}
no_check_at_all = target(lax)
WRONG["no_check_at_all"] = {"OV703", "OV704", "OV706"}
wrong_mask = target(lambda number: fatal(number).replace(b"\xc3", b"\xc2"), announcing=fatal)
WRONG["wrong_mask"] = {"OV702"}
nul_in_two_octets = target(lambda number: fatal(number) if number else b"\xc0\x80")
WRONG["nul_in_two_octets"] = {"OV702", "OV706"}
three_octets_from_7ff_on = target(lambda number: b"\xe0\x9f\xbf" if number == 0x7FF else fatal(number))
WRONG["three_octets_from_7ff_on"] = {"OV702", "OV706"}
two_octets_up_to_800 = target(lambda number: b"\xe0\x80" if number == 0x800 else fatal(number))
WRONG["two_octets_up_to_800"] = {"OV702", "OV706"}
signature_before_all = target(fatal, finish=lambda octets: b"\xef\xbb\xbf" + octets)
WRONG["signature_before_all"] = {"OV702"}
ends_with_nul = target(fatal, finish=lambda octets: octets + b"\0")
WRONG["ends_with_nul"] = {"OV702"}
one_octet_too_many_announced = target(fatal, size=lambda octets, _: len(octets) + 1)
WRONG["one_octet_too_many_announced"] = {"OV706"}
characters_announced = target(fatal, size=lambda _, numbers: len(numbers))
WRONG["characters_announced"] = {"OV706"}
three_octets_announced_for_surrogates = target(fatal, announcing=_surrogatepass)
WRONG["three_octets_announced_for_surrogates"] = {"OV706"}
replaces_and_says_fatal = target(replacing(b"?"), announcing=fatal)
WRONG["replaces_and_says_fatal"] = {"OV707"}
refuses_and_says_replacement = target(fatal, errors="replacement")
WRONG["refuses_and_says_replacement"] = {"OV707"}
question_marks_for_replacements = target(replacing(b"?"), errors="replacement", announcing=replacing(b"\xef\xbf\xbd"))
WRONG["question_marks_for_replacements"] = {"OV707"}
leaves_out = target(replacing(b""), errors="replacement", announcing=fatal)
WRONG["leaves_out"] = {"OV707"}
noncharacters_refused = target(lambda number: fatal(0xD800 if number & 0xFFFE == 0xFFFE else number))
WRONG["noncharacters_refused"] = {"OV701", "OV705"}
refuses_at_the_next_index = target(fatal, index=lambda place: place + 1)
WRONG["refuses_at_the_next_index"] = {"OV705"}
index_in_characters = target(
    fatal, split=lambda units: ((place, number) for place, (_, number) in enumerate(joined(units)))
)
WRONG["index_in_characters"] = {"OV705"}
raises_for_surrogates = target(lambda number: [b""][number in SURROGATES] or fatal(number))
WRONG["raises_for_surrogates"] = {"OV601"}
one_character_is_another = target(lambda number: fatal(0x3043 if number == 0x3042 else number))
WRONG["one_character_is_another"] = {"OV702"}
