"""A declared trait is shown and tested, and hides no fault."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.certification.replay import replay
from overlong.conformance.cli.verbs import cli
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.report.terminal import summary
from overlong.conformance.results.model import State
from overlong.conformance.results.results_file import report_of_run
from overlong.conformance.vectors.vector import Vector
from overlong.reference import Decoded
from zoo import ZOO

DECODERS = str(ZOO / "with_traits.py")
WHOLE = ("core", "complete-0")


def suites_for(name):
    """XML alone is about single characters: the other traits take no scalar value to be tried."""
    return (*WHOLE, "scalars") if "xml" in name else WHOLE


def target(name):
    return f"py:{DECODERS}:{name}"


def overlong(*words):
    return subprocess.run(
        [sys.executable, "-m", "overlong", *words],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"},
        check=False,
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        *("ends_at_nul", "refuses_nul", "strips", "xml", "xml_as_lines"),
        *("undeclared_xml?wrapper=xml", "xml?nul=refused", "declares_another?nul=refused"),
        "undeclared_all?nul=refused&mode=fatal&bom=strips",
    ],
)
def test_a_right_decoder_with_a_trait_conforms(name):
    run = certify(target(name), suites=suites_for(name)).run
    assert run.conformant, [bucket.example for bucket in run.ordered_buckets]
    assert all(part.whole for part in run.suites)
    assert run.suites[0].aside > 0


def test_strings_that_two_traits_touch_are_set_aside():
    run = certify(target("strips_and_ends_at_nul"), suites=("core",)).run
    assert run.conformant, [bucket.example for bucket in run.ordered_buckets]


@pytest.mark.long
@pytest.mark.usefixtures("unexamined")
@pytest.mark.parametrize(
    ("name", "octets", "claim"),
    [
        ("says_that_it_ends_at_nul", "00", "declared limits"),
        ("says_that_it_refuses_nul", "00", "declared limits"),
        ("says_that_it_strips", "efbbbf", "declared limits"),
        ("says_that_it_is_xml", "00", "declared limits"),
        ("xml_but_for_a_noncharacter", "efbfbf", "scalars"),
        ("xml_without_cr", "0d", "scalars"),
        ("lax_before_nul", None, "verdict"),
        ("lax_after_signature", None, "verdict"),
    ],
)
def test_a_trait_that_is_not_as_declared_is_found_out(name, octets, claim):
    """A wrong answer refutes its own claim even without the declaration; otherwise the declaration is refuted."""
    certificate = certify(target(name), suites=suites_for(name))
    run = certificate.run
    assert claim in run.failing
    only = {bucket.example.claim for bucket in run.ordered_buckets} == {"declared limits"}
    assert run.state is (State.EXCEPT if only else State.DIVERGES)
    shown = " ".join(" ".join(summary(report_of_run(certificate), certificate, width=80, encoding="utf-8")).split())
    assert re.search(r"buckets?, \d+ answers? to strings set aside", shown)
    assert ("CONFORMANT EXCEPT declared limits" in shown) == only
    assert "✗ verdict" not in shown or not only
    assert {bucket.example.code for bucket in run.ordered_buckets} == {"OV606"}
    example = run.ordered_buckets[0].example
    assert octets in (None, example.vector.octets.hex())
    (answer,) = replay(example.vector, target(name))
    assert answer.finding is not None
    assert answer.finding.code == "OV606"
    assert answer.finding.expected_words == example.expected_words


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nul=kept", "after the question mark is 'nul=kept'; write mode=fatal, mode=replacement, nul="),
        ("wrapper=xml&", "is ''"),
        ("nul=refused&nul=ends the string", "is nul= more than once"),
        ("mode=fatal&mode=fatal", "is mode= more than once"),
    ],
)
def test_what_may_be_said_of_a_python_function(words, says):
    with pytest.raises(UnknownTarget, match=re.escape(says)):
        certify(target(f"xml?{words}"), suites=("core",))


@pytest.mark.long
def test_a_fault_beside_a_trait_is_found():
    run = certify(target("surrogates_and_ends_at_nul"), suites=WHOLE).run
    assert [bucket.example.code for bucket in run.ordered_buckets] == ["OV202"]


@pytest.mark.long
def test_what_is_shown(tmp_path):
    shown = overlong("certify", "--quick", "-o", str(tmp_path), target("ends_at_nul"))
    assert shown.returncode == 0, shown.stderr
    headline = next(line for line in shown.stdout.splitlines() if line.startswith("CONFORMANT"))
    swept = r"\((?:tier brief; not swept further|\d+ plans? swept)\)"
    aside = r"[\d ]+ vectors set aside \(nul: ends the string\)"
    assert re.fullmatch(f"CONFORMANT {swept}, {aside}", headline)
    assert "nul: ends the string; strings with octet 00 are set aside (" in shown.stdout
    records = [json.loads(line) for line in (tmp_path / "results.jsonl").read_text().splitlines()]
    core = next(each for each in records if each.get("suite") == "core")
    assert core["set_aside"] > 0
    assert core["asked"] + core["set_aside"] == core["vectors"]
    wrong = overlong("certify", "--quick", "-o", str(tmp_path), target("says_that_it_strips"))
    assert wrong.returncode == 1
    command = next(line for line in wrong.stdout.splitlines() if "reproduce:" in line).partition("overlong ")[2]
    assert overlong(*shlex.split(command)).returncode == 1


def test_replay_expects_what_the_trait_says():
    (answer,) = replay(Vector("input", b"a\0\xff"), target("ends_at_nul"))
    assert answer.finding is None
    assert answer.expected == Decoded((ord("a"),))


@pytest.mark.long
def test_every_headline_says_what_is_set_aside(tmp_path):
    """The headline alone must not promise more than the verdict."""
    done = overlong("certify", "--no-sweeps", "-o", str(tmp_path), "-q", target("ends_at_nul"))
    words = done.stdout.strip().removeprefix("CONFORMANT (not swept), ")
    assert re.fullmatch(r"[\d ]+ vectors set aside \(nul: ends the string\)", words), done.stdout + done.stderr
    for source in ("results.jsonl", "certificate.json"):
        for form in ("text", "markdown", "html", "junit", "badge", "sarif"):
            shown = CliRunner().invoke(cli, ["report", "--format", form, str(tmp_path / source)]).stdout
            assert words in shown, (source, form)
            assert form != "badge" or json.loads(shown)["color"] == "blue"
    statement = json.loads((tmp_path / "certificate.json").read_text())
    assert statement["predicate"]["overlong"]["set_aside"] == words
    statement["predicate"]["overlong"]["set_aside"] = "1 vector set aside (nul: ends the string)"
    (tmp_path / "certificate.json").write_text(json.dumps(statement))
    verified = overlong("verify", str(tmp_path / "certificate.json"), target("ends_at_nul"))
    assert {*re.findall(r"\$\S+", verified.stdout)} == {"$.predicate.overlong.set_aside"}


@pytest.mark.long
def test_a_row_of_a_matrix_says_what_is_set_aside(tmp_path):
    shown = overlong("matrix", "--quick", "-o", str(tmp_path), target("ends_at_nul"), target("refuses_nul"))
    assert shown.returncode == 0, shown.stderr
    assert "vectors set aside (nul: ends the string)" in shown.stdout
    assert "vectors set aside (nul: refused)" in shown.stdout
    for folder in {path.parent for path in tmp_path.glob("*/results.jsonl")}:
        shutil.rmtree(folder)
    told = overlong("report", str(tmp_path / "matrix.json")).stdout  # only the row
    assert "vectors set aside (nul: ends the string)" in told
