"""Compares each divergence with the expected deviations, and finally finds the entries that did not occur."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import weakref
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.protocol.observation import CLAIMS, ENCODER, KINDS, VERDICT
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.results.expected.entries import (
    Deviation,
    ExpectationError,
    file_for_new,
    file_of_project,
    matches,
    path_in,
    read_entries,
)
from overlong.conformance.results.invocation import GivenFile, identifier
from overlong.conformance.results.run import NOT_MEASURED, offered_in
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable
from overlong.conformance.vectors.suites import SUITES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import date
    from pathlib import Path

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.results.run import Run


class Seen(NamedTuple):
    """The parts of a divergence that entries can name."""

    code: str
    place: str
    operation: str
    id: str
    """Id of its vector."""
    observed: str
    """In words."""
    finding: str
    """The finding's own id: a hash of octets, operation and answer."""
    swept: bool = False
    """A sweep found it, not a suite: count and digest of an entry do not fix it."""

    def is_named_by(self, entry: Deviation) -> bool:
        """True if an entry names the divergence, whatever the observed answer."""
        return (
            (not entry.code or entry.code == self.code)
            and (not entry.operation or entry.operation == self.operation)
            and (entry.place is None or matches(entry.place, self.place))
            and (not entry.id or matches(entry.id, self.id))
        )


