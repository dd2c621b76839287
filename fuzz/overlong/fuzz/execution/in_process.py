"""The engine for shared libraries: compiled loops in the library's own process make, ask and judge the inputs.

Everything except the inputs is the machinery of sweeps: the sandbox, the process that dies in place of the library's,
kinds, sums and faults (see ``overlong.conformance.sweep.in_process``).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.support.temporary import TemporaryFolder
from overlong.conformance.sweep.in_process import InProcess, reason_against, why_slow
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.fuzz.execution.made import Told, write_seeds

if TYPE_CHECKING:
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.shard import Shard, ShardResult
    from overlong.fuzz.execution.engine import CampaignJob
    from overlong.fuzz.execution.made import MadeInputs

_ADAPTER = Path(__file__).with_name("adapter.py")


def reason_against_surveying(target: Target) -> str:
    """The reason why a target cannot be tested in its own process; empty if it can."""
    return reason_against(target) if isinstance(target, FramedTarget) else "it is no running program"


def why_slow_to_survey(target: Target) -> str:
    """What a user should know if only the core is missing to survey a target fast; empty otherwise."""
    return why_slow(target) if isinstance(target, FramedTarget) else ""


class InProcessSurvey:
    """Asks inputs by number in the process of a shared library, in a child of it."""

    def __init__(self, job: CampaignJob, target: str | tuple[str, ...], made: MadeInputs | None = None) -> None:
        """Start nothing yet.

        Args:
            job: the inputs, the expected answers and the limits.
            target: one of the job's, a function of a shared library.
            made: where inputs are made for several targets; None: its own process makes them.

        Raises:
            TargetError: there is a reason against it.
            OSError: the seeds cannot be kept on disk.
        """
        found = resolve(target, job.limits)
        if not isinstance(found, FramedTarget):
            raise TargetError(
                f"{printable(found.id)}: it cannot be tested in its own process: it is no running program"
            )
        self._seeds = TemporaryFolder("seeds") if job.seeds else None
        self.made = made
        """Where inputs are made for several targets; None: its own process makes them."""
        self._told = Told(job.seed)
        if self._seeds is not None:
            self._told = Told(job.seed, str(self._seeds.path / "seeds"))
            write_seeds(Path(self._told.path), job.seeds)
        self.engine = InProcess(found, job.profile, adapter=_ADAPTER, more=self._told.text)

    def run(self, shard: Shard) -> ShardResult:
        """Ask the inputs of a shard, whose plan is :data:`~.made.PLAN`, its grid 0, and whose numbers are inputs'.

        Raises:
            TargetError: it cannot be asked, or the inputs cannot be kept on disk.
        """
        if self.made is not None:
            try:
                path = self.made.path(shard.first, shard.count)
            except OSError as error:
                raise TargetError(f"the inputs of {shard.key} cannot be kept on disk: {error.strerror}") from error
            self.engine.more = self._told._replace(made=str(path)).text
        return self.engine.run(shard)

    def close(self) -> None:
        """End its processes."""
        self.engine.close()
        if self._seeds is not None:
            self._seeds.close()
