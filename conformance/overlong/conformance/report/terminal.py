"""The report in a terminal after a run or a sweep: the verdict, the claims, and a block for each bucket.

The lines are those of ``report/text.py``. What was asked, the proved bounds and the price of more are for ``-v``.
"""

from __future__ import annotations

import shlex
import textwrap
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.certification.tiers import GIANTS, NOT_FURTHER, constants_of, next_tier, seeds_of, tier_of
from overlong.conformance.oracle.apart import limits_of
from overlong.conformance.oracle.target import LEFT_OUT
from overlong.conformance.protocol.observation import MEMORY, POSITION, VERDICT
from overlong.conformance.protocol.wire import IN_MEMORY, OPERATIONS
from overlong.conformance.report.text import SHOWN, blocks, claim_lines, in_rows, sign_lines, title, verdict_lines
from overlong.conformance.report.wording import Glyphs, faults, swept_short, verdict
from overlong.conformance.results.model import FAILING, HOLDS, Standing
from overlong.conformance.results.run import is_not_offered
from overlong.conformance.support.printable import counted, printable, thousands, times

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.model import Report, Subject
    from overlong.conformance.results.run import Run
    from overlong.conformance.results.sweeps import PlanRun, SweepRun

_CERTIFY = "overlong certify"
_SEEDS = 3
"""If there are more, the rest is counted; the command names all."""
_WHY = "(-v\xa0says\xa0why)"
_PLANS = f"{'plan':<15}{'strings':>20}{'seconds':>10}{'per second':>15}{'well-formed':>18}"


def summary(
    report: Report, certificate: Certificate, *, width: int, encoding: str, every: bool = False
) -> Iterator[str]:
    """The lines of the report, none of them styled, none (but commands) wider than ``width``.

    Args:
        report: of the run (``report_of_run``).
        certificate: of the run.
        width: columns.
        encoding: that the terminal has.
        every: show what was asked, proved and left out, why claims were not measured, and buckets even if a sign
            explains them.
    """
    (subject,), run, glyphs = report.subjects, certificate.run, Glyphs(encoding)
    yield from verdict_lines(report, width)
    yield from title(subject, glyphs, width)
    causes = [cause for cause in subject.causes if cause.standing is not Standing.EXPECTED]
    if subject.sign and causes:
        yield from sign_lines(subject.sign, width)
        if not every:
            yield f"{counted(len(causes), 'bucket')} not shown: -v shows what they are"
            causes = []
    yield from _claims(subject, glyphs, width, every=every)
    yield ""
    yield from blocks(report, causes, width)
    if len(causes) > SHOWN:
        yield f"and {len(causes) - SHOWN} more buckets: see results.jsonl"
        yield ""
    for line in _remarks(certificate, every=every):
        yield from _wrapped(line, width)
    if certificate.expected is not None:
        yield from lines_of_expected(certificate.expected, width)
    if every:
        yield from _asked(subject, run, glyphs, width)


def _claims(subject: Subject, glyphs: Glyphs, width: int, *, every: bool) -> Iterator[str]:
    """A line for each claim. Claims that were not measured share a line unless ``every`` is set."""
    claims = [
        claim for claim in subject.claims if claim != MEMORY or set(IN_MEMORY) & set(subject.operations)
    ]  # of C functions
    brief = (
        [] if every else [claim for claim in claims if is_not_offered(claim, subject.claims[claim], subject.operations)]
    )
    for claim in claims:
        if claim not in brief:
            yield from claim_lines(subject, claim, glyphs, width)
    if brief:
        line = f"{glyphs.open} not measured: {', '.join(brief)} {_WHY}"
        yield from _wrapped(line, width, indent="  ")


def _wrapped(line: str, width: int, indent: str = "") -> Iterator[str]:
    """The lines of a text in this width, never broken at a no-break space."""
    behind = f"{indent}  "
    for part in textwrap.wrap(line, width, initial_indent=indent, subsequent_indent=behind, break_on_hyphens=False):
        yield part.replace("\xa0", " ")


