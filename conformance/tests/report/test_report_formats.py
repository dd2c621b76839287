"""Markdown, JUnit, SARIF and the badge: other people's readers take them, and hostile text stays text in all."""

import html
import io
import json
import re
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import jsonschema
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from overlong.conformance.certification.certify import certify
from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.report import markdown as in_markdown
from overlong.conformance.report import sarif as in_sarif
from overlong.conformance.report.ci import GREEN, badge, junit
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.report.markdown import issue, issues, markdown
from overlong.conformance.report.sarif import ANCHOR, RUNS, sarif
from overlong.conformance.report.wording import faults
from overlong.conformance.results.difference import difference
from overlong.conformance.results.model import Cause, Report, ReportKind, ReportPart, Standing, State, Subject
from overlong.conformance.results.reading import read
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.export import Selection, export

junitparser = pytest.importorskip("junitparser", reason="JUnit's XML is read by junitparser")
etree = pytest.importorskip("lxml.etree", reason="XML is read by lxml")
MarkdownIt = pytest.importorskip("markdown_it", reason="Markdown is read by markdown-it-py").MarkdownIt

OTHERS = Path(__file__).parents[1] / "schemas_of_others"
HOSTILE = (
    "<script>alert(1)</script>", "\x1b]0;owned\x07", "a|b\\|c\\", "`tick` ``", "@everyone", "fix #1", "GH-12",
    "https://evil.example/", "www.evil.example", "\n::error::x", "::set-output::", "##[error]x", "]]>", "&amp;", "<!--",
    "\u202egnp", "\x00\ufffe\ud800", "[x](javascript:x)", "{0}", "![i](x)", " lead", "trail ", "~~s~~", "*_b_*",
    "\r\n| a |", "</code></pre>", ":bomb:", "0123456789abcdef", "", "  ", "---", "$x$", "a\u200bb",
)  # fmt: skip
TEXT = st.one_of(
    st.sampled_from(HOSTILE), st.text(max_size=30), st.lists(st.sampled_from(HOSTILE), max_size=3).map("".join)
)
CODES = st.one_of(st.sampled_from(["OV101", "OV201", "OV202", "OV204", "OV401", "OV703"]), TEXT)
VECTORS = st.one_of(st.sampled_from(["surrogate/eda080", "overlong/e080af", "complete/fe80"]), TEXT)
CAUSES = st.builds(
    Cause, code=CODES, title=TEXT, section=st.one_of(st.just("RFC 3629 §3"), TEXT), place=TEXT,
    claim=st.one_of(st.sampled_from(list(CLAIMS)), TEXT), count=st.integers(1, 10**9), id=TEXT, vector=VECTORS,
    octets=st.binary(max_size=40), operation=TEXT, expected=TEXT, observed=TEXT,
    chunks=st.none() | st.tuples(st.integers(0, 9), st.integers(0, 9)), earlier=st.none() | st.just((b"\xe2", b"")),
    comment=TEXT, reproduce=TEXT, standing=st.sampled_from(Standing), reason=TEXT, link=TEXT,
    more=st.lists(st.tuples(TEXT, TEXT), max_size=1).map(tuple),
)  # fmt: skip
STATES = st.one_of(st.sampled_from(["holds", "fails", "not measured"]), TEXT)
PARTS = st.builds(
    ReportPart, name=TEXT, shows=TEXT, asked=st.integers(0, 99), all=st.integers(0, 99), failing=st.integers(0, 9)
)
SUBJECTS = st.builds(
    Subject, id=TEXT, state=st.sampled_from(State), why=TEXT, name=TEXT, version=TEXT, language=TEXT, digest=TEXT,
    profile=TEXT, command=TEXT,
    claims=st.dictionaries(st.one_of(st.sampled_from(list(CLAIMS)), TEXT), STATES, max_size=3),
    parts=st.lists(PARTS, max_size=1).map(tuple), causes=st.lists(CAUSES, max_size=3).map(tuple),
    stale=st.lists(CAUSES, max_size=1).map(tuple), not_covered=st.lists(TEXT, max_size=1).map(tuple),
    notes=st.lists(TEXT, max_size=2).map(tuple), seconds=st.floats(0, 1e5),
    categories=st.dictionaries(TEXT, st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=2),
    recorded=st.dictionaries(TEXT, TEXT, max_size=1),
)  # fmt: skip
REPORTS = st.builds(
    Report, kind=st.sampled_from(ReportKind), title=TEXT, generator=st.one_of(st.just("overlong 0.1.0"), TEXT),
    subjects=st.lists(SUBJECTS, max_size=2).map(tuple), environment=st.dictionaries(TEXT, TEXT, max_size=1),
    time=st.one_of(st.just("2026-11-22T04:37:50Z"), TEXT), notes=st.lists(TEXT, max_size=1).map(tuple), incomplete=TEXT,
)  # fmt: skip
ONE = Cause(
    code="OV202", title="surrogate accepted", section="RFC 3629 §3", place="", claim="verdict", count=452,
    id="D-a0bad11a", vector="surrogate/eda080", octets=b"\xed\xa0\x80", operation="D", expected="reject at 0, 1 octet",
    observed="accepted U+D800", reproduce="overlong replay surrogate/eda080 x",
)  # fmt: skip
ALL = "".join(HOSTILE)
EVIL = replace(ONE, code=ALL, title=ALL, place=ALL, claim=ALL, vector=ALL, expected=ALL, reproduce=ALL)
evil = example(Report(ReportKind.CERTIFY, "t", "g", (Subject(ALL, State.DIVERGES, causes=(ONE, EVIL)),)))
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def of(*causes, kind=ReportKind.CERTIFY, state=State.DIVERGES, **more):
    """A report of one target with these causes."""
    return Report(kind, "x", "overlong 0.1.0", (Subject("x", state, causes=causes, **more),))


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """What a decoder that lets surrogates pass leaves behind."""
    folder = tmp_path_factory.mktemp("measured")
    certify("cpython-surrogatepass", suites=["core", "encoder-edges"], plans=(), output=folder)
    return read([folder])


