# pyright: basic
"""Inputs of a range made once for several targets, in a file that the process of each reads (``made.py``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.support.temporary import TemporaryFolder
from overlong.fuzz.execution.made import BEHIND
from overlong.fuzz.generation.generated import Generated

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.fuzz.execution.engine import CampaignJob


class MadeInputs:
    """Makes the inputs of one range after the other, each once, and keeps the last range in a file."""

    def __init__(self, job: CampaignJob) -> None:
        """Make nothing yet.

        Raises:
            OSError: there is no place for files.
        """
        self._generated = Generated(job.seed, job.seeds, job.profile.dialect)
        self._folder = TemporaryFolder("inputs")
        self._path: Path | None = None

    def path(self, first: int, count: int) -> Path:
        """The file with these inputs: octets of each, verdicts on each, and all octets in a row.

        Numbers have 32 bits, in the machine's order.

        Raises:
            OSError: it cannot be written.
        """
        path = self._folder.path / f"{first}-{count}"
        if path != self._path:
            if self._path is not None:
                self._path.unlink()  # a process that has it open can still read it
                self._path = None
            from overlong.fuzz.execution.compiled import verdicts_on

            lengths, octets = self._generated.columns(first, count)
            verdicts = verdicts_on(lengths, octets, self._generated.spoken.automaton)
            with path.open("wb") as file:
                file.write(lengths)
                file.write(verdicts)
                file.write(octets)
                file.write(bytes(BEHIND))
            self._path = path
        return path

    def close(self) -> None:
        """Remove what is there."""
        self._folder.close()
