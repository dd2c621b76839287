"""Reports: what was measured is read back from its files as it was, damaged files say so, and formats agree."""

from __future__ import annotations

import base64
import json
import os
import time
import zlib
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.certification.certify import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.observation import MEMORY
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.report.terminal import summary
from overlong.conformance.report.text import text
from overlong.conformance.results.certificate import CERTIFICATE
from overlong.conformance.results.model import (
    NOT_MEASURED,
    Cause,
    Drawing,
    Map,
    Moment,
    Report,
    ReportKind,
    ReportPart,
    Standing,
    State,
    Subject,
)
from overlong.conformance.results.reading import data, looks_clean, read
from overlong.conformance.results.records import ReportError
from overlong.conformance.results.results_file import RESULTS, report_of_run
from overlong.conformance.support.provenance import portable
from zoo import ZOO

SUITES = ("core", "streams", "used-before", "encoder-edges")
TARGETS = (
    "cpython",
    f"py:{ZOO}/known_wrong.py:overlong_slash",
    f"py:{ZOO}/known_wrong.py:one_for_each_octet",
    f"py:{ZOO}/known_wrong.py:LosesTwoOfFour",
    f"py:{ZOO}/known_wrong.py:KeepsStateAfterTheEnd",
    f"py:{ZOO}/wrong_encoders.py:cesu_8_pairs",
)


