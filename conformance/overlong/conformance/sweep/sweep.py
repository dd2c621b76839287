"""A sweep: runs plans on a target, shard by shard, and counts the results.

A plan's digest fixes the target's answer to every string; running the same plan on the same target gives
the same, however many processes or machines take part, in whatever order, and after however many interruptions.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import time
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import LEFT_OUT, NO_DIVERGENCE, BudgetSpent, TargetError, expectation
from overlong.conformance.results.invocation import options_of, reproduce_command, write_inputs
from overlong.conformance.results.statements import RESULTS, to_json
from overlong.conformance.results.sweeps import Account, PlanRun, SweepRun
from overlong.conformance.support.files import TemporaryFolder, make_folder, saving, written_whole
from overlong.conformance.support.printable import as_text
from overlong.conformance.support.process import no_more_interruptions
from overlong.conformance.support.provenance import generator
from overlong.conformance.sweep.describing import add_again, ask_again, describe, telling
from overlong.conformance.sweep.giants import expected_offset
from overlong.conformance.sweep.grid import total
from overlong.conformance.sweep.in_process import InProcess, hold_giants_to, reason_against, why_slow
from overlong.conformance.sweep.ledger import LEDGER, Ledger, counted
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.pool import Cluster, Engines, Threaded, results
from overlong.conformance.targets.identity import hold_to, identity_of
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.vector import RFC3629, Profile
from overlong.reference import dialect

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.conformance.examination.examine import Explanation
    from overlong.conformance.results.sweeps import Shard, ShardResult
    from overlong.conformance.sweep.columnar import Columnar
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.sweep.pool import Pool

    _Pool = Pool[Shard, ShardResult]

NOT_RECORDED = "recorded answers cannot be swept; name the adapter that wrote them"
Progress = Callable[[str, int, int], None]
"""Called with the name of the current plan, the finished strings, and the total strings of all plans."""


def sweep(
    target: str | Sequence[str],
    plans: Sequence[str],
    *,
    speaks: str = RFC3629.speaks,
    jobs: int = 1,
    cluster: str = "",
    limits: Limits | None = None,
    output: Path | None = None,
    resume: bool = False,
    briefly: bool = False,
    known: Sequence[Explanation] = (),
    enough: int | None = None,
    within: float | None = None,
    giants_within: float | None = None,
    progress: Progress | None = None,
) -> SweepRun:
    """Ask a target all strings of some plans.

    Args:
        target: its name on the command line; or, as a sequence, a command that speaks the protocol.
        plans: names that :func:`~overlong.conformance.sweep.plan.plan_named` accepts.
        speaks: the dialect to judge by.
        jobs: the number of target processes to run at a time on this machine.
        cluster: the address of a Dask scheduler whose workers ask in place of this machine.
        limits: the target's limits.
        output: a folder for ``sweep.sqlite`` and ``sweep.json``; created if missing. Without it nothing is kept.
        resume: continue the sweep in that folder.
        briefly: describe only as many plans as needed (``SweepRun.undescribed``).
        known: causes that are known already: what they predict is not examined.
        enough: begin no further plan after this many plans with divergences; the result omits the others.
        within: seconds: a plan that would exceed them at the last plan's rate does not begin, nor does any later one.
        giants_within: seconds: a plan of giant strings that would take longer, at the rate of the one before it, is
            left out (``SweepRun.spared``).
        progress: called as the sweep proceeds.

    Raises:
        TargetError: the target cannot be measured, or not by a sweep; or there is no cluster.
        LedgerError: the ledger in the folder cannot be used or written.
        OSError: ``output`` cannot be written.
        ValueError: there is no such plan or dialect.
    """
    started = time.monotonic()
    profile = Profile(dialect(speaks).name)
    chosen = [plan_named(name, profile) for name in dict.fromkeys(plans)]
    resolved = resolve(target, limits)
    if isinstance(resolved, RecordedTarget):
        raise TargetError(NOT_RECORDED)
    with contextlib.ExitStack() as stack:
        stack.callback(resolved.close)
        identity = identity_of(resolved)  # before it starts: it may replace its own files
        resolved.open()
        expected = expectation(profile, resolved.greeting)
        name = target if isinstance(target, str) else tuple(target)
        job = SweepJob(name, profile, limits or Limits())
        hold_giants_to(resolved, chosen)
        run = SweepRun(
            resolved.id,
            resolved.greeting,
            identity,
            profile,
            expected.operation,
            reproduce_command("sweep", target, *options_of([plan.name for plan in chosen]), profile=profile),
            [PlanRun(plan.name, plan.shows, plan.account(expected.automaton)) for plan in chosen],
            in_process=not reason_against(resolved),
            isolation=resolved.isolation,
            jobs=jobs,
        )
        again = ask_again(resolved, run, chosen)
        resolved.close()  # the engines start their own processes
        if output is None:
            folder = stack.enter_context(TemporaryFolder("sweep")).path
        else:
            make_folder(folder := output)
        ledger = stack.enter_context(Ledger(folder / LEDGER, _header(run), resume=resume))
        (folder / RESULTS).unlink(missing_ok=True)  # an earlier run's result must not pass for this one's
        told: Progress = progress or (lambda _plan, _done, _total: None)
        opened = partial(pool_for, job, jobs, cluster, (identity.digest,))
        _run(run, ledger, opened, told, enough, within, giants_within)
        if not run.incomplete or run.spent:
            _sum_all_up(run, ledger)
            if not run.wrong:
                diverging = [part for part in run.plans if part.divergences]
                described = telling(diverging) if briefly else diverging
                run.undescribed = tuple(part.plan for part in diverging if part not in described)
                describe(run, described, ledger, resolved, expected, known)
                add_again(run, again, ledger)
            if slow := why_slow(resolved):
                run.notes.append(slow)
            run.notes += resolved.notes
        hold_to(resolved, identity)
        if output is not None and not run.incomplete and not run.wrong:
            _save(run, output, ledger)
        run.seconds = time.monotonic() - started
    return run


def _save(run: SweepRun, output: Path, ledger: Ledger) -> None:
    """Write what was found; from here on no signal discards it.

    Raises:
        NotSaved: it cannot be written.
    """
    no_more_interruptions()
    with saving(run):
        write_inputs(output, (bucket.finding.vector for bucket in run.buckets if bucket.alone))
        with written_whole(output / RESULTS) as file:
            file.write(to_json(run))
        ledger.finish()


def _header(run: SweepRun) -> dict[str, str]:
    return {
        "target": as_text(run.target),
        "identity": run.identity.digest,
        "says": as_text(f"{run.greeting.name} {run.greeting.version}"),
        "profile": run.profile.name,
        "operation": run.operation,
        "plans": ", ".join(part.plan for part in run.plans),
        "version": generator(),
    }


def _run(
    run: SweepRun,
    ledger: Ledger,
    opened: Callable[[], _Pool],
    progress: Progress,
    enough: int | None,
    within: float | None,
    giants_within: float | None,
) -> None:
    """Run the missing shards. An interruption, or a target that cannot go on, ends it; finished shards are kept.

    Raises:
        TargetError: nothing was asked.
    """
    run.done = run.resumed = ledger.strings
    total = run.strings
    pool: _Pool | None = None
    whole = False
    diverging = set[str]()
    try:
        began, each, rate = time.monotonic(), 0.0, 0.0
        one_by_one = enough is not None or within is not None or giants_within is not None
        for parts in [[part] for part in run.plans] if one_by_one else [run.plans]:
            plans = [plan_named(part.plan, run.profile) for part in parts]
            if giants_within is not None and plans[0].giant:
                seconds = _octets_read(plans[0]) * rate / run.jobs
                if seconds > giants_within:
                    run.plans.remove(parts[0])
                    run.spared[parts[0].plan] = seconds
                    continue
            since, price = time.monotonic(), sum(plan.price for plan in plans)
            if within is not None and since - began + each * price > within:
                del run.plans[run.plans.index(parts[0]) :]
                break
            missing = (shard for plan in plans for shard in plan.shards() if not ledger.has(shard))
            if (first := next(missing, None)) is None:
                continue
            pool = pool or opened()
            progress(first.plan, run.done, total)
            for result in results(pool, chain((first,), missing)):
                ledger.add(result)
                plan, run.done = result.shard.plan, run.done + result.shard.count
                rate = giant_rate(plan_named(plan, run.profile), result, rate)
                progress(plan, run.done, total)
                if result.counts.keys() - NO_DIVERGENCE:
                    diverging.add(plan)
            each = (time.monotonic() - since) / price
            if enough is not None and len(diverging) >= enough:
                del run.plans[run.plans.index(parts[0]) + 1 :]
                break
        whole = True
    except KeyboardInterrupt:
        run.incomplete = "interrupted"
    except TargetError as error:
        if not run.done:
            raise
        run.incomplete = str(error)
    except BudgetSpent as error:
        run.incomplete, run.spent = str(error), True
    finally:
        if pool is not None:
            pool.close(at_once=not whole)


_LONG = 1 << 23
"""Octets of a string that measure the rate, not the call."""


def giant_rate(plan: Plan, result: ShardResult, known: float) -> float:
    """The least seconds for an octet of a giant string so far: what else runs on the machine only adds to them.

    Args:
        plan: a plan.
        result: that of one of its shards.
        known: the rate by earlier ones; 0: there were none.
    """
    if not plan.giant:
        return known
    octets = expected_offset(plan.grids[result.shard.grid], result.shard.first, plan.profile.dialect.automaton)
    return min(known or math.inf, result.seconds / octets) if octets >= _LONG else known


def _octets_read(plan: Plan) -> int:
    """The octets of all strings that a right decoder reads: up to the first error of each."""
    automaton = plan.profile.dialect.automaton
    return sum(expected_offset(grid, index, automaton) for grid in plan.grids for index in range(grid.size))


def _sum_all_up(run: SweepRun, ledger: Ledger) -> None:
    """Sum up all plans; strings that the target was not tested with make a sweep without divergences incomplete."""
    for part in run.plans:
        _sum_up(part, ledger, run)
    left_out = sum(part.kinds[LEFT_OUT] for part in run.plans)
    if left_out and not run.divergences and not run.incomplete:  # it failed on an unknown string
        run.done -= left_out
        run.incomplete, run.spent = "it failed too often; raise the limit with --limit restarts=N", True


def _sum_up(part: PlanRun, ledger: Ledger, run: SweepRun) -> None:
    """Add up a plan's shards, and compute its digest.

    The digest covers lines, in the order of the plan: the plan's name, profile and operation; then for each shard its
    key, strings, octets, well-formed, accepted, checksum, and the SHA-256 of its kinds (``-`` if all agree). It does
    not know which engine asked, in what order, on how many machines, or how often the sweep was interrupted.
    """
    digest = hashlib.sha256(f"{part.plan}\t{run.profile.name}\t{run.operation}\n".encode())
    shards, whole = plan_named(part.plan, run.profile).shards(), True
    for result in ledger.results(part.plan):
        whole = whole and next(shards, None) == result.shard
        account = Account(result.strings, result.octets, result.well_formed)
        part.seen = total((part.seen, account))
        part.accepted += result.accepted
        part.kinds.update(result.counts)
        part.seconds += result.seconds
        numbers = (*account, result.accepted, f"{result.checksum:016x}", result.kinds_digest or "-")
        digest.update("\t".join(map(str, (result.shard.key, *numbers))).encode() + b"\n")
    if whole and next(shards, None) is None:
        part.digest = digest.hexdigest()


@dataclass(frozen=True)
class SweepJob:
    """The target of a sweep, and the expectation. It can be pickled: a pool runs its shards in any process."""

    target: str | tuple[str, ...]
    """Its name, as on the command line; or a command that speaks the protocol."""
    profile: Profile = RFC3629
    limits: Limits = field(default_factory=Limits)

    def identities(self) -> tuple[str, ...]:
        """The digest of the target on the machine that calls this.

        Raises:
            TargetError: it cannot be used.
        """
        return (identity_of(resolve(self.target, self.limits)).digest,)

    def run(self, unit: Shard) -> ShardResult:
        """Run a shard, and check and count its result: pure, except for the engine that each thread keeps for its job.

        Raises:
            BudgetSpent: the target failed more often than its limit.
            TargetError: it cannot be asked (any more), or its engine contradicts itself.
        """
        engine = _engines.serving(self, lambda: open_engine(self))
        try:
            result = engine.run(unit)
        except BaseException:
            _engines.end()
            raise
        try:
            if result.shard != unit:
                raise ValueError(f"{unit.key}: the result of {result.shard.key}")
            return counted(result)
        except (ValueError, zlib.error) as error:
            raise TargetError(f"the sweep did not run as planned: {error}") from error


def open_engine(job: SweepJob) -> InProcess | Columnar:
    """The engine for its target: in the target's own process if possible, else by frames in columns.

    Raises:
        TargetError: the target cannot be measured, or has no operation that a sweep can ask.
    """
    target = resolve(job.target, job.limits)
    if isinstance(target, RecordedTarget):
        raise TargetError(NOT_RECORDED)
    if not reason_against(target):
        return InProcess(target, job.profile)
    from overlong.conformance.sweep.columnar import Columnar  # with NumPy, which takes a while

    return Columnar(target, job.profile)


_engines = Engines["InProcess | Columnar"]()


def close_engines() -> None:
    """End the engines of all threads of this process, even busy ones: their tasks fail."""
    _engines.end_all()


def pool_for(job: SweepJob, jobs: int, cluster: str = "", identities: tuple[str, ...] = ()) -> _Pool:
    """That many threads of this process; or the cluster at an address, for a target with these identities."""
    if not cluster:
        return Threaded(job.run, jobs, _engines)
    return Cluster(cluster, job.run, job.identities, identities, close_engines)
