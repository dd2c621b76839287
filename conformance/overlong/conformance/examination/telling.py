"""Examples of a condition: the least one, and those that say more: text that is lost, octets that pass a check."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, Question
from overlong.conformance.examination.vocabulary import beginning
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.protocol.wire import REPLACING

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry
    from overlong.conformance.oracle.finding import Finding

_BYPASSES = {
    bytes.fromhex(octets): scalar
    for scalar, forms in ((0x2F, "C0AF E080AF F08080AF"), (0x3C, "C0BC E080BC"), (0, "C080 E08080"))
    for octets in forms.split()
}
"""Other forms of the characters that programs look for: a slash, a bracket, the end of a string."""
_COUNTED = (Code.REPLACEMENT_COUNT, Code.OFFSET, Code.LENGTH, Code.INCOMPLETE)
"""What is merely counted otherwise."""


_TRIED = 3
"""The most cores that are asked for a lesser example."""


def least_finding(inquiry: Inquiry) -> Finding | None:
    """The finding of the least example; None if it does not show any more.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    if not inquiry.parted or not inquiry.setting.octets:
        return None
    setting, asker = inquiry.setting, inquiry.asker
    words = () if inquiry.known.subparts else inquiry.known.words
    cores = sorted((bytes(map(min, product)) for product in words if product), key=lambda each: (len(each), each))
    for core in cores[:_TRIED]:
        if (len(core), core) < (len(setting.core), setting.core):
            question = Question(setting.with_core(core))
            if inquiry.known.holds(question) and (found := asker.finding(question)) is not None:
                return found
    return asker.finding(Question(setting.octets))


def telling(inquiry: Inquiry, least: Finding | None) -> Finding | None:
    """A finding that says more than the least one; None if that says enough.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    if least is None or not inquiry.parted:
        return None
    for octets in _candidates(inquiry, least):
        if octets == least.vector.octets or not inquiry.known.holds(inquiry.question(octets)):
            continue
        found = inquiry.asker.finding(inquiry.question(octets))
        if found is not None and found.code not in _COUNTED and not _is_replaced(found):
            return found
    return None


def _is_replaced(found: Finding) -> bool:
    """True if the octets came out, but not as the character that they are another form of."""
    scalars = [scalar for octets, scalar in _BYPASSES.items() if octets in found.vector.octets]
    values = found.observed.values if isinstance(found.observed, Accepted) else None
    return values is not None and any(scalar not in values for scalar in scalars)


def _candidates(inquiry: Inquiry, least: Finding) -> list[bytes]:
    setting, condition = inquiry.setting, inquiry.known
    if condition.symptom == ACCEPTS and condition.commits:
        lost = [each for word in condition.words for each in beginning(inquiry, word, condition.commits)]
        return [setting.with_core(each) for each in lost[:1]]
    if condition.symptom == ACCEPTS:
        return [] if setting.core in _BYPASSES else [setting.with_core(each) for each in _BYPASSES]
    if inquiry.asker.operation in REPLACING and least.code in _COUNTED:
        return [setting.octets + b"a", b"a" + setting.octets, setting.octets + "é".encode()]
    return []
