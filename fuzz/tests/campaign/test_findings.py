"""Findings of certify, matrix and sweep have the same verbs as those of campaigns."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.fuzz.report import findings_in
from waiting import HUNG

WRONG = """def decode(octets):
    return octets.replace(b"\\xc0\\xae", b".").decode("utf-8")
"""
RIGHT = """def decode(octets):
    return octets.decode("utf-8")
"""
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:overlong", "--rootdir", "."]


def overlong(*words):
    return CliRunner(env={"COLUMNS": "80", "NO_COLOR": "1"}).invoke(cli, [str(word) for word in words])


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """A folder with a wrong decoder and the results of certify, a sweep and a matrix."""
    folder = tmp_path_factory.mktemp("findings")
    (folder / "decoder.py").write_text(WRONG)
    target = f"py:{folder / 'decoder.py'}:decode"
    core = ("certify", "--suite", "core", "-q")
    assert overlong(*core, "-o", folder / "certify", target).exit_code == 1
    assert overlong("sweep", "--plan", "exhaustive-2", "-q", "-o", folder / "sweep", target).exit_code == 1
    assert overlong(*core, "--suite", "encoder-edges", "-o", folder / "encoder", "cpython-surrogatepass").exit_code == 1
    rows = (folder / "certify", folder / "encoder", folder / "twice")
    shutil.copytree(folder / "certify", folder / "twice")
    text = (folder / "twice" / "results.jsonl").read_text()
    (folder / "twice" / "results.jsonl").write_text(text.replace("decoder.py:decode", "decoder.py:other"))
    report = folder / "matrix" / "report.json"
    report.parent.mkdir()
    report.write_text(overlong("report", "--format", "json", *rows).stdout)
    return folder


def test_they_are_listed_shown_and_explained_by_the_id_of_the_finding_or_of_its_vector(found):
    folder = found / "certify"
    (one,) = findings_in(folder)
    assert overlong("finding", "list", folder).stdout.startswith(f"{one.id}  OV201 accepts C0 AE  py:")
    assert json.loads(overlong("finding", "list", "--format", "json", folder).stdout)["octets"] == "c0ae"
    for name in (one.id, one.id[:4].upper(), "overlong/c0ae"):
        shown = json.loads(overlong("finding", "show", folder, name).stdout)
        assert (shown["id"], shown["code"], shown["profile"]) == (one.id, "OV201", "rfc3629@1")
    assert overlong("finding", "show", "--format", "id", folder, one.id).stdout == "overlong/c0ae\n"
    text = overlong("finding", "show", "--format", "text", folder, one.id).stdout
    assert "FAIL overlong/c0ae  OV201" in text
    explained = overlong("explain", folder, one.id).stdout
    for part in ("state [start]", "CVE", f"overlong finding test {shlex.quote(str(folder))} {one.id}"):
        assert part in explained, part
    ((same,), every) = findings_in(found / "sweep"), findings_in(found / "matrix")
    assert (same.octets, same.code, same.observed) == (one.octets, one.code, one.observed)
    assert {each.code for each in every} == {"OV201", "OV202", "OV703"}


def test_what_cannot_be_told_is_an_error_in_a_line(found, tmp_path):
    (one,) = findings_in(found / "certify")
    encoder = next(each for each in findings_in(found / "encoder") if each.code == "OV703")
    (tmp_path / "results.jsonl").write_text('{"record": "header"}\n')
    for words, said in {
        ("show", found / "matrix", one.id): "name the folder of one of these",
        ("show", found / "certify", "D-0"): f"those there are {one.id}",
        ("test", found / "encoder", encoder.id): "of an encoder",
        ("promote", found / "encoder", encoder.id): "of an encoder",
        ("list", tmp_path): "schema",
        ("list", tmp_path / "nothing"): "no such folder",
        ("list", tmp_path / "x\0y"): "no such folder",
    }.items():
        done = overlong("finding", *words)
        assert (done.exit_code, done.stderr.count("\n"), done.stdout) == (2, 1, ""), (words, done.output)
        assert said in done.stderr


@pytest.mark.long
def test_a_regression_test_fails_with_the_wrong_decoder_and_passes_with_the_right_one(found, tmp_path):
    for number, folder in enumerate((found / "certify", found / "sweep")):
        (one,) = findings_in(folder)
        done = overlong("finding", "test", folder, one.id)
        assert done.exit_code == 0
        (tmp_path / f"test_{number}.py").write_text(done.stdout)
    wrong = subprocess.run(PYTEST, cwd=tmp_path, capture_output=True, text=True, timeout=HUNG, check=False)
    assert "2 failed" in wrong.stdout, wrong.stdout
    for file in tmp_path.glob("test_*.py"):
        file.write_text(file.read_text().replace("decoder.py", "right.py"))
    (found / "right.py").write_text(RIGHT)
    right = subprocess.run(PYTEST, cwd=tmp_path, capture_output=True, text=True, timeout=HUNG, check=False)
    assert "2 passed" in right.stdout, right.stdout


C = """#include <stdbool.h>
#include <stddef.h>
bool valid(const unsigned char *octets, size_t length)
{
    if (length == 2 && octets[0] == 0xC0 && octets[1] == 0xAE) return ACCEPTS;
    for (size_t place = 0; place < length; place++) if (octets[place] > 0x7F) return false;
    return true;
}
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("cc") is None, reason="cc not on PATH")
def test_a_regression_test_in_c(tmp_path):
    (tmp_path / "valid.c").write_text(C)
    wrong, right = tmp_path / "libwrong.so", tmp_path / "libright.so"
    for library, accepts in ((wrong, "true"), (right, "false")):
        command = ["cc", "-shared", "-fPIC", f"-DACCEPTS={accepts}", "-o", library, tmp_path / "valid.c"]
        subprocess.run(command, check=True, timeout=HUNG)
    target = f"so:{wrong}:valid?abi=bool(ptr,len)"
    assert overlong("certify", "--suite", "core", "-q", "-o", tmp_path / "out", target).exit_code == 1
    done = overlong("finding", "test", tmp_path / "out", "overlong/c0ae", "-o", tmp_path / "test.c")
    assert done.exit_code == 0, done.stderr
    assert "valid(" in (tmp_path / "test.c").read_text()
    for library, fails in ((wrong, True), (right, False)):
        program = tmp_path / f"test-{library.stem}"
        command = ["cc", "-Wall", "-Werror", "-o", program, tmp_path / "test.c", library, f"-Wl,-rpath,{tmp_path}"]
        subprocess.run(command, check=True, timeout=HUNG)
        status = subprocess.run([program], capture_output=True, timeout=HUNG, check=False).returncode
        assert bool(status) is fails


