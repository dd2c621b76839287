# pyright: basic
"""Inputs that were made once and are asked of several targets: a file that the process of each of them reads.

To make an input costs more than to ask it and judge the answer, so it pays from the second target on. What RFC 3629,
or the dialect, says of each input is kept as well; who declares traits that change it reads the input itself.
"""

from __future__ import annotations

import mmap
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overlong.fuzz.generation.generated import Generated

if TYPE_CHECKING:
    from overlong.fuzz.execution.engine import Job

BEHIND = 64
"""Octets behind the last input, which are read and not used."""
_NUMBERS = 8
"""Octets in front of them for each: its length, and the verdict on it."""


class MadeInputs:
    """Makes the inputs of one range after the other, each once, and keeps the last range in a file."""

    def __init__(self, job: Job) -> None:
        """Make nothing yet.

        Raises:
            OSError: there is no place for files.
        """
        self._generated = Generated(job.seed, job.seeds, job.profile.dialect)
        self._folder = tempfile.TemporaryDirectory(prefix="overlong-inputs-")
        self._path: Path | None = None

    def path(self, first: int, count: int) -> Path:
        """The file with these inputs: octets of each, verdicts on each, and all octets in a row.

        Numbers have 32 bits, in the machine's order.

        Raises:
            OSError: it cannot be written.
        """
        path = Path(self._folder.name, f"{first}-{count}")
        if path != self._path:
            if self._path is not None:
                self._path.unlink()  # who reads it still has it
                self._path = None
            from overlong.fuzz.execution.compiled.loop import verdicts_on

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
        self._folder.cleanup()


@dataclass(frozen=True)
class Made:
    """Such a file, in memory that nobody can write to."""

    memory: mmap.mmap
    first: int
    count: int

    @classmethod
    def of(cls, path: Path) -> Made:
        """Raises: OSError: it cannot be read. ValueError: it holds something else."""
        first, count = map(int, path.name.split("-"))
        with path.open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        if len(memory) < _NUMBERS * count + BEHIND:
            raise ValueError("the file of the inputs is too short")
        return cls(memory, first, count)

    @property
    def address(self) -> int:
        """Where it is."""
        import numpy as np

        return int(np.frombuffer(self.memory, np.uint8).ctypes.data)


class Inputs(NamedTuple):
    """Inputs by their numbers, and those that are made already."""

    generated: Generated
    made: Made | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return self.generated.size

    def string(self, index: int) -> bytes:
        """That of a number."""
        return self.generated.string(index)
