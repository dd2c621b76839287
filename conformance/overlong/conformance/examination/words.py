"""The words of a condition, learned by experiment: which octets show the same in the setting of the example.

Words have one length, and the octets of a place are of one class if no context tells them apart. A context is a word
with a gap. At first the only context is the example; a word that the classes predict wrongly yields another, as
counterexamples do in Angluin's algorithm.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product as combinations
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, RIGHT, Question, between
from overlong.conformance.examination.condition import OFFSETS
from overlong.conformance.examination.inquiry import SITES
from overlong.conformance.examination.rules import Table
from overlong.conformance.examination.text import (
    ERROR,
    OF_ERRORS,
    Product,
    edges,
    exactly,
    is_part,
    merged,
    notable,
    strange,
    without_parts,
)
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import REPLACING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry
    from overlong.conformance.examination.least import Shows
    from overlong.conformance.examination.text import Product

_MOST = 1 << 10
"""The most combinations of classes."""
_ROUNDS = 12
_ALL = tuple(range(256))
_PARTS = 6
"""The most kinds of words that one condition joins."""
NEARLY = 0.95
"""The share of kinds of errors that must show it, if all do."""
_CHECKS, _CHECKS_OF_MORE, _CHECKS_COARSE = 200, 100, 20
_QUESTIONS = 1500
"""About what it takes to learn a word octet by octet."""
_LONGER = 16
_MORE = 4
_LAST = 0xFF


Row = tuple[bool, ...]
"""What contexts tell of an octet: whether it shows the symptom in each."""


def _classes(rows: dict[int, Row]) -> dict[Row, list[int]]:
    """The octets of a place that no context tells apart."""
    found: dict[Row, list[int]] = {}
    for octet, row in rows.items():
        found.setdefault(row, []).append(octet)
    return found


class _Learner:
    def __init__(self, example: bytes, shows: Shows, random: Random, octets: Sequence[int]) -> None:
        self.example, self.shows, self.random = example, shows, random
        tried = [sorted({*octets, *range(max(octet - 1, 0), min(octet + 2, 256))}) for octet in example]
        self.places: list[dict[int, Row]] = [dict.fromkeys(some, ()) for some in tried]
        """The octets that were tried at each place, in order."""
        self.known: dict[bytes, bool] = {}

    def ask(self, words: Sequence[bytes]) -> list[bool]:
        new = [word for word in dict.fromkeys(words) if word not in self.known]
        self.known.update(zip(new, self.shows(new), strict=True))
        return [self.known[word] for word in words]

    def learn_context(self, place: int, word: bytes) -> None:
        rows = self.places[place]
        first = not any(rows.values())
        shown = dict[int, bool]()
        new = list(rows)
        while new:
            shown.update(
                zip(new, self.ask([word[:place] + bytes([each]) + word[place + 1 :] for each in new]), strict=True)
            )
            new = between(shown) if first else []
        self.places[place] = {octet: (*rows.get(octet, ()), shown[octet]) for octet in sorted(shown)}

    def representative(self, place: int, row: Row) -> int:
        rows, own = self.places[place], self.example[place]
        return own if rows[own] == row else _classes(rows)[row][0]

    def table(self) -> dict[tuple[Row, ...], bool] | None:
        rows = [list(_classes(place)) for place in self.places]
        if prod(map(len, rows)) > _MOST:
            return None
        keys = list(combinations(*rows))
        words = [bytes(self.representative(place, row) for place, row in enumerate(key)) for key in keys]
        return dict(zip(keys, self.ask(words), strict=True))

    def drawn(self, table: dict[tuple[Row, ...], bool], count: int) -> list[bytes]:
        """Words to check: often of a combination that shows it, often at the edges of classes."""
        inside = [key for key, shown in table.items() if shown]
        every, random = list(table), self.random
        classes = list(map(_classes, self.places))
        edges = [
            {
                row: [each for each in some if each - 1 not in of or each + 1 not in of]
                for row, some in found.items()
                for of in [set(some)]
            }
            for found in classes
        ]
        words = list[bytes]()
        for _ in range(count):
            key = random.choice(inside if inside and random.random() < 0.7 else every)
            word = bytearray()
            for place, row in enumerate(key):
                draw = random.random()
                octets = list(self.places[place]) if draw < 0.1 else edges[place][row] if draw < 0.55 else []
                word.append(random.choice(octets or classes[place][row]))
            words.append(bytes(word))
        return words

    def key(self, word: bytes) -> tuple[Row, ...]:
        """The class of each octet of a word."""
        return tuple(rows[octet] for rows, octet in zip(self.places, word, strict=True))

    def tell_apart(self, word: bytes) -> None:
        """Learn from a word that its classes' representatives do not speak for."""
        key = self.key(word)
        other = bytes(self.representative(place, row) for place, row in enumerate(key))
        steps = [word[:place] + other[place:] for place in range(len(word) + 1)]
        said = self.ask(steps)
        for place in range(len(word)):
            if said[place] != said[place + 1]:
                self.learn_context(place, steps[place])
                return


