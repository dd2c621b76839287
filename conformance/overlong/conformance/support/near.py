"""Suggestions for an unknown name."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    spelt = {each.casefold(): each for each in known}
    return [spelt[each] for each in get_close_matches(name.casefold(), spelt, most)]
