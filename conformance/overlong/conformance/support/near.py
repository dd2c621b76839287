"""What a user may have meant by a name that there is not."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_INLINE = 4


def did_you_mean(name: str, known: Iterable[str], otherwise: str = "") -> str:
    """``did you mean core?``, the end of an error.

    Args:
        name: that there is not.
        known: the names there are.
        otherwise: what is said if none of them is near; if left out, all of them.
    """
    known = list(known)
    close = nearest(name, known)
    if close:
        return f"did you mean {' or '.join(close)}?"
    return otherwise or f"there is{listed(known)}"


def listed(known: Iterable[str]) -> str:
    """Names behind a word of an error: a few on its line, more one a line, so that none is cut in the middle."""
    known = list(known)
    if len(known) <= _INLINE:
        return f" {', '.join(known) or 'none'}"
    return "".join(f"\n  {each}" for each in known)


def nearest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The names that are near to another, the nearest first; in the spelling of ``known``."""
    spelt = {each.casefold(): each for each in known}
    return [spelt[each] for each in get_close_matches(name.casefold(), spelt, most)]
