"""``results.jsonl``, written record by record, and read back line by line.

It has a header, a record for each divergence, suite, sweep and bucket, and a footer; a file without its footer was cut.
What is kept of it in reading does not grow with the number of divergences. The schema is in
``schemas/results-1.schema.json``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from overlong.conformance.oracle.apart import aside_in_words
from overlong.conformance.results.model import Drawing, Report, ReportKind, Standing, State, Subject
from overlong.conformance.results.records import (
    MOST_CAUSES,
    MOST_MAPS,
    ReportError,
    bucket_as_json,
    cause_of,
    cause_of_entry,
    cause_of_finding,
    checked,
    counts_as_json,
    finding_as_json,
    map_of,
    not_of,
    ordered,
    packed,
    part_of_plan,
    part_of_suite,
    plan_as_json,
    records,
    spelt,
    stale_as_json,
    standing_as_json,
    state_recorded,
    suite_as_json,
    target_as_json,
    target_fields,
)
from overlong.conformance.results.run import details_of
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import environment, generator, timestamp

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Cause, Map, ReportPart


RESULTS = "results.jsonl"
SCHEMA = "overlong/results-1"
RECORDED = 100
"""Divergences of one bucket that are written out; all are counted."""


class ResultsWriter:
    """Writes results, record by record."""

    def __init__(self, file: IO[str], *, command: str) -> None:
        self._file = file
        self._command = command
        self._written: Counter[tuple[str, str]] = Counter()
        self._failure: OSError | None = None

    def header(self, target: str, greeting: Greeting, digest: str, profile: str) -> None:
        self._write(header_as_json(target, greeting, digest, profile, self._command))

    def divergence(self, finding: Finding) -> None:
        self._written[finding.bucket] += 1
        if self._written[finding.bucket] <= RECORDED:
            self._write({"record": "divergence", **finding_as_json(finding)})

    def diverged(self, found: Divergences) -> None:
        """Write divergences in columns; all are counted, and the first of each bucket are written out."""
        for finding in found.first(lambda bucket: RECORDED - self._written[bucket]):
            self._write({"record": "divergence", **finding_as_json(finding)})
        self._written += found.counts

    def portrait(self, maps: Sequence[Map]) -> None:
        """What the target makes of every pair of octets, compressed: most of it is runs of the same answer."""
        for each in maps:
            self._write({"record": "portrait", "name": each.name, "answers": packed(each.answers)})

    def footer(self, certificate: Certificate) -> None:
        """All that is known when a run has ended.

        Raises:
            OSError: this, or a record before it, could not be written.
        """
        for record in closing_records(certificate, self._written):
            self._write(record)
        if self._failure is not None:
            raise self._failure

    def _write(self, record: dict[str, Any]) -> None:
        if self._failure is not None:
            return
        try:
            self._file.write(spelt(record) + "\n")
        except OSError as error:
            self._failure = error  # the run goes on, and :meth:`footer` tells


def header_as_json(target: str, greeting: Greeting, digest: str, profile: str, command: str) -> dict[str, Any]:
    """The first record."""
    return {
        "record": "header",
        "schema": SCHEMA,
        "generator": generator(),
        "time": timestamp(),
        "command": command,
        "profile": profile,
        "environment": environment(),
        "target": target_as_json(target, greeting, digest),
    }


def closing_records(
    certificate: Certificate, written: Mapping[tuple[str, str], int] = MappingProxyType({})
) -> Iterator[dict[str, Any]]:
    """The records after the divergences; ``written``: how many of these a bucket has."""
    run, target = certificate.run, certificate.invocation.target
    notes = [] if certificate.expected is None else certificate.expected.notes
    if run.behaves_like or run.automaton is not None:  # without a drawing where it was not learned wholly
        title, svg = ("", "") if run.automaton is None else (run.automaton.title, run.automaton.svg)
        yield {"record": "automaton", "title": title, "svg": svg, "behaves_like": run.behaves_like}
    for suite in run.suites:
        yield {"record": "suite", **suite_as_json(suite)}
    for part in run.swept.plans if run.swept else ():
        yield {"record": "sweep", **plan_as_json(part)}
    for category, (asked, failing) in run.categories.items():
        yield {"record": "category", "category": category, "asked": asked, "failing": failing}
    for bucket in run.ordered_buckets:
        recorded = min(sum(written.get(kind, 0) for kind in bucket.kinds), RECORDED)
        standing = standing_as_json(bucket, certificate.expected)
        yield {"record": "bucket", **bucket_as_json(bucket, target), "recorded": recorded, **standing}
    for each, why in certificate.stale.items():
        yield {"record": "stale", **stale_as_json(each, why)}
    yield {
        "record": "footer",
        "conformant": run.conformant,
        "incomplete": run.incomplete,
        "claims": run.claims,
        "vectors": run.vectors,
        "buckets": len(run.buckets),
        "restarts": run.restarts,
        "notes": [*(run.swept.words if run.swept else ()), *run.notes, *notes],
        "not_covered": certificate.not_covered,
        "refused": certificate.refused,
        "isolation": run.isolation,
        **({"sign": run.sign} if run.sign else {}),
        **counts_as_json(certificate.expected, run),
        "findings_digest": {"sha256": run.findings_digest},
    }


CUT = "the file has no footer: its writer was ended, and only part of what was found is in it"
_PARTS = {
    "header": "header",
    "divergence": "divergence",
    "suite": "suite_record",
    "sweep": "sweep_record",
    "bucket": "bucket_record",
    "category": "category",
    "portrait": "portrait",
    "automaton": "automaton",
    "stale": "stale",
    "footer": "footer",
}
"""The definition in the schema of each record."""


def report_of_results(path: Path) -> Report:
    """The report that a file of results gives; one whose end is missing gives what it has, and says so.

    Raises:
        ReportError: it is no such file, or damaged.
        OSError: it cannot be read.
    """
    report = _report(_in_order(path), path.parent, path)
    (subject,) = report.subjects
    failing = [part.name for part in subject.parts if part.failing]
    if failing and not subject.causes and not report.incomplete:
        name = f"{printable(str(path))}: {printable(', '.join(failing), 120)}"
        raise ReportError(f"{name}: strings fail, and no bucket says how; measure again")
    return replace(report, source=path.name)


def report_of_run(certificate: Certificate, folder: Path | None = None) -> Report:
    """The report of a run that has just ended: what its file would give, and how long it took.

    Of a bucket that was expected in part it tells the divergences alone that were not. ``folder`` is that of the
    results, if they were written.
    """
    run, target = certificate.run, certificate.invocation.target
    header = header_as_json(
        run.target, run.greeting, certificate.identity.digest, run.profile.name, certificate.command
    )
    *others, footer = (
        record
        for record in closing_records(certificate)
        if record["record"] != "bucket" or record.get("standing") == Standing.EXPECTED
    )
    unexpected = ({"record": "bucket", **bucket_as_json(bucket, target)} for bucket in certificate.unexpected)
    report = _report(enumerate((header, *others, *unexpected, footer)), folder)
    subject = replace(report.subjects[0], state=certificate.state, seconds=run.seconds)
    return replace(report, subjects=(subject,))


def _in_order(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records of a file and the numbers of their lines: a header, others, and a footer if it was not cut.

    Raises:
        ReportError: it has others, or in another order.
        OSError: it cannot be read.
    """
    name, number, before = printable(str(path)), 0, ""
    for number, record in records(path):
        if number == 1 and record.get("schema") != SCHEMA:
            raise not_of(record, SCHEMA, path)
        kind = record.get("record")
        part = _PARTS.get(kind) if isinstance(kind, str) else None
        if part is None or (part == "header") != (number == 1):
            wrong = "there is no such record" if part is None else "the header is the first line, and no other"
            raise ReportError(f"{name}:{number}: {wrong}; a newer version may read it: update overlong")
        if before == "footer":
            raise ReportError(f"{name}:{number}: something follows the footer; measure again")
        before = part
        yield number, record
    if not number:
        raise ReportError(f"{name}:1: no header; it is empty or was cut in its first line")


