"""The words of a condition: which octets show the same in the setting of the example."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel, words
from overlong.conformance.examination.asking import ACCEPTS, RIGHT
from overlong.conformance.examination.question import Question
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import REPLACING
from overlong.reference import MaximalSubpart, segments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry

_PARTS = 6
"""The most kinds of words that one condition joins."""
_NEARLY = 0.95
"""The share of kinds of errors that must show it, if all do."""
_CHECKS, _CHECKS_OF_MORE, _CHECKS_COARSE = 200, 100, 20
_LONGER = 16


def look_behind(inquiry: Inquiry) -> None:
    """Find whether a later error gets another offset for this cause: a decoder may look at the whole input first."""
    if inquiry.offsets and inquiry.symptom in (ACCEPTS, Code.REFUSED):
        later = [inquiry.setting.octets + each for each in (b"\xff", b"a\xff", b"aaaa\x80")]
        inquiry.offsets = any(symptom != RIGHT for symptom in inquiry.ask(later))


def learn(inquiry: Inquiry) -> None:
    """Learn the words of the example's length."""
    core = inquiry.setting.core
    if not core:
        inquiry.condition = inquiry.condition_of(((),))
    elif _any_error(inquiry):
        every = inquiry.condition_of(((frozenset(range(0x80, 0x100)),),))
        inquiry.condition = replace(every, subparts=True)
    else:
        octets = words.ALL if inquiry.fine else panel.edges(inquiry.text)
        checks = _CHECKS if inquiry.fine else _CHECKS_COARSE
        found = _learned(inquiry, core, checks, octets)
        inquiry.condition = _read_first(inquiry, inquiry.condition_of(found.products))


def widen(inquiry: Inquiry) -> None:
    """Add octets that are wrong in the same setting: errors of other kinds, other refused characters."""
    setting = inquiry.setting
    if not setting.core or not inquiry.fine:
        return
    of_characters = inquiry.text.is_well_formed(setting.core)
    tried = panel.notable(inquiry.text) if of_characters else panel.strange(inquiry.text)
    strings = {each: setting.with_core(each) for each in tried}
    symptoms = dict(zip(strings, inquiry.asker.ask([Question(each) for each in strings.values()]), strict=True))
    for _ in range(_PARTS):
        more = [
            each
            for each, octets in strings.items()
            if symptoms[each] == inquiry.symptom and not inquiry.known.holds(inquiry.question(octets))
        ]
        if not more:
            return
        found = _learned(inquiry, min(more, key=lambda each: (len(each), each)), _CHECKS_OF_MORE)
        if not found.products:
            return
        joined = [*inquiry.known.words, *found.products]
        inquiry.condition = replace(inquiry.known, words=tuple(dict.fromkeys(joined)))


def _learned(inquiry: Inquiry, core: bytes, checks: int, octets: tuple[int, ...] = words.ALL) -> words.Words:
    setting = inquiry.setting

    def shows(some: Sequence[bytes]) -> list[bool]:
        return inquiry.shows([setting.with_core(each) for each in some])

    return words.learned(core, shows, inquiry.random, checks=checks, octets=octets)


def _any_error(inquiry: Inquiry) -> bool:
    """True if errors of every kind show it: then an error is what matters, and not its octets."""
    text, setting = inquiry.text, inquiry.setting
    if inquiry.asker.operation not in REPLACING or text.is_well_formed(setting.core):
        return False
    tried = [
        each
        for each in panel.strange(text)
        if sum(isinstance(found, MaximalSubpart) for found in segments(each + setting.behind, spoken=text.spoken)) == 1
    ]
    return sum(inquiry.wrong([setting.with_core(each) for each in tried])) >= _NEARLY * len(tried)


def _read_first(inquiry: Inquiry, condition: Condition) -> Condition:
    """The condition, which notes whether the decoder reads the words before characters that begin with them."""
    if inquiry.symptom != ACCEPTS:
        return condition
    longer = [
        bytes(
            min(octets & first) if place < len(word) and (first := word[place]) else min(octets)
            for place, octets in enumerate(product)
        )
        for word in condition.words
        for product in inquiry.text.products
        if len(word) < len(product) and all(one & other for one, other in zip(word, product, strict=False))
    ]
    asked = [Question(inquiry.setting.with_core(each)) for each in longer[:_LONGER]]
    return replace(condition, first=any(each == Code.REFUSED for each in inquiry.asker.ask(asked)))
