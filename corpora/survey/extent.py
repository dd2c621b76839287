"""Finds the extent of a divergence: the octets that show it in place of those of its example."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.reference.automaton import OCTETS, OctetClass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.model import Cause

_ALL = 8192
"""The most strings that are all tested; from more, this many are drawn."""
_LONGEST = 8


def extent(target: str, cause: Cause) -> str:
    """``all of `F5-F7 80-BF 80-BF 80-BF` (8 192 of 786 432 tested)``: the extent of a divergence; empty if unknown.

    Each octet of the example is replaced by its neighbours while the decoder diverges in the same way; then strings of
    all these octets are tested together. The comparison decides what diverges, as in any run.

    Args:
        target: its name.
        cause: a cause of whole inputs; for streams and encoders there is no result.

    Raises:
        TargetError: the target cannot be asked.
    """
    if cause.chunks is not None or cause.earlier is not None or not 0 < len(cause.octets) <= _LONGEST:
        return ""
    with closing(resolve(target)) as opened:
        opened.open()
        places = [_run(opened, cause, place) for place in range(len(cause.octets))]
        asked = _drawn(places)
        wrong = _wrong(opened, cause, asked)
    if not wrong:  # only suites judge an unknown error mode
        return ""
    size = prod(map(len, places))
    how_many = f"{len(asked):,} of {size:,} tested" if len(asked) < size else f"{size:,} tested"
    pattern = " ".join(str(OctetClass(tuple(sorted(octets)))) for octets in places)
    part = "all" if len(wrong) == len(asked) else f"{len(wrong):,}"
    return f"{part} of `{pattern}` ({how_many.replace(',', ' ')})".replace(",", " ")


def _run(target: Target, cause: Cause, place: int) -> list[int]:
    """The contiguous octets around the example's with which the target diverges in the same way."""
    octets = cause.octets
    strings = [octets[:place] + bytes([octet]) + octets[place + 1 :] for octet in OCTETS]
    wrong = {string[place] for string in _wrong(target, cause, strings)} | {octets[place]}
    low = high = octets[place]
    while low - 1 in wrong:
        low -= 1
    while high + 1 in wrong:
        high += 1
    return list(range(low, high + 1))


def _drawn(places: Sequence[Sequence[int]]) -> list[bytes]:
    """Strings with these octets: all, or the corners and a number of others, the same each time."""
    if prod(map(len, places)) <= _ALL:
        return [bytes(octets) for octets in product(*places)]
    corners = {bytes(octets) for octets in product(*({octets[0], octets[-1]} for octets in places))}
    draw = random.Random(0)  # noqa: S311 (no secret)
    while len(corners) < _ALL:
        corners.add(bytes(draw.choice(octets) for octets in places))
    return sorted(corners)


def _wrong(target: Target, cause: Cause, strings: Sequence[bytes]) -> set[bytes]:
    """The strings with which a target diverges under the code of a cause."""
    found = set[bytes]()
    for answered in target.observe([(Batch.of_strings("input", strings), cause.operation)]):
        for finding in compare_batch(answered, target.greeting):
            if finding.code == cause.code:
                found.add(finding.vector.octets)
    return found
