"""Remarks on claims, from the data of a file or a run: why a claim was not measured, or its error mode."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.kind import ENCODER, POSITION, REPLACEMENT, SCALARS
from overlong.conformance.protocol.wire import ENCODE, ENCODE_UTF16, OPERATIONS
from overlong.conformance.results.model import Standing
from overlong.conformance.results.run import HOLDS, MEASURED_BY, NOT_MEASURED, measuring
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.vectors.vector import puts_out
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from overlong.conformance.results.model import Cause


def details_of(
    target: Mapping[str, Any], claims: Mapping[str, str], suites: Iterable[Mapping[str, Any]], causes: Iterable[Cause]
) -> dict[str, str]:
    """The remark on each claim that has one.

    Args:
        target: its record.
        claims: each claim and its result; only those of :data:`overlong.conformance.protocol.kind.CLAIMS` have remarks.
        suites: the records of the suites that the target was asked.
        causes: of its divergences.
    """
    operations, error_mode = target["operations"], target["error_mode"]
    unsupported: Counter[str] = Counter()
    without_text, longest = 0, dict[str, int]()
    for suite in suites:
        for operation in suite["operations"]:
            longest[operation] = max(suite.get("longest", 0), longest.get(operation, 0))
        unsupported.update(suite["unsupported"])
        without_text += suite.get("without_text", 0)
    refuted = [(cause.claim, cause.standing is Standing.EXPECTED) for cause in causes]

    def detail(claim: str, state: str) -> str:
        if state == NOT_MEASURED:
            why = why_not(claim, operations, error_mode, unsupported, without_text)
            return f"not measured: {why}" if why else ""
        if (claim, True) in refuted and (claim, False) not in refuted:
            return "as expected"
        if claim == REPLACEMENT:
            if not puts_out(error_mode):
                return f"of its own: {printable(error_mode)}"
            mode = ERROR_MODES[error_mode]
            return f"{mode.name}: {mode.line}"
        return _longest(longest) if claim == ENCODER and state == HOLDS else ""

    said = {claim: detail(claim, state) for claim, state in claims.items()}
    return {claim: words for claim, words in said.items() if words}


def _longest(longest: Mapping[str, int]) -> str:
    """``in texts of up to 65 557 code points, 65 557 code units``; empty if it is not known.

    ``longest``: for each operation of an encoder, the most numbers in a text that it was given.
    """
    kinds = ((ENCODE, "code point"), (ENCODE_UTF16, "code unit"))
    most = [counted(longest[operation], what) for operation, what in kinds if longest.get(operation)]
    return f"in texts of up to {', '.join(most)}" if most else ""


def is_not_offered(claim: str, state: str, operations: str) -> bool:
    """True if a claim was not measured only because the target does not offer its operations, which is usual."""
    if state != NOT_MEASURED or claim not in {POSITION, *MEASURED_BY}:
        return False
    return claim == POSITION or not set(operations) & set(MEASURED_BY[claim])


def why_not(claim: str, operations: str, error_mode: str, unsupported: Mapping[str, int], without_text: int = 0) -> str:
    """The reason why a claim was not measured; empty if this version does not know the claim."""
    offered = set(operations)
    if claim == POSITION:
        return "it does not say where" if offered & set("VD") else "it refuses nothing"
    if claim not in MEASURED_BY:
        return ""
    if claim == SCALARS and without_text:
        return f"there is no text of {counted(without_text, 'well-formed vector')} that it does not accept"
    if offered & set(MEASURED_BY[claim]) and not offered & measuring(claim, error_mode):
        return f"this version does not know its error mode, {printable(error_mode)}"
    if left := {op: n for op, n in unsupported.items() if op in MEASURED_BY[claim]}:
        counts = ", ".join(f"{thousands(n)} with {operation}" for operation, n in left.items())
        return f"it answered that vectors are not supported ({counts})"
    if not offered & set(MEASURED_BY[claim]):
        first = MEASURED_BY[claim][0]
        return f"it does not offer {first} ({OPERATIONS[first]})"
    return "no suite that tests it was run"
