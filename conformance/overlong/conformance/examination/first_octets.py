"""Only the first octets are read: a decoder with a buffer of a fixed size, which may cut a character there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS, RIGHT
from overlong.conformance.examination.contexts import fill
from overlong.conformance.examination.least import Setting
from overlong.conformance.examination.rules import Atom, Rule
from overlong.conformance.examination.vocabulary import of_any_error
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import DECODE, VALIDATE

if TYPE_CHECKING:
    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry

_SYMPTOMS = (ACCEPTS, Code.REFUSED)
_ERROR, _LEAST = b"\xff", 4
"""An error of one octet; and a number of octets that no buffer has, so that a decoder without errors is not meant."""
_RESERVED = 0.5
"""The share of the budget that is kept if the decoder is another one."""


def first_octets(inquiry: Inquiry, octets: bytes) -> bool:
    """Find out whether the decoder answers as if an input had only its first octets; then that is the condition."""
    if inquiry.symptom not in _SYMPTOMS or inquiry.asker.operation not in DECODE + VALIDATE:
        return False
    condition: Condition | None = None
    with inquiry.asker.reserving(_RESERVED):
        condition = _condition(inquiry, _size(inquiry, len(octets)))
    if condition is None:
        return False
    inquiry.symptom, inquiry.condition = ACCEPTS, condition
    inquiry.setting = Setting(b"a", condition.reads, b"", _ERROR, b"", b"a", 0)
    return True


def _condition(inquiry: Inquiry, size: int) -> Condition | None:
    """The condition of a decoder that reads so many octets, and cuts a character there; None if this one does not."""
    text = inquiry.text
    characters = [bytes(map(min, each)) for each in text.products if len(each) > 1]
    if not size or set(inquiry.ask([fill(size - 1) + each for each in characters])) != {Code.REFUSED}:
        return None
    rule = Rule((Atom("offset", low=size),))
    condition = replace(of_any_error(inquiry), symptom=ACCEPTS, rule=rule, reads=size)
    errors, room = panel.strange(text), inquiry.asker.octets // (2 * _LEAST * size)
    ends = (*errors[:: len(errors) // max(room, 1) + 1], *characters)
    asked = [fill(size - before) + end + b"a" for before in range(_LEAST) for end in ends]
    said = inquiry.ask(asked)
    alike = all(condition.holds(each) == (symptom != RIGHT) for each, symptom in zip(asked, said, strict=True))
    return condition if alike else None


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
