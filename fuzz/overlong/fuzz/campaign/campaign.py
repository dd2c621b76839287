"""A campaign: a folder, an engine, and time. After any end it can continue where it was.

Workers run units while findings are examined, so that a decoder with many faults never stalls the campaign.
"""

from __future__ import annotations

import contextlib
import errno
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.files import alone_in
from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.support.process import held, listening, released
from overlong.conformance.targets.consent import check_from
from overlong.fuzz.campaign.corpus import FOLDER, SEEDS, CampaignError, Corpus, seeds_of, within
from overlong.fuzz.campaign.examiner import Probing, Unfinished, triage
from overlong.fuzz.campaign.pool import UnitTask, identities_of, pool_of
from overlong.fuzz.campaign.state import (
    STATEMENT,
    State,
    Status,
    faults_wait,
    seeds_as_json,
    state_in,
    write_findings,
    write_statement,
)
from overlong.fuzz.engines.job import edges, features_of
from overlong.fuzz.generated import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from overlong.conformance.sweep.pool import Pool
    from overlong.fuzz.engines.job import CampaignJob, UnitResult

_FIRST = 64  # inputs of the first unit, whose duration is unknown
_GROWTH = 64  # largest growth of a unit over the last one
_SHORT, _LONG = 1.0, 10.0  # seconds of a unit, at first and when the campaign is old
_AGEING = 60.0  # seconds for each of which a unit gets longer by one of those
_STARTS = 8  # least length of a unit, as a multiple of its engine's start time
_LOOK = 0.2  # seconds without a result after which the clock is looked at
_PUMP = 0.05  # seconds between looks for a result while examining
_WRITE = 1.0  # seconds after which results are written, if nothing is found
_WAITING = 256  # results that may wait for triage: then no unit begins
_OVER, _OVER_MORE = 1.0, 0.05  # seconds to examine what is found when the time is over, and more of a longer time
_GRACE = 10.0  # the same until there is a first fault to tell


