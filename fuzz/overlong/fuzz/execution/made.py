# pyright: basic
"""Inputs as the process of a target is told of them: a seed and a corpus; or a file of those that were made once.

Such a file is for several targets, and the process of each reads it: to make an input costs more than to ask it and
judge the answer. What RFC 3629, or the dialect, says of each input is kept as well; a target whose traits change
that reads the input itself.
"""

from __future__ import annotations

import json
import mmap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.units import big_endian
from overlong.conformance.support.temporary import TemporaryFolder
from overlong.conformance.targets.adapters.serving import pieces
from overlong.fuzz.generation.generated import Generated
from overlong.reference.core import core
from overlong.reference.shift import ShiftAutomaton

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.execution.engine import CampaignJob
    from overlong.reference.automaton import Automaton


PLAN = "generated"
"""The plan of a shard whose strings are inputs, by their numbers."""
BEHIND = 64
"""Octets behind the last input, which are read and not used."""
NUMBER = 4
"""Octets of the two numbers in front of them for each: first all lengths, then the verdicts."""


@dataclass(frozen=True)
class Made:
    """A file of made inputs, in memory that is read-only."""

    memory: mmap.mmap
    first: int
    count: int

    @classmethod
    def of(cls, path: Path) -> Made:
        """Raises: OSError: it cannot be read. ValueError: it holds something else."""
        first, count = map(int, path.name.split("-"))
        with path.open("rb") as file:
            memory = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        if len(memory) < 2 * NUMBER * count + BEHIND:
            raise ValueError("the file of the inputs is too short")
        return cls(memory, first, count)

    @property
    def address(self) -> int:
        """Where it is."""
        import numpy as np

        return int(np.frombuffer(self.memory, np.uint8).ctypes.data)

    def before(self, number: int) -> int:
        """Octets there before the ones of that input."""
        import numpy as np

        return 2 * NUMBER * self.count + int(np.frombuffer(self.memory, np.uint32, number - self.first).sum())


class Inputs(NamedTuple):
    """Inputs by their numbers, and those that are made already."""

    generated: Generated
    made: Made | None = None

    @property
    def size(self) -> int:
        """How many there are."""
        return self.generated.size

    def string(self, index: int) -> bytes:
        """The string of a number."""
        return self.generated.string(index)


class Told(NamedTuple):
    """What a request for a shard tells of a file, in JSON."""

    seed: int
    path: str = ""
    """Path of the file; empty if there are no seeds."""
    made: str = ""
    """The path of a file with the inputs, if they are made; see :class:`MadeInputs`."""

    @classmethod
    def parse(cls, text: str) -> Told:
        """What :attr:`text` says."""
        seed, path, made = json.loads(text)
        return cls(seed, path, made)

    @property
    def text(self) -> str:
        return json.dumps(self)

    def seeds(self) -> tuple[bytes, ...]:
        """The inputs of the corpus.

        Raises:
            OSError: the file cannot be read.
        """
        return tuple(pieces(Path(self.path).read_bytes())) if self.path else ()


def write_seeds(path: Path, seeds: Sequence[bytes]) -> None:
    """Write the file.

    Raises:
        OSError: it cannot be written.
    """
    path.write_bytes(big_endian("I", [len(seeds), *map(len, seeds)]) + b"".join(seeds))


def verdicts_on(lengths: Sequence[int], octets: bytes, automaton: Automaton) -> bytes:
    """What an automaton says of inputs in a row: 32 bits for each, as the loop reads them.

    Raises:
        ValueError: the automaton is too large.
    """
    import numpy as np

    words, numbers, inputs = ShiftAutomaton(automaton), np.asarray(lengths, np.uint32), np.frombuffer(octets, np.uint8)
    found = np.empty(len(numbers), np.uint32)
    addresses = (each.ctypes.data for each in (numbers, inputs, found))
    core()("judge_inputs", len(numbers), *addresses, words.address)
    return found.tobytes()


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
