"""``overlong verify``: it finds every change in a certificate, and runs no command on a stranger's word."""

import copy
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance import GivenFile, Invocation, certify
from overlong.conformance.certification import verification as comparison
from overlong.conformance.certification.verification import (
    ANSWERS,
    INFORMATION,
    NOTHING,
    CertificateError,
    Verification,
    compare,
    lines,
    read,
    verify,
)
from overlong.conformance.cli import verify as verb
from overlong.conformance.report.text import text
from overlong.conformance.results.certificate import spelt
from overlong.conformance.results.expected import Expectations
from overlong.conformance.results.invocation import fixed, identifier
from overlong.conformance.targets.consent import ships
from overlong.conformance.vectors.suites import SUITES

# without types
IN_TOTO = "in_toto_attestation"
json_format = import_module("google.protobuf.json_format")
test_result_pb2 = import_module(f"{IN_TOTO}.predicates.test_result.v0.test_result_pb2")
resource_descriptor_pb2 = import_module(f"{IN_TOTO}.v1.resource_descriptor_pb2")
statement_pb2 = import_module(f"{IN_TOTO}.v1.statement_pb2")
ResourceDescriptor = import_module(f"{IN_TOTO}.v1.resource_descriptor").ResourceDescriptor
Statement = import_module(f"{IN_TOTO}.v1.statement").Statement

SCHEMA = json.loads((files("overlong.conformance") / "schemas" / "certificate-1.schema.json").read_text("ascii"))


ASKED = ["core", "complete-0", "encoder-edges"]


@pytest.fixture(scope="module")
def certificate():
    """The certificate of a divergent decoder, with complete buckets."""
    return certify("cpython-surrogatepass", suites=ASKED, plans=["exhaustive-1"])


@pytest.fixture
def statement(certificate):
    return json.loads(certificate.to_json())


@pytest.fixture
def written(certificate, tmp_path):
    path = tmp_path / "certificate.json"
    path.write_text(certificate.to_json(), encoding="ascii")
    return path


def run(*words, catch=True):
    return CliRunner().invoke(verb.command, [str(word) for word in words], catch_exceptions=catch)


# Other tools read it


def test_it_is_an_in_toto_statement_with_a_test_result(certificate, statement):
    text = certificate.to_json()
    parsed_statement = json_format.Parse(text, statement_pb2.Statement())
    Statement.copy_from_pb(parsed_statement).validate()
    assert all(re.fullmatch("[0-9a-f]{64}", each.digest["sha256"]) for each in parsed_statement.subject)
    predicate = dict(statement["predicate"])
    assert predicate.pop("overlong")  # an extension field: in-toto's parsing rules let consumers skip it
    result = json_format.ParseDict(predicate, test_result_pb2.TestResult())
    assert result.result in {"PASSED", "WARNED", "FAILED"}
    assert list(result.failed_tests) == ["encoder", "verdict"]
    for each in predicate["configuration"]:
        descriptor = json_format.ParseDict(each, resource_descriptor_pb2.ResourceDescriptor())
        ResourceDescriptor.copy_from_pb(descriptor).validate()


@pytest.mark.long
def test_it_is_the_same_each_time_and_names_no_path_of_this_machine(certificate):
    again = certify("cpython-surrogatepass", suites=ASKED, plans=["exhaustive-1"])
    assert again.to_json() == certificate.to_json()
    assert str(Path.cwd()) not in again.to_json()
    assert not re.search(r'"/(home|root|usr|tmp|work)\b', again.to_json())


FEW = "D-7550af09.json"
DECODER = """
import json, struct, sys

def decode(octets):
    return octets.decode()

if sys.argv[1:] == ["--once"]:
    decode(sys.stdin.buffer.read())
elif sys.argv[1:] == ["speak"]:
    out, read = sys.stdout.buffer, sys.stdin.buffer.read
    print(json.dumps({"overlong": 1, "operations": "PV"}), flush=True)
    while len(head := read(8)) == 8:
        length, number = struct.unpack(">II", head)
        body = read(length - 4)
        status = b"A" + body[1:] if body[:1] == b"P" else b"U"
        if body[:1] == b"V":
            try:
                status = b"A" if decode(body[1:]) is not None else b""
            except UnicodeDecodeError:
                status = b"R"
        out.write(struct.pack(">II", 4 + len(status), number) + status)
        out.flush()
"""


