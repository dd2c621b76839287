"""``overlong target new``: write an adapter to start from."""

from __future__ import annotations

from pathlib import Path

import click

from overlong.conformance.cli.options import USAGE, errors_on_one_line, leave
from overlong.conformance.cli.words import complete_languages
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.templates import TEMPLATES, AdapterTemplate, template_for

_LIBRARY = "library"
LANGUAGES = ", ".join(TEMPLATES)

EXAMPLES = """\b
Examples:
  overlong target new rust > adapter.rs
  overlong target new node -o adapter.js
  overlong target new library ./libfoo.so --header foo.h > foo.toml
"""


@click.command(
    "new",
    epilog=EXAMPLES,
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
    from overlong.conformance.targets.proposing import exported, name_of, proposed, section

    shapes = None
    try:
        if header is not None:
            from overlong.conformance.targets.prototypes import shapes_in

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
