"""The report that a person reads in a terminal: a verdict, and a sentence for each bucket."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.lost import ended_how
from overlong.conformance.oracle.traits import traits_of
from overlong.conformance.protocol.kind import MEMORY, POSITION, UNDECLARED, VERDICT
from overlong.conformance.protocol.wire import GUARDED
from overlong.conformance.report.expected import lines_of
from overlong.conformance.report.wording import extent, verdict_words, with_version
from overlong.conformance.results import details
from overlong.conformance.results.details import detail
from overlong.conformance.results.headline import State
from overlong.conformance.results.invocation import replay_command
from overlong.conformance.results.run import FAILS, HOLDS
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands, times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.oracle.finding import Bucket
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.vectors.vector import Vector

_CLAIM = 18
"""Columns for the name of a claim."""

SHOWN = 20
"""Buckets that are written out; the rest are counted."""


class Glyphs:
    """Marks that the terminal's encoding can show."""

    def __init__(self, encoding: str) -> None:
        try:
            "✓✗·–".encode(encoding)
        except (UnicodeEncodeError, LookupError):
            self.holds, self.fails, self.open, self.dot = "+", "x", "-", "|"
        else:
            self.holds, self.fails, self.open, self.dot = "✓", "✗", "–", "·"

    def of(self, state: str) -> str:
        return {HOLDS: self.holds, FAILS: self.fails}.get(state, self.open)


def summary(
    certificate: Certificate, target: str | Sequence[str], *, width: int, encoding: str, every: bool = False
) -> Iterator[str]:
    """The lines of the report, none of them styled, none (but commands) wider than ``width``.

    Args:
        certificate: of the run.
        target: its name, as on the command line, or the words of its command.
        width: columns.
        encoding: that the terminal has.
        every: buckets are written out though a sign explains them.
    """
    run, glyphs = certificate.run, Glyphs(encoding)
    header = f"{run.profile.name} {glyphs.dot} {printable(run.target)}"
    yield from with_version(header, run.greeting.version, width)
    suites = [f"{part.suite.name} {thousands(part.done)}" for part in run.suites] or ["nothing ran"]
    yield from in_rows([*suites, f"{run.seconds:.1f} s"], width, indent="", between=f" {glyphs.dot} ")
    if run.swept is not None:
        plans = [f"{part.plan} {thousands(part.seen.strings)}" for part in run.swept.plans]
        yield from in_rows(["swept", *plans, f"{run.swept.seconds:.1f} s"], width, indent="", between=f" {glyphs.dot} ")
    yield ""
    buckets = certificate.unexpected
    if run.sign and buckets:
        yield from sign_lines(run.sign, width)
        if not every:
            yield f"{counted(len(buckets), 'bucket')} not shown: -v shows what they are"
            buckets = []
        yield ""
    for bucket in buckets[:SHOWN]:
        yield from lines_of_bucket(bucket, target, width)
        yield ""
    if len(buckets) > SHOWN:
        yield f"and {len(buckets) - SHOWN} more buckets: see results.jsonl"
        yield ""
    yield from _verdict(certificate, width)
    for claim, state in run.claims.items():
        if claim == MEMORY and GUARDED not in run.greeting.operations:
            continue  # only functions of shared libraries can be asked
        line = f"{glyphs.of(state)} {claim:<{_CLAIM}} {_detail(certificate, claim)}".rstrip()
        yield from textwrap.wrap(line, width, initial_indent="  ", subsequent_indent=" " * (_CLAIM + 5))
    yield from _remarks(certificate, width)
    if certificate.expected is not None:
        yield from lines_of(certificate.expected, width)


def sign_lines(sign: str, width: int) -> Iterator[str]:
    """What to look at before anything else."""
    yield from textwrap.wrap(f"LOOK AT THE ADAPTER FIRST: {printable(sign, 1000)}", width, subsequent_indent="  ")


def in_rows(items: Sequence[str], width: int, *, indent: str = "  ", between: str = "   ") -> Iterator[str]:
    """Items side by side, none of them broken."""
    row = ""
    for item in items:
        if row and len(row) + len(between) + len(item) > width:
            yield row
            row = ""
        row += (between if row else indent) + item
    yield row


def _verdict(certificate: Certificate, width: int) -> Iterator[str]:
    """The verdict, and how much of what was asked it rests on: on one line if that has room for both."""
    verdict, extent = verdict_of(certificate), _extent(certificate)
    if extent and len(verdict) + 2 + len(extent) <= width:
        yield f"{verdict}  {extent}"
        return
    yield from textwrap.wrap(verdict, width, subsequent_indent="  ")
    if extent:
        yield f"  {extent}"


