"""Ctrl-C, SIGTERM and SIGHUP at the worst moment: a program run with ``-m`` exits with the code that it chose."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from waiting import HUNG

SIGNALS = [signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)]

PROGRAM = """
import os, signal, sys
from overlong.conformance.support.process import listen
signal.signal(signal.SIGINT, signal.default_int_handler)
listen()
try:
    exec("os.kill(os.getpid(), int(sys.argv[1]))\\nfor each in range(10 ** 7): pass")
except KeyboardInterrupt:
    sys.exit(4)
"""


@pytest.mark.long
@pytest.mark.parametrize("number", SIGNALS)
def test_in_the_middle_of_exec(number, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run([sys.executable, "-m", "program", str(int(number))], cwd=tmp_path, check=False, timeout=HUNG)
    assert done.returncode == 4


@pytest.mark.long
@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal here")
def test_what_nohup_ignores_stays_ignored(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "program", str(int(signal.SIGHUP))],
        cwd=tmp_path,
        check=False,
        timeout=HUNG,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
    )
    assert done.returncode == 0


PREPARED = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have made this process ignore them
for name in {"SIGTERM", "SIGHUP"} & set(dir(signal)):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
number = int(sys.argv.pop(1))
"""
AT_AN_IMPORT = """
module = sys.argv.pop(1)
class Finder:
    def find_spec(name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(Finder)
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Finder)
from overlong.__main__ import main
main()
"""
AT_THE_FIRST_WORD = """
import click
echo = click.echo
def interrupted(*words, **options):
    echo(*words, **options)
    os.kill(os.getpid(), number)
click.echo = interrupted
from overlong.__main__ import main
main()
"""
AT_THE_LAST_MOMENT = """
class Last:
    def __del__(self, kill=os.kill, pid=os.getpid(), number=number):
        kill(pid, number)

last = Last()  # the interpreter removes it after its handlers of signals
from overlong.__main__ import main
main()
"""


def run(program, number, *words):
    return subprocess.run(
        [sys.executable, "-P", "-c", PREPARED + program, str(int(number)), *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=HUNG,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize(
    ("module", "number"),
    [*(("click", each) for each in SIGNALS), ("overlong.fuzz.finding", SIGNALS[0]), ("textwrap", SIGNALS[1])],
)
def test_during_an_import(module, number):
    done = run(AT_AN_IMPORT, number, module, "explain", "OV201")
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr == "overlong: interrupted before anything was measured; nothing was written\n"


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
@pytest.mark.parametrize("number", SIGNALS)
def test_after_the_last_word(number):
    done = run(AT_THE_LAST_MOMENT, number, "explain", "OV201")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="os.kill ends the process there")
def test_in_the_middle_of_a_report(tmp_path):
    words = ("certify", "--suite", "core", "-q", "-o", str(tmp_path), "cpython-surrogatepass")
    done = run(AT_THE_FIRST_WORD, signal.SIGTERM, *words)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.startswith("NOT CONFORMANT")
    assert done.stdout.splitlines()[-1].startswith(f"next: overlong explain {tmp_path} D-")