# Markdown


def inline(words):
    """The tokens of one line of Markdown, as (kind, text) without what is only structure."""
    (block,) = [token for token in MarkdownIt("commonmark").enable("table").parse(words) if token.type == "inline"]
    found, within = [], False
    for token in block.children or ():
        if token.type == "html_inline":
            assert token.content in ("<code>", "</code>"), token.content
            within = token.content == "<code>"
        else:
            kind = "code_inline" if within or token.type == "code_inline" else token.type
            found.append((kind, token.content))
    return found


@settings(max_examples=200, deadline=None)
@given(TEXT)
@example("a `b` |")
def test_hostile_text_stays_text_in_markdown_and_pings_nobody(words):
    for made in (in_markdown.text(words), in_markdown.code(words)):
        if not made:
            assert not printable(words).strip()
            continue
        assert "|" not in made
        assert "\n" not in made
        assert "##[" not in made
        tokens = inline(f"words {made}")
        assert {kind for kind, _ in tokens} <= {"text", "code_inline", "text_special"}
        assert "".join(text for _, text in tokens).removeprefix("words").strip() == printable(words).strip()
        outside = "".join(text for kind, text in tokens if kind != "code_inline")
        assert not re.search(r"[@#<>&`]|://|www\.|:\w+:|GH-\d", outside)


@pytest.mark.long
@few
@given(REPORTS)
@evil
@example(of(replace(ONE, reproduce="&amp;")))  # a fence shows it as it is
def test_markdown_has_the_structure_that_was_meant(report):
    written = markdown(report)
    assert markdown(report) == written
    assert all(character.isprintable() or character == "\n" for character in written)
    parser = MarkdownIt("commonmark").enable("table")
    columns = 0
    for line in written.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        if not line.startswith("|"):
            columns = 0
            continue
        columns = columns or line.count("|")
        assert line.count("|") == columns
        assert "\\" not in line
    for token in parser.parse(written):
        if token.type == "html_block":
            assert re.fullmatch(r"<pre><code>[^<>]*</code></pre>\s*", token.content)
        for child in token.children or ():
            assert child.type not in ("link_open", "image", "em_open")
            assert child.type != "html_inline" or child.content in ("<code>", "</code>")
    for subject in report.subjects:
        for cause in subject.causes:
            if (
                cause.reproduce.strip()
                and report.kind is ReportKind.CERTIFY
                and len(report.subjects) == 1
                and cause in faults(subject)
            ):
                shown = [
                    token.content if token.type == "fence" else html.unescape(token.content)
                    for token in parser.parse(written)
                    if token.type in ("fence", "html_block")
                ]
                assert any(printable(cause.reproduce) in each for each in shown)


