"""What a sweep showed, for a person in a terminal: a line for each plan, a block for each set that diverges."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import LEFT_OUT
from overlong.conformance.oracle.limits import limits_of
from overlong.conformance.protocol.wire import OPERATIONS
from overlong.conformance.report.text import SHOWN
from overlong.conformance.report.wording import Glyphs, verdict_words
from overlong.conformance.results.invocation import options_of, reproduce_command
from overlong.conformance.results.model import ReportKind, State
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.sweeps import PlanRun, SweepBucket, SweepRun

_TYPED = 100
"""Octets of an example that a command line spells out; sweep.json spells all."""
_HEAD = f"{'plan':<15}{'strings':>20}{'seconds':>10}{'per second':>15}{'well-formed':>18}"


def summary(run: SweepRun, target: str | Sequence[str], *, width: int, encoding: str) -> Iterator[str]:
    """The lines of the report, none of them styled, none (but commands) wider than ``width``."""
    glyphs = Glyphs(encoding)
    version = f" ({printable(run.greeting.version)})" if run.greeting.version else ""
    header = f" {glyphs.dot} ".join((run.profile.name, printable(run.target) + version, OPERATIONS[run.operation]))
    yield from textwrap.wrap(header, width, subsequent_indent="  ")
    yield _HEAD
    for part in run.plans:
        yield _plan(part, glyphs)
    yield ""
    for bucket in run.buckets[:SHOWN]:
        yield from _bucket(bucket, run, target, width)
        yield ""
    if len(run.buckets) > SHOWN:
        yield f"and {len(run.buckets) - SHOWN} more buckets: see sweep.json"
        yield ""
    yield from textwrap.wrap(verdict(run), width, subsequent_indent="  ")
    for line in _remarks(run):
        yield from textwrap.wrap(line, width, subsequent_indent="  ")
    if run.digest:
        yield f"digest sha256 {run.digest}"


def _plan(part: PlanRun, glyphs: Glyphs) -> str:
    rate = thousands(round(part.seen.strings / part.seconds)) if part.seconds else ""
    whole = glyphs.holds if part.seen == part.expected else glyphs.open  # some of them were not asked
    mark = glyphs.fails if part.divergences else whole
    return (
        f"{part.plan:<15}{thousands(part.seen.strings):>20}{part.seconds:>10.1f}{rate:>15}"
        f"{thousands(part.seen.well_formed):>18} {mark}"
    )


def verdict(run: SweepRun) -> str:
    """What these strings show, in a line."""
    words, strings = verdict_words(run.state, run.failing, kind=ReportKind.SWEEP), thousands(run.strings)
    match run.state:
        case State.CONFORMS:
            extent = f"{counted(len(run.plans), 'plan')}, {strings} strings"
        case State.INCOMPLETE:
            extent = f"{thousands(run.done)} of {strings} strings"
        case _:
            extent = f"{counted(len(run.buckets), 'bucket')}, {thousands(run.divergences)} of {strings} strings"
    return f"{words}  {extent}"


def _bucket(bucket: SweepBucket, run: SweepRun, target: str | Sequence[str], width: int) -> Iterator[str]:
    found, finding = bucket.found, bucket.finding
    octets = finding.vector.octets
    named = bucket.cause or finding
    head, section = f"FAIL {bucket.plan}  {named.code} {named.title}", named.section
    if not section or len(head) + len(section) + 2 <= width:
        yield f"{head}{section:>{width - len(head)}}" if section else head
    else:
        yield head
        yield f"     {section}"
    parts = [f"{found.description}: {thousands(found.count)}"]
    parts.append(f"input {spaced_hex(octets)}")
    if found.where.earlier is not None:
        parts.append(f"asked right after {spaced_hex(found.where.earlier)}")
    parts += [f"expected {finding.expected_words}", f"observed {finding.observed_words}"]
    if bucket.cause is not None:
        parts.append(f"because {spaced_hex(bucket.cause.vector.octets)} is {bucket.cause.observed_words}")
    for part in parts:
        yield from textwrap.wrap(part, width, initial_indent="     ", subsequent_indent="       ")
    if not bucket.alone:
        words = options_of([bucket.plan])
        again = reproduce_command("sweep", target, *words, profile=run.profile)
    elif len(octets) <= _TYPED:
        again = reproduce_command("replay", target, octets.hex() or "input/empty", profile=run.profile)
    else:
        again = f"overlong replay OCTETS TARGET; its {len(octets)} octets are in sweep.json"
    yield f"     reproduce: {printable(again, 1000)}"


def _remarks(run: SweepRun) -> Iterator[str]:
    for limit in limits_of(run.greeting):
        yield f"{limit.member}: {limit.word}; {limit.strings} are judged by that"
    if left_out := sum(part.kinds[LEFT_OUT] for part in run.plans):
        yield f"not asked, after too many faults: {thousands(left_out)} strings"
    if run.resumed:
        yield f"of these, {thousands(run.resumed)} strings were asked by an earlier run"
    for note in run.notes:
        yield f"note: {printable(note)}"
