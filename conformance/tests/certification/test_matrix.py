"""Many targets in one table: each has its row whatever others do, and results outlive the matrix."""

import dataclasses
import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from overlong.conformance.certification import matrix
from overlong.conformance.certification.matrix import SLOWEST, row_of, rows_to_keep, slowest_first
from overlong.conformance.certification.matrix_worker import MatrixJob
from overlong.conformance.cli.verbs import cli
from overlong.conformance.report.compared import table
from overlong.conformance.results.model import Cause, State, Subject
from overlong.conformance.support.process import module
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.limits import Limits
from waiting import HUNG
from zoo import ZOO

pytestmark = pytest.mark.long

WRONG = f"py:{ZOO}/known_wrong.py:always_true"
OWN_WAY = f"py:{ZOO}/with_traits.py:Backslashes"
MISSING = "py:no_such_module:f"
TARGETS = ["cpython", WRONG, MISSING, OWN_WAY]
COMMAND = [sys.executable, "-m", "overlong", "matrix", "--quick"]
UTF8 = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
DASH = "\N{EN DASH}"
HOSTILE = "<script>alert(1)</script>|\x1b]0;owned\x07\n::error::x\u202e"
SITE = ("--format", "html,json,junit,sarif,badge")
FROM_A_FILE = """
import os, time

def decode(octets):
    if os.path.exists("slow"):
        time.sleep(0.05)
    return octets.decode()

def quick(octets):
    return octets.decode()
"""


def overlong(*words, cwd, **more):
    return subprocess.run(
        [*COMMAND, *words], cwd=cwd, env=UTF8, capture_output=True, encoding="utf-8", check=False, **more
    )


