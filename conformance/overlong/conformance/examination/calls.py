"""What was asked before: whether an answer depends on the call before, and decoders that go on where that ended."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import RIGHT, Question
from overlong.conformance.examination.least import Setting
from overlong.conformance.examination.rules import Atom
from overlong.conformance.protocol.observation import Code

if TYPE_CHECKING:
    from overlong.conformance.examination.inquiry import Inquiry
    from overlong.conformance.examination.text import Text

_LEAST = b"a"
"""The call before the one before: it is accepted, so that nothing is left from it."""
_COARSE = 3


def recalled(inquiry: Inquiry, octets: bytes) -> bool:
    """Find the symptom, and the call before that it depends on, if it does; False if all answers are right."""
    asker = inquiry.asker
    given = asker.earlier
    before = [given, *((_LEAST, each) for each in _calls(inquiry, octets))]
    said = asker.ask([Question(octets, each) for each in before])
    wrong = [(symptom, each) for symptom, each in zip(said, before, strict=True) if symptom != RIGHT]
    if not wrong:
        return False
    inquiry.symptom = said[0] if said[0] != RIGHT else wrong[0][0]
    if inquiry.symptom == Code.INTERNAL_ERROR and not inquiry.text.is_well_formed(octets):
        inquiry.symptom = Code.OFFSET
    inquiry.recalls = len({symptom == inquiry.symptom for symptom in said[not given :]}) > 1
    if inquiry.recalls:
        shown = next(each for symptom, each in wrong if symptom == inquiry.symptom and each)
        asker.earlier = given if given and said[0] != RIGHT else shown
    return True


def remember(inquiry: Inquiry) -> None:
    """Note the setting after other calls."""
    if not inquiry.recalls:
        return
    setting, asker = inquiry.setting, inquiry.asker
    kept, asker.earlier = asker.earlier, ()
    leads = [bytes([octet]) for octet in sorted(inquiry.text.leads)]
    calls = [
        *_calls(inquiry, setting.octets),
        *leads,
        *(b"a" * count for count in range(1, 70)),
        *(each + b"a" for each in leads),
    ]
    asked = [Question(setting.octets, (_LEAST, each)) for each in dict.fromkeys(calls)]
    for question, symptom in zip(asked, asker.ask(asked), strict=True):
        inquiry.note(question, wrong=inquiry.counts(symptom))
    asker.earlier = kept


def carries(inquiry: Inquiry) -> bool:
    """A decoder that goes on where the call before ended: each answer is right for both inputs joined."""
    text = inquiry.text
    cut, behind = _cut_short(text), _behind(text)
    pairs = [(call, octets) for call in cut for octets in behind]
    said = inquiry.asker.ask([Question(octets, (_LEAST, call)) for call, octets in pairs])
    carried = {call[0]: True for call in cut}
    for (call, octets), symptom in zip(pairs, said, strict=True):
        joined = text.is_well_formed(call + octets) != text.is_well_formed(octets)
        if joined != (symptom != RIGHT):
            carried[call[0]] = False
    leads = {lead for lead, always in carried.items() if always}
    if not leads:
        return False
    sizes = {text.sizes[lead] for lead in leads}
    every = frozenset(lead for lead in text.leads if text.sizes[lead] in sizes)
    rule = (Atom("unfinished before", values=every),)
    inquiry.condition = replace(inquiry.condition_of(((),), rule), symptom=Code.EARLIER_CALLS)
    inquiry.setting = Setting(b"")
    return True


def carried(inquiry: Inquiry, count: int) -> tuple[int, int]:
    """Of fresh questions after another call, those that the condition predicts; and how many these were."""
    random, text = inquiry.random, inquiry.text
    pairs = [(call, octets) for call in (*_cut_short(text), b"a", b"") for octets in _behind(text)]
    asked = [
        Question(octets + random.choice((b"", b"a", b"b" * 9)), (_LEAST, random.choice((b"", b"a", b"x" * 7)) + call))
        for call, octets in random.choices(pairs, k=count)
    ]
    said = inquiry.asker.ask(asked)
    right = sum(inquiry.known.holds(each) == (symptom != RIGHT) for each, symptom in zip(asked, said, strict=True))
    return right, count


def _cut_short(text: Text) -> list[bytes]:
    """Each kind of character, cut at each place."""
    return [bytes(min(some) for some in product)[:size] for product in text.products for size in range(1, len(product))]


def _behind(text: Text) -> list[bytes]:
    """What may come after a character that was cut short."""
    tail = bytes([max(product[-1]) for product in text.products if len(product) > 1][:1])
    found = [b"", b"a", tail, tail * 2, tail * 3, tail + b"a", tail * 2 + b"a", b"\0"]
    return list(dict.fromkeys([*found, *(each[-1:] for each in _cut_short(text))]))


def _calls(inquiry: Inquiry, octets: bytes) -> list[bytes]:
    """Calls before that a decoder may remember: accepted, refused, cut short, long, as long, alike."""
    stray = next(bytes([octet]) for octet in range(256) if octet not in inquiry.text.leads)
    sizes = (len(octets), len(octets) + 1, 70, 1000)
    found = [b"", b"a", stray, *_cut_short(inquiry.text), *(b"a" * size for size in sizes)]
    found += [octets[:-1] + b"a", octets[:1] + b"a" * len(octets), b"a" * 9 + stray]
    return list(dict.fromkeys(found))[: None if inquiry.fine else _COARSE]
