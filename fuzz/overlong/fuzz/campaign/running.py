"""One run of a campaign: it claims, runs and triages units until its end.

Workers run units while findings are examined. Without another worker, triage gets a share of the time, so
that a decoder with many faults never stalls the campaign.
"""

from __future__ import annotations

import contextlib
import time
from typing import TYPE_CHECKING, Protocol

from overlong.conformance.oracle.target import TargetError
from overlong.fuzz.campaign.pool import Here, Processes, UnitTask, end_engines
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.triage import Unfinished
from overlong.fuzz.execution.engine import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.sweep.pool import Pool
    from overlong.fuzz.campaign.status import Status
    from overlong.fuzz.campaign.store import Store
    from overlong.fuzz.campaign.tools import Tools
    from overlong.fuzz.campaign.triage import Examiner
    from overlong.fuzz.execution.engine import CampaignJob, UnitResult, WorkUnit

_FIRST = 64  # inputs of the first unit, whose duration is unknown
_GROWTH = 64  # largest growth of a unit over the last one
_SHORT, _LONG = 1.0, 10.0  # seconds of a unit, at first and when the campaign is old
_AGEING = 60.0  # seconds for each of which a unit gets longer by one of those
_STARTS = 8  # least length of a unit, as a multiple of its engine's start time
_LOOK = 0.2  # seconds without a result after which the clock is looked at
_PUMP = 0.05  # seconds between looks for a result while examining
_OTHERS = 5.0  # seconds after which what other processes have found is looked at
_SHARE = 1 / 3  # of the time, to examine what is found
_OVER, _OVER_MORE = 1.0, 0.05  # seconds to examine what is found when the time is over, and more of a longer time
_GRACE = 10.0  # the same until there is a first fault to tell


class Owner(Protocol):
    """The part of a campaign that a run uses."""

    job: CampaignJob
    store: Store
    tools: Tools
    pool: Pool[WorkUnit, UnitResult] | None
    began: float
    looked: float
    sees_faults: bool

    @property
    def spent(self) -> float: ...
    @property
    def faulty(self) -> bool: ...
    def look(self) -> None: ...
    def status_in(self, run: Running) -> Status: ...
    def triage_next(self, examiner: Examiner) -> bool: ...


