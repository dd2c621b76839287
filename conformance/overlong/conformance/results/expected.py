"""Expected deviations: the wrong answers that a project accepts from its decoder, each with a reason.

Each divergence is compared with the entries of a file. One that no entry names is unexpected; an entry that no longer
names a divergence is stale. Both fail a run, so a list of entries stays exact. ``docs/expected.md`` describes the
format.

An update writes the entries that a run needs, so that the same run again finds nothing unexpected and no stale entry.
An entry that holds stays. An entry with a changed answer keeps its reason, link and expiry. An entry that no longer
occurs is removed. New entries come last, with an empty reason.
"""

from __future__ import annotations

import hashlib
import pickle
import tempfile
import weakref
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from os.path import commonprefix
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.protocol.observation import CLAIMS, ENCODER, KINDS, VERDICT
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.results.expected_file import (
    Deviation,
    ExpectationError,
    file_for_new,
    file_of_project,
    matches,
    path_in,
    read_entries,
    write_entries,
)
from overlong.conformance.results.invocation import GivenFile, identifier
from overlong.conformance.results.model import NOT_MEASURED
from overlong.conformance.results.run import offered_in
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

FEW = 3
"""The most divergences of a cause that get an entry each. More share one entry with their number and digest."""


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
    """Some divergences: those that an entry covers, or those of one cause and one kind of answer that none covers."""

    total: int = 0
    kinds: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    """Their codes and places."""
    first: str = ""
    """The answer observed for the first divergence that the entry names, whichever answer it expects."""
    pinned: int = 0
    """The number found by suites: count and digest fix only these."""
    answers: Any = field(default_factory=hashlib.sha256)
    found: list[Seen] = field(default_factory=list[Seen])
    """The first of them: at most one more than those that get an entry each."""
    prefix: str = ""
    """The common beginning of their answers."""
    alike: bool = True

    def add(self, seen: Seen) -> None:
        """Count a divergence."""
        if not self.total:
            self.prefix = seen.observed
        elif seen.observed != self.prefix:
            self.prefix, self.alike = commonprefix((self.prefix, seen.observed)), False  # noqa: RUF071 (of characters)
        self.total += 1
        self.kinds.add((seen.code, seen.place))
        if not seen.swept:
            self.pinned += 1
            self.answers.update(f"{seen.finding} {seen.id}\n".encode())
        if len(self.found) <= FEW and all(seen[:-1] != each[:-1] for each in self.found):  # whoever found it
            self.found.append(seen)

    @property
    def digest(self) -> str:
        return str(self.answers.hexdigest())

    @property
    def observed(self) -> str:
        """A pattern that matches their answers."""
        return self.prefix if self.alike else f"{self.prefix}*"


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
        self.expired = tuple(each for each in own if each.expires is not None and each.expires < on)
        """Expired entries, which no longer count."""
        self.unexpected: dict[tuple[str, str], Bucket] = {}
        """The divergences that no entry covers, by cause."""
        self.stale: dict[Deviation, str] = {}
        """The entries that no longer hold, and why."""
        self.unasked: dict[Deviation, str] = {}
        """The entries that the run could not check, and why."""
        self.take(each for each in own if each.expires is None or each.expires >= on)
        self._kept: IO[bytes] | None = tempfile.TemporaryFile() if updating else None  # noqa: SIM115 (ends with us)
        if self._kept is not None:
            weakref.finalize(self, self._kept.close)
        self.changes = ""
        """The changes written to the file, in a few words; empty if there are none."""

    def take(self, deviations: Iterable[Deviation]) -> None:
        """Compare with these entries from now on; none of them has covered a divergence yet."""
        self.deviations = tuple(deviations)
        self._tallies = {each.number: Tally() for each in self.deviations}
        self._first: dict[tuple[str, str], Deviation] = {}
        self._entries: dict[tuple[str, str], list[Deviation]] = {}
        """By their id, if that is no pattern, and their code; a file may have thousands of entries for vectors."""
        for each in self.deviations:
            self._entries.setdefault(("" if "*" in each.id else each.id, each.code), []).append(each)

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
        """The first entry that covers a divergence; every entry that covers it counts it. None: it is unexpected."""
        first: Deviation | None = None
        for key in product((seen.id, ""), (seen.code, "")):
            for deviation in filter(seen.is_named_by, self._entries.get(key, ())):
                tally = self.tally(deviation)
                tally.first = tally.first or seen.observed
                if matches(deviation.observed, seen.observed):
                    tally.add(seen)
                    if first is None or deviation.number < first.number:
                        first = deviation
        if first is not None:
            self._first.setdefault((seen.code, seen.place), first)
        return first

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
        return self._tallies[deviation.number]

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


