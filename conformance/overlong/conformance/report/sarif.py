"""SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/), as GitHub's code scanning and other viewers take it.

One result for each cause, one rule for each code. A result has the location of its vector in the file that ``overlong
vectors export --format jsonl -o overlong-vectors.jsonl`` writes, since GitHub refuses a log if a result has no
location.
For a vector that is not in that file, the location is the first line, and the id is the logical location.

Fingerprints consist of the target, the code, the place and the claim, so an alert stays the same with another count or
another example. GitHub distinguishes alerts only by ``primaryLocationLineHash``, so the log has that, too.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.report.wording import (
    command_lines,
    excused,
    faults,
    given,
    is_fault,
    observed,
    prose_lines,
    section_links,
    verdict,
    weakness,
)
from overlong.conformance.results.model import SENTENCE, ReportKind, Standing, State, exit_code_of
from overlong.conformance.support.printable import printable, thousands
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.results.model import Cause, Report, Subject


STALE = "stale-expectation"
"""The rule of an expected deviation that no longer occurs."""
ADAPTER = "adapter-in-doubt"
"""The rule of a sign that the adapter is wrong."""
CWE = "CWE"


def message_text(words: str, limit: int = 1000) -> str:
    """Text of a message. Braces and links would have a meaning (sections 3.11.5 and 3.11.6), so they are escaped."""
    return printable(words, limit).replace("{", "{{").replace("}", "}}").replace("](", "] (")


def shown(words: str, limit: int = 300) -> str:
    """Hostile words, on one line."""
    return printable(words, limit)


def _rule(named: str, name: str, title: str, line: str, words: str) -> dict[str, Any]:
    """A rule, with its help as plain text."""
    return {
        "id": named,
        "name": name,
        "shortDescription": {"text": title},
        "fullDescription": {"text": line},
        "help": {"text": words},
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": ["correctness"]},
    }


STALE_RULE = _rule(
    STALE,
    "StaleExpectation",
    "expected deviation gone stale",
    "An expected deviation no longer occurs, or has changed.",
    "Remove the entry from the file of expected deviations, or correct it: --update-expected does.",
)
ADAPTER_RULE = _rule(
    ADAPTER,
    "AdapterInDoubt",
    "the adapter seems to be wrong, not the decoder",
    "A wrong adapter of a correct decoder would show exactly these divergences.",
    "Fix the adapter, or the choice of abi=, and measure again: overlong target check examines it.",
)


def rule_of(cause: Cause) -> dict[str, Any]:
    """The rule of a code. For a code that this version does not know, the rule has only the text of the cause."""
    if cause.code in DEFECTS:
        defect = DEFECTS[cause.code]
        title, line, section = f"{defect.title} accepted", defect.line, defect.section
        text, effect, seen = defect.paragraph, defect.effect, ", ".join(defect.cves)
        tags = ["correctness", "security", *(f"external/cwe/cwe-{number}" for number in defect.cwe)]
    elif cause.code in KINDS:
        kind = KINDS[cause.code]
        title, line, section, text, effect, seen = kind.title, kind.title, kind.section, kind.paragraph, "", ""
        tags = ["correctness"]
    else:
        title, line, section = shown(cause.title), shown(cause.title), shown(cause.section)
        text, effect, seen, tags = title, "", "", ["correctness"]
    facts = [f"{name}: {fact}" for name, fact in (("Section", section), ("Effect", effect), ("Seen in", seen)) if fact]
    rule = _rule(
        shown(cause.code, 60) or "?",
        "".join(word.capitalize() for word in re.findall(r"[A-Za-z0-9]+", title)) or "Unknown",
        message_text(title),
        message_text(line),
        _braces("\n\n".join((text, *facts))),
    )
    rule["properties"] = {"tags": tags, "precision": "very-high"}
    if cause.code in DEFECTS or cause.code in KINDS:  # this text is overlong's own, so it is safe as Markdown
        rule["help"]["markdown"] = _braces("\n".join((text, "", *(f"- {fact}" for fact in facts))))
    if address := next((address for _, address in section_links(section) if address), ""):
        rule["helpUri"] = address
    return rule


def related(rules: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The taxonomies of these rules: CWE, if a rule finds a weakness. Each rule gets its indices in the taxonomy."""
    found = [(rule, DEFECTS[rule["id"]].cwe) for rule in rules if rule["id"] in DEFECTS]
    weaknesses = sorted({number for _, numbers in found for number in numbers})
    for rule, numbers in found:
        if numbers:
            rule["relationships"] = [
                {
                    "target": {
                        "id": str(number),
                        "index": weaknesses.index(number),
                        "toolComponent": {"name": CWE, "index": 0},
                    },
                    "kinds": ["relevant"],
                }
                for number in numbers
            ]
    taxonomy: dict[str, Any] = {
        "name": CWE,
        "organization": "MITRE",
        "informationUri": "https://cwe.mitre.org/",
        "shortDescription": {"text": "The MITRE Common Weakness Enumeration"},
        "isComprehensive": False,
        "taxa": [{"id": str(number), "helpUri": weakness(number)} for number in weaknesses],
    }
    return [taxonomy] if weaknesses else []


