"""``overlong explain``: explain octets, a code, or a finding of a run."""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli import explain
from overlong.conformance.cli.options import complete_codes, profile_option, width
from overlong.fuzz.cli.finding import campaign_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.fuzz.report.findings import Found

_FINDING = re.compile(r"[Dd]-[0-9A-Fa-f]{1,8}")


@click.command("explain", epilog=f"{explain.EXAMPLES}  overlong explain campaign/ D-7f3a\n")
@click.argument("what", nargs=-1, required=True, shell_complete=complete_codes)
@profile_option("The dialect whose automaton reads the octets.")
def command(what: tuple[str, ...], profile: str) -> None:
    """Explain octets, a code (OV201), or a finding of a run.

    Octets are in hexadecimal; a finding is named by its folder and its id (FOLDER D-7f3a). For octets: the path
    through the automaton, with the grammar's alternatives that remain at each octet, the defect, and the output of
    each error mode. 'codes' lists all codes. For a finding: all its data, its octets, the meaning of its code, and
    what you can do with it.

    \b
    Exit status:
      0  explained
      2  there is no such code or finding, or WHAT means no octets
    """  # noqa: D301 (click reads the backspace)
    if not _FINDING.fullmatch(what[-1]):
        click.get_current_context().invoke(explain.command, what=what, profile=profile)
        return
    if len(what) != 2:
        raise click.UsageError(f"name the folder of the run, then the finding: overlong explain FOLDER {what[-1]}")
    from overlong.fuzz.report.findings import explain_finding, finding_named

    folder, name = what
    with campaign_errors():
        found = finding_named(folder, name)
        for line in explain_finding(found, folder, width(), offered(found, folder)):
            click.echo(line)


def offered(stored: Found, folder: str) -> Iterator[str]:
    """The commands that apply to the finding: a difference has none, and not every finding can become a test."""
    from overlong.conformance.report.text import is_difference
    from overlong.fuzz.promotion.case import case_of
    from overlong.fuzz.promotion.promote import PromotionError, check

    if not is_difference(stored):
        with contextlib.suppress(PromotionError):
            check(stored)
            yield "promote"
        with contextlib.suppress(PromotionError):
            case_of(stored, folder)
            yield "test"
