"""``overlong schema``: print the JSON schemas of the files that overlong writes."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

EXAMPLES = """\b
Examples:
  overlong schema
  overlong schema results-1 > results-1.schema.json
  overlong schema certificate
"""
_END = ".schema.json"


def schemas() -> dict[str, str]:
    """The text of each schema by its name, such as ``results-1``."""
    from importlib.resources import files

    folder = files("overlong.conformance") / "schemas"
    found = sorted((each.name.removesuffix(_END), each) for each in folder.iterdir() if each.name.endswith(_END))
    return {name: each.read_text("ascii") for name, each in found}


def _complete(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in schemas() if name.startswith(incomplete)]


@click.command("schema", epilog=EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete)
def command(name: str | None) -> None:
    """Print a JSON schema, or list all.

    Without a NAME, the command lists all. They are of draft 2020-12. The number at the end of a name is its
    version. Without a number, the command prints the newest.

    \b
    Exit status:
      0  printed
      2  there is no such schema
    """  # noqa: D301 (click reads the backspace)
    import json

    from overlong.conformance.support.near import did_you_mean

    known = schemas()
    if name is None:
        longest = max(map(len, known))
        for each, text in known.items():
            title: str = json.loads(text)["title"]
            click.echo(f"{each:{longest}}  {title.partition(': ')[2] or title}")
        return
    versions = [each for each in known if each == name or each.rpartition("-")[0] == name]
    if not versions:
        hint = did_you_mean(name, known, "'overlong schema' lists them")
        raise click.UsageError(f"no such schema; {hint}")
    click.echo(known[versions[-1]], nl=False)