def _asked(subject: Subject, run: Run, glyphs: Glyphs, width: int) -> Iterator[str]:
    """The numbers of vectors and strings asked, and the time."""
    between = f" {glyphs.dot} "
    suites = [f"{part.name} {thousands(part.asked)}" for part in subject.parts if not part.is_sweep]
    yield from in_rows(["tested", *(suites or ["nothing"]), f"{run.seconds:.1f} s"], width, indent="", between=between)
    if run.swept is None:
        return
    swept = [part for part in subject.parts if part.is_sweep]
    plans = [f"{part.name} {thousands(part.asked)}" for part in swept]
    if (tier := tier_of(part.name for part in swept)) is not None:
        asked = thousands(sum(part.asked for part in swept))
        seeds = [f"drawn by {seed}" for seed in seeds_of(part.name for part in swept)]
        seeds[1:] = [f"and {len(seeds) - 1} seeds more"] if len(seeds) > _SEEDS else seeds[1:]
        giants = [part.name for part in swept if part.name in GIANTS][-1:]
        around = ", ".join(map(thousands, constants_of(part.name for part in swept)))
        constants = [f"constants {around}"] if around else []
        named = [f"tier {tier.name}"] if tier.is_typed else []
        plans = [*named, *giants, *seeds, *constants, f"{asked} strings of {len(plans)} plans"]
    yield from in_rows(["swept", *plans, f"{run.swept.seconds:.1f} s"], width, indent="", between=between)


def _remarks(certificate: Certificate, *, every: bool) -> list[str]:
    """The limits of the run; if ``every`` is set, also what it proves and leaves out."""
    run = certificate.run
    lines = [f"incomplete: {printable(run.incomplete)}"] if run.incomplete else []
    lines += _proved(run) if every else []
    lines.extend(
        f"{limit.line} ({thousands(sum(part.aside for part in run.suites))})" for limit in limits_of(run.greeting)
    )
    if run.behaves_like:
        lines.append(f"behaves like: {run.behaves_like}")
    if run.restarts:
        lines.append(f"restarted {times(run.restarts)} after a failure")
    if run.left_out and every:
        command = (
            run.left_out.replace("--tier ", "--tier\xa0")
            .replace("--plan ", "--plan\xa0")
            .replace("--for ", "--for\xa0")
        )
        lines.append(f"left out: {command}")
    if certificate.refused and not run.incomplete:
        why, _, names = certificate.refused.partition(" (")
        lines.append(f"no certificate: {certificate.refused if every or not names else why}")
    lines.extend(f"note: {printable(note)}" for note in run.notes if every or not note.startswith(NOT_FURTHER))
    return lines


def _proved(run: Run) -> list[str]:
    """What the suites and the sweeps prove, and the strings of the sweeps that diverge."""
    lines: list[str] = []
    proved = {claim for claim, state in run.claims.items() if state == HOLDS}
    if VERDICT not in proved:  # a wrongly accepted string has no place
        proved.discard(POSITION)
    lines.extend(
        f"complete{' but for what is set aside' if part.aside else ''}: {part.suite.shows}"
        for part in run.suites
        if part.suite.proves in proved and part.whole
    )
    if run.swept is not None:
        lines.extend(
            f"{part.plan}: {part.shows}"
            for part in run.swept.plans
            if part.plan.startswith(("depth", GIANTS[-1])) and VERDICT in proved and part.seen == part.expected
        )
        lines.extend(printable(line, 400) for line in run.swept.words[:SHOWN])
    return lines


def lines_of_expected(expected: Expectations, width: int) -> Iterator[str]:
    """The lines about all entries, none wider than ``width``; no lines if the target has no entries."""
    occurring = [
        f"expected: {each.names}: {printable(each.reason) or 'no reason given'}"
        + (f" ({printable(each.link)})" if each.link else "")
        + f" [{thousands(expected.tally(each).total)}]"
        for each in expected.occurring
    ]
    stale = [
        f"STALE {each.where}: {each.names}: {printable(why)}; --update-expected corrects it"
        for each, why in expected.stale.items()
    ]
    for lines in (occurring, expected.unasked_words, expected.expired_words, stale):
        for line in lines[:SHOWN]:
            yield from textwrap.wrap(line, width, subsequent_indent="  ")
        if len(lines) > SHOWN:
            yield f"and {thousands(len(lines) - SHOWN)} more such lines"
    for line in expected.missing_words:
        yield from textwrap.wrap(line, width, subsequent_indent="  ")
    if expected.changes:
        yield f"written: {printable(str(expected.file))}: {expected.changes}"


