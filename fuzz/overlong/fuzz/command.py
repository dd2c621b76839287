"""``overlong fuzz``: give decoders new inputs until a limit or the user ends the campaign."""

from __future__ import annotations

import secrets
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from overlong.conformance.cli.limits import agreed_to, limits_of, named_by_user, with_agreement, with_limits
from overlong.conformance.cli.options import (
    COMMAND,
    INCOMPLETE,
    NOT_MEASURED,
    Jobs,
    TargetCommand,
    complete_targets,
    jobs_option,
    leave,
    profile_option,
    read_by,
    slug,
    width,
)
from overlong.conformance.cli.output import WantedFormats, formats_option, rendered, report_of, show, tell_written
from overlong.conformance.results.model import State, exit_code_of
from overlong.conformance.support.printable import count_of, seconds_of
from overlong.conformance.support.process import no_more_interruptions
from overlong.fuzz.finding import campaign_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.fuzz.campaign.campaign import Campaign
    from overlong.fuzz.campaign.state import Status
    from overlong.fuzz.engines.job import CampaignJob

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


@click.command("fuzz", cls=TargetCommand, epilog=EXAMPLES)
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
    "--ci", is_flag=True, help="Show only whole lines; fail if a target got no input; write the report to summary.txt."
)
@formats_option("what campaign.json holds")
@with_limits()
@click.option("-q", "--quiet", is_flag=True, help="Show no progress; if nothing is found, print one line.")
@click.option("-v", "--verbose", is_flag=True, help="Print whole lines of progress, and the speed.")
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
    targets = _targets_of(names) if resume is None else ()
    if engine == HARNESS:
        _emit(targets, path)
        return
    from overlong.conformance.vectors.vector import Profile
    from overlong.fuzz.engines.job import CampaignJob
    from overlong.fuzz.report import resumed_by

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
                _run(campaign, seconds, runs, jobs, wanted, ci=ci, quiet=quiet, verbose=verbose)
            except KeyboardInterrupt:  # a second interruption, while ending or summing up
                leave(f"interrupted; {resumed_by(str(folder))}", INCOMPLETE)


def _targets_of(names: Sequence[str]) -> tuple[str | tuple[str, ...], ...]:
    """The targets named by the arguments.

    Raises:
        click.UsageError: there is no target, or one is named twice.
    """
    command: tuple[str, ...] | None = click.get_current_context().meta.get(COMMAND)
    if command == ():
        raise click.UsageError("nothing follows --; write a command there: overlong fuzz -- node adapter.js")
    targets: tuple[str | tuple[str, ...], ...] = tuple(names)
    if command:
        targets = (*names[: -len(command)], command)
    if not targets:
        raise click.UsageError("name a target: 'overlong target list' shows those that are ready here")
    if len(set(targets)) < len(targets):
        raise click.UsageError("a target is named twice; its answers would only be compared with themselves")
    if "" in targets:
        raise click.UsageError("'' names no target: 'overlong target list' shows those that are ready here")
    return targets


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
    from overlong.conformance.support.files import make_folder
    from overlong.conformance.support.printable import printable
    from overlong.conformance.sweep.in_process import why_slow
    from overlong.fuzz.campaign.campaign import Campaign
    from overlong.fuzz.campaign.pool import identities_of
    from overlong.fuzz.campaign.state import STATEMENT
    from overlong.fuzz.engines.probe import Probe

    identities = identities_of(job)  # before they start: they may replace their own files
    for target in job.targets if start else ():
        probe = Probe(target, job.limits, job.profile)
        try:
            if not probe.operations and not probe.beside:
                raise TargetError(f"{printable(probe.id)}: the target offers no operation that a campaign can test")
            if not probe.operations and job.engine != "grammar":
                raise TargetError(f"{printable(probe.id)}: only the engine grammar has texts for what does not decode")
            if slow := why_slow(probe.opened()):
                notes = (*notes, slow)
        finally:
            probe.close()
    if folder.parent == _RESULTS:
        make_folder(_RESULTS)  # so that version control ignores the folder
    campaign = Campaign.create(folder, job, notes=notes, identities=identities)
    named_by_user(folder / STATEMENT, job.targets)
    return campaign


def _run(
    campaign: Campaign,
    seconds: float | None,
    runs: int | None,
    jobs: Jobs,
    wanted: WantedFormats,
    *,
    ci: bool,
    quiet: bool,
    verbose: bool,
) -> None:
    """Run the campaign, report what it found, and exit."""
    from overlong.conformance.report.formats import write
    from overlong.conformance.report.wording import state_of_campaign
    from overlong.fuzz.campaign.corpus import CampaignError
    from overlong.fuzz.campaign.state import STATEMENT
    from overlong.fuzz.report import (
        Screen,
        closing_lines,
        kept_words,
        not_asked,
        print_lines,
        report_of_status,
        resumed_by,
    )

    if not quiet and seconds is None and runs is None:
        click.echo("overlong: note: this runs until Ctrl-C; set an end with --time or --runs", err=True)
    with Screen(seconds, runs, enabled=not quiet, live=not (ci or verbose)) as screen:
        stopped, error = _asked(campaign, seconds, runs, jobs, screen.update)
    no_more_interruptions()
    folder, status = campaign.folder, campaign.status
    shown = str(folder)
    report = report_of_status(status, shown)
    text = list(closing_lines(report, status, shown, quiet=quiet, verbose=verbose, stopped=stopped))
    if isinstance(error, CampaignError):  # the folder can no longer be written
        if status.inputs:
            print_lines(text, report)
        raise error
    if ci:
        write("".join(f"{line}\n" for line in text), folder / SUMMARY)
    if wanted.stdout == "json" and not stopped:
        click.echo((folder / STATEMENT).read_text("utf-8"), nl=False)
    elif wanted.stdout != "text" and not stopped:
        show(rendered(report_of(folder), wanted.stdout, width=width()))
    else:
        print_lines(text, report)
    tell_written(wanted, folder, quiet=quiet)
    if stopped:
        leave(f"{stopped}; {kept_words(status, shown)}", INCOMPLETE)
    if ci and (silent := not_asked(folder)):
        leave(f"{silent} got no input, so nothing is known about it", NOT_MEASURED)
    state = state_of_campaign(report)
    if state is State.NOT_MEASURED:
        leave("no input was run; allow more --time or --runs", NOT_MEASURED)
    if state is State.INCOMPLETE:
        leave(f"some divergences were not examined in time; {resumed_by(shown)}", INCOMPLETE)
    sys.exit(exit_code_of(state))


def _asked(
    campaign: Campaign, seconds: float | None, runs: int | None, jobs: Jobs, told: Callable[[Status], None]
) -> tuple[str, Exception | None]:
    """Run the campaign. Returns why it ended early, and the error that ended it.

    Raises:
        TargetError: no target got an input.
    """
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.support.printable import printable
    from overlong.conformance.sweep.pool import cpus
    from overlong.fuzz.campaign.corpus import CampaignError

    try:
        processes = jobs.number or cpus()
        campaign.run(seconds=seconds, runs=runs, jobs=processes, cluster=jobs.cluster, told=told)
    except KeyboardInterrupt:
        return "interrupted", None
    except (TargetError, CampaignError) as error:
        if isinstance(error, TargetError) and not campaign.status.inputs:
            raise
        return printable(str(error)), error
    return "", None


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
