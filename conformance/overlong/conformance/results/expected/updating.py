"""Which entries a run calls for: so that the same run again finds nothing unexpected, and misses nothing.

What holds stays; an entry whose answer changed keeps its reason, link and expiry; one that occurs no more goes; what is
new comes after the others, and waits for its reason.
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
"""Divergences of a cause that get an entry each; more than that share one, which their number and digest pin."""


@dataclass
class _Group:
    """Divergences that no entry stands for, of one cause, one operation, and answers of one kind."""

    found: list[Seen] = field(default_factory=list[Seen])
    """The first of them: at most one more than a few."""
    prefix: str = ""
    """What all their answers begin with."""
    alike: bool = True
    swept: bool = True
    """Sweeps found them all."""

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
        """A pattern of their answers."""
        return self.prefix if self.alike else f"{self.prefix}*"


def settled(expectations: Expectations, run: Run, left_out: Sequence[str] = ()) -> Expectations:
    """What is expected when a run has ended, settled; of one that is updating, as it is written anew.

    Args:
        expectations: of this run.
        run: that has ended.
        left_out: suites that the target was spared.

    Raises:
        ExpectationError: the file cannot be written, or not so that it says this; then it is as it was.
    """
    expectations.settle(run, left_out)
    if not expectations.updating or run.incomplete:
        return expectations
    return _updated(expectations, run, left_out)


def _updated(expectations: Expectations, run: Run, left_out: Sequence[str] = ()) -> Expectations:
    """Write what a run found to the file; what is expected now, settled.

    Args:
        expectations: of this run, updating, and settled.
        run: that is whole.
        left_out: suites that the target was spared.

    Raises:
        ExpectationError: the file cannot be written, or not so that it says this; then it is as it was.
    """
    before = {each.number: each for each in (*expectations.deviations, *expectations.expired)}
    wanted = {each.number: each for each in _wanted(expectations, run)}
    removed = before.keys() - wanted.keys()
    changed = {number: each for number, each in wanted.items() if number in before and each != before[number]}
    new = [each for number, each in wanted.items() if number not in before]
    if removed or changed or new:
        write(expectations.file, expectations.path, changed, removed, new)
    after = expectations.anew(read_entries(expectations.file, expectations.path, given=expectations.given))
    for seen, swept in expectations.kept():
        after.recall(seen, run, swept=swept)
    after.settle(run, left_out)
    after.changes = f"{len(new)} new, {len(changed)} changed, {len(removed)} removed"
    return after


def _wanted(expectations: Expectations, run: Run) -> list[Deviation]:
    """The entries that should stand in the file, of this target, in order: those that have a place there keep it."""
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
    """Its expiry, unless that is over: updating expectations renews it."""
    return None if any(each.number == deviation.number for each in expectations.expired) else deviation.expires


def _unmatched(
    expectations: Expectations, matcher: Matcher, gone: Sequence[Deviation]
) -> tuple[dict[tuple[str, str, str, str], _Group], list[Deviation]]:
    """What no entry stands for, by cause and operation; and the entries of vectors that are answered otherwise now."""
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
            kind = seen.observed.partition(" ")[0]  # accepted, refused, ...: no pattern stands for all of them
            groups.setdefault((seen.code, seen.place, seen.operation, kind), _Group()).add(seen, swept=swept)
    return groups, adopted


def _entries_of(group: _Group, expectations: Expectations, run: Run) -> Iterator[Deviation]:
    """New entries for a group: one for each divergence if they are few, and suites ask them by name."""
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
    """The entries, those that are pinned by what this run found."""
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
