"""``overlong explain``: explain octets or the meaning of a code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import profile_option, width
from overlong.conformance.cli.words import complete_codes
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

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
    from overlong.conformance.oracle.walk import explain_code, explain_octets
    from overlong.conformance.protocol.kind import KINDS
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