def _braces(words: str) -> str:
    return words.replace("{", "{{").replace("}", "}}")


SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
ANCHOR = "overlong-vectors.jsonl"
"""The file of the results' locations, from the root of the repository."""
RUNS, RESULTS, SIZE = 20, 5000, 9_000_000
"""GitHub's limits: runs in a file; shown results of a run; and octets, of 10 million, that this module uses."""
_BASELINE = {
    Standing.REGRESSED: "new",
    Standing.NEW: "new",
    Standing.CHANGED: "updated",
    Standing.SAME: "unchanged",
}
_INDENTED = 1000
"""The most octets that indentation adds to a result or a rule."""
_NOTES = 100
"""The most notes of a target."""
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def sarif(report: Report) -> str:
    """The report as a SARIF log: a run for each target, or one run for all if GitHub does not take so many."""
    subjects = report.subjects
    groups = [subjects] if len(subjects) > RUNS or not subjects else [(subject,) for subject in subjects]
    room = SIZE
    runs: list[dict[str, Any]] = []
    for group in groups:
        run, room = _run(report, group, room)
        runs.append(run)
    text = json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": runs}, indent=1)
    # a runner of CI jobs takes "##[" anywhere in a line of a log for a command
    return text.replace("##[", "#\\u0023[") + "\n"


def fingerprint(subject: Subject, cause: Cause, place: int = 1) -> str:
    """The stable name of a target's cause in every run; ``place`` distinguishes causes of one key."""
    return _digest([subject.id, cause.key, *([place] * (place > 1))])


def _digest(named: list[Any]) -> str:
    return hashlib.sha256(json.dumps(named).encode("utf-8", "surrogatepass")).hexdigest()


@cache
def _vectors() -> tuple[str, int, dict[str, tuple[int, str]]]:
    """The file of the results' locations: its digest, its size, and for each vector its line, from 1, and the text.

    It is generated, not read, since every copy of it is equal.
    """
    from overlong.conformance.vectors.export import Selection, export

    stream = io.BytesIO()
    export(Selection(), "jsonl", None, stream)
    written = stream.getvalue()
    lines: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(written.decode("ascii").splitlines(), 1):
        named = json.loads(line).get("id")
        if isinstance(named, str):
            lines[named] = number, line
    return hashlib.sha256(written).hexdigest(), len(written), lines


