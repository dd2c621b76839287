"""Ids of a page: what a link can point to. Each is given once, and is the same in every page of the same report."""

from __future__ import annotations

import re
from collections import Counter

_STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 60


class Anchors:
    """Gives ids that hold nothing but plain letters, and no id twice."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def give(self, *words: str) -> str:
        """An id that tells ``words``; with a number if it was given before."""
        name = "-".join(part for word in words if (part := _STRANGE.sub("-", word[:_LONGEST]).strip("-.")))
        name = name if name[:1].isalpha() else f"x-{name}" if name else "x"
        unique = name
        while self._given[unique]:
            self._given[name] += 1
            unique = f"{name}-{self._given[name]}"
        self._given[unique] += 1
        return unique