@dataclass
class Tally:
    """The divergences covered by an entry."""

    total: int = 0
    kinds: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Their codes and places."""
    first: str = ""
    """The answer observed for the first divergence that the entry names, whichever answer it expects."""
    pinned: int = 0
    """The number found by suites: count and digest fix only these."""
    answers: Any = field(default_factory=hashlib.sha256)

    @property
    def digest(self) -> str:
        return str(self.answers.hexdigest())


class Matcher:
    """Finds the entries that cover a divergence."""

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        self.tallies: dict[int, Tally] = {}
        self._entries: dict[tuple[str, str], list[Deviation]] = {}
        """By their id, if that is no pattern, and their code; a file may have thousands of entries for vectors."""
        for each in deviations:
            self.tallies[each.number] = Tally()
            self._entries.setdefault(("" if "*" in each.id else each.id, each.code), []).append(each)

    def match(self, seen: Seen) -> Deviation | None:
        """The first entry that covers a divergence; every entry that covers it counts it."""
        first: Deviation | None = None
        for key in product((seen.id, ""), (seen.code, "")):
            for deviation in filter(seen.is_named_by, self._entries.get(key, ())):
                tally = self.tallies[deviation.number]
                tally.first = tally.first or seen.observed
                if not matches(deviation.observed, seen.observed):
                    continue
                tally.total += 1
                tally.kinds.add((seen.code, seen.place))
                if not seen.swept:
                    tally.pinned += 1
                    tally.answers.update(f"{seen.finding} {seen.id}\n".encode())
                if first is None or deviation.number < first.number:
                    first = deviation
        return first


class Expectations:
    """The expected deviations of one target, and during a run the divergences that they cover.

    First :meth:`read`, then :meth:`judge` each finding, then :meth:`settle`.
    """

    def __init__(
        self, file: Path | None, target: str, profile: str, on: date, *, given: bool = False, updating: bool = False
    ) -> None:
        """Read the file, which need not exist; of its entries those of this target and profile count.

        Args:
            file: TOML; None: no file of the project has entries.
            target: the name that entries have.
            profile: the dialect of the measurement.
            on: the day that decides which entries have expired.
            given: the file was named for this target, so that entries need not name it.
            updating: keep all divergences, so that the file can be updated.

        Raises:
            ExpectationError: the file is not TOML, or has an invalid entry.
        """
        self.file, self.target, self.profile, self.on, self.given = file or file_for_new(), target, profile, on, given
        self.path = path_in(self.file, given=given)
        self.all = () if file is None and not updating else read_entries(self.file, self.path, given=given)
        """The entries for every target."""
        own = [each for each in self.all if each.profile == profile and _is_for(each.target, target)]
        self.deviations = tuple(each for each in own if each.expires is None or each.expires >= on)
        self.expired = tuple(each for each in own if each.expires is not None and each.expires < on)
        """Expired entries, which no longer count."""
        self.unexpected: dict[tuple[str, str], Bucket] = {}
        """The divergences that no entry covers, by cause."""
        self.stale: dict[Deviation, str] = {}
        """The entries that no longer hold, and why."""
        self.unasked: dict[Deviation, str] = {}
        """The entries that the run could not check, and why."""
        self._matcher = Matcher(self.deviations)
        self._first: dict[tuple[str, str], Deviation] = {}
        self._kept: IO[bytes] | None = tempfile.TemporaryFile() if updating else None  # noqa: SIM115 (ends with us)
        if self._kept is not None:
            weakref.finalize(self, self._kept.close)
        self.changes = ""
        """The changes written to the file, in a few words; empty if there are none."""

    @classmethod
    def read(
        cls,
        path: Path | None,
        target: str | Sequence[str],
        on: date,
        *,
        profile: str = "rfc3629",
        updating: bool = False,
    ) -> Expectations:
        """Read the expected deviations of a target.

        Args:
            path: the file with the entries; if left out, ``overlong.toml`` or ``pyproject.toml`` of the current folder.
            target: as on the command line.
            on: the day that decides which entries have expired.
            profile: the dialect of the measurement.
            updating: keep all divergences, so that the file can be updated; the file need not exist.

        Raises:
            ExpectationError: the file does not exist, is not TOML, or has an invalid entry.
        """
        if path is not None and not updating and not path.exists():
            raise ExpectationError(f"{printable(str(path))}: there is no such file; --update-expected makes it")
        named = identifier(target)
        return cls(path or file_of_project(), named, profile, on, given=path is not None, updating=updating)

    def judge(self, finding: Finding, *, swept: bool = False) -> Deviation | None:
        """The entry that covers a finding; None if it is unexpected. ``swept``: a sweep found it, not a suite."""
        deviation = None
        if not self._looks_up_nothing:
            seen = Seen(
                *(finding.code, finding.place, finding.operation, finding.vector.id, finding.observed_words),
                *(finding.id, swept),
            )
            if self._kept is not None:
                pickle.dump(tuple(seen), self._kept, pickle.HIGHEST_PROTOCOL)
            deviation = self.covering(seen)
        if deviation is None:
            self.unexpected.setdefault(finding.bucket, Bucket(finding)).add(finding)
        return deviation

    def covering(self, seen: Seen) -> Deviation | None:
        """The entry that covers a divergence, which is counted; None if it is unexpected."""
        deviation = self._matcher.match(seen)
        if deviation is not None:
            self._first.setdefault((seen.code, seen.place), deviation)
        return deviation

    def listeners(
        self, found: Callable[[Finding], None] | None, diverged: Callable[[Divergences], None] | None
    ) -> tuple[Callable[[Finding], None], Callable[[Divergences], None], Callable[[Finding], None]]:
        """Three functions to call with each finding of suites, with many findings in columns, and with each of sweeps.

        They judge the findings, and pass them to ``found`` and ``diverged``.
        """

        def listen(finding: Finding, *, swept: bool = False) -> None:
            self.judge(finding, swept=swept)
            if found is not None:
                found(finding)

        def listen_to_all(some: Divergences) -> None:
            if self._looks_up_nothing:
                some.count_in(self.unexpected)
            else:
                for index in range(len(some)):
                    self.judge(some.finding(index))
            if diverged is not None:
                diverged(some)

        return listen, listen_to_all, partial(listen, swept=True)

    @property
    def _looks_up_nothing(self) -> bool:
        return not self.deviations and self._kept is None

    @property
    def says_something(self) -> bool:
        """True if the file has entries for this target, or the run will add some."""
        return bool(self.deviations or self.expired or self.updating)

    def as_given(self) -> GivenFile | None:
        """The file as a certificate names it; None if it has no entry for this target."""
        if not self.says_something:
            return None
        return GivenFile.of(self.file) if self.file.exists() else GivenFile(self.file.name, "sha256", "")

    def settle(self, run: Run, left_out: Sequence[str] = ()) -> None:
        """Find the stale entries. An incomplete run cannot show any.

        Args:
            run: a finished run, all findings of which were judged.
            left_out: suites left out because the target is slow.
        """
        gone = [each for each in self.deviations if not self.tally(each).total]
        if run.incomplete:
            self.unasked = dict.fromkeys(gone, "the run is incomplete")
            return
        ran = {part.suite.name for part in run.suites if part.whole}
        swept = {part.plan for part in run.swept.plans} if run.swept else set[str]()
        asked = asked_of(run, {each.id for each in gone if each.id})
        for each in self.deviations:
            tally = self.tally(each)
            if not tally.total and (why := _not_asked(each, run, ran | swept, left_out, asked)):
                self.unasked[each] = why
            elif not tally.total:
                self.stale[each] = f"observed now: {tally.first}" if tally.first else "it occurs no more"
            elif each.pinned and set(each.suites) != ran:
                self.unasked[each] = "other suites ran than those that its count and digest are of"
            elif each.count is not None and each.count != tally.pinned:
                self.stale[each] = f"it stands for {tally.pinned} divergences now, not for {each.count}"
            elif each.digest and each.digest != tally.digest:
                self.stale[each] = "the answers are others, though as many"
        for deviation in self.stale:  # the present divergences differ from the expected ones
            for kind in self.tally(deviation).kinds:
                self.add_unexpected(kind, run)

    def add_unexpected(self, kind: tuple[str, str], run: Run) -> None:
        """Take the divergences of a code and place as unexpected."""
        if (bucket := run.bucket_of(kind)) is not None:
            self.unexpected.setdefault(kind, bucket)

    def tally(self, deviation: Deviation) -> Tally:
        """The divergences found so far that an entry covers."""
        return self._matcher.tallies[deviation.number]

    @property
    def occurring(self) -> tuple[Deviation, ...]:
        """The entries that cover a divergence."""
        return tuple(each for each in self.deviations if self.tally(each).total)

    def covers_some(self, bucket: Bucket) -> bool:
        """True if an entry covers a divergence of the code and place of one of a bucket's."""
        return not bucket.kinds.isdisjoint(self._first)

    def of_bucket(self, bucket: Bucket) -> Deviation | None:
        """The entry that covers a bucket's divergences; None if a divergence is unexpected."""
        if not bucket.kinds.isdisjoint(self.unexpected):
            return None
        kinds = (bucket.example.bucket, *sorted(bucket.kinds))
        return next((self._first[kind] for kind in kinds if kind in self._first), None)

    def failing_as_expected(self, run: Run) -> list[str]:
        """The claims that only expected divergences refute."""
        buckets = run.buckets.values()
        unexpected = {each.example.claim for each in buckets if not each.kinds.isdisjoint(self.unexpected)}
        refuted = {bucket.example.claim for bucket in buckets}
        return [claim for claim in CLAIMS if claim in refuted - unexpected]

    def kept(self) -> Iterator[Seen]:
        """All judged divergences; only if this object is updating."""
        assert self._kept is not None
        self._kept.seek(0)
        while True:
            try:
                yield Seen(*pickle.load(self._kept))  # noqa: S301 (we wrote it)
            except EOFError:
                return

    @property
    def updating(self) -> bool:
        return self._kept is not None

    @property
    def notes(self) -> list[str]:
        """Notes on entries that are neither met nor stale."""
        return [*self.unasked_words, *self.expired_words, *self.missing_words]

    @property
    def unasked_words(self) -> list[str]:
        """A line for each entry that the run could not check."""
        return [f"not tested: {each.where}: {each.names}: {why}" for each, why in self.unasked.items()]

    @property
    def expired_words(self) -> list[str]:
        """A line for each expired entry."""
        return [
            f"expired on {each.expires}, and does not count: {each.where}: {each.names}: {printable(each.reason)}"
            for each in self.expired
        ]

    @property
    def missing_words(self) -> list[str]:
        """A line on missing reasons; no line if all are given."""
        missing = [each.where for each in self.deviations if not each.reason.strip()]
        if not missing:
            return []
        places = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
        return [f"{'1 reason is' if len(missing) == 1 else f'{len(missing)} reasons are'} missing: {places}"]


