"""A campaign: a folder, an engine, and time. It goes on where it was, whatever ended it."""

from __future__ import annotations

import contextlib
import errno
import itertools
import json
import shlex
import time
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.interruption import held, listening, released
from overlong.conformance.support.printable import as_text, printable
from overlong.conformance.support.provenance import timestamp
from overlong.conformance.targets.resolve import Limits
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.corpus import FOLDER, Corpus, Imported, seeds_of, told
from overlong.fuzz.campaign.running import Running
from overlong.fuzz.campaign.statement import write, write_findings
from overlong.fuzz.campaign.status import CampaignError, Status
from overlong.fuzz.campaign.store import ALREADY, DATABASE, Store
from overlong.fuzz.campaign.tools import USUAL, Tools
from overlong.fuzz.campaign.triage import left_out, triage
from overlong.fuzz.execution.engine import CampaignJob

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from overlong.conformance.sweep.pool import Pool
    from overlong.fuzz.campaign.triage import Examiner
    from overlong.fuzz.execution.engine import UnitResult, WorkUnit
    from overlong.fuzz.minimise.stored import StoredFinding

IMPORTED = "imported"
"""The folder with inputs that are to be seeds from the next resume on."""


def named(target: str | tuple[str, ...]) -> str:
    """A target as findings name it."""
    return as_text(target if isinstance(target, str) else f"-- {shlex.join(target)}")