def verdict_of(certificate: Certificate) -> str:
    """The verdict in words: what every report of this run says."""
    return verdict_words(
        certificate.state,
        certificate.run.failing,
        expected=len(certificate.run.buckets),
        stale=len(certificate.stale),
        aside=certificate.run.aside,
    )


def _extent(certificate: Certificate) -> str:
    run = certificate.run
    if certificate.state is State.EXPECTED or not run.buckets:
        return ""
    swept = (run.swept.divergences, run.swept.strings) if run.swept is not None else (0, 0)
    return extent(
        len(run.buckets),
        len(run.buckets) - len(certificate.unexpected),
        vectors=(sum(len(part.failing) for part in run.suites), run.vectors),
        strings=swept,
        aside=sum(bucket.count for bucket in run.buckets.values() if bucket.example.code == UNDECLARED),
    )


def _detail(certificate: Certificate, claim: str) -> str:
    """What more is to be said of a claim."""
    run, expected = certificate.run, certificate.expected
    return detail(
        claim,
        run.claims[claim],
        operations=run.greeting.operations,
        error_mode=run.greeting.error_mode,
        unsupported=run.unsupported,
        without_text=run.without_text,
        as_expected=expected is not None and claim in expected.failing_as_expected(run),
    )


def _remarks(certificate: Certificate, width: int) -> Iterator[str]:
    run = certificate.run
    lines: list[str] = []
    if run.incomplete:
        lines.append(f"incomplete: {printable(run.incomplete)}")
    proved = {claim for claim, state in run.claims.items() if state == HOLDS}
    if VERDICT not in proved:  # what it wrongly accepts has no place
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
            if part.plan.startswith("depth") and VERDICT in proved and part.seen == part.expected
        )
        lines.extend(
            f"{bucket.plan}: {thousands(bucket.found.count)} diverge: {printable(bucket.found.description, 400)}"
            for bucket in run.swept.buckets[:SHOWN]
            if bucket.cause is None
        )
    lines.extend(
        f"{trait.line} ({thousands(sum(part.aside for part in run.suites))})" for trait in traits_of(run.greeting)
    )
    if run.behaves_like:
        lines.append(f"behaves like: {run.behaves_like}")
    if run.restarts:
        lines.append(f"restarted {times(run.restarts)} after a failure")
    if certificate.refused:
        lines.append(f"no certificate: {certificate.refused}")
    lines.extend(f"note: {printable(note)}" for note in run.notes)
    for line in lines:
        yield from textwrap.wrap(line, width, subsequent_indent="  ")


def why_not(certificate: Certificate, claim: str) -> str:
    """Why a claim was not measured."""
    run, greeting = certificate.run, certificate.run.greeting
    return details.why_not(claim, greeting.operations, greeting.error_mode, run.unsupported, run.without_text)


def _earlier(vector: Vector, chunks: tuple[bytes, ...]) -> str:
    """The stream that the decoder had decoded before, and how it ended."""
    octets = f" {spaced_hex(b''.join(chunks))}" if any(chunks) else ""
    cut = f" in chunks of {', '.join(str(len(chunk)) for chunk in chunks)}" if len(chunks) > 1 else ""
    return f"{octets}{cut} that {ended_how(chunks, vector)}"


def lines_of_bucket(bucket: Bucket, target: str | Sequence[str], width: int) -> Iterator[str]:
    """A bucket, told by its example."""
    example = bucket.example
    vector = example.vector
    head = f"FAIL {vector.id}  {example.code} {example.title}"
    section = example.section
    if example.place:
        section += f"{', ' if section else ''}{example.place}"
    if len(head) + len(section) + 2 <= width:
        yield f"{head}{section:>{width - len(head)}}" if section else head
    else:
        yield head
        yield from textwrap.wrap(section, width, initial_indent="     ", subsequent_indent="     ")
    octets = spaced_hex(vector.octets)
    if vector.chunks is not None:
        octets += f" in chunks of {', '.join(map(str, vector.chunks))}"
    if vector.earlier is not None:
        octets += f", after a stream{_earlier(vector, vector.earlier)}"
    parts = [
        f"input {octets}",
        f"expected {example.expected_words}",
        f"observed {example.observed_words}",
    ]
    line = "     " + "    ".join(parts)
    if len(line) <= width:
        yield line
    else:
        for part in parts:
            yield from textwrap.wrap(part, width, initial_indent="     ", subsequent_indent="       ")
    if vector.comment:
        yield from textwrap.wrap(f"why: {vector.comment}", width, initial_indent="     ", subsequent_indent="       ")
    if bucket.count > 1:
        more = "1 more divergence" if bucket.count == 2 else f"{thousands(bucket.count - 1)} more divergences"
        yield f"     and {more} like it"
    yield f"     reproduce: {printable(replay_command(vector, target), 20_000)}"
