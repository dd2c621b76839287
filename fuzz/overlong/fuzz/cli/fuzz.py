"""``overlong fuzz``: give decoders new inputs until a limit or the user ends the campaign."""

from __future__ import annotations

import contextlib
import secrets
import shlex
import sys
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from overlong.conformance.cli.folders import slug
from overlong.conformance.cli.formats import (
    WantedFormats,
    coloured,
    formats_option,
    rendered,
    report_of,
    show,
    tell_written,
)
from overlong.conformance.cli.limits import limits_of, with_limits
from overlong.conformance.cli.options import (
    INCOMPLETE,
    NOT_MEASURED,
    Jobs,
    jobs_option,
    leave,
    profile_option,
    read_by,
    width,
)
from overlong.conformance.cli.trust import agreed_to, named_by_user, with_agreement
from overlong.conformance.cli.words import complete_targets
from overlong.conformance.results.headline import State, exit_code_of
from overlong.conformance.support.interruption import no_more_interruptions
from overlong.conformance.support.quantities import count_of, seconds_of
from overlong.fuzz.cli.campaigns import TargetsCommand, campaign_errors, targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Report
    from overlong.fuzz.campaign.campaign import Campaign
    from overlong.fuzz.campaign.status import Status
    from overlong.fuzz.cli.screen import Goal
    from overlong.fuzz.execution.engine import CampaignJob

EXAMPLES = """\b
Examples:
  overlong fuzz cpython --time 10m
  overlong fuzz py:mypackage.text:decode cpython --runs 1M --seed 1
  overlong fuzz 'so:./libfoo.so:check?abi=bool(ptr,len)' -o campaign
  overlong fuzz --resume campaign --time 8h
  overlong fuzz --time 5m --ci -- node adapter.js
  overlong fuzz --engine atheris --time 1h py:mypackage.text:decode
  overlong fuzz --engine libfuzzer -o fuzz.cc \\
      'so:./libfoo.so:check?abi=bool(ptr,len)'
"""

HARNESS = "libfuzzer"
ENGINES = ("grammar", "hypothesis", "atheris", HARNESS)
_RESULTS = Path("overlong-results")
SUMMARY = "summary.txt"
"""The file in the campaign's folder that ``--ci`` writes."""
_FIXED = {"engine", "seed", "profile", "corpus", "path", "limits"}
"""Options that define a campaign."""


@dataclass(frozen=True)
class _Shown:
    """The output that the user wants."""

    wanted: WantedFormats
    ci: bool
    quiet: bool
    verbose: bool