def test_markdown_says_all_of_a_real_run(measured):
    written = markdown(measured)
    assert written.startswith("## ✗ `cpython-surrogatepass` (CPython ")
    assert ": NOT CONFORMANT\n" in written
    assert "| input | `ED A0 80` |\n| expected | reject at 0, 1 octet |\n| observed | accepted U+D800 |" in written
    assert "```sh\noverlong replay surrogate/eda080 cpython-surrogatepass\n```" in written
    assert "**No certificate:** only part of the suites ran" in written
    assert "**Not covered**" in written


def test_issues_for_maintainers_hold_hostile_text_as_text():
    assert issues(of()) == "Nothing diverges, so there is nothing to report.\n"
    text = issues(
        Report(ReportKind.CERTIFY, "t", "g", (Subject(ALL, State.DIVERGES, causes=(ONE, EVIL), version=ALL),))
    )
    assert "RFC 3629 §3](https" in text
    assert "<script" not in text
    assert "\x1b" not in text


@pytest.mark.parametrize("name", sorted(FORMATS.keys() - {"json", "badge"}))
def test_octets_that_came_through_are_called_octets_in_every_format(name):
    passing = replace(ONE, octets=b"\xc2", observed="accepted U+DCC2", expected="reject at 0, 1 octet, incomplete")
    shown = FORMATS[name].render(of(passing))
    assert "passes C2 through" in html.unescape(shown).replace("\N{NO-BREAK SPACE}", " ")
    assert "U+DCC2" not in shown


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_unknown_is_shown_as_it_is(name):
    """Files of a newer version, or damaged ones, have codes and operations that nobody knows here."""
    text = FORMATS[name].render(of(replace(ONE, code="OV999", octets=b"\xc0\xaf\x41"), claims={"verdict": "fails"}))
    assert name == "badge" or "OV999" in text
    assert "KeyError" not in text
    for operation in ("", "E", "F", "Z", "Q"):  # of an encoder, three octets are no number of anything
        assert FORMATS[name].render(of(replace(ONE, octets=b"\xc0\xaf\x41", operation=operation)))


def test_an_issue_about_an_encoder_names_what_it_was_to_write():
    units = replace(ONE, operation="F", octets=b"\xd8\x00\x00\x41", code="OV703", claim="encoder")
    assert "(`U+D800 U+0041`)" in issue(Subject("x", State.DIVERGES), units)
    numbers = replace(units, operation="E", octets=b"\x00\x11\x00\x00")
    assert "- input: `U+110000`" in issue(Subject("x", State.DIVERGES), numbers)


def test_markdown_is_cut_with_words():
    causes = tuple(replace(ONE, place=str(number), comment="long " * 60) for number in range(20))
    report = Report(
        ReportKind.MATRIX,
        "many",
        "overlong 0.1.0",
        tuple(Subject(f"d{n}", State.DIVERGES, causes=causes) for n in range(800)),
    )
    written = markdown(report)
    assert len(written.encode()) <= 1 << 20
    assert "**Cut here:**" in written.splitlines()[-1]
    for limit in range(1000, 9000, 500):
        assert len(markdown(report, limit=limit).encode()) <= limit
    assert "Cut here" not in markdown(of(*causes))


# JUnit


@cache
def jenkins():
    return etree.XMLSchema(etree.parse(OTHERS / "junit-10.xsd"))


