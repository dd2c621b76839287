"""``overlong target``: list decoders, and write or check an adapter."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import click

from overlong.conformance.cli.limits import agreed_to, limits_of, with_limits
from overlong.conformance.cli.options import (
    CONFORMS,
    NOT_MEASURED,
    USAGE,
    TargetCommand,
    all_decoders,
    complete_languages,
    complete_targets,
    errors_on_one_line,
    leave,
    target_of,
    text_or_json,
    width,
)
from overlong.conformance.support.printable import listed, nearest, printable
from overlong.conformance.targets.starters import TEMPLATES, AdapterTemplate, template_for

_BY_PYTHON = (
    "any other convention: a Python function that calls the library's function with the input, and returns the "
    "verdict or the text ('overlong docs shared-libraries')"
)


@click.group("target")
def command() -> None:
    """List, write and examine adapters.

    \b
    Examples:
      overlong target list
      overlong target new rust > adapter.rs
      overlong target abis
    """  # noqa: D301 (click reads the backspace)


@command.command("abis")
def abis_command() -> None:
    """List the ways to call a function of a shared library.

    They are the values of abi=. Exit status: 0.

    \b
    Examples:
      overlong target abis
      overlong certify 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS, question_abi

    for abi in (*ABIS.values(), *map(question_abi, QUESTION_ABIS)):
        click.echo(click.style(abi.name, bold=True))
        for text in (abi.prototype, abi.says):
            for line in textwrap.wrap(text, width(), initial_indent="  ", subsequent_indent="    "):
                click.echo(line)
    click.echo(click.style("py:FILE.py:FUNCTION", bold=True))
    for line in textwrap.wrap(_BY_PYTHON, width(), initial_indent="  ", subsequent_indent="    "):
        click.echo(line)


@command.command("list")
@text_or_json()
@click.option("--ready", is_flag=True, help="List only decoders that can be used here.")
@click.option(
    "-v", "--verbose", is_flag=True, help="Also print what each decodes with, and what it fetches on first use."
)
def list_command(output_format: str, ready: bool, verbose: bool) -> None:  # noqa: FBT001
    """List the decoders that ship with an adapter.

    The list shows their versions, or what to install if they are missing. Nothing is built, fetched or started. Exit
    status: 0.

    \b
    Examples:
      overlong target list
      overlong target list --ready --format json
      overlong target list -v
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.targets.builtins import at_hand

    listed = [each for each in at_hand(all_decoders().values()) if not ready or each["ready"]]
    if output_format == "json":
        click.echo(json.dumps(listed, indent=2))
        return
    for each in listed:
        state = click.style("missing", fg="yellow") if each["missing"] else click.style("ready  ", fg="green")
        click.echo(f"{state}  {each['name']:<24} {each['language']:<11} {each['version']}".rstrip())
        below = [each["missing"]] if each["missing"] else []
        if verbose:
            below.insert(0, each["what"])
            if each["fetches"]:
                below.append(f"fetches {each['fetches']} when it is first used")
        for text in below:
            for line in textwrap.wrap(text, width(), initial_indent=" " * 9, subsequent_indent=" " * 11):
                click.echo(line)
    usable = sum(each["ready"] for each in listed)
    click.echo(f"{usable} of {len(listed)} can be used here; certify one with: overlong certify NAME")


_CHECK_EXAMPLES = """\b
Examples:
  overlong target check -- node adapter.js
  overlong target check --limit timeout=1 -- ./adapter
  overlong target check 'cmd:iconv -f UTF-8 -t UTF-8'
"""


@command.command("check", cls=TargetCommand, epilog=_CHECK_EXAMPLES)
@click.argument("target", nargs=-1, required=True, shell_complete=complete_targets)
@text_or_json()
@with_limits()
def check_command(target: tuple[str, ...], output_format: str) -> None:
    """Examine an adapter: does it keep the target protocol?

    The check starts the adapter, greets it and sends every kind of request. It reports each fault and how to fix it.
    It does not judge the decoder: 'overlong certify' does that.

    \b
    Exit status:
      0  the adapter is sound
      2  the command line is wrong
      3  the adapter is not sound, or did not start
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.targets.adapter_check import WRONG, AdapterCheck
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.resolve import resolve

    named = target_of(target)
    with errors_on_one_line():
        agreed_to([named])
        resolved = resolve(named, limits_of())
        if not isinstance(resolved, FramedTarget):
            raise click.UsageError("recorded answers have no adapter to examine; name a program")
        check = AdapterCheck(resolved)
        wrong = 0
        steps: list[dict[str, str]] = []
        for step in check.steps():
            wrong += step.state == WRONG
            steps.append({name: value for name, value in vars(step).items() if value})
            if output_format == "text":
                _print_step(step.name, step.state, step.seen, step.fix)
        if output_format == "json":
            _print_check(resolved.id, steps, sound=not wrong)
        elif wrong:
            click.echo(f"\nNOT SOUND  {wrong} of {len(steps)} steps")
        else:
            click.echo("\nSOUND  it keeps the protocol; 'overlong certify' judges the decoder")
    sys.exit(NOT_MEASURED if wrong else CONFORMS)


