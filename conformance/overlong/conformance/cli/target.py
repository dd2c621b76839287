"""``overlong target``: list decoders, and write or check an adapter."""

from __future__ import annotations

import textwrap

import click

from overlong.conformance.cli.check import check_command
from overlong.conformance.cli.new import new_command

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


command.add_command(check_command)
command.add_command(new_command)


@command.command("abis")
def abis_command() -> None:
    """List the ways to call a function of a shared library.

    They are the values of abi=. Exit status: 0.

    \b
    Examples:
      overlong target abis
      overlong certify 'so:./libmine.so:is_utf8?abi=bool(ptr,len)'
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.cli.options import width
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
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
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
    import json

    from overlong.conformance.cli.options import all_decoders, width
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