@pytest.mark.long
@few
@given(REPORTS)
@evil
def test_junit_is_valid_and_counts_right(report):
    written = junit(report)
    assert junit(report) == written
    assert "##[" not in written
    jenkins().assertValid(etree.fromstring(written.encode()))
    parsed = junitparser.JUnitXml.fromstring(written.encode())
    cases = [case for suite in parsed for case in suite]
    kinds = [type(result) for case in cases for result in case.result]
    assert parsed.tests == len(cases)
    assert parsed.failures == kinds.count(junitparser.Failure)
    assert parsed.errors == kinds.count(junitparser.Error)
    assert sum(suite.skipped for suite in parsed) == kinds.count(junitparser.Skipped)
    for subject, suite in zip(report.subjects, parsed, strict=False):
        named = [case for case in suite if case.classname.endswith(".divergences")]
        assert len(named) == len(subject.causes)
        failing = sum(isinstance(result, junitparser.Failure) for case in named for result in case.result)
        assert failing == len(faults(subject))
    for line in written.splitlines():
        assert not line.lstrip().startswith("::")


def outcomes(report):
    """How each case ends: ``{name: (kind, message)}``."""
    parsed = junitparser.JUnitXml.fromstring(junit(report).encode())
    return {
        f"{case.classname}: {case.name}": (type(case.result[0]).__name__, case.result[0].message)
        if case.result
        else "passed"
        for suite in parsed
        for case in suite
    }


def test_junit_as_people_who_know_xfail_expect_it():
    expected = replace(ONE, standing=Standing.EXPECTED, reason="of old")
    stale = replace(ONE, code="OV201", title="overlong form accepted", reason="was so")
    report = of(
        expected, state=State.EXPECTED, stale=(stale,),
        claims={"verdict": "fails", "scalars": "holds", "encoder": "not measured"},
        categories={"surrogate": (9, 2), "overlong": (5, 0), "streams": (0, 0)},
    )  # fmt: skip
    assert outcomes(report) == {
        "x: measured wholly": "passed",
        "x.claims: verdict": ("Skipped", "fails only as expected"),
        "x.claims: scalars": "passed",
        "x.claims: encoder": ("Skipped", "not measured"),
        "x.categories: surrogate": ("Skipped", "2 of 9 vectors go wrong, as expected"),
        "x.categories: overlong": "passed",
        "x.categories: streams": ("Skipped", "nothing of it was tested"),
        "x.divergences: OV202 surrogate accepted [verdict]": ("Skipped", "expected: of old"),
        "x.expected: OV201 overlong form accepted: surrogate/eda080": (
            "Failure",
            "expected, but no longer seen: was so",
        ),
    }
    unexpected = outcomes(of(ONE, claims={"verdict": "fails"}, categories={"surrogate": (9, 2)}))
    assert {name for name, how in unexpected.items() if how != "passed"} == set(unexpected) - {"x: measured wholly"}
    assert outcomes(of(state=State.NOT_MEASURED, why="gone")) == {"x: measured wholly": ("Error", "gone")}
    assert outcomes(of(state=State.NOTHING, why="odd")) == {"x: measured wholly": ("Skipped", "odd")}
    assert outcomes(replace(of(state=State.CONFORMS), incomplete="cut"))["overlong: measured wholly"] == (
        "Error",
        "cut",
    )


def test_junit_names_do_not_change_with_counts_or_examples():
    other = replace(ONE, count=7, octets=b"\xed\xbf\xbf", vector="surrogate/edbfbf", id="D-0")
    assert list(outcomes(of(ONE, ONE))) == list(outcomes(of(other, other)))
    assert len(outcomes(of(ONE, ONE))) == 3


# SARIF


@cache
def schema():
    read_in = json.loads((OTHERS / "sarif-2.1.0.schema.json").read_text("ascii"))
    return jsonschema.Draft7Validator(read_in, format_checker=jsonschema.FormatChecker())


