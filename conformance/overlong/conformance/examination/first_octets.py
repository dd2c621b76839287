"""Only the first octets are read: a decoder with a buffer of a fixed size, which may cut a character there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS, RIGHT
from overlong.conformance.examination.atoms import Atom
from overlong.conformance.examination.contexts import fill
from overlong.conformance.examination.least import Setting
from overlong.conformance.examination.rules import Rule
from overlong.conformance.examination.vocabulary import of_any_error
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import DECODE, VALIDATE

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry

_SYMPTOMS = (ACCEPTS, Code.REFUSED)
_ERROR, _LEAST = b"\xff", 4
"""An error of one octet; and a number of octets that no buffer has, so that a decoder without errors is not meant."""


def first_octets(inquiry: Inquiry, octets: bytes) -> bool:
    """Find out whether the decoder answers as if an input had only its first octets; then that is the condition."""
    if inquiry.symptom not in _SYMPTOMS or inquiry.asker.operation not in DECODE + VALIDATE:
        return False
    size = _size(inquiry, len(octets))
    if not size:
        return False
    text, rule = inquiry.text, Rule((Atom("offset", low=size),))
    condition = replace(of_any_error(inquiry), symptom=ACCEPTS, rule=rule, reads=size)
    ends = (*panel.strange(text), *(bytes(map(min, each)) for each in text.products))
    asked = [fill(size - before) + end + b"a" for before in range(_LEAST) for end in ends]
    said = inquiry.ask(asked)
    if Code.REFUSED not in said:  # it does not cut characters: see sentence_of
        return False
    if any(condition.holds(each) != (symptom != RIGHT) for each, symptom in zip(asked, said, strict=True)):
        return False
    inquiry.symptom, inquiry.condition = ACCEPTS, condition
    inquiry.setting = Setting(b"a", size, b"", _ERROR, b"", b"a", 0)
    return True


def _size(inquiry: Inquiry, most: int) -> int:
    """The octets that are read, at most so many; 0: all of them."""

    def reads(size: int) -> bool:
        return inquiry.ask([fill(size) + _ERROR]) != [ACCEPTS]

    low, high = _LEAST, most
    if high <= low or not reads(low) or reads(high):
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reads(middle) else (low, middle)
    return high
