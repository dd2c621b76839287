"""Texts for encoders by number: the part of the grammar engine for targets that offer nothing but encoding.

A text has mostly one kind of character, and a few numbers of other kinds in it: others fail only after so many numbers,
or at so many. Lengths are spread evenly over powers of two.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ENCODE_UTF16, big_endian
from overlong.conformance.vectors.encoding import CATEGORY_OF, in_units
from overlong.conformance.vectors.suites.encoding import BEYOND, EDGES
from overlong.conformance.vectors.suites.encoding_long import LETTERS
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.execution.engine import BLOCK
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES, TRAIL_SURROGATES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.fuzz.engines.gathering import Gathering
    from overlong.fuzz.execution.probe import Probe

_AT_A_TIME = 128
"""The texts of a batch; blocks are whole batches."""
_BITS = 11
"""The longest texts have 2^11 numbers and as many again, less one."""
_ODD = 3
"""The most numbers of another kind that are put into a text."""


def text(seed: int, number: int) -> list[int]:
    """The numbers of a text. No lead surrogate stands before a trail: in strings of UTF-16 the two are a pair."""
    random = Random(f"{seed} {number}")  # noqa: S311 (no secret)
    bits = random.randrange(_BITS + 1)
    length = random.randrange(1 << bits, 2 << bits)
    mixed = not random.randrange(4)
    found = random.choices(LETTERS, k=length) if mixed else [random.choice(LETTERS)] * length
    for _ in range(random.randrange(_ODD + 1)):
        found[random.choice((0, length - 1, random.randrange(length)))] = random.choice(
            (
                *(random.choice(EDGES), random.choice(LETTERS), random.randrange(CODE_POINTS.stop)),
                *(random.choice(SURROGATES), random.choice(BEYOND)),
            )
        )
    for place in range(1, length):
        if found[place - 1] in LEAD_SURROGATES and found[place] in TRAIL_SURROGATES:
            found[place] = found[place - 1]
    return found


def vector(numbers: Sequence[int], operation: str) -> Vector:
    """A text as the input for an operation; in UTF-16 without numbers beyond 10FFFF."""
    if operation == ENCODE_UTF16:
        octets = in_units([number for number in numbers if number in CODE_POINTS])
    else:
        octets = big_endian("I", numbers)
    return Vector(CATEGORY_OF[operation], octets)


class Encoders:
    """Asks encoders the texts of a campaign."""

    def __init__(self, seed: int, probes: Sequence[Probe]) -> None:
        self._seed, self.probes = seed, probes

    def take(self, gathering: Gathering, first: int, end: int, progress: Callable[[int], None]) -> None:
        """Ask the texts before the end by every operation; ``progress`` gets the number of finished texts of the unit.

        Raises:
            TargetError: a target cannot be asked (any more).
        """
        start = first
        while start < end:
            following = min((start // _AT_A_TIME + 1) * _AT_A_TIME, end)
            texts = [text(self._seed, number) for number in range(start, following)]
            for probe in self.probes:
                for operation in probe.encodes:
                    vectors = [vector(numbers, operation) for numbers in texts]
                    gathering.asked[probe.id, operation] += len(vectors)
                    gathering.octets += sum(len(each.octets) for each in vectors)
                    for place, (_, finding) in enumerate(probe.ask(vectors, operation)):
                        if finding is not None:
                            gathering.add(finding, probe.id, start + place, start // BLOCK)
            start = following
            progress(start - gathering.unit.first)

    def close(self) -> None:
        """End the targets' processes."""
        for probe in self.probes:
            probe.close()
