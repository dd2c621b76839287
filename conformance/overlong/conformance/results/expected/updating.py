"""The entries that a run needs, so that the same run again finds nothing unexpected and no stale entry; and their file.

An entry that holds stays. An entry with a changed answer keeps its reason, link and expiry. An entry that no longer
occurs is removed. New entries come last, with an empty reason. All else in the file stays octet for octet.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.expected.entries import DIGEST, Deviation, ExpectationError, spans_of
from overlong.conformance.results.expected.expectations import Expectations, Matcher, asked_of
from overlong.conformance.support.files import written_to
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.results.expected.expectations import Seen
    from overlong.conformance.results.run import Run

FEW = 3
"""The most divergences of a cause that get an entry each. More share one entry with their number and digest."""
_IN_PLACE = ("observed", "expires", "suites", "count", "digest")
"""The keys of an existing entry that an update may change."""
_ORDER = (
    *("target", "profile", "id", "code", "place", "operation", "observed"),
    *("reason", "link", "expires", "suites", "count", "digest"),
)


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
        _write(old, changes, new)
    after = Expectations(old.file, old.target, old.profile, old.on, given=old.given)
    for seen in old.kept():
        if after.covering(seen) is None:
            after.add_unexpected((seen.code, seen.place), run)
    after.settle(run, left_out)
    removed = len(before.keys() - wanted.keys())
    after.changes = f"{len(new)} new, {len(changes) - removed} changed, {removed} removed"
    return after


# -- what the file should say


def _wanted(expectations: Expectations, run: Run) -> list[Deviation]:
    """The entries of this target for the file, in order; existing entries keep their place."""
    expired = _matched(expectations.expired, expectations)
    gone = [each for each in expectations.stale if not expectations.tally(each).total]
    gone += [each for each in expectations.expired if not expired.tallies[each.number].total]
    entries = [replace(each, expires=None) for each in expectations.expired] + list(expectations.deviations)
    renewed = {each.number: each for each in entries}  # an update renews an entry that has expired
    gone = [renewed.pop(each.number) for each in gone]
    groups, adopted = _unmatched(expectations.kept(), Matcher(renewed.values()), gone)
    for each in gone:
        key = next((key for key, group in groups.items() if not each.id and group.found[0].is_named_by(each)), None)
        if key is not None:
            adopted.append(replace(each, observed=groups.pop(key).observed))
    old = sorted([*renewed.values(), *adopted], key=lambda each: each.number)
    first = 1 + max((each.number for each in expectations.all), default=-1)
    new = (entry for group in groups.values() for entry in _entries_of(group, expectations, run))
    return _pinned(expectations, run, [*old, *(replace(each, number=at) for at, each in enumerate(new, first))])


def _matched(entries: Iterable[Deviation], expectations: Expectations) -> Matcher:
    """Entries with all divergences that they cover counted."""
    matcher = Matcher(entries)
    for seen in expectations.kept():
        matcher.match(seen)
    return matcher


@dataclass
class _Group:
    """Divergences that no entry covers, of one cause, one operation, and one kind of answer."""

    found: list[Seen]
    """The first divergences: at most one more than those that get an entry each."""
    prefix: str
    """The common beginning of their answers."""
    alike: bool = True
    swept: bool = True
    """True if sweeps found all of them."""

    def add(self, seen: Seen) -> None:
        if seen.observed != self.prefix:
            same = (ours == theirs for ours, theirs in zip(self.prefix, seen.observed, strict=False))
            self.prefix, self.alike = self.prefix[: sum(takewhile(bool, same))], False
        self.swept = self.swept and seen.swept
        if len(self.found) <= FEW and all(seen[:-1] != each[:-1] for each in self.found):  # whoever found it
            self.found.append(seen)

    @property
    def observed(self) -> str:
        """A pattern that matches their answers."""
        return self.prefix if self.alike else f"{self.prefix}*"


def _unmatched(
    found: Iterable[Seen], matcher: Matcher, gone: Sequence[Deviation]
) -> tuple[dict[tuple[str, str, str, str], _Group], list[Deviation]]:
    """The divergences that no entry covers, by cause and operation, and the entries of vectors with changed answers."""
    of_vectors: dict[str, list[Deviation]] = {}
    for each in gone:
        of_vectors.setdefault(each.id, []).append(each)
    groups: dict[tuple[str, str, str, str], _Group] = {}
    adopted: list[Deviation] = []
    for seen in found:
        if matcher.match(seen) is not None:
            continue
        known = next(filter(seen.is_named_by, of_vectors.get(seen.id, ())), None)
        if known is not None:
            of_vectors[seen.id].remove(known)
            adopted.append(replace(known, observed=seen.observed))
        else:
            kind = seen.observed.partition(" ")[0]  # accepted, refused, ...: no pattern matches all of them
            key = seen.code, seen.place, seen.operation, kind
            groups.setdefault(key, _Group([], seen.observed)).add(seen)
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
    matcher = _matched(entries, expectations)
    result: list[Deviation] = []
    for each in entries:
        tally, same = matcher.tallies[each.number], set(each.suites) == set(ran)
        if each.pinned and tally.total and (same or not each.suites or each not in as_read):
            digest = tally.digest if tally.pinned else ""
            each = replace(each, suites=each.suites if same else ran, count=tally.pinned or None, digest=digest)  # noqa: PLW2901
        result.append(each)
    return result


# -- the file


def _write(expectations: Expectations, changes: Mapping[int, Deviation | None], new: Sequence[Deviation]) -> None:
    """Change, remove and add entries; the file is created if it does not exist, and a symbolic link stays one.

    Args:
        expectations: of the file.
        changes: by position among the entries, from 0; None: remove the entry.
        new: entries to add after all others.

    Raises:
        ExpectationError: the file cannot be written, or not with these entries; then it is unchanged.
    """
    file, name = expectations.file, printable(str(expectations.file))
    try:
        mode = file.stat().st_mode if file.exists() else None
        text = "" if mode is None else file.read_bytes().decode()
        written = _edited(text, expectations.path, changes, new)
        tomllib.loads(written)
        with written_to(file, encoding="utf-8") as out:
            out.write(written)
        if mode is not None:
            file.chmod(mode)
    except ValueError as error:
        raise ExpectationError(f"{name}: it cannot be written as TOML: {printable(str(error))}") from error
    except OSError as error:
        raise ExpectationError(f"{name}: {error.strerror}; name another file with --expected") from error


def _edited(text: str, path: tuple[str, ...], changes: Mapping[int, Deviation | None], new: Sequence[Deviation]) -> str:
    """A document with these changes.

    Raises:
        ValueError: it is not TOML, or its entries do not stand under headers of their own.
    """
    import tomlkit

    end, header = "\r\n" if "\r\n" in text else "\n", f"[[{'.'.join(path)}]]"
    spans = spans_of(text, path)
    if any(number >= len(spans) for number in changes):
        raise ValueError(f"write each entry under {header}")
    pieces, done = list[str](), 0
    for number, (start, behind) in enumerate(spans):
        entry, changed = text[start:behind], changes.get(number)
        if changed is not None:
            entry = _with_ends(_changed(entry, path, changed), end)
        pieces += [text[done:start], "" if number in changes and changed is None else entry]
        done = behind
    if not spans:
        pieces, done = [text], len(text)
    if new:
        if pieces[-1]:
            pieces.append(end if pieces[-1].endswith("\n") else end + end)
        added = "\n".join(f"{header}\n{tomlkit.dumps(_values(each))}" for each in new)
        pieces.append(_with_ends(added, end))
    return "".join([*pieces, text[done:]])


def _with_ends(text: str, end: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", end)


def _values(deviation: Deviation) -> dict[str, Any]:
    """The keys of an entry, and their values in TOML."""
    values: dict[str, Any] = {each.name: getattr(deviation, each.name) for each in fields(deviation)}
    values["profile"] = "" if deviation.profile == "rfc3629" else deviation.profile
    values["suites"] = list(deviation.suites)
    values["digest"] = deviation.digest and DIGEST + deviation.digest
    kept = {"reason"} | ({"place"} if deviation.place is not None else set[str]())
    return {key: values[key] for key in _ORDER if values[key] or key in kept}


def _changed(entry: str, path: tuple[str, ...], deviation: Deviation) -> str:
    """The text of an entry with the changed values."""
    import tomlkit

    document = tomlkit.parse(entry if entry.endswith("\n") else f"{entry}\n")
    table: Any = document
    for key in path:
        table = table[key]
    (values,), wanted = table, _values(deviation)
    for key in _IN_PLACE:
        if key not in wanted:
            values.pop(key, None)
        elif key not in values or values[key] != wanted[key]:
            values[key] = wanted[key]
    return tomlkit.dumps(document)
