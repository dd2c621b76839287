"""A campaign: a folder, an engine, and time. After any end it can continue where it was."""

from __future__ import annotations

import contextlib
import errno
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Self

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.interruption import held, listening, released
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import timestamp
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.corpus import FOLDER, Corpus, seeds_of, within
from overlong.fuzz.campaign.header import header_of, identities_of, job_of, named
from overlong.fuzz.campaign.running import Running
from overlong.fuzz.campaign.statement import write, write_findings
from overlong.fuzz.campaign.status import CampaignError, Status
from overlong.fuzz.campaign.store import ALREADY, DATABASE, Store
from overlong.fuzz.campaign.tools import USUAL, Tools
from overlong.fuzz.campaign.triage import left_out, triage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from overlong.conformance.sweep.pool import Pool
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.campaign.stored import StoredFinding
    from overlong.fuzz.campaign.triage import Examiner
    from overlong.fuzz.execution.engine import CampaignJob, UnitResult, WorkUnit


class Campaign:
    """A campaign in its folder, open. Several processes may work on one."""

    def __init__(self, folder: Path, store: Store, job: CampaignJob, tools: Tools, *, resumed: bool) -> None:
        self.folder, self.job = folder, job
        self.store, self.tools, self._resumed = store, tools, resumed
        self._corpus = Corpus(within(folder, FOLDER))
        self._earlier = store.seconds
        self._executions = 0
        self.pool: Pool[WorkUnit, UnitResult] | None = None
        """The pool that runs units during a run."""
        self.sees_faults = False
        """True if the divergences under examination include a fault."""
        self.began = self.looked = time.monotonic()
        self._new = self.began
        self._findings = store.findings
        self._ran, self._others = (0.0, 0), 0
        self._notes = self._all_notes()
        self._features = store.features

    @classmethod
    def create(
        cls,
        folder: Path | str,
        job: CampaignJob,
        *,
        notes: Iterable[str] = (),
        identities: tuple[str, ...] | None = None,
        tools: Tools = USUAL,
    ) -> Campaign:
        """Create a campaign in a folder that is empty or does not exist.

        Args:
            folder: of the campaign.
            job: the targets and inputs; its seeds become the first inputs of the corpus.
            notes: notes for its report, each safe to show.
            identities: the digests of the targets before they first started; None if none has.
            tools: for tests.

        Raises:
            CampaignError: the folder is not empty, or cannot be written.
            UnknownTarget: there is no such target.
            TargetError: a target cannot be used here.
        """
        folder = Path(folder)
        identities = identities or tools.identities(job)
        notes = list(notes)
        job = replace(job, seeds=seeds_of(job.seeds, notes), corpus=str(folder / FOLDER))
        _made(folder)
        header = {
            **header_of(job, identities),
            "version": version("overlong"),
            "begun": timestamp(),
        }
        store = Store.create(folder / DATABASE, header, job.seeds)
        try:
            store.note(notes)
            corpus = Corpus(folder / FOLDER)
            for octets in job.seeds:
                corpus.add(octets)
            return cls(folder, store, job, tools, resumed=False)
        except BaseException:
            store.close()
            raise

    @classmethod
    def resume(cls, folder: Path | str, *, tools: Tools = USUAL) -> Campaign:
        """Open the campaign in a folder. Further inputs also use parts of inputs imported meanwhile.

        The folder may be a stranger's: nothing that it names runs without the user's consent.

        Raises:
            NotAgreed: there is none yet.
            CampaignError: the folder has no campaign, or one that is of another version, damaged, or not writable.
            TargetError: a target cannot be used here any more.
        """
        folder = Path(folder)
        store = Store.open(folder / DATABASE)
        try:
            header = store.header
            if header.get("version") != version("overlong"):
                raise CampaignError(
                    f"{printable(str(folder))}: begun with overlong {printable(str(header.get('version')), 40)}, which "
                    f"may make other inputs than {version('overlong')}; use that, or begin a new one with -o"
                )
            job = job_of(store)
            _check_targets(store, job)
            tools.check(store.path, job)
            job = replace(job, seeds=store.seeds, corpus=str(folder / FOLDER))
            store.note(_changed(store, job, tools))
            return cls(folder, store, job, tools, resumed=True)
        except BaseException:
            store.close()
            raise

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
            CampaignError: the folder cannot be written any more. What was committed is kept.
            KeyboardInterrupt: on Ctrl-C and SIGTERM. What was committed is kept.
        """
        self.began = self._new = time.monotonic()
        self._earlier = self.store.seconds
        before = self.store.totals.executions
        run = Running(self, seconds, runs, jobs, cluster, told or _nobody, before)
        with listening(), held():  # the end must be written despite any number of signals
            try:
                with released():
                    run.go_on()
            except TargetError:
                self._ended_early(run, examine=True)
                raise
            except CampaignError:
                run.end(at_once=True)
                raise
            except BaseException:
                self._ended_early(run, examine=False)
                raise
            run.end(at_once=False)
            self._written(run)
        status = self.status_in(None)
        (told or _nobody)(status)
        return status

    def _ended_early(self, run: Running, *, examine: bool) -> None:
        """Keep the results of a run that an error has ended; the caller raises that error.

        Raises:
            KeyboardInterrupt: the user interrupted the examination.
        """
        try:
            if examine:
                with released():
                    run.save_the_rest()
        finally:
            run.end(at_once=True)
            with contextlib.suppress(CampaignError):
                self._written(run)

    @property
    def status(self) -> Status:
        """The present status, or the last status of a run that has ended.

        Raises:
            CampaignError: its file cannot be read.
        """
        self.look()
        return self.status_in(None)

    def close(self) -> None:
        """Release the folder. Never raises."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _written(self, run: Running) -> None:
        self.pool = None
        self._ran = run.passed, self.store.totals.executions - run.before
        self.store.spent(self.spent)
        with contextlib.suppress(TargetError):  # a file of it is gone: those that use it say so
            self.store.note(_changed(self.store, self.job, self.tools))
        self.look()
        write(self.folder, self.store, self.job, self.tools.edges(self._features, self.job.profile.dialect))

    @property
    def faulty(self) -> bool:
        """Whether a fault was found."""
        return any(not each.is_difference for each in self._findings)

    @property
    def spent(self) -> float:
        """Seconds of campaign time: of this run, and of earlier ones."""
        return self._earlier + time.monotonic() - self.began

    def look(self) -> None:
        """Read again the data that other processes may have changed."""
        found = len(self._findings)
        self._findings = self.store.findings
        self._others = self.store.others
        self._notes = self._all_notes()
        self._features = self.store.features
        self._corpus.look_again()
        self.looked = time.monotonic()
        if len(self._findings) > found:
            self._new = self.looked

    def _all_notes(self) -> list[str]:
        notes = [*self.store.notes, *left_out(self.store)]
        if self.pool is None and (waiting := self.store.totals.waiting):
            what = "1 span waits" if waiting == 1 else f"{waiting} spans wait"
            by = "another process on the folder" if self._others else "--resume"
            notes.append(f"not all that was seen is examined yet: {what} for {by}")
        return notes

    def status_in(self, run: Running | None) -> Status:
        """The status in a run, or after the last one.

        Raises:
            CampaignError: its file cannot be read.
        """
        totals = self.store.totals
        seconds, executions = self._ran if run is None else (run.passed, totals.executions - run.before)
        return Status(
            targets=tuple(map(named, self.job.targets)),
            engine=self.job.engine,
            profile=self.job.profile,
            seed=self.job.seed,
            resumed=self._resumed,
            inputs=totals.inputs + (self.pool.progress if self.pool is not None else 0),
            executions=totals.executions,
            rate=executions / seconds if seconds else 0.0,
            octets=totals.octets,
            corpus=len(self._corpus),
            edges=self.tools.edges(self._features, self.job.profile.dialect),
            coverage=totals.coverage,
            seconds=seconds,
            earlier=self._earlier,
            last_new=time.monotonic() - self._new,
            findings=list(self._findings),
            notes=list(self._notes),
            others=self._others,
            faults_wait=run is None and self.store.faults_wait,
        )

    def triage_next(self, examiner: Examiner) -> bool:
        """Triage the next result until one divergence is examined, unless another process triages. True if it did.

        Raises:
            CampaignError: the folder cannot be written, or its file is damaged.
            TargetError: a target cannot be asked any more.
            Unfinished: there is no time left.
        """
        result = self.store.next_result()
        if result is None:
            return False
        self.sees_faults = any(not each.peer for each in result.divergences)
        change, rest = triage(self.store, result, examiner, self.spent)
        with held():
            self._keep_inputs(result, change.features)
            self.store.triaged(result.unit, change, self.spent, rest)
            self._features |= change.features
            if change.features:
                self._new = time.monotonic()
            if change.findings:
                self.look()
                new = {each.id for each in change.findings}
                write_findings(self.folder, (each for each in self._findings if each.id in new))
        return True

    def _keep_inputs(self, result: UnitResult, new: frozenset[int]) -> None:
        """Add inputs to the corpus that reach something new in the reference or in an instrumented target."""
        missing = set(new)
        for octets in result.interesting:
            if reached := self.tools.features_of(octets, self.job.profile.dialect) & missing:
                self._corpus.add(octets)
                missing -= reached
        for octets in result.covering:
            self._corpus.add(octets)


