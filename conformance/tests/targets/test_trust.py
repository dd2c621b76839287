"""Commands in a project's file run only after the user has seen them and agreed, once for each content of the file."""

import hashlib
import json
import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from overlong.conformance import certify
from overlong.conformance.targets.configured import configured
from overlong.conformance.targets.consent import NotAgreed, wanted_by
from overlong.conformance.targets.resolve import resolve

pytestmark = pytest.mark.long

CORE = ("certify", "-q", "--suite", "core", "-o", "out")
ASKED = "now and until the file changes? [y/N]"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A stranger's project, whose target creates a file at set-up, and another at its start."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("OVERLONG_TRUST", raising=False)
    monkeypatch.delenv("OVERLONG_SET_UP", raising=False)
    Path("evil.py").write_text("open('ran', 'a').write('x')\n\ndef decode(octets):\n    return octets.decode()\n")
    Path("overlong.toml").write_text(of_a_project())
    return folder


def of_a_project(more=""):
    command = json.dumps([sys.executable, "-c", "open('set-up', 'a').write('x')"])
    return f"""{more}
[targets.foo]
target = "py:evil.py:decode"
setup = [{command}, "true \\u001b]0;no\\u202e"]
[targets.other]
target = "py:evil.py:decode"
environment = {{ LC_ALL = "C" }}
[targets.alias]
target = "foo"
[targets.plain]
target = "cpython"
timeout = 3.5
"""


def overlong(*words, environment=None):
    environment = {**os.environ, **(environment or {})}
    command = [sys.executable, "-m", "overlong", *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, env=environment
    )


AGAIN = 5.0
"""Seconds after which a key is pressed again."""


def on_a_terminal(answer, *words):
    """A terminal's output when the question is answered, and the exit status."""
    pid, terminal = pty.fork()
    if not pid:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell that starts the tests beside others has it ignored
        os.execv(sys.executable, [sys.executable, "-m", "overlong", *words])
    text, answered = b"", False
    while True:
        if answered and not select.select([terminal], [], [], AGAIN)[0]:
            os.write(terminal, answer)  # a key that is pressed right before the program begins to read may be lost
            continue
        try:
            octets = os.read(terminal, 4096)
        except OSError:  # the process has ended
            break
        if not octets:
            break
        text += octets
        if not answered and b"[y/N]" in text:
            os.write(terminal, answer)
            answered = True
    os.close(terminal)
    return text.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def nothing_ran():
    return not Path("ran").exists() and not Path("set-up").exists()


@pytest.mark.parametrize(
    "words",
    [
        CORE, ("certify", "-q", "--quick"), ("replay", "80"), ("identify",),
        ("sweep", "-q", "--plan", "exhaustive-1"),
        ("target", "check"), ("matrix", "-q", "--quick", "cpython"), ("fuzz", "-q", "--runs", "10"),
    ],
    ids=lambda words: words[0],
)  # fmt: skip
@pytest.mark.parametrize("name", ["foo", "alias"])
@pytest.mark.usefixtures("project")
def test_no_verb_runs_what_nobody_agreed_to(words, name):
    done = overlong(*words, name)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("overlong: overlong.toml: ")
    assert "set-up: " in line
    assert "decoder: py:evil.py:decode" in line
    assert line.endswith("add --trust")
    assert line.isprintable()
    assert nothing_ran()


@pytest.mark.usefixtures("project")
def test_trust_agrees_for_one_run_and_says_what_it_runs():
    for _ in range(2):
        done = overlong(*CORE, "--trust", "foo")
        assert done.returncode == 0, done.stderr
        assert done.stderr.startswith("overlong: overlong.toml in this folder names what runs\n  set-up: ")
        assert r"true '\x1b]0;no\u{202e}'" in done.stderr
    assert Path("set-up").read_text() == "xx"
    assert overlong(*CORE, "foo").returncode == 2
    digest = hashlib.sha256(Path("overlong.toml").read_bytes()).hexdigest()
    done = overlong(*CORE, "foo", environment={"OVERLONG_TRUST": f"{'0' * 64},{digest}"})
    assert (done.returncode, done.stderr) == (0, "")
    assert overlong(*CORE, "foo", environment={"OVERLONG_TRUST": "0" * 64}).returncode == 2


