"""``results.jsonl``, read back line by line: what is kept of it does not grow with the number of divergences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.apart import aside_in_words
from overlong.conformance.results.details import details_of
from overlong.conformance.results.model import Report, ReportKind, Standing, State, Subject
from overlong.conformance.results.reading.documents import ReportError, checked, not_of, records
from overlong.conformance.results.reading.recorded import (
    MOST_CAUSES,
    MOST_MAPS,
    cause_of,
    cause_of_entry,
    cause_of_finding,
    map_of,
    ordered,
    part_of_plan,
    part_of_suite,
    state_recorded,
    target_fields,
)
from overlong.conformance.results.records import bucket_as_json
from overlong.conformance.results.run import Drawing
from overlong.conformance.results.writer import SCHEMA, closing_records, header_as_json
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Cause, Map, ReportPart

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


@dataclass
class _Seen:
    """What was read so far."""

    folder: Path | None = None
    """Of the results; None if nothing was written."""
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    footer: dict[str, Any] = field(default_factory=dict[str, Any])
    suites: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    parts: list[ReportPart] = field(default_factory=list["ReportPart"])
    causes: list[Cause] = field(default_factory=list["Cause"])
    stale: list[Cause] = field(default_factory=list["Cause"])
    categories: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    maps: list[Map] = field(default_factory=list["Map"])
    automaton: Drawing | None = None
    behaves_like: str = ""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """For each cause how many divergences have a line: all there is if the buckets are lost."""
    least: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict[tuple[str, str], dict[str, Any]])
    """For each cause the least of them."""

    def is_less(self, record: dict[str, Any]) -> bool:
        """Count a divergence; whether it is the least of its cause so far."""
        key = record["code"], record["place"]
        self.counts[key] += 1
        least = self.least.get(key)
        return least is None or _size(record) < _size(least)

    @property
    def counted(self) -> tuple[Cause, ...]:
        """The causes of the divergences, for want of buckets."""
        command = self.header["command"]
        return ordered(
            cause_of_finding(least, count=self.counts[key], command=command, folder=self.folder)
            for key, least in self.least.items()
        )

    def add(self, record: dict[str, Any]) -> None:
        """Keep what a record says, which is as the schema has it; a divergence only if it is less than others."""
        match record["record"]:
            case "header":
                self.header = record
            case "divergence" if len(self.least) < MOST_CAUSES:
                self.least[record["code"], record["place"]] = record
            case "suite":
                self.suites.append(record)
                self.parts.append(part_of_suite(record))
            case "sweep":
                self.parts.append(part_of_plan(record))
            case "bucket" if len(self.causes) < MOST_CAUSES:
                self.causes.append(cause_of(record, command=self.header["command"], folder=self.folder))
            case "divergence" | "bucket":
                raise ValueError(f"more than {MOST_CAUSES} causes: no decoder has so many")
            case "stale":
                self.stale.append(cause_of_entry(record))
            case "category":
                self.categories[record["category"]] = record["asked"], record["failing"]
            case "portrait":
                if any(each.name == record["name"] for each in self.maps) or len(self.maps) == MOST_MAPS:
                    raise ValueError(f"no map: there is one of that name, or {MOST_MAPS} already")
                self.maps.append(map_of(record["name"], record["answers"]))
            case "automaton":
                self.automaton = Drawing(record["title"], record["svg"]) if record["svg"] else None
                self.behaves_like = record["behaves_like"]
            case _:
                self.footer = record


def report_of_results(path: Path) -> Report:
    """The report that a file of results gives; one whose end is missing gives what it has, and says so.

    Raises:
        ReportError: it is no such file, or damaged.
        OSError: it cannot be read.
    """
    seen = _seen(path)
    failing = [part.name for part in seen.parts if part.failing]
    if seen.footer and failing and not seen.causes:
        name = f"{printable(str(path))}: {printable(', '.join(failing), 120)}"
        raise ReportError(f"{name}: strings fail, and no bucket says how; measure again")
    return replace(_report(seen), source=path.name)


def report_of_run(certificate: Certificate, folder: Path | None = None) -> Report:
    """The report of a run that has just ended: what its file would give, and how long it took.

    Of a bucket that was expected in part it tells the divergences alone that were not. ``folder`` is that of the
    results, if they were written.
    """
    run, target = certificate.run, certificate.invocation.target
    seen = _Seen(folder)
    seen.add(
        header_as_json(run.target, run.greeting, certificate.identity.digest, run.profile.name, certificate.command)
    )
    for record in closing_records(certificate):
        seen.add(record)
    told = [cause for cause in seen.causes if cause.standing is Standing.EXPECTED]
    unexpected = [bucket_as_json(bucket, target) for bucket in certificate.unexpected]
    seen.causes = [*told, *(cause_of(bucket, folder=folder) for bucket in unexpected)]
    report = _report(seen)
    subject = replace(report.subjects[0], state=certificate.state, seconds=run.seconds)
    return replace(report, subjects=(subject,))


def _report(seen: _Seen) -> Report:
    header = seen.header
    subject = _subject(seen)
    return Report(
        kind=ReportKind.CERTIFY,
        title=subject.id,
        generator=header["generator"],
        subjects=(subject,),
        environment=header["environment"],
        time=header["time"],
        incomplete="" if seen.footer else CUT,
    )


def _seen(path: Path) -> _Seen:
    """What is in a file; of divergences, which may be many, the least of each cause is checked and kept."""
    seen, name = _Seen(path.parent), printable(str(path))
    for number, record in records(path):
        if number == 1 and record.get("schema") != SCHEMA:
            raise not_of(record, SCHEMA, path)
        kind = record.get("record")
        part = _PARTS.get(kind) if isinstance(kind, str) else None
        if part is None or (part == "header") != (number == 1):
            wrong = "there is no such record" if part is None else "the header is the first line, and no other"
            raise ReportError(f"{name}:{number}: {wrong}; a newer version may read it: update overlong")
        if seen.footer:
            raise ReportError(f"{name}:{number}: something follows the footer; measure again")
        if part == "divergence" and _is_counted(record) and not seen.is_less(record):
            continue
        checked(record, SCHEMA.removeprefix("overlong/"), path, part=part, line=number)
        try:
            seen.add(record)
        except ValueError as error:
            raise ReportError(f"{name}:{number}: {error}; measure again") from None
    if not seen.header:
        raise ReportError(f"{name}:1: no header; it is empty or was cut in its first line")
    return seen


def _is_counted(record: dict[str, Any]) -> bool:
    """Whether a divergence says enough to be counted; if not, the schema says what is missing."""
    return all(isinstance(record.get(name), str) for name in ("code", "place", "hex"))


def _size(record: dict[str, Any]) -> tuple[int, str]:
    """The place of a divergence in the order of its octets: shortlex."""
    return len(record["hex"]), record["hex"]


def _subject(seen: _Seen) -> Subject:
    header, footer = seen.header, seen.footer
    fields = target_fields(header["target"])
    common: dict[str, Any] = {
        **fields,
        "profile": header["profile"],
        "command": header["command"],
        "parts": tuple(seen.parts),
        "set_aside": aside_in_words(fields["traits"], (part.set_aside for part in seen.parts)),
        "stale": tuple(seen.stale),
        "categories": seen.categories,
        "maps": tuple(seen.maps),
        "automaton": seen.automaton,
        "behaves_like": seen.behaves_like,
    }
    if not footer:
        causes = tuple(seen.causes) or seen.counted
        return Subject(state=State.INCOMPLETE, why=CUT, causes=causes, **common)
    recorded = {"isolation": footer["isolation"]} if footer.get("isolation") else {}
    return Subject(
        state=state_recorded(footer["claims"], seen.causes, incomplete=bool(footer["incomplete"])),
        why=footer["incomplete"] or footer.get("refused", ""),
        claims=footer["claims"],
        details=details_of(header["target"], footer["claims"], seen.suites, seen.causes),
        causes=tuple(seen.causes),
        sign=footer.get("sign", ""),
        not_covered=tuple(footer.get("not_covered", ())),
        notes=tuple(footer["notes"]),
        restarts=footer["restarts"],
        findings_digest=footer["findings_digest"]["sha256"],
        recorded=recorded,
        **common,
    )
