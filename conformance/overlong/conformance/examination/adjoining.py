"""Errors right after others: a replacer that takes a run of errors for one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.factors import AFTER_ERROR, FACTORS
from overlong.conformance.examination.rules import Table
from overlong.conformance.examination.vocabulary import NEARLY, of_any_error
from overlong.conformance.protocol.wire import REPLACING

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry

_PAIRS = 200
_FACTORS = ("offset", "length", "behind", "characters", "errors")


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
    inquiry.table = Table([AFTER_ERROR, *(each for each in FACTORS if each.name in _FACTORS)])
    for octets, wrong in zip(strings, said, strict=True):
        inquiry.note_string(octets, wrong=wrong)
    return True
