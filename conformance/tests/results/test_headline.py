"""The headline: what a run comes to is decided in one place, and every report says it."""

from __future__ import annotations

import json
import re
from itertools import product

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.report.formats import FORMATS
from overlong.conformance.report.html.verdict import verdict_of
from overlong.conformance.report.wording import verdict
from overlong.conformance.results.model import State, exit_code_of, result_of, state_of
from overlong.conformance.results.reading import read
from zoo import ZOO

DECODERS = ZOO / "known_wrong.py"
GRAVE = {"verdict", "scalars", "streaming", "encoder", "separate values", "functions", "memory"}
"""As docs/command-line.md has it."""


def test_the_definition():
    assert CLAIMS.keys() >= GRAVE
    for failing in product((True, False), repeat=len(CLAIMS)):
        names = [claim for claim, fails in zip(CLAIMS, failing, strict=True) if fails]
        state = state_of(names, held=True)
        grave = bool(GRAVE & set(names))
        assert state is (State.DIVERGES if grave else State.EXCEPT if names else State.CONFORMS)
        assert exit_code_of(state) == bool(names)
        assert result_of(state) == ("FAILED" if names else "PASSED")
        assert state_of(names, held=True, incomplete=True) is State.INCOMPLETE
        assert state_of(names, held=True, as_expected=True) is State.EXPECTED
    assert state_of([], held=False) is State.NOTHING
    assert state_of(["a claim of a newer version"], held=True) is State.DIVERGES
    assert [exit_code_of(State.CONFORMS, 1), exit_code_of(State.EXPECTED), exit_code_of(State.EXPECTED, 1)] == [1, 0, 1]
    assert [result_of(State.EXPECTED), result_of(State.EXPECTED, 1), result_of(State.CONFORMS, 1)] == [
        "WARNED",
        "FAILED",
        "PASSED",
    ]


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("strict", "CONFORMANT (not swept)", 0),
        ("offset_is_one_too_large", "CONFORMANT EXCEPT error position (not swept)", 1),
        ("one_for_each_octet", "CONFORMANT EXCEPT error mode (not swept)", 1),  # it offers L alone
        ("surrogates", "NOT CONFORMANT", 1),
    ],
)
def test_every_report_has_the_headline_of_the_terminal(tmp_path, name, words, code):
    every = ",".join(FORMATS)
    options = ["--suite", "core", "--suite", "complete-0", "--format", every, "-o", str(tmp_path)]
    done = CliRunner().invoke(cli, ["certify", *options, f"py:{DECODERS}:{name}"])
    assert done.exit_code == code, done.output
    assert re.search(rf"^{re.escape(words)}(  .*)?$", done.stdout, re.MULTILINE)
    report = read([tmp_path])
    (subject,) = report.subjects
    assert verdict(subject) == verdict_of(report).words == words
    written = {each: (tmp_path / FORMATS[each].file).read_text("utf-8") for each in FORMATS}
    assert f": {words}\n" in written["markdown"]
    assert f">{words}</h2>" in written["html"]
    assert f'name="verdict" value="{words}"' in written["junit"]
    invocation = json.loads(written["sarif"])["runs"][0]["invocations"][0]
    assert (invocation["exitCode"], invocation["exitCodeDescription"]) == (code, words)
    assert json.loads(written["json"])["state"] == subject.state.value
    assert re.search(rf"^{re.escape(words)}( |$)", written["text"], re.MULTILINE)


def test_what_is_refused_has_no_text_to_be_right(tmp_path):
    target = f"py:{DECODERS}:no_more_than_three_octets"
    done = CliRunner().invoke(cli, ["certify", "--suite", "core", "-o", str(tmp_path), target])
    (subject,) = read([tmp_path]).subjects
    assert (subject.claims["verdict"], subject.claims["scalars"]) == ("fails", "not measured")
    suites = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text("ascii").splitlines()]
    (without_text,) = [each["without_text"] for each in suites if each.get("suite") == "core"]
    said = f"not measured: there is no text of {without_text} well-formed vectors that it does not accept"
    assert subject.details["scalars"] == said
    assert said in " ".join(done.stdout.split())
    (cause,) = {cause.code for cause in subject.causes}
    assert cause == "OV101"
    assert "behaves like" not in done.stdout


@pytest.mark.long
def test_a_matrix_counts_what_its_rows_say(tmp_path):
    names = ["strict", "offset_is_one_too_large", "one_for_each_octet", "surrogates"]
    targets = [f"py:{DECODERS}:{name}" for name in names]
    options = ["--quick", "-j", "2", "-o", str(tmp_path), "--format", "html,markdown,badge"]
    done = CliRunner().invoke(cli, ["matrix", *options, *targets])
    assert done.exit_code == 1, done.output
    counts = "1 conforms, 2 conform with exceptions, 1 diverges"
    assert f"4 targets: {counts}" in done.stdout
    rows = json.loads((tmp_path / "matrix.json").read_text("ascii"))["targets"]
    assert [row["state"] for row in rows] == [State.CONFORMS, State.EXCEPT, State.EXCEPT, State.DIVERGES]
    report = read([tmp_path])
    assert [verdict(subject) for subject in report.subjects] == [
        "CONFORMANT (not swept)",
        "CONFORMANT EXCEPT error position (not swept)",
        "CONFORMANT EXCEPT error mode (not swept)",
        "NOT CONFORMANT",
    ]
    assert verdict_of(report).words == "1 of 4 NOT CONFORMANT"
    assert verdict_of(report).detail == ""  # tiles on the page count the states
    assert f"4 decoders: {counts}" in (tmp_path / FORMATS["markdown"].file).read_text("utf-8")
    assert json.loads((tmp_path / "badge.json").read_text())["message"] == "1 of 4 diverge"
    for row in rows:  # without their results
        row["folder"] = ""
    document = json.loads((tmp_path / "matrix.json").read_text("ascii")) | {"targets": rows}
    (tmp_path / "matrix.json").write_text(json.dumps(document))
    assert [subject.state for subject in read([tmp_path]).subjects] == [subject.state for subject in report.subjects]
