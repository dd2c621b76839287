"""A matrix with workers forked off one process has the same results as one with newly started workers."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import asdict

import pytest

from overlong.conformance.certification.matrix import SLOWEST, slowest_first
from overlong.conformance.certification.matrix_worker import MatrixJob
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.limits import Limits
from zoo import ZOO

WRONG = f"py:{ZOO / 'known_wrong.py'}:always_true"
MISSING = "py:no_such_module:f"

forked = pytest.mark.skipif(sys.platform != "linux", reason="no workers are forked here")


def test_the_slowest_begin_first():
    assert slowest_first(["cpython", "tcl", "b", "perl-utf8", "a"]) == ["tcl", "perl-utf8", "cpython", "b", "a"]
    assert set(SLOWEST) <= set(BUILTINS)


def started():
    from overlong.conformance.certification.matrix_nursery import Nursery  # only on Linux

    return Nursery("rfc3629", ["core"])


@pytest.fixture(scope="module")
def nursery():
    made = started()
    yield made
    made.close()


@pytest.mark.long
@forked
def test_a_worker_says_how_it_ended(nursery, tmp_path):
    killed, lonely, wrong = nursery.fork(), nursery.fork(), nursery.fork()
    killed.send_signal(signal.SIGKILL)
    assert killed.communicate() == (b"", b"")
    assert killed.returncode == -signal.SIGKILL
    killed.send_signal(signal.SIGKILL)  # it has ended, and its number is not reused
    lonely.stdin.close()  # as if the matrix ended before it sent a job
    assert lonely.communicate() == (b"", b"")
    assert lonely.returncode == 0
    job = MatrixJob("rfc3629", True, Limits(), target=MISSING, folder=str(tmp_path / "row"))
    wrong.stdin.write(json.dumps(asdict(job)).encode("ascii") + b"\n")
    wrong.stdin.flush()
    written, said = wrong.communicate()
    assert (wrong.returncode, written) == (3, b"")
    assert b"importing no_such_module failed" in said
    for each in (killed, wrong):
        each.stdin.close()


@forked
def test_workers_outlive_the_nursery():
    nursery = started()
    worker = nursery.fork()
    assert worker.stdin is not None
    nursery.close()
    with pytest.raises(OSError, match="descriptor"):
        nursery.fork()
    worker.stdin.close()
    worker.communicate()
    assert worker.returncode == 0


@pytest.mark.long
@forked
def test_rows_are_the_same(tmp_path):
    targets = [WRONG, MISSING, "cpython-incremental"]
    rows, results = [], []
    for jobs in ("1", "4"):  # with and without a nursery
        subprocess.run(
            [sys.executable, "-m", "overlong", "matrix", "--quick", "-q", "-j", jobs, "-o", jobs, *targets],
            cwd=tmp_path, env={**os.environ, "COLUMNS": "80"}, capture_output=True, check=False,
        )  # fmt: skip
        found = json.loads((tmp_path / jobs / "matrix.json").read_text("ascii"))["targets"]
        rows.append([{key: row[key] for key in row if key not in ("time", "seconds")} for row in found])
        results.append({path.parent.name: path.read_text("ascii") for path in tmp_path.glob(f"{jobs}/*/results.jsonl")})
    assert [row["target"] for row in rows[0]] == targets
    assert rows[0] == rows[1]
    assert len(results[0]) == 2
    assert results[0].keys() == results[1].keys()
    for name, text in results[0].items():
        vectors = [line for line in text.splitlines() if '"divergence"' in line]
        assert vectors == [line for line in results[1][name].splitlines() if '"divergence"' in line], name
