"""What an adapter is told of the inputs that it is to make: a seed, and the file in which the parts of a corpus are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import big_endian
from overlong.conformance.targets.adapters.python import pieces

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAN = "generated"
"""The plan of a shard whose strings are inputs, by their numbers."""


class Told(NamedTuple):
    """As JSON, the words of its own in a request for a shard."""

    seed: int
    path: str = ""
    """Of the file; empty if there are no seeds."""
    made: str = ""
    """The path of a file with the inputs, if they are made; see ``made.py``."""

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
