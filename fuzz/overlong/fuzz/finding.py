"""``overlong finding`` and ``overlong explain``: list, show and keep the findings of certify, matrix, sweep and fuzz;
explain octets, a code, or a finding of a run.
"""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli import explain
from overlong.conformance.cli.options import USAGE, complete_codes, errors_on_one_line, leave, profile_option, width

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from overlong.fuzz.report import Found

LANGUAGES = ("pytest", "rust", "go", "java", "node", "c")
"""The languages of regression tests."""
_FOLDER = click.argument("folder", metavar="FOLDER")
_NAME = click.argument("name", metavar="ID")


@contextlib.contextmanager
def campaign_errors() -> Generator[None]:
    """Report a campaign's error on one line, without a traceback."""
    from overlong.fuzz.campaign.corpus import CampaignError

    with errors_on_one_line():
        try:
            yield
        except CampaignError as error:
            leave(str(error), USAGE)


@click.group("finding")
def command() -> None:
    """List, show, promote and test the findings of a run.

    A run of certify, matrix, sweep or fuzz has one finding for each cause, with an input that shows it.

    \b
    Examples:
      overlong finding list campaign/
      overlong finding show campaign/ D-7f3a
      overlong finding test overlong-results/cpython overlong/c0ae
    """  # noqa: D301 (click reads the backspace)


@command.command("list")
@_FOLDER
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
def list_command(folder: str, form: str) -> None:
    """List the findings of a run, in the order of its report.

    \b
    Examples:
      overlong finding list overlong-results/fuzz-cpython
      overlong finding list overlong-results/cpython

    \b
    Exit status:
      0  listed, also if there are none
      2  FOLDER is not that of a run
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.fuzz.report import as_json, findings_in, line_of

    with campaign_errors():
        for found in findings_in(folder):
            click.echo(json.dumps(as_json(found)) if form == "json" else line_of(found))


@command.command("show")
@_FOLDER
@_NAME
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "text", "id"]),
    default="json",
    show_default=True,
    help="All data of the finding, the report's lines, or a vector for 'overlong replay'.",
)
def show_command(folder: str, name: str, form: str) -> None:
    """Show a finding. ID may be a unique beginning, or the id of a vector: overlong/c0ae.

    \b
    Examples:
      overlong finding show overlong-results/fuzz-cpython D-7f3a
      overlong finding show --format id overlong-results/fuzz-cpython D-7f3a

    \b
    Exit status:
      0  shown
      2  there is no such run or finding
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.fuzz.report import as_json, finding_named, in_full, lines_of

    with campaign_errors():
        found = finding_named(folder, name)
        if form == "json":
            click.echo(json.dumps(as_json(found), indent=2))
        elif form == "id":
            click.echo(in_full(found))
        else:
            for line in lines_of(found, folder, width()):
                click.echo(line)


@command.command("promote")
@_FOLDER
@_NAME
@click.option(
    "--to",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("corpora/regressions"),
    show_default=True,
    metavar="FOLDER",
    help="Folder of regressions.",
)
def promote_command(folder: str, name: str, to: Path) -> None:
    """Save a finding as a regression vector for later runs.

    \b
    Examples:
      overlong finding promote overlong-results/fuzz-mylib D-7f3a
      overlong finding promote campaign/ D-7f3a --to tests/regressions

    \b
    Exit status:
      0  written
      2  there is no such finding, or the file cannot be written
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.support.printable import printable
    from overlong.fuzz.promotion import promote
    from overlong.fuzz.report import finding_named

    with campaign_errors():
        written = promote(finding_named(folder, name), to)
    click.echo(printable(str(written), 1000))


@command.command("test")
@_FOLDER
@_NAME
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    help="Language of the test.  [default: that of the decoder, if its target names it]",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A new file, or a folder. Existing files are never overwritten.  [default: stdout]",
)
def test_command(folder: str, name: str, language: str | None, output: Path | None) -> None:
    """Write a regression test for a finding.

    By default the test is in the language of the finding's decoder.

    \b
    Examples:
      overlong finding test overlong-results/fuzz-mylib D-7f3a --language rust
      overlong finding test campaign/ D-7f3a --language c -o tests/
      overlong finding test overlong-results/mylib overlong/c0ae

    \b
    Exit status:
      0  written
      2  there is no such finding, or the file cannot be written
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.support.printable import printable
    from overlong.fuzz.campaign.corpus import CampaignError
    from overlong.fuzz.promotion import file_name, how_to_run, language_for, source
    from overlong.fuzz.report import finding_named

    with campaign_errors():
        stored = finding_named(folder, name)
        language = language or language_for(stored.target, stored.language)
        text = source(stored, language, folder=folder)
        if output is None:
            sys.stdout.write(text)
            return
        file = output / file_name(stored, language) if output.is_dir() else output
        try:
            with file.open("x", encoding="utf-8", newline="\n") as stream:
                stream.write(text)
        except FileExistsError:
            raise CampaignError(f"{printable(str(file))}: the file exists already; choose another name") from None
        usual = file.name == file_name(stored, language)  # the printed command uses this name
        click.echo(printable(str(file), 1000) + (f"  ({how_to_run(stored, language)})" if usual else ""))


_FINDING = re.compile(r"[Dd]-[0-9A-Fa-f]{1,8}")


@click.command("explain", epilog=f"{explain.EXAMPLES}  overlong explain campaign/ D-7f3a\n")
@click.argument("what", nargs=-1, required=True, shell_complete=complete_codes)
@profile_option("The dialect whose automaton reads the octets.")
def explain_command(what: tuple[str, ...], profile: str) -> None:
    """Explain octets, a code (OV201), or a finding of a run.

    Octets are in hexadecimal; a finding is named by its folder and its id (FOLDER D-7f3a). For octets: the path
    through the automaton, with the grammar's alternatives that remain at each octet, the defect, and the output of
    each error mode. 'codes' lists all codes. For a finding: all its data, its octets, the meaning of its code, and
    what you can do with it.

    \b
    Exit status:
      0  explained
      2  there is no such code or finding, or WHAT means no octets
    """  # noqa: D301 (click reads the backspace)
    if not _FINDING.fullmatch(what[-1]):
        click.get_current_context().invoke(explain.command, what=what, profile=profile)
        return
    if len(what) != 2:
        raise click.UsageError(f"name the folder of the run, then the finding: overlong explain FOLDER {what[-1]}")
    from overlong.fuzz.report import explain_finding, finding_named

    folder, name = what
    with campaign_errors():
        found = finding_named(folder, name)
        for line in explain_finding(found, folder, width(), offered(found, folder)):
            click.echo(line)


def offered(stored: Found, folder: str) -> Iterator[str]:
    """The commands that apply to the finding: a difference has none, and not every finding can become a test."""
    from overlong.conformance.report.text import is_difference
    from overlong.fuzz.campaign.corpus import CampaignError
    from overlong.fuzz.promotion import case_of, check

    if not is_difference(stored):
        with contextlib.suppress(CampaignError):
            check(stored)
            yield "promote"
        with contextlib.suppress(CampaignError):
            case_of(stored, folder)
            yield "test"
