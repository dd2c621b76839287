"""Compares each divergence with the expected deviations, and finally finds the entries that did not occur."""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import weakref
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import IO, TYPE_CHECKING

from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.protocol.kind import CLAIMS, ENCODER, KINDS, VERDICT
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.results.expected.deviation import Deviation, ExpectationError, Seen, matches
from overlong.conformance.results.expected.reading import file_of, path_in, read_entries
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


@dataclass(frozen=True)
class Stale:
    """An entry that no longer holds, and the present behaviour."""

    deviation: Deviation
    why: str


@dataclass(frozen=True)
class Unasked:
    """An entry that this run could not check, and the reason."""

    deviation: Deviation
    why: str


@dataclass
class DeviationTally:
    """The divergences covered by an entry."""

    total: int = 0
    buckets: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    first: str = ""
    """The answer observed for the first divergence that the entry names, whichever answer it expects."""
    pinned: int = 0
    """The number found by suites, not sweeps: count and digest fix only these."""

    def __post_init__(self) -> None:
        self._answers = hashlib.sha256()

    def add(self, seen: Seen, *, swept: bool) -> None:
        self.total += 1
        self.buckets.add((seen.code, seen.place))
        if not swept:
            self.pinned += 1
            self._answers.update(seen.line)

    @property
    def digest(self) -> str:
        return self._answers.hexdigest()


class Matcher:
    """Finds the entries that cover a divergence."""

    def __init__(self, deviations: Iterable[Deviation]) -> None:
        self.tallies: dict[int, DeviationTally] = {}
        self._entries: dict[tuple[str, str], list[Deviation]] = {}
        """By their id, if that is no pattern, and their code; a file may have thousands of entries for vectors."""
        for each in deviations:
            self.tallies[each.number] = DeviationTally()
            self._entries.setdefault(("" if "*" in each.id else each.id, each.code), []).append(each)

    def match(self, seen: Seen, *, swept: bool = False) -> Deviation | None:
        """The first entry that covers a divergence; every entry that covers it counts it."""
        first: Deviation | None = None
        for key in product((seen.id, ""), (seen.code, "")):
            for deviation in filter(lambda each: each.names_same(seen), self._entries.get(key, ())):
                tally = self.tallies[deviation.number]
                tally.first = tally.first or seen.observed
                if matches(deviation.observed, seen.observed):
                    tally.add(seen, swept=swept)
                    if first is None or deviation.number < first.number:
                        first = deviation
        return first


