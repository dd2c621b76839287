"""Ctrl-C, SIGTERM and SIGHUP at the worst moment: a program run with ``-m`` exits with the code that it chose."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

PROGRAM = """
import os, signal, sys
from overlong.conformance.support.interruption import listen
signal.signal(signal.SIGINT, signal.default_int_handler)
listen()
try:
    exec("os.kill(os.getpid(), int(sys.argv[1]))\\nfor each in range(10 ** 7): pass")
except KeyboardInterrupt:
    sys.exit(4)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)])
def test_in_the_middle_of_exec(number, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "program", str(int(number))], cwd=tmp_path, check=False, timeout=20)
    assert done.returncode == 4


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal here")
def test_what_nohup_ignores_stays_ignored(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "program", str(int(signal.SIGHUP))],
        cwd=tmp_path,
        check=False,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert done.returncode == 0
