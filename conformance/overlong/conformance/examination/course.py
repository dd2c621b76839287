"""One examination: the experiments around one example, the rule that explains them, and the check of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination import panel, words
from overlong.conformance.examination.asking import ACCEPTS, RIGHT, Asker, OutOfBudget
from overlong.conformance.examination.atoms import Atom
from overlong.conformance.examination.condition import OFFSETS, Condition
from overlong.conformance.examination.contexts import Experiments
from overlong.conformance.examination.factors import ADDRESS, ADDRESSES, FACTORS
from overlong.conformance.examination.least import Setting, blanked, parted, simplified
from overlong.conformance.examination.question import Question
from overlong.conformance.examination.rules import Rule, Table
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import REPLACING
from overlong.reference import MaximalSubpart, segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.examination.contexts import Around
    from overlong.conformance.examination.text import Text

_ROUNDS = 8
_EACH = 240
"""Fresh questions in a round."""
_PARTS = 6
"""The most kinds of words that one condition joins."""
_TRIES = 12
_NEARLY = 0.95
"""The share of kinds of errors that must show it, if all do."""
_SITES = 16
"""The most places in one string that a table takes."""


@dataclass
class Checked:
    """How well a condition predicts."""

    predicted: int = 0
    checked: int = 0


class Course:
    """Experiments around one example."""

    def __init__(self, asker: Asker, text: Text, *, offsets: bool, fine: bool, most: int, seed: int = 0) -> None:
        """Prepare.

        Args:
            asker: asks the target.
            text: well-formed text.
            offsets: the target reports offsets.
            fine: there is budget for all octets and all lengths.
            most: the most octets of a string.
            seed: of what is drawn.
        """
        self.asker, self.text, self.offsets, self.fine, self.most = asker, text, offsets, fine, most
        self.alike = frozenset({*OFFSETS, Code.INTERNAL_ERROR})
        """Symptoms that one cause may have: an offset beyond the input breaks the convention."""
        self.placed = False
        """True if the answer depends on the place in memory."""
        self.random = Random(seed)  # noqa: S311 (no secret)
        self.symptom = RIGHT
        self.setting: Setting | None = None
        self.table = Table()
        self.condition: Condition | None = None
        self.calls: list[tuple[bytes, bytes]] = []
        self.several = False
        """True if there are several such places in the example, of which the last one shows it."""
        self.recalls = False
        """True if the answer depends on the call before."""
        self.check = Checked()

    # ---- asking ----

    def shows(self, strings: Sequence[bytes]) -> list[bool]:
        """For each string, whether it shows the symptom."""
        return [each == self.symptom or (each in self.alike and self.symptom in OFFSETS) for each in self._ask(strings)]

    def _wrong(self, strings: Sequence[bytes]) -> list[bool]:
        """For each string, whether its answer is wrong as a condition predicts it."""
        return [self._counts(each) for each in self._ask(strings)]

    def _ask(self, strings: Sequence[bytes]) -> list[str]:
        return self.asker.ask(list(map(self._question, strings)))

    def _question(self, octets: bytes) -> Question:
        """The octets in the circumstances in which this examination asks; functions get them right before a guard."""
        return Question(octets, self.asker.earlier, address=-len(octets) % ADDRESS if self.placed else None)

    def _counts(self, symptom: str) -> bool:
        """True if a symptom is one that the condition should predict."""
        if symptom == RIGHT:
            return False
        verdicts = (ACCEPTS, Code.REFUSED)
        if self.symptom in verdicts:
            return symptom in verdicts or (self.offsets and symptom in OFFSETS)
        if self.symptom in OFFSETS:
            return symptom in self.alike
        return symptom == self.symptom or symptom not in (*verdicts, *OFFSETS)

    # ---- the steps ----

    def run(self, octets: bytes, place: int | None = None) -> Condition | None:
        """The condition of a divergence; None if the example does not show it again.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        try:
            octets = self._placed(octets)
            if not self._recalled(octets):
                return None
            if self.recalls and self._carries():
                return self.condition
            if self.asker.operation in REPLACING:
                octets = blanked(octets, self.shows, self.text)
            found = parted(octets, self.symptom, self.shows, self.text, place)
            if found is None:
                return None
            self.setting = found
            self.condition = self._condition(((*(frozenset((each,)) for each in found.core),),))
            self.setting = simplified(found, self.shows, self.text)
            self._look_behind()
            if self._cancelling():
                self._many()
                self._decide()
            else:
                self._learn_words()
                self._vary()
                self._widen()
            self._refine()
        except OutOfBudget:
            pass
        return self.condition

    def _placed(self, octets: bytes) -> bytes:
        """The octets with as much text behind as brings them to an address where they show it."""
        if not self.placed:
            return octets
        tried = [octets + b"a" * more for more in range(ADDRESS)]
        return next((each for each, symptom in zip(tried, self._ask(tried), strict=True) if symptom != RIGHT), octets)

    def _carries(self) -> bool:
        """A decoder that goes on where the call before ended: each answer is right for both inputs joined."""
        cut = [
            bytes(min(some) for some in product)[:size]
            for product in self.text.products
            for size in range(1, len(product))
        ]
        tail = bytes([max(product[-1]) for product in self.text.products if len(product) > 1][:1])
        behind = [
            b"",
            b"a",
            tail,
            tail * 2,
            tail * 3,
            tail + b"a",
            tail * 2 + b"a",
            b"\0",
            *(each[-1:] for each in cut),
        ]
        pairs = [(call, octets) for call in cut for octets in dict.fromkeys(behind)]
        said = self.asker.ask([Question(octets, (b"a", call)) for call, octets in pairs])
        wrong = {call[0]: True for call in cut}
        for (call, octets), symptom in zip(pairs, said, strict=True):
            joined = self.text.is_well_formed(call + octets) != self.text.is_well_formed(octets)
            if joined != (symptom != RIGHT):
                wrong[call[0]] = False
        leads = {lead for lead, carried in wrong.items() if carried}
        if not leads:
            return False
        sizes = {self.text.sizes[lead] for lead in leads}
        every = frozenset(lead for lead in self.text.leads if self.text.sizes[lead] in sizes)
        rule = Rule((Atom("unfinished before", values=every),))
        self.condition = replace(self._condition(((),), rule), symptom=Code.EARLIER_CALLS)
        self.calls = [(call, octets) for call in (*cut, b"a", b"") for octets in dict.fromkeys(behind)]
        self.setting = Setting(b"a", 0, b"", b"", b"", b"a", 0)
        return True

    def _recalled(self, octets: bytes) -> bool:
        """Find the symptom, and the call before that it depends on, if it does."""
        given = self.asker.earlier
        before = [given, *((b"a", each) for each in self._calls(octets))]
        said = self.asker.ask([Question(octets, each) for each in before])
        wrong = [(symptom, each) for symptom, each in zip(said, before, strict=True) if symptom != RIGHT]
        if not wrong:
            return False
        self.symptom = said[0] if said[0] != RIGHT else wrong[0][0]
        if self.symptom == Code.INTERNAL_ERROR and not self.text.is_well_formed(octets):
            self.symptom = Code.OFFSET
        self.recalls = len({symptom == self.symptom for symptom in said[1:]}) > 1
        if self.recalls:
            self.asker.earlier = (
                given
                if given and said[0] != RIGHT
                else next(each for symptom, each in wrong if symptom == self.symptom)
            )
        return True

    def _calls(self, octets: bytes) -> list[bytes]:
        """Calls before that a decoder may remember: accepted, refused, cut short, long, as long, alike."""
        cut = [
            bytes(min(some) for some in product)[:size]
            for product in self.text.products
            for size in range(1, len(product))
        ]
        stray = next(bytes([octet]) for octet in range(256) if octet not in self.text.leads)
        found = [
            b"",
            b"a",
            stray,
            *dict.fromkeys(cut),
            b"a" * len(octets),
            b"a" * (len(octets) + 1),
            b"a" * 70,
            b"a" * 1000,
        ]
        found += [octets[:-1] + b"a", octets[:1] + b"a" * len(octets), b"a" * 9 + stray]
        return list(dict.fromkeys(found))[: None if self.fine else 3]

    def _remember(self) -> None:
        """The setting after other calls."""
        setting = self._given
        if not self.recalls:
            return
        kept, self.asker.earlier = self.asker.earlier, ()
        leads = [bytes([octet]) for octet in sorted(self.text.leads)]
        calls = [
            *self._calls(setting.octets),
            *leads,
            *(b"a" * count for count in range(1, 70)),
            *(each + b"a" for each in leads),
        ]
        asked = [Question(setting.octets, (b"a", each)) for each in dict.fromkeys(calls)]
        for question, symptom in zip(asked, self.asker.ask(asked), strict=True):
            self._note_question(question, wrong=self._counts(symptom))
        self.asker.earlier = kept

    def _cancelling(self) -> bool:
        """Several errors of which each must be there: then the core is one of them, and their number decides."""
        setting = self._given
        if self.symptom != ACCEPTS:
            return False
        flaws = [each for each in segments(setting.core, spoken=self.text.spoken) if isinstance(each, MaximalSubpart)]
        if len(flaws) < 2:
            unit = setting.core
            if not unit or self.asker.streams:
                return False
            said = self.shows([(unit + b"a") * count for count in range(1, 9)])
            if sum(said) in (0, len(said)) or not said[0] or said[1:] == sorted(said[1:], reverse=True):
                return False
        else:
            unit = setting.core[flaws[0].offset : flaws[0].offset + flaws[0].length]
        gaps = [b"", b"a"]
        shown = [self.shows([(unit + gap) * count for count in range(1, 13)]) for gap in gaps]
        if shown[0] != shown[1]:
            return False
        units = [unit, *(each for each in panel.strange(self.text) if len(each) <= 4)]
        for gap in gaps:
            said = self.shows([(unit + gap) * count for count in range(1, 13)])
            number = next((count for count, shown in enumerate(said, 1) if shown), 0)
            if number and sum(said) < len(said):
                alike = self.shows([(unit + gap) * (number - 1) + each + gap for each in units])
                if len(flaws) < 2 and number != 1:
                    continue
                singles = {each[0] for each, shown in zip(units, alike, strict=True) if shown and len(each) == 1}
                words_ = (
                    [(frozenset(range(0x80, 0x100)),)]
                    if len(singles) > 1 and unit[:1]
                    else [tuple(frozenset((octet,)) for octet in unit)]
                )
                self.condition = self._condition(words_)
                self.setting = replace(
                    setting,
                    core=unit,
                    filler=b"a",
                    count=0,
                    kept_before=(unit + gap) * (number - 1),
                    kept_behind=b"",
                    count_behind=0,
                )
                self.experiments = Experiments(self.setting, self.text, self.random, self.most)
                self.condition = replace(self.condition, subparts=True)
                self.table = Table(
                    [each for each in FACTORS if each.name in ("total", "offset", "length", "characters")]
                )
                return True
        return False

    @property
    def _given(self) -> Setting:
        assert self.setting is not None, "it is parted"
        return self.setting

    def _condition(self, products: Iterable[tuple[frozenset[int], ...]], rule: Rule = Rule()) -> Condition:  # noqa: B008
        return Condition(
            self.symptom,
            tuple(products),
            rule,
            speaks=self.text.spoken.name,
            operation=self.asker.operation,
            offsets=self.offsets,
        )

    def _look_behind(self) -> None:
        """Whether a later error gets another offset for this cause: a decoder may look at the whole input first."""
        if self.offsets and self.symptom in (ACCEPTS, Code.REFUSED):
            later = [self._given.octets + each for each in (b"\xff", b"a\xff", b"aaaa\x80")]
            self.offsets = any(symptom != RIGHT for symptom in self._ask(later))

    def _learn_words(self) -> None:
        core = self._given.core
        if not core:
            self.condition = self._condition(((),))
            return
        if self._any_error():
            return
        octets = words.ALL if self.fine else panel.edges(self.text)
        checks = 200 if self.fine else 20
        found = words.learned(
            core,
            lambda some: self.shows([self._given.with_core(each) for each in some]),
            self.random,
            checks=checks,
            octets=octets,
        )
        self.condition = self._condition(found.products)
        self._take_first()

    def _any_error(self) -> bool:
        """True if errors of every kind show it: then an error is what matters, and not its octets."""
        if self.asker.operation not in REPLACING or self.text.is_well_formed(self._given.core):
            return False
        behind, before = self._given.behind, self._given.before
        tried = [
            each
            for each in panel.strange(self.text)
            if sum(isinstance(found, MaximalSubpart) for found in segments(each + behind, spoken=self.text.spoken)) == 1
        ]
        said = self._wrong([before + each + behind for each in tried])
        if sum(said) < _NEARLY * len(said):
            return False
        self.condition = replace(self._condition(((frozenset(range(0x80, 0x100)),),)), subparts=True)
        return True

    def _take_first(self) -> None:
        """Whether the decoder reads the words before it reads characters that begin with them."""
        condition = self.condition
        if condition is None or self.symptom != ACCEPTS:
            return
        longer = [
            bytes(
                min(octets & first) if place < len(word) and (first := word[place]) else min(octets)
                for place, octets in enumerate(product)
            )
            for word in condition.words
            for product in self.text.products
            if len(word) < len(product) and all(one & other for one, other in zip(word, product, strict=False))
        ]
        if longer:
            said = self.asker.ask([Question(self._given.with_core(each)) for each in longer[:16]])
            if any(each == Code.REFUSED for each in said):
                self.condition = replace(condition, first=True)

    def place(self) -> None:
        """Tell addresses apart, and not what stands behind: the answer depends on the place in memory."""
        self.placed = True
        self.table = Table([*(each for each in FACTORS if each.name not in ("behind", "length")), *ADDRESSES])

    # ---- surroundings ----

    def _try(self, around: Iterable[Around]) -> list[bool]:
        """Ask the core in these surroundings, and note what comes of it."""
        setting = self._given
        some = [
            (before, behind)
            for before, behind in dict.fromkeys(around)
            if self._fits(before, setting.core, behind) and len(before) + len(behind) <= self.most
        ]
        said = self._wrong([before + setting.core + behind for before, behind in some])
        for (before, behind), wrong in zip(some, said, strict=True):
            self._note(before + setting.core + behind, wrong=wrong)
        return said

    def _note(self, octets: bytes, *, wrong: bool) -> None:
        self._note_question(self._question(octets), wrong=wrong)

    def _note_question(self, question: Question, *, wrong: bool) -> None:
        """Note a question with one place for the words, or several that stand or fall together."""
        assert self.condition is not None
        sites = self.condition.sites(question, _SITES)
        if len(sites) == 1 or (sites and (self.condition.subparts or self.several)):
            self.table.add(sites[-1], wrong=wrong)
        elif self.symptom == ACCEPTS:
            for site in sites[:_SITES] if wrong else ():  # all of them are accepted
                self.table.add(site, wrong=True)
        elif len(sites) < _SITES and not wrong:
            for site in sites:
                self.table.add(site, wrong=False)

    def _fits(self, before: bytes, core: bytes, behind: bytes) -> bool:
        """True if the core is the only such place in these surroundings."""
        assert self.condition is not None
        if not self.text.is_well_formed(before):
            return False
        if self.text.is_well_formed(core) and not self.text.is_well_formed(behind):
            return False
        sites = self.condition.sites(Question(before + core + behind), _SITES if self.several else 2)
        if not sites:
            return False
        return (len(sites) == 1 or self.several) and sites[-1].start == len(before)

    def _vary(self) -> None:
        """One factor at a time around the setting."""
        setting = self._given
        sites = self.condition.sites(self._question(setting.octets), _SITES) if self.condition is not None else []
        self.several = self.symptom != ACCEPTS and 1 < len(sites) < _SITES and sites[-1].start == len(setting.before)
        around = Experiments(setting, self.text, self.random, self.most)
        self.experiments = around
        self._try([(setting.before, setting.behind)])
        self._try(around.sprinkled())
        self._try(around.offsets(fine=self.fine))
        self._try(around.behinds(fine=self.fine))
        for far in around.befores():
            said = self._try(around.right_before(far, fine=False))
            if self.fine and (not all(said)) and any(said):
                self._try(around.right_before(far, fine=True))
        for far in around.farther():
            said = self._try(around.right_behind(far, fine=False))
            if self.fine and (not all(said)) and any(said):
                self._try(around.right_behind(far, fine=True))
        self._many()
        self._remember()
        self._decide()

    def _many(self) -> None:
        """Several such places in one string."""
        if self.symptom != ACCEPTS:
            return
        setting = self._given
        counts = [*range(1, 26), 31, 32, 33, 63, 64, 65, 255, 256, 257]
        strings = [(gap + setting.core) * count for count in counts for gap in (b"", b"a", b"aa")]
        for octets, wrong in zip(strings, self._wrong(strings), strict=True):
            self._note(octets, wrong=wrong)

    def _decide(self) -> None:
        assert self.condition is not None
        self.condition = replace(self.condition, rule=self.table.rule())

    # ---- more words ----

    def _widen(self) -> None:
        """Other octets that are wrong in the same setting: accepted errors of other kinds, other refused characters."""
        setting = self._given
        if not setting.core or not self.fine:
            return
        tried = (
            panel.strange(self.text) if self.symptom not in (Code.REFUSED, Code.SCALARS) else panel.notable(self.text)
        )
        strings = {each: setting.with_core(each) for each in tried}
        symptoms = dict(zip(strings, self.asker.ask([Question(each) for each in strings.values()]), strict=True))
        for _ in range(_PARTS):
            assert self.condition is not None
            more = [
                each
                for each, octets in strings.items()
                if symptoms[each] == self.symptom and not self.condition.holds(self._question(octets))
            ]
            if not more:
                return
            core = min(more, key=lambda each: (len(each), each))
            found = words.learned(
                core, lambda some: self.shows([setting.with_core(each) for each in some]), self.random, checks=100
            )
            if not found.products:
                return
            joined = [*self.condition.words, *found.products]
            self.condition = replace(self.condition, words=tuple(dict.fromkeys(joined)))

    # ---- counterexamples ----

    def _refine(self) -> None:
        """Fresh questions; what the condition predicts wrongly mends it; the last round counts."""
        for number in range(_ROUNDS):
            strings = self.fresh(_EACH if self.fine else 30)
            said = self._wrong(strings)
            assert self.condition is not None
            missed = [
                (octets, wrong)
                for octets, wrong in zip(strings, said, strict=True)
                if self.condition.holds(self._question(octets)) != wrong
            ]
            self.check = Checked(len(strings) - len(missed), len(strings))
            if not missed:
                break
            before = self.condition
            for octets, wrong in missed:
                self._note(octets, wrong=wrong)
            if number < _ROUNDS - 1:
                self._decide()
            if self.condition == before and number > 2:
                break

    def confirm(self, count: int) -> Checked:
        """Fresh questions that the condition has not seen."""
        if self.condition is None:
            return Checked()
        count = min(count, self.asker.left)
        if self.condition.carries:
            return self._confirm_carried(count)
        try:
            strings = self.fresh(count)
            said = self._wrong(strings)
        except OutOfBudget:
            return self.check
        right = sum(
            self.condition.holds(self._question(octets)) == wrong for octets, wrong in zip(strings, said, strict=True)
        )
        return Checked(right, len(strings))

    def _confirm_carried(self, count: int) -> Checked:
        assert self.condition is not None
        random = self.random
        asked = [
            Question(octets + random.choice((b"", b"a", b"b" * 9)), (b"a", random.choice((b"", b"a", b"x" * 7)) + call))
            for call, octets in random.choices(self.calls, k=count)
        ]
        said = self.asker.ask(asked)
        right = sum(self.condition.holds(each) == (symptom != RIGHT) for each, symptom in zip(asked, said, strict=True))
        return Checked(right, count)

    def fresh(self, count: int) -> list[bytes]:
        """Random strings near the condition: half inside, half just outside, as far as they can be made."""
        assert self.condition is not None
        inside, outside = dict[bytes, None](), dict[bytes, None]()
        size = 0
        for _ in range(_TRIES * count):
            octets = self._drawn()
            if len(octets) > self.most:
                continue
            size += len(octets)
            held = self.condition.holds(self._question(octets))
            into = inside if held else outside
            if len(into) < (count + 1) // 2:
                into[octets] = None
            if len(inside) + len(outside) >= count or size > 4 << 20:
                break
        return [*inside, *outside]

    def _drawn(self) -> bytes:
        assert self.condition is not None
        random = self.random
        before, behind = self.experiments.around(self.condition.rule)
        product = random.choice(self.condition.words)
        core = bytes(random.choice((min(each), max(each), random.choice(sorted(each)))) for each in product)
        draw = random.random()
        if draw < 0.12 and core:
            place = random.randrange(len(core))
            core = (
                core[:place]
                + bytes([random.choice((random.randrange(256), (core[place] + random.choice((-1, 1))) % 256))])
                + core[place + 1 :]
            )
        elif draw < 0.17:
            core = b""
        elif draw < 0.22:
            behind += self.experiments.text_of(random.randrange(8)) + core
        elif draw < 0.25 and core:
            core = core[:-1]
        return before + core + behind
