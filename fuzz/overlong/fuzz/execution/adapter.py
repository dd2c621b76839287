"""Adapter for campaigns on shared libraries: ``adapter.py LIBRARY SYMBOLS ABI [trait=value ...]``.

It is ``sweep/adapter.py`` of the conformance tools, with inputs by number instead of grids. Only ``in_process.py``
beside it starts it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # Python must find this package in any place
    if (_root := str(Path(__file__).resolve().parents[3])) not in sys.path:
        sys.path.insert(0, _root)

from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.sweep.adapter import main
from overlong.conformance.vectors.profile import Profile
from overlong.fuzz.execution.made import PLAN, Inputs, Made, Told
from overlong.fuzz.execution.sparing import Sparing
from overlong.fuzz.generation.generated import Generated

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.expectation import ExpectedAnswers
    from overlong.conformance.sweep.compiled import Asking
    from overlong.conformance.sweep.request import WantedSweep
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout


class ByNumber:
    """Inputs by their numbers: the source of strings of this adapter."""

    def strings(self, wanted: WantedSweep) -> Inputs:
        """The inputs of a seed and a corpus."""
        if (wanted.plan, wanted.grid) != (PLAN, 0):
            raise TargetError(f"inputs are tested as the plan '{PLAN}'")
        return _inputs(wanted.speaks, wanted.more)

    def sparing(self, wanted: WantedSweep) -> Callable[[int, int], Sequence[int]]:
        """Decides which inputs to leave out after failures."""
        return Sparing(self.strings(wanted).generated, wanted.first, wanted.first + wanted.count).failed

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asking:
        """The loop, for functions at these addresses."""
        from overlong.fuzz.execution.compiled import InputLoop

        return InputLoop(abi, addresses, expected, layout)


@lru_cache(maxsize=2)
def _generated(speaks: str, seed: int, path: str) -> Generated:
    return Generated(seed, Told(seed, path).seeds(), Profile(speaks).dialect)


@lru_cache(maxsize=2)
def _inputs(speaks: str, more: str) -> Inputs:
    told = Told.parse(more)
    try:
        made = Made.of(Path(told.made)) if told.made else None
        return Inputs(_generated(speaks, told.seed, told.path), made)
    except OSError as error:
        raise TargetError(f"the inputs cannot be read: {error.strerror}") from error


if __name__ == "__main__":
    main(ByNumber())