class Running:
    """One run of a campaign."""

    def __init__(
        self, campaign: Owner, seconds: float | None, runs: int | None, jobs: int, cluster: str,
        told: Callable[[Status], None], before: int,
    ) -> None:  # fmt: skip
        self._campaign, self._seconds, self._runs = campaign, seconds, runs
        self._jobs, self._cluster, self._told = jobs, cluster, told
        self.before = before
        self._store, self._tools = campaign.store, campaign.tools
        self._examiner: Examiner | None = None
        self._idle = True
        self._pool: Pool[WorkUnit, UnitResult] | None = None
        self._speed, self._starting, self._last = 0.0, 0.0, _FIRST
        self._examined = 0.0
        self._said = self._pumped = 0.0

    @property
    def passed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._campaign.began

    def go_on(self) -> None:
        """Run until the time or the inputs are used up, then until all findings are examined."""
        self._store.join()
        while True:
            more = self._fill()
            if self._pool is None or not self._pool.pending:
                if not more:
                    break
                continue
            self._gather(_LOOK if self._idle else 0.0)
            self._triage(once=True)
            self._say()
        if self._pool is not None:  # time for ending the run does not count
            self._pool.close(at_once=False)
            self._pool = None
        self._triage(once=False)

    def _gather(self, seconds: float) -> bool:
        """Commit a result if one comes within this time. True if one came."""
        assert self._pool is not None
        result = self._pool.next(seconds)
        if result is not None:
            self._learn(result)
            self._store.commit(result, self._campaign.spent)
        return result is not None

    def _meanwhile(self) -> None:
        """Do other work between two questions of the examiner.

        Raises:
            Unfinished: the time is over.
        """
        if self._seconds is not None and self.passed >= self._seconds * (1 + _OVER_MORE) + _OVER:
            campaign = self._campaign
            wanted = campaign.sees_faults and not campaign.faulty
            if not wanted or self.passed >= self._seconds + _GRACE:
                raise Unfinished
        now = time.monotonic()
        if now - self._pumped >= _PUMP:
            self._pumped = now
            if self._pool is not None and not isinstance(self._pool, Here):
                while self._pool.pending and self._gather(0.0):
                    pass
                self._fill()
            self._say()

    def _fill(self) -> bool:
        """Give the pool as many units as it has room for. True if work is left."""
        while self._pool is None or self._pool.room > 0:
            over = self._seconds is not None and self.passed >= self._seconds
            if self._pool is not None and self._pool.pending and over:
                return False
            claim = self._store.claim(self._wanted(), self._runs, left_by_others=over)
            if claim is None:
                return False
            if self._pool is None:
                self._pool = self._campaign.pool = self._opened(self._campaign.job)
            self._pool.submit(claim)
        return True

    def _opened(self, job: CampaignJob) -> Pool[WorkUnit, UnitResult]:
        opens = self._tools.open_engine
        if self._cluster:
            from overlong.conformance.sweep.cluster import Cluster

            task = UnitTask(job, opens, self._tools.identities)
            return Cluster(self._cluster, task, task.identities(), end_engines)
        if self._jobs > 1:
            return Processes(job, opens, self._jobs)
        return Here(job, opens, self._say)

    def _wanted(self) -> int:
        """The number of inputs of the next unit."""
        # parts of blocks make a slow target tell something soon; whole ones the same examples each time
        least = BLOCK if self._runs is not None else _FIRST
        if not self._speed:
            return least
        length = min(_LONG, max(_SHORT, self.passed / _AGEING, self._starting * _STARTS))
        if self._seconds is not None:
            left = self._seconds - self.passed  # another unit with the rest of the block would wait for this one
            length = min(length, max(left if isinstance(self._pool, Here) else left / 2, _LOOK))
        return max(least, min(int(self._speed * length), self._last * _GROWTH))

    def _learn(self, result: UnitResult) -> None:
        """Estimate the speed from the last unit."""
        self._last, self._starting = result.unit.count, result.starting
        self._speed = result.unit.count / max(result.seconds - result.starting, 1e-3)

    def _triage(self, *, once: bool) -> None:
        """Examine findings within triage's share of the time, or until the time is over."""
        if self._examiner is None:
            self._examiner = self._tools.open_examiner(self._campaign.job, self._meanwhile)
        self._idle = False
        while not once or not isinstance(self._pool, Here) or self._examined <= _SHARE * self.passed:
            began = self.passed
            try:
                self._meanwhile()
                if not self._campaign.triage_next(self._examiner):
                    self._idle = True
                    return
            except Unfinished:
                self._idle = True
                return
            self._examined += self.passed - began
            self._say()
            if once and not isinstance(self._pool, Here):
                return

    def _say(self) -> None:
        """Report the status, not too often, and tell other processes that this one lives."""
        now = time.monotonic()
        if now - self._said < _LOOK:
            return
        self._said = now
        self._store.join()
        campaign = self._campaign
        if now - campaign.looked > _OTHERS:
            campaign.look()
        self._told(campaign.status_in(self))

    def save_the_rest(self) -> None:
        """Examine the harvested results, as far as the target that ended the run allows. Never raises."""
        if self._pool is not None:
            self._pool.close(at_once=True)
            self._pool = None
        with contextlib.suppress(TargetError, CampaignError):
            self._triage(once=False)

    def end(self, *, at_once: bool) -> None:
        """End all processes, and return claimed units. Never raises."""
        if self._pool is not None:
            self._pool.close(at_once=at_once)
        if self._examiner is not None:
            self._examiner.close()
        self._store.leave()