@pytest.mark.long
@pytest.mark.parametrize("form", ["py", "--", "cmd", "so", "project"])
def test_absolute_names_of_decoders_leave_no_path_and_verify_beside_the_file(form, tmp_path, monkeypatch):
    file, elsewhere = tmp_path / "mine" / "decoder.py", tmp_path / "elsewhere"
    for folder in (file.parent, elsewhere):
        folder.mkdir()
    file.write_text(f"#!{sys.executable}\n{DECODER}")
    file.chmod(0o755)
    library = file.with_name("decoder.so")
    if form == "so":
        compiler = shutil.which("cc") or pytest.skip("no C compiler")
        code = "#include <stddef.h>\n_Bool f(const char *o, size_t n) { (void)o; return n == 0; }"
        command = [compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=code, text=True, check=True)
    target = {
        "py": f"py:{file}:decode", "--": [str(file), "speak"], "cmd": f"cmd:{sys.executable} -I -S {file} --once",
        "so": f"so:{library}:f?abi=bool(ptr,len)", "project": "mine",
    }[form]  # fmt: skip
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    expected = elsewhere / "ours.toml"
    expected.write_text(f"[targets.mine]\ncommand = ['{file}', 'speak']\n")
    entry = {"target": identifier(target), "code": "OV101", "observed": "refused", "reason": "so it is"}
    expected.write_text(
        "[[expected]]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items()), encoding="ascii"
    )
    Path("overlong.toml").write_text(f"[targets.mine]\ncommand = ['{file}', 'speak']\n", encoding="ascii")
    deviations = Expectations.read(expected, target, date(2026, 1, 1))
    few = Path(__file__).parents[3] / "corpora" / "regressions" / FEW
    for folder in (file.parent, elsewhere):
        shutil.copy(few, folder)
    made = certify(
        Invocation(fixed(target), vectors=(GivenFile.of(FEW),)),
        suites=["given"],
        plans=(),
        trust=True,
        expected=deviations,
    )
    text = made.to_json()
    assert str(tmp_path) not in text
    assert not re.search(r"""["' =:]/(?!/|dev/)[^"]""", text), "no word of it is an absolute path"
    if form == "project":
        return
    named = json.loads(text)["predicate"]["overlong"]["invocation"]["target"]
    assert (file.stem in named) if isinstance(named, str) else (f"./{file.name}" in named)
    shutil.copy(expected, file.parent)
    monkeypatch.chdir(file.parent)
    Path("certificate.json").write_text(text, encoding="ascii")
    assert spelt(verify(Path("certificate.json"), trust=True).here) == text


def test_given_vectors_are_named_with_their_digest_and_without_their_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vectors = Path(__file__).parents[3] / "corpora" / "regressions"
    one = tmp_path / "one.json"
    one.write_bytes(min(vectors.glob("*.json")).read_bytes())
    made = certify(
        Invocation("cpython", ("given",), (), vectors=(GivenFile.of(one), GivenFile.of(os.path.relpath(vectors))))
    )
    first, second = made.statement["predicate"]["overlong"]["invocation"]["vectors"]
    printed = subprocess.run(["sha256sum", str(one)], capture_output=True, text=True, check=True).stdout
    assert first == {"name": "one.json", "digest": {"sha256": printed.split()[0]}}
    command = "find . -type f | cut -c3- | LC_ALL=C sort | xargs -r sha256sum | sha256sum | cut -f1 -d' '"  # in-toto's
    whole = subprocess.run(["sh", "-c", command], cwd=vectors, capture_output=True, text=True, check=True).stdout
    assert second == {"name": "regressions", "digest": {"dirHash": whole.strip()}}
    assert str(tmp_path) not in made.to_json()


# Comparing


