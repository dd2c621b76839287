"""Where a campaign is: all that a screen or a report shows; and what a user can mend about its folder."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.minimise.stored import StoredFinding


class CampaignError(Exception):
    """A folder cannot be used, or not for this campaign. The message is one line that names it and the remedy."""


@dataclass(frozen=True)
class Status:
    """A moment of a campaign. All text is safe to show but for names of targets."""

    targets: tuple[str, ...]
    """The targets, as a user names them."""
    engine: str
    profile: Profile
    seed: int
    resumed: bool
    """Whether it had begun before this run."""
    inputs: int
    """Inputs of the campaign, with those that are being asked."""
    executions: int
    """Answers that were asked for, in the campaign."""
    rate: float
    """Executions per second in this run, on all processes that it started."""
    octets: int
    """Octets of the inputs."""
    corpus: int
    """Files in the corpus."""
    edges: tuple[int, int]
    """Transitions of the reference's automaton: reached, and all."""
    coverage: int
    """Edges of a target's code that were reached; 0 if none is instrumented."""
    seconds: float
    """Seconds of this run."""
    earlier: float
    """Seconds of campaign time before this run."""
    last_new: float
    """Seconds since something was new; since the start of this run if nothing was."""
    findings: list[StoredFinding] = field(default_factory=list["StoredFinding"])
    """Faults and differences, in the order in which they were found."""
    notes: list[str] = field(default_factory=list[str])
    others: int = 0
    """Other processes that work on the folder."""
    faults_wait: bool = False
    """Whether the run has ended, and a fault of a new sort was seen that is not examined yet."""

    @property
    def differences(self) -> int:
        """How many findings are differences, and no faults."""
        return sum(each.is_difference for each in self.findings)