def _run(report: Report, subjects: tuple[Subject, ...], room: int) -> tuple[dict[str, Any], int]:
    """One run, and the number of octets left for others."""
    rules: dict[str, dict[str, Any]] = {}
    results: list[dict[str, Any]] = []
    left_out = 0
    for subject in subjects:
        for result, rule in _results(report, subject):
            size = len(json.dumps(result)) + _INDENTED
            if rule["id"] not in rules:
                size += len(json.dumps(rule)) + _INDENTED
            if len(results) >= RESULTS or size > room:
                left_out += 1
                continue
            room -= size
            rules.setdefault(rule["id"], rule)
            results.append(result)
    order = {name: place for place, name in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = order[result["ruleId"]]
    taxonomies = related(rules.values())
    digest, octets, _ = _vectors()
    driver: dict[str, Any] = {"name": "overlong", "rules": list(rules.values())}
    if version := re.search(r"(?<!\d)\d++(\.\d+)+\S*", report.generator):
        driver["version"] = shown(version[0])
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "automationDetails": {"id": _automation(report, subjects)},
        "invocations": [_invocation(report, subject, left_out) for subject in subjects] or [_nothing(report)],
        "artifacts": [
            {
                "location": {"uri": ANCHOR, "uriBaseId": "%SRCROOT%"},
                "length": octets,
                "mimeType": "application/jsonl",
                "hashes": {"sha-256": digest},
                "description": {
                    "text": f"Test vectors, as 'overlong vectors export --format jsonl -o {ANCHOR}' writes them."
                },
            }
        ],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {"overlong": [_properties(subject, report.kind) for subject in subjects]},
    }
    if taxonomies:
        driver["supportedTaxonomies"] = [{"name": CWE, "index": 0}]
        run["taxonomies"] = taxonomies
    return run, room


def _automation(report: Report, subjects: tuple[Subject, ...]) -> str:
    """The category of the run; its last part, the run's own name, is empty. Other runs of a target have the same."""
    name = report.kind.value if len(subjects) != 1 else subjects[0].id
    profile = subjects[0].profile if subjects else "none"
    return "/".join(("overlong", *(shown(each).replace("/", "\N{FRACTION SLASH}") for each in (profile, name)), ""))


def _results(report: Report, subject: Subject) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Each result of a target, and its rule."""
    made: list[tuple[dict[str, Any], dict[str, Any]]] = []
    seen: dict[str, int] = {}
    new: dict[str, Any] = {"suppressions": [], **({"baselineState": "new"} if report.kind is ReportKind.DIFF else {})}
    if subject.sign and subject.causes:  # it stands for all causes, which it explains
        text = message_text(f"{subject.id}: look at the adapter first: {subject.sign}.")
        result = _result(ADAPTER_RULE, "error", text, _digest([subject.id, ADAPTER]), subject, subject.causes[0])
        made.append((result | new, ADAPTER_RULE))
    for cause in subject.told:
        seen[cause.key] = seen.get(cause.key, 0) + 1  # causes of one key differ by their order
        if cause.standing is Standing.FIXED:
            continue
        rule = rule_of(cause)
        digest = fingerprint(subject, cause, seen[cause.key])
        result = _result(rule, _level(cause), _message(subject, cause), digest, subject, cause) | {
            "occurrenceCount": max(cause.count, 1),
            # all results of a run have the member, or none (section 3.27.23)
            "suppressions": [] if excused(cause) is None else [_suppression(cause)],
            "properties": {"claim": shown(cause.claim), "standing": cause.standing.value, "finding": shown(cause.id)},
        }
        if report.kind is ReportKind.DIFF:
            result["baselineState"] = _BASELINE.get(cause.standing, "unchanged")
        made.append((result, rule))
    for cause in subject.stale:
        text = message_text(f"{subject.id}: expected, but no longer seen: {cause.code} {cause.title}: {cause.reason}")
        digest = _digest([subject.id, cause.key, cause.vector, cause.observed, STALE])
        result = _result(STALE_RULE, "error", text, digest, subject, cause)
        made.append((result | new, STALE_RULE))
    return made


def _result(rule: dict[str, Any], level: str, text: str, digest: str, subject: Subject, cause: Cause) -> dict[str, Any]:
    """What every result has; ``digest``: its fingerprint."""
    return {
        "ruleId": rule["id"],
        "level": level,
        "message": {"text": text},
        **_located(subject, cause),
        "partialFingerprints": {"overlongCause/v1": digest, "primaryLocationLineHash": f"{digest[:16]}:1"},
    }


def _level(cause: Cause) -> str:
    """The level of a result."""
    if is_fault(cause):
        return "error"
    return "warning" if cause.standing in (Standing.SAME, Standing.CHANGED) and excused(cause) is None else "note"


def _suppression(cause: Cause) -> dict[str, Any]:
    words = " ".join(filter(None, (excused(cause), cause.link)))
    return {"kind": "external", "status": "accepted", "justification": shown(words or "an expected deviation", 1000)}


def _located(subject: Subject, cause: Cause) -> dict[str, Any]:
    """The location of a cause's vector."""
    _, _, lines = _vectors()
    line, text = lines.get(cause.vector, (1, ""))
    region: dict[str, Any] = {"startLine": line}
    if text and len(text) <= 2000:
        region["snippet"] = {"text": text}
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": ANCHOR, "uriBaseId": "%SRCROOT%", "index": 0},
            "region": region,
        },
        "logicalLocations": [
            {
                "name": shown(cause.vector) or "?",
                "fullyQualifiedName": f"{shown(subject.id)}::{shown(cause.vector)}",
                "kind": "testVector",
            }
        ],
    }
    return {"locations": [place]}


