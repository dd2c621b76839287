"""``overlong explain``: what octets are, or what a code means."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import profile_option, width
from overlong.conformance.cli.words import complete_codes

if TYPE_CHECKING:
    from collections.abc import Iterable

EXAMPLES = """\b
Examples:
  overlong explain E0 80 AF
  overlong explain ED A0 80
  overlong explain OV201
  overlong explain codes
"""


@click.command("explain", epilog=EXAMPLES)
@click.argument("what", nargs=-1, required=True, shell_complete=complete_codes)
@profile_option("The dialect whose automaton reads the octets.")
def command(what: tuple[str, ...], profile: str) -> None:
    """Explain octets (in hexadecimal) or a code (OV201).

    For octets: the walk through the automaton with the grammar's alternatives still open, the defect,
    and what each error mode makes of them. 'codes' lists all codes.

    \b
    Exit status:
      0  explained
      2  there is no such code, or WHAT is no octets
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.oracle.explanation import explain_code, explain_octets
    from overlong.conformance.protocol.kind import KINDS
    from overlong.conformance.support.printable import printable
    from overlong.conformance.vectors.profile import Profile
    from overlong.conformance.vectors.vector import IdError, Vector
    from overlong.reference import DEFECTS

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
        try:
            octets = Vector.from_id(text.replace("0x", "").replace("\\x", "").replace(",", " ")).octets
        except IdError:
            raise click.UsageError(
                f"{printable(text, 60)!r} is neither octets in hexadecimal (E0 80 AF) nor a code (OV201)"
            ) from None
        lines = explain_octets(octets, width(), Profile(profile))
    for line in lines:
        click.echo(line)
