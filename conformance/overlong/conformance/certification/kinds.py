"""Takes note of the divergences of a run, as many as their causes can be found from."""

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
"""About how many divergences of one kind are held against each condition; the others of the kind go with them."""


@dataclass
class Kind:
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


class Kinds:
    """The divergences of a run, by their kinds."""

    def __init__(self) -> None:
        self.all: dict[tuple[tuple[str, str], str, str], Kind] = {}

    def add(self, finding: Finding) -> None:
        """Take note of a finding."""
        self._kind(finding.bucket, finding.operation, finding.vector.category).add(1, lambda _: finding)

    def add_all(self, found: Divergences) -> None:
        """Take note of divergences in columns."""
        for bucket in found.counts:
            keys = {key for key, each in found.bucket_of.items() if each == bucket}
            rows: Sequence[int] = range(len(found))
            if len(found.counts) > 1:
                rows = list(compress(rows, map(keys.__contains__, found.keys)))
            kind = self._kind(bucket, found.operation, found.batch.category)
            kind.add(len(rows), partial(_row, found, rows))

    def _kind(self, key: tuple[str, str], operation: str, category: str) -> Kind:
        return self.all.setdefault((key, operation, category), Kind(key, operation, category))


def _row(found: Divergences, rows: Sequence[int], place: int) -> Finding:
    return found.finding(rows[place])
