"""What a campaign says when it ends."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.formats import WantedFormats, coloured
from overlong.conformance.cli.options import width

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from overlong.conformance.results.model import Report
    from overlong.fuzz.campaign.state import Status


@dataclass(frozen=True)
class WantedOutput:
    """The output that the user wants."""

    wanted: WantedFormats
    ci: bool
    quiet: bool
    verbose: bool


def kept_words(status: Status, folder: str) -> str:
    """What is saved, and how to continue."""
    from overlong.conformance.report.found import inputs
    from overlong.conformance.support.printable import counted

    what = f"{inputs(status.inputs)} and {counted(len(status.findings), 'finding')} are kept"
    return f"{what}; {resumed_by(folder)}"


def resumed_by(folder: str) -> str:
    from overlong.conformance.support.printable import printable

    return f"overlong fuzz --resume {printable(shlex.quote(folder), 1000)} continues"


def lines_of(report: Report, status: Status, folder: str, shown: WantedOutput, *, stopped: str) -> Iterator[str]:
    """The lines of the report; only the last one if nothing was found and --quiet is given."""
    from overlong.conformance.report.wording import verdict_of_campaign
    from overlong.conformance.support.printable import printable, thousands
    from overlong.fuzz.report.campaign import summary

    if shown.quiet and not status.findings:
        if not stopped:
            yield verdict_of_campaign(report)
        return
    yield from summary(report, status, folder, width=width(), encoding=sys.stdout.encoding or "ascii")
    if shown.verbose:
        yield f"{thousands(round(status.rate))} executions per second, {thousands(status.octets)} octets"
        yield f"kept in {printable(folder, 1000)}"


def print_lines(lines: Iterable[str], report: Report) -> None:
    from overlong.conformance.report.wording import state_of_campaign, words_of_campaign

    words, state = words_of_campaign(report), state_of_campaign(report)
    for line in lines:
        click.echo(coloured(line, words, state))


def not_asked(folder: Path) -> str:
    """A target that got no input, or None."""
    import json

    from overlong.conformance.support.printable import printable
    from overlong.fuzz.campaign.file import STATEMENT

    done = json.loads((folder / STATEMENT).read_text("utf-8"))
    counts = {each["id"]: sum(each["executions"].values()) for each in done["targets"]}
    return next((printable(name) for name, count in counts.items() if not count), "")
