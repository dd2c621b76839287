"""The course of one examination: from an example to its condition, a check by fresh strings, and what to show.

Some causes show by a few strings at once, without words and surroundings that are learned. A decoder with a buffer of a
fixed size reads only the first octets, and may cut a character there. A replacer takes a run of errors for one. A
decoder counts errors, and misreads the count, so that some cancel. A decoder takes an input in blocks of one size, and
each by itself. And one goes on where the call before ended.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, RIGHT, OutOfBudget, Question
from overlong.conformance.examination.inquiry import (
    VERDICTS,
    decide,
    drawn_around,
    drawn_text,
    fill,
    of_another_cause,
    repeat,
    vary,
)
from overlong.conformance.examination.least import BURDEN, Setting, blanked, parted, simplified
from overlong.conformance.examination.rules import Atom, Table
from overlong.conformance.examination.text import ADDRESS, AFTER_ERROR, ERROR, FACTORS, across, exactly, strange
from overlong.conformance.examination.words import (
    NEARLY,
    beginning,
    learn,
    look_behind,
    mistaken,
    of_any_error,
    reread,
    widen,
)
from overlong.conformance.protocol.observation import Accepted, Code
from overlong.conformance.protocol.wire import DECODE, REPLACING, VALIDATE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry
    from overlong.conformance.examination.text import Text
    from overlong.conformance.oracle.finding import Finding

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


_ERROR = b"\xff"
_LEAST_BUFFER, _LEAST_BLOCK = 4, 8
"""No buffer has so few octets, so that a decoder without errors is not meant, and no block has fewer."""
_AFTER_BUFFERS = 0.5
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
    with inquiry.asker.reserving(_AFTER_BUFFERS):
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
    errors, room = strange(text), inquiry.asker.octets // (2 * _LEAST_BUFFER * size)
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
    ones = [each for each in strange(text) if text.flaws(each) == [(0, len(each))]]
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
    units = [unit, *(each for each in strange(inquiry.text) if len(each) <= _LONGEST)]
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
            remember(inquiry)
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
    before, behind = drawn_around(inquiry, condition.rule)
    if condition.subparts and condition.symptom != ACCEPTS:
        core = random.choice(strange(inquiry.text))
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
        behind += drawn_text(inquiry, random.randrange(8)) + core
    elif draw < 0.25 and core:
        core = core[:-1]
    return before + core + behind


def least_finding(inquiry: Inquiry) -> Finding | None:
    """The finding of the least example; None if it does not show any more.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    if not inquiry.setting.octets:
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
    if least is None:
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
