"""``overlong docs``: print the pages of the documentation and the JSON schemas, which ship with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from overlong.conformance.support.printable import did_you_mean

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

EXAMPLES = """\b
Examples:
  overlong docs
  overlong docs protocol | less
  overlong docs schema/results-1 > results-1.schema.json
"""
_END = ".md"
_SCHEMA, _END_OF_SCHEMA = "schema/", ".schema.json"
_OF_THE_SITE = ("index.md", "security.md")
"""Pages of the site that only repeat the content of other files."""


def pages() -> dict[str, Traversable]:
    """The pages by name, such as ``dialects``: those of the package, or of the checkout that it is installed from."""
    from importlib.resources import as_file, files

    package = files("overlong.conformance")
    folder = package / "docs"
    if not folder.is_dir():
        with as_file(package) as here:
            folder = here.parents[2] / "docs"
    found = sorted((each.name, each) for each in folder.iterdir()) if folder.is_dir() else []
    return {name.removesuffix(_END): each for name, each in found if name.endswith(_END) and name not in _OF_THE_SITE}


def schemas() -> dict[str, str]:
    """The text of each JSON schema by the name of its page, such as ``schema/results-1``."""
    from importlib.resources import files

    folder = files("overlong.conformance") / "schemas"
    found = sorted((each.name, each) for each in folder.iterdir() if each.name.endswith(_END_OF_SCHEMA))
    return {f"{_SCHEMA}{name.removesuffix(_END_OF_SCHEMA)}": each.read_text("ascii") for name, each in found}


def _lines(page: Traversable) -> list[str]:
    """The lines of a page without the comments at its head, which are for editors."""
    lines = page.read_text("utf-8").splitlines()
    return lines[next((number for number, line in enumerate(lines) if line.startswith("# ")), 0) :]


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in (*pages(), *schemas()) if name.startswith(incomplete)]


@click.command("docs", epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete)
def command(name: str | None) -> None:
    """Print a page of the documentation or a JSON schema, or list all.

    Without a NAME, the command lists all. Pages are in Markdown. The names of schemas begin with schema/ and end
    with the version; without a version, the command prints the newest.

    \b
    Exit status:
      0  printed
      2  there is no such page
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.conformance.cli.verbs import VERBS

    known, of_files = pages(), schemas()
    if name is None:
        longest = max(map(len, (*known, *of_files)))
        for each, page in known.items():
            click.echo(f"{each:{longest}}  {_lines(page)[0].removeprefix('# ')}")
        for each, text in of_files.items():
            click.echo(f"{each:{longest}}  JSON schema: {json.loads(text)['title']}")
        return
    wanted = name.removeprefix("docs/").removesuffix(_END)
    if wanted in known:
        click.echo("\n".join(_lines(known[wanted])))
    elif versions := [each for each in of_files if wanted in {each, each.rpartition("-")[0]}]:
        click.echo(of_files[versions[-1]], nl=False)
    else:
        if wanted in VERBS:
            raise click.UsageError(f"{wanted} is on the page command-line: overlong docs command-line")
        hint = did_you_mean(name, (*known, *of_files), "'overlong docs' lists them")
        raise click.UsageError(f"no such page; {hint}")
