"""Plans of sweeps: the strings to ask, as grids; :data:`PLANS` has each kind by its name.

In: a profile and a number. Out: grids. Must not know: targets, answers, engines.
"""

from overlong.conformance.sweep.plans.blocks import ADDRESSES, BLOCKS, FOLLOWS, OCTETS, RUNS
from overlong.conformance.sweep.plans.calls import HISTORY, ORDER
from overlong.conformance.sweep.plans.constants import CONSTANT
from overlong.conformance.sweep.plans.context import AFTER, FAULTS, PAIRS, PLACED, TRANSITIONS
from overlong.conformance.sweep.plans.distance import FAR, LENGTHS, OFFSETS, THRESHOLDS
from overlong.conformance.sweep.plans.drawn import CAMPAIGN, DRAWN, DRAWN_IN_CAMPAIGN, SAMPLE
from overlong.conformance.sweep.plans.giant import GIANT
from overlong.conformance.sweep.plans.kind import KindOfPlan
from overlong.conformance.sweep.plans.short import DEPTH, EXHAUSTIVE, FORMS, LEADS

_KINDS = (
    *(EXHAUSTIVE, DEPTH, LEADS, FORMS, PLACED, OFFSETS, LENGTHS, FAR, PAIRS),
    *(ADDRESSES, OCTETS, RUNS, BLOCKS, FOLLOWS, GIANT),
    *(AFTER, TRANSITIONS, FAULTS, THRESHOLDS, CONSTANT, ORDER, HISTORY, DRAWN, SAMPLE, CAMPAIGN),
)
PLANS: dict[str, KindOfPlan] = {kind.name: kind for kind in _KINDS}
SEEDED = frozenset(kind.name for kind in (DRAWN, SAMPLE, CAMPAIGN))
"""The kinds of plans that a seed draws."""

__all__ = ["CAMPAIGN", "CONSTANT", "DRAWN", "DRAWN_IN_CAMPAIGN", "GIANT", "PLANS", "SAMPLE", "SEEDED", "KindOfPlan"]
