"""Observations of a target. Expectations of the reference have other types, so the two cannot be mixed up.

Only :class:`Accepted` and :class:`Refused` are verdicts. The rest are faults: a crash is not a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from overlong.conformance.protocol.kind import Code


@dataclass(frozen=True, slots=True)
class Accepted:
    """The target accepted; ``values`` are the numbers that it put out, None for a verdict only."""

    values: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """The target refused; a part that it did not report is None."""

    offset: int | None = None
    length: int | None = None
    incomplete: bool | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The target reported an internal error of its own (status X)."""

    text: str


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The target does not offer the operation (status U)."""


@dataclass(frozen=True, slots=True)
class Crashed:
    """The target ended in mid-run: by a signal, by an exit, or by closing its pipe."""

    how: str


@dataclass(frozen=True, slots=True)
class TimedOut:
    """The target gave no answer within the limit. Two are the same answer, whatever the limits were."""

    seconds: float = field(compare=False)
    """The limit that the user set; 0 for one that depends on the target's usual answer, thus on the machine."""

    @property
    def words(self) -> str:
        """The same for each run, so that certificates can be compared."""
        return f"no answer within {self.seconds:g} s" if self.seconds else "no answer in time"


@dataclass(frozen=True, slots=True)
class Misbehaved:
    """The target broke the protocol."""

    what: str


Fault = Failed | Crashed | TimedOut | Misbehaved
Observation = Accepted | Refused | Unsupported | Fault


def describe(fault: Fault) -> str:
    """A fault in words."""
    match fault:
        case Crashed(how):
            return f"it {how}"
        case TimedOut():
            return f"it gave {fault.words}"
        case Misbehaved(what):
            return f"it broke the protocol: {what}"
        case _:
            return f"internal error: {fault.text}"


# The answers of a target that examines its function's memory (``G``), as codes and in words.

_MEMORY_FAULTS: tuple[tuple[str, str], ...] = (
    (Code.READ_PAST_END, "died of a read past the end of its input; lived where memory follows it"),
    (Code.READ_BEFORE_START, "died of a read before the start of its input; lived where memory precedes it"),
    (Code.WRITTEN_OUTSIDE, "wrote outside its output"),
    (Code.LEFT_UNWRITTEN, "left a part of its output unwritten"),
    (Code.INPUT_WRITTEN, "wrote to its input"),
    (Code.PLACE_IN_MEMORY, "gave another answer in another place"),
    (Code.EARLIER_CALLS, "gave another answer to the same call"),
)
MEMORY_FAULTS = {number: code for number, (code, _) in enumerate(_MEMORY_FAULTS, 1)}
"""For each number in a refusal of ``G`` its kind of divergence."""
EXPECTED_IN_MEMORY = "stay within its memory, and give the same answer everywhere"

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
    words = dict(_MEMORY_FAULTS).get(code, "refused")
    if code in (Code.WRITTEN_OUTSIDE, Code.LEFT_UNWRITTEN):
        return words + _ROOM.get(detail, "")
    if code == Code.PLACE_IN_MEMORY and detail == 255:
        return "gave another answer between other neighbours"
    if code == Code.PLACE_IN_MEMORY and detail == 254:
        return "gave another answer at the edge of its memory"
    if code == Code.PLACE_IN_MEMORY and 1 <= detail <= 64:
        return f"gave another answer at an address of {detail - 1} modulo 64"
    return words
