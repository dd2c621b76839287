"""``overlong explain`` and ``overlong docs``: explain octets and codes, and print the pages and schemas that ship."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from overlong.conformance.cli.options import complete_codes, profile_option, width
from overlong.conformance.support.printable import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.resources.abc import Traversable


EXAMPLES = """\b
Examples:
  overlong explain E0 80 AF
  overlong explain ED A0 80
  overlong explain U+D800
  overlong explain '€'
  overlong explain OV201
  overlong explain codes
"""


@click.command("explain", epilog=EXAMPLES)
@click.argument("what", nargs=-1, required=True, shell_complete=complete_codes)
@profile_option("The dialect whose automaton reads the octets.")
def command(what: tuple[str, ...], profile: str) -> None:
    """Explain octets (in hexadecimal), characters or a code (OV201).

    Code points (U+20AC) and text that is not ASCII stand for their octets. A surrogate, or a number beyond
    U+10FFFF, stands for the ill-formed octets that RFC 2279, an older definition of UTF-8, gave it.

    For octets: the path through the automaton, with the grammar's alternatives that remain at each octet, the
    defect, and the output of each error mode. 'codes' lists all codes.

    \b
    Exit status:
      0  explained
      2  there is no such code, or WHAT means no octets
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.oracle.finding import explain_code, explain_octets
    from overlong.conformance.protocol.observation import KINDS
    from overlong.conformance.vectors.expected import Asked
    from overlong.conformance.vectors.vector import IdError, Profile, Vector
    from overlong.reference import DEFECTS
    from overlong.reference.questions import QUESTIONS

    text = " ".join(what)
    lines: Iterable[str]
    if text == "codes":
        titles = {code: defect.title for code, defect in DEFECTS.items()} | {c: kind.title for c, kind in KINDS.items()}
        lines = (f"{code}  {title}" for code, title in sorted(titles.items()))
    elif re.fullmatch(r"[Oo][Vv]\d+", text):
        if text.upper() not in DEFECTS and text.upper() not in KINDS:
            raise click.UsageError(f"no code {text.upper()}; 'overlong explain codes' lists them")
        lines = explain_code(text.upper(), width())
    else:
        octets = _octets_of_characters(text)
        try:
            if octets is None:
                vector = Vector.from_id(text.replace("0x", "").replace("\\x", "").replace(",", " "))
                octets = Asked.of(vector.octets).text if vector.category in QUESTIONS else vector.octets
        except IdError:
            raise click.UsageError(
                f"'{printable(text, 60)}' is neither octets in hexadecimal (E0 80 AF), nor code points (U+20AC), "
                "nor a code (OV201)"
            ) from None
        lines = explain_octets(octets, width(), Profile(profile))
    for line in lines:
        click.echo(line)


def _octets_of_characters(text: str) -> bytes | None:
    """The octets that code points or text beyond ASCII stand for; None if the argument is neither.

    Raises:
        click.UsageError: the number is beyond U+7FFFFFFF, so no form of UTF-8 has octets for it.
    """
    from overlong.reference.layout import load_layout

    if not text.isascii():
        return text.encode("utf-8", "surrogateescape")  # the argument from the shell may be ill-formed
    words = text.replace(",", " ").split()
    if not words or not all(re.fullmatch(r"[Uu]\+[0-9A-Fa-f]{1,16}", word) for word in words):
        return None
    octets, layout = bytearray(), load_layout("rfc2279")
    for word in words:
        if (encoded := layout.encode(int(word.partition("+")[2], 16))) is None:
            raise click.UsageError(f"{word} is beyond U+7FFFFFFF, the last number that any form of UTF-8 can encode")
        octets += encoded
    return bytes(octets)


DOCS_EXAMPLES = """\b
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


@click.command("docs", epilog=DOCS_EXAMPLES)
@click.argument("name", required=False, shell_complete=_complete)
def docs_command(name: str | None) -> None:
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
