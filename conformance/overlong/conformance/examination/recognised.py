"""Causes that a few strings show at once, without words and surroundings that are learned.

A decoder with a buffer of a fixed size reads only the first octets, and may cut a character there. A replacer takes a
run of errors for one. A decoder counts errors, and misreads the count, so that some cancel. And a decoder takes an
input in blocks of one size, and each by itself.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS, RIGHT
from overlong.conformance.examination.contexts import fill
from overlong.conformance.examination.factors import AFTER_ERROR, FACTORS, across
from overlong.conformance.examination.inquiry import VERDICTS
from overlong.conformance.examination.least import Setting
from overlong.conformance.examination.rules import Atom, Table
from overlong.conformance.examination.text import ERROR, exactly
from overlong.conformance.examination.words import NEARLY, of_any_error
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import DECODE, REPLACING, VALIDATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry

_ERROR = b"\xff"
_LEAST_BUFFER, _LEAST_BLOCK = 4, 8
"""No buffer has so few octets, so that a decoder without errors is not meant, and no block has fewer."""
_RESERVED = 0.5
"""The share of the budget that is kept if the decoder has no buffer."""
_PAIRS = 200
_COUNTS = range(1, 13)
_LONGEST = 4
_OF_RUNS = ("offset", "length", "behind", "characters", "errors")
_OF_COUNTS = ("total", "offset", "length", "characters")
_TURNS = (1, 2)
"""The ends of blocks that are tried, counted from the first."""
_SHARE = 0.75
"""The part of the budget that one size of blocks may take."""


def _foretells(inquiry: Inquiry, condition: Condition, strings: Sequence[bytes]) -> bool:
    """True if a condition predicts all answers."""
    said = inquiry.ask(strings)
    return all(condition.holds(each) == (symptom != RIGHT) for each, symptom in zip(strings, said, strict=True))


def first_octets(inquiry: Inquiry, octets: bytes) -> bool:
    """Find out whether the decoder answers as if an input had only its first octets; then that is the condition."""
    if inquiry.symptom not in VERDICTS or inquiry.asker.operation not in DECODE + VALIDATE:
        return False
    condition: Condition | None = None
    with inquiry.asker.reserving(_RESERVED):
        condition = _reading_first(inquiry, _size_of_buffer(inquiry, len(octets)))
    if condition is None:
        return False
    inquiry.symptom, inquiry.condition = ACCEPTS, condition
    inquiry.setting = Setting(_ERROR, count=condition.reads)
    return True


def _reading_first(inquiry: Inquiry, size: int) -> Condition | None:
    """The condition of a decoder that reads so many octets, and cuts a character there; None if this one does not."""
    text = inquiry.text
    characters = [bytes(map(min, each)) for each in text.products if len(each) > 1]
    if not size or set(inquiry.ask([fill(size - 1) + each for each in characters])) != {Code.REFUSED}:
        return None
    rule = (Atom("offset", low=size),)
    condition = replace(of_any_error(inquiry), symptom=ACCEPTS, rule=rule, reads=size)
    errors, room = panel.strange(text), inquiry.asker.octets // (2 * _LEAST_BUFFER * size)
    ends = (*errors[:: len(errors) // max(room, 1) + 1], *characters)
    asked = [fill(size - before) + end + b"a" for before in range(_LEAST_BUFFER) for end in ends]
    return condition if _foretells(inquiry, condition, asked) else None


def _size_of_buffer(inquiry: Inquiry, most: int) -> int:
    """The octets that are read, at most so many; 0: all of them."""

    def reads(size: int) -> bool:
        return inquiry.ask([fill(size) + _ERROR]) != [ACCEPTS]

    low, high = _LEAST_BUFFER, most
    if high <= low or not reads(low) or reads(high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reads(middle) else (low, middle)
    return high


def adjoining(inquiry: Inquiry) -> bool:
    """Two errors that show it together, whatever they are, and not apart: then the core is the later one."""
    setting, text = inquiry.setting, inquiry.text
    if inquiry.asker.operation not in REPLACING or len(text.flaws(setting.core)) < 2:
        return False
    ones = [each for each in panel.strange(text) if text.flaws(each) == [(0, len(each))]]
    pairs = [
        (one, other)
        for one, other in product(ones, ones)
        if text.flaws(one + other) == [(0, len(one)), (len(one), len(one + other))]
    ]
    pairs = pairs[:: -(-len(pairs) // _PAIRS) or 1]
    strings = [setting.with_core(gap.join(pair)) for gap in (b"", b"a") for pair in pairs]
    said = inquiry.wrong(strings)
    together, apart = said[: len(pairs)], said[len(pairs) :]
    if sum(together) < NEARLY * len(pairs) or sum(apart) > (1 - NEARLY) * len(pairs):
        return False
    first, last = text.flaws(setting.core)[-2:]
    inquiry.condition = of_any_error(inquiry)
    inquiry.setting = replace(
        setting, core=setting.core[slice(*last)], kept_before=setting.kept_before + setting.core[slice(*first)]
    )
    inquiry.several = True
    inquiry.table = Table([AFTER_ERROR, *(each for each in FACTORS if each.name in _OF_RUNS)])
    for octets, wrong in zip(strings, said, strict=True):
        inquiry.note_string(octets, wrong=wrong)
    return True


def cancelling(inquiry: Inquiry) -> bool:
    """Several errors of which each must be there: then the core is one of them, and their number decides."""
    if inquiry.symptom != ACCEPTS or inquiry.asker.streams:
        return False
    core = inquiry.setting.core
    flaws = inquiry.text.flaws(core)
    alone = len(flaws) < 2
    unit = core if alone else core[slice(*flaws[0])]
    if not unit:
        return False
    together, apart = (inquiry.shows([(unit + gap) * count for count in _COUNTS]) for gap in (b"", b"a"))
    if together != apart or (alone and not _alternates(apart)):
        return False
    number = next((count for count, shown in zip(_COUNTS, apart, strict=True) if shown), 0)
    if not number or all(apart) or (alone and number != 1):
        return False
    _take_one(inquiry, unit, number)
    return True


def _alternates(said: list[bool]) -> bool:
    """True if one error shows it, and more of them do and do not in turn."""
    return said[0] and not all(said) and said != sorted(said, reverse=True)


def _take_one(inquiry: Inquiry, unit: bytes, number: int) -> None:
    """Make one of so many errors the core."""
    units = [unit, *(each for each in panel.strange(inquiry.text) if len(each) <= _LONGEST)]
    alike = inquiry.shows([unit * (number - 1) + each for each in units])
    singles = {each[0] for each, shown in zip(units, alike, strict=True) if shown and len(each) == 1}
    word = ERROR if len(singles) > 1 else exactly(unit)
    inquiry.condition = replace(inquiry.condition_of((word,)), subparts=True)
    kept = unit * (number - 1)
    inquiry.setting = Setting(unit, kept_before=kept, filler_behind=inquiry.setting.filler_behind)
    inquiry.table = Table([each for each in FACTORS if each.name in _OF_COUNTS])


def across_blocks(inquiry: Inquiry) -> bool:
    """Find blocks of which a character must not cross the end, whatever it is; then that is the condition."""
    setting, text = inquiry.setting, inquiry.text
    if len(setting.core) < 2 or not text.is_well_formed(setting.core):
        return False
    of_many = [product for product in text.products if len(product) > 1]
    one_of_each = {len(product): bytes(map(min, product)) for product in of_many}.values()
    for block in _sizes_of_blocks(len(setting.before), len(setting.core)):
        condition = inquiry.condition_of(of_many, (Atom(across(block).name, low=1, high=1),))
        if _holds_for_blocks(inquiry, condition, [*_around_ends(block, list(one_of_each))]):
            inquiry.condition = condition
            inquiry.setting = Setting(bytes(map(min, of_many[0])), count=block - 1)
            return True
    return False


def _around_ends(block: int, characters: list[bytes]) -> Iterator[list[bytes]]:
    """Each character at each place around the ends of blocks."""
    for turn in _TURNS:
        for character in characters:
            yield [fill(turn * block - before) + character + b"a" for before in range(len(character) + 1)]


def _holds_for_blocks(inquiry: Inquiry, condition: Condition, parts: list[list[bytes]]) -> bool:
    """True if the condition predicts all answers; most sizes are refuted by the first part."""
    if sum(len(octets) for part in parts for octets in part) > _SHARE * inquiry.asker.octets:
        return False
    return all(_foretells(inquiry, condition, part) for part in parts)


def _sizes_of_blocks(start: int, length: int) -> list[int]:
    """The sizes of blocks of which an end lies within a character, ascending."""
    ends = range(start + 1, start + length)
    return [size for size in range(_LEAST_BLOCK, ends.stop) if any(end % size == 0 for end in ends)]
