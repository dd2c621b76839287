"""A sweep's divergences as a few sets: each holds the strings of one kind whose first error has the same defect."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import ACCEPTED_ILL_FORMED, BROKEN, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.results.sweeps import DivergentSet, Where
from overlong.conformance.sweep.summary.diagram import AND, MINUS, OR
from overlong.conformance.sweep.summary.gathering import gather, least_of
from overlong.conformance.sweep.summary.languages import first_defects, language
from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import equivalent, shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.results.sweeps import ShardResult
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.sweep.summary.gathering import Gathered, Members, Place
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
    of_kind = {kind: gathered.with_value(gathered.roots, kind) for kind in gathered.kinds}
    dialects = tuple(_dialects(gathered, of_kind, expected.automaton))
    by_defect = _by_defect(gathered) if any(map(_has_errors, gathered.kinds)) else {}
    found: list[DivergentSet] = []
    for kind in gathered.kinds:
        named = dialects if kind in _OF_VERDICTS else ()
        for defect, count, (octets, *place), members in _sets(gathered, of_kind[kind], kind, by_defect):
            some = gathered.drawn(members, _DRAWN)
            drawn = tuple((plan.grids[grid].string(index), _where(plan, grid, index)) for grid, index in some)
            found.append(DivergentSet(kind, count, octets, _where(plan, *place), defect, named, drawn))
    return sorted(found, key=lambda each: (each.kind, shortlex(each.example), each.defect))


def _where(plan: Plan, grid: int, index: int) -> Where:
    return Where(grid, index, plan.grids[grid].asked_before(index))


def _has_errors(kind: int) -> bool:
    """True if the strings of a kind are told apart by their first error."""
    return kind not in _OF_WELL_FORMED and kind < BROKEN


def _by_defect(gathered: Gathered) -> dict[str, Members]:
    """The strings by the defect of their first error, in the order of the codes."""
    defects, codes = first_defects(gathered.plan.profile.dialect)
    said = gathered.said_by(defects)
    return {code: gathered.with_value(said, codes.index(code) + 1) for code in sorted(codes)}


def _sets(
    gathered: Gathered, members: Members, kind: int, by_defect: dict[str, Members]
) -> Iterator[tuple[str, int, Place, Members]]:
    """The sets of a kind, whose strings are ``members``.

    Each has a defect, the number of its strings, the least of them, and the strings; none if some are only counted.
    """
    tally = gathered.tallies.get(kind)
    if tally is not None:  # grids without diagrams
        count, least = tally
        if any(members.values()):
            count, least = count + gathered.count(members), least_of((least, gathered.least(members)))
        yield "", count, least, {}
        return
    parts = {"": members}
    if _has_errors(kind):
        parts = {code: gathered.combined(members, wrong, AND) for code, wrong in by_defect.items()}
    for code, part in parts.items():
        if any(part.values()):
            yield code, gathered.count(part), gathered.least(part), part


def _dialects(gathered: Gathered, of_kind: dict[int, Members], automaton: Automaton) -> Iterator[str]:
    """The dialects that accept the same strings as the target; none if the verdict on some string is unknown."""
    if gathered.tallies or max(of_kind) >= BROKEN or of_kind.keys().isdisjoint(_OF_VERDICTS):
        return
    none = dict.fromkeys(gathered.roots, 0)
    refused, wrong = (of_kind.get(kind, none) for kind in _OF_VERDICTS)
    right = gathered.said_by(language(automaton))
    accepted = gathered.combined(gathered.combined(right, refused, MINUS), wrong, OR)
    wanted = {
        gathered.plan.grids[grid].string(index): members is wrong
        for members in (refused, wrong)
        for grid, index in gathered.drawn(members, _TRIED)
    }
    for name in DIALECTS:
        spoken = dialect(name).automaton
        if any(spoken.accepts(octets) != accepts for octets, accepts in wanted.items()):
            continue
        if not equivalent(spoken, automaton) and gathered.said_by(language(spoken)) == accepted:
            yield name