class Expectations:
    """The expected deviations of one target, and during a run the divergences that they cover.

    First :meth:`read`, then :meth:`judge` each finding, then :meth:`settle`.
    """

    def __init__(
        self,
        deviations: Sequence[Deviation],
        *,
        file: Path,
        path: tuple[str, ...],
        target: str,
        profile: str,
        on: date,
        given: bool = False,
        updating: bool = False,
    ) -> None:
        """``deviations``: all entries of a file. The object keeps only those of this target and profile."""
        self.file, self.path, self.target, self.profile, self.on = file, path, target, profile, on
        self.given = given
        """True if the file was named for this target, so that entries need not name it."""
        self.all = tuple(deviations)
        """The entries for every target."""
        own = [each for each in deviations if each.profile == profile and _is_for(each.target, target)]
        self.deviations = tuple(each for each in own if each.expires is None or each.expires >= on)
        self.expired = tuple(each for each in own if each.expires is not None and each.expires < on)
        """Expired entries, which no longer count."""
        self.unexpected: dict[tuple[str, str], Bucket] = {}
        """The divergences that no entry covers, by cause."""
        self.stale: tuple[Stale, ...] = ()
        self.unasked: tuple[Unasked, ...] = ()
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
        file = file_of(path)
        none = file is None and not updating
        if path is not None and not updating and not path.exists():
            raise ExpectationError(f"{printable(str(path))}: there is no such file; --update-expected makes it")
        if file is None:
            from pathlib import Path

            name = "pyproject.toml" if not Path("overlong.toml").exists() and Path("pyproject.toml").exists() else ""
            file = Path(name or "overlong.toml")
        where = path_in(file, path)
        return cls(
            () if none else read_entries(file, where, given=path is not None),
            file=file,
            path=where,
            target=identifier(target),
            profile=profile,
            on=on,
            given=path is not None,
            updating=updating,
        )

    def judge(self, finding: Finding, *, swept: bool = False) -> Deviation | None:
        """The entry that covers a finding; None if it is unexpected. ``swept``: a sweep found it, not a suite."""
        if self._looks_up_nothing:
            self.unexpected.setdefault(finding.bucket, Bucket(finding)).add(finding)
            return None
        seen = Seen.of(finding)
        if self._kept is not None:
            pickle.dump((*seen, swept), self._kept, pickle.HIGHEST_PROTOCOL)
        deviation = self._matcher.match(seen, swept=swept)
        if deviation is None:
            self.unexpected.setdefault(finding.bucket, Bucket(finding)).add(finding)
        else:
            self._first.setdefault(finding.bucket, deviation)
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
        if run.incomplete:
            self.unasked = tuple(Unasked(each, "the run is incomplete") for each in self.deviations if self._gone(each))
            return
        ran = tuple(part.suite.name for part in run.suites if part.whole)
        swept = tuple(part.plan for part in run.swept.plans) if run.swept else ()
        stale: list[Stale] = []
        unasked: list[Unasked] = []
        asked = asked_of(run, {each.id for each in self.deviations if each.id and self._gone(each)})
        for each in self.deviations:
            tally = self.tally(each)
            if not tally.total:
                if why := _not_asked(each, run, {*ran, *swept}, left_out, asked):
                    unasked.append(Unasked(each, why))
                else:
                    otherwise = tally.first
                    stale.append(Stale(each, f"observed now: {otherwise}" if otherwise else "it occurs no more"))
            elif each.pinned and set(each.suites) != set(ran):
                unasked.append(Unasked(each, "other suites ran than those that its count and digest are of"))
            elif each.count is not None and each.count != tally.pinned:
                stale.append(Stale(each, f"it stands for {tally.pinned} divergences now, not for {each.count}"))
            elif each.digest and each.digest != tally.digest:
                stale.append(Stale(each, "the answers are others, though as many"))
        self.stale, self.unasked = tuple(stale), tuple(unasked)
        for gone in stale:  # the present divergences differ from the expected ones
            for key in self.tally(gone.deviation).buckets:
                if (bucket := run.bucket_of(key)) is not None:
                    self.unexpected.setdefault(key, bucket)

    def _gone(self, deviation: Deviation) -> bool:
        return not self.tally(deviation).total

    def tally(self, deviation: Deviation) -> DeviationTally:
        """The divergences found so far that an entry covers."""
        return self._matcher.tallies[deviation.number]

    @property
    def occurring(self) -> tuple[Deviation, ...]:
        """The entries that cover a divergence."""
        return tuple(each for each in self.deviations if not self._gone(each))

    @property
    def without_reason(self) -> tuple[Deviation, ...]:
        return tuple(each for each in self.deviations if not each.reason.strip())

    @property
    def met(self) -> bool:
        """True if every divergence was expected, and every expected deviation occurred."""
        return not self.unexpected and not self.stale

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

    def anew(self, deviations: Sequence[Deviation]) -> Expectations:
        """A copy with other entries, which has judged nothing."""
        return Expectations(
            deviations,
            file=self.file, path=self.path, target=self.target, profile=self.profile, on=self.on, given=self.given,
        )  # fmt: skip

    def recall(self, seen: Seen, run: Run, *, swept: bool) -> None:
        """Judge again the divergences that another object has kept."""
        key = seen.code, seen.place
        deviation = self._matcher.match(seen, swept=swept)
        if deviation is None:
            if (bucket := run.bucket_of(key)) is not None:
                self.unexpected[key] = bucket
        else:
            self._first.setdefault(key, deviation)

    def kept(self) -> Iterator[tuple[Seen, bool]]:
        """All judged divergences, and whether a sweep found them; only if this object is updating."""
        assert self._kept is not None
        self._kept.seek(0)
        while True:
            try:
                *seen, swept = pickle.load(self._kept)  # noqa: S301 (we wrote it)
            except EOFError:
                return
            yield Seen(*seen), swept

    @property
    def updating(self) -> bool:
        return self._kept is not None


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
    wanted = [suite.name for suite in SUITES.values() if offered_in(suite, run.greeting)]
    filtered = [name for name in wanted if name not in ran and name not in left_out]
    if deviation.id:
        return "" if deviation.id in asked_ids else "no suite that ran tests it"
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
