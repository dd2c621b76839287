"""The nearest model of a divergent decoder: its automaton is learned after the suites, in a second or two."""

from __future__ import annotations

from operator import ne
from typing import TYPE_CHECKING

from overlong.conformance.models.pair_maps import NOT_TOLD, maps_of, painted, unreported
from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.kind import VERDICT
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import DECODE, VALIDATE
from overlong.conformance.results.run import FAILS, Drawn
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.plan import plan_named
from overlong.reference import DIALECTS, dialect

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.models.identify.identify import LearnedModel
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.model import Map
    from overlong.conformance.results.run import Run
    from overlong.conformance.results.writer import ResultsWriter

_QUESTIONS = 120_000
"""Strings that it may be asked: three times what most dialects take, and a second's work."""
EXACT, NEAREST = " (exact)", " (nearest)"


def learn_and_map(target: Target, run: Run, writer: ResultsWriter) -> None:
    """Learn what a target behaves like if it fails the verdict, and write its maps.

    A target that fails no verdict is not learned: complete-0 says which automaton it is, and its maps would be those
    of the reference. One that broke while the suites ran is not learned, either. Whether it is quick does not matter:
    what is written of it is the same on a busy machine.

    Args:
        target: that has run all suites and is still open. It must not be asked anything afterwards.
        run: of its suites; it is told what the target behaves like.
        writer: of its results.
    """
    if run.claims[VERDICT] != FAILS or run.restarts:
        return
    try:
        learned = learn(target)
        maps = maps_of(target, run.profile)
    except KeyboardInterrupt:
        run.incomplete = "interrupted"
        return
    except (BudgetSpent, TargetError):
        return
    if maps:
        writer.portrait(maps)
    run.behaves_like, run.drawn = nearest_model(learned, run, maps)


def hold_to_sweeps(run: Run) -> None:
    """Take back that a target is exactly like a dialect if the strings of a sweep say otherwise."""
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
    """What can be learned of the dialect of a target with few questions.

    Raises:
        BudgetSpent: it fails too often.
        TargetError: it does not start any more.
    """
    from overlong.conformance.models.identify.identify import identify_dialect

    with unreported(target):
        return identify_dialect(target, _QUESTIONS)


def nearest_model(learned: LearnedModel, run: Run, maps: Sequence[Map]) -> tuple[str, Drawn | None]:
    """The dialect that it speaks, exactly or nearest; and its automaton, if it could be learned, beside that of what it
    should speak.

    It is exact only if what was learned equals the dialect's machine, and nothing that the suites, the maps or strings
    from elsewhere (``identify/beside.py``) showed says otherwise; :func:`hold_to_sweeps` holds it to sweeps. Nothing is
    said of what could not be learned and has no maps, nor where nothing is near (:func:`_is_near`).
    """
    from overlong.conformance.models.identify.picture import picture

    part = learned.part("dialect")
    drawn = picture(learned, ".svg", run.profile.speaks)
    if part is None or drawn is None:
        name = _nearest(maps, run) if maps else ""
        return f"{name}{NEAREST}" if name and _is_near(name, run, maps) else "", None
    exact = part.exact and _never_otherwise(run, part.name) and not (maps and _differing(maps, part.name, run))
    near = _is_near(part.name, run, maps) or (exact and part.name != run.profile.speaks)
    title = f"The automaton of {printable(run.target)}, as learned, and that of {run.profile.speaks}"
    return f"{part.name}{EXACT if exact else NEAREST}" if near else "", Drawn(title, drawn)


def _is_near(name: str, run: Run, maps: Sequence[Map]) -> bool:
    """Whether a dialect explains more than it leaves open, and more than nothing at all would.

    It is another than the target should speak; in the maps it is wrong about less than half of what that one is wrong
    about, and about less than one that refuses everything, or accepts everything, would be. Without maps, it answers
    more than half of the examples as the target did.
    """
    if name == run.profile.speaks:
        return False
    if not maps:
        same = [_as_answered(name, example) for example in _examples(run)]
        return sum(same) * 2 > len(same)
    unexplained = _differing(maps, name, run)
    answers = b"".join(each.answers for each in maps)
    told = len(answers) - answers.count(NOT_TOLD)
    baseline = told - max(answers.count(constant) for constant in (0, 1))  # never accepted, and at once
    return unexplained * 2 < _differing(maps, run.profile.speaks, run) and unexplained < baseline


def _never_otherwise(run: Run, name: str) -> bool:
    """Whether each example of a bucket was answered as the dialect has it."""
    return all(_as_answered(name, example) for example in _examples(run))


def _examples(run: Run) -> list[Finding]:
    """The examples of buckets that are verdicts."""
    examples = [bucket.example for bucket in run.buckets.values()]
    return [
        each
        for each in examples
        if each.operation in VALIDATE + DECODE and isinstance(each.observed, Accepted | Refused)
    ]


def _as_answered(name: str, example: Finding) -> bool:
    """Whether the dialect has the verdict that was observed."""
    return dialect(name).automaton.accepts(example.vector.octets) == isinstance(example.observed, Accepted)


def _nearest(maps: Sequence[Map], run: Run) -> str:
    """The dialect whose maps differ least."""
    return min(DIALECTS, key=lambda name: _differing(maps, name, run))


def _differing(maps: Sequence[Map], name: str, run: Run) -> int:
    """How many answers in maps are not those of a dialect."""
    known = painted(dialect(name).automaton, run.profile.speaks)
    return sum(
        sum(map(ne, map_.answers, other.answers)) - map_.answers.count(NOT_TOLD)  # which a dialect never answers
        for map_, other in zip(maps, known, strict=True)
        if map_.answers != other.answers
    )
