"""Documents that hold no time: ``sweep.json``, written and read back, and a certificate, read.

``sweep.json`` is what a sweep asked and what it found, for machines. It has no time, no engine, no number of jobs: the
same questions to the same target give the same octets. The schema is in ``schemas/results-1.schema.json``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.apart import aside_in_words
from overlong.conformance.oracle.target import KINDS, NOT_SUPPORTED
from overlong.conformance.protocol.observation import VERDICT
from overlong.conformance.protocol.wire import VALIDATE
from overlong.conformance.results.invocation import file_of, is_typed, options_of, placed
from overlong.conformance.results.model import (
    AFTER,
    BECAUSE,
    PLAN,
    STRINGS,
    Report,
    ReportKind,
    Subject,
    failing_claims,
    result_of,
    state_of,
)
from overlong.conformance.results.records import (
    agreeing,
    cause_of,
    cause_of_entry,
    cause_of_finding,
    checked,
    examined,
    finding_as_json,
    part_of_plan,
    part_of_suite,
    plan_as_json,
    repeated,
    spelt,
    state_recorded,
    target_as_json,
    target_fields,
    vector_of,
    why_as_json,
)
from overlong.conformance.results.run import details_of
from overlong.conformance.support.printable import spaced_hex
from overlong.conformance.support.provenance import generator

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from overlong.conformance.results.model import Cause
    from overlong.conformance.results.sweeps import SweepBucket, SweepRun


RESULTS = "sweep.json"
SCHEMA = "overlong/results-1"


def as_json(run: SweepRun) -> dict[str, Any]:
    """A sweep that came to its end, as plain data."""
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "profile": run.profile.name,
        "command": run.command,
        "target": target_as_json(run.target, run.greeting, run.identity.digest),
        "operation": run.operation,
        "conformant": run.conformant,
        "plans": [plan_as_json(part) for part in run.plans],
        "buckets": [_bucket(bucket) for bucket in run.buckets],
        "digest": {"sha256": run.digest},
    }


def to_json(run: SweepRun) -> str:
    """The same, as it is written to a file."""
    return spelt(as_json(run), indent=2) + "\n"


def _bucket(bucket: SweepBucket) -> dict[str, Any]:
    found = bucket.found
    return {
        "plan": bucket.plan,
        "kind": KINDS[found.kind],
        "count": found.count,
        "strings": found.strings,
        "defect": found.defect,
        "dialects": list(found.dialects),
        "shows_alone": bucket.alone,
        **why_as_json(bucket.why.why if bucket.why is not None else None),
        "cause": None if bucket.cause is None else finding_as_json(bucket.cause),
        "earlier": None if found.where.earlier is None else found.where.earlier.hex(),
        "place": {"grid": found.where.grid, "index": found.where.index},
        "example": finding_as_json(bucket.finding),
    }


_FILES = 20
"""The most files of a decoder that are shown; a package may have hundreds."""


def report_of_certificate(data: dict[str, Any], path: Path) -> Report:
    """The report that a certificate gives.

    Raises:
        ReportError: it is not as the schema has it.
    """
    checked(data, "certificate-1", path)
    report = report_of_statement(data, path)
    (subject,) = report.subjects
    agreeing("predicate.result", data["predicate"]["result"], result_of(subject.state, len(subject.stale)))
    return report


def report_of_statement(data: dict[str, Any], path: Path) -> Report:
    """The report that a certificate gives whose form is right; it may contradict itself."""
    said = data["predicate"]["overlong"]
    causes = tuple(cause_of(bucket, command=said["command"], folder=path.parent) for bucket in said["buckets"])
    files = [f"{each['name']} sha256 {each['digest']['sha256']}" for each in data["subject"][:_FILES]]
    if len(data["subject"]) > _FILES:
        files.append(f"and {len(data['subject']) - _FILES} more files")
    subject = Subject(
        **target_fields(said["target"]),
        set_aside=aside_in_words(said["target"]["traits"], (suite["set_aside"] for suite in said["suites"])),
        state=state_recorded(said["claims"], causes),
        profile=said["profile"],
        command=said["command"],
        claims=said["claims"],
        details=details_of(said["target"], said["claims"], said["suites"], causes),
        parts=(*map(part_of_suite, said["suites"]), *map(part_of_plan, said["sweeps"])),
        causes=causes,
        sign=said.get("sign", ""),
        stale=tuple(map(cause_of_entry, said.get("stale", ()))),
        not_covered=tuple(said["not_covered"]),
        restarts=said["restarts"],
        findings_digest=said["findings_digest"]["sha256"],
        recorded={"subject": ", ".join(files)},
    )
    return Report(
        kind=ReportKind.CERTIFY,
        title=subject.id,
        generator=said["generator"],
        subjects=(subject,),
        environment=said["environment"],
        source=path.name,
    )


def report_of_sweep(data: dict[str, Any], path: Path) -> Report:
    """The report that ``sweep.json`` gives.

    Raises:
        ReportError: it is not as the schema has it.
    """
    checked(data, "results-1", path, part="sweep")
    failing = any(part_of_plan(plan).failing for plan in data["plans"])
    agreeing("conformant", data["conformant"], not failing and not data["buckets"] and not _has_unsupported(data))
    return replace(_report_of_sweep(data, path.parent), source=path.name)


def report_of_swept(run: SweepRun, folder: Path | None = None) -> Report:
    """The report of a sweep that has just ended, perhaps early: what its file in ``folder`` gives, or would give."""
    report = _report_of_sweep(as_json(run), folder)
    return replace(report, subjects=(replace(report.subjects[0], state=run.state),))


def _report_of_sweep(data: Mapping[str, Any], folder: Path | None) -> Report:
    causes = _by_condition(data["buckets"], data["command"], folder)
    open_ = _has_unsupported(data)
    failing = failing_claims({}, causes) or [VERDICT] * (not data["conformant"] and not open_)
    subject = Subject(
        **target_fields(data["target"]),
        state=state_of(failing, held=True, incomplete=open_ and not failing),
        profile=data["profile"],
        command=data["command"],
        parts=tuple(map(part_of_plan, data["plans"])),
        causes=causes,
        recorded={"asked": "verdicts" if data["operation"] == VALIDATE else "decoded text"},
        findings_digest=data["digest"]["sha256"],
    )
    return Report(
        kind=ReportKind.SWEEP,
        title=subject.id,
        generator=data["generator"],
        subjects=(subject,),
    )


def _has_unsupported(data: Mapping[str, Any]) -> bool:
    return any(KINDS[NOT_SUPPORTED] in plan["kinds"] for plan in data["plans"])


def _by_condition(buckets: Iterable[Mapping[str, Any]], command: str, folder: Path | None) -> tuple[Cause, ...]:
    """The causes of some sets of strings: those with one condition are one cause, told by the first that shows it."""
    found: dict[object, Cause] = {}
    for place, bucket in enumerate(buckets):
        cause = _swept(bucket, command, folder)
        key: object = bucket["condition"]["id"] if "condition" in bucket else place
        told = found.setdefault(key, cause)
        if told is cause:
            continue
        first, second = (told, cause) if _shows(told) >= _shows(cause) else (cause, told)
        plans = dict.fromkeys(each for one in (told, cause) for each in dict(one.more)[PLAN].split(", "))
        more = [(title, ", ".join(plans) if title == PLAN else words) for title, words in first.more]
        found[key] = replace(first, count=first.count + second.count, more=tuple(more))
    return tuple(found.values())


def _shows(cause: Cause) -> bool:
    """True if a set shows its cause itself, and not a consequence."""
    return BECAUSE not in dict(cause.more)


def _swept(bucket: Mapping[str, Any], command: str, folder: Path | None) -> Cause:
    """A set of strings that diverge alike, told by the least of them."""
    example = cause_of_finding(bucket["example"], count=bucket["count"])
    plan, octets = bucket["plan"], example.octets
    more = [(PLAN, plan), (STRINGS, bucket["strings"]), *examined(bucket), ("kind", bucket["kind"])]
    if bucket["dialects"]:
        more.append(("accepts just what", ", ".join(bucket["dialects"])))
    earlier = example.earlier
    if bucket["earlier"] is not None:
        earlier = (bytes.fromhex(bucket["earlier"]),)
        more.append((AFTER, spaced_hex(earlier[0])))
    named = example
    if bucket["cause"] is not None:
        named = cause_of_finding(bucket["cause"])
        more.append((BECAUSE, f"{spaced_hex(named.octets)} is {named.observed}"))
    if not bucket["shows_alone"]:
        again = repeated(command, "sweep", *options_of([plan]))
    else:
        vector = vector_of(example)
        typed = octets.hex() or "input/empty"
        again = repeated(command, "replay", typed if is_typed(vector) else file_of(vector))
        again = placed(again, vector, folder)
    return replace(
        example,
        code=named.code,
        title=named.title,
        section=named.section,
        claim=named.claim,
        place=f"{bucket['plan']}: {bucket['strings']}",
        earlier=earlier,
        reproduce=again,
        more=tuple(more),
    )
