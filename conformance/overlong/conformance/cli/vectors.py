"""``overlong vectors``: list, show, export and check vectors, and score a list of test strings."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    USAGE,
    complete_suites,
    errors_on_one_line,
    leave,
    text_or_json,
    width,
)
from overlong.conformance.support.printable import did_you_mean, printable, thousands
from overlong.conformance.support.process import no_more_interruptions

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from overlong.conformance.vectors.export import Selection


_CODE = re.compile(r"[Oo][Vv]\d+")
SELECTION: list[Callable[[Any], Any]] = [
    click.argument("words", nargs=-1, metavar="[FAMILY|CODE|GLOB]..."),
    click.option(
        "--suite",
        "suites",
        multiple=True,
        metavar="SUITE",
        shell_complete=complete_suites,
        help="Only this suite (repeatable). [default: core, streams]",
    ),
]


def with_selection(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that select vectors."""
    for option in reversed(SELECTION):
        function = option(function)
    return function


@click.group("vectors")
def command() -> None:
    """Test vectors: octets, and every answer of a correct decoder.

    \b
    Examples:
      overlong vectors list OV201
      overlong vectors export --format jsonl -o vectors.jsonl
      overlong vectors score mine.txt
    """  # noqa: D301 (click reads the backspace)


@command.command("list")
@with_selection
@text_or_json()
def list_command(
    suites: tuple[str, ...],
    words: tuple[str, ...],
    output_format: str,
) -> None:
    """List vectors: id, verdict and purpose.

    Without a word, all of the suites; or those of a FAMILY (overlong), with a defect (CODE: OV201), or with an id or
    a case that matches a pattern (GLOB: 'surrogate/*'). Of several words of one kind, any may fit.

    \b
    Examples:
      overlong vectors list regression
      overlong vectors list OV201 '*/c0*'

    \b
    Exit status:
      0  listed
      2  nothing matches, or there is no such suite, family or code
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.conformance.vectors.export import SelectionError
    from overlong.conformance.vectors.vector import record

    with errors_on_one_line(), selection_errors():
        chosen = _selection(suites, words)
        some = False
        for vector in chosen.vectors():
            some = True
            if output_format == "json":
                click.echo(json.dumps(record(vector)))
            else:
                verdict = "accept" if vector.flaw is None else "reject"
                click.echo(f"{vector.id:<24}  {verdict}  {vector.comment}".rstrip())
        if not some:
            raise SelectionError(f"no vector matches: {chosen.words}")


@command.command("show")
@click.argument("names", nargs=-1, required=True, metavar="ID...")
@text_or_json()
def show_command(names: tuple[str, ...], output_format: str) -> None:
    """Show everything about vectors.

    Name them by id, by the name of a case, or by octets in hexadecimal.

    \b
    Examples:
      overlong vectors show regression/simdjson-1169
      overlong vectors show overlong/e080af --format json
      overlong vectors show E2.82AC

    \b
    Exit status:
      0  shown
      2  there is no such vector
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.conformance.report.vector import lines
    from overlong.conformance.vectors.export import find_vectors
    from overlong.conformance.vectors.vector import IdError, record

    try:
        found = [vector for name in names for vector in find_vectors(name)]
    except IdError as error:
        raise click.UsageError(printable(str(error))) from None
    for place, vector in enumerate(found):
        if output_format == "json":
            click.echo(json.dumps(record(vector)))
            continue
        if place:
            click.echo()
        for line in lines(vector, width()):
            click.echo(line)


