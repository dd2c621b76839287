"""Whether a finding shows again, each time in a process that has seen nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.fuzz.bucket import KEPT, PLACED, UNSTABLE
from overlong.fuzz.campaign.stored import AGAIN

if TYPE_CHECKING:
    from overlong.conformance.finding import Finding
    from overlong.fuzz.probe import Probe


def stable(finding: Finding, probe: Probe) -> int:
    """How often it shows, out of :data:`AGAIN`. A child forked from a process that ran before is none of its own.

    What was named for changing from call to call shows when anything is wrong with the answer.

    Raises:
        TargetError: the target does not start any more.
    """
    said = 0
    for _ in range(AGAIN):
        fresh = probe.fresh()
        try:
            again = fresh.ask_one(finding.vector, finding.operation)
        finally:
            fresh.close()
        if again is not None:
            said += again.code == finding.code or finding.code in (UNSTABLE, PLACED, KEPT)
    return said