def _print_step(name: str, state: str, seen: str, fix: str) -> None:
    from overlong.conformance.targets.adapter_check import SOUND, WRONG

    marks = {SOUND: ("ok", "green"), WRONG: ("WRONG", "red")}
    mark, colour = marks.get(state, (state, "yellow"))
    click.echo(f"{click.style(f'{mark:<9}', fg=colour)} {name}")
    for words in (seen, f"fix: {fix}" if fix else ""):
        for line in textwrap.wrap(words, width(), initial_indent=" " * 10, subsequent_indent=" " * 12):
            click.echo(line)


def _print_check(identifier: str, steps: list[dict[str, str]], *, sound: bool) -> None:
    click.echo(
        json.dumps({"schema": "overlong/report-1", "target": identifier, "sound": sound, "steps": steps}, indent=2)
    )


_LIBRARY = "library"
LANGUAGES = ", ".join(TEMPLATES)

_NEW_EXAMPLES = """\b
Examples:
  overlong target new rust > adapter.rs
  overlong target new node -o adapter.js
  overlong target new library ./libfoo.so --header foo.h > foo.toml
"""


@command.command(
    "new",
    epilog=_NEW_EXAMPLES,
    help=f"""Write an adapter to start from, to stdout.

LANG is {LANGUAGES}, or a common short name of one of them;
or 'library', and the file of a shared library: then it writes a section for overlong.toml, with the exported
functions that are likely to handle UTF-8.

The adapter runs as it is, with a decoder of its language, and has one place for yours. Its first lines say
how to build it and how to certify it.

\b
Exit status:
  0  written
  2  there is no such language, the file exists already, or the library or its
     header cannot be used""",
)
@click.argument("language", metavar="LANG", required=False, shell_complete=complete_languages)
@click.argument("library", metavar="[FILE]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--header",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A header that declares the functions of a library: their types tell more than their names.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file, which must not exist yet.",
)
def new_command(language: str | None, library: Path | None, header: Path | None, output: Path | None) -> None:
    is_library = language == _LIBRARY
    if is_library and library is None:
        raise click.UsageError("name the library's file, as in: overlong target new library ./libfoo.so")
    if not is_library and (library is not None or header is not None):
        raise click.UsageError("a second word, and --header, are for 'overlong target new library'; leave them out")
    template = None if is_library else _named(language)
    source = template.source if template else _proposal(library or Path(), header)
    with errors_on_one_line():
        if output is None:
            click.echo(source, nl=False)
            return
        try:
            with output.open("xb") as file:
                file.write(source)
        except FileExistsError as error:
            where = printable(str(output))
            raise click.UsageError(f"{where} exists already; name another file") from error
        how = "go on" if is_library else "build and certify it"
        click.echo(f"{printable(str(output))} written; its first lines say how to {how}", err=True)


def _proposal(library: Path, header: Path | None) -> bytes:
    """A section of ``overlong.toml`` for a library. If the library or the header is unfit, the program ends."""
    from overlong.conformance.oracle.target import TargetError
    from overlong.conformance.targets.starters import exported, name_of, proposed, section

    shapes = None
    try:
        if header is not None:
            from overlong.conformance.targets.starters import shapes_in

            shapes = shapes_in(header, lambda line: click.echo(line, err=True))
        symbols = exported(library)
    except TargetError as error:
        leave(str(error), USAGE)
    except IsADirectoryError as error:
        leave(f"{printable(str(error.filename))}: a directory; name a file", USAGE)
    except OSError as error:
        leave(f"{printable(str(error.filename or library))}: {error.strerror}; name a file that can be read", USAGE)
    if shapes is not None and not shapes.keys() & symbols:
        leave(
            f"{printable(str(header))} declares none of the {len(symbols)} exported functions; name another header, "
            "or leave out --header",
            USAGE,
        )
    found = proposed(symbols, shapes)
    others = [each for each in symbols if each not in found and (shapes is None or each in shapes)]
    where = str(library) if "/" in str(library) else f"./{library}"
    return section(name_of(library), where, found, others, by_type=shapes is not None).encode()


def _named(language: str | None) -> AdapterTemplate:
    """The template for the language named.

    Raises:
        click.UsageError: no language is named, or it has no template; the message lists the languages that have one.
    """
    if language is None:
        raise click.UsageError(f"name a language:{listed(TEMPLATES)}")
    if template := template_for(language):
        return template
    close = nearest(language, [name for each in TEMPLATES.values() for name in (each.language, *each.others)])
    hint = f"did you mean {close[0]}? There is" if close else "there is"
    raise click.UsageError(
        f"no adapter in {printable(language)}; {hint}{listed(TEMPLATES)}\n"
        "For any other language 'overlong docs protocol' tells what an adapter does."
    )
