"""``issues``: write texts for the maintainers of decoders that diverge."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from corpora.survey.install import jobs_option, quiet_option
from corpora.survey.kept import SURVEY
from overlong.conformance.cli.options import CONFORMS, DIVERGES, USAGE, errors_on_one_line, leave
from overlong.conformance.cli.output import report_of

if TYPE_CHECKING:
    from overlong.conformance.results.model import Subject


@click.command("issues")
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("targets", nargs=-1)
@jobs_option
@quiet_option
def command(folder: Path, targets: tuple[str, ...], jobs: int, quiet: bool) -> None:  # noqa: FBT001
    """Write texts for the maintainers of decoders that diverge.

    FOLDER holds the survey. For each divergence, a small program in the decoder's own language repeats the shortest
    input without overlong. If that program confirms it, it goes into the text about the fault that causes it, with the
    program and its output. No text covers a divergence that the decoder's documentation announces (the record says
    so), or a matter that RFC 3629 leaves open, such as the number of U+FFFD. The texts go to FOLDER/reports;
    FOLDER/withheld.json lists what was not confirmed.

    \b
    Examples:
      python corpora/survey issues corpora/survey/2026-11-28
      python corpora/survey issues corpora/survey/2026-11-28 yajl json-c
    \b
    Exit status:
      0  every divergence was confirmed
      1  a divergence was not confirmed; the command names it and writes no text
      2  the command line is wrong, or the survey cannot be read
    """  # noqa: D301 (click reads the backspace)
    from concurrent.futures import ThreadPoolExecutor

    from corpora.survey.confirmation import Confirmation, confirm
    from corpora.survey.filing import REPORTS, WITHHELD, told, withdrawn_in, withheld_in
    from corpora.survey.texts import issue
    from overlong.conformance.report.formats import write
    from overlong.conformance.support.printable import printable

    report = report_of(folder / SURVEY)
    subjects = [subject for subject in report.subjects if not targets or subject.id in targets]
    for subject in subjects:
        _check(subject)
    earlier = [each for kept in folder.parent.glob(f"*/{SURVEY}") for each in report_of(kept).subjects]
    refuted, confirmed = set[str](), set[str]()
    with errors_on_one_line(), ThreadPoolExecutor(jobs) as pool:
        (folder / REPORTS).mkdir(exist_ok=True)
        withdrawn = withdrawn_in(folder)
        faults = [(subject, fault) for subject in subjects for fault in told(subject, withdrawn)]
        asked = [[pool.submit(confirm, subject.id, cause) for cause in fault.causes] for subject, fault in faults]
        for (subject, fault), answers in zip(faults, asked, strict=True):
            shown = dict[str, Confirmation]()
            for cause, answer in zip(fault.causes, answers, strict=True):
                name, found = f"{subject.id}-{cause.code}", answer.result()
                if found is not None and found.why_not:
                    refuted.add(name)
                    click.echo(f"not confirmed: {name}: {printable(found.why_not, 300)}", err=True)
                elif found is not None:
                    confirmed.add(name)
                    shown[cause.code] = found
            if shown:
                name, kept = f"{subject.id}-{fault.name}.md", fault.without({*fault.codes} - shown.keys())
                same = (each for each in earlier if each.id == subject.id and {*kept.codes} <= codes_of(each))
                versions = [each.version for each in same]
                write(issue(subject, kept, shown, versions) + "\n", folder / REPORTS / name)
                if not quiet:
                    click.echo(f"confirmed: {name}: {', '.join(kept.codes)}")
        withheld = (set(withheld_in(folder)) - confirmed) | refuted
        write(json.dumps(sorted(withheld), indent=1) + "\n", folder / WITHHELD)
    sys.exit(DIVERGES if refuted else CONFORMS)


def codes_of(subject: Subject) -> set[str]:
    """The codes of a decoder's divergences."""
    return {cause.code for cause in subject.causes}


def _check(subject: Subject) -> None:
    """Leave if a code is unknown: it names a file."""
    from overlong.conformance.protocol.observation import KINDS
    from overlong.conformance.support.printable import printable
    from overlong.reference import DEFECTS

    for code in codes_of(subject) - KINDS.keys() - DEFECTS.keys():
        known = f"{printable(subject.id)}: no code {printable(code, 40)} is known here"
        leave(f"{known}; update overlong, or survey again", USAGE)