@settings(few, max_examples=25)
@given(REPORTS)
@evil
def test_sarif_is_valid_and_code_scanning_takes_it(report):
    written = sarif(report)
    assert sarif(report) == written
    assert "##[" not in written
    log = json.loads(written)
    schema().validate(log)
    assert 1 <= len(log["runs"]) <= RUNS
    for run in log["runs"]:
        assert {len(result["locations"]) for result in run["results"]} <= {1}
        ids = [result["partialFingerprints"]["primaryLocationLineHash"] for result in run["results"]]
        assert len(set(ids)) == len(ids) or len({subject.id for subject in report.subjects}) < len(report.subjects)
        for result in run["results"]:
            assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
            assert not re.search(r"(?<!\{)\{(\{\{)*(?!\{)", result["message"]["text"])
            assert "](" not in result["message"]["text"]
    kept = [cause for subject in report.subjects for cause in subject.causes if cause.standing is not Standing.FIXED]
    stale = sum(len(subject.stale) for subject in report.subjects)
    assert sum(len(run["results"]) for run in log["runs"]) == len(kept) + stale
    errors = sum(result["level"] == "error" for run in log["runs"] for result in run["results"])
    assert errors == sum(len(faults(subject)) for subject in report.subjects) + stale


def test_a_sarif_result_stands_where_its_vector_does(measured):
    stream = io.BytesIO()
    export(Selection(), "jsonl", None, stream)
    lines = stream.getvalue().decode().splitlines()
    (run,) = json.loads(sarif(measured))["runs"]
    assert run["artifacts"][0]["length"] == len(stream.getvalue())
    found = {}
    for result in run["results"]:
        (place,) = result["locations"]
        physical, (logical,) = place["physicalLocation"], place["logicalLocations"]
        assert physical["artifactLocation"]["uri"] == ANCHOR
        record = json.loads(lines[physical["region"]["startLine"] - 1])
        found[result["ruleId"]] = record.get("id"), logical["name"]
        assert record.get("id", logical["name"]) == logical["name"]
    assert found["OV202"] == ("surrogate/eda080", "surrogate/eda080")
    assert found["OV703"] == (None, "encoding/0000d800")  # no vector of that file: at its header
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["OV202"]["relationships"][0]["target"]["id"] == "176"
    assert "external/cwe/cwe-176" in rules["OV202"]["properties"]["tags"]
    assert rules["OV202"]["helpUri"] == "https://www.rfc-editor.org/rfc/rfc3629#section-3"
    assert run["invocations"][0]["exitCode"] == 1
    assert run["invocations"][0]["executionSuccessful"] is True


def prints(report):
    return [result["partialFingerprints"] for run in json.loads(sarif(report))["runs"] for result in run["results"]]


@settings(few, max_examples=20)
@given(CAUSES, CAUSES)
def test_fingerprints_stay_whatever_the_counts_and_examples(cause, other):
    cause = replace(cause, standing=Standing.UNEXPECTED)
    again = replace(
        other,
        code=cause.code,
        place=cause.place,
        claim=cause.claim,
        standing=Standing.UNEXPECTED,
        count=cause.count + 1,
    )
    assert prints(of(cause)) == prints(of(again))
    assert prints(of(cause, cause))[0] != prints(of(cause, cause))[1]
    assert prints(of(cause)) != prints(of(replace(cause, place=cause.place + "x")))


def test_expected_deviations_are_suppressed_and_all_results_say_whether_they_are():
    expected = replace(ONE, code="OV203", standing=Standing.EXPECTED, reason="of old", link="https://issues.example/1")
    (run,) = json.loads(sarif(of(ONE, expected)))["runs"]
    first, second = run["results"]
    assert (first["level"], first["suppressions"]) == ("error", [])
    assert second["level"] == "note"
    assert second["suppressions"][0]["kind"] == "external"
    assert second["suppressions"][0]["justification"] == "of old https://issues.example/1"


def test_a_sign_that_explains_nothing_is_no_result():
    (run,) = json.loads(sarif(of(sign="its results are inverted")))["runs"]
    assert not run["results"]


def test_limits_of_code_scanning(monkeypatch):
    assert in_sarif.RESULTS <= 5000
    assert in_sarif.SIZE < 10_000_000
    monkeypatch.setattr(in_sarif, "RESULTS", 50)
    causes = tuple(replace(ONE, place=str(number)) for number in range(53))
    (run,) = json.loads(sarif(of(*causes)))["runs"]
    assert len(run["results"]) == 50
    told = run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"]
    assert told.startswith("3 results are left out")
    monkeypatch.setattr(in_sarif, "SIZE", 100_000)
    long = [replace(ONE, place=f"{number} {'p' * 300}", expected="e" * 2000) for number in range(40)]
    assert 50_000 < len(sarif(of(*long))) < 105_000
    subjects = tuple(Subject(f"d{number}", State.DIVERGES, causes=(ONE,)) for number in range(RUNS + 1))
    for some, runs in ((subjects[:RUNS], RUNS), (subjects, 1)):
        log = json.loads(sarif(Report(ReportKind.MATRIX, "m", "overlong 0.1.0", some)))
        assert len(log["runs"]) == len({run["automationDetails"]["id"] for run in log["runs"]}) == runs
        assert sum(len(run["results"]) for run in log["runs"]) == len(some)