def _nobody(_status: Status) -> None:
    """A watcher that does nothing."""


def _made(folder: Path) -> None:
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
    if there - {DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", f"{DATABASE}-journal"}:
        why = ALREADY if DATABASE in there else "it is not empty, and no campaign; choose another folder with -o"
        raise CampaignError(f"{shown}: {why}")


def _changed(store: Store, job: CampaignJob, tools: Tools) -> list[str]:
    """A note for each target whose files have changed since the campaign began.

    Raises:
        TargetError: a target cannot be used here any more.
    """
    return [
        f"{printable(name)} has changed since the campaign began: findings may be of its earlier state"
        for (name, digest), now in zip(identities_of(store, job), tools.identities(job), strict=True)
        if digest != now
    ]


def _check_targets(store: Store, job: CampaignJob) -> None:
    names = set(map(named, job.targets))
    for each in store.findings:
        if not {each.target, each.peer or each.target} <= names:
            raise CampaignError(
                f"{printable(str(store.path))}: finding {each.id}: it is of no target of this campaign; "
                "choose another folder with -o"
            )


def findings_in(folder: Path | str) -> list[StoredFinding]:
    """The findings of a campaign in the order of discovery.

    Raises:
        CampaignError: no campaign is there, or its file is damaged.
    """
    with Store.read(Path(folder) / DATABASE) as store:
        return store.findings


def profile_of(folder: Path | str) -> Profile:
    """The profile of a campaign.

    Raises:
        CampaignError: no campaign is there, or its file is damaged.
    """
    with Store.read(Path(folder) / DATABASE) as store:
        return job_of(store).profile


def to_vector(stored: StoredFinding, profile: Profile) -> Vector:
    """The input of a finding as a vector."""
    return Vector("fuzz", stored.octets, chunks=stored.chunks, earlier=stored.earlier, profile=profile)
