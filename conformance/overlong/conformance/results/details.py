"""A remark on a claim, from the data of a file or a run: why the claim was not measured, or its error mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import ENCODER, POSITION, REPLACEMENT, SCALARS
from overlong.conformance.protocol.wire import ENCODE, ENCODE_UTF16, OPERATIONS
from overlong.conformance.results.run import HOLDS, MEASURED_BY, NOT_MEASURED, measuring
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.vectors.profile import puts_out
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Mapping


def detail(
    claim: str,
    state: str,
    *,
    operations: str,
    error_mode: str,
    unsupported: Mapping[str, int],
    without_text: int,
    longest: Mapping[str, int],
    as_expected: bool,
) -> str:
    """A remark on a claim; empty if there is none.

    Args:
        claim: one of :data:`overlong.conformance.protocol.kind.CLAIMS`; any other has no remark.
        state: its result.
        operations: the operations of the target.
        error_mode: the error mode that the target declares.
        unsupported: the number of vectors that the target does not support, by operation.
        without_text: the number of well-formed vectors that strict decoding did not accept.
        longest: for each operation of an encoder, the most numbers in a text that it was given.
        as_expected: every divergence that refutes the claim was expected.
    """
    if state == NOT_MEASURED:
        why = why_not(claim, operations, error_mode, unsupported, without_text)
        return f"not measured: {why}" if why else ""
    if as_expected:
        return "as expected"
    if claim == REPLACEMENT:
        if not puts_out(error_mode):
            return f"of its own: {printable(error_mode)}"
        mode = ERROR_MODES[error_mode]
        return f"{mode.name}: {mode.line}"
    if claim == ENCODER and state == HOLDS:
        return _longest(longest)
    return ""


def _longest(longest: Mapping[str, int]) -> str:
    """``in texts of up to 65 557 code points, 65 557 code units``; empty if it is not known."""
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
