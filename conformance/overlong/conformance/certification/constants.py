"""Chooses the numbers of a decoder's code that a certificate asks around: thresholds that no fixed plan can know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.tiers import constants_of as named_in
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.plans import CONSTANT
from overlong.conformance.sweep.plans.distance import numbers_of_utf8
from overlong.conformance.targets.functions import constants_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.results.run import Run
    from overlong.conformance.targets.framed import FramedTarget

_OFFSETS = "offsets"
_COVERED = 64
"""The suites ask every kind of error at offsets up to this."""
_MOST = 32
"""The most numbers: code that names more holds tables."""


def constant_plans(target: FramedTarget, run: Run, plans: Sequence[str], each: float, budget: float) -> tuple[str, ...]:
    """The plans for the numbers in a decoder's code; a note of the run names those that would take too long.

    The numbers of UTF-8 itself do not count, nor those that the plans cover.

    Args:
        target: a target that has greeted.
        run: the run.
        plans: the plans that it gets anyway.
        each: the seconds for a short string.
        budget: the seconds for all.
    """
    assert CONSTANT.least is not None
    parted = (name.partition("-") for name in plans)
    covered = max((int(last) for kind, _, last in parted if kind == _OFFSETS), default=0)
    least = max(CONSTANT.least, covered + 1, _COVERED + 1)
    wanted = [
        number
        for number in constants_of(target)
        if least <= number <= CONSTANT.most and number not in numbers_of_utf8() and number not in named_in(plans)
    ]
    chosen, spent = list[str](), 0.0
    for number in wanted[:_MOST]:
        plan = plan_named(f"{CONSTANT.name}-{number}", run.profile)
        spent += each * plan.price
        if spent > budget:
            break
        chosen.append(plan.name)
    if left := wanted[len(chosen) :]:
        words = ", ".join(map(str, left[:_MOST]))
        run.notes.append(f"not tested around these numbers of its code: {words}; --plan constant-N tests around N")
    return tuple(chosen)
