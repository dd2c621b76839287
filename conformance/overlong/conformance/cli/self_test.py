"""``overlong self-test``: test whether this installation judges correctly."""

from __future__ import annotations

import sys

import click

from overlong.conformance.cli.options import CONFORMS, DIVERGES, errors_on_one_line

EXAMPLES = """\b
Examples:
  overlong self-test
  overlong self-test -q && overlong certify mydecoder
"""


@click.command("self-test", epilog=EXAMPLES)
@click.option("-q", "--quiet", is_flag=True, help="Print only what fails.")
def command(quiet: bool) -> None:  # noqa: FBT001
    """Test overlong itself.

    The test compares the reference with an independent oracle, and catches known wrong decoders. It takes a few
    seconds, needs no other program, and reads and writes no files.

    \b
    Exit status:
      0  every check passed
      1  a check failed: trust no verdict of this installation
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.self_test import self_test

    failed = 0
    with errors_on_one_line():
        for check in self_test():
            failed += bool(check.failures)
            if check.failures or not quiet:
                word = click.style("FAIL", fg="red", bold=True) if check.failures else click.style("ok  ", fg="green")
                click.echo(f"{word}  {check.what}")
            for line in check.failures[:10]:
                click.echo(f"      {line}")
            if len(check.failures) > 10:
                click.echo(f"      and {len(check.failures) - 10} more")
    if failed:
        click.echo("overlong: do not trust this installation; reinstall it", err=True)
    sys.exit(DIVERGES if failed else CONFORMS)
