"""Adapter for campaigns on shared libraries: ``adapter.py LIBRARY SYMBOLS ABI [trait=value ...]``.

It is ``sweep/adapter.py`` of the conformance tools, with inputs by number instead of grids. Only ``executor.py`` beside
it starts it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # Python must find this package in any place
    if (_root := str(Path(__file__).resolve().parents[3])) not in sys.path:
        sys.path.insert(0, _root)

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.sweep.adapter import main
from overlong.conformance.sweep.caller import Source
from overlong.conformance.vectors.vector import Profile
from overlong.fuzz.generated import Generated, Sparing

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.sweep.compiled import Asking
    from overlong.conformance.sweep.request import WantedSweep
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.layout import Layout


class ByNumber(Source):
    """Inputs by their numbers: the source of strings of this adapter."""

    def strings(self, wanted: WantedSweep) -> Generated:
        """The inputs of a seed and a corpus."""
        return _generated(wanted.speaks, wanted.more)

    def sparing(self, wanted: WantedSweep) -> Callable[[int, int], Sequence[int]]:
        """Decides which inputs to leave out after failures."""
        return Sparing(self.strings(wanted), wanted.first, wanted.first + wanted.count).failed

    def loop(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers, layout: Layout) -> Asking:
        """The loop, for functions at these addresses."""
        from overlong.fuzz.engines.compiled import InputLoop

        return InputLoop(abi, addresses, expected, layout)


@lru_cache(maxsize=2)
def _generated(speaks: str, path: str) -> Generated:
    """Inputs as a file tells of them: a seed and a corpus, in JSON."""
    try:
        seed, seeds = json.loads(Path(path).read_text("ascii"))
    except OSError as error:
        raise TargetError(f"the inputs cannot be read: {error.strerror}") from error
    return Generated(seed, tuple(map(bytes.fromhex, seeds)), Profile(speaks).dialect)


if __name__ == "__main__":
    main(ByNumber())
