"""Examines one divergence of a target: opens it, chooses the operation, and returns the explanation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.examine.asking import Asker
from overlong.conformance.examine.examination import Examination
from overlong.conformance.examine.explanation import GOOD, Explanation
from overlong.conformance.examine.question import Question
from overlong.conformance.examine.sentence import sentence_of
from overlong.conformance.examine.text import text_of
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import AGAIN, BATCH, DECODE, GUARDED, REPLACE, STREAMING, VALIDATE
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.profile import RFC3629, Profile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.targets.resolve import Limits

_ORDER = DECODE + VALIDATE + REPLACE + STREAMING + AGAIN


class Budget(NamedTuple):
    """What an examination may cost a target."""

    questions: int
    octets: int
    longest: int
    """The most octets of a string."""
    fresh: int
    """The fresh questions of the last check."""
    fine: bool
    """True if all octets and all lengths can be tried."""


_FUNCTION = Budget(40_000, 160 << 20, 1 << 18, 2000, fine=True)
_IN_BATCHES = Budget(12_000, 2 << 20, 1 << 14, 500, fine=True)
_SINGLY = Budget(1000, 1 << 18, 1 << 10, 100, fine=False)
_STARTED = Budget(80, 1 << 16, 256, 20, fine=False)


def budget_of(greeting: Greeting) -> Budget:
    """Thousands of questions for a function, hundreds for an adapter, tens for a program that starts each time."""
    if GUARDED in greeting.operations:
        return _FUNCTION
    if "slow" in greeting.traits:
        return _STARTED
    return _IN_BATCHES if BATCH in greeting.operations else _SINGLY


def examine(
    target: str | Sequence[str],
    octets: bytes | Question,
    *,
    operation: str = "",
    profile: Profile = RFC3629,
    limits: Limits | None = None,
) -> Explanation | None:
    """Why a target answers some octets wrongly.

    Args:
        target: named as on the command line.
        octets: an input that it answers wrongly, or a question with its circumstances.
        operation: the letter of the operation; empty for the first one that shows a divergence.
        profile: what the target is measured by.
        limits: of its processes.

    Returns:
        None if no operation gives a wrong answer.

    Raises:
        TargetError: the target cannot be measured.
    """
    question = octets if isinstance(octets, Question) else Question(octets)
    opened = resolve(target, limits)
    opened.open()
    try:
        for each in operation or _fitting(question, opened.greeting):
            found = explained(opened, question, each, profile)
            if found is not None:
                return found
        return None
    finally:
        opened.close()


def _fitting(question: Question, greeting: Greeting) -> str:
    """The operations to try, the most telling first."""
    chunked, used = question.chunks is not None, question.earlier is not None
    wanted = AGAIN if used else STREAMING if chunked else _ORDER
    return "".join(each for each in wanted if each in greeting.operations)


def explained(target: Target, question: Question, operation: str, profile: Profile = RFC3629) -> Explanation | None:
    """Why an open target answers a question wrongly by one operation; None if it answers rightly.

    Raises:
        TargetError: the target cannot be measured.
    """
    greeting = target.greeting
    if operation not in greeting.operations:
        raise TargetError(f"{target.id}: it does not offer {operation}")
    budget = budget_of(greeting)
    profile = profile.as_said(greeting)
    asker = Asker(target, profile, operation, questions=budget.questions, octets=budget.octets)
    finding = asker.finding(question)
    if finding is None:
        return None
    if not isinstance(finding.observed, Accepted | Refused):
        return Explanation(finding, None, _of_failure(finding), asked=asker.asked, operation=operation)
    place = finding.observed.offset if isinstance(finding.observed, Refused) and profile.counts == "octets" else None
    examination = Examination(
        asker,
        text_of(profile.dialect),
        offsets=place is not None,
        fine=budget.fine,
        most=budget.longest,
    )
    condition = examination.run(question.octets, place)
    if condition is None:
        return Explanation(finding, None, _of_failure(finding), asked=asker.asked, operation=operation)
    check = examination.confirm(budget.fresh)
    setting = examination.setting
    least = asker.finding(Question(setting.octets)) if setting is not None else None
    sentence = sentence_of(condition)
    if check.checked and check.predicted < GOOD * check.checked:
        sentence = f"nearly: {sentence}"
    return Explanation(least or finding, condition, sentence, check.predicted, check.checked, asker.asked, operation=operation)


def _of_failure(finding: Finding) -> str:
    return finding.title
