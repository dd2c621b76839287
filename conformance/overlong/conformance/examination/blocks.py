"""Characters across blocks: a decoder that takes an input in blocks of one size, and each block by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import RIGHT
from overlong.conformance.examination.contexts import fill
from overlong.conformance.examination.factors import across
from overlong.conformance.examination.least import Setting
from overlong.conformance.examination.rules import Atom, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry

_LEAST = 8
_TURNS = (1, 2)
"""The ends of blocks that are tried, counted from the first."""
_SHARE = 0.75
"""The part of the budget that one size of blocks may take."""


def across_blocks(inquiry: Inquiry) -> bool:
    """Find blocks of which a character must not cross the end, whatever it is; then that is the condition."""
    setting, text = inquiry.setting, inquiry.text
    if len(setting.core) < 2 or not text.is_well_formed(setting.core):
        return False
    of_many = [product for product in text.products if len(product) > 1]
    one_of_each = {len(product): bytes(map(min, product)) for product in of_many}.values()
    for block in _sizes(len(setting.before), len(setting.core)):
        condition = inquiry.condition_of(of_many, Rule((Atom(across(block).name, low=1, high=1),)))
        if _holds(inquiry, condition, [*_around(block, list(one_of_each))]):
            inquiry.condition = condition
            core = bytes(map(min, of_many[0]))
            inquiry.setting = Setting(b"a", block - 1, b"", core, b"", b"a", 0)
            return True
    return False


def _around(block: int, characters: list[bytes]) -> Iterator[list[bytes]]:
    """Each character at each place around the ends of blocks."""
    for turn in _TURNS:
        for character in characters:
            yield [fill(turn * block - before) + character + b"a" for before in range(len(character) + 1)]


def _holds(inquiry: Inquiry, condition: Condition, parts: list[list[bytes]]) -> bool:
    """True if the condition predicts all answers; most sizes are refuted by the first part."""
    if sum(len(octets) for part in parts for octets in part) > _SHARE * inquiry.asker.octets:
        return False
    for part in parts:
        said = inquiry.ask(part)
        if any(condition.holds(each) != (symptom != RIGHT) for each, symptom in zip(part, said, strict=True)):
            return False
    return True


def _sizes(start: int, length: int) -> list[int]:
    """The sizes of blocks of which an end lies within a character, ascending."""
    ends = range(start + 1, start + length)
    return [size for size in range(_LEAST, ends.stop) if any(end % size == 0 for end in ends)]