def learned(
    example: bytes,
    shows: Shows,
    random: Random,
    *,
    checks: int = 200,
    octets: Sequence[int] = _ALL,
    known: Sequence[bytes] = (),
) -> tuple[Product, ...]:
    """The words of the example's length that show the same, in one setting.

    Args:
        example: one of them, not empty.
        shows: asks words.
        random: where words to check come from.
        checks: words to check in each round.
        octets: the octets to try at each place; each stands for those up to the next.
        known: words to check in any case.
    """
    learner = _Learner(example, shows, random, octets)
    for place in range(len(example)):
        learner.learn_context(place, example)
    table = learner.table()
    certain = [
        word
        for word in known
        if len(word) == len(example) and all(octet in rows for octet, rows in zip(word, learner.places, strict=True))
    ]
    for _ in range(_ROUNDS):
        if table is None or not checks:
            break
        drawn = [*certain, *learner.drawn(table, checks)]
        said = zip(drawn, learner.ask(drawn), strict=True)
        wrong = next((word for word, shown in said if table[learner.key(word)] != shown), None)
        if wrong is None:
            break
        learner.tell_apart(wrong)
        table = learner.table()  # None: too many classes
    if table is None:
        return (exactly(example),)
    classes = [
        {row: frozenset(_spread(some, list(rows))) for row, some in _classes(rows).items()} for rows in learner.places
    ]
    products = merged(
        tuple(of[row] for of, row in zip(classes, key, strict=True))
        for key, shown in table.items()
        if shown and all(row in of for of, row in zip(classes, key, strict=True))
    )
    return tuple(products)


def _spread(some: Sequence[int], of: Sequence[int]) -> list[int]:
    """The octets that some stand for: each of them, and those after it up to the next one that was tried."""
    chosen, tried, found, last = set(some), set(of), list[int](), min(of)
    for octet in range(256):
        last = octet if octet in tried else last
        if last in chosen:
            found.append(octet)
    return found


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
        inquiry.condition = of_any_error(inquiry)
    elif truncated := _truncated(inquiry):
        inquiry.condition = inquiry.condition_of(truncated)
    else:
        fine = inquiry.fine and _affords(inquiry)
        octets = _ALL if fine else edges(inquiry.text)
        checks = _CHECKS if fine else _CHECKS_COARSE
        found = _learned(inquiry, core, checks, octets) or (
            exactly(core),
        )  # what depends on earlier calls may not show again
        inquiry.condition = _committed(inquiry, inquiry.condition_of(found))


def _affords(inquiry: Inquiry) -> bool:
    """True if words can be learned octet by octet, with most of the budget left for what stands around them."""
    return _QUESTIONS * len(inquiry.setting.octets) <= inquiry.asker.octets // 4


def widen(inquiry: Inquiry) -> None:
    """Add octets that are wrong in the same setting: errors of other kinds, other refused characters."""
    setting = inquiry.setting
    if not setting.core or not inquiry.fine or not _affords(inquiry):
        return
    of_characters = inquiry.text.is_well_formed(setting.core)
    tried = notable(inquiry.text) if of_characters else strange(inquiry.text)
    symptoms: dict[bytes, str] = {}
    for _ in range(_PARTS):
        new = [each for each in dict.fromkeys([*tried, *_next_to(inquiry)]) if each not in symptoms]
        asked = [Question(setting.with_core(each)) for each in new]
        symptoms.update(zip(new, inquiry.asker.ask(asked), strict=True))
        more = [
            each
            for each, symptom in symptoms.items()
            if symptom == inquiry.symptom and not inquiry.known.holds(inquiry.question(setting.with_core(each)))
        ]
        if not more:
            return
        found = _learned(inquiry, min(more, key=lambda each: (len(each), each)), _CHECKS_OF_MORE)
        if not found:
            return
        inquiry.condition = replace(inquiry.known, words=without_parts([*inquiry.known.words, *found]))


def mistaken(inquiry: Inquiry, missed: Sequence[bytes]) -> bool:
    """Find words that are none, in strings that the condition predicts wrongly, and learn the words again."""
    if not inquiry.fine or not inquiry.setting.core or inquiry.known.subparts:
        return False
    sites = [(octets, site) for octets in missed for site in inquiry.known.sites(inquiry.question(octets), SITES)]
    found = list(dict.fromkeys(octets[site.start : site.end] for octets, site in sites))
    said = inquiry.shows([inquiry.setting.with_core(each) for each in found])
    new = [each for each, shown in zip(found, said, strict=True) if not shown and each not in inquiry.counterexamples]
    if not new:
        return False
    inquiry.counterexamples += new
    rule = inquiry.known.rule
    learn(inquiry)
    widen(inquiry)
    inquiry.condition = replace(inquiry.known, rule=rule)
    return True


