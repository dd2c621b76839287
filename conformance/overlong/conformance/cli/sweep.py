"""``overlong sweep``: give a decoder every string of a plan."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.limits import agreed_to, limits_of, with_limits
from overlong.conformance.cli.options import (
    INCOMPLETE,
    NOT_MEASURED,
    USAGE,
    Jobs,
    TargetCommand,
    complete_targets,
    errors_on_one_line,
    jobs_option,
    leave,
    profile_option,
    slug,
    target_of,
    width,
    with_plans,
)
from overlong.conformance.cli.output import (
    Bar,
    WantedFormats,
    coloured,
    folder_and_file,
    formats_option,
    rendered,
    report_of,
    show,
    tell_written,
)
from overlong.conformance.results.model import exit_code_of
from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.support.process import no_more_interruptions

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.results.sweeps import SweepRun

EXAMPLES = """\b
Examples:
  overlong sweep cpython
  overlong sweep --plan exhaustive-3 py:mypackage.text:decode
  overlong sweep --plan exhaustive-4 --jobs 8 \\
      'so:libfoo.so:check?abi=bool(ptr,len)'
  overlong sweep --plan exhaustive-4 --resume \\
      'so:libfoo.so:check?abi=bool(ptr,len)'
  overlong sweep --plan placed-130 --plan pairs -- node adapter.js
  overlong sweep --plan exhaustive-5 --jobs tcp://head:8786 mydecoder
"""

USUAL = (
    *("exhaustive-2", "depth-1", "leads", "placed-64", "offsets-128", "lengths-1024", "far-17", "pairs"),
    *("after-3", "transitions-1", "faults-3", "thresholds-16", "order", "history"),
)
"""The default plans."""
_LONG = {"exhaustive-5", "exhaustive-6", "depth-3", "depth-4"}
"""Plans that take hours."""
_ESTIMATE = 5.0
"""Seconds of a sweep after which its remaining time can be estimated."""


@click.command("sweep", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("target", nargs=-1, required=True, shell_complete=complete_targets)
@with_plans
@profile_option("Dialect to measure by: rfc3629, cesu-8, mutf-8, wtf-8, ... (see 'overlong docs dialects').")
@jobs_option("Number of processes of the target")
@click.option("--resume", is_flag=True, help="Continue the interrupted sweep in the folder.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Folder for sweep.sqlite and sweep.json, or a report file such as a.html.  "
    "[default: overlong-results/sweep-TARGET]",
)
@formats_option("what sweep.json holds")
@with_limits()
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; on success, print one line.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also print what each plan shows, the digests, and how the target was run."
)
def command(
    target: tuple[str, ...],
    plans: tuple[str, ...],
    profile: str,
    jobs: Jobs,
    resume: bool,  # noqa: FBT001
    output: Path | None,
    wanted: WantedFormats,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Check a decoder's answer to every string of some plans.

    The default plans are exhaustive-2, depth-1, leads, placed-64, offsets-128, lengths-1024, far-17,
    pairs, after-3, transitions-1, faults-3, thresholds-16, order and history. TARGET is named as in
    'overlong certify'. A function of a shared library answers millions of strings a second in a
    process of its own (if there is a C compiler); other targets get large batches.

    \b
    Exit status:
      0  every answer is as expected
      1  the decoder diverges
      2  the command line or a file is wrong
      3  nothing was measured: the target did not start, or the sweep did not
         run as planned
      4  incomplete: interrupted, restarted too often, or the cluster is gone;
         continue with --resume
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.support.files import NotSaved
    from overlong.conformance.sweep.ledger import LEDGER, LedgerError
    from overlong.conformance.sweep.pool import cpus
    from overlong.conformance.sweep.sweep import sweep

    named = target_of(target)
    plans = plans or USUAL
    folder, wanted = folder_and_file(output, Path("overlong-results") / f"sweep-{slug(named)}", wanted)
    with errors_on_one_line(), Bar(enabled=not quiet, unit="strings") as bar:
        agreed_to([named])
        progress = bar.update if quiet or not _LONG & set(plans) else _with_estimate(bar.update)
        try:
            run = sweep(
                named,
                plans,
                speaks=profile,
                jobs=jobs.number or cpus(),
                cluster=jobs.cluster,
                limits=limits_of(),
                output=folder,
                resume=resume,
                progress=progress,
            )
        except LedgerError as error:
            bar.close()
            leave(str(error), USAGE)
        except NotSaved as error:
            no_more_interruptions()
            bar.close()
            _print(error.results, None, wanted.stdout, quiet=quiet, verbose=verbose)
            raise
        except KeyboardInterrupt:  # interrupted while starting, summing up or ending
            if not (folder / LEDGER).exists():
                raise
            bar.close()
            leave(f"interrupted; {_kept(folder / LEDGER)}", INCOMPLETE)
        no_more_interruptions()
        bar.close()
        if run.incomplete:
            if run.buckets:
                _print(run, folder, "text", quiet=quiet, verbose=verbose)
            leave(_incomplete(run, folder / LEDGER), INCOMPLETE)
        if run.wrong:
            remedy = f"remove {printable(str(folder / LEDGER))}"
            leave(f"the sweep did not run as planned, so its results show nothing: {run.wrong}; {remedy}", NOT_MEASURED)
        _print(run, folder, wanted.stdout, quiet=quiet, verbose=verbose)
        tell_written(wanted, folder, quiet=quiet)
    sys.exit(exit_code_of(run.state))


def _with_estimate(progress: Callable[[str, int, int], None]) -> Callable[[str, int, int], None]:
    """Progress that also prints the estimated remaining time once, as soon as there is an estimate."""
    begun: list[tuple[float, int]] = []
    told: list[bool] = []

    def update(plan: str, done: int, total: int) -> None:
        if not begun:
            begun.append((time.monotonic(), done))
        started, at_first = begun[0]
        seconds = time.monotonic() - started
        if not told and done > at_first and seconds > _ESTIMATE:
            told.append(True)
            rest = (total - done) * seconds / (done - at_first)
            click.echo(
                f"overlong: note: at this rate the sweep takes {_duration(rest)} more; "
                "--resume continues an interrupted sweep",
                err=True,
            )
        progress(plan, done, total)

    return update


def _duration(seconds: float) -> str:
    """``40 minutes``, ``7 hours``, ``33 days``."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds > 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _incomplete(run: SweepRun, ledger: Path) -> str:

    kept = f"{thousands(run.done)} of {thousands(run.strings)} strings are done"
    return f"{printable(run.incomplete)}; {kept}; {_kept(ledger)}"


