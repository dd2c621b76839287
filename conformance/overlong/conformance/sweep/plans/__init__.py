"""Plans: which strings a sweep asks. Each kind is a module; :data:`PLANS` names them."""

from __future__ import annotations

from overlong.conformance.sweep.plans.depth import DEPTH
from overlong.conformance.sweep.plans.exhaustive import EXHAUSTIVE
from overlong.conformance.sweep.plans.kind_of_plan import KindOfPlan
from overlong.conformance.sweep.plans.lengths import LENGTHS
from overlong.conformance.sweep.plans.order import ORDER
from overlong.conformance.sweep.plans.pairs import PAIRS
from overlong.conformance.sweep.plans.placed import PLACED

PLANS: dict[str, KindOfPlan] = {kind.name: kind for kind in (EXHAUSTIVE, DEPTH, PLACED, LENGTHS, PAIRS, ORDER)}

__all__ = ["PLANS", "KindOfPlan"]
