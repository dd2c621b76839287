"""The status of a campaign, for a screen or a report; and the errors of its folder that a user can fix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.campaign.stored import StoredFinding


class CampaignError(Exception):
    """A folder cannot be used, or not for this campaign. The message is one line with the folder and the remedy."""


class CampaignNotSaved(CampaignError):
    """A folder can no longer be written; ``status`` has what was found."""

    def __init__(self, message: str, status: Status) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True)
class Status:
    """A moment of a campaign. All text except names of targets is safe to show."""

    targets: tuple[str, ...]
    """The targets, as a user names them."""
    engine: str
    profile: Profile
    seed: int
    resumed: bool
    """True if the campaign began before this run."""
    inputs: int
    """Inputs of the campaign, with those under way."""
    executions: int
    """Answers requested in the campaign."""
    rate: float
    """Executions per second in this run, on all processes that it started."""
    octets: int
    """Octets of the inputs."""
    corpus: int
    """Files in the corpus."""
    edges: tuple[int, int]
    """Transitions of the reference's automaton: reached, and all."""
    coverage: int
    """Edges of a target's code that were reached; 0 if no target is instrumented."""
    seconds: float
    """Seconds of this run."""
    earlier: float
    """Seconds of campaign time before this run."""
    last_new: float
    """Seconds since the last new result, or since the start of this run."""
    findings: list[StoredFinding] = field(default_factory=list["StoredFinding"])
    """Faults and differences, in the order in which they were found."""
    notes: list[str] = field(default_factory=list[str])
    others: int = 0
    """Other processes that work on the folder."""
    faults_wait: bool = False
    """True if the run has ended and an unexamined divergence may be a new fault."""

    @property
    def differences(self) -> int:
        """The number of findings that are differences, not faults."""
        return sum(each.is_difference for each in self.findings)
