"""Which targets can be asked giant strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.sweep.giants.memory import why_none
from overlong.conformance.sweep.in_process import abi_of, reason_against

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.framed import FramedTarget


def reason_against_giants(target: FramedTarget) -> str:
    """Why a target cannot be asked giant strings, in words; empty if it can."""
    if reason := reason_against(target):
        return reason
    if abi_of(target).units:
        return "it outputs text, and there is no room for so much"
    if abi_of(target).functions:
        return "it keeps a state, and its functions are not called for so much"
    return why_none()


def hold_giants_to(target: FramedTarget, plans: Iterable[Plan], *, columns: bool = False) -> None:
    """Check that a target can be asked these plans; ``columns``: by the protocol, whatever it is.

    Raises:
        TargetError: it cannot be asked one of giant strings.
    """
    for plan in plans:
        if plan.giant and (reason := "it is tested in columns" if columns else reason_against_giants(target)):
            raise TargetError(f"{printable(target.id)}: the plan {plan.name} cannot be tested: {reason}")
