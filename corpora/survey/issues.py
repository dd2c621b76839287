"""``issues``: write texts for the maintainers of decoders that diverge."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpora.survey.install import jobs_option, quiet_option
from corpora.survey.kept import SURVEY
from overlong.conformance.cli.formats import report_of
from overlong.conformance.cli.options import CONFORMS, DIVERGES, USAGE, errors_on_one_line, leave

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.results.model import Cause, Subject


@click.command("issues")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("targets", nargs=-1)
@jobs_option
@quiet_option
def command(folder: Path, targets: tuple[str, ...], jobs: int, quiet: bool) -> None:  # noqa: FBT001
    """Write texts for the maintainers of decoders that diverge.

    FOLDER holds the survey. For each code, a small program in the decoder's own language repeats the shortest
    divergence without overlong. If that program confirms the divergence, the command writes a text with the program and
    its output. No text covers a divergence that the decoder's documentation announces (the record says so), or a matter
    that RFC 3629 leaves open, such as the number of U+FFFD. The texts go to FOLDER/reports; FOLDER/withheld.json lists
    what was not confirmed.

    \b
    Examples:
      python corpora/survey issues corpora/survey/2026-11-24
      python corpora/survey issues corpora/survey/2026-11-24 yajl json-c
    \b
    Exit status:
      0  every divergence was confirmed
      1  a divergence was not confirmed; the command names it and writes no text
      2  the command line is wrong, or the survey cannot be read
    """  # noqa: D301 (click reads the backspace)
    from concurrent.futures import ThreadPoolExecutor

    from corpora.survey.confirmation import confirm
    from corpora.survey.filing import REPORTS, WITHHELD, withdrawn_in, withheld_in
    from corpora.survey.texts import issue
    from overlong.conformance.report.formats import write
    from overlong.conformance.support.printable import printable

    report = report_of(folder / SURVEY)
    refuted, told = set[str](), set[str]()
    with errors_on_one_line(), ThreadPoolExecutor(jobs) as pool:
        (folder / REPORTS).mkdir(exist_ok=True)
        subjects = [subject for subject in report.subjects if not targets or subject.id in targets]
        withdrawn = withdrawn_in(folder)
        asked = [
            (subject, cause)
            for each in subjects
            for subject, cause in _told(each)
            if f"{subject.id}-{cause.code}" not in withdrawn
        ]
        confirmations = pool.map(confirm, (subject.id for subject, _ in asked), (cause for _, cause in asked))
        for (subject, cause), confirmed in zip(asked, confirmations, strict=True):
            name = f"{subject.id}-{cause.code}.md"
            if confirmed is None:
                continue
            if confirmed.why_not:
                refuted.add(f"{subject.id}-{cause.code}")
                click.echo(f"not confirmed: {name}: {printable(confirmed.why_not, 300)}", err=True)
                continue
            told.add(f"{subject.id}-{cause.code}")
            write(issue(subject, cause, confirmed) + "\n", folder / REPORTS / name)
            if not quiet:
                click.echo(f"confirmed: {name}")
        withheld = (set(withheld_in(folder)) - told) | refuted
        write(json.dumps(sorted(withheld), indent=1) + "\n", folder / WITHHELD)
    sys.exit(DIVERGES if refuted else CONFORMS)


def _told(subject: Subject) -> Iterator[tuple[Subject, Cause]]:
    """The causes to report to a decoder's maintainers, one for each code, without those that the decoder announces.

    Of several causes of a code, this is the one with a complete program, or else the least.
    """
    from corpora.survey.confirmation import demonstrated
    from corpora.survey.filing import is_practice
    from corpora.survey.kept import announced
    from overlong.conformance.protocol.kind import KINDS
    from overlong.conformance.report.wording import faults
    from overlong.conformance.support.printable import printable
    from overlong.reference import DEFECTS

    causes = [cause for cause in faults(subject) if not is_practice(cause)]
    for cause in causes:
        if cause.code not in KINDS and cause.code not in DEFECTS:  # a code names a file
            known = f"{printable(subject.id)}: no code {printable(cause.code, 40)} is known here"
            leave(f"{known}; update overlong, or survey again", USAGE)
    told = {cause.code: cause for cause in reversed(causes)}
    told |= {cause.code: cause for cause in causes if demonstrated(subject.id, cause) is not None}
    yield from ((subject, told[code]) for code in sorted(told) if not announced(subject, code))