@click.command("fuzz", cls=TargetsCommand, epilog=EXAMPLES)
@click.argument("names", nargs=-1, metavar="TARGET...", shell_complete=complete_targets)
@click.option(
    "--time", "seconds", callback=read_by(seconds_of), metavar="TIME", help="End after 30s, 10m, 2h, 3d or 2w."
)
@click.option("--runs", callback=read_by(count_of), metavar="N", help="End after this many inputs: 5000, 10k or 5M.")
@click.option(
    "--seed",
    type=click.IntRange(0, (1 << 64) - 1),
    metavar="N",
    help="Runs with equal seeds and --runs find the same.  [default: random, and shown]",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="grammar",
    show_default=True,
    help="Source of inputs: the grammar, Hypothesis, or Atheris, which follows a Python target's coverage. "
    "libfuzzer runs nothing: it writes a harness in C++ to stdout or -o.",
)
@profile_option("Dialect to measure by: rfc3629, cesu-8, mutf-8, wtf-8, ... (see 'overlong docs dialects').")
@click.option(
    "--corpus",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Begin with the inputs in this folder: a file for each, as in a libFuzzer corpus.",
)
@jobs_option("Number of processes")
@click.option(
    "-o",
    "--output",
    "path",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Folder of the campaign; of the engine libfuzzer, the file.  [default: overlong-results/fuzz-TARGET]",
)
@click.option(
    "--resume",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Continue the campaign in the folder, with its targets, seed and engine.",
)
@click.option(
    "--ci", is_flag=True, help="Show no screen; fail if a target got no input; write the report to summary.txt."
)
@formats_option("what campaign.json holds")
@with_limits()
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; if nothing is found, print one line.")
@click.option("-v", "--verbose", is_flag=True, help="Print lines instead of the screen, and the speed.")
def command(
    names: tuple[str, ...],
    seconds: float | None,
    runs: int | None,
    seed: int | None,
    engine: str,
    profile: str,
    corpus: Path | None,
    jobs: Jobs,
    path: Path | None,
    resume: Path | None,
    ci: bool,  # noqa: FBT001
    wanted: WantedFormats,
    quiet: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
) -> None:
    """Give decoders new inputs without end; report each bug once.

    TARGETs are named as in 'overlong certify', one word each; after -- comes one command that speaks
    the protocol. The campaign compares each target with the reference. Where RFC 3629 allows
    several answers, it compares the targets with each other; a difference is no fault. Without --time and
    --runs the campaign runs until Ctrl-C. A resumed campaign names its targets: if you have not begun it here,
    overlong shows what it would run, and runs it when you agree, or if you say --trust.

    \b
    Exit status:
      0  nothing was found (differences do not count)
      1  a fault was found
      2  the command line or a file is wrong
      3  nothing was measured: a target did not start; or with --ci, a target got
         no input
      4  incomplete: interrupted, the cluster is gone, or some divergences are
         not examined yet; continue with --resume
    """  # noqa: D301 (click reads the backspace)
    if ci and seconds is None and runs is None:
        raise click.UsageError("--ci needs an end: add --time 10m or --runs 1M")
    if resume is not None:
        _refuse_what_is_fixed(names)
    targets = targets_of(names) if resume is None else ()
    if engine == HARNESS:
        _emit(targets, path)
        return
    from overlong.conformance.sweep.pool import cpus
    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.cli.screen import Goal
    from overlong.fuzz.execution.engine import CampaignJob

    shown = _Shown(wanted=wanted, ci=ci, quiet=quiet, verbose=verbose)
    with campaign_errors():
        if resume is not None:
            from overlong.fuzz.campaign.campaign import Campaign

            folder, campaign = resume, with_agreement(partial(Campaign.resume, resume), ask=not ci)
        else:
            agreed_to(targets, ask=not ci)
            chosen = seed if seed is not None else secrets.randbelow(1 << 32)
            folder = path or _usual_folder(targets)
            seeds, notes = _seeds(corpus)
            job = CampaignJob(targets, chosen, engine, Profile(profile), limits_of(), seeds)
            campaign = _begun(folder, job, notes, start=not jobs.cluster)
        with campaign:
            try:
                _run(campaign, Goal(seconds, runs, str(folder)), jobs.number or cpus(), jobs.cluster, shown)
            except KeyboardInterrupt:  # a second interruption, while ending or summing up
                leave(f"interrupted; {_resumed_by(str(folder))}", INCOMPLETE)


def _words(target: str | tuple[str, ...]) -> str:
    return target if isinstance(target, str) else " ".join(target)


def _refuse_what_is_fixed(names: Sequence[str]) -> None:
    """Refuse options that would change a campaign when it is resumed.

    Raises:
        click.UsageError: the command line has targets or such an option.
    """
    context = click.get_current_context()
    if names:
        raise click.UsageError("--resume continues with the targets of the campaign; leave out the targets")
    for option in context.command.params:
        given = context.get_parameter_source(option.name or "") is ParameterSource.COMMANDLINE
        if given and option.name in _FIXED:
            raise click.UsageError(
                f"{option.opts[0]} cannot change after the start of a campaign; leave it out with --resume"
            )


def _usual_folder(targets: Sequence[str | tuple[str, ...]]) -> Path:
    """The default folder of a campaign."""
    return _RESULTS / f"fuzz-{slug(' '.join(map(_words, targets)))}"


def _seeds(corpus: Path | None) -> tuple[tuple[bytes, ...], tuple[str, ...]]:
    """The seeds in a folder, and notes for the report; a line on stderr names each file that is no input.

    Raises:
        CampaignError: there is no such folder.
    """
    if corpus is None:
        return (), ()
    from overlong.fuzz.campaign.corpus import files_in, seeds_of, told

    refused, notes = list[str](), list[str]()
    seeds = seeds_of(files_in(corpus, refused), notes)
    for line in told(refused):
        click.echo(f"overlong: left alone: {line}", err=True)
    return seeds, tuple(notes)