def settled(expectations: Expectations, run: Run, left_out: Sequence[str] = ()) -> Expectations:
    """The settled expectations after a run; with an update they are those written to the file.

    Args:
        expectations: of this run.
        run: that has ended.
        left_out: suites that the target was spared.

    Raises:
        ExpectationError: the file cannot be written, or not with these entries; then it is unchanged.
    """
    expectations.settle(run, left_out)
    if not expectations.updating or run.incomplete:
        return expectations
    old = expectations
    before = {each.number: each for each in (*old.deviations, *old.expired)}
    wanted = {each.number: each for each in _wanted(old, run)}
    changes = {number: wanted.get(number) for number, each in before.items() if wanted.get(number) != each}
    new = [each for number, each in wanted.items() if number not in before]
    if changes or new:
        write_entries(old.file, old.path, changes, new)
    after = Expectations(old.file, old.target, old.profile, old.on, given=old.given)
    for seen in old.kept():
        if after.covering(seen) is None:
            after.add_unexpected((seen.code, seen.place), run)
    after.settle(run, left_out)
    removed = len(before.keys() - wanted.keys())
    after.changes = f"{len(new)} new, {len(changes) - removed} changed, {removed} removed"
    return after


def _wanted(expectations: Expectations, run: Run) -> list[Deviation]:
    """The entries of this target for the file, in order; existing entries keep their place."""
    # an update renews an entry that has expired
    entries = [*(replace(each, expires=None) for each in expectations.expired), *expectations.deviations]
    compared = _compared(entries, expectations)
    stale = {each.number for each in (*expectations.stale, *expectations.expired)}
    gone = [each for each in entries if each.number in stale and not compared.tally(each).total]
    kept = set(entries).difference(gone)
    groups, adopted = _unmatched(compared, gone)
    for each in gone:
        key = next((key for key, group in groups.items() if not each.id and group.found[0].is_named_by(each)), None)
        if key is not None:
            adopted.append(replace(each, observed=groups.pop(key).observed))
    old = sorted([*kept, *adopted], key=lambda each: each.number)
    first = 1 + max((each.number for each in expectations.all), default=-1)
    new = (entry for group in groups.values() for entry in _entries_of(group, expectations, run))
    return _pinned(expectations, run, [*old, *(replace(each, number=at) for at, each in enumerate(new, first))])


def _compared(entries: Sequence[Deviation], expectations: Expectations) -> Expectations:
    """The same run against other entries, with all divergences that they cover counted."""
    others = copy(expectations)
    others.take(entries)
    for seen in expectations.kept():
        others.covering(seen)
    return others


def _unmatched(
    compared: Expectations, gone: Sequence[Deviation]
) -> tuple[dict[tuple[str, str, str, str], Tally], list[Deviation]]:
    """The divergences that no entry covers, by cause and operation, and the entries of vectors with changed answers."""
    of_vectors: dict[str, list[Deviation]] = {}
    for each in gone:
        of_vectors.setdefault(each.id, []).append(each)
    groups: dict[tuple[str, str, str, str], Tally] = {}
    adopted: list[Deviation] = []
    for seen in compared.kept():
        if compared.covering(seen) is not None:
            continue
        known = next(filter(seen.is_named_by, of_vectors.get(seen.id, ())), None)
        if known is not None:
            of_vectors[seen.id].remove(known)
            adopted.append(replace(known, observed=seen.observed))
        else:
            kind = seen.observed.partition(" ")[0]  # accepted, refused, ...: no pattern matches all of them
            groups.setdefault((seen.code, seen.place, seen.operation, kind), Tally()).add(seen)
    return groups, adopted


def _entries_of(group: Tally, expectations: Expectations, run: Run) -> Iterator[Deviation]:
    """New entries for a group: one for each divergence if there are few, and suites name their vectors."""
    first = group.found[0]
    common = Deviation(
        "", -1, group.observed, "", expectations.target, expectations.profile,
        code=first.code, place=first.place, operation=first.operation,
    )  # fmt: skip
    names = {seen.id for seen in group.found}
    if not group.pinned and run.swept is not None:
        yield replace(common, suites=tuple(part.plan for part in run.swept.plans))
    elif len(group.found) <= FEW and asked_of(run, names) == names:
        for seen in group.found:
            yield replace(common, id=seen.id, place=None, observed=seen.observed)
    else:
        yield replace(common, count=1)


def _pinned(expectations: Expectations, run: Run, entries: Sequence[Deviation]) -> list[Deviation]:
    """The entries, in which count and digest are those of this run."""
    ran, as_read = tuple(part.suite.name for part in run.suites), set(expectations.all)
    compared = _compared(entries, expectations)
    result: list[Deviation] = []
    for each in entries:
        tally, same = compared.tally(each), set(each.suites) == set(ran)
        if each.pinned and tally.total and (same or not each.suites or each not in as_read):
            digest = tally.digest if tally.pinned else ""
            each = replace(each, suites=each.suites if same else ran, count=tally.pinned or None, digest=digest)  # noqa: PLW2901
        result.append(each)
    return result