def summary_of_sweep(report: Report, run: SweepRun, *, width: int, encoding: str, every: bool = False) -> Iterator[str]:
    """The lines of the report, none of them styled, none (but commands) wider than ``width``.

    Args:
        report: of the sweep (``report_of_swept``).
        run: the sweep.
        width: columns.
        encoding: that the terminal has.
        every: show the digest, too.
    """
    (subject,), glyphs = report.subjects, Glyphs(encoding)
    if run.incomplete:
        extent = f"{thousands(run.done)} of {thousands(run.strings)} strings"
        yield from textwrap.wrap(f"{verdict(subject, report.kind)}  {extent}", width, subsequent_indent="  ")
    else:
        yield from verdict_lines(report, width)
    version = f" ({printable(subject.version)})" if subject.version else ""
    header = f" {glyphs.dot} ".join((subject.profile, printable(subject.id) + version, OPERATIONS[run.operation]))
    yield from textwrap.wrap(header, width, subsequent_indent="  ")
    yield ""
    yield from blocks(report, subject.causes, width)
    if len(subject.causes) > SHOWN:
        yield f"and {len(subject.causes) - SHOWN} more buckets: see sweep.json"
        yield ""
    yield _PLANS
    for part in run.plans:
        yield _plan(part, glyphs)
    for line in _remarks_on_sweep(run):
        yield from textwrap.wrap(line, width, subsequent_indent="  ")
    if run.digest and every:
        yield f"digest sha256 {run.digest}"


def _plan(part: PlanRun, glyphs: Glyphs) -> str:
    rate = thousands(round(part.seen.strings / part.seconds)) if part.seconds else ""
    whole = glyphs.holds if part.seen == part.expected else glyphs.open  # some strings were not asked
    mark = glyphs.fails if part.divergences else whole
    return (
        f"{part.plan:<15}{thousands(part.seen.strings):>20}{part.seconds:>10.1f}{rate:>15}"
        f"{thousands(part.seen.well_formed):>18} {mark}"
    )


def _remarks_on_sweep(run: SweepRun) -> Iterator[str]:
    for limit in limits_of(run.greeting):
        yield f"{limit.member}: {limit.word}; {limit.strings} are judged by that"
    if left_out := sum(part.kinds[LEFT_OUT] for part in run.plans):
        yield f"not tested, after too many faults: {thousands(left_out)} strings"
    if run.unsupported:
        yield f"{run.unsupported}: the verdict does not cover them"
    if run.resumed:
        yield f"of these, {thousands(run.resumed)} strings were tested by an earlier run"
    for note in run.notes:
        yield f"note: {printable(note)}"


def next_step(report: Report, certificate: Certificate, folder: Path | None) -> str:
    """The one command that follows a run, for its last line; empty if other lines already say what to do.

    Args:
        report: of the run.
        certificate: of the run.
        folder: of the results; None if nothing was written.
    """
    (subject,), run = report.subjects, certificate.run
    if subject.state in FAILING:
        found = faults(subject)
        if subject.sign or not found or folder is None:
            return ""
        return shlex.join(["overlong", "explain", str(folder), found[0].id])
    if run.incomplete or not run.claims or certificate.stale:
        return ""
    whole = replace(certificate.invocation, suites=None, plans=None).command
    if certificate.refused:
        return whole
    declined = certificate.invocation.plans == ()
    if not swept_short(subject) or (run.swept is None and not declined):  # what only replaces is never swept
        return "overlong docs ci"
    tier = None if declined else next_tier(run)
    return whole.replace(_CERTIFY, f"{_CERTIFY} --tier {tier.name}", 1) if tier and tier.is_typed else whole
