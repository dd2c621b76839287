"""``overlong target check``: examine an adapter and explain each fault."""

from __future__ import annotations

import sys

import click

from overlong.conformance.cli.limits import limits_of, with_limits
from overlong.conformance.cli.options import (
    CONFORMS,
    NOT_MEASURED,
    TargetCommand,
    errors_on_one_line,
    target_of,
    width,
)
from overlong.conformance.cli.trust import agreed_to
from overlong.conformance.cli.words import complete_targets

EXAMPLES = """\b
Examples:
  overlong target check -- node adapter.js
  overlong target check --limit timeout=1 -- ./adapter
  overlong target check 'cmd:iconv -f UTF-8 -t UTF-8'
"""


@click.command("check", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("target", nargs=-1, required=True, shell_complete=complete_targets)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What to print.",
)
@with_limits()
def check_command(target: tuple[str, ...], output_format: str) -> None:
    """Examine an adapter: does it keep the target protocol?

    The check starts the adapter, greets it and sends every kind of request. It reports each fault and how to fix it.
    It does not judge the decoder: 'overlong certify' does that.

    \b
    Exit status:
      0  the adapter is sound
      2  the command line is wrong
      3  the adapter is not sound, or did not start
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.targets.adapter_check import WRONG, AdapterCheck
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.resolve import resolve

    named = target_of(target)
    with errors_on_one_line():
        agreed_to([named])
        resolved = resolve(named, limits_of())
        if not isinstance(resolved, FramedTarget):
            raise click.UsageError("recorded answers have no adapter to examine; name a program")
        check = AdapterCheck(resolved)
        wrong = 0
        steps: list[dict[str, str]] = []
        for step in check.steps():
            wrong += step.state == WRONG
            steps.append({name: value for name, value in vars(step).items() if value})
            if output_format == "text":
                _print(step.name, step.state, step.seen, step.fix)
        if output_format == "json":
            _print_json(resolved.id, steps, sound=not wrong)
        elif wrong:
            click.echo(f"\nNOT SOUND  {wrong} of {len(steps)} steps")
        else:
            click.echo("\nSOUND  it keeps the protocol; 'overlong certify' judges the decoder")
    sys.exit(NOT_MEASURED if wrong else CONFORMS)


def _print(name: str, state: str, seen: str, fix: str) -> None:
    import textwrap

    from overlong.conformance.targets.adapter_check import SOUND, WRONG

    marks = {SOUND: ("ok", "green"), WRONG: ("WRONG", "red")}
    mark, colour = marks.get(state, (state, "yellow"))
    click.echo(f"{click.style(f'{mark:<9}', fg=colour)} {name}")
    for words in (seen, f"fix: {fix}" if fix else ""):
        for line in textwrap.wrap(words, width(), initial_indent=" " * 10, subsequent_indent=" " * 12):
            click.echo(line)


def _print_json(identifier: str, steps: list[dict[str, str]], *, sound: bool) -> None:
    import json

    click.echo(
        json.dumps({"schema": "overlong/report-1", "target": identifier, "sound": sound, "steps": steps}, indent=2)
    )
