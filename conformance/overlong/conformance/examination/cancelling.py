"""Errors that cancel: a decoder that counts them, and misreads the count."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS
from overlong.conformance.examination.factors import FACTORS
from overlong.conformance.examination.rules import Table
from overlong.conformance.examination.text import ERROR, exactly
from overlong.reference import MaximalSubpart, segments

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry

_COUNTS = range(1, 13)
_LONGEST = 4
_FACTORS = ("total", "offset", "length", "characters")


def cancelling(inquiry: Inquiry) -> bool:
    """Several errors of which each must be there: then the core is one of them, and their number decides."""
    if inquiry.symptom != ACCEPTS or inquiry.asker.streams:
        return False
    setting = inquiry.setting
    every = segments(setting.core, spoken=inquiry.text.spoken)
    flaws = [each for each in every if isinstance(each, MaximalSubpart)]
    alone = len(flaws) < 2
    unit = setting.core if alone else setting.core[flaws[0].offset : flaws[0].offset + flaws[0].length]
    if not unit:
        return False
    together, apart = (inquiry.shows([(unit + gap) * count for count in _COUNTS]) for gap in (b"", b"a"))
    if together != apart or (alone and not _alternates(apart)):
        return False
    number = next((count for count, shown in zip(_COUNTS, apart, strict=True) if shown), 0)
    if not number or all(apart) or (alone and number != 1):
        return False
    _take(inquiry, unit, number)
    return True


def _alternates(said: list[bool]) -> bool:
    """True if one error shows it, and more of them do and do not in turn."""
    return said[0] and not all(said) and said != sorted(said, reverse=True)


def _take(inquiry: Inquiry, unit: bytes, number: int) -> None:
    """Make one of so many errors the core."""
    units = [unit, *(each for each in panel.strange(inquiry.text) if len(each) <= _LONGEST)]
    alike = inquiry.shows([unit * (number - 1) + each for each in units])
    singles = {each[0] for each, shown in zip(units, alike, strict=True) if shown and len(each) == 1}
    word = ERROR if len(singles) > 1 else exactly(unit)
    inquiry.condition = replace(inquiry.condition_of((word,)), subparts=True)
    kept = unit * (number - 1)
    inquiry.setting = replace(
        inquiry.setting, core=unit, filler=b"a", count=0, kept_before=kept, kept_behind=b"", count_behind=0
    )
    inquiry.table = Table([each for each in FACTORS if each.name in _FACTORS])