def _is_for(pattern: str, target: str) -> bool:
    """True if an entry is for a target. The path in the name may differ: a certificate leaves it out."""
    return matches(pattern, target) or portable(pattern) == portable(target)


def _not_asked(
    deviation: Deviation, run: Run, ran: set[str], left_out: Sequence[str], asked_ids: Collection[str]
) -> str:
    """The reason why a run cannot show whether an entry still occurs; empty if it can.

    ``asked_ids``: the ids, and patterns of ids, of vectors in the suites that ran.
    """
    if deviation.suites:
        missing = [name for name in deviation.suites if name not in ran]
        return f"not run: {', '.join(missing)}" if missing else ""
    asked = {operation for part in run.suites if part.done for operation in part.operations}
    if deviation.operation and deviation.operation not in asked:
        return f"the target was not tested with {deviation.operation}"
    if deviation.code:
        claim = KINDS[deviation.code].claim if deviation.code in KINDS else VERDICT
        encodes = bool(asked & set(ENCODING))
        if run.claims.get(claim, NOT_MEASURED) == NOT_MEASURED and not (
            encodes and run.claims[ENCODER] != NOT_MEASURED
        ):
            return f"not measured: {claim}"
    if deviation.id:
        return "" if deviation.id in asked_ids else "no suite that ran tests it"
    wanted = [suite.name for suite in SUITES.values() if offered_in(suite, run.greeting)]
    filtered = [name for name in wanted if name not in ran and name not in left_out]
    return f"not run: {', '.join(filtered)}" if filtered else ""


def asked_of(run: Run, patterns: Collection[str]) -> set[str]:
    """Those ids, or patterns of ids, that match a vector of the suites that ran."""
    starred = [pattern for pattern in patterns if "*" in pattern]
    categories = {pattern.partition("/")[0] for pattern in patterns}
    every = any("*" in category for category in categories)
    found: set[str] = set()
    for part in run.suites:
        for batch in part.suite.batches():
            if len(found) == len(patterns):
                return found
            if every or batch.category in categories:
                for vector in batch:
                    found.update(pattern for pattern in starred if matches(pattern, vector.id))
                    found.update({vector.id}.intersection(patterns))
    return found