def _begun(folder: Path, job: CampaignJob, notes: tuple[str, ...], *, start: bool) -> Campaign:
    """Begin a campaign. If a target does not start, no folder is left behind.

    Args:
        folder: of the campaign.
        job: the targets, the engine and the limits.
        notes: notes on the seeds, for the report.
        start: test that the targets start; false on a cluster, where they start elsewhere.

    Raises:
        TargetError: a target does not start, or offers no operation that a campaign can test.
        CampaignError: the folder cannot be used.
    """
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable
    from overlong.conformance.support.whole_file import make_folder
    from overlong.fuzz.campaign.campaign import Campaign
    from overlong.fuzz.campaign.pool import identities_of
    from overlong.fuzz.campaign.store import DATABASE
    from overlong.fuzz.execution.in_process import why_slow_to_survey
    from overlong.fuzz.execution.probe import Probe

    identities = identities_of(job)  # before they start: they may replace their own files
    for target in job.targets if start else ():
        probe = Probe(target, job.limits, job.profile)
        try:
            if not probe.operations and not probe.encodes:
                raise TargetError(f"{printable(probe.id)}: the target offers no operation that a campaign can test")
            if not probe.operations and job.engine != "grammar":
                raise TargetError(f"{printable(probe.id)}: only the engine grammar has texts for encoders")
            if slow := why_slow_to_survey(probe.opened()):
                notes = (*notes, slow)
        finally:
            probe.close()
    if folder.parent == _RESULTS:
        make_folder(_RESULTS)  # so that version control ignores the folder
    campaign = Campaign.create(folder, job, notes=notes, identities=identities)
    named_by_user(folder / DATABASE, job.targets)
    return campaign


def _run(campaign: Campaign, goal: Goal, jobs: int, cluster: str, shown: _Shown) -> None:
    """Run the campaign, report what it found, and exit."""
    from overlong.conformance.report.formats import write
    from overlong.conformance.report.wording import state_of_campaign
    from overlong.fuzz.campaign.statement import STATEMENT
    from overlong.fuzz.campaign.status import CampaignNotSaved
    from overlong.fuzz.cli.screen import Screen
    from overlong.fuzz.report.campaign import report_of_status

    if not shown.quiet and goal.seconds is None and goal.runs is None:
        click.echo("overlong: note: this runs until Ctrl-C; set an end with --time or --runs", err=True)
    try:
        with Screen(goal, enabled=not shown.quiet, live=not (shown.ci or shown.verbose)) as screen:
            status, stopped = _asked(campaign, goal, jobs, cluster, screen.update)
    except CampaignNotSaved as error:
        no_more_interruptions()
        report = report_of_status(error.status, goal.folder)
        _print(_lines(report, error.status, goal.folder, shown, stopped=str(error)), report)
        raise
    no_more_interruptions()
    folder = campaign.folder
    report = report_of_status(status, goal.folder)
    text = list(_lines(report, status, goal.folder, shown, stopped=stopped))
    if shown.ci:
        write("".join(f"{line}\n" for line in text), folder / SUMMARY)
    if shown.wanted.stdout == "json" and not stopped:
        click.echo((folder / STATEMENT).read_text("utf-8"), nl=False)
    elif shown.wanted.stdout != "text" and not stopped:
        show(rendered(report_of(folder), shown.wanted.stdout, width=width()))
    else:
        _print(text, report)
    tell_written(shown.wanted, folder, quiet=shown.quiet)
    if stopped:
        leave(f"{stopped}; {_kept(status, goal.folder)}", INCOMPLETE)
    if shown.ci and (silent := _not_asked(folder)):
        leave(f"{silent} got no input, so nothing is known about it", NOT_MEASURED)
    state = state_of_campaign(report)
    if state is State.NOT_MEASURED:
        leave("no input was run; allow more --time or --runs", NOT_MEASURED)
    if state is State.INCOMPLETE:
        leave(f"some divergences were not examined in time; {_resumed_by(goal.folder)}", INCOMPLETE)
    sys.exit(exit_code_of(state))


