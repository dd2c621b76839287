"""Observations of a target. Expectations of the reference have other types, so the two cannot be mixed up.

Only :class:`Accepted` and :class:`Refused` are verdicts. The rest are faults: a crash is not a refusal.
"""

from __future__ import annotations

from dataclasses import dataclass, field


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
