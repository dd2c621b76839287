"""Times and counts in people's notation: ``10m``, ``5M``, ``8 min 37 s``."""

from __future__ import annotations

import re

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
