"""The course of one examination: the experiments around one example, the rule that explains them, and its check."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.examination.adjoining import adjoining
from overlong.conformance.examination.asking import RIGHT, OutOfBudget
from overlong.conformance.examination.blocks import across_blocks
from overlong.conformance.examination.calls import carried, carries, recalled
from overlong.conformance.examination.cancelling import cancelling
from overlong.conformance.examination.factors import ADDRESS
from overlong.conformance.examination.first_octets import first_octets
from overlong.conformance.examination.fresh import fresh
from overlong.conformance.examination.least import BURDEN, blanked, parted, simplified
from overlong.conformance.examination.surroundings import decide, of_another_cause, repeat, vary
from overlong.conformance.examination.text import exactly
from overlong.conformance.examination.vocabulary import learn, look_behind, mistaken, reread, widen
from overlong.conformance.protocol.wire import REPLACING

if TYPE_CHECKING:
    from overlong.conformance.examination.condition import Condition
    from overlong.conformance.examination.inquiry import Inquiry

_ROUNDS = 8
_EACH, _EACH_COARSE = 240, 30
"""Fresh questions in a round."""
_RESERVED = 0.25
"""The share of the budget that is kept for other words and for rounds when surroundings are varied."""
_STEADY = 2
"""After so many rounds a rule that does not change is not mended any more."""


class Checked(NamedTuple):
    """How well a condition predicts."""

    predicted: int = 0
    checked: int = 0


class Course:
    """Experiments around one example."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.inquiry = inquiry
        self.check = Checked()

    def run(self, octets: bytes, place: int | None = None) -> Condition | None:
        """The condition of a divergence; None if the example does not show it again.

        Args:
            octets: the example.
            place: where the target says that it refused well-formed text.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        try:
            self._experiment(octets, place)
        except OutOfBudget:
            if self.inquiry.condition is not None:
                decide(self.inquiry)
        return self.inquiry.condition

    def _experiment(self, octets: bytes, place: int | None) -> None:
        inquiry = self.inquiry
        octets = self._placed(octets)
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
        self._refine()

    def _placed(self, octets: bytes) -> bytes:
        """The octets with as much text behind as brings them to an address where they show it."""
        if not self.inquiry.placed:
            return octets
        tried = [octets + b"a" * more for more in range(ADDRESS)]
        said = self.inquiry.ask(tried)
        return next((each for each, symptom in zip(tried, said, strict=True) if symptom != RIGHT), octets)

    def _refine(self) -> None:
        """Fresh questions; what the condition predicts wrongly mends it; the last round counts."""
        inquiry = self.inquiry
        best, least = inquiry.condition, 1.0
        for number in range(_ROUNDS):
            missed = self._missed(_EACH if inquiry.fine else _EACH_COARSE)
            share = len(missed) / max(self.check.checked, 1)
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

    def confirm(self, count: int) -> Checked:
        """Of fresh questions, how many the condition predicts; those of the last round if no more may be asked.

        Raises:
            BudgetSpent: the target fails too often.
            TargetError: it cannot be asked any more.
        """
        self.inquiry.asker.octets += self.inquiry.step
        self.inquiry.asker.questions += count
        with suppress(OutOfBudget):
            if self.inquiry.known.carries:
                self.check = Checked(*carried(self.inquiry, count))
            else:
                self._missed(count)
        return self.check

    def _missed(self, count: int) -> list[tuple[bytes, bool]]:
        """The fresh strings that the condition predicts wrongly, and whether the answer is wrong."""
        inquiry = self.inquiry
        strings = fresh(inquiry, count, inquiry.asker.octets)
        asked = list(zip(strings, inquiry.wrong(strings), strict=True))
        missed = [each for each in asked if inquiry.known.holds(inquiry.question(each[0])) != each[1]]
        self.check = Checked(len(asked) - len(missed), len(asked))
        return missed
