"""An input of a campaign, written for a person and for a command line.

Inputs that a fuzzer finds are long where the place of the flaw matters, and then mostly filler.
"""

from __future__ import annotations

import shlex
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, Protocol

from overlong.conformance.results.invocation import reproduce_command
from overlong.conformance.vectors.vector import cut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.vectors.profile import Profile
    from overlong.conformance.vectors.vector import Vector
    from overlong.fuzz.minimise.stored import StoredFinding

_RUN = 5
"""Repetitions from which a run is counted and not written out."""
_LONGEST_UNIT = 4
"""Octets of what repeats: a character."""
_PIECES = 24
"""Pieces of an input that are shown: octets, and runs."""
_TYPED = 100
"""Octets that a command line spells out."""
_FETCHED = "OCTETS"
"""Where those stand that it does not."""


class Found(Protocol):
    """One cause, told by an input that shows it: what regression tests and vectors are made of."""

    @property
    def id(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def section(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def octets(self) -> bytes: ...
    @property
    def chunks(self) -> tuple[int, ...] | None: ...
    @property
    def earlier(self) -> tuple[bytes, ...] | None: ...
    @property
    def expected(self) -> str: ...
    @property
    def observed(self) -> str: ...
    @property
    def is_difference(self) -> bool: ...


def abbreviated(octets: bytes, pieces: int = _PIECES) -> str:
    """``61 x 62  E0 A0 80``: octets in hexadecimal, what repeats counted; long ones keep both ends."""
    if not octets:
        return "(empty)"
    found = list(_pieces(octets))
    if len(found) > pieces:
        found = [*found[: pieces - 4], _Piece(f"… ({len(octets)} octets) …", 0, repeats=True), *found[-4:]]
    text = found[0].text
    for before, piece in pairwise(found):
        text += ("  " if before.repeats or piece.repeats else " ") + piece.text
    return text


def core(vector: Vector) -> tuple[int, int]:
    """Where that begins and ends which is no filler: without what repeats at both ends, characters left whole."""
    pieces, start, end = list(_pieces(vector.octets)), 0, len(vector.octets)
    if len(pieces) > 1 and pieces[0].repeats:
        start = max((each.offset for each in vector.segments if each.offset <= pieces[0].size), default=0)
    if len(pieces) > 1 and pieces[-1].repeats:
        behind = max(end - pieces[-1].size, start + 1)
        end = min((each.offset for each in vector.segments if each.offset >= behind), default=end)
    return start, end


class _Piece(NamedTuple):
    """One octet, or a run of what repeats."""

    text: str
    size: int
    """In octets."""
    repeats: bool


def _pieces(octets: bytes) -> Iterator[_Piece]:
    place = 0
    while place < len(octets):
        for size in range(1, _LONGEST_UNIT + 1):
            unit = octets[place : place + size]
            end = place + size
            while octets.startswith(unit, end):
                end += size
            if (times := (end - place) // size) >= _RUN:
                yield _Piece(f"{unit.hex(' ').upper()} x {times}", end - place, repeats=True)
                place = end
                break
        else:
            yield _Piece(f"{octets[place]:02X}", 1, repeats=False)
            place += 1


def in_chunks(chunks: Sequence[int]) -> str:
    """``1, 2, 0 x 8, 3``: lengths of chunks, what repeats counted."""
    groups = [(length, len(list(same))) for length, same in groupby(chunks)]
    return ", ".join(
        f"{length} x {times}" if times >= _RUN else ", ".join([str(length)] * times) for length, times in groups
    )


def how_given(stored: Found) -> str:
    """The octets, and how they are given if not whole to a new decoder."""
    text = abbreviated(stored.octets)
    if stored.chunks is not None:
        text += f" in chunks of {in_chunks(stored.chunks)}" if stored.chunks else " in no chunk"
    if stored.earlier is not None:
        text += f", after a stream of {abbreviated(b''.join(stored.earlier))}"
        if len(stored.earlier) > 1:
            text += f" in chunks of {in_chunks([len(chunk) for chunk in stored.earlier])}"
    return text


def spelled(stored: Found) -> str:
    """The id that ``overlong replay`` reads: every octet, a dot where a chunk ends, what came earlier before a plus."""
    if stored.chunks is None and stored.earlier is None:
        return stored.octets.hex() or "input/empty"
    chunks = stored.chunks if stored.chunks is not None else (len(stored.octets),)
    text = ".".join(piece.hex() for piece in cut(stored.octets, chunks)) or "empty"
    if stored.earlier is not None:
        text = f"{'.'.join(chunk.hex() for chunk in stored.earlier)}+{text}"
    return f"input/{text}" if text == "empty" else text


def again(stored: StoredFinding, profile: Profile, folder: str) -> str:
    """The command that shows a finding again; of long ones it fetches the octets from the folder."""
    target = words_of(stored.target)
    if len(stored.octets) + sum(map(len, stored.earlier or ())) <= _TYPED:
        return reproduce_command("replay", target, spelled(stored), profile=profile)
    shown = shlex.join(["overlong", "finding", "show", "--format", "id", folder, stored.id])
    return reproduce_command("replay", target, _FETCHED, profile=profile).replace(_FETCHED, f'"$({shown})"', 1)


def explain_command(stored: Found, folder: str) -> str:
    """The command that says what a finding is."""
    return shlex.join(["overlong", "explain", folder, stored.id])


def words_of(target: str) -> str | list[str]:
    """A target as a campaign names it, back to what a command line has: a name, or a command's words."""
    command = target.removeprefix("-- ")
    if command == target:
        return target
    try:
        return shlex.split(command)
    except ValueError:  # it was shortened, or never was one
        return target