def _message(subject: Subject, cause: Cause) -> str:
    where = f" ({cause.place})" if cause.place else ""
    more = f" {thousands(cause.count)} divergences have this cause." if cause.count > 1 else ""
    told = dict(cause.more)
    why = f"{told[SENTENCE]}: " if SENTENCE in told else ""
    answers = f"expected {cause.expected}, observed {observed(cause)}"
    words = f"{subject.id}: {cause.title}{where}: {why}{given(cause)}: {answers}."
    again = command_lines(cause.reproduce, "Reproduce: ") if cause.reproduce else []
    return "\n".join(
        (*prose_lines(message_text(f"{words}{more}", 4000)), *(message_text(line, len(line)) for line in again))
    )


def _invocation(report: Report, subject: Subject, left_out: int) -> dict[str, Any]:
    """The course of the measurement."""
    measured = subject.state not in (State.INCOMPLETE, State.NOT_MEASURED) and not report.incomplete
    told = [("error", words) for words in (report.incomplete, "" if measured else subject.why) if words]
    told += [("note", note) for note in subject.notes[:_NOTES]]
    if left_out:
        told.append(("warning", f"{left_out} results are left out because of the limits of code scanning"))
    invocation: dict[str, Any] = {
        "executionSuccessful": measured,
        "toolExecutionNotifications": [
            {"level": level, "message": {"text": message_text(words)}} for level, words in told
        ],
    }
    if subject.command:
        invocation["commandLine"] = printable(subject.command, len(subject.command))
    if report.kind is not ReportKind.DIFF:  # a diff, whose exit code depends on --fail-on
        code = exit_code_of(subject.state, len(subject.stale))
        invocation |= {"exitCode": code, "exitCodeDescription": verdict(subject, report.kind)}
    if _TIME.fullmatch(report.time):
        invocation["startTimeUtc"] = report.time
    return invocation


def _nothing(report: Report) -> dict[str, Any]:
    """The invocation of a report without any target."""
    words = message_text(report.incomplete or "no target")
    return {
        "executionSuccessful": False,
        "toolExecutionNotifications": [{"level": "error", "message": {"text": words}}],
    }


def _properties(subject: Subject, kind: ReportKind) -> dict[str, Any]:
    """Further properties of a target."""
    return {
        "target": shown(subject.id),
        "name": shown(subject.name),
        "version": shown(subject.version),
        "language": shown(subject.language),
        "profile": shown(subject.profile),
        "digest": shown(subject.digest),
        "state": subject.state.value,
        "verdict": verdict(subject, kind),
        "claims": {shown(claim): shown(state) for claim, state in subject.claims.items()},
        "unexpected": len(faults(subject)),
        "notCovered": [shown(words) for words in subject.not_covered[:_NOTES]],
    }
