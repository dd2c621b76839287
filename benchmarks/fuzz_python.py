"""The cost of a campaign on a Python decoder: inputs a second of the grammar engine, divided by those of a bare loop.

The bare loop calls the same decoder on prepared inputs, in one process, catches its exceptions, and compares nothing.
The engine makes the inputs, sends them to the decoder's own process, judges every answer, and asks some inputs by other
operations. Bound: 0.5. Each ratio is of one round: both are measured right after one another, and a machine that others
load is as slow for both; but the engine is two processes, so it wants a core to spare for the harness.

    python benchmarks/fuzz_python.py [ROUNDS]
"""

from __future__ import annotations

import os
import tempfile
import time
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.generated import BLOCK, Generated
from runner import arguments, bare_loop, figure, load

if TYPE_CHECKING:
    from collections.abc import Callable

BOUND = 0.5
WARM, COUNT = 128 * BLOCK, 64 * BLOCK
"""Inputs of a first unit, in which the compiler starts and more is sampled; and of a round."""

SOURCE = '''
def by_decode(octets):
    return octets.decode("utf-8")


def in_python(octets):
    """Bit by bit, as many decoders have it."""
    place, characters = 0, []
    while place < len(octets):
        lead = octets[place]
        if lead < 0x80:
            size, value, least = 1, lead, 0
        elif lead >> 5 == 6:
            size, value, least = 2, lead & 0x1F, 0x80
        elif lead >> 4 == 14:
            size, value, least = 3, lead & 0x0F, 0x800
        elif lead >> 3 == 30:
            size, value, least = 4, lead & 0x07, 0x10000
        else:
            raise ValueError(place)
        for octet in octets[place + 1 : place + size]:
            if octet >> 6 != 2:
                raise ValueError(place)
            value = value << 6 | octet & 0x3F
        if place + size > len(octets) or value < least or value > 0x10FFFF or value >> 11 == 27:
            raise ValueError(place)
        characters.append(chr(value))
        place += size
    return "".join(characters)
'''


def main() -> None:
    rounds = arguments(__doc__, rounds=5).rounds
    folder = Path(tempfile.mkdtemp())
    (folder / "decoders.py").write_text(SOURCE, "ascii")
    decoders: dict[str, Callable[[bytes], str]] = {}
    exec(SOURCE, decoders)  # noqa: S102 (the very source that the target runs)
    lengths, octets = Generated(0).columns(WARM, COUNT)
    inputs = [octets[start:end] for start, end in pairwise(accumulate(lengths, initial=0))]
    print(f"{os.cpu_count()} cores, load {load():.1f}; {COUNT} inputs of {len(octets) / COUNT:.0f} octets")
    for name in ("by_decode", "in_python"):
        engine = open_engine(CampaignJob((f"py:{folder / 'decoders.py'}:{name}",)))
        try:
            engine.run(range(WARM))
            ratios = list[float]()
            for _ in range(rounds):
                loop = len(inputs) / bare_loop(inputs, decoders[name])
                began = time.perf_counter()
                result = engine.run(range(WARM, WARM + COUNT))
                speed = COUNT / (time.perf_counter() - began)
                assert not result.divergences, result.divergences[0]
                ratios.append(speed / loop)
                print(f"{name}: {speed:9.0f} a second, bare {loop:9.0f}: {speed / loop:.2f}")
        finally:
            engine.close()
        figure(f"campaign on Python, {name}, as fast as a bare loop", ratios, at_least=BOUND)


if __name__ == "__main__":
    main()
