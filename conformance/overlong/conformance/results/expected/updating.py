"""The entries that a run needs, so that the same run again finds nothing unexpected and no stale entry.

An entry that holds stays. An entry with a changed answer keeps its reason, link and expiry. An entry that no longer
occurs is removed. New entries come last, with an empty reason.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TYPE_CHECKING

from overlong.conformance.results.expected.deviation import Deviation, Seen
from overlong.conformance.results.expected.expectations import Expectations, Matcher, asked_of
from overlong.conformance.results.expected.reading import read_entries
from overlong.conformance.results.expected.writing import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from overlong.conformance.results.run import Run

FEW = 3
"""The most divergences of a cause that get an entry each. More share one entry with their number and digest."""


@dataclass
class _Group:
    """Divergences that no entry covers, of one cause, one operation, and one kind of answer."""

    found: list[Seen] = field(default_factory=list[Seen])
    """The first divergences: at most one more than those that get an entry each."""
    prefix: str = ""
    """The common beginning of their answers."""
    alike: bool = True
    swept: bool = True
    """True if sweeps found all of them."""

    def add(self, seen: Seen, *, swept: bool) -> None:
        if not self.found:
            self.prefix = seen.observed
        elif self.prefix != seen.observed:
            same = (ours == theirs for ours, theirs in zip(self.prefix, seen.observed, strict=False))
            self.prefix, self.alike = self.prefix[: sum(takewhile(bool, same))], False
        self.swept = self.swept and swept
        if len(self.found) <= FEW and seen not in self.found:
            self.found.append(seen)

    @property
    def observed(self) -> str:
        """A pattern that matches their answers."""
        return self.prefix if self.alike else f"{self.prefix}*"


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
    return _updated(expectations, run, left_out)


def _updated(expectations: Expectations, run: Run, left_out: Sequence[str] = ()) -> Expectations:
    """Write the findings of a run to the file, and return the new expectations, settled.

    Args:
        expectations: settled expectations of this run, which update the file.
        run: that is whole.
        left_out: suites that the target was spared.

    Raises:
        ExpectationError: the file cannot be written, or not with these entries; then it is unchanged.
    """
    before = {each.number: each for each in (*expectations.deviations, *expectations.expired)}
    wanted = {each.number: each for each in _wanted(expectations, run)}
    changes = {number: wanted.get(number) for number, each in before.items() if wanted.get(number) != each}
    new = [each for number, each in wanted.items() if number not in before]
    if changes or new:
        write(expectations.file, expectations.path, changes, new)
    after = expectations.anew(read_entries(expectations.file, expectations.path, given=expectations.given))
    for seen, swept in expectations.kept():
        after.recall(seen, run, swept=swept)
    after.settle(run, left_out)
    removed = len(before.keys() - wanted.keys())
    after.changes = f"{len(new)} new, {len(changes) - removed} changed, {removed} removed"
    return after


def _wanted(expectations: Expectations, run: Run) -> list[Deviation]:
    """The entries of this target for the file, in order; existing entries keep their place."""
    expired = Matcher(expectations.expired)
    for seen, swept in expectations.kept():
        expired.match(seen, swept=swept)
    gone = [each.deviation for each in expectations.stale if not expectations.tally(each.deviation).total]
    gone += [each for each in expectations.expired if not expired.tallies[each.number].total]
    going = {each.number for each in gone}
    staying = [replace(each, expires=None) for each in expectations.expired if each.number not in going]
    staying += [each for each in expectations.deviations if each.number not in going]
    groups, adopted = _unmatched(expectations, Matcher(staying), gone)
    for each in gone:
        key = next((key for key in groups if not each.id and each.names_same(groups[key].found[0])), None)
        if key is not None:
            adopted.append(replace(each, observed=groups.pop(key).observed))
    new = [entry for group in groups.values() for entry in _entries_of(group, expectations, run)]
    adopted = [replace(each, expires=_still(each, expectations)) for each in adopted]
    first = 1 + max((each.number for each in expectations.all), default=-1)
    numbered = [replace(each, number=number) for number, each in enumerate(new, first)]
    return _pinned(expectations, run, [*sorted([*staying, *adopted], key=lambda each: each.number), *numbered])


def _still(deviation: Deviation, expectations: Expectations) -> date | None:
    """The expiry of an entry, or None if it has passed, since an update renews the entry."""
    return None if any(each.number == deviation.number for each in expectations.expired) else deviation.expires


def _unmatched(
    expectations: Expectations, matcher: Matcher, gone: Sequence[Deviation]
) -> tuple[dict[tuple[str, str, str, str], _Group], list[Deviation]]:
    """The divergences that no entry covers, by cause and operation, and the entries of vectors with changed answers."""
    of_vectors: dict[str, list[Deviation]] = {}
    for each in gone:
        of_vectors.setdefault(each.id, []).append(each)
    groups: dict[tuple[str, str, str, str], _Group] = {}
    adopted: list[Deviation] = []
    for seen, swept in expectations.kept():
        if matcher.match(seen, swept=swept) is not None:
            continue
        known = next((each for each in of_vectors.get(seen.id, ()) if each.names_same(seen)), None)
        if known is not None:
            of_vectors[seen.id].remove(known)
            adopted.append(replace(known, observed=seen.observed))
        else:
            kind = seen.observed.partition(" ")[0]  # accepted, refused, ...: no pattern matches all of them
            groups.setdefault((seen.code, seen.place, seen.operation, kind), _Group()).add(seen, swept=swept)
    return groups, adopted


def _entries_of(group: _Group, expectations: Expectations, run: Run) -> Iterator[Deviation]:
    """New entries for a group: one for each divergence if there are few, and suites name their vectors."""
    first = group.found[0]
    common = Deviation(
        "", -1, group.observed, "", expectations.target, expectations.profile,
        code=first.code, place=first.place, operation=first.operation,
    )  # fmt: skip
    names = {seen.id for seen in group.found}
    if group.swept and run.swept is not None:
        yield replace(common, suites=tuple(part.plan for part in run.swept.plans))
    elif len(group.found) <= FEW and asked_of(run, names) == names:
        for seen in group.found:
            yield replace(common, id=seen.id, place=None, observed=seen.observed)
    else:
        yield replace(common, count=1)


def _pinned(expectations: Expectations, run: Run, entries: Sequence[Deviation]) -> list[Deviation]:
    """The entries, in which count and digest are those of this run."""
    ran, as_read = tuple(part.suite.name for part in run.suites), set(expectations.all)
    matcher = Matcher(entries)
    for seen, swept in expectations.kept():
        matcher.match(seen, swept=swept)
    result: list[Deviation] = []
    for each in entries:
        tally = matcher.tallies[each.number]
        comparable = not each.suites or set(each.suites) == set(ran) or each not in as_read
        if each.pinned and tally.total and comparable:
            pinned = replace(each, suites=each.suites if set(each.suites) == set(ran) else ran)
            found = tally.pinned or None
            result.append(replace(pinned, count=found, digest=tally.digest if found else ""))
        else:
            result.append(each)
    return result
