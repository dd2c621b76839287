"""Turns the results of engines into findings: chooses the divergences to examine, and counts the rest.

Divergences with one fingerprint mostly have one cause. So the first is looked at, and the rest are counted. But another
cause may hide behind the same fingerprint, so one more is looked at each time the length of the campaign has doubled.
What a known condition predicts is not examined, which takes seconds. All this depends only on the numbers of inputs,
not on their division into units. A difference shows in every other input, and is no fault, so its first example is
enough.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.examination.choosing import is_examinable, rank
from overlong.conformance.examination.shrinking import order
from overlong.conformance.support.printable import printable
from overlong.fuzz.campaign.store import Known, Triaged
from overlong.fuzz.campaign.stored import AGAIN, StoredFinding
from overlong.fuzz.execution.engine import BLOCK, octave
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding, Why
    from overlong.fuzz.campaign.store import Store
    from overlong.fuzz.execution.divergence import Divergence, Fingerprint
    from overlong.fuzz.execution.engine import UnitResult

AT_ONCE = 64
"""Fingerprints of one target and kind that are examined as they come, if no known condition predicts them; of more, the
128th, the 256th and so on. This caps triage, so that one broken decoder cannot starve the rest."""
_LONGEST = 500  # characters of what was expected or observed


@dataclass(frozen=True)
class Examined:
    """The result of an examination: the bucket, and the least example found."""

    id: str
    """Id of the bucket."""
    target: str
    peer: str
    """The other target, if it is a difference."""
    finding: Finding
    place: str
    minimal: bool
    why: Why | None = None
    telling: bytes = b""


class Unfinished(Exception):
    """There is no time left to examine a divergence, which waits for the next run."""


class Examiner(Protocol):
    """Finds the least example and the cause of a divergence. Meanwhile it calls a given function."""

    def joined(self, divergence: Divergence, known: Sequence[StoredFinding]) -> str:
        """The id of the known finding to which a divergence belongs, without a question; empty if there is none.

        Raises:
            CampaignError: a known finding cannot be read.
        """
        ...

    def examine(self, divergence: Divergence, known: Sequence[StoredFinding]) -> Examined | str:
        """Find the bucket and the least example of a divergence; or the id of a known finding that it belongs to.

        Args:
            divergence: what is not examined yet.
            known: the findings so far.

        Raises:
            CampaignError: a known finding cannot be read.
            TargetError: the target cannot be asked any more.
            Unfinished: there is no time left.
        """
        ...

    def stable(self, examined: Examined) -> int:
        """How often the finding recurs in ``AGAIN`` repetitions, each in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
            Unfinished: there is no time left.
        """
        ...

    def close(self) -> None:
        """End all processes. Never raises."""
        ...


def triage(store: Store, result: UnitResult, examiner: Examiner, seconds: float) -> tuple[Triaged, UnitResult | None]:
    """The changes of a result until one divergence is examined, and the rest of the result. Writes nothing.

    Args:
        store: of the campaign; all earlier results are triaged.
        result: the next one.
        examiner: examines new divergences.
        seconds: of campaign time.

    Raises:
        CampaignError: the store cannot be read.
        TargetError: a target cannot be asked any more.
        Unfinished: there is no time left to examine the first divergence.
    """
    work = _Work(store, examiner, seconds)
    left = Counter(result.counts)
    rest: UnitResult | None = None
    waiting = tuple(sorted(result.divergences, key=_first))
    for number, divergence in enumerate(waiting, 1):
        if work.take(divergence):
            left[divergence.fingerprint] -= 1
            if work.examined and number < len(waiting):
                rest = replace(
                    result, divergences=waiting[number:], counts=+left, reached=frozenset(),
                    interesting=(), notes=(),
                )  # fmt: skip
                break
    if rest is None:
        work.count(+left)
    findings, counts = list(work.findings.values()), dict(work.counts)
    return Triaged(work.fingerprints, findings, counts, result.reached - store.features, result.notes), rest


def _first(divergence: Divergence) -> tuple[object, ...]:
    """The order of examinations in a block: what may explain others before them, then the least."""
    finding = divergence.finding
    examinable = not divergence.peer and is_examinable(finding.code, finding.operation)
    telling = rank(finding.code, finding.operation) if examinable else (0, 0)
    least, block = shortlex(finding.vector.octets), divergence.index // BLOCK
    return block, bool(divergence.peer), not examinable, telling, least, divergence.fingerprint


class _Work:
    """A partly triaged result."""

    def __init__(self, store: Store, examiner: Examiner, seconds: float) -> None:
        self._store, self._examiner, self._seconds = store, examiner, seconds
        self.fingerprints: dict[Fingerprint, Known] = {}
        self.findings: dict[str, StoredFinding] = {}
        self.counts: Counter[str] = Counter()
        self.examined = False
        """True if a divergence was examined, which takes seconds."""
        self._found = store.findings
        self._new: Counter[tuple[str, str]] = Counter()

    def take(self, divergence: Divergence) -> bool:
        """Look at a divergence if it is due. True if it was counted."""
        fingerprint, when = divergence.fingerprint, octave(divergence.index // BLOCK)
        known = self._known(fingerprint) or Known("", 0, 0)
        if known.octave and (divergence.peer or when <= known.octave):
            return False
        self.fingerprints[fingerprint] = known
        name = "" if divergence.peer else self._examiner.joined(divergence, self._found)
        if not name and (bool(known.finding) if known.octave else self._is_due(fingerprint)):
            name, self.examined = self._examined(divergence), True
        known.octave = when
        if not name:
            return False
        if not known.finding:  # so are those that came without an example
            known.finding = name
            self.counts[name] += known.count
        known.count += 1
        self.counts[name] += 1
        return True

    def _is_due(self, fingerprint: Fingerprint) -> bool:
        """True if the example of a new fingerprint is to be examined."""
        of = fingerprint.target, fingerprint.kind
        self._new[of] += 1
        number = self._store.distinct(*of) + self._new[of]
        return number <= AT_ONCE or not number & (number - 1)

    def count(self, counts: Counter[Fingerprint]) -> None:
        """Count inputs that were not examined for the first finding of their fingerprint."""
        for fingerprint, count in counts.items():
            known = self._known(fingerprint)
            if known is None:  # this fingerprint's example may be in the next unit of the block
                known = self.fingerprints[fingerprint] = Known("", 0, 0)
            known.count += count
            if known.finding:
                self.counts[known.finding] += count

    def _known(self, fingerprint: Fingerprint) -> Known | None:
        known = self.fingerprints.get(fingerprint) or self._store.known(fingerprint)
        if known is not None:
            self.fingerprints[fingerprint] = known
        return known

    def _examined(self, divergence: Divergence) -> str:
        """The id of the bucket, which keeps the lesser of the two examples."""
        examined = self._examiner.examine(divergence, self._found)
        if isinstance(examined, str):
            return examined
        there = self.findings.get(examined.id) or self._store.finding(examined.id)
        least = order(examined.finding.vector), examined.finding.operation
        if there is None or least < (order(there), there.operation):
            stable = AGAIN if examined.peer else self._examiner.stable(examined)
            found = stored(examined, divergence, stable, self._seconds)
            if there is not None:
                found = replace(found, first=there.first, seconds=there.seconds)
            self.findings[examined.id] = found
        return examined.id


def stored(examined: Examined, divergence: Divergence, stable: int, seconds: float) -> StoredFinding:
    """What a store keeps of a new finding."""
    finding = examined.finding
    vector = finding.vector
    return StoredFinding(
        id=examined.id,
        target=examined.target,
        operation=finding.operation,
        code=finding.code,
        place=printable(examined.place),
        title=printable(finding.place if examined.peer else finding.title),
        section="" if examined.peer else finding.section,
        octets=vector.octets,
        chunks=vector.chunks,
        earlier=vector.earlier,
        expected=printable(finding.detail[0] if examined.peer else finding.expected_words, _LONGEST),
        observed=printable(finding.observed_words, _LONGEST),
        peer=examined.peer,
        minimal=examined.minimal,
        stable=stable,
        count=0,
        first=divergence.index,
        seconds=seconds,
        why=examined.why,
        telling=examined.telling,
    )


def left_out(store: Store) -> list[str]:
    """The divergences that were not examined, in words.

    Raises:
        CampaignError: the store cannot be read.
    """
    return [
        f"{printable(target)}: {fingerprints} further sorts of {printable(kind)} ({inputs} inputs) were counted and "
        "not examined: it is wrong in too many ways; fix what was found and begin anew"
        for target, kind, fingerprints, inputs in store.not_looked_at
    ]
