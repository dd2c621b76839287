"""``overlong identify``: identify a decoder's behaviour."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.limits import agreed_to, limit_called, limits_of, with_limits
from overlong.conformance.cli.options import (
    CONFORMS,
    INCOMPLETE,
    NOT_MEASURED,
    USAGE,
    TargetCommand,
    complete_targets,
    errors_on_one_line,
    leave,
    target_of,
    text_or_json,
    width,
)
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import no_more_interruptions

if TYPE_CHECKING:
    from overlong.conformance.models.identify import LearnedModel

EXAMPLES = """\b
Examples:
  overlong identify perl-utf8
  overlong identify java-readutf --picture readutf.svg
  overlong identify --format json py:mypackage.text:decode
"""


@click.command("identify", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("target", nargs=-1, required=True, shell_complete=complete_targets)
@click.option(
    "--picture",
    "drawing",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE.svg",
    help="Draw the learned automaton beside that of the dialect, differences in red, in SVG.",
)
@text_or_json("Print sentences, or all data including the automata.")
@with_limits("questions")
def command(
    target: tuple[str, ...],
    drawing: Path | None,
    output_format: str,
) -> None:
    """Find a decoder's dialect, error position and error mode.

    overlong learns the decoder's automaton, in streams too, and compares it with those of the reference. It tests
    equivalence, not samples. If no automaton is equal, the report names the nearest, and each difference with its
    shortest witness.

    \b
    Exit status:
      0  every operation of the decoder was identified
      2  the command line is wrong, or a picture cannot be written
      3  nothing was measured: the target would not start, or broke the protocol
      4  the limits left something unsettled; the report says what
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.models.identify import identify
    from overlong.conformance.report.learned import model_as_json, model_lines

    named = target_of(target)
    if drawing is not None and drawing.suffix != ".svg":
        raise click.BadParameter(f"{drawing.name!r}: end the name in .svg", param_hint="--picture")
    if drawing is not None and not drawing.parent.is_dir():
        leave(f"{printable(str(drawing))}: the folder does not exist; create it, or name another", USAGE)

    def progress(title: str, asked: int) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[Klearning: {title}, {asked} strings tested", err=True, nl=False)

    with errors_on_one_line():
        agreed_to([named])
        model = identify(named, limits_of(), questions=limit_called("questions"), progress=progress)
        no_more_interruptions()
        if sys.stderr.isatty():
            click.echo("\r\x1b[K", err=True, nl=False)
        if drawing is not None:
            _draw(model, drawing)
        if output_format == "json":
            click.echo(json.dumps(model_as_json(model), indent=2))
        else:
            for line in model_lines(model, width()):
                click.echo(line)
    if not model.parts:
        sys.exit(NOT_MEASURED)
    sys.exit(CONFORMS if all(part.machine is not None for part in model.parts) else INCOMPLETE)


def _draw(model: LearnedModel, path: Path) -> None:
    from overlong.conformance.models.picture import picture
    from overlong.conformance.support.files import written_to

    drawn = picture(model)
    if drawn is None:
        click.echo("overlong: no picture: the target offers neither V nor D, whose automaton a picture shows", err=True)
        return
    with written_to(path) as file:
        file.write(drawn)
