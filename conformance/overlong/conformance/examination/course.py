"""The course of one examination: from an example to its condition, a check by fresh strings, and what to show."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel
from overlong.conformance.examination.asking import ACCEPTS, RIGHT, OutOfBudget, Question
from overlong.conformance.examination.calls import carried, carries, recalled
from overlong.conformance.examination.factors import ADDRESS
from overlong.conformance.examination.least import BURDEN, blanked, parted, simplified
from overlong.conformance.examination.recognised import across_blocks, adjoining, cancelling, first_octets
from overlong.conformance.examination.surroundings import decide, of_another_cause, repeat, vary
from overlong.conformance.examination.text import exactly
from overlong.conformance.examination.words import beginning, learn, look_behind, mistaken, reread, widen
from overlong.conformance.protocol.observation import Accepted, Code
from overlong.conformance.protocol.wire import REPLACING

if TYPE_CHECKING:
    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry
    from overlong.conformance.oracle.finding import Finding

_ROUNDS = 8
_EACH, _EACH_COARSE = 240, 30
"""Fresh questions in a round."""
_RESERVED = 0.25
"""The share of the budget that is kept for other words and for rounds when surroundings are varied."""
_STEADY = 2
"""After so many rounds a rule that does not change is not mended any more."""
_TRIES = 6
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


def experiment(inquiry: Inquiry, octets: bytes, place: int | None = None) -> Condition | None:
    """The condition of a divergence; None if the example does not show it again.

    Args:
        inquiry: nothing has been asked yet.
        octets: the example.
        place: where the target says that it refused well-formed text.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    try:
        _experiments(inquiry, octets, place)
    except OutOfBudget:
        if inquiry.condition is not None:
            decide(inquiry)
    return inquiry.condition


def _experiments(inquiry: Inquiry, octets: bytes, place: int | None) -> None:
    octets = _placed(inquiry, octets)
    if not recalled(inquiry, octets) or (inquiry.recalls and carries(inquiry)):
        return
    if first_octets(inquiry, octets):
        return
    shows, text = inquiry.shows, inquiry.text
    if inquiry.asker.operation in REPLACING:
        octets = blanked(octets, shows, text)
    inquiry.setting = parted(octets, inquiry.symptom, shows, text, place)
    inquiry.condition = inquiry.condition_of((exactly(inquiry.setting.core),))
    inquiry.setting = simplified(inquiry.setting, shows, text)
    inquiry.fine = inquiry.fine and len(inquiry.setting.octets) <= BURDEN
    look_behind(inquiry)
    if cancelling(inquiry) or adjoining(inquiry):
        repeat(inquiry)
        decide(inquiry)
    elif not across_blocks(inquiry):
        reread(inquiry)
        learn(inquiry)
        with inquiry.asker.reserving(_RESERVED):
            vary(inquiry)
        decide(inquiry)
        widen(inquiry)
    _refine(inquiry)


def _placed(inquiry: Inquiry, octets: bytes) -> bytes:
    """The octets with as much text behind as brings them to an address where they show it."""
    if not inquiry.placed:
        return octets
    tried = [octets + b"a" * more for more in range(ADDRESS)]
    said = inquiry.ask(tried)
    return next((each for each, symptom in zip(tried, said, strict=True) if symptom != RIGHT), octets)


def _refine(inquiry: Inquiry) -> None:
    """Fresh questions; what the condition predicts wrongly mends it; the last round counts."""
    best, least = inquiry.condition, 1.0
    for number in range(_ROUNDS):
        missed = _missed(inquiry, _EACH if inquiry.fine else _EACH_COARSE)
        share = len(missed) / max(inquiry.check[1], 1)
        if share <= least:
            best, least = inquiry.condition, share
        if not missed:
            break
        if mistaken(inquiry, [octets for octets, _ in missed]):
            continue
        before = inquiry.condition
        others = of_another_cause(inquiry, [octets for octets, wrong in missed if wrong])
        for octets, wrong in missed:
            if octets not in others:
                inquiry.note_string(octets, wrong=wrong)
        if number < _ROUNDS - 1:
            decide(inquiry)
        if inquiry.condition == before and number > _STEADY:
            break
    inquiry.condition = best  # an answer that is right by chance may spoil a rule


def confirm(inquiry: Inquiry, count: int) -> tuple[int, int]:
    """Of fresh questions, those that the condition predicts, and all; of the last round if no more may be asked.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    inquiry.asker.octets += inquiry.step
    inquiry.asker.questions += count
    with suppress(OutOfBudget):
        if inquiry.known.carries:
            inquiry.check = carried(inquiry, count)
        else:
            _missed(inquiry, count)
    return inquiry.check


def _missed(inquiry: Inquiry, count: int) -> list[tuple[bytes, bool]]:
    """The fresh strings that the condition predicts wrongly, and whether the answer is wrong."""
    strings = _fresh(inquiry, count)
    asked = list(zip(strings, inquiry.wrong(strings), strict=True))
    missed = [each for each in asked if inquiry.known.holds(inquiry.question(each[0])) != each[1]]
    inquiry.check = len(asked) - len(missed), len(asked)
    return missed


def _fresh(inquiry: Inquiry, count: int) -> list[bytes]:
    """So many strings near a condition, or fewer if they cost too much: half inside, half just outside, if possible."""
    inside, outside = dict[bytes, None](), dict[bytes, None]()
    size = 0
    for _ in range(_TRIES * count):
        octets = _drawn(inquiry)
        if len(octets) > inquiry.most:
            continue
        into = inside if inquiry.known.holds(inquiry.question(octets)) else outside
        if len(into) < (count + 1) // 2 and octets not in into:
            size += len(octets)
            if size > inquiry.asker.octets:
                break
            into[octets] = None
        if len(inside) + len(outside) >= count:
            break
    return [*inside, *outside]


def _drawn(inquiry: Inquiry) -> bytes:
    random, condition = inquiry.random, inquiry.known
    before, behind = inquiry.experiments.around(condition.rule)
    if condition.subparts and condition.symptom != ACCEPTS:
        core = random.choice(panel.strange(inquiry.text))
    else:
        product = random.choice(condition.words)
        core = bytes(random.choice((each[0], each[-1], random.choice(each))) for each in map(sorted, product))
    draw = random.random()
    if draw < 0.12 and core:
        place = random.randrange(len(core))
        octet = random.choice((random.randrange(256), (core[place] + random.choice((-1, 1))) % 256))
        core = core[:place] + bytes([octet]) + core[place + 1 :]
    elif draw < 0.17:
        core = b""
    elif draw < 0.22:
        behind += inquiry.experiments.text_of(random.randrange(8)) + core
    elif draw < 0.25 and core:
        core = core[:-1]
    return before + core + behind


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
