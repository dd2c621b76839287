"""The time limit for an answer: once a target is known to hang, it depends on how fast the target usually answers.

A decoder that hangs on one octet hangs on many strings, and each costs the whole limit twice. After a few time-outs
the limit is a thousand times its usual answer. A target that is merely slow must never be accused: so the limit grows
with the request, is never near the slowest answer to a string asked alone, and grows for good if a request gives no
answer in time and each of its strings alone does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

TIME_OUTS = 3
"""Time-outs before the limit falls."""
TIMES = 1000
LEAST = 0.05  # seconds
_BATCH = 1.0  # seconds, at least, for more than one string: the target may load compiled code for them
_SLOWER = 4
_SLOWEST = 10  # times the slowest answer to one string: the first refusal of a new process may load code
_STEPS = (LEAST, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # so that two runs mostly say the same
_RECENT = 64  # requests
_KNOWN = 4  # requests after which an operation's usual answer is known
_LONG = 1 << 10  # octets that may take as long as the way through the pipes


@dataclass(eq=False)
class AnswerLimit:
    """The limit for one target, whose processes share it."""

    whole: float
    """The limit that the user set, in seconds."""
    _time_outs: int = 0
    _recent: dict[str, deque[float]] = field(default_factory=dict[str, "deque[float]"])
    _slowest: dict[str, float] = field(default_factory=dict[str, float])
    _least: float = 0.0
    _slower: float = 1.0

    def answered(self, operation: str, seconds: float, lengths: Sequence[int]) -> None:
        """Note how long a request took; 0 if its answer arrived with the one before. A batch is not one answer."""
        if lengths:
            recent = self._recent.setdefault(operation, deque(maxlen=_RECENT))
            recent.append(seconds / _work(lengths))
        if len(lengths) == 1:
            self._slowest[operation] = max(seconds / _work(lengths), self._slowest.get(operation, 0.0))

    def timed_out(self) -> None:
        """A request got no answer in time."""
        self._time_outs += 1

    def was_slow(self) -> None:
        """The last request that got no answer in time was only slow: each of its strings alone got one."""
        if self._time_outs > TIME_OUTS:
            self._slower *= _SLOWER
        self._time_outs -= 1

    def seconds(self, operation: str, lengths: Sequence[int]) -> float:
        """The limit for a request."""
        recent = self._recent.get(operation, ())
        if self._time_outs < TIME_OUTS or len(recent) < _KNOWN or operation not in self._slowest:
            return self.whole
        largest = 1 + max(lengths, default=0) / _LONG
        wanted = max(TIMES * median(recent), _SLOWEST * self._slowest[operation]) * largest + median(recent) * _work(
            lengths
        )
        wanted = max(wanted * self._slower, _BATCH if len(lengths) > 1 else 0)
        limit = next((step for step in _STEPS if step >= wanted), self.whole)
        if limit >= self.whole:
            return self.whole
        self._least = min(limit, self._least or limit)
        return limit

    @property
    def note(self) -> str:
        """What a report says of it; empty if the whole limit held throughout."""
        if not self._least:
            return ""
        return (
            f"after {TIME_OUTS} time-outs a time-out was {TIMES:,} times the usual answer, at least {self._least:g} s, "
            f"in place of {self.whole:g} s"
        ).replace(",", " ", 1)


def _work(lengths: Sequence[int]) -> float:
    """The work of a request, in short answers."""
    return len(lengths) + sum(lengths) / _LONG
