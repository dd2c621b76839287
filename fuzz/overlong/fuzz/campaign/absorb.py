"""From what engines saw to findings: which divergences are looked at, and what is counted.

Divergences with one fingerprint mostly have one cause. So the first is examined, which takes seconds, and the rest are
counted. But another cause may hide behind the same fingerprint; so one more is examined each time the campaign has
become twice as long. All of that depends on the numbers of inputs alone, and not on how they were cut into spans.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.printable import printable
from overlong.fuzz.campaign.store import Absorbed, Known
from overlong.fuzz.campaign.stored import StoredFinding
from overlong.fuzz.engines.engine import BLOCK, Harvest
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from overlong.conformance.finding import Finding
    from overlong.fuzz.campaign.store import Store
    from overlong.fuzz.divergence import Divergence, Fingerprint

AT_ONCE = 64
"""Fingerprints of one target and kind that are examined as they come; of more, the 128th, the 256th and so on: who is
wrong everywhere would have nothing else examined."""
_LONGEST = 500  # characters of what was expected or observed


@dataclass(frozen=True)
class Examined:
    """What a divergence came to: its bucket, and the least example that was found."""

    id: str
    """Of the bucket."""
    target: str
    peer: str
    """The other target, if it is a difference."""
    code: str
    form: str
    octets_at: str
    placement: str
    finding: Finding
    minimal: bool


class Examiner(Protocol):
    """Makes the least example of a divergence, and says what its cause is."""

    def examine(self, divergence: Divergence) -> Examined:
        """Its bucket and least example.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        ...

    def stable(self, examined: Examined) -> int:
        """How often it shows again, out of ``AGAIN``, each time in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        ...

    def close(self) -> None:
        """End all processes. Never raises."""
        ...


def octave(index: int) -> int:
    """How often the campaign had become twice as long, in blocks, before this input."""
    return (index // BLOCK + 1).bit_length()


def thinned(harvest: Harvest) -> Harvest:
    """The harvest with those divergences that :func:`absorb` may look at: of each octave and fingerprint the first."""
    first: dict[tuple[Fingerprint, int], Divergence] = {}
    for each in harvest.divergences:
        first.setdefault((each.fingerprint, octave(each.index)), each)
    return replace(harvest, divergences=tuple(first.values()))


def absorb(store: Store, harvest: Harvest, examiner: Examiner, seconds: float) -> Absorbed:
    """What a harvest changes. Nothing is written.

    Args:
        store: what is known until now; all before the harvest is absorbed.
        harvest: the next one.
        examiner: who looks at what is new.
        seconds: of campaign time.

    Raises:
        CampaignError: the store cannot be read.
        TargetError: a target cannot be asked any more.
    """
    work = _Work(store, examiner, seconds)
    for divergence in harvest.divergences:
        work.take(divergence)
    work.count(harvest.counts)
    return Absorbed(
        work.fingerprints,
        list(work.findings.values()),
        dict(work.counts),
        harvest.reached - store.features,
        harvest.notes,
    )


class _Work:
    """One harvest, half absorbed."""

    def __init__(self, store: Store, examiner: Examiner, seconds: float) -> None:
        self._store, self._examiner, self._seconds = store, examiner, seconds
        self.fingerprints: dict[Fingerprint, Known] = {}
        self.findings: dict[str, StoredFinding] = {}
        self.counts: Counter[str] = Counter()
        self._new: Counter[tuple[str, str]] = Counter()
        self._apart: Counter[Fingerprint] = Counter()

    def take(self, divergence: Divergence) -> None:
        """Look at it, if it is to be looked at."""
        fingerprint, when = divergence.fingerprint, octave(divergence.index)
        known = self._known(fingerprint)
        if known is None:
            of = fingerprint.target, fingerprint.kind
            self._new[of] += 1
            number = self._store.distinct(*of) + self._new[of]
            known = self.fingerprints[fingerprint] = Known("", 0, when)
            if number <= AT_ONCE or not number & (number - 1):
                known.finding = self._examined(divergence)
        elif known.finding and when > known.octave:
            known.octave = when
            if (name := self._examined(divergence)) != known.finding:
                self.counts[name] += 1
                self._apart[fingerprint] += 1

    def count(self, counts: Counter[Fingerprint]) -> None:
        """All inputs of a fingerprint count for its first finding, but for those that turned out to be another's."""
        for fingerprint, count in counts.items():
            known = self._known(fingerprint)
            if known is None:
                continue
            known.count += count
            if known.finding:
                self.counts[known.finding] += count - self._apart[fingerprint]

    def _known(self, fingerprint: Fingerprint) -> Known | None:
        known = self.fingerprints.get(fingerprint) or self._store.known(fingerprint)
        if known is not None:
            self.fingerprints[fingerprint] = known
        return known

    def _examined(self, divergence: Divergence) -> str:
        """The id of its bucket, which has the less example of the two afterwards."""
        examined = self._examiner.examine(divergence)
        there = self.findings.get(examined.id) or self._store.finding(examined.id)
        if there is None or _order(examined.finding) < _order_of(there):
            stable = self._examiner.stable(examined)
            found = _stored(examined, divergence, stable, self._seconds)
            if there is not None:
                found = replace(found, first=there.first, seconds=there.seconds)
            self.findings[examined.id] = found
        return examined.id


_Order = tuple[tuple[int, bytes], int, tuple[int, ...], tuple[bytes, ...], str]


def _order(finding: Finding) -> _Order:
    vector = finding.vector
    chunks = vector.chunks or ()
    return shortlex(vector.octets), len(chunks), chunks, vector.earlier or (), finding.operation


def _order_of(stored: StoredFinding) -> _Order:
    chunks = stored.chunks or ()
    return shortlex(stored.octets), len(chunks), chunks, stored.earlier or (), stored.operation


def _stored(examined: Examined, divergence: Divergence, stable: int, seconds: float) -> StoredFinding:
    finding = examined.finding
    vector = finding.vector
    return StoredFinding(
        id=examined.id,
        target=examined.target,
        operation=finding.operation,
        code=examined.code,
        form=printable(examined.form),
        octets_at=printable(examined.octets_at),
        placement=printable(examined.placement),
        title=printable(finding.title),
        section=finding.section,
        octets=vector.octets,
        chunks=vector.chunks,
        earlier=vector.earlier,
        expected=printable(finding.expected_words, _LONGEST),
        observed=printable(finding.observed_words, _LONGEST),
        peer=examined.peer,
        minimal=examined.minimal,
        stable=stable,
        count=0,
        first=divergence.index,
        seconds=seconds,
    )


def left_out(store: Store) -> list[str]:
    """What was not examined, in words.

    Raises:
        CampaignError: the store cannot be read.
    """
    return [
        f"{printable(target)}: {fingerprints} further sorts of {printable(kind)} ({inputs} inputs) were counted and "
        "not examined: it is wrong in too many ways; mend what was found and begin anew"
        for target, kind, fingerprints, inputs in store.not_looked_at
    ]