# A diff


def test_a_diff_fails_where_something_became_worse(measured):
    now = measured
    (subject,) = now.subjects
    before = replace(now, subjects=(replace(subject, causes=subject.causes[1:], state=State.DIVERGES),))
    for older, newer, worse in ((before, now, 1), (now, before, 0), (now, now, 0)):
        report = difference(older, newer)
        failing = [name for name, how in outcomes(report).items() if how[0] == "Failure"]
        assert len(failing) == worse
        levels = [result["level"] for run in json.loads(sarif(report))["runs"] for result in run["results"]]
        assert levels.count("error") == worse
        assert json.loads(badge(report))["message"] == ("1 regression" if worse else "no regression")
        assert ("### Regressed" in markdown(report)) is bool(worse)


# The badge


@few
@given(REPORTS)
@evil
def test_badge_is_what_shields_takes_and_green_for_nothing_less_than_all(report):
    written = json.loads(badge(report))
    assert written.keys() == {"schemaVersion", "label", "message", "color"}
    assert (written["schemaVersion"], written["label"]) == (1, "UTF-8")
    assert written["message"].isprintable()
    assert 0 < len(written["message"]) < 90
    if written["color"] == GREEN:
        assert not report.incomplete
        assert report.subjects
        for subject in report.subjects:
            assert not faults(subject)
            assert report.kind is ReportKind.DIFF or (subject.state is State.CONFORMS and not subject.stale)


def words(report):
    return tuple(json.loads(badge(report))[name] for name in ("message", "color"))


def test_badges_on_the_page_are_real():
    page = (Path(__file__).parents[3] / "docs" / "ci.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*) \| (green|blue|red|orange|grey) \|$", page, re.MULTILINE)
    said = {message: colour for cell, colour in rows for message in re.findall("`([^`]+)`", cell)}
    fine, ok, bad = of(state=State.CONFORMS), Subject("a", State.CONFORMS), Subject("b", State.DIVERGES)
    reports = [
        fine,
        of(state=State.CONFORMS, why="only part of the suites ran"),
        of(replace(ONE, standing=Standing.EXPECTED), state=State.EXPECTED),
        of(ONE, ONE, ONE),
        of(stale=(ONE,)),
        of(replace(ONE, claim="error mode"), state=State.EXCEPT),
        of(ONE, sign="its results are inverted"),
        Report(ReportKind.MATRIX, "m", "g", (*[ok] * 38, bad, bad)),
        of(replace(ONE, standing=Standing.REGRESSED), kind=ReportKind.DIFF),
        *(of(state=state) for state in (State.INCOMPLETE, State.NOT_MEASURED, State.NOTHING)),
    ]
    assert said == {
        message: colour.replace("brightgreen", "green").replace("light", "") for message, colour in map(words, reports)
    }


def test_badges_of_several():
    ok = Subject("a", State.CONFORMS)
    assert words(Report(ReportKind.MATRIX, "m", "g", (ok, ok))) == ("rfc3629@1 2 decoders conformant", "brightgreen")
    bad = replace(ok, state=State.DIVERGES)
    assert words(Report(ReportKind.MATRIX, "m", "g", (ok, bad, ok))) == ("1 of 3 diverge", "red")
    for kind, state in product(ReportKind, set(State) - {State.CONFORMS}):
        if kind is not ReportKind.DIFF:
            assert words(Report(kind, "m", "g", (ok, replace(ok, state=state))))[1] != GREEN
        assert words(replace(of(state=state, kind=kind), incomplete="cut"))[1] == "orange"
