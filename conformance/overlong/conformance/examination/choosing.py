"""Which of many divergences are examined, in which order, and by which operation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import Question
from overlong.conformance.examination.examine import EXAMINED, explained
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import DECODE, GUARDED, MEASURED, REPLACE, REPLACING, STREAMING, VALIDATE
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.explanation import Explanation
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.oracle.target import Target
    from overlong.conformance.vectors.profile import Profile

MOST = 12
"""The most examinations of a run. Seconds would give another certificate on a slower machine."""
UNSTEADY = (Code.UNSTABLE, Code.IN_COMPANY)
"""The codes of answers that vary: an earlier call may be the cause, and hardly anything else that can be learned."""
_TELLING: tuple[Sequence[str], ...] = (
    (Code.READ_BEFORE_START, Code.READ_PAST_END, Code.WRITTEN_OUTSIDE, Code.LEFT_UNWRITTEN, Code.INPUT_WRITTEN),
    (Code.EARLIER_CALLS, Code.PLACE_IN_MEMORY, *UNSTEADY),
    (Code.REFUSED,),
    (*DEFECTS,),
    (Code.SCALARS, Code.INTERNAL_ERROR),
    (Code.REPLACEMENT_TEXT,),
    (Code.REPLACEMENT_COUNT,),
    (Code.OFFSET,),
    (Code.LENGTH, Code.INCOMPLETE),
    (Code.CHUNKING,),
    (Code.STREAM_OFFSET, Code.LATE, Code.HELD_BACK, Code.EARLY),
    (Code.SCALAR_REFUSED,),
    (Code.SURROGATE_ENCODED, Code.BEYOND_ENCODED, Code.WRONG_OCTETS, Code.ENCODER_REPLACEMENT),
    (Code.REFUSAL_PLACE, Code.SIZE),
    (Code.QUESTION_REFUSED,),
    (Code.CHARACTER_CUT, Code.OUT_OF_RANGE),
    (Code.WRONG_COUNT, Code.WRONG_BOUNDARY, Code.WRONG_LENGTH, Code.WRONG_STEP, Code.WRONG_INDEX),
    (Code.WRONG_CONVERSION,),
)
"""The codes that are examined. What one says may explain those after it: memory, what a reader loses, what is merely
counted or placed otherwise, and when answers come."""
_IN_STREAMS = (Code.CHUNKING, Code.STREAM_OFFSET, Code.LATE, Code.HELD_BACK, Code.EARLY)
"""The codes of what chunks cause."""
_RANKS = {str(code): rank for rank, codes in enumerate(_TELLING) for code in codes}


def is_examinable(code: str, operation: str) -> bool:
    """True if experiments may tell why an answer to this operation diverges so."""
    whole = operation in STREAMING and code not in _IN_STREAMS
    return code in _RANKS and (operation in EXAMINED or whole)


def rank(code: str, operation: str) -> tuple[int, int]:
    """The place of a divergence in the order of examinations; only of one that is examinable."""
    return _RANKS[code], MEASURED.index(operation)


def why(finding: Finding, target: Target, profile: Profile) -> Explanation | None:
    """Examine an examinable finding; None if the target answers rightly when it is asked again.

    Raises:
        BudgetSpent: the target fails too often.
        TargetError: it cannot be asked any more.
    """
    vector, operation = finding.vector, finding.operation
    question = Question.of(vector)
    if operation == GUARDED or (operation in STREAMING and finding.code not in _IN_STREAMS):
        # memory is examined beside answers, and what does not depend on chunks is examined without
        whole = REPLACE if operation in REPLACING else VALIDATE + DECODE + REPLACE
        operation = next((each for each in whole if each in target.greeting.operations), "")
        question = Question(vector.octets)
    return explained(target, question, operation, profile) if operation else None