@command.command("export")
@with_selection
@click.option("--format", "form", required=True, metavar="FORMAT", help="One of the formats below.")
@click.option("-o", "--output", metavar="PATH", help="A file, or a folder (folder/). [default: stdout]")
def export_command(
    suites: tuple[str, ...],
    words: tuple[str, ...],
    form: str,
    output: str | None,
) -> None:
    """Write vectors to a file that you may use freely.

    FAMILY, CODE and GLOB select vectors, as in 'overlong vectors list'. They are under CC0-1.0. A manifest with
    digests goes beside the file; 'overlong vectors check' reads it.

    \b
    Formats:
      json, jsonl, tsv, csv  data, with every expectation
      c-header, rust, go, javascript, java, python
                             source code for your own test suite
      text                   a text for people, and a text with the raw octets
      frames                 requests of the target protocol
      libfuzzer              a seed corpus and a dictionary
      arrow, parquet         columns (extra 'columns')

    \b
    Examples:
      overlong vectors export --format c-header --suite core -o utf8_vectors.h
      overlong vectors export --format jsonl --suite exhaustive-2 > all.jsonl
      overlong vectors export --format libfuzzer OV201 -o corpus/

    \b
    Exit status:
      0  written
      2  nothing matches, there is no such format, or it cannot be written
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.vectors.export import FORMATS, MANIFEST, OTHERS, export

    form = OTHERS.get(form, form)
    if form not in FORMATS:
        raise click.BadParameter(f"no format {form!r}; {did_you_mean(form, FORMATS)}", param_hint="--format")

    with errors_on_one_line(), selection_errors():
        chosen = _selection(suites, words)
        files = export(chosen, form, output, sys.stdout.buffer)
    if files:
        main, *others = files
        manifests = [file for file in others if file.endswith(MANIFEST)]
        own = [main, *(file for file in others if file not in manifests and Path(file).name != ".gitattributes")]
        more = f" and {len(own) - 1} more" if len(own) > 2 else f", {own[1]}" if len(own) > 1 else ""
        click.echo(f"{thousands(chosen.count())} vectors: {printable(main + more)}", err=True)
        for manifest in manifests:
            click.echo(f"with a manifest: {printable(manifest)}", err=True)


@command.command("check")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="PATH...")
def check_command(paths: tuple[Path, ...]) -> None:
    """Check the form, digests and expectations of vector files.

    The command reads a JSON or JSON Lines file strictly and compares it with the reference. It compares
    any other file, or a folder, with its manifest.

    \b
    Examples:
      overlong vectors check corpora/vectors/core.json
      overlong vectors check vectors/

    \b
    Exit status:
      0  everything is right
      1  an expectation or a digest is wrong
      2  there is no such file, or it is not of this form
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.support.strict_json import JsonError
    from overlong.conformance.vectors.check import CheckError, check

    with errors_on_one_line():
        for path in paths:
            try:
                said = check(path)
            except JsonError as error:
                leave(str(error), USAGE)
            except CheckError as error:
                leave(str(error), DIVERGES if error.wrong else USAGE)
            click.echo(f"{printable(str(path))}: {said}")


def _selection(suites: tuple[str, ...], words: tuple[str, ...]) -> Selection:
    """The selection that suites and words name: a pattern has a slash or an asterisk, a code begins with OV.

    Raises:
        SelectionError: a word names nothing that exists.
    """
    from overlong.conformance.vectors.export import Selection, SelectionError, find_suite
    from overlong.conformance.vectors.families import FAMILIES
    from overlong.reference import DEFECTS

    usual = Selection().suites
    ids = tuple(word for word in words if set(word) & set("/*?["))
    flags = tuple(word.upper() for word in words if _CODE.fullmatch(word))
    families = tuple(word for word in words if word not in ids and word.upper() not in flags)
    for name in suites:
        find_suite(name)
    for family in families if (suites or usual) == usual else ():  # vectors of other suites may be of no family
        if family not in FAMILIES:
            raise SelectionError(f"no family {family!r}; {did_you_mean(family, FAMILIES)}")
    for flag in flags:
        if flag not in DEFECTS:
            raise SelectionError(f"no code {flag!r}; {did_you_mean(flag, DEFECTS)}")
    return Selection(suites or usual, families, flags, ids)


@contextlib.contextmanager
def selection_errors() -> Generator[None]:
    """Report an impossible selection or export on one line."""
    from overlong.conformance.vectors.export import SelectionError

    try:
        yield
    except SelectionError as error:
        leave(printable(str(error)), USAGE)


