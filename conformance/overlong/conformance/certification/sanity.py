"""Remarks with a verdict: signs that the adapter, not its decoder, is wrong, and claims with little evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import POSITION, VERDICT, Accepted, Code, Refused
from overlong.conformance.results.run import NOT_MEASURED
from overlong.conformance.support.printable import thousands
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.oracle.finding import Bucket
    from overlong.conformance.results.run import Run

_ENOUGH = 100
"""The number of failing core vectors that is no accident."""
_REFUSED = Code.REFUSED
"""Well-formed text refused."""
_SUBSTITUTES = {0xFFFD: "U+FFFD", 0x3F: "a question mark"}

TURNED_ROUND = (
    "it refuses all that is well-formed and accepts the rest: if the adapter, or the choice of abi=, inverts its "
    "results, fix that first; the verdict is not the decoder's"
)


REFUSES_ALL = (
    "it refuses every string, well-formed ones too: it seems not to look at its input. See first that the adapter "
    "hands over the octets and their number, and reads the answer"
)
ACCEPTS_ALL = (
    "it accepts every string, ill-formed ones too: it seems not to look at its input. See first that the adapter hands "
    "over the octets and their number, and reads the answer"
)
SAME_TEXT = (
    "it makes the same text of every string: it seems not to look at its input. See first that the adapter hands over "
    "the octets and their number, and reads the answer"
)


def sign(run: Run) -> str:
    """A sentence that explains all divergences at once, by a fault of the adapter; empty if nothing hints at one.

    It does not change the verdict, and precedes it: the buckets do not help to fix an adapter.
    """
    core = next((part for part in run.suites if part.suite.name == "core"), None)
    wrong = [bucket for bucket in run.buckets.values() if bucket.example.claim == VERDICT]
    accepting = [bucket for bucket in wrong if bucket.example.code in DEFECTS]
    refusing = [bucket for bucket in wrong if bucket.example.code == _REFUSED]
    if core is not None and core.whole and core.done >= _ENOUGH:
        if always := _always(run):
            return always
        if len(core.failing) == core.done and accepting and len(accepting) + len(refusing) == len(wrong):
            return TURNED_ROUND
    for value, words in _SUBSTITUTES.items():
        if accepting and all(_puts_in(value, bucket) for bucket in accepting):
            return (
                f"where it should refuse it outputs {words}: it replaces, and that is no refusal; switch to the mode "
                "in which it refuses, or let the adapter offer L in place of V and D"
            )
    return ""


def _always(run: Run) -> str:
    """The remark on a target that answered every core string alike."""
    answers = list(run.core_answers.values())
    if not answers or any(len(each) > 1 for each in answers):
        return ""
    first, *others = {observed for each in answers for observed in each}
    if others:
        return ""
    match first:
        case Refused():
            return REFUSES_ALL
        case Accepted(values):
            return ACCEPTS_ALL if values is None else SAME_TEXT
        case _:
            return ""


def caveats(run: Run) -> Iterator[str]:
    """A sentence for each claim with little evidence; none changes the verdict."""
    if run.claims[POSITION] != NOT_MEASURED and run.placed < run.refusals:
        yield (
            f"it says where in {thousands(run.placed)} of {thousands(run.refusals)} refusals: these alone show the "
            "error position"
        )


def _puts_in(value: int, bucket: Bucket) -> bool:
    """True if the example's output has that character, and its input does not."""
    observed, octets = bucket.example.observed, bucket.example.vector.octets
    return isinstance(observed, Accepted) and value in (observed.values or ()) and chr(value).encode() not in octets