class Campaign:
    """A campaign in its folder, open. Several processes may work on one."""

    def __init__(self, folder: Path, store: Store, job: CampaignJob, tools: Tools, *, resumed: bool) -> None:
        self.folder, self.job = folder, job
        self.store, self.tools, self._resumed = store, tools, resumed
        self._corpus = Corpus(folder / FOLDER)
        self._earlier = store.seconds
        self._executions = 0
        self.pool: Pool[WorkUnit, UnitResult] | None = None
        """What runs units, if a run is under way."""
        self.sees_faults = False
        """Whether what is being examined are not all differences."""
        self.began = self.looked = time.monotonic()
        self._new = self.began
        self._findings = store.findings
        self._ran, self._others = (0.0, 0), 0
        self._notes = self._all_notes()
        self._features = store.features

    @classmethod
    def create(
        cls, folder: Path | str, job: CampaignJob, *, notes: Iterable[str] = (), tools: Tools = USUAL
    ) -> Campaign:
        """A new campaign in a folder that is empty or not there yet.

        Args:
            folder: where it is to be kept.
            job: which targets are asked what; its seeds become the first inputs of the corpus.
            notes: what its report is to say, each safe to show.
            tools: for tests.

        Raises:
            CampaignError: something is in the folder, perhaps a campaign; or it cannot be written.
            UnknownTarget: there is no such target.
            TargetError: a target cannot be used here.
        """
        folder = Path(folder)
        identities = list(zip(map(named, job.targets), tools.identities(job), strict=True))
        notes = list(notes)
        job = replace(job, seeds=seeds_of(job.seeds, notes), corpus=str(folder / FOLDER))
        _made(folder)
        header = {
            "job": json.dumps(_job_as_json(job)),
            "version": version("overlong"),
            "begun": timestamp(),
            "identities": json.dumps(identities),
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
        """The campaign in a folder. What was imported into it meanwhile gives its further inputs their parts.

        Raises:
            CampaignError: there is none; it is of another version of this program, damaged, or cannot be written.
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
            job = _job_of(store)
            job = replace(job, seeds=_with_imported(folder, store), corpus=str(folder / FOLDER))
            store.note(_changed(header, tools.identities(job)))
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
        """Ask inputs until something ends it, and keep what was found.

        Args:
            seconds: after which no more are asked in this run; None for no end.
            runs: how many inputs the campaign is to have, with those of earlier runs; None for no end.
            jobs: processes of this machine that ask at a time.
            cluster: the address of a Dask scheduler whose workers are to ask instead.
            told: is told now and then how it stands.

        Raises:
            TargetError: a target cannot be asked any more, or a cluster is gone. What was found is kept.
            CampaignError: the folder cannot be written any more. What was committed is kept.
            KeyboardInterrupt: on Ctrl-C and SIGTERM. What was committed is kept.
        """
        self.began = self._new = time.monotonic()
        self._earlier = self.store.seconds
        before = self.store.totals.executions
        run = Running(self, seconds, runs, jobs, cluster, told or _nobody, before)
        with listening(), held():  # how it ends is written whatever signals come, and however many
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
        """Keep what a run came to that an error has ended, which is the one to tell.

        Raises:
            KeyboardInterrupt: the user would not wait for examination.
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
        """Where it is; of a run that has ended, how that was.

        Raises:
            CampaignError: its file cannot be read.
        """
        self.look()
        return self.status_in(None)

    def close(self) -> None:
        """Let go of the folder. Never raises."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _written(self, run: Running) -> None:
        self.pool = None
        self._ran = run.passed, self.store.totals.executions - run.before
        self.store.spent(self.spent)
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
        """Read again what others may have changed."""
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
        """Where it is in a run, or after the last one.

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
        """Triage the next result until one divergence is examined, if that is this process's to do; whether it did.

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
        """Put into the corpus what reaches something new: of the reference, or of a target that is instrumented."""
        missing = set(new)
        for octets in result.interesting:
            if reached := self.tools.features_of(octets, self.job.profile.dialect) & missing:
                self._corpus.add(octets)
                missing -= reached
        for octets in result.covering:
            self._corpus.add(octets)


def _nobody(_status: Status) -> None:
    """There is no watcher."""


def _made(folder: Path) -> None:
    """Make the folder, or see that it is empty.

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


def _job_as_json(job: CampaignJob) -> dict[str, Any]:
    return {
        "targets": job.targets,
        "seed": str(job.seed),
        "engine": job.engine,
        "profile": asdict(job.profile),
        "limits": asdict(job.limits),
    }


def _job_of(store: Store) -> CampaignJob:
    """What a campaign began with, without its seeds.

    Raises:
        CampaignError: the file is damaged.
    """
    try:
        read = json.loads(store.header["job"])
        targets = tuple(each if isinstance(each, str) else tuple(map(str, each)) for each in read["targets"])
        return CampaignJob(
            targets, int(read["seed"]), str(read["engine"]), Profile(**read["profile"]), Limits(**read["limits"])
        )
    except (ValueError, TypeError, LookupError) as error:
        raise CampaignError(f"{printable(str(store.path))}: it is damaged; choose another folder with -o") from error


def _with_imported(folder: Path, store: Store) -> tuple[bytes, ...]:
    """The seeds of the last generation; of a new one, if inputs were imported since it began."""
    before, refused, notes = store.seeds(store.generation), list[str](), list[str]()
    imported = Corpus(folder / IMPORTED).inputs(refused)
    seeds = seeds_of(itertools.chain(before, imported), notes)
    if set(seeds) == set(before):
        seeds = before
    else:
        store.add_generation(seeds)
    store.note([*told(refused), *notes])
    return seeds


def _changed(header: dict[str, str], identities: tuple[str, ...]) -> list[str]:
    """A note for each target that is not what it was when the campaign began."""
    return [
        f"{printable(name)} has changed since the campaign began: what was found before may be mended"
        for (name, digest), now in zip(json.loads(header["identities"]), identities, strict=True)
        if digest != now
    ]


def import_into(folder: Path | str, source: Path) -> Imported:
    """Add inputs to a campaign's corpus. They give its inputs their parts from the next resume on.

    Raises:
        CampaignError: no campaign is there; there is no such file; the folder cannot be written.
    """
    folder = Path(folder)
    Store.read(folder / DATABASE).close()
    result = Corpus(folder / FOLDER).import_from(source)
    Corpus(folder / IMPORTED).import_from(source)
    return result


def findings_in(folder: Path | str) -> list[StoredFinding]:
    """What a campaign has found, in that order.

    Raises:
        CampaignError: no campaign is there, or its file is damaged.
    """
    with Store.read(Path(folder) / DATABASE) as store:
        return store.findings


def profile_of(folder: Path | str) -> Profile:
    """What a campaign measures its targets by.

    Raises:
        CampaignError: no campaign is there, or its file is damaged.
    """
    with Store.read(Path(folder) / DATABASE) as store:
        return _job_of(store).profile


def to_vector(stored: StoredFinding, profile: Profile) -> Vector:
    """The input of a finding, to be asked again."""
    return Vector("fuzz", stored.octets, chunks=stored.chunks, earlier=stored.earlier, profile=profile)
