"""Decoders for ``identify``: the reference in every dialect and error mode, and some unlike any of them."""

from __future__ import annotations

import os
import random
from math import isqrt
from typing import TYPE_CHECKING

from overlong.reference import DIALECTS, ERROR_MODES, Dialect, Grammar, decode_scalars, dialect, is_well_formed
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from collections.abc import Callable


def _speaker(name: str) -> Callable[[bytes], list[int] | str]:
    """A str cannot hold numbers beyond Unicode: a dialect with them is only validated."""
    spoken = dialect(name)
    if spoken.layout.rows[-1].numbers.stop <= 0x110000:
        return lambda octets: "".join(map(chr, decode_scalars(octets, "fatal", spoken)))
    return lambda octets: is_well_formed(octets, spoken)  # type: ignore[return-value]


for _name in DIALECTS:
    globals()[_name.replace("-", "_")] = _speaker(_name)
for _mode in ERROR_MODES:
    globals()[_mode.replace("-", "_")] = lambda octets, mode=_mode: "".join(map(chr, decode_scalars(octets, mode)))


def _with(*alternatives: str) -> Dialect:
    right = dialect()
    text = right.grammar.text.replace("/ UTF8-4", " / ".join(("/ UTF8-4", *alternatives)))
    return Dialect("wrong", Grammar.parse(text, "wrong.abnf"), load_layout("rfc2279"))


_THIRTEEN = _with("%xFF %x80 11( UTF8-tail )")
_ODD = _with("%xC0 %x80", "%xED %xA0-AF UTF8-tail")


def thirteen(octets: bytes) -> bool:
    return is_well_formed(octets, _THIRTEEN)


def unlike_anything(octets: bytes) -> bool:
    return is_well_formed(octets, _ODD)


def even_length(octets: bytes) -> bool:
    return is_well_formed(octets) and len(octets) % 2 == 0


def square_length(octets: bytes) -> bool:
    return is_well_formed(octets) and isqrt(len(octets)) ** 2 == len(octets)


def crashes(octets: bytes) -> bool:
    if octets == b"\xf4\x90":
        os.abort()
    return is_well_formed(octets)


def fickle(octets: bytes) -> bool:
    return random.random() < 0.5 or is_well_formed(octets)


def overlong_from_32(octets: bytes) -> bool:
    """Accepts C0 80 as a character from offset 32 on."""
    at = octets.find(b"\xc0\x80", 32)
    return is_well_formed(octets if at < 0 else octets[:at] + octets[at + 2 :])


def overlong_pair(octets: bytes) -> bool:
    """Accepts C1 A5 as a character."""
    return is_well_formed(octets.replace(b"\xc1\xa5", b"e"))


def short_only(octets: bytes) -> str:
    """Refuses strings of more than 4000 octets."""
    if len(octets) > 4000:
        raise UnicodeDecodeError("utf-8", octets, 0, 1, "too long")
    return octets.decode()
