"""What asks a shard: the target's own process, or frames in columns. Chosen here, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.profile import RFC3629, Profile
from overlong.conformance.targets.resolve import Limits

if TYPE_CHECKING:
    from overlong.conformance.sweep.shard import Shard, ShardResult


class Engine(Protocol):
    """Asks a target the strings of shards, one shard after the other."""

    @property
    def name(self) -> str:
        """How it asks: ``in its own process`` or ``in columns``."""
        ...

    def run(self, shard: Shard) -> ShardResult:
        """Ask all strings of a shard. What the target does not survive is a fault in the result.

        Raises:
            BudgetSpent: it failed more often than its limit.
            TargetError: it cannot be asked any more.
        """
        ...

    def close(self) -> None:
        """End the target's processes."""
        ...


@dataclass(frozen=True)
class Job:
    """Whom a sweep asks, and what is expected. It can be pickled: a worker elsewhere makes an engine of it."""

    target: str | tuple[str, ...]
    """Its name, as on the command line; or a command that speaks the protocol."""
    profile: Profile = RFC3629
    operation: str = ""
    """``V`` or ``D``; empty for the one of them that says more."""
    limits: Limits = field(default_factory=Limits)
    columns: bool = False
    """Ask in columns even what could be asked in its own process."""
