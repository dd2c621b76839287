"""Many targets in one table: each has its row whatever another does, and all that it says stays text."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlong.conformance.matrix import CONFORMS, DIVERGES, INCOMPLETE, NOT_MEASURED, Row, row_of
from overlong.conformance.report.matrix import markdown, table

HERE = Path(__file__).parent
WRONG = f"py:{HERE / 'known_wrong.py'}:always_true"
OWN_WAY = f"py:{HERE / 'with_traits.py'}:replaces_in_its_own_way"
COMMAND = [sys.executable, "-m", "overlong", "matrix"]
UTF8 = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "80"}
DASH = "\N{EN DASH}"
HOSTILE = "<script>alert(1)</script>|\x1b]0;owned\x07\n::error::x\u202e"


def overlong(*words, cwd):
    return subprocess.run([*COMMAND, *words], cwd=cwd, env=UTF8, capture_output=True, encoding="utf-8", check=False)


def test_a_row_for_each(tmp_path):
    targets = ["cpython", WRONG, "py:no_such_module:f", "cpython-surrogatepass"]
    done = overlong("--quick", "--format", "json", *targets, cwd=tmp_path)
    rows = json.loads(done.stdout)
    assert [row["target"] for row in rows] == targets
    assert [row["state"] for row in rows] == [CONFORMS, DIVERGES, NOT_MEASURED, DIVERGES]
    assert rows[0]["claims"]["verdict"] == "holds"
    assert {bucket["code"] for bucket in rows[3]["buckets"]} == {"OV202", "OV703"}
    assert "importing no_such_module failed" in rows[2]["why"]
    assert done.returncode == 3
    assert len(list((tmp_path / "overlong-results").glob("*/results.jsonl"))) == 3
    assert done.stderr.count("\n") == len(targets)


@pytest.mark.parametrize(
    ("targets", "code"),
    [
        (["cpython"], 0),
        (["cpython", WRONG], 1),
        (["cpython", OWN_WAY], 0),
        ([OWN_WAY], 3),
        ([], 2),
        (["a", "a"], 2),
    ],
)
def test_exit_status(tmp_path, targets, code):
    done = overlong("--quick", "-q", *targets, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_the_table_has_room_in_80_columns(tmp_path):
    done = overlong("--quick", "-q", "cpython", "cpython-incremental", WRONG, cwd=tmp_path)
    assert max(map(len, done.stdout.splitlines())) <= 80
    head, *rows = done.stdout.splitlines()[:4]
    assert head.split() == ["target", "verdict", "scalars", "place", "mode", "stream", "early", "encoder"]
    assert rows[0].split() == ["cpython", "✓", "✓", "✓", "✓", DASH, DASH, "✓"]
    assert "expected reject" in done.stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_all_of_them(tmp_path, how):
    """Sent to the harness alone, as a scheduler does it: no process is left, and what was measured is shown."""
    slow = tmp_path / "slow.py"
    slow.write_text("import time\ndef decode(octets):\n    time.sleep(0.02)\n    return octets.decode()\n")
    process = subprocess.Popen(
        [*COMMAND, "--quick", "--format", "json", "-j", "1", f"py:{slow}:decode", "cpython"],
        cwd=tmp_path,
        env=UTF8,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(3)
    process.send_signal(how)
    written, _ = process.communicate(timeout=30)
    assert [row["state"] for row in json.loads(written)] == [INCOMPLETE, INCOMPLETE]
    assert process.returncode == 4


def test_whatever_a_run_ends_with_makes_a_row():
    assert row_of("a", -9, b"", b"", 0).state == NOT_MEASURED
    assert "-9" in row_of("a", -9, b"", b"", 0).why
    assert row_of("a", 3, b"", b"overlong: a: not available here", 0).why == "a: not available here"
    assert row_of("a", 0, b"[]", b"", 0).state == NOT_MEASURED
    assert row_of("a", 0, b'{"predicate": {}}', b"", 0).state == NOT_MEASURED


def test_text_of_targets_stays_text():
    claims = {"verdict": "fails", "scalars": "holds"}
    example = {"hex": "c080", "chunks": None, "expected": {"words": HOSTILE}, "observed": {"words": "accepted"}}
    bucket = {"code": "OV201", "title": "overlong form accepted", "count": 1, "example": example}
    rows = [
        Row(HOSTILE, DIVERGES, version=HOSTILE, claims=claims, buckets=(bucket,)),
        Row("b", NOT_MEASURED, why="it is not here"),
    ]
    lines = list(table(rows, width=80, encoding="ascii"))
    shown = "\n".join(lines) + "\n".join(markdown(rows))
    assert all(character == "\n" or character.isprintable() for character in shown)
    assert "\u202e" not in shown
    assert all("<script>" not in line for line in markdown(rows))
    assert {len(line.replace("\\|", "").split("|")) for line in markdown(rows)} == {6}