def _next_to(inquiry: Inquiry) -> Iterator[bytes]:
    """Words right before and behind the known ones, in the order of octets."""
    tails = {chosen(product[-1]) for product in inquiry.text.products if len(product) > 1 for chosen in (min, max)}
    for product in inquiry.known.words:
        ends = bytes(map(min, product)), bytes(map(max, product))
        for place, octets in enumerate(product):
            for word, octet in zip(ends, (min(octets) - 1, max(octets) + 1), strict=True):
                if 0 <= octet <= _LAST:
                    for rest in (*ends, *(bytes([tail]) * len(product) for tail in sorted(tails))):
                        yield word[:place] + bytes([octet]) + rest[place + 1 :]


def _learned(inquiry: Inquiry, core: bytes, checks: int, octets: tuple[int, ...] = _ALL) -> tuple[Product, ...]:
    setting = inquiry.setting
    is_flaw = inquiry.symptom in (*OFFSETS, ACCEPTS) and not inquiry.text.end(core + setting.behind)

    def shows(some: Sequence[bytes]) -> list[bool]:
        said = inquiry.shows([setting.with_core(each) for each in some])
        if not is_flaw:
            return said
        ends = [inquiry.text.end(each + setting.behind) for each in some]
        return [shown and not end for shown, end in zip(said, ends, strict=True)]  # the flaw itself, not text before it

    return learned(core, shows, inquiry.random, checks=checks, octets=octets, known=inquiry.counterexamples)


def of_any_error(inquiry: Inquiry) -> Condition:
    """The condition that any error is a place where it shows."""
    return replace(inquiry.condition_of((ERROR,)), subparts=True)


def _truncated(inquiry: Inquiry) -> tuple[Product, ...]:
    """What can begin a character and is none, if the core is of that kind and all kinds are accepted."""
    core, kinds = inquiry.setting.core, inquiry.text.truncated
    if inquiry.symptom != ACCEPTS or not any(is_part(exactly(core), each) for each in kinds):
        return ()
    strings = [inquiry.setting.with_core(bytes(map(ends, each))) for each in kinds for ends in (min, max)]
    return kinds if all(inquiry.shows(strings)) else ()


def _any_error(inquiry: Inquiry) -> bool:
    """True if errors of every kind show it, or all of some lengths: then its octets do not matter."""
    text, setting = inquiry.text, inquiry.setting
    replaces = inquiry.asker.operation in REPLACING
    if not (replaces or inquiry.symptom in OFFSETS) or text.is_well_formed(setting.core):
        return False
    strings = [setting.with_core(each) for each in strange(text)]
    strings = [each for each in strings if not replaces or len(text.flaws(each)) == 1]
    kept, inquiry.table = inquiry.table, Table()
    table, every = Table(OF_ERRORS), of_any_error(inquiry)
    for octets, wrong in zip(strings, inquiry.wrong(strings), strict=True):
        for site in every.sites(inquiry.question(octets))[:1]:
            table.add(site, wrong=wrong)
            inquiry.table.add(site, wrong=wrong)
    if table.agrees(table.rule()) < NEARLY:
        inquiry.table = kept
        return False
    if table.agrees(()) < 1:
        inquiry.table.tell_apart(OF_ERRORS)
    return True


def _committed(inquiry: Inquiry, condition: Condition) -> Condition:
    """The condition, which notes after how many octets the decoder does not take a character for what it is."""
    if inquiry.symptom != ACCEPTS:
        return condition
    for count in range(1, max(map(len, condition.words), default=0) + 1):
        alike = [character for word in condition.words for character in beginning(inquiry, word, count)]
        asked = [Question(inquiry.setting.with_core(each)) for each in alike[:_LONGER]]
        if asked and all(each == Code.REFUSED for each in inquiry.asker.ask(asked)):
            return replace(condition, commits=count)
    return condition


def beginning(inquiry: Inquiry, word: Product, count: int) -> list[bytes]:
    """Characters that begin with so many octets of a word, and do not go on like it."""
    start = word[:count]
    found = list[bytes]()
    for product in inquiry.text.products:
        common = [one & other for one, other in zip(start, product, strict=False)]
        if len(start) == count == len(common) and all(common) and (len(product) > count or len(word) > count):
            rest = [other - one for one, other in zip(word[count:], product[count:], strict=False)]
            if len(product) <= len(word) or not rest or any(rest):
                found.append(bytes([*map(min, common), *map(min, product[count:])]))
    return found


def reread(inquiry: Inquiry) -> None:
    """Find a refused character of which more octets, or fewer, are accepted: then it is read as another one."""
    core, text = inquiry.setting.core, inquiry.text
    if inquiry.symptom != Code.REFUSED or not core:
        return
    tails = sorted({chosen(product[-1]) for product in text.products if len(product) > 1 for chosen in (min, max)})
    others = [core[:size] for size in range(1, len(core))]
    others += [core + bytes([tail]) * count for count in range(1, _MORE) for tail in tails]
    said = inquiry.ask([inquiry.setting.with_core(each) for each in others])
    found = next((each for each, symptom in zip(others, said, strict=True) if symptom == ACCEPTS), None)
    if found is not None:
        inquiry.symptom = ACCEPTS
        inquiry.setting = replace(inquiry.setting, core=found)