def _asked(
    campaign: Campaign, goal: Goal, jobs: int, cluster: str, told: Callable[[Status], None]
) -> tuple[Status, str]:
    """Run the campaign. Returns its last status, and the cause if it ended early.

    Raises:
        TargetError: no target got an input.
        CampaignNotSaved: the folder can no longer be written.
        CampaignError: the same, before anything was seen.
    """
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable
    from overlong.fuzz.campaign.status import CampaignError, CampaignNotSaved

    seen: list[Status] = []

    def keep(status: Status) -> None:
        seen[:] = [status]
        told(status)

    try:
        return campaign.run(seconds=goal.seconds, runs=goal.runs, jobs=jobs, cluster=cluster, told=keep), ""
    except KeyboardInterrupt:
        stopped = "interrupted"
    except TargetError as error:
        if not campaign.status.inputs:
            raise
        stopped = printable(str(error))
    except CampaignError as error:
        with contextlib.suppress(CampaignError):  # what was committed can often still be read
            seen.append(replace(campaign.status, seconds=seen[0].seconds if seen else 0.0))
        if not seen or not seen[-1].inputs:
            raise
        raise CampaignNotSaved(str(error), seen[-1]) from error
    return replace(campaign.status, seconds=seen[0].seconds if seen else 0.0), stopped


def _kept(status: Status, folder: str) -> str:
    """What is saved, and how to continue."""
    from overlong.conformance.report.found import inputs
    from overlong.conformance.support.printable import counted

    what = f"{inputs(status.inputs)} and {counted(len(status.findings), 'finding')} are kept"
    return f"{what}; {_resumed_by(folder)}"


def _resumed_by(folder: str) -> str:
    from overlong.conformance.support.printable import printable

    return f"overlong fuzz --resume {printable(shlex.quote(folder), 1000)} continues"


def _lines(report: Report, status: Status, folder: str, shown: _Shown, *, stopped: str) -> Iterator[str]:
    """The lines of the report; only the last one if nothing was found and --quiet is given."""
    from overlong.conformance.report.wording import verdict_of_campaign
    from overlong.conformance.support.printable import printable, thousands
    from overlong.fuzz.report.campaign import summary

    if shown.quiet and not status.findings:
        if not stopped:
            yield verdict_of_campaign(report)
        return
    yield from summary(report, status, folder, width=width(), encoding=sys.stdout.encoding or "ascii")
    if shown.verbose:
        yield f"{thousands(round(status.rate))} executions per second, {thousands(status.octets)} octets"
        yield f"kept in {printable(folder, 1000)}"


def _print(lines: Iterable[str], report: Report) -> None:
    from overlong.conformance.report.wording import state_of_campaign, words_of_campaign

    words, state = words_of_campaign(report), state_of_campaign(report)
    for line in lines:
        click.echo(coloured(line, words, state))


def _not_asked(folder: Path) -> str:
    """A target that got no input, or None."""
    import json

    from overlong.conformance.support.printable import printable
    from overlong.fuzz.campaign.statement import STATEMENT

    done = json.loads((folder / STATEMENT).read_text("utf-8"))
    counts = {each["id"]: sum(each["executions"].values()) for each in done["targets"]}
    return next((printable(name) for name, count in counts.items() if not count), "")


def _emit(targets: Sequence[str | tuple[str, ...]], path: Path | None) -> None:
    """Write a harness for libFuzzer to a file, or to stdout.

    Raises:
        click.UsageError: a target is not a function that a harness can call.
    """
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable
    from overlong.fuzz.engines.libfuzzer import harness

    names = [target for target in targets if isinstance(target, str)]
    if len(names) < len(targets):
        raise click.UsageError("a harness calls functions of shared libraries; leave out -- and the command")
    try:
        text = harness(names)
    except TargetError as error:
        raise click.UsageError(str(error)) from None
    with campaign_errors():
        if path is None:
            click.echo(text, nl=False)
        else:
            path.write_text(text, encoding="utf-8", newline="\n")
            click.echo(printable(str(path), 1000))