@pytest.mark.usefixtures("project")
def test_set_up_runs_once_in_a_run_of_many_processes():
    done = overlong("matrix", "-q", "--quick", "-j", "2", "--trust", "foo", "other")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("this folder names what runs") == 1
    Path("set-up").unlink()
    done = overlong("fuzz", "-q", "--runs", "2000", "--jobs", "2", "-o", "campaign", "--trust", "foo")
    assert done.returncode == 0, done.stderr
    assert Path("set-up").read_text() == "x"
    assert overlong("fuzz", "-q", "--runs", "4000", "--resume", "campaign").returncode == 2
    assert overlong("fuzz", "-q", "--runs", "4000", "--resume", "campaign", "--trust").returncode == 0


@pytest.mark.parametrize(
    "words",
    [("--suite", "nosuch"), ("-o", "overlong.toml"), ("--expected", "overlong.toml/x"), ("--vectors", "nosuch.json")],
    ids=lambda words: words[0],
)
@pytest.mark.usefixtures("project")
def test_nothing_is_set_up_in_vain(words):
    assert overlong("certify", "-q", "--trust", *words, "foo").returncode == 2
    assert nothing_ran()


def test_on_a_terminal_it_is_asked_once_for_each_content(project, tmp_path):
    said, status = on_a_terminal(b"n\n", *CORE, "foo")
    assert (status, ASKED in said, "you did not agree" in said) == (2, True, True)
    assert nothing_ran()
    said, status = on_a_terminal(b"y\n", *CORE, "foo")
    assert (status, ASKED in said) == (0, True)
    assert "py:evil.py:decode" in said
    assert "\x1b]0;no" not in said
    said, status = on_a_terminal(b"n\n", *CORE, "foo")
    assert (status, ASKED in said) == (0, False)
    assert overlong(*CORE, "foo").returncode == 0, "agreed targets need no terminal"
    assert overlong(*CORE, "other").returncode == 2, "that one was never shown"
    assert on_a_terminal(b"y\n", *CORE, "other")[1] == 0
    assert overlong(*CORE, "foo").returncode == 0
    (remembered,) = (tmp_path / "state/overlong/trust").iterdir()
    assert json.loads(remembered.read_text())["targets"] == ["foo", "other"]
    Path("overlong.toml").write_text(of_a_project("# another"))
    assert overlong(*CORE, "foo").returncode == 2
    Path("overlong.toml").write_text(of_a_project())
    for broken in ("{", "[]", '{"file": 1}', '{"targets": 5}'):
        remembered.write_text(broken)
        assert overlong(*CORE, "foo").returncode == 2
    elsewhere = tmp_path / "elsewhere"
    project.rename(elsewhere)
    os.chdir(elsewhere)
    assert overlong(*CORE, "foo").returncode == 2, "the same words run other files there"


@pytest.mark.parametrize(("key", "words", "code"), [(b"\3", "interrupted before", 4), (b"\4", "you did not agree", 2)])
@pytest.mark.usefixtures("project")
def test_who_gives_no_answer_gets_no_verdict(key, words, code):
    """Ctrl-C and Ctrl-D at the question."""
    said, status = on_a_terminal(key, *CORE, "foo")
    assert (status, words in said, said.strip().count("\noverlong: ")) == (code, True, 1)
    assert "Abort" not in said
    assert nothing_ran()


def test_what_cannot_be_remembered_is_asked_again(project, tmp_path):
    (tmp_path / "state").write_text("no folder")
    for _ in range(2):
        said, status = on_a_terminal(b"y\n", *CORE, "foo")
        assert (status, ASKED in said, "the next run asks again" in said) == (0, True, True)


@pytest.mark.usefixtures("project")
def test_another_name_for_a_decoder_that_ships_needs_nobody():
    assert wanted_by(["plain", "cpython", "py:evil.py:decode", ["sh"]]) is None
    assert overlong(*CORE, "plain").returncode == 0


@pytest.mark.usefixtures("project")
def test_as_a_library(monkeypatch):
    with pytest.raises(NotAgreed, match="trust"):
        certify("foo", suites=["core"])
    own = configured()
    Path("overlong.toml").write_text(of_a_project("# another"))
    monkeypatch.setenv("OVERLONG_TRUST", hashlib.sha256(Path("overlong.toml").read_bytes()).hexdigest())
    resolve("foo")
    assert wanted_by(["foo"], own) is not None
    assert nothing_ran()
    assert certify("foo", suites=["core"], trust=True).conformant
