"""``overlong target new``: write an adapter to start from."""

from __future__ import annotations

from pathlib import Path

import click

from overlong.conformance.cli.options import errors_on_one_line
from overlong.conformance.cli.words import complete_languages
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.templates import TEMPLATES, AdapterTemplate, template_for

LANGUAGES = ", ".join(TEMPLATES)

EXAMPLES = """\b
Examples:
  overlong target new rust > adapter.rs
  overlong target new node -o adapter.js
"""


@click.command(
    "new",
    epilog=EXAMPLES,
    help=f"""Write an adapter to start from, to stdout.

LANG is {LANGUAGES}, or a common short name of one of them.

The adapter runs as it is, with a decoder of its language, and has one place for yours. Its first lines say
how to build it and how to certify it.

\b
Exit status:
  0  written
  2  there is no such language, or the file exists already""",
)
@click.argument("language", metavar="LANG", required=False, shell_complete=complete_languages)
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file, which must not exist yet.",
)
def new_command(language: str | None, output: Path | None) -> None:
    template = _named(language)
    with errors_on_one_line():
        if output is None:
            click.echo(template.source, nl=False)
            return
        try:
            with output.open("xb") as file:
                file.write(template.source)
        except FileExistsError as error:
            where = printable(str(output))
            raise click.UsageError(f"{where} exists already; name another file") from error
        click.echo(f"{printable(str(output))} written; its first lines say how to build and certify it", err=True)


def _named(language: str | None) -> AdapterTemplate:
    """The template for the language named.

    Raises:
        click.UsageError: no language is named, or it has no template; the message lists the languages that have one.
    """
    from overlong.conformance.support.near import listed, nearest

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