class Campaign:
    """A campaign in its folder, open. No other process can open it meanwhile."""

    def __init__(self, folder: Path, state: State, seeds: tuple[bytes, ...], *, resumed: bool) -> None:
        """Read the folder of a campaign that :meth:`create` or :meth:`resume` has locked."""
        self.folder = folder
        self.job = state.job = replace(state.job, seeds=seeds, corpus=str(folder / FOLDER))
        self._state, self._resumed = state, resumed
        self._corpus = Corpus(within(folder, FOLDER))
        self._waiting: dict[int, UnitResult] = {}
        self._pool: Pool[range, UnitResult] | None = None
        self._examiner: Probing | None = None
        self._began = self._new = time.monotonic()
        self._earlier = self._state.seconds
        self._ran = 0.0, 0
        self._locks = contextlib.ExitStack()

    @classmethod
    def create(
        cls,
        folder: Path | str,
        job: CampaignJob,
        *,
        notes: Iterable[str] = (),
        identities: tuple[str, ...] | None = None,
    ) -> Campaign:
        """Create a campaign in a folder that is empty or does not exist.

        Args:
            folder: of the campaign.
            job: the targets and inputs; its seeds become the first inputs of the corpus.
            notes: notes for its report, each safe to show.
            identities: the digests of the targets before they first started; None if none has.

        Raises:
            CampaignError: the folder is not empty, or cannot be written.
            UnknownTarget: there is no such target.
            TargetError: a target cannot be used here.
        """
        folder, notes = Path(folder), list(notes)
        identities = identities or identities_of(job)
        seeds = seeds_of(job.seeds, notes)
        with contextlib.ExitStack() as locks:
            _make(folder)
            _lock(folder, locks)
            state = State(job, identities, seeds_as_json(seeds))
            campaign = cls(folder, state, seeds, resumed=False)
            first = Corpus(folder / SEEDS)
            for octets in seeds:
                first.add(octets)
                campaign._corpus.add(octets)
            state.note(*notes)
            campaign._write()
            campaign._locks = locks.pop_all()
            return campaign

    @classmethod
    def resume(cls, folder: Path | str) -> Campaign:
        """Open the campaign in a folder.

        The folder may be a stranger's: nothing that it names runs without the user's consent.

        Raises:
            NotAgreed: there is none yet.
            CampaignError: the folder has no campaign, or one that is of another version, damaged, or not writable.
            TargetError: a target cannot be used here any more.
        """
        folder = Path(folder)
        with contextlib.ExitStack() as locks:
            state_in(folder)  # if it has none, nothing is locked
            _lock(folder, locks)
            state = state_in(folder)  # as the last one to lock it has left it
            check_from(folder / STATEMENT, state.job.targets)
            seeds = seeds_of(Corpus(within(folder, SEEDS)).inputs(), [])
            if seeds_as_json(seeds) != state.seeds:
                shown = printable(str(folder / SEEDS))
                raise CampaignError(f"{shown}: other inputs than it began with; choose another folder with -o")
            campaign = cls(folder, state, seeds, resumed=True)
            campaign._note_changes()
            campaign._locks = locks.pop_all()
            return campaign

    def run(
        self,
        *,
        seconds: float | None = None,
        runs: int | None = None,
        jobs: int = 1,
        cluster: str = "",
        told: Callable[[Status], None] | None = None,
    ) -> Status:
        """Run inputs until a limit or an error ends the run, and keep the findings.

        Args:
            seconds: limit of this run; None for no limit.
            runs: limit of the campaign's inputs, with those of earlier runs; None for no limit.
            jobs: number of processes on this machine.
            cluster: the address of a Dask scheduler, whose workers run the inputs instead.
            told: gets the status from time to time.

        Raises:
            TargetError: a target can no longer be asked, or a cluster is gone. The findings are kept.
            CampaignError: the folder cannot be written any more. What was written is kept.
            KeyboardInterrupt: on Ctrl-C and SIGTERM. What was written is kept.
        """
        self._began = self._new = time.monotonic()
        self._earlier, self._before = self._state.seconds, self._state.asked.total()
        self._waiting, self._claimed = {}, self._state.inputs
        self._seconds, self._runs, self._told = seconds, runs, told or _nobody
        self._speed, self._starting, self._last = 0.0, 0.0, _FIRST
        self._said = self._pumped = self._written = 0.0
        with listening(), held():  # the end must be written despite any number of signals
            try:
                with released():
                    self._examiner = Probing(self.job, self._meanwhile)
                    self._go_on(jobs, cluster)
            except TargetError:
                self._end(at_once=True)
                with contextlib.suppress(TargetError, CampaignError), released():
                    self._triage()
                self._finish(quietly=True)
                raise
            except BaseException:
                self._end(at_once=True)
                self._finish(quietly=True)
                raise
            self._finish(quietly=False)
        self._told(self.status)
        return self.status

    def _finish(self, *, quietly: bool) -> None:
        """End what examines, and write the files; ``quietly``: another error is on its way."""
        if self._examiner is not None:
            self._examiner.close()
            self._examiner = None
        self._ran = self._passed, self._state.asked.total() + self._more.total() - self._before
        with contextlib.suppress(TargetError):  # a file of it is gone: those that use it say so
            self._note_changes()
        with contextlib.suppress(CampaignError) if quietly else contextlib.nullcontext():
            write_findings(self.folder, self._state.findings.values())
            self._write()

    def _end(self, *, at_once: bool) -> None:
        """End the workers."""
        if self._pool is not None:
            self._pool.close(at_once=at_once)
            self._pool = None

    # While it runs ---------------------------------------------------------------------------------------------------

    def _go_on(self, jobs: int, cluster: str) -> None:
        """Run until the time or the inputs are used up, then until all findings are examined."""
        if self._runs is None or self._state.inputs < self._runs:
            self._pool = pool_of(UnitTask(self.job), jobs, cluster)
        idle = True
        while (more := self._fill()) or (self._pool is not None and self._pool.pending):
            self._gather(_LOOK if idle else 0.0)
            idle = not self._triage(once=more)
            self._say()
        self._end(at_once=False)
        self._triage()

    def _fill(self) -> bool:
        """Give the pool as many units as it has room for. True if work is left."""
        if self._pool is None or (self._seconds is not None and self._passed >= self._seconds):
            return False
        while self._runs is None or self._claimed < self._runs:
            if self._pool.room <= 0 or len(self._waiting) >= _WAITING:
                return True
            count = _fitting(self._claimed, self._wanted())
            if self._runs is not None:
                count = min(count, self._runs - self._claimed)
            self._pool.submit(range(self._claimed, self._claimed + count))
            self._claimed += count
        return False

    def _wanted(self) -> int:
        """The number of inputs of the next unit."""
        # parts of blocks make a slow target tell something soon; whole ones the same examples each time
        least = BLOCK if self._runs is not None else _FIRST
        if not self._speed:
            return least
        length = min(_LONG, max(_SHORT, self._passed / _AGEING, self._starting * _STARTS))
        if self._seconds is not None:  # another unit with the rest of the block would wait for this one
            length = min(length, max((self._seconds - self._passed) / 2, _LOOK))
        return max(least, min(int(self._speed * length), self._last * _GROWTH))

    def _gather(self, seconds: float) -> bool:
        """Take a result if one comes within this time. True if one came."""
        result = self._pool.next(seconds) if self._pool is not None else None
        if result is not None:
            self._waiting[result.unit.start] = result
            self._last, self._starting = len(result.unit), result.starting
            self._speed = len(result.unit) / max(result.seconds - result.starting, 1e-3)
        return result is not None

    def _meanwhile(self) -> None:
        """Do other work between two questions of the examiner.

        Raises:
            Unfinished: the time is over.
        """
        if self._seconds is not None and self._passed >= self._seconds * (1 + _OVER_MORE) + _OVER:
            result = self._waiting.get(self._state.inputs)
            sees_faults = result is not None and any(not each.peer for each in result.divergences)
            faulty = any(not each.is_difference for each in self._state.findings.values())
            if faulty or not sees_faults or self._passed >= self._seconds + _GRACE:
                raise Unfinished
        now = time.monotonic()
        if now - self._pumped >= _PUMP:
            self._pumped = now
            while self._gather(0.0):
                pass
            self._fill()
            self._say()

    def _triage(self, *, once: bool = False) -> bool:
        """Examine what waits, in the order of the numbers, until the time is over. True if there may be more.

        ``once``: only one result.
        """
        assert self._examiner is not None
        with contextlib.suppress(Unfinished):
            while (result := self._waiting.get(self._state.inputs)) is not None:
                self._meanwhile()
                self._keep_inputs(result)
                triage(self._state, result, self._examiner, lambda: self._spent, self._examined)
                with held():
                    del self._waiting[result.unit.start]
                    if time.monotonic() - self._written > _WRITE:
                        self._write()
                self._say()
                if once:
                    return True
        return False

    def _keep_inputs(self, result: UnitResult) -> None:
        """Add inputs to the corpus that reach something new in the reference or in an instrumented target."""
        reached = set(result.reached)
        missing = reached - self._state.features
        for octets in dict.fromkeys(result.reached.values()):
            if new := features_of(octets, self.job.profile.dialect) & missing:
                self._corpus.add(octets)
                missing -= new
        for octets in result.covering:
            self._corpus.add(octets)
        with held():
            if not reached <= self._state.features:
                self._state.features |= reached
                self._state.discovered(self._spent, result.executions)
                self._new = time.monotonic()
            self._state.note(*result.notes)

    def _examined(self) -> None:
        """Keep what an examination has found."""
        with held():
            if self._state.discoveries[-1]["finding"] is not None:
                self._new = time.monotonic()
            write_findings(self.folder, self._state.findings.values())
            self._write()
        self._say()

    def _say(self) -> None:
        """Report the status, not too often."""
        now = time.monotonic()
        if now - self._said >= _LOOK:
            self._said = now
            self._told(self._status(self._passed, self._more.total() + self._state.asked.total() - self._before))

    # What it has done ------------------------------------------------------------------------------------------------

    @property
    def _passed(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def _spent(self) -> float:
        """Seconds of campaign time: of this run, and of earlier ones."""
        return self._earlier + self._passed

    @property
    def status(self) -> Status:
        """The present status, or the last status of a run that has ended."""
        return self._status(*self._ran)

    @property
    def _more(self) -> Counter[tuple[str, str]]:
        """Executions that are not triaged."""
        return sum((each.asked for each in self._waiting.values()), Counter[tuple[str, str]]())

    def _status(self, seconds: float, executions: int) -> Status:
        state, waiting = self._state, self._waiting.values()
        notes = [*state.notes, *state.left_out]
        if self._pool is None and waiting:
            count = thousands(sum(len(each.unit) for each in waiting))
            notes.append(f"the answers to {count} inputs are not examined yet; --resume goes on with them")
        return Status(
            job=self.job,
            resumed=self._resumed,
            inputs=state.inputs + sum(len(each.unit) for each in waiting),
            executions=state.asked.total() + self._more.total(),
            rate=executions / seconds if seconds else 0.0,
            octets=state.octets + sum(each.octets for each in waiting),
            corpus=len(self._corpus),
            edges=edges(state.features, self.job.profile.dialect),
            coverage=max(state.coverage, *(each.coverage for each in waiting), 0),
            seconds=seconds,
            earlier=self._earlier,
            last_new=time.monotonic() - self._new,
            findings=list(state.findings.values()),
            notes=notes,
            faults_wait=self._pool is None and faults_wait(state, waiting),
        )

    def _write(self) -> None:
        self._written = time.monotonic()
        self._state.seconds = self._spent
        reached = edges(self._state.features, self.job.profile.dialect)
        write_statement(self.folder, self._state, list(self._waiting.values()), reached)

    def _note_changes(self) -> None:
        """Note each target whose files have changed since the campaign began.

        Raises:
            TargetError: a target cannot be used here any more.
        """
        now = identities_of(self.job)
        for name, one, other in zip(self.job.names, self._state.identities, now, strict=True):
            if one != other:
                said = "has changed since the campaign began: findings may be of its earlier state"
                self._state.note(f"{printable(name)} {said}")

    def close(self) -> None:
        """Release the folder. Never raises."""
        self._locks.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _nobody(_status: Status) -> None:
    """A watcher that does nothing."""


def _fitting(first: int, count: int) -> int:
    """How many inputs from ``first`` on: whole blocks if there is room for one, else no more than the block has."""
    rest = BLOCK - first % BLOCK
    if rest < BLOCK or count < BLOCK:
        return min(count, rest)
    return count - count % BLOCK


def _make(folder: Path) -> None:
    """Create the folder, or check that it is empty.

    Raises:
        CampaignError: it is not, or cannot be made.
    """
    shown = printable(str(folder))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {path.name for path in folder.iterdir()}
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is no path"
        remedy = "make room" if getattr(error, "errno", 0) == errno.ENOSPC else "choose another folder with -o"
        raise CampaignError(f"{shown}: {why}; {remedy}") from error
    if STATEMENT in there:
        raise CampaignError(f"{shown}: a campaign has begun there; go on with --resume, or choose another folder "
                            "with -o")  # fmt: skip
    if there:
        raise CampaignError(f"{shown}: it is not empty, and no campaign; choose another folder with -o")


def _lock(folder: Path, locks: contextlib.ExitStack) -> None:
    """Keep other processes out of the folder until ``locks`` closes.

    Raises:
        CampaignError: another one is at work there.
    """
    try:
        locks.enter_context(alone_in(folder))
    except OSError as error:
        why = "another process is at work on it; wait for its end" if error.errno == errno.EBUSY else error.strerror
        raise CampaignError(f"{printable(str(folder))}: {why}, or choose another folder with -o") from error