def _report(read: Iterable[tuple[int, dict[str, Any]]], folder: Path | None, path: Path | None = None) -> Report:
    """The report of some records. Of divergences, which may be many, the least of each cause is checked and kept.

    Args:
        read: the records, a header first, and their numbers.
        folder: of the results; None if nothing was written.
        path: the file that they were read from; None: this process has made them.

    Raises:
        ReportError: a record is not as the schema has it.
    """
    header, footer, suites = dict[str, Any](), dict[str, Any](), list[dict[str, Any]]()
    parts, causes, stale = list["ReportPart"](), list["Cause"](), list["Cause"]()
    categories, maps = dict[str, tuple[int, int]](), dict[str, "Map"]()
    automaton, behaves_like = None, ""
    counts, least = Counter[tuple[str, str]](), dict[tuple[str, str], dict[str, Any]]()
    for number, record in read:
        kind = record["record"]
        if kind == "divergence" and all(isinstance(record.get(name), str) for name in ("code", "place", "hex")):
            key = record["code"], record["place"]
            counts[key] += 1
            if key in least and _size(record) >= _size(least[key]):
                continue
        if path is not None:
            checked(record, SCHEMA.removeprefix("overlong/"), path, part=_PARTS[kind], line=number)
        try:
            match kind:
                case "header":
                    header = record
                case "divergence" if len(least) < MOST_CAUSES:
                    least[record["code"], record["place"]] = record
                case "suite":
                    suites.append(record)
                    parts.append(part_of_suite(record))
                case "sweep":
                    parts.append(part_of_plan(record))
                case "bucket" if len(causes) < MOST_CAUSES:
                    causes.append(cause_of(record, command=header["command"], folder=folder))
                case "divergence" | "bucket":
                    raise ValueError(f"more than {MOST_CAUSES} causes: no decoder has so many")
                case "stale":
                    stale.append(cause_of_entry(record))
                case "category":
                    categories[record["category"]] = record["asked"], record["failing"]
                case "portrait":
                    if record["name"] in maps or len(maps) == MOST_MAPS:
                        raise ValueError(f"no map: there is one of that name, or {MOST_MAPS} already")
                    maps[record["name"]] = map_of(record["name"], record["answers"])
                case "automaton":
                    automaton = Drawing(record["title"], record["svg"]) if record["svg"] else None
                    behaves_like = record["behaves_like"]
                case _:
                    footer = record
        except ValueError as error:
            raise ReportError(f"{printable(str(path))}:{number}: {error}; measure again") from None
    if not footer and not causes:  # for want of buckets, those that the divergences show
        causes.extend(
            ordered(
                cause_of_finding(record, count=counts[key], command=header["command"], folder=folder)
                for key, record in least.items()
            )
        )
    target = target_fields(header["target"])
    subject = Subject(
        state=State.INCOMPLETE,
        why=CUT,
        **target,
        profile=header["profile"],
        command=header["command"],
        parts=tuple(parts),
        set_aside=aside_in_words(target["traits"], (part.set_aside for part in parts)),
        causes=tuple(causes),
        stale=tuple(stale),
        categories=categories,
        maps=tuple(maps.values()),
        automaton=automaton,
        behaves_like=behaves_like,
    )
    if footer:
        subject = replace(
            subject,
            state=state_recorded(footer["claims"], causes, incomplete=bool(footer["incomplete"])),
            why=footer["incomplete"] or footer.get("refused", ""),
            claims=footer["claims"],
            details=details_of(header["target"], footer["claims"], suites, causes),
            sign=footer.get("sign", ""),
            not_covered=tuple(footer.get("not_covered", ())),
            notes=tuple(footer["notes"]),
            restarts=footer["restarts"],
            findings_digest=footer["findings_digest"]["sha256"],
            recorded={"isolation": footer["isolation"]} if footer.get("isolation") else {},
        )
    return Report(
        kind=ReportKind.CERTIFY,
        title=subject.id,
        generator=header["generator"],
        subjects=(subject,),
        environment=header["environment"],
        time=header["time"],
        incomplete="" if footer else CUT,
    )


def _size(record: dict[str, Any]) -> tuple[int, str]:
    """The place of a divergence in the order of its octets: shortlex."""
    return len(record["hex"]), record["hex"]