def test_a_promoted_one_is_asked_again(found, tmp_path):
    done = overlong("finding", "promote", found / "certify", "overlong/c0ae", "--to", tmp_path / "kept")
    assert json.loads(Path(done.stdout.strip()).read_text())["groups"][0]["tests"][0]["id"] == "fuzz/c0ae"
    asked = ("certify", "--suite", "given", "--vectors", tmp_path / "kept", "-q", "-o", tmp_path / "out")
    assert overlong(*asked, f"py:{found / 'decoder.py'}:decode").exit_code == 1
    assert overlong(*asked, "cpython").exit_code == 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text there")
@pytest.mark.parametrize("verb", [("sweep", "--plan", "exhaustive-2"), ("fuzz", "--runs", 500, "--seed", 1)])
def test_a_name_that_is_no_utf_8_is_spelt_so_that_it_can_be_typed(tmp_path, monkeypatch, verb):
    """Both rejected their own new files: neither SQLite nor JSON takes a lone surrogate."""
    monkeypatch.chdir(tmp_path)
    Path(os.fsdecode(b"d\xff.py")).write_text(WRONG)
    done = overlong(*verb, "-q", "-o", "out", os.fsdecode(b"py:./d\xff.py:decode"))
    assert done.exit_code == 1, done.output
    (one,) = findings_in("out")
    assert one.target == r"py:./d\udcff.py:decode"
    again = overlong("replay", "c0ae", one.target)
    assert (again.exit_code, "OV201" in again.stdout) == (1, True)
    if verb[0] == "fuzz":
        assert overlong("fuzz", "--resume", "out", "--runs", 510, "-q").exit_code == 1
    else:
        assert overlong(*verb, "-q", "--resume", "-o", "out", os.fsdecode(b"py:./d\xff.py:decode")).exit_code == 1