def _kept(ledger: Path) -> str:

    return f"{printable(str(ledger))} keeps the finished part; continue with the same command and --resume"


def _print(run: SweepRun, folder: Path | None, form: str, *, quiet: bool, verbose: bool) -> None:
    from overlong.conformance.report.terminal import summary_of_sweep
    from overlong.conformance.report.text import verdict_of_sweep
    from overlong.conformance.report.wording import verdict
    from overlong.conformance.results.statements import RESULTS, report_of_swept, to_json

    if form == "json":
        click.echo(to_json(run), nl=False)
        return
    if form != "text" and folder is not None:
        show(rendered(report_of(folder), form, width=width()))
        return
    report = report_of_swept(run, folder)
    if quiet and run.conformant:
        click.echo(verdict_of_sweep(report.subjects[0]))
        return
    words = verdict(report.subjects[0], report.kind)
    encoding = sys.stdout.encoding or "ascii"
    for line in summary_of_sweep(report, run, width=width(), encoding=encoding, every=verbose):
        click.echo(coloured(line, words, run.state))
    if verbose:
        for part in run.plans:
            click.echo(f"{part.plan}: {part.shows}")
            click.echo(f"  sha256 {part.digest}")
        how = "in its own process" if run.in_process else "in columns"
        click.echo(f"tested {how}, {run.jobs} at a time, {run.seconds:.1f} s; isolation: {run.isolation or 'none'}")
    if not run.incomplete and folder is not None:
        click.echo(f"report: {printable(str(folder / RESULTS))}")
