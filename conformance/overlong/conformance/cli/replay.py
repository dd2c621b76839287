"""``overlong replay``: give one vector to one target, and compare its answers with the expected ones."""

from __future__ import annotations

import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.limits import agreed_to, limits_of, with_limits
from overlong.conformance.cli.options import (
    CONFORMS,
    DIVERGES,
    NOT_MEASURED,
    TargetCommand,
    complete_targets,
    errors_on_one_line,
    files_refused,
    profile_option,
    target_of,
    width,
)
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.certification.replay import Answer
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.vector import Vector

SHOWN = 32
"""The most octets of a least example to show."""
EXAMPLES = """\b
Examples:
  overlong replay surrogate/eda080 cpython-surrogatepass
  overlong replay chunking/e282.ac cpython-incremental
  overlong replay E080AF -- node adapter.js
  overlong replay --why E080AF py:decoder.py:decode
  overlong replay corpora/regressions/D-7f3a0c19.json cpython
"""


@click.command("replay", cls=TargetCommand, epilog=EXAMPLES)
@click.argument("words", nargs=-1, required=True, metavar="VECTOR TARGET", shell_complete=complete_targets)
@profile_option("Dialect to measure by.")
@click.option("--why", is_flag=True, help="Also find out by experiment when the decoder is wrong so.")
@click.option(
    "--beside", metavar="VECTOR", help="Also give it in 4 threads at once, while others are given this vector."
)
@with_limits()
def command(words: tuple[str, ...], profile: str, why: bool, beside: str | None) -> None:  # noqa: FBT001
    """Give one vector to one target, and show every answer.

    VECTOR is an id from a report, octets in hexadecimal, or a file of one vector. TARGET is named as in
    'overlong certify'. The command writes no file.

    With --why, an answer that is not as expected is examined: the command varies the input, one factor at a time,
    and says in one sentence when the decoder is wrong so, and how many fresh inputs that sentence predicts. This
    takes up to some ten thousand questions.

    \b
    Exit status:
      0  every answer is as expected
      1  an answer is not as expected
      2  there is no such vector or target
      3  not measured: the target did not start, or offers no operation that fits
    """  # noqa: D301 (click reads the backspace)
    from overlong.conformance.certification.replay import asks, replay
    from overlong.conformance.oracle.finding import expected_in_words, observed_in_words
    from overlong.conformance.protocol.wire import OPERATIONS
    from overlong.conformance.report.wording import passed_through
    from overlong.conformance.support.printable import printable
    from overlong.conformance.vectors.check import FORMS, vectors_in
    from overlong.conformance.vectors.export import find_vectors
    from overlong.conformance.vectors.vector import IdError, Profile

    target = target_of(words, leading=1)

    def read(name: str) -> Vector:
        try:
            with errors_on_one_line(), files_refused():
                found = vectors_in(Path(name)) if name.endswith(FORMS) else find_vectors(name)
            vector, *others = (replace(each, profile=Profile(profile)) for each in found)
            asks(vector)
        except IdError as error:
            raise click.UsageError(printable(str(error))) from None
        if others:
            ids = ", ".join(each.id for each in (vector, *others[:7])) + ", …" * (len(others) > 7)
            raise click.UsageError(f"{printable(name)} has {1 + len(others)} vectors; choose one: {printable(ids)}")
        return vector

    vector, other = read(words[0]), read(beside) if beside else None
    with errors_on_one_line():
        agreed_to([target])
        answers = replay(vector, target, limits_of(), other)
    _show_input(vector, answers)
    for answer in answers:
        click.echo(OPERATIONS[answer.operation])
        if answer.expected is None:
            click.echo(f"  expected  no expectation: error mode unknown ({printable(answer.error_mode)})")
        else:
            click.echo(f"  expected  {expected_in_words(answer.expected, answer.operation, vector.octets)}")
        observed = observed_in_words(answer.observed, answer.operation, vector.octets)
        click.echo(f"  observed  {passed_through(observed, vector.octets)}")
        if answer.finding is not None:
            finding = answer.finding
            section = f"  ({finding.section})" if finding.section else ""
            click.echo(click.style("  FAIL", fg="red", bold=True) + f"      {finding.code} {finding.title}{section}")
            if any(finding.detail):
                click.echo(f"  expected  {finding.detail[0]}")
                click.echo(f"  observed  {finding.detail[1] or 'another'}")
    wrong = next((answer for answer in answers if answer.finding is not None), None)
    if why and wrong is not None:
        with errors_on_one_line():
            _say_why(vector, target, wrong.operation, limits_of())
    if not answers:
        click.echo("overlong: the target offers no operation that fits this vector", err=True)
        sys.exit(NOT_MEASURED)
    sys.exit(DIVERGES if any(answer.finding for answer in answers) else CONFORMS)


def _show_input(vector: Vector, answers: list[Answer]) -> None:
    """Print what is given to the target."""
    from overlong.conformance.oracle.compare import ended_how
    from overlong.conformance.protocol.wire import ASKING, SEPARATE
    from overlong.conformance.report.wording import in_chunks
    from overlong.conformance.vectors.expected import words_of

    what = "values" if any(answer.operation == SEPARATE for answer in answers) else "chunks"
    chunks = f"  in {what} of {in_chunks(vector.chunks)}" if vector.chunks is not None else ""
    asked = any(answer.operation in ASKING for answer in answers)
    click.echo(f"input     {words_of(vector.octets) if asked else spaced_hex(vector.octets)}{chunks}")
    if vector.earlier is not None:
        earlier = " | ".join(spaced_hex(chunk) for chunk in vector.earlier)
        click.echo(f"earlier   {earlier}, a stream that {ended_how(vector.earlier, vector)}")
    if vector.comment:
        for line in textwrap.wrap(f"this is   {vector.comment}", width(), subsequent_indent=" " * 10):
            click.echo(line)


def _say_why(vector: Vector, target: str | Sequence[str], operation: str, limits: Limits) -> None:
    """Print when the target is wrong so."""
    from overlong.conformance.examination.examine import EXAMINED, examine

    if operation not in EXAMINED:
        click.echo("cause     no examination of this operation")
        return
    found = examine(
        target,
        vector.octets,
        chunks=vector.chunks,
        earlier=vector.earlier or (),
        operation=operation,
        profile=vector.profile,
        limits=limits,
    )
    click.echo(click.style("cause     ", bold=True) + printable(found.sentence))
    if found.example != vector.octets and found.example:
        shown = spaced_hex(found.example[:SHOWN]) + " …" * (len(found.example) > SHOWN)
        click.echo(f"  least     {shown}, {counted(len(found.example), 'octet')}")
    if found.telling is not None:
        click.echo(f"  telling   {spaced_hex(found.telling.vector.octets[:SHOWN])}, {found.telling.title}")
    if found.checked:
        click.echo(
            f"  predicts  {thousands(found.predicted)} of {thousands(found.checked)} fresh inputs; "
            f"{thousands(found.asked)} questions in all"
        )
