"""One examination under way: what it knows, the surroundings that it tries around the core, and the answers noted.

The core of an example is put into other surroundings, one factor at a time, and at random: what stands before and
behind, how much of it, and how many errors. The rule explains the answers.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, RIGHT, Question
from overlong.conformance.examination.condition import OFFSETS, Condition
from overlong.conformance.examination.least import BURDEN, Setting, thresholds
from overlong.conformance.examination.rules import Rule, Table
from overlong.conformance.examination.text import (
    ADDRESS,
    ADDRESSES,
    FACTORS,
    FAR_BEFORE,
    FAR_BEHIND,
    block_of,
    octet_before,
    seen,
    stands,
)
from overlong.conformance.protocol.observation import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.text import Product, Text

Around = tuple[bytes, bytes]
"""The octets before the core and behind it."""
_COARSE = tuple(bytes([octet]) for octet in b"\0\t\n a0/\\'\"<\x7f")
_SHORT_LENGTHS = (*range(18), 31, 32, 33, 63, 64, 65)
_FAR = (200, 1000, 5000, 20_000, 60_000, 100_000, 140_000)
_GAPS = (1, 2, 3, 4, 6, 9, 17)
_TURNS = 4
"""Blocks, of which the last end is tried."""
_FEW, _PARTS = 3, 8
_NEAR, _CLOSE = 130, 20
"""How far from the start, and from the end, each offset is tried."""
_LONG, _MIXED = 1 << 12, 48
_FILLER_SIZES = (1, 3)
"""Of long strings, the characters to fill them with, by their octets."""


def fill(length: int, filler: bytes = b"a") -> bytes:
    """Text of a number of octets: fillers, and ASCII at the start to fill it up."""
    return b"a" * (length % len(filler)) + filler * (length // len(filler))


@cache
def characters(text: Text) -> list[bytes]:
    """A character with each lead octet, and one with each last octet for each length."""
    found = dict[bytes, None]()
    for product in text.products:
        least = [min(octets) for octets in product]
        for octet in sorted(product[0]):
            found[bytes([octet, *least[1:]])] = None
        for octet in sorted(product[-1]) if len(product) > 1 else ():
            found[bytes([*least[:-1], octet])] = None
        found[bytes(max(octets) for octets in product)] = None
    return list(found)


@cache
def by_size(text: Text) -> dict[int, list[bytes]]:
    """The same by their octets."""
    found = dict[int, list[bytes]]()
    for each in characters(text):
        found.setdefault(len(each), []).append(each)
    return found


def filler_of(text: Text) -> dict[int, bytes]:
    """The characters to fill with, by their octets."""
    return {len(each): each for each in text.fillers if each != b"\0"}


SITES = 16
"""The most places in one string that a table takes."""
_STEPS = 8
VERDICTS = (ACCEPTS, Code.REFUSED)
"""Symptoms of a wrong verdict."""
_ALIKE = frozenset({*OFFSETS, Code.INTERNAL_ERROR})
"""Symptoms that one cause may have: an offset beyond the input breaks the convention."""


class Inquiry:
    """Asks about one example, and keeps what comes of it."""

    def __init__(self, asker: Asker, text: Text, *, offsets: bool, fine: bool, most: int) -> None:
        """Prepare.

        Args:
            asker: asks the target.
            text: well-formed text.
            offsets: the target reports offsets.
            fine: there is budget for all octets and all lengths.
            most: the most octets of a string.
        """
        self.asker, self.text, self.offsets, self.fine, self.most = asker, text, offsets, fine, most
        self.step = asker.octets // _STEPS
        """The most octets of the strings of one step."""
        self.placed = False
        """True if the answer depends on the place in memory."""
        self.random = Random(0)  # noqa: S311 (no secret)
        self.symptom = RIGHT
        self.counterexamples = list[bytes]()
        """Words that do not show it, though their octets do in other ones."""
        self.recalls = False
        """True if the answer depends on the call before."""
        self.several = False
        """True if there are several such places in the example, of which the last one shows it."""
        self.table = Table()
        self.condition: Condition | None = None
        self.check: tuple[int, int] = 0, 0
        """Of the last fresh questions, those that the condition predicted, and all."""
        self.setting = Setting(b"")
        """The core and what stands around it, once the example is parted."""

    @property
    def known(self) -> Condition:
        """The condition, once there is one."""
        assert self.condition is not None, "words are learned first"
        return self.condition

    def condition_of(self, products: Iterable[Product], rule: Rule = ()) -> Condition:
        """A condition of this inquiry: these words, under a rule."""
        return Condition(
            self.symptom,
            tuple(products),
            rule,
            speaks=self.text.spoken.name,
            operation=self.asker.operation,
            offsets=self.offsets,
        )

    # ---- asking ----

    def question(self, octets: bytes) -> Question:
        """The octets in the circumstances in which this inquiry asks; functions get them right before a guard."""
        return Question(octets, self.asker.earlier, address=-len(octets) % ADDRESS if self.placed else None)

    def ask(self, strings: Sequence[bytes]) -> list[str]:
        """The symptom of each answer."""
        return self.asker.ask(list(map(self.question, strings)))

    def shows(self, strings: Sequence[bytes]) -> list[bool]:
        """For each string, whether it shows the symptom."""
        return [each == self.symptom or (each in _ALIKE and self.symptom in OFFSETS) for each in self.ask(strings)]

    def wrong(self, strings: Sequence[bytes]) -> list[bool]:
        """For each string, whether its answer is wrong as a condition predicts it."""
        return [self.counts(each) for each in self.ask(strings)]

    def counts(self, symptom: str) -> bool:
        """True if a symptom is one that the condition should predict."""
        if symptom == RIGHT:
            return False
        if self.symptom in VERDICTS:
            return symptom in VERDICTS or (self.offsets and symptom == Code.OFFSET)
        if self.symptom in OFFSETS:
            return symptom in _ALIKE
        return symptom == self.symptom or symptom not in (*VERDICTS, *OFFSETS)

    def in_memory(self) -> None:
        """Tell addresses apart, and not what stands behind: the answer depends on the place in memory."""
        self.placed = True
        self.table = Table([*(each for each in FACTORS if each.name not in ("behind", "length")), *ADDRESSES])

    # ---- noting ----

    def note(self, question: Question, *, wrong: bool) -> None:
        """Note a question with one place for the words, or several that stand or fall together."""
        sites = self.known.sites(question, SITES)
        together = self.several or (self.known.subparts and self.symptom == ACCEPTS)
        if len(sites) == 1 or (sites and together):
            self.table.add(sites[-1], wrong=wrong)
        elif self.symptom == ACCEPTS:
            for site in sites[:SITES] if wrong else ():  # all of them are accepted
                self.table.add(site, wrong=True)
        elif len(sites) < SITES and not wrong:
            for site in sites:
                self.table.add(site, wrong=False)

    def note_string(self, octets: bytes, *, wrong: bool) -> None:
        """Note octets in the circumstances in which they were asked."""
        self.note(self.question(octets), wrong=wrong)


_REPEATED = (1, 2, 3)
_COUNTS = (*range(1, 26), 31, 32, 33, 63, 64, 65, 255, 256, 257)


def vary(inquiry: Inquiry) -> None:
    """Vary each factor."""
    setting, fine = inquiry.setting, inquiry.fine
    sites = inquiry.known.sites(inquiry.question(setting.octets), SITES)
    at_last = 1 < len(sites) < SITES and sites[-1].start == len(setting.before)
    inquiry.several = inquiry.symptom != ACCEPTS and at_last
    _try(inquiry, [(setting.before, setting.behind)])
    _look_farther(inquiry)
    _try(inquiry, _offsets(inquiry))
    _try(inquiry, _behinds(inquiry))
    for exchanged, most in ((_right_before, FAR_BEFORE), (_right_behind, FAR_BEHIND)):
        for far in _reach(inquiry, most):
            if not all(_try(inquiry, exchanged(inquiry, far, fine=False))) and fine:
                _try(inquiry, exchanged(inquiry, far, fine=True))
    repeat(inquiry)


def _look_farther(inquiry: Inquiry) -> None:
    """Characters anywhere before and behind; those that the setting has before the core are told apart from then on."""
    _try(inquiry, _sprinkled(inquiry))
    kept = _kept_characters(inquiry)
    inquiry.table.tell_apart(map(seen, kept))
    for each, far in kept.items():
        if far > FAR_BEFORE:
            inquiry.table.tell_apart([stands(each, far), *map(octet_before, range(far - len(each) + 1, far + 1))])
    for each, far in kept.items() if inquiry.fine else ():
        _try(inquiry, _moved(inquiry, each, far))


def repeat(inquiry: Inquiry) -> None:
    """Note several such places in one string."""
    if inquiry.symptom != ACCEPTS and not inquiry.known.subparts:
        return
    counts = _COUNTS if inquiry.symptom == ACCEPTS else _REPEATED
    strings = [(gap + inquiry.setting.core) * count for count in counts for gap in (b"", b"a", b"aa")]
    for octets, wrong in zip(strings, inquiry.wrong(strings), strict=True):
        inquiry.note_string(octets, wrong=wrong)


def decide(inquiry: Inquiry) -> None:
    """Take the rule that explains the answers noted."""
    inquiry.condition = replace(inquiry.known, rule=inquiry.table.rule())


def _try(inquiry: Inquiry, around: Iterable[Around]) -> list[bool]:
    """Ask the core in these surroundings, and note what comes of it."""
    core = inquiry.setting.core
    some = [
        before + core + behind
        for before, behind in dict.fromkeys(around)
        if len(before) + len(behind) <= inquiry.most and _fits(inquiry, before, core, behind)
    ]
    every = -(-sum(map(len, some)) // inquiry.step)
    some = some[:: every or 1]
    said = inquiry.wrong(some)
    wrong = [octets for octets, is_wrong in zip(some, said, strict=True) if is_wrong]
    others = of_another_cause(inquiry, wrong) if 2 * len(wrong) < len(some) else ()
    for octets, is_wrong in zip(some, said, strict=True):
        if octets not in others:
            inquiry.note_string(octets, wrong=is_wrong)
    return said


def of_another_cause(inquiry: Inquiry, wrong: Iterable[bytes]) -> set[bytes]:
    """Of strings that show it, those that do so with ASCII for the characters examined, too."""
    core, blanked = inquiry.setting.core, dict[bytes, bytes]()
    if not core or not inquiry.text.is_well_formed(core):
        return set()
    for octets in wrong:
        without = bytearray(octets)
        for site in inquiry.known.sites(inquiry.question(octets), SITES):
            without[site.start : site.end] = b"a" * (site.end - site.start)
        blanked[octets] = bytes(without)
    said = inquiry.wrong([*blanked.values()])
    return {octets for octets, shown in zip(blanked, said, strict=True) if shown}


def _fits(inquiry: Inquiry, before: bytes, core: bytes, behind: bytes) -> bool:
    """True if the core is the only such place in these surroundings."""
    text = inquiry.text
    if not text.is_well_formed(before):
        return False
    if text.is_well_formed(core) and not text.is_well_formed(behind):
        return False
    sites = inquiry.known.sites(Question(before + core + behind), SITES if inquiry.several else 2)
    return bool(sites) and (len(sites) == 1 or inquiry.several) and sites[-1].start == len(before)


# ---- one factor at a time ----


def _offsets(inquiry: Inquiry) -> Iterator[Around]:
    """Octets before, of each kind; and the same with the length kept."""
    setting = inquiry.setting
    kept, behind = setting.kept_before, setting.behind
    for text, alone in _texts(inquiry, setting.count * len(setting.filler), 20 if kept else 0):
        yield text if alone else text + kept, behind
    size = len(setting.before) + len(behind)
    for total in (size, 2 * size) if _is_burden(inquiry) else (max(size, 40),):
        parts = [total // _PARTS * part for part in range(_PARTS)]
        ends = [*range(min(total, _NEAR)), *range(total - min(total, _CLOSE), total + 1)]
        for length in sorted({*parts, 0, 1} if _is_burden(inquiry) else {*ends}):
            rest = total - length - len(kept) - len(setting.kept_behind)
            if rest >= 0:
                yield fill(length) + kept, setting.kept_behind + fill(rest, setting.filler_behind)


def _behinds(inquiry: Inquiry) -> Iterator[Around]:
    """Octets behind, of each kind."""
    setting = inquiry.setting
    kept = setting.kept_behind
    for text, alone in _texts(inquiry, setting.count_behind * len(setting.filler_behind), 12 if kept else 0):
        yield setting.before, text if alone else kept + text


def _texts(inquiry: Inquiry, length: int, few: int) -> Iterator[tuple[bytes, bool]]:
    """Text of each kind, of lengths where decoders change and near one that matters.

    And some of ``few`` lengths, with True: to be tried alone, without what is kept next to the core.
    """
    burden, fillers = _is_burden(inquiry), inquiry.text.fillers
    lengths = thresholds(inquiry.most)
    if not inquiry.fine:  # few lengths; the long ones too if the setting is long anyway
        lengths = [*_SHORT_LENGTHS, *(each for each in _FAR if burden and each <= inquiry.most)]
    near = range(-2, 4)
    if inquiry.fine and length > 100:  # enough to see blocks, if a string of that length is no burden
        near = range(-40, 140) if length < _LONG else range(-20, 70)
    for filler in [each for each in fillers if len(each) in _FILLER_SIZES and each != b"\0"] if burden else fillers:
        for each in sorted({*lengths, *(length + more for more in near)}):
            if each >= 0 and (each <= _LONG or filler == b"a"):
                yield fill(each, filler), False
        yield from ((fill(each, filler), True) for each in range(few))


def _right_before(inquiry: Inquiry, far: int, *, fine: bool) -> Iterator[Around]:
    """A character of each kind that ends ``far - 1`` octets before the core; the offset stays, if it can."""
    before, behind = inquiry.setting.before, inquiry.setting.behind
    kept = before[len(before) - far + 1 :] if far > 1 else b""
    if not inquiry.text.is_well_formed(kept):
        kept = b"a" * len(kept)
    for each in _some(inquiry, fine=fine):
        rest = len(before) - len(kept) - len(each)
        head = (
            before[:rest]
            if rest > 0 and inquiry.text.is_well_formed(before[:rest])
            else fill(max(rest, 0), inquiry.setting.filler)
        )
        yield head + each + kept, behind


def _right_behind(inquiry: Inquiry, far: int, *, fine: bool) -> Iterator[Around]:
    """A character of each kind, one octet of which is the one ``far`` octets behind the core; lengths stay."""
    before, behind = inquiry.setting.before, inquiry.setting.behind
    for each in _some(inquiry, fine=fine):
        for inside in range(len(each)) if fine else (0,):
            gap = far - 1 - inside
            if gap < 0:
                continue
            head = behind[:gap]
            if len(head) < gap or not inquiry.text.is_well_formed(head):
                head = fill(gap)
            rest = behind[gap + len(each) :]
            if not inquiry.text.is_well_formed(rest):
                rest = fill(len(rest))
            yield before, head + each + rest


def _reach(inquiry: Inquiry, most: int) -> range:
    """How far from the core characters are exchanged, if it is affordable: ``most`` octets."""
    return range(1, (1 if _is_burden(inquiry) else most) + 1)


def _is_burden(inquiry: Inquiry) -> bool:
    return len(inquiry.setting.octets) > BURDEN


def _some(inquiry: Inquiry, *, fine: bool) -> list[bytes]:
    if fine:
        return characters(inquiry.text)
    return [
        *_COARSE,
        *(each for size, some in by_size(inquiry.text).items() if size > 1 for each in some[:: max(1, len(some) // 4)]),
    ]


def _sprinkled(inquiry: Inquiry) -> Iterator[Around]:
    """One character of each kind anywhere before, and anywhere behind."""
    before, behind = inquiry.setting.before, inquiry.setting.behind
    for each in (b"\n", *inquiry.text.fillers):
        for gap in (0, 1, 2, 5, 9):
            yield each + fill(gap) + before, behind
            yield before, behind + fill(gap) + each


def _kept_characters(inquiry: Inquiry) -> dict[bytes, int]:
    """The first few different characters before the core, but for plain filler: how far before it they begin."""
    before = inquiry.setting.before[-BURDEN:]
    found = {before[start:end]: len(before) - start for start, end in inquiry.text.pieces(before)}
    found.pop(b"a", None)
    return dict([*found.items()][:_FEW])


def _moved(inquiry: Inquiry, character: bytes, far: int) -> Iterator[Around]:
    """A character farther before the core or less far, none instead of it, and others there."""
    behind, own = inquiry.setting.behind, far - len(character)
    for more in (0, 1, 2, 9):
        yield fill(more) + character + fill(own), behind
    for each in characters(inquiry.text) if far > FAR_BEFORE else ():
        if len(each) <= far:
            yield each + fill(far - len(each)), behind
    for gap in {*_GAPS, max(own - 1, 0), own + 1}:
        yield character + fill(gap), behind
        yield fill(gap + len(character)), behind
    for each in _some(inquiry, fine=False):
        yield each + fill(_GAPS[-1]), behind
        yield each + fill(1), behind


# ---- at random ----


def drawn_text(inquiry: Inquiry, length: int) -> bytes:
    """Random text of about some octets."""
    random = inquiry.random
    if length > _MIXED:  # long text is of one kind but for an end
        mixed = drawn_text(inquiry, random.randrange(_MIXED)) if random.random() < 0.6 else b""
        rest = fill(length - len(mixed), random.choice(inquiry.text.fillers) if random.random() < 0.7 else b"a")
        return mixed + rest if random.random() < 0.5 else rest + mixed
    if random.random() < 0.4:
        return fill(length, random.choice(inquiry.text.fillers) if random.random() < 0.7 else b"a")
    plain, every, fillers = random.random(), by_size(inquiry.text), filler_of(inquiry.text)
    sizes = random.choices((1, 2, 3, 4), (1 + 3 * plain, 1 - plain, 1 - plain, 1 - plain), k=length + 1)
    found, size = list[bytes](), 0
    for of in sizes:
        if size == length:
            break
        some = every.get(of if of <= length - size else 1, every[1])
        found.append(random.choice(some) if random.random() < plain else fillers.get(of, b"a"))
        size += len(found[-1])
    return b"".join(found)


def drawn_around(inquiry: Inquiry, rule: Rule) -> Around:
    """Random surroundings, near the edges of a rule."""
    random, setting = inquiry.random, inquiry.setting
    before, behind = setting.before, setting.behind
    wanted = _wanted(inquiry, rule)
    choice = random.random()
    if choice < 0.75:
        kept = setting.kept_before if random.random() < 0.6 else b""
        if random.random() < 0.25:
            kept = random.choice(characters(inquiry.text))
        if "characters" in wanted or "wide" in wanted:
            wide = wanted.get("wide")
            filler = random.choice(inquiry.text.fillers if wide is None else [*filler_of(inquiry.text).values()][1:])
            number = wanted.get("characters", 0) if wide is None else wide
            more = max(0, wanted.get("characters", 0) - number)
            before = filler * min(number, inquiry.most // len(filler)) + b"a" * min(more, inquiry.most) + kept
            if random.random() < 0.3 and len(before) < 500:
                before = drawn_text(inquiry, random.randrange(8)) + before
        else:
            offset = wanted.get("offset", _any_length(inquiry, len(before)))
            if "length" in wanted and "behind" not in wanted and random.random() < 0.5:
                offset = max(0, wanted["length"] - len(behind) - len(setting.core))
            before = drawn_text(inquiry, max(0, min(offset, inquiry.most) - len(kept))) + kept
    if choice > 0.4:
        kept = setting.kept_behind if random.random() < 0.6 else b""
        length = wanted.get("behind", _any_length(inquiry, len(behind)))
        if "length" in wanted and random.random() < 0.8:
            length = max(0, wanted["length"] - len(before) - len(setting.core))
        behind = kept + drawn_text(inquiry, max(0, min(length, inquiry.most) - len(kept)))
    return before, behind


def _any_length(inquiry: Inquiry, usual: int) -> int:
    random = inquiry.random
    draw = random.random()
    if draw < 0.4:
        return usual
    if draw < 0.9 or usual > _LONG:
        return random.randrange(40)
    return random.randrange(200)


def _wanted(inquiry: Inquiry, rule: Rule) -> dict[str, int]:
    """A value for each factor in a rule that text can be made for: at its edges, or a little off."""
    random, found = inquiry.random, dict[str, int]()
    for atom in rule:
        value: int | None = None
        if (block := block_of(atom.factor)) is not None:
            turns = max(1, min(_TURNS, inquiry.most // block - 1))
            found["offset"] = max(0, random.randint(1, turns) * block - random.randrange(6))
            continue
        if atom.values is not None and atom.factor in ("offset", "length", "behind", "characters", "wide"):
            value = random.choice(sorted(atom.values))
        elif atom.modulus:
            turns = max(1, 200 // atom.modulus)
            value = random.choice(sorted(atom.rests)) + atom.modulus * random.randrange(turns)
            if atom.low is not None and value < atom.low:
                value += -(-(atom.low - value) // atom.modulus) * atom.modulus
        elif atom.low is not None and atom.low == atom.high:
            value = atom.low
        elif atom.low is not None:
            edge = atom.low if atom.high is None or random.random() < 0.5 else atom.high
            value = edge + random.choice((0, 0, 1, 2, random.randrange(20), -random.randrange(edge + 1)))
        elif atom.high is not None:
            value = random.randrange(atom.high + 1)
        if value is not None:
            if random.random() < 0.3:
                value += random.choice((-2, -1, 1, 2))
            found[atom.factor] = max(0, value)
    return found
