"""The limits of a target, as the user sets them; and the limit for one answer, which falls for a target that hangs.

A decoder that hangs on one octet hangs on many strings, and each costs the whole limit twice. After a few time-outs
the limit is a thousand times its usual answer, whatever the operation. A target that is merely slow must never be
accused. So the limit grows with the request, even the whole one with a very long string; a string that is asked alone,
which decides, gets longer, and twice what the slowest such string took; and the limit grows for good if a request gives
no answer in time and each of its strings alone does.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from math import inf
from statistics import median
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import thousands

if TYPE_CHECKING:
    from collections.abc import Sequence

TIME_OUTS = 3
"""Time-outs before the limit falls."""
TIMES = 1000
LEAST = 0.05  # seconds, for a request whose strings are asked again alone if there is no answer
ALONE = 0.1  # seconds, for a string asked alone: then it is a finding
_BATCH = 0.2  # seconds, for more than one string: the target may load compiled code for them
_SLOWER = 4
_SLOWEST = 2  # times the slowest answer to one string: the first refusal of a new process may load code
_STEPS = (LEAST, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)  # so that two runs mostly say the same
_ROUNDED = 1.1
_RECENT = 64  # requests
_KNOWN = 4  # requests after which the usual answer is known
_ORDINARY = 1 << 18  # octets of a string beyond which the whole limit grows with it
_FEW = 64  # the most strings of a request that has such a string: more would be no request
_LONG = 1 << 10  # octets that may take as long as the way through the pipes


@dataclass(frozen=True)
class Limits:
    """The limits of a target."""

    timeout: float = 5.0
    """The seconds for one request."""
    restarts: int = 100
    """The number of failures after which the run ends."""
    memory: int = 4 << 30
    """The octets that each of its processes may allocate, on Linux; 0 for no limit."""
    sandbox: bool = True
    """Contain its failures as well as this machine can."""
    threads: int = 0
    """Also call it in so many threads at once; 0: do not."""

    def as_words(self) -> list[str]:
        """Those that are not the usual ones, as words of a command line: ``--limit timeout=10``."""
        texts = {"timeout": f"{self.timeout:g}", "restarts": f"{self.restarts}", "memory": f"{self.memory}"}
        texts["sandbox"] = "on" if self.sandbox else "off"
        unusual = (f"{name}={text}" for name, text in texts.items() if getattr(self, name) != getattr(Limits, name))
        in_threads = ["--threads", str(self.threads)] if self.threads else []
        return [*(word for limit in unusual for word in ("--limit", limit)), *in_threads]


@dataclass(eq=False)
class AnswerLimit:
    """The limit for one target, whose processes share it."""

    whole: float
    """The limit that the user set, in seconds."""
    _time_outs: int = 0
    _recent: deque[float] = field(default_factory=lambda: deque[float](maxlen=_RECENT))
    _usual: float = inf
    _slowest: float = 0.0
    _has_fallen: bool = False
    _slower: float = 1.0
    _was_slow: bool = False

    def answered(self, seconds: float, items: int, octets: int) -> None:
        """Note how long a request took; 0 if its answer arrived with the one before. A batch is not one answer."""
        if items:
            self._recent.append(seconds / _work(items, octets))
        if items == 1:
            self._slowest = max(self._recent[-1], self._slowest)

    def timed_out(self) -> None:
        """A request got no answer in time."""
        self._time_outs += 1

    def was_slow(self) -> None:
        """The last request that got no answer in time was only slow: each of its strings alone got one."""
        if self._time_outs > TIME_OUTS:
            self._slower *= _SLOWER
        self._time_outs -= 1
        self._was_slow = True

    def seconds(self, lengths: Sequence[int], *, alone: bool) -> float:
        """The limit for a request; ``alone``: without an answer in time, its string is at fault."""
        longest = max(lengths, default=0) if len(lengths) <= _FEW else 0
        whole = self.whole * max(1.0, longest / _ORDINARY)
        if self._time_outs < TIME_OUTS or len(self._recent) < _KNOWN:
            return whole
        usual = self._usual = min(median(self._recent), self._usual)  # the first answers of new processes are slow
        times_longer = 1 + max(lengths, default=0) / _LONG
        least = ALONE if alone else LEAST if len(lengths) == 1 else _BATCH
        wanted = max(least, (TIMES * usual) * times_longer, (_SLOWEST * self._slowest) * times_longer if alone else 0)
        wanted = (wanted + usual * _work(len(lengths), sum(lengths))) * self._slower
        limit = next((step for step in _STEPS if step * _ROUNDED >= wanted), whole)
        if limit >= whole:
            return whole
        self._has_fallen = True
        return limit

    @property
    def notes(self) -> list[str]:
        """What a report says of it; empty if every request got an answer within the whole limit."""
        notes: list[str] = []
        if self._was_slow:
            notes.append("a request got no answer in time, but each of its strings alone got one: it is no finding")
        if self._has_fallen:
            notes.append(
                f"after {TIME_OUTS} time-outs a time-out was {thousands(TIMES)} times the usual answer, "
                f"at least {ALONE:g} s, in place of {self.whole:g} s"
            )
        return notes


def _work(items: int, octets: int) -> float:
    """The work of a request, in short answers."""
    return items + octets / _LONG
