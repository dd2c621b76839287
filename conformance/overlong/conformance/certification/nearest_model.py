"""Finds the nearest model of a divergent decoder by learning its automaton after the suites, in a second or two."""

from __future__ import annotations

from operator import ne
from typing import TYPE_CHECKING

from overlong.conformance.models.pair_maps import NOT_TOLD, maps_of, painted, unreported
from overlong.conformance.oracle.target import ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED, BudgetSpent, TargetError
from overlong.conformance.protocol.observation import VERDICT, Accepted, Refused
from overlong.conformance.protocol.wire import DECODE, VALIDATE
from overlong.conformance.results.model import FAILS, Drawing
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.plan import plan_named
from overlong.reference import DIALECTS, dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.models.identify import LearnedModel
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.model import Map
    from overlong.conformance.results.results_file import ResultsWriter
    from overlong.conformance.results.run import Run

_QUESTIONS = 120_000
"""The most strings to ask: three times the need of most dialects, and a second's work."""
EXACT, NEAREST = " (exact)", " (nearest)"


def learn_and_map(target: Target, run: Run, writer: ResultsWriter | None) -> None:
    """Learn the automaton of a target that fails the verdict, and write its maps.

    A target that passes the verdict is not learned: complete-0 identifies its automaton, and its maps would be those
    of the reference. A target that broke while the suites ran is not learned, either. Its speed does not matter: the
    output is the same on a busy machine.

    Args:
        target: a target that has run all suites and is still open. It must not be asked anything afterwards.
        run: the run of its suites; it gets the nearest model.
        writer: the writer of its results, if they are kept.
    """
    if run.claims[VERDICT] != FAILS or run.breaks_down:
        return
    try:
        learned = learn(target)
        maps = maps_of(target, run.profile)
    except KeyboardInterrupt:
        run.incomplete = "interrupted"
        return
    except (BudgetSpent, TargetError):
        return
    if maps and writer is not None:
        writer.portrait(maps)
    run.behaves_like, run.automaton = nearest_model(learned, run, maps)


def hold_to_sweeps(run: Run) -> None:
    """Withdraw the claim that a target equals a dialect if a sweep's strings refute it."""
    name, exact = run.behaves_like.removesuffix(EXACT), run.behaves_like.endswith(EXACT)
    if run.swept is None or not exact:
        return
    spoken = dialect(name).automaton
    for part in run.swept.plans:
        named = [bucket.found for bucket in run.swept.buckets if bucket.plan == part.plan]
        if part.accepted != plan_named(part.plan, run.profile).account(spoken).well_formed or any(
            name not in found.dialects for found in named if found.kind in (REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED)
        ):
            run.behaves_like = name + NEAREST


def learn(target: Target) -> LearnedModel:
    """Learn the dialect of a target as far as possible with few questions.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    from overlong.conformance.models.identify import identify_dialect

    with unreported(target):
        return identify_dialect(target, _QUESTIONS)


def nearest_model(learned: LearnedModel, run: Run, maps: Sequence[Map]) -> tuple[str, Drawing | None]:
    """The dialect that it speaks, exactly or nearest; and its automaton, if it was learned, beside that of the dialect
    that it should speak.

    The match is exact only if the learned automaton equals the dialect's machine, and the suites, the maps and further
    strings (``models/beside.py``) agree; :func:`hold_to_sweeps` checks it against sweeps. There is no result for a
    target that was not learned and has no maps, or if no dialect is near (:func:`_is_near`).
    """
    from overlong.conformance.models.picture import picture

    part = learned.part("dialect")
    svg = picture(learned, run.profile.speaks)
    if part is None or svg is None:
        name = _nearest(maps, run) if maps else ""
        return f"{name}{NEAREST}" if name and _is_near(name, run, maps) else "", None
    exact = part.exact and _never_otherwise(run, part.name) and not (maps and _differing(maps, part.name, run))
    near = _is_near(part.name, run, maps) or (exact and part.name != run.profile.speaks)
    title = f"The automaton of {printable(run.target)}, as learned, and that of {run.profile.speaks}"
    return f"{part.name}{EXACT if exact else NEAREST}" if near else "", Drawing(title, svg)


def _is_near(name: str, run: Run, maps: Sequence[Map]) -> bool:
    """True if a dialect explains more answers than it leaves open, and more than a constant answer would.

    It must differ from the dialect that the target should speak. In the maps, it must be wrong in fewer than half as
    many places as that dialect, and in fewer than a decoder that refuses or accepts everything. Without maps, it must
    answer more than half of the examples like the target.
    """
    if name == run.profile.speaks:
        return False
    if not maps:
        same = [_as_answered(name, example) for example in _examples(run)]
        return sum(same) * 2 > len(same)
    unexplained = _differing(maps, name, run)
    answers = b"".join(each.answers for each in maps)
    told = len(answers) - answers.count(NOT_TOLD)
    baseline = told - max(answers.count(constant) for constant in (0, 1))  # for the better constant verdict
    return unexplained * 2 < _differing(maps, run.profile.speaks, run) and unexplained < baseline


def _never_otherwise(run: Run, name: str) -> bool:
    """True if the dialect gives each example of a bucket the observed answer."""
    return all(_as_answered(name, example) for example in _examples(run))


def _examples(run: Run) -> list[Finding]:
    """The examples of those buckets that concern verdicts."""
    examples = [bucket.example for bucket in run.buckets.values()]
    return [
        each
        for each in examples
        if each.operation in VALIDATE + DECODE and isinstance(each.observed, Accepted | Refused)
    ]


def _as_answered(name: str, example: Finding) -> bool:
    """True if the dialect gives the observed verdict."""
    return dialect(name).automaton.accepts(example.vector.octets) == isinstance(example.observed, Accepted)


def _nearest(maps: Sequence[Map], run: Run) -> str:
    """The dialect whose maps differ least from the target's."""
    return min(DIALECTS, key=lambda name: _differing(maps, name, run))


def _differing(maps: Sequence[Map], name: str, run: Run) -> int:
    """The number of answers in maps that differ from a dialect's."""
    known = painted(dialect(name).automaton, run.profile.speaks)
    return sum(
        sum(map(ne, map_.answers, other.answers)) - map_.answers.count(NOT_TOLD)  # a dialect never gives this answer
        for map_, other in zip(maps, known, strict=True)
        if map_.answers != other.answers
    )
