"""What one examination knows while it runs: the symptom, the setting, the condition so far, and the answers noted."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import ACCEPTS, RIGHT, Question
from overlong.conformance.examination.condition import OFFSETS, Condition
from overlong.conformance.examination.contexts import Experiments
from overlong.conformance.examination.factors import ADDRESS, ADDRESSES, FACTORS
from overlong.conformance.examination.rules import Rule, Table
from overlong.conformance.protocol.observation import Code

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.least import Setting
    from overlong.conformance.examination.text import Product, Text

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
        self._setting: Setting | None = None

    @property
    def known(self) -> Condition:
        """The condition, once there is one."""
        assert self.condition is not None, "words are learned first"
        return self.condition

    @property
    def parted(self) -> bool:
        """True if there is a setting."""
        return self._setting is not None

    @property
    def setting(self) -> Setting:
        """The core and what stands around it, once the example is parted."""
        assert self._setting is not None, "it is parted first"
        return self._setting

    @setting.setter
    def setting(self, setting: Setting) -> None:
        self._setting = setting
        self.experiments = Experiments(setting, self.text, self.random, self.most)

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
