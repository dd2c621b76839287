"""The answers of a target that examines its function's memory (``G``), as codes and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Misbehaved

if TYPE_CHECKING:
    from overlong.conformance.protocol.observation import Refused

MEMORY_FAULTS: dict[int, str] = dict(
    enumerate(
        (
            Code.READ_PAST_END,
            Code.READ_BEFORE_START,
            Code.WRITTEN_OUTSIDE,
            Code.LEFT_UNWRITTEN,
            Code.INPUT_WRITTEN,
            Code.PLACE_IN_MEMORY,
            Code.EARLIER_CALLS,
        ),
        1,
    )
)
"""For each number in a refusal of ``G`` its kind of divergence."""

EXPECTED = "stay within its memory, and give the same answer everywhere"

_WORDS: dict[str, str] = {
    Code.READ_PAST_END: "died of a read past the end of its input; lived where memory follows it",
    Code.READ_BEFORE_START: "died of a read before the start of its input; lived where memory precedes it",
    Code.WRITTEN_OUTSIDE: "wrote outside its output",
    Code.LEFT_UNWRITTEN: "left a part of its output unwritten",
    Code.INPUT_WRITTEN: "wrote to its input",
    Code.PLACE_IN_MEMORY: "gave another answer in another place",
    Code.EARLIER_CALLS: "gave another answer to the same call",
}
_ROOM = {
    1: ", given exactly the room that it needs",
    2: ", given less room than it needs",
    3: ", given more room than it needs",
    4: ": next to its input",
}


def memory_fault(observed: Refused) -> str | Misbehaved:
    """The code of a refusal of ``G``; Misbehaved if its number has no meaning."""
    if observed.offset not in MEMORY_FAULTS:
        said = "none" if observed.offset is None else str(observed.offset)
        return Misbehaved(f"it reports memory fault {said}; there are 1 to {max(MEMORY_FAULTS)}")
    return MEMORY_FAULTS[observed.offset]


def memory_words(observed: Refused) -> str:
    """The fault and its detail in words."""
    code, detail = MEMORY_FAULTS.get(observed.offset or 0, ""), observed.length or 0
    words = _WORDS.get(code, "refused")
    if code in (Code.WRITTEN_OUTSIDE, Code.LEFT_UNWRITTEN):
        return words + _ROOM.get(detail, "")
    if code == Code.PLACE_IN_MEMORY and detail == 255:
        return "gave another answer between other neighbours"
    if code == Code.PLACE_IN_MEMORY and detail == 254:
        return "gave another answer at the edge of its memory"
    if code == Code.PLACE_IN_MEMORY and 1 <= detail <= 64:
        return f"gave another answer at an address of {detail - 1} modulo 64"
    return words