def without_times(path):
    """``matrix.json`` without the fields that vary from run to run."""
    found = json.loads((path / "matrix.json").read_text("ascii"))
    del found["time"]
    for row in found["targets"]:
        del row["time"], row["seconds"]
    return found


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A folder with a measured matrix, and its output."""
    folder = tmp_path_factory.mktemp("matrix")
    return folder, overlong("-j", "3", "-o", "site", *SITE, *TARGETS, cwd=folder)


@pytest.fixture
def folder(measured, tmp_path):
    """A copy of it that a test may change."""
    shutil.copytree(measured[0], tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_a_row_for_each(measured):
    folder, done = measured
    found = json.loads((folder / "site/matrix.json").read_text("ascii"))
    jsonschema.Draft202012Validator(
        json.loads((files("overlong.conformance") / "schemas/matrix-1.schema.json").read_text("ascii"))
    ).validate(found)
    rows = found["targets"]
    assert [row["target"] for row in rows] == TARGETS
    states = [State.CONFORMS, State.DIVERGES, State.NOT_MEASURED, State.NOTHING]
    assert [row["state"] for row in rows] == states
    assert rows[0]["claims"]["verdict"] == "holds"
    assert [bucket["code"] for bucket in rows[1]["buckets"]] == ["OV206"], "one cause: it accepts everything"
    assert "importing no_such_module failed" in rows[2]["why"]
    assert (done.returncode, found["incomplete"]) == (3, "")
    assert done.stderr.count("\n") == len(TARGETS)
    assert len(list((folder / "site").glob("*/results.jsonl"))) == 3


def test_the_folder_is_a_site(measured):
    """Every relative link leads to a file, there and back; and `report` makes the same table from it."""
    folder, done = measured
    site = folder / "site"
    named = [line.removeprefix("report: ") for line in done.stdout.splitlines() if line.startswith("report: ")]
    assert named == [f"site/{name}" for name in ("index.html", "junit.xml", "overlong.sarif", "badge.json")]
    pages = [site / "index.html", *(site / "targets").glob("*.html")]
    assert len(pages) == 1 + len(TARGETS)
    linked = {
        (page.parent / link).resolve()
        for page in pages
        for link in re.findall(r'href="([^"#:]+\.html)"', page.read_text("utf-8"))
    }
    assert linked == {page.resolve() for page in pages}
    again = subprocess.run(
        [sys.executable, "-m", "overlong", "report", "site"],
        cwd=folder, env=UTF8, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert again.returncode == done.returncode
    counts, _, table = done.stdout.partition("report: ")[0].partition("\n\n")
    assert again.stdout.startswith(f"{counts}\n")
    assert again.stdout.endswith(table)


@pytest.mark.parametrize(
    ("targets", "code"),
    [(["cpython", WRONG], 1), (["cpython", OWN_WAY], 0), ([OWN_WAY], 3), ([], 2), (["a", "a"], 2)],
)
def test_exit_status(folder, targets, code, monkeypatch):
    monkeypatch.chdir(folder)
    done = CliRunner().invoke(cli, ["matrix", "--quick", "--resume", "-o", "site", *targets])
    assert done.exit_code == code, done.stderr
    assert done.stderr.count("(kept)") == (len(targets) if code != 2 else 0)


def test_the_table_has_room_in_80_columns(measured):
    _, done = measured
    lines = done.stdout.partition("report: ")[0].splitlines()
    assert max(map(len, lines)) <= 80
    counts, blank, head, first = lines[:4]
    assert (counts, blank) == ("4 targets: 1 conforms, 1 diverges, 1 not measured, 1 nothing to judge", "")
    assert head.split() == ["target", "verdict", "scalars", "place", "mode", "encoder"]
    assert first.split() == ["cpython", "✓", "✓", "✓", "✓", "✓"]
    assert "look at the adapter first: it accepts every string" in done.stdout


def test_what_has_changed_is_measured_again(folder):
    """Another time-out, other files of the project, truncated results: none of these rows is kept."""
    site = folder / "site"
    found = json.loads((site / "matrix.json").read_text("ascii"))
    conditions = {name: found[name] for name in ("profile", "options", "files")}
    assert set(rows_to_keep(site, conditions)) == set(TARGETS) - {MISSING}
    assert not rows_to_keep(site, conditions | {"options": ["--limit", "timeout=1"]})
    assert not rows_to_keep(site, conditions | {"files": {"overlong.toml": {"sha256": "0" * 64}}})
    assert not rows_to_keep(site, conditions | {"profile": "wtf-8@1"})
    results = site / "cpython/results.jsonl"
    results.write_text("".join(results.read_text("ascii").splitlines(keepends=True)[:-1]), "ascii")
    assert set(rows_to_keep(site, conditions)) == {WRONG, OWN_WAY}
    (site / "matrix.json").write_text("{", "ascii")
    assert not rows_to_keep(site, conditions)


def marked(mark):
    """The processes with this mark in their environment."""
    found = set()
    for each in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in each.read_bytes():
                found.add(int(each.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_killed_and_resumed_is_as_if_nothing_had_happened(tmp_path):
    """SIGKILL with one row finished and one under way: no process survives, and the next run resumes."""
    (tmp_path / "mine.py").write_text(FROM_A_FILE)
    (tmp_path / "slow").touch()
    words = ["-j", "2", "-o", "site", "py:mine.py:quick", "py:mine.py:decode"]
    mark = f"OVERLONG_MARK={tmp_path}".encode()
    process = subprocess.Popen(
        [*COMMAND, *words],
        cwd=tmp_path,
        env={**UTF8, "OVERLONG_MARK": str(tmp_path)},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
    )
    assert process.stderr is not None
    with process.stderr:
        assert b"quick: conforms" in process.stderr.readline()
        assert len(marked(mark)) > 2  # the matrix, a worker, its target and the target's supervisor
        process.kill()
        process.wait()
        deadline = time.monotonic() + HUNG
        while marked(mark) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not marked(mark)
    (tmp_path / "slow").unlink()
    cut = json.loads((tmp_path / "site/matrix.json").read_text("ascii"))
    assert cut["incomplete"]
    assert [row["state"] for row in cut["targets"]] == [State.CONFORMS, State.INCOMPLETE]
    done = overlong("--resume", *words, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("(kept)") == 1
    assert overlong(*words[:3], "whole", *words[4:], cwd=tmp_path).returncode == 0
    assert without_times(tmp_path / "site") == without_times(tmp_path / "whole")
    with (tmp_path / "mine.py").open("a") as file:
        file.write("# another file\n")
    done = overlong("--resume", "-o", "site", "py:mine.py:decode", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("(kept)")) == (0, 0)


def test_an_interruption_ends_all_of_them(tmp_path):
    """The signal goes only to the harness, as from a scheduler: no process survives, and the results are shown."""
    (tmp_path / "mine.py").write_text(FROM_A_FILE)
    (tmp_path / "slow").touch()
    process = subprocess.Popen(
        [*COMMAND, "--format", "json", "-j", "1", "py:mine.py:decode", "cpython"],
        cwd=tmp_path,
        env=UTF8,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    unfinished = tmp_path / "overlong-results"
    deadline = time.monotonic() + HUNG
    while not list(unfinished.glob("py-*/results.jsonl.part")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    written, said = process.communicate(timeout=HUNG)
    found = json.loads(written)
    assert [row["state"] for row in found["targets"]] == [State.INCOMPLETE, State.INCOMPLETE]
    assert found["incomplete"] == "interrupted"
    assert process.returncode == 4
    assert b"--resume" in said.splitlines()[-1]


@pytest.mark.parametrize("form", ["text", "json"])
def test_rows_that_cannot_be_saved_are_shown(form, tmp_path, monkeypatch):
    write = matrix.write_statement

    def full_after_the_first(folder, document):
        if any(row["claims"] for row in document["targets"]):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder / "matrix.json"))
        write(folder, document)

    monkeypatch.setattr(matrix, "write_statement", full_after_the_first)
    words = ["matrix", "--quick", "-q", "-j", "1", "-o", str(tmp_path), "--format", form, WRONG, MISSING]
    done = CliRunner().invoke(cli, words, env={"COLUMNS": "80"})
    assert done.exit_code == 2
    (line,) = done.stderr.splitlines()
    assert "matrix.json: No space left on device; choose another folder with -o" in line
    if form == "json":
        found = json.loads(done.stdout)
        assert found["targets"][0]["claims"]["verdict"] == "fails"
        assert found["incomplete"] == "its results cannot be saved"
    else:
        assert "always_true" in done.stdout
        assert "1 diverges" in done.stdout


def test_a_row_whose_results_cannot_be_saved_has_them_nevertheless(tmp_path):
    limited = ["sh", "-c", 'ulimit -f 1 && exec "$@"', "sh"]
    job = json.dumps(dataclasses.asdict(MatrixJob("rfc3629", True, Limits(), target=WRONG, folder=str(tmp_path))))
    worker = module("overlong.conformance.certification.matrix_worker")
    pipe = subprocess.PIPE
    with subprocess.Popen([*limited, *worker], stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True) as it:
        assert it.stdin
        assert it.stdout
        assert it.stderr
        it.stdin.write(job.encode() + b"\n")
        it.stdin.flush()
        written, said = it.stdout.read(), it.stderr.read()
    row = row_of(WRONG, it.returncode, written, said, 0)
    assert row.state is State.DIVERGES
    assert "File too large; choose another folder" in row.why


def test_whatever_a_run_ends_with_makes_a_row():
    assert row_of("a", -9, b"", b"", 0).state is State.NOT_MEASURED
    assert "-9" in row_of("a", -9, b"", b"", 0).why
    assert row_of("a", 3, b"", b"overlong: a: not available here", 0).why == "a: not available here"
    assert row_of("a", 0, b"[]", b"", 0).state is State.NOT_MEASURED
    assert row_of("a", 0, b'{"predicate": {}}', b"", 0).state is State.NOT_MEASURED


def test_the_slowest_begin_first():
    assert slowest_first(["cpython", "tcl", "b", "perl-utf8", "a"]) == ["tcl", "perl-utf8", "cpython", "b", "a"]
    assert set(SLOWEST) <= set(BUILTINS)


def test_text_of_targets_stays_text():
    cause = Cause(
        *("OV201", "overlong form accepted", "", HOSTILE, "verdict", 1, "D-00000000", "overlong/c080"),
        *(b"\xc0\x80", "V", HOSTILE, "accepted"),
    )
    subjects = [
        Subject(HOSTILE, State.DIVERGES, version=HOSTILE, claims={"verdict": "fails"}, causes=(cause,), stale=(cause,)),
        Subject("b", State.NOT_MEASURED, why=HOSTILE),
    ]
    shown = list(table(subjects, width=80, encoding="ascii"))
    assert all(character.isprintable() for line in shown for character in line)
    assert max(map(len, shown)) <= 80


def test_what_is_expected_is_not_blamed_on_the_suites_that_ran():
    subject = Subject("it", State.EXPECTED, why="only part of the suites ran")
    assert not any("suites" in line for line in table([subject], width=80, encoding="ascii"))
