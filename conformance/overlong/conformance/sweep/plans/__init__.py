"""Plans of sweeps: the strings to ask, as grids; each scheme of :data:`PLANS` makes those of a name.

In: a profile and a number. Out: grids. Must not know: targets, answers, engines.
"""

from overlong.conformance.sweep.grid import Scheme
from overlong.conformance.sweep.plans.blocks import ADDRESSES, BLOCKS, FOLLOWS, OCTETS, RUNS
from overlong.conformance.sweep.plans.context import AFTER, FAULTS, HISTORY, ORDER, PAIRS, PLACED, TRANSITIONS
from overlong.conformance.sweep.plans.distance import CONSTANT, FAR, GIANT, LENGTHS, OFFSETS, THRESHOLDS
from overlong.conformance.sweep.plans.drawn import CAMPAIGN, DRAWN, DRAWN_IN_CAMPAIGN, SAMPLE
from overlong.conformance.sweep.plans.short import DEPTH, EXHAUSTIVE, FORMS, LEADS

_SCHEMES = (
    *(EXHAUSTIVE, DEPTH, LEADS, FORMS, PLACED, OFFSETS, LENGTHS, FAR, PAIRS),
    *(ADDRESSES, OCTETS, RUNS, BLOCKS, FOLLOWS, GIANT),
    *(AFTER, TRANSITIONS, FAULTS, THRESHOLDS, CONSTANT, ORDER, HISTORY, DRAWN, SAMPLE, CAMPAIGN),
)
PLANS: dict[str, Scheme] = {scheme.name: scheme for scheme in _SCHEMES}
SEEDED = frozenset(scheme.name for scheme in (DRAWN, SAMPLE, CAMPAIGN))
"""The names of plans that a seed draws."""

__all__ = ["CAMPAIGN", "CONSTANT", "DRAWN", "DRAWN_IN_CAMPAIGN", "GIANT", "PLANS", "SAMPLE", "SEEDED", "Scheme"]
