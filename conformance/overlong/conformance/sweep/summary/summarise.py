"""A sweep's divergences as a few sets, counted over every string of the plan.

A set holds the strings of one kind whose first error has the same defect. Why they diverge, the examiner finds out by
experiments (``sweep/explained.py``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, BROKEN, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.results.sweeps import DivergentSet, Where
from overlong.conformance.sweep.summary.gathering import gather
from overlong.conformance.sweep.summary.languages import first_defects, language
from overlong.conformance.sweep.summary.members import Members, Strings
from overlong.reference import DIALECTS, dialect
from overlong.reference.theory import equivalent, shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.results.shard import ShardResult
    from overlong.conformance.sweep.plan import Plan
    from overlong.reference.automaton import Automaton

_OF_VERDICTS = (REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED)
_OF_WELL_FORMED = (REFUSED_WELL_FORMED, OTHER_OUTPUT)
_DRAWN = 64
"""The strings of a set that may show further causes."""
_TRIED = 16
"""A dialect is tried on so many strings of each kind before it is tried on all."""


def summarise(plan: Plan, expected: ExpectedAnswers, results: Iterable[ShardResult]) -> list[DivergentSet]:
    """The divergences of a plan, in the order of their kinds and examples.

    Strings that were not judged or not asked are no divergences, and are omitted; so are shards without a result.

    Args:
        plan: the plan that was asked.
        expected: the expected answers.
        results: those of its shards, in any order. They are read one at a time.

    Raises:
        ValueError: a result does not belong to its shard; the message names the shard.
    """
    gathered = gather(plan, results)
    if not gathered.kinds:
        return []
    strings = Strings(gathered)
    of_kind = {kind: strings.of_kind(kind) for kind in gathered.kinds}
    dialects = tuple(_dialects(strings, of_kind, expected.automaton))
    by_defect = _by_defect(strings) if any(map(_has_errors, gathered.kinds)) else {}
    found: list[DivergentSet] = []
    for kind in gathered.kinds:
        named = dialects if kind in _OF_VERDICTS else ()
        for each in _sets(strings, of_kind[kind], kind, by_defect):
            octets, *place = each.least
            some = strings.drawn(each.members, _DRAWN) if each.members else ()
            drawn = tuple((plan.grids[grid].string(index), _where(plan, grid, index)) for grid, index in some)
            found.append(DivergentSet(kind, each.count, octets, _where(plan, *place), each.defect, named, drawn))
    return sorted(found, key=lambda each: (each.kind, shortlex(each.example), each.defect))


def _where(plan: Plan, grid: int, index: int) -> Where:
    return Where(grid, index, plan.grids[grid].asked_before(index))


@dataclass(frozen=True)
class _Set:
    defect: str
    count: int
    least: tuple[bytes, int, int]
    """Its octets, grid and number."""
    members: Members | None
    """None if some strings are only counted."""


def _has_errors(kind: int) -> bool:
    """True if the strings of a kind are told apart by their first error."""
    return kind not in _OF_WELL_FORMED and kind < BROKEN


def _by_defect(strings: Strings) -> dict[str, Members]:
    """The strings by the defect of their first error, in the order of the codes."""
    defects, codes = first_defects(strings.gathered.plan.profile.dialect)
    numbers = sorted(range(len(codes)), key=codes.__getitem__)
    return {codes[number]: strings.of_language(defects.of(number)) for number in numbers}


def _sets(strings: Strings, members: Members, kind: int, by_defect: dict[str, Members]) -> Iterator[_Set]:
    """The sets of a kind, whose strings are ``members``."""
    tally = strings.gathered.tallies.get(kind)
    if tally is not None:  # grids without diagrams
        count, least = tally.count, (tally.example, tally.grid, tally.index)
        if any(members.values()):
            count += strings.count(members)
            least = min(least, strings.least(members), key=lambda each: (shortlex(each[0]), each[1:]))
        yield _Set("", count, least, None)
    elif not _has_errors(kind):
        yield _Set("", strings.count(members), strings.least(members), members)
    else:
        for code, wrong in by_defect.items():
            part = strings.both(members, wrong)
            if any(part.values()):
                yield _Set(code, strings.count(part), strings.least(part), part)


def _dialects(strings: Strings, of_kind: dict[int, Members], automaton: Automaton) -> Iterator[str]:
    """The dialects that accept the same strings as the target; none if the verdict on some string is unknown."""
    if strings.gathered.tallies or max(of_kind) >= BROKEN or of_kind.keys().isdisjoint(_OF_VERDICTS):
        return
    none = dict.fromkeys(strings.grids, 0)
    refused, wrong = (of_kind.get(kind, none) for kind in _OF_VERDICTS)
    accepted = strings.either(strings.less(strings.of_language(language(automaton)), refused), wrong)
    wanted = dict.fromkeys(strings.some(refused, _TRIED), False)
    wanted |= dict.fromkeys(strings.some(wrong, _TRIED), True)
    for name in DIALECTS:
        spoken = dialect(name).automaton
        if any(spoken.accepts(octets) != accepts for octets, accepts in wanted.items()):
            continue
        if not equivalent(spoken, automaton) and strings.of_language(language(spoken)) == accepted:
            yield name
