"""Takes note of the divergences of a run: of those that are alike, as many as their causes can be found from."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from itertools import compress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding

_KEPT = 96
"""About how many divergences that are alike are held against each condition; the others go with them."""


@dataclass
class Alike:
    """Divergences of one code, place, operation and category."""

    key: tuple[str, str]
    operation: str
    category: str
    kept: list[Finding] = field(default_factory=list["Finding"])
    """Some of them, evenly spread."""
    count: int = 0
    _step: int = 1

    def add(self, many: int, of: Callable[[int], Finding]) -> None:
        """Count some more, and keep a few of them."""
        places = range(-self.count % self._step, many, self._step)
        if len(places) > _KEPT:
            places = places[:: len(places) // _KEPT]
        self.kept += map(of, places)
        self.count += many
        while len(self.kept) > 2 * _KEPT:
            self.kept, self._step = self.kept[::2], self._step * 2


Noted = dict[tuple[tuple[str, str], str, str], Alike]
"""The divergences of a run, by what they have in common."""


def note(finding: Finding, noted: Noted) -> None:
    """Take note of a finding."""
    _alike(finding.bucket, finding.operation, finding.vector.category, noted).add(1, lambda _: finding)


def note_all(found: Divergences, noted: Noted) -> None:
    """Take note of divergences in columns."""
    for bucket in found.counts:
        keys = {key for key, each in found.bucket_of.items() if each == bucket}
        rows: Sequence[int] = range(len(found))
        if len(found.counts) > 1:
            rows = list(compress(rows, map(keys.__contains__, found.keys)))
        _alike(bucket, found.operation, found.batch.category, noted).add(len(rows), partial(_row, found, rows))


def _alike(key: tuple[str, str], operation: str, category: str, noted: Noted) -> Alike:
    return noted.setdefault((key, operation, category), Alike(key, operation, category))


def _row(found: Divergences, rows: Sequence[int], place: int) -> Finding:
    return found.finding(rows[place])
