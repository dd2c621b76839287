"""Standard streams that are closed, full or not read: verdict and exit code stay the same, or one line and code 4."""

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import HUNG

pytestmark = pytest.mark.long

if os.name != "posix":
    pytest.skip("a POSIX shell closes them", allow_module_level=True)

OVERLONG = [sys.executable, "-P", "-c", "from overlong.__main__ import main; main()"]
CORE = ("certify", "--suite", "core", "-o", "out")
FULL = pytest.param(">/dev/full", marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is none"))
LOST = "overlong: standard output is incomplete: {}; write it elsewhere\n"


def left(folder, words, how):
    """The exit code and the text on stderr."""
    command = f"{shlex.join([*OVERLONG, *words])} {how}"
    if "|" in how:
        command = f"({command.replace('|', '; echo $? >code; ) |')}; exit $(cat code)"
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("how", ["2>&-", "<&-", "| head -1", "| true", "2>/dev/full"])
def test_a_verdict_does_not_depend_on_them(tmp_path, how):
    assert left(tmp_path, (*CORE, "cpython"), how) == (0, "")
    (tmp_path / "out" / "results.jsonl").rename(tmp_path / "right.jsonl")
    assert left(tmp_path, (*CORE, "cpython-surrogatepass"), how) == (1, "")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ((*CORE, "cpython"), 4),
        ((*CORE, "cpython-surrogatepass"), 1),
        (("explain", "C0", "80"), 4),
        (("explain", "OV201"), 4),
        (("vectors", "list"), 4),
        (("vectors", "export", "--format", "json", "--suite", "core"), 4),
        (("target", "list"), 4),
        (("replay", "input/C080", "cpython"), 4),
        (("--help",), 4),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
@pytest.mark.parametrize("how", [FULL, ">&-"])
def test_what_cannot_be_written_is_said(tmp_path, words, code, how):
    why = os.strerror(errno.EBADF if how.endswith(">&-") else errno.ENOSPC)
    assert left(tmp_path, words, how) == (code, LOST.format(why))
    assert left(tmp_path, words, f"{how} <&- 2>&-") == (code, "")


@pytest.mark.parametrize(
    "words",
    [
        ("explain", "C0", "80"),
        ("vectors", "score", "-"),
        ("matrix", "--quick", "-o", "site", "cpython"),
        ("target", "check", "cpython"),
    ],
    ids=lambda words: words[0],
)
def test_nor_does_any_other_verb(tmp_path, words):
    code, _ = left(tmp_path, words, ">/dev/null")
    assert left(tmp_path, words, "<&- 2>&-") == (code, "")
