"""A sweep's divergences as a few sets, each with one sentence, verified against every string of the plan.

A set holds the strings of one kind whose first error has the same defect. Descriptions are tried in this order, and
the first exact one is used: the patterns that the strings contain; their first errors; the places of these errors; a
list of the strings; the automaton that the target behaves like. If none is exact, the sentence gives numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import (
    ACCEPTED_ILL_FORMED,
    OTHER_INCOMPLETE,
    OTHER_LENGTH,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
)
from overlong.conformance.results.sweeps import DivergentSet, Where, as_dialects
from overlong.conformance.sweep.summary.apart import apart as named_apart
from overlong.conformance.sweep.summary.by_language import (
    by_automaton,
    by_first_errors,
    by_list,
    by_numbers,
    by_patterns,
    by_refusals,
    in_numbers,
)
from overlong.conformance.sweep.summary.by_place import ByPlace
from overlong.conformance.sweep.summary.facts import Facts, Part, Said
from overlong.conformance.sweep.summary.gathering import gather
from overlong.conformance.sweep.summary.members import Strings
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.results.shard import ShardResult
    from overlong.conformance.sweep.plan import Plan

LONGEST = 250
"""The most characters of a description."""
_Describe = Callable[[Facts, Part], Said | None]
_OF_PLACES = {OTHER_OFFSET, OTHER_LENGTH, OTHER_INCOMPLETE}
_OF_VERDICTS = {REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED}


def summarise(
    plan: Plan, expected: ExpectedAnswers, results: Iterable[ShardResult], *, apart: bool = False
) -> list[DivergentSet]:
    """The divergences of a plan, in the order of their kinds and examples.

    Strings that were not judged or not asked are no divergences, and are omitted; so are shards without a result.

    Args:
        plan: the plan that was asked.
        expected: the expected answers.
        results: those of its shards, in any order. They are read one at a time.
        apart: list for each set the first strings of each bucket that they may fall into (``DivergentSet.apart``).

    Raises:
        ValueError: a result does not belong to its shard; the message names the shard.
    """
    gathered = gather(plan, results)
    if not gathered.kinds:
        return []
    facts = Facts(Strings(gathered), expected.automaton)
    by_place = (  # the octets that an octet of an accepted form stands for: the most that are consistent
        ByPlace(facts, facts.errors.classes_in, only_forms=False),
        ByPlace(facts, facts.product, only_forms=True),
        ByPlace(facts, lambda octets: tuple(frozenset({octet}) for octet in octets), only_forms=True),
    )
    found = [each for kind in gathered.kinds for each in _sets(facts, by_place, kind, apart=apart)]
    return sorted(found, key=lambda each: (each.kind, shortlex(each.example), each.defect))


def _sets(facts: Facts, by_place: Sequence[ByPlace], kind: int, *, apart: bool) -> Iterator[DivergentSet]:
    tally = facts.strings.gathered.tallies.get(kind)
    if tally is None:
        whole = by_refusals(facts, facts.of_kind[kind]) if kind in _OF_PLACES else None
        if whole is not None:
            count, least = facts.strings.count(facts.of_kind[kind]), facts.strings.least(facts.of_kind[kind])
            names = named_apart(facts, kind, facts.of_kind[kind], whole=True) if apart else ()
            yield _divergent(facts, kind, count, least, whole, "", names)
            return
        for part in facts.parts(kind):
            count, least = facts.strings.count(part.members), facts.strings.least(part.members)
            names = named_apart(facts, kind, part.members, whole=False) if apart else ()
            yield _divergent(facts, kind, count, least, _say(facts, by_place, part), part.defect, names)
        return
    count, least = tally.count, (tally.example, tally.grid, tally.index)
    known = facts.of_kind[kind]
    if any(known.values()):
        count += facts.strings.count(known)
        least = min(least, facts.strings.least(known), key=lambda each: (shortlex(each[0]), each[1:]))
    yield _divergent(facts, kind, count, least, in_numbers(count, facts.plan.size, least[0]), "")


def _say(facts: Facts, by_place: Sequence[ByPlace], part: Part) -> Said:
    inexact: Said | None = None
    ways: list[_Describe] = [by_patterns, by_first_errors, *by_place, by_automaton, by_list]
    if part.kind not in _OF_VERDICTS:
        ways[:2] = by_first_errors, by_patterns
    for describe in ways:
        said = describe(facts, part)
        if said is not None and said.exact:
            return said
        inexact = inexact or said
    return inexact or by_numbers(facts, part)


def _divergent(
    facts: Facts,
    kind: int,
    count: int,
    least: tuple[bytes, int, int],
    said: Said,
    defect: str,
    names: tuple[tuple[bytes, ...], ...] = (),
) -> DivergentSet:
    octets, grid, index = least
    of_verdicts = kind in _OF_VERDICTS
    dialects = facts.dialects if of_verdicts else ()
    words = as_dialects(said.words, dialects)
    return DivergentSet(
        kind,
        count,
        octets,
        Where(grid, index, facts.plan.grids[grid].asked_before(index)),
        (words if len(words) <= LONGEST else said.words)[:LONGEST],
        said.exact,
        defect,
        dialects,
        len(facts.learned) if of_verdicts and facts.learned is not None else None,
        said.parts,
        names,
    )
