"""Finds the extent of a divergence: the octets that show it in place of those of its example, and other kinds."""

from __future__ import annotations

import random
from contextlib import closing
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from corpora.survey.faults import KINDS_OF, NUMBERS, VALIDATION, name_of
from corpora.survey.kept import announced_by
from corpora.survey.records.known import documented
from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.reference import DEFECTS
from overlong.reference.automaton import OCTETS, OctetClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.target import Target
    from overlong.conformance.results.model import Cause

_ALL = 8192
"""The most strings that are all tested; from more, this many are drawn."""
_LONGEST = 8
_LIMITS = Limits(timeout=120.0, memory=0)
"""Several decoders share the machine, and some reserve more addresses than the usual limit allows."""
_BROKEN = ("80", "C2", "C2 41", "FE")
_KINDS = {NUMBERS: [*map(bytes.fromhex, KINDS_OF)], VALIDATION: [*map(bytes.fromhex, (*KINDS_OF, *_BROKEN))]}
"""One string of each kind that a fault may let pass."""


def extent(target: str, cause: Cause) -> str:
    """``all of `F5-F7 80-BF 80-BF 80-BF` (8 192 of 786 432 tested)``: the extent of a divergence; empty if unknown.

    Each octet of the example is replaced by its neighbours while the decoder diverges in the same way; then strings of
    all these octets are tested together. The comparison decides what diverges, as in any run. Of a fault that may let
    several kinds of strings pass, others that pass are named: ``; likewise `ED A0 80`, `F4 90 80 80```.

    Args:
        target: its name.
        cause: a cause of whole inputs; for streams and encoders there is no result.

    Raises:
        TargetError: the target cannot be asked.
    """
    if cause.chunks is not None or cause.earlier is not None or not 0 < len(cause.octets) <= _LONGEST:
        return ""
    with closing(resolve(target, _LIMITS)) as opened:
        opened.open()
        places = [_run(opened, cause, place) for place in range(len(cause.octets))]
        asked = _drawn(places)
        wrong = _wrong(opened, cause, asked)
        others = [each for each in _KINDS.get(name_of(cause), ()) if each not in asked]
        passing = _passing(target, opened, cause, others) if others else ()
    size = prod(map(len, places))
    if not wrong or (size == 1 and not passing):  # only suites judge an unknown error mode
        return ""
    how_many = f"{len(asked):,} of {size:,} tested" if len(asked) < size else f"{size:,} tested"
    pattern = " ".join(str(OctetClass(tuple(sorted(octets)))) for octets in places)
    part = "all" if len(wrong) == len(asked) else f"{len(wrong):,}"
    likewise = ", ".join(f"`{each.hex(' ').upper()}`" for each in others if each in passing)
    said = f"{part} of `{pattern}` ({how_many.replace(',', ' ')})".replace(",", " ")
    return f"{said}; likewise {likewise}" if likewise else said


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
    return {octets for octets, code in _found(target, cause, strings) if code == cause.code}


def _passing(name: str, target: Target, cause: Cause, strings: Sequence[bytes]) -> set[bytes]:
    """The ill-formed strings that a target of this name accepts, but for what its documentation announces."""
    words = documented(name)
    found = _found(target, cause, strings)
    return {octets for octets, code in found if code in DEFECTS and not announced_by(words, code)}


def _found(target: Target, cause: Cause, strings: Sequence[bytes]) -> Iterator[tuple[bytes, str]]:
    for answered in target.observe([(Batch.of_strings("input", strings), cause.operation)]):
        for finding in compare_batch(answered, target.greeting):
            yield finding.vector.octets, finding.code