def valid(name, value):
    """``value``, if it is as a schema of the package has it."""
    schema = json.loads((files("overlong.conformance") / "schemas" / f"{name}.schema.json").read_text("ascii"))
    jsonschema.Draft202012Validator(schema).validate(value)
    return value


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Folders with the results of each target, and the certificates that wrote them."""
    folders = {}
    for number, target in enumerate(TARGETS):
        folder = tmp_path_factory.mktemp("measured") / str(number)
        folders[target] = folder, certify(target, suites=SUITES, output=folder)
    return folders


@pytest.fixture(scope="module")
def wrong(measured):
    """The results of one that diverges."""
    return measured[TARGETS[1]][0] / RESULTS


def run(*words):
    return CliRunner().invoke(cli, ["report", *map(str, words)])


@pytest.mark.long_after(2)
@pytest.mark.parametrize("target", TARGETS)
def test_results_and_statement_say_what_the_certificate_says(measured, tmp_path, target):
    folder, live = measured[target]
    for line in (folder / RESULTS).read_text("ascii").splitlines():
        valid("results-1", json.loads(line))
    valid("certificate-1", json.loads(live.to_json()))
    (tmp_path / CERTIFICATE).write_text(live.to_json())
    report, stated = read([folder]), read([tmp_path / CERTIFICATE])
    (subject,), (from_statement,) = report.subjects, stated.subjects
    assert report.kind is stated.kind is ReportKind.CERTIFY
    assert subject.state is live.state is from_statement.state
    assert live.conformant == (live.state is State.CONFORMS)
    assert subject.claims == live.claims
    lines = summary(report_of_run(live), live, width=120, encoding="utf-8", every=True)
    shown = " ".join(" ".join(lines).split())
    for claim, words in subject.details.items():
        assert claim == MEMORY or f"{claim} {words}" in shown
    assert {claim for claim, state in live.claims.items() if state == NOT_MEASURED} <= subject.details.keys()
    assert (subject.not_covered, subject.why) == (tuple(live.not_covered), live.refused)
    told = [
        (each.example.id, each.example.vector.octets, each.example.vector.chunks, each.example.vector.earlier,
         each.count, each.example.expected_words, each.example.observed_words, each.example.claim)
        for each in live.run.ordered_buckets
    ]  # fmt: skip
    assert told == [
        (each.id, each.octets, each.chunks, each.earlier, each.count, each.expected, each.observed, each.claim)
        for each in subject.causes
    ]
    for cause in subject.causes:
        assert cause.reproduce.split()[:2] == ["overlong", "replay"]
        assert cause.reproduce.endswith(target)
    assert [(part.name, part.asked, part.failing) for part in subject.parts] == [
        (part.suite.name, part.done, len(part.failing)) for part in live.run.suites
    ]
    asked, failing = map(sum, zip(*subject.categories.values(), strict=True))
    assert (asked, failing) == (live.run.vectors, sum(len(part.failing) for part in live.run.suites))
    only_in_results = {"notes": (), "categories": {}, "recorded": {}, "why": ""}
    plain = portable(target)  # a certificate has no path of this machine
    assert (from_statement.id, target.startswith("py:/")) == (plain, plain != target)
    portably = {
        "id": plain,
        "command": subject.command.replace(target, plain),
        "causes": tuple(replace(each, reproduce=each.reproduce.replace(target, plain)) for each in subject.causes),
    }
    assert vars(subject) | portably | only_in_results == vars(from_statement) | only_in_results


def test_the_targets_go_wrong_in_every_way_that_a_report_tells(measured):
    causes = [cause for folder, _ in measured.values() for cause in read([folder]).subjects[0].causes]
    assert {"D", "L", "S", "N", "E"} <= {cause.operation for cause in causes}
    assert any(cause.earlier for cause in causes)
    assert any(cause.chunks for cause in causes)


def test_a_file_cut_at_any_line_tells_what_is_left_of_it(wrong, tmp_path):
    lines = wrong.read_bytes().splitlines(keepends=True)
    whole = read([wrong]).subjects[0]
    cut = tmp_path / "results.jsonl.part"
    divergences = 0
    for number in range(1, len(lines)):
        divergences += b'"record": "divergence"' in lines[number - 1]
        for torn in (b"", lines[number][: len(lines[number]) // 2], lines[number].rstrip(b"}\n")):
            cut.write_bytes(b"".join(lines[:number]) + torn)
            report = read([tmp_path])
            (subject,) = report.subjects
            assert report.incomplete
            assert subject.state is State.INCOMPLETE
            if not any(b'"record": "bucket"' in line for line in lines[:number]):
                assert sum(cause.count for cause in subject.causes) == divergences
    assert (divergences, subject.causes) == (sum(cause.count for cause in whole.causes), whole.causes)
    assert run(cut).exit_code == 4
    for start in (b"", lines[0][:50]):
        cut.write_bytes(start)
        with pytest.raises(ReportError, match=r":1: no header"):
            read([cut])


def _spoilt(lines):
    """Names of files, what is in them, and what the error must say."""
    header, footer = lines[0], lines[-1]
    deep = b"[" * 200_000
    newer = header.replace(b"overlong/results-1", b"overlong/results-2")
    bomb = base64.b64encode(zlib.compress(bytes(100_000_000), 9)).decode()
    portrait = json.dumps({"record": "portrait", "name": "E0", "answers": bomb}).encode() + b"\n"
    matrix = {"schema": "overlong/matrix-1", "generator": "overlong", "targets": [
        {"target": "x", "state": "diverges", "why": "", "folder": "../..", "language": "", "version": "", "claims": {},
         "buckets": [], "restarts": 0}]}  # fmt: skip
    yield "results.jsonl", newer, ":1: .*another version.*update"
    yield "results.jsonl", header + b'{"record": "footer"}\n', ":2: .*not as the schema has it"
    yield "results.jsonl", header + b'{"record": "divergence"}\n', ":2: .*not as the schema has it"
    yield "results.jsonl", header + b'{"record": "news"}\n', ":2: there is no such record"
    yield "results.jsonl", header + header, ":2: the header is the first line"
    yield "results.jsonl", header + footer + footer, ":3: something follows the footer"
    yield "results.jsonl", header + b"7\n", ":2: no JSON object"
    yield "results.jsonl", header + b'{"record": NaN}\n', ":2: NaN is no JSON"
    yield "results.jsonl", header + b'{"a": 1, "a": 2}\n', ':2: the member "a" occurs twice'
    yield "results.jsonl", header + b'{"a": ' + b"9" * 5000 + b"}\n", ":2: a number of 5000 digits"
    yield "results.jsonl", header + b'{"a": "\\ud800"}\n', ":2: a string with a lone surrogate"
    yield "results.jsonl", header + b'{"a": "\xff"}\n', ":2: not UTF-8"
    yield "results.jsonl", header + b'{"a": ' + deep + b"\n", ":2: more than 64 brackets"
    yield "results.jsonl", header + b" " * (5 << 20), ":2: a line of more than"
    yield "results.jsonl", header + portrait, ":2: no map"
    yield "certificate.json", b'{"_type": "https://in-toto.io/Statement/v2"}', "not as the schema has it"
    yield "certificate.json", b'{"_type": "https://in-toto.io/Statement/v1",', ":1: column"
    yield "certificate.json", deep, ":1: more than 64 brackets"
    yield "certificate.json", b"[]", ":1: no file of results"
    yield "certificate.json", b"{}", ":1: its schema is null"
    yield "sweep.json", b'{"schema": "overlong/results-9"}', ":1: .*another version"
    yield "campaign.json", b'{"schema": "overlong/campaign-1"}', "not as the schema has it"
    yield "report.json", b'{"schema": "overlong/report-1", "kind": "diff"}', "not as the schema has it"
    yield "identity.json", b'{"schema": "overlong/report-1", "target": "x"}', ":1: .*no report"
    yield "matrix.json", json.dumps(matrix).encode(), r"targets\[0\].folder: not as the schema has it"
    yield "vectors.json", b'{"schema": "overlong/vectors-1"}', ":1: .*no report"
    yield "\x1b]0;x\x07.json", b"{", r"\\x1b\]0;x\\x07\.json:1"


@pytest.mark.long
def test_what_is_no_file_of_results_is_refused_in_one_line_at_once(wrong, tmp_path):
    lines = wrong.read_bytes().splitlines(keepends=True)
    for name, octets, why in _spoilt(lines):
        path = tmp_path / name
        path.write_bytes(octets)
        started = time.process_time()  # its own: others may keep the machine busy
        with pytest.raises(ReportError, match=why) as error:
            read([path])
        assert time.process_time() - started < 1, why
        assert str(error.value).isprintable()
        result = run(path)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"overlong: {error.value}\n"
        path.unlink()


def test_what_cannot_be_read_is_named(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path, why in ((tmp_path / "none", "No such file"), (tmp_path, "no results"), (tmp_path / "pipe.json", "reg")):
        result = run(path)
        assert result.exit_code == 2
        assert why in result.stderr
        assert result.stderr.count("\n") == 1


words = st.text(max_size=12) | st.sampled_from(("<script>alert(1)</script>\x1b]0;x", "::error::a\n\u202eb", "|`@x"))
numbers = st.integers(0, 10**9)
octets = st.binary(max_size=6)
causes = st.builds(
    Cause, words, words, words, words, words, numbers, words, words, octets, st.sampled_from("VDLSTNMEFZG"), words,
    words, st.none() | st.lists(numbers, max_size=3).map(tuple), st.none() | st.lists(octets, max_size=2).map(tuple),
    words, words, st.sampled_from(Standing), words, words, st.lists(st.tuples(words, words), max_size=2).map(tuple),
)  # fmt: skip
names = st.dictionaries(words, words, max_size=2)
parts = st.builds(ReportPart, words, words, numbers, numbers, numbers, st.booleans(), numbers, words, words)
maps = st.builds(Map, words, st.sampled_from((bytes(1 << 16), bytes(range(256)) * 256)))
subjects = st.builds(
    Subject, words, st.sampled_from(State), words, words, words, words, words, words, names, words, words, words,
    st.dictionaries(words, st.sampled_from(("holds", "fails", "not measured")), max_size=3),
    st.lists(parts, max_size=2).map(tuple), st.lists(causes, max_size=2).map(tuple),
    st.lists(causes, max_size=1).map(tuple), st.lists(words, max_size=2).map(tuple),
    st.lists(words, max_size=2).map(tuple), numbers, st.floats(0, 1e6), words,
    st.dictionaries(words, st.tuples(numbers, numbers), max_size=2), st.lists(maps, max_size=1).map(tuple),
    st.none() | st.builds(Drawing, words, words), words, words, words, names, names,
).filter(lambda subject: not looks_clean(subject))  # fmt: skip
reports = st.builds(
    Report, st.sampled_from([kind for kind in ReportKind if kind is not ReportKind.DIFF]), words, words,
    st.lists(subjects, max_size=2).map(tuple), names, words,
    st.lists(st.builds(Moment, st.floats(0, 1e6), numbers, numbers, numbers), max_size=2).map(tuple),
    st.lists(words, max_size=1).map(tuple), words, words,
)  # fmt: skip


@pytest.mark.long
@settings(max_examples=60)
@given(reports)
def test_json_holds_all_of_a_report(tmp_path_factory, report):
    path = tmp_path_factory.mktemp("data") / "report.json"
    path.write_text(data(report), encoding="ascii")
    valid("report-1", json.loads(data(report)))
    assert read([path]) == report


@pytest.mark.long
@settings(max_examples=60)
@given(reports, st.sampled_from((60, 80, 120)))
def test_text_keeps_to_its_width_and_to_what_is_harmless(report, width):
    for line in text(report, width).split("\n"):
        assert line.isprintable()
        assert len(line) <= width or line.lstrip().startswith(("reproduce: ", "again: ")) or " " not in line.strip()


def test_what_certify_writes_is_what_report_writes_later(tmp_path):
    every = ",".join(FORMATS)
    words = ["certify", "--suite", "core", "--format", every, "-q", "-o", str(tmp_path / "a"), TARGETS[1]]
    assert CliRunner().invoke(cli, words).exit_code == 1
    again = run("--format", every, "-o", tmp_path / "b", tmp_path / "a" / RESULTS)
    assert again.exit_code == 1
    assert again.stdout.splitlines() == [f"report: {tmp_path}/b/{each.file}" for each in FORMATS.values()]
    for name, each in FORMATS.items():
        written = (tmp_path / "a" / each.file).read_bytes()
        assert written == (tmp_path / "b" / each.file).read_bytes()
        single = run("--format", name, tmp_path / "a")
        assert single.exit_code == 1
        assert single.stdout_bytes == written
        assert run("--format", name, "--exit-zero", "-o", tmp_path / "c", tmp_path / "a").exit_code == 0
        assert (tmp_path / "c").read_bytes() == written
    assert run(tmp_path / "b" / "report.json").stdout == run(tmp_path / "a").stdout


@pytest.mark.long
def test_a_sweep_is_read_back_and_written_alike(tmp_path):
    words = ["sweep", "--plan", "exhaustive-2", "--jobs", "1", "--format", "json,html", "-q", "-o", str(tmp_path)]
    assert CliRunner().invoke(cli, [*words, TARGETS[1]]).exit_code == 1
    written = valid("results-1", json.loads((tmp_path / "sweep.json").read_text()))
    report = read([tmp_path])
    (subject,) = report.subjects
    assert (report.kind, subject.state) == (ReportKind.SWEEP, State.DIVERGES)
    assert [(cause.count, cause.octets.hex()) for cause in subject.causes] == [
        (each["count"], each["example"]["hex"]) for each in written["buckets"]
    ]
    assert sum(part.failing for part in subject.parts) == sum(cause.count for cause in subject.causes)
    assert (tmp_path / "report.json").read_text() == run("--format", "json", tmp_path / "sweep.json").stdout
    assert CliRunner().invoke(cli, subject.causes[0].reproduce.split()[1:]).exit_code == 1


def test_a_name_that_is_no_utf_8_is_written_so_that_it_is_read_again(tmp_path):
    decoder = tmp_path / os.fsdecode(b"\xff.py")
    decoder.write_text("def decode(octets):\n    return octets.decode()\n")
    certify(f"py:{decoder}:decode", suites=["core"], output=tmp_path)
    assert read([tmp_path]).subjects[0].id == f"py:{tmp_path}/\\udcff.py:decode"


@pytest.mark.long
def test_what_is_expected_is_told_by_every_report_of_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = '[[expected]]\ntarget = "cpython"\nid = "overlong/c0ae"\nobserved = "accepted U+002E"\nreason = "old"\n'
    Path("overlong.toml").write_text(f"{entry}{entry}expires = 2020-01-01\n")
    certifying = CliRunner().invoke(cli, ["certify", "--suite", "core", "-q", "-o", "one", "cpython"])
    assert certifying.exit_code == 1
    records = [valid("results-1", json.loads(line)) for line in Path("one", RESULTS).read_text("ascii").splitlines()]
    assert [record["why"] for record in records if record["record"] == "stale"] == ["it occurs no more"]
    matrix = CliRunner().invoke(cli, ["matrix", "--quick", "-q", "-o", "many", "cpython"])
    assert matrix.exit_code == 1
    valid("matrix-1", json.loads(Path("many/matrix.json").read_text("ascii")))
    assert "stale expectation: overlong/c0ae" in " ".join(matrix.stdout.split())
    for folder in ("one", "many"):
        report = run(folder)
        assert report.exit_code == 1
        assert "1 STALE EXPECTATION" in report.stdout
        assert "CONFORMANT" not in report.stdout
        assert "expired on 2020-01-01, and does not count" in " ".join(report.stdout.split())
        assert read([Path(folder)]).subjects[0].digest


def test_several_files_make_a_table_whose_worst_row_decides(measured, tmp_path):
    folders = [folder for folder, _ in measured.values()]
    report = read(folders)
    assert report.kind is ReportKind.MATRIX
    assert [subject.id for subject in report.subjects] == list(TARGETS)
    shown = run(*folders)
    assert shown.exit_code == 1
    assert "6 targets: 1 conforms, 1 conforms with exceptions, 4 diverge" in shown.stdout
    assert run(folders[0], folders[0]).exit_code == 0
    rows = [
        {"target": "here", "folder": "x", "state": "conforms"},
        {"target": "not here", "state": "not measured", "why": "it would not start"},
    ]
    plain = {"why": "", "language": "", "version": "", "claims": {}, "buckets": [], "restarts": 0}
    matrix = {"schema": "overlong/matrix-1", "generator": "overlong 0", "targets": [plain | row for row in rows]}
    (tmp_path / "x").symlink_to(folders[0])
    (tmp_path / "matrix.json").write_text(json.dumps(valid("matrix-1", matrix)))
    report = read([tmp_path])
    assert [len(subject.parts) for subject in report.subjects] == [len(measured["cpython"][1].run.suites), 0]
    assert run(tmp_path).exit_code == 3


def test_mistakes_on_the_command_line_say_what_to_write(wrong, tmp_path):
    for options, said in (
        (["--format", "htm"], "did you mean html?"),
        (["--format", ","], "there is\n  text\n  json\n"),
        (["--format", "html,sarif"], "name it with -o"),
        (["--format", "html,sarif", "-o", wrong], "not a folder"),
        (["--format", "html", "-o", tmp_path / "none" / "x.html"], "No such file"),
    ):
        result = run(*options, wrong)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_page_is_held_against_older_results(measured, tmp_path):
    (older, _), (newer, _) = (measured[target] for target in TARGETS[:2])
    done = run(newer, "--baseline", older, "--format", "html", "-o", tmp_path / "page.html", "--exit-zero")
    assert (done.exit_code, done.output) == (0, f"report: {tmp_path / 'page.html'}\n")
    assert "Since results.jsonl, " in (tmp_path / "page.html").read_text("utf-8")
    refused = run(newer, "--baseline", older)
    assert refused.exit_code == 2
    assert "--baseline is for the HTML page: add --format html, or use 'overlong diff'" in refused.output