def leaves(value, path="$"):
    """Every scalar with its path and its container."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, each in entries:
        below = f"[{key}]" if isinstance(value, list) else comparison._member(str(key))
        if isinstance(each, (dict, list)) and each:
            yield from leaves(each, path + below)
        else:
            yield path + below, value, key


def changed(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return ("1" if value[:1] == "0" else "0") + value[1:]
    return "something"


def test_every_leaf_that_is_changed_is_named(statement):
    """Each scalar of a certificate is changed in turn: the difference has its path and both values."""
    measured = copy.deepcopy(statement)
    assert compare(statement, measured) == ()
    tried = 0
    for path, holder, key in list(leaves(statement)):
        kept, holder[key] = holder[key], changed(holder[key])
        found = {each.path: each for each in compare(statement, measured)}
        assert path in found, path
        assert (found[path].certified, found[path].here) == (holder[key], kept) or kept in ([], {})
        assert len(found) <= 2, path  # a renamed record may also move
        holder[key] = kept
        tried += 1
    assert tried > 120
    assert compare(statement, measured) == ()


def test_every_member_that_is_missing_or_added_is_named(statement):
    measured = copy.deepcopy(statement)
    for path, holder, key in list(leaves(statement)):
        if isinstance(holder, dict):
            kept = holder.pop(key)
            (found,) = compare(statement, measured)
            assert (found.path, found.certified, found.here) == (path, NOTHING, kept)
            (found,) = compare(measured, statement)
            assert (found.path, found.certified, found.here) == (path, kept, NOTHING)
            holder[key] = kept


def test_lists_are_matched_by_what_their_entries_are_called(statement):
    added = statement["predicate"]["overlong"]
    other = copy.deepcopy(statement)
    del other["predicate"]["overlong"]["suites"][0]
    (found,) = compare(statement, other)
    assert (found.path, found.here) == ("$.predicate.overlong.suites[0]", NOTHING)
    other = copy.deepcopy(statement)
    other["predicate"]["overlong"]["suites"].reverse()
    assert {each.path for each in compare(statement, other)} == {
        f"$.predicate.overlong.suites[{place}]" for place in (0, len(added["suites"]) - 1)
    }


def test_true_is_no_number():
    assert compare({"a": True}, {"a": 1})
    assert compare({"a": False}, {"a": 0})
    assert not compare({"a": 5}, {"a": 5.0})


def test_restarts_without_a_finding_refute_nothing():
    before, after = ({"predicate": {"overlong": {"restarts": number}}} for number in (0, 1))
    (found,) = compare(before, after)
    assert found.information


# Running


@pytest.fixture
def whole(written, monkeypatch):
    """A certificate that overlong would write if only these suites existed."""
    few = {name: SUITES[name] for name in ASKED}
    monkeypatch.setattr("overlong.conformance.results.certificate.SUITES", few)
    return written


def test_a_certificate_verifies_and_one_with_a_digit_changed_does_not(whole, tmp_path):
    verification = verify(whole)
    assert verification.differences == ()
    assert verification.verified
    assert "octet for octet" in verification.verdict
    text = whole.read_text("ascii")
    number = re.search(r'"failing": (\d+)', text)
    assert number
    digit = str((int(number[1][-1]) + 1) % 10)
    tampered = tmp_path / "tampered.json"
    tampered.write_text(text[: number.end() - 1] + digit + text[number.end() :], encoding="ascii")
    ended = run(tampered, "-q")
    assert ended.exit_code == 1
    assert ended.output.startswith("DIFFERS  1 field is not")
    ended = run(tampered, "--format", "json")
    said = json.loads(ended.stdout)
    text = (files("overlong.conformance") / "schemas" / "report-1.schema.json").read_text("ascii")
    jsonschema.Draft202012Validator(json.loads(text)).validate(said)
    assert said["notes"][0].startswith("DIFFERS")
    assert said["notes"][2].startswith("    $.predicate.overlong.suites[0].failing: ")
    assert "overlong: its sweeps have 256 strings\n" in ended.stderr


@pytest.mark.long
@pytest.mark.parametrize("sweeps", [None, ()])
def test_only_a_run_that_forbids_sweeps_is_repeated_without_mixtures(tmp_path, monkeypatch, sweeps):
    few = {name: SUITES[name] for name in ("core", "mixtures")}
    for module in ("certification.certify", "results.certificate"):
        monkeypatch.setattr(f"overlong.conformance.{module}.SUITES", few)
    decoder = tmp_path / "decoder.py"
    decoder.write_text("def decode(octets):\n    return octets.decode(errors='replace')\n", encoding="ascii")
    made = certify(Invocation(f"py:{decoder}:decode", plans=sweeps, budget=1))
    assert not made.run.left_out  # a replacing decoder offers nothing that a sweep asks
    assert [part.suite.name for part in made.run.suites] == [name for name in few if sweeps is None or name == "core"]
    path = tmp_path / "certificate.json"
    path.write_text(made.to_json(), encoding="ascii")
    assert not verify(path, target=f"py:{decoder}:decode").against


@pytest.mark.long
def test_another_decoder_differs_in_its_answers(written):
    verification = verify(written, target="cpython")
    parts = {each.part for each in verification.differences}
    assert {"name", "decoder", ANSWERS} <= parts
    told = "\n".join(lines(verification.differences))
    assert "$.predicate.overlong.claims.verdict" in told
    assert len(told.splitlines()) < len(list(lines(verification.differences, every=True)))
    assert "FIXED OV202" in text(verification.diff, 80, encoding="ascii")
    assert "verdict: fails -> holds" in text(verification.diff, 80, encoding="ascii")


def test_what_is_only_information_refutes_nothing(written):
    certified = json.loads(written.read_text("ascii"))
    for part in INFORMATION:
        only = comparison.Difference("$", 1, 2, part)
        assert Verification(written, certified, certified, (only,)).verified
    for part in ("decoder", "vectors", "sweeps", ANSWERS, "asked", "form"):
        other = comparison.Difference("$", 1, 2, part)
        assert not Verification(written, certified, certified, (other,)).verified


@pytest.mark.long
def test_a_run_that_would_not_be_certified_verifies_nothing(written):
    ended = run(written, "-q")
    assert ended.exit_code == 1
    assert "no certificate is written for such a run: only part of the suites ran" in ended.output


# Strangers


HOSTILE = ["py:evil:f", "so:./x.so:f?abi=bool(ptr,len)", "cmd:touch /tmp/x", "mine", "answers:x", ["rm", "-rf", "/"]]


@pytest.mark.parametrize(("limit", "value"), [("timeout", 1e300), ("timeout", 0), ("memory", 1), ("memory", 1 << 61)])
def test_limits_that_no_run_has_are_refused(statement, tmp_path, limit, value):
    statement["predicate"]["overlong"]["invocation"]["limits"][limit] = value
    path = tmp_path / "certificate.json"
    path.write_text(spelt(statement), encoding="ascii")
    result = run(path)
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize("target", HOSTILE, ids=str)
def test_nothing_is_run_for_its_word(statement, tmp_path, monkeypatch, target):
    monkeypatch.setattr("overlong.conformance.certification.verification.certify", None)
    statement["predicate"]["overlong"]["invocation"]["target"] = target
    path = tmp_path / "c.json"
    path.write_text(spelt(statement), encoding="ascii")
    ended = run(path, "-q")
    assert ended.exit_code == 2
    assert "--trust" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert not ships(target)


def test_a_name_of_this_project_is_not_one_that_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ships("cpython")
    Path("overlong.toml").write_text('[targets.cpython]\ntarget = "cmd:true"\n', encoding="ascii")
    assert not ships("cpython")
    assert ships("builtin:cpython")


def test_naming_it_or_trusting_it_runs_it(certificate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("def decode(octets):\n    return octets.decode()\n", encoding="ascii")
    made = certify("py:mine:decode", suites=["core"], plans=())
    path = Path("c.json")
    path.write_text(made.to_json(), encoding="ascii")
    assert run(path, "-q").exit_code == 2
    for words in (["--trust"], ["py:mine:decode"]):
        ended = run(path, *words)
        assert "only part of the suites" in ended.output  # the decoder ran
        assert "$" not in ended.stdout


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", ":1: "),
        ("[]", "the whole"),
        ("{}", "the whole"),
        ('{"a": 1, "a": 2}', "occurs twice"),
        ('{"a": NaN}', "no JSON"),
        ("[" * 100, "brackets"),
        ('{"predicate": {"overlong": {"command": "x"}}}', "not as the schema has it"),
        ('{"schema": "overlong/matrix-1"}', "overlong/matrix-1, no certificate; get one for a decoder"),
        ('{"record": "header"}\n{"record": "footer"}\n', "results, no certificate; name the certificate.json"),
        ('"\\ud800"', "surrogate"),
    ],
)
def test_what_is_no_certificate_is_refused_on_one_line(tmp_path, text, why):
    path = tmp_path / "c.json"
    path.write_text(text, encoding="ascii")
    ended = run(path)
    assert ended.exit_code == 2, ended.output
    assert why in ended.stderr
    assert len(ended.stderr.splitlines()) == 1
    assert str(path) in ended.stderr


def test_a_folder_without_a_certificate_says_why_it_has_none(tmp_path):
    ended = run(tmp_path)
    assert ended.exit_code == 2
    assert "no certificate.json in it; an interrupted run" in " ".join(ended.stderr.split())


def test_files_outside_the_folder_are_not_read(statement, tmp_path):
    for name in ("/etc/passwd", "../x.json", "a/../../x.json"):
        file = {"name": name, "digest": {"sha256": "0" * 64}}
        statement["predicate"]["overlong"]["invocation"]["vectors"] = [file]
        (tmp_path / "c.json").write_text(spelt(statement), encoding="ascii")
        with pytest.raises(CertificateError, match="outside the current folder"):
            read(tmp_path / "c.json")


def test_a_decoder_that_is_not_here_is_not_measured(statement, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    statement["predicate"]["overlong"]["invocation"]["target"] = "node-buffer"
    path = tmp_path / "c.json"
    path.write_text(spelt(statement), encoding="ascii")
    ended = run(path, "-q")
    assert ended.exit_code == 3
    assert "install" in ended.stderr


def test_the_schema_has_every_dialect(statement):
    statement["predicate"]["overlong"]["profile"] = "cesu-8@1"
    statement["predicate"]["configuration"][0]["name"] = "cesu-8@1"
    jsonschema.Draft202012Validator(SCHEMA).validate(statement)