LIST_FORMS = ("auto", "hex", "numbered", "json", "jsonl", "tsv", "directory", "raw", "lines", "source")
"""The formats of ``overlong.conformance.models.list_files``, repeated here so that ``--help`` need not import it."""

_SCORE_EXAMPLES = """\b
Examples:
  overlong vectors score tests.txt
  overlong vectors score fuzz/corpus/
  overlong vectors score --input lines strings.bin
  overlong vectors score tests.txt --add missing.tsv
  overlong vectors score tests.json --fail-under 100
"""


@command.command("score", epilog=_SCORE_EXAMPLES)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "--input",
    "form",
    type=click.Choice(LIST_FORMS),
    default="auto",
    show_default=True,
    help="Format of the files; raw: each file is one string; lines: each line is one string.",
)
@text_or_json()
@click.option(
    "--add",
    "missing",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Write the vectors that the list lacks for 100 %, one on each line.",
)
@click.option(
    "--fail-under",
    type=click.FloatRange(0, 100),
    metavar="PERCENT",
    help="Exit with 1 if the list catches fewer single-transition faults.",
)
def score_command(
    files: tuple[str, ...],
    form: str,
    output_format: str,
    missing: str | None,
    fail_under: float | None,
) -> None:
    """Which wrong decoders does a list of test strings catch?

    FILE is a list in a format of overlong or in another (a line of hexadecimal octets for each string,
    number:octets, JSON arrays), a folder whose files are strings, or - for standard input. Several
    files count as one list.

    \b
    Exit status:
      0  measured
      1  an expectation in the list is wrong, or the score is below --fail-under
      2  a file cannot be read, or holds no string
      4  interrupted
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.models.list_forms import ReadError
    from overlong.conformance.models.score import score
    from overlong.conformance.report.learned import summary

    if missing is not None and any(_same(missing, file) for file in files):
        raise click.UsageError(f"--add {printable(missing)} would overwrite a list; name another file")
    with errors_on_one_line():
        try:
            with _counting() as counted:
                result = score(*files, form=form, progress=counted)
        except ReadError as error:
            leave(str(error), USAGE)
        no_more_interruptions()
        if missing is not None:
            _write(missing, result.lines_to_add())
        if output_format == "json":
            click.echo(json.dumps(result.to_json(), indent=2))
        else:
            for line in summary(result, width=width(), added=missing or ""):
                click.echo(line)
    below = fail_under is not None and 100 * result.transitions.caught < fail_under * result.transitions.total
    if below:
        click.echo(f"overlong: {result.transitions.percent} % is below --fail-under {fail_under:g}", err=True)
    sys.exit(DIVERGES if below or result.wrong_count else CONFORMS)


def _same(one: str, other: str) -> bool:
    try:
        return Path(one).samefile(other)
    except (OSError, ValueError):
        return False


def _write(file: str, lines: Iterable[str]) -> None:
    """Write the whole file or nothing."""
    from overlong.conformance.support.files import written_to

    path = Path(file)
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
        with written_to(path) as out:
            out.writelines(lines)
    except OSError as error:
        leave(f"{printable(file)}: {error.strerror}; choose another file with --add", USAGE)


@contextlib.contextmanager
def _counting() -> Generator[Callable[[str, int], None]]:
    """Progress of a long read on stderr: in a terminal a line that is overwritten, elsewhere an occasional line."""
    live, said, written = sys.stderr.isatty(), time.monotonic(), False

    def update(what: str, strings: int) -> None:
        nonlocal said, written
        if time.monotonic() - said > (0.1 if live else 10.0):
            said, written = time.monotonic(), True
            text = f"{what} {thousands(strings)} strings"
            click.echo(f"\r\x1b[K{text}" if live else text, nl=not live, err=True)

    try:
        yield update
    finally:
        if live and written:
            click.echo("\r\x1b[K", nl=False, err=True)
