# pyright: basic
"""Where a string stands in memory: at an address that its number determines.

An answer may depend on the address: words and vectors are loaded from aligned addresses on, and what stands before the
first of these takes another path. So strings begin at every address modulo 64, and those with neighbouring numbers at
very different ones. Whoever asks a string again, or continues a sweep, gets the same address.
"""

from __future__ import annotations

from numba.extending import register_jitable

from overlong.conformance.sweep.compiled.automaton import shifted

_TIMES = 0x9E3779B97F4A7C15 - (1 << 64)
_AGAIN = 0xBF58476D1CE4E5B9 - (1 << 64)
_TOP = 64 - 6
"""The bits below those of a number less than 64."""


@register_jitable
def apart(number: int) -> int:
    """The octets from a multiple of 64 to a string's address: a hash of a number."""
    mixed = number * _TIMES
    mixed ^= shifted(mixed, 32)
    return shifted(mixed * _AGAIN, _TOP)  # type: ignore[no-any-return]
