"""An explanation: the least example of a divergence, its condition, and how well it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from overlong.conformance.examination.condition import AnyCondition, Condition
from overlong.conformance.examination.of_numbers import OfNumbers
from overlong.conformance.examination.of_questions import OfQuestions
from overlong.conformance.examination.prediction import predicts
from overlong.conformance.examination.sentence import sentence_of
from overlong.conformance.oracle.finding import Why, id_of, share_of
from overlong.conformance.protocol.observation import EARLIEST, Code
from overlong.conformance.protocol.wire import IN_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from overlong.conformance.oracle.finding import Finding


GOOD = 0.99
"""The share of fresh questions that a rule must predict to count as one."""
_VAGUE = 0.95
"""A rule that predicts less of fresh inputs tells nothing apart."""


@dataclass(frozen=True)
class Explanation:
    """Why a decoder diverges."""

    finding: Finding | None
    """What is wrong with the least example; None if the decoder answers rightly when it is asked again."""
    condition: AnyCondition | None
    """When it diverges so; None if no experiment could be made, as of a crash or of a changing answer."""
    sentence: str
    predicted: int = 0
    """Of fresh questions, those that the condition predicted."""
    checked: int = 0
    """The fresh questions."""
    asked: int = 0
    """All questions that the examination took."""
    telling: Finding | None = None
    """An example that says more, if there is one."""
    operation: str = ""

    @property
    def example(self) -> bytes:
        """The octets of the least example."""
        return self.finding.vector.octets if self.finding is not None else b""

    @property
    def code(self) -> str:
        """The code of the divergence."""
        return self.finding.code if self.finding is not None else ""

    @property
    def share(self) -> float:
        """The share of fresh questions that the condition predicts."""
        return share_of(self.predicted, self.checked)

    @property
    def confirmed(self) -> bool:
        """True if the condition predicts nearly all fresh questions."""
        return self.condition is not None and self.share >= GOOD

    @property
    def recalls(self) -> bool:
        """True if an earlier call or stream is the cause."""
        return self.condition is not None and self.condition.recalls

    @property
    def id(self) -> str:
        """The condition's id; that of the code if there is none."""
        return self.condition.id if self.condition is not None else id_of(self.code).replace("D-", "C-")

    @property
    def why(self) -> Why:
        """What a bucket keeps of it; only if there is a condition."""
        assert self.condition is not None
        return Why(self.sentence, self.id, self.condition.to_json(), (self.predicted, self.checked))

    def united(self, other: Explanation) -> Explanation | None:
        """The explanation of a cause that two examinations explain in part; None if these are two causes."""
        if not isinstance(self.condition, Condition) or not isinstance(other.condition, Condition):
            return None
        condition = self.condition.united(other.condition)
        if condition is None or min(self.share, other.share) < _VAGUE:
            return None
        predicted, checked = self.predicted + other.predicted, self.checked + other.checked
        return replace(
            self,
            condition=condition,
            sentence=in_words(condition, self.code, predicted, checked),
            predicted=predicted,
            checked=checked,
            asked=self.asked + other.asked,
        )

    def among(self, causes: Iterable[Explanation]) -> tuple[int, Explanation] | None:
        """The place among known causes of the one of which this is a part, or all; and both as one. None: it is new."""
        for place, known in enumerate(causes):
            united = known if known.id == self.id else known.united(self)
            if united is not None:
                return place, united
        return None

    def joins(self, finding: Finding) -> bool:
        """True if the condition predicts another finding: then that belongs to the same cause."""
        if self.condition is None:
            return finding.code == self.code and finding.operation == self.operation
        return predicts(self.condition, self.code, finding)

    def takes(self, finding: Finding) -> bool:
        """True if another finding belongs to the same cause: the condition predicts it, or it resembles the example."""
        if self.condition is None or self.finding is None:
            return self.joins(finding)
        return takes(self.condition, self.finding, self.share, finding)

    def to_json(self) -> dict[str, object]:
        """The explanation for files."""
        chunks = self.finding.vector.chunks if self.finding is not None else None
        return {
            "code": self.code,
            "id": self.id,
            "sentence": self.sentence,
            "operation": self.operation,
            "example": self.example.hex(),
            **({"chunks": list(chunks)} if chunks is not None else {}),
            **({"telling": self.telling.vector.octets.hex()} if self.telling is not None else {}),
            "condition": self.condition.to_json() if self.condition is not None else None,
            "confirmed": [self.predicted, self.checked],
            "asked": self.asked,
        }


def in_words(condition: AnyCondition, code: str, predicted: int, checked: int) -> str:
    """The sentence of a condition, marked if it predicts too few of the fresh questions.

    Args:
        condition: of any type.
        code: of the example.
        predicted: fresh questions.
        checked: all of them.
    """
    if isinstance(condition, OfNumbers | OfQuestions):
        sentence = condition.sentence
    else:
        assert isinstance(condition, Condition)
        sentence = sentence_of(condition, code)
    return f"nearly: {sentence}" if predicted < GOOD * checked else sentence


def condition_of(read: Mapping[str, Any]) -> AnyCondition:
    """The condition that :meth:`AnyCondition.kept` gave.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    kind = OfQuestions if "question" in read else OfNumbers if "numbers" in read else Condition
    return kind.of_json(read)


class Shown(Protocol):
    """What is read of the example of a cause."""

    @property
    def code(self) -> str: ...
    @property
    def operation(self) -> str: ...
    @property
    def place(self) -> str: ...
    @property
    def claim(self) -> str: ...


def takes(condition: AnyCondition, example: Shown, share: float, finding: Finding) -> bool:
    """True if a finding belongs to a cause: its condition predicts it, or it resembles the example."""
    return predicts(condition, example.code, finding) or resembles(finding, example, condition, share)


def resembles(finding: Finding, example: Shown, condition: AnyCondition, share: float) -> bool:
    """True if a finding belongs to a cause by its code and place, even if the condition does not predict it.

    A rule that predicts not quite all takes the others of the code and place of the example, too; one that predicts
    less, or a rule of streams, all of the code. Faults of memory and internal errors of one code are one cause, and so
    are output and refusals at a wrong time at one place.

    Args:
        finding: another finding of the same target.
        example: the examined one.
        condition: what explains that.
        share: of fresh questions, that the condition predicted.
    """
    if finding.claim == example.claim == EARLIEST and (finding.place == example.place or condition.withholds):
        return True
    if share >= GOOD and example.operation not in IN_MEMORY and example.code != Code.INTERNAL_ERROR:
        return False
    vague = share < GOOD and (share < _VAGUE or condition.streams)
    return finding.code == example.code and (vague or finding.place == example.place)
