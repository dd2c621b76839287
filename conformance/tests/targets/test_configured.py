"""Targets that a project defines: permitted entries, and a one-line message for each other."""

import contextlib
import hashlib
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from overlong.conformance import TargetError, certify
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.targets import configured as module
from overlong.conformance.targets.configured import FILES, configured
from overlong.conformance.targets.consent import VARIABLE
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.identity import identity_of
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from waiting import HUNG

ADAPTER = """
import json, os, struct, sys
out, read = sys.stdout.buffer, sys.stdin.buffer.read
print(json.dumps({"overlong": 1, "operations": "PV", "name": os.environ["DECODER"]}), flush=True)
while len(head := read(8)) == 8:
    length, number = struct.unpack(">II", head)
    body = read(length - 4)
    status = b"A" + body[1:] if body[:1] == b"P" else b"U"
    if body[:1] == b"V":
        try:
            body[1:].decode()
            status = b"A"
        except UnicodeDecodeError:
            status = b"R"
    out.write(struct.pack(">II", 4 + len(status), number) + status)
    out.flush()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("OVERLONG_SET_UP", "")
    return tmp_path


def entry(file, text):
    """A file of the project that defines a target; the user has agreed to it."""
    Path(file).write_text(f"[{'.'.join(FILES[file])}.mine]\n{text}")
    os.environ[VARIABLE] = hashlib.sha256(Path(file).read_bytes()).hexdigest()


@pytest.mark.parametrize("file", FILES)
@pytest.mark.usefixtures("folder")
def test_a_command_with_all_that_may_be_said_of_it(file):
    python = shlex.quote(sys.executable)
    entry(
        file,
        f"""
        command = "{python} adapter.py"
        setup = ["{python} -c 'open(\\"adapter.py\\", \\"w\\").write(open(\\"adapter.txt\\").read())'"]
        timeout = 7
        restarts = 3
        environment = {{ DECODER = "from the file" }}
        """,
    )
    Path("adapter.txt").write_text(ADAPTER)
    target = resolve("mine", Limits(timeout=1, restarts=9))
    assert isinstance(target, FramedTarget)
    assert (target.id, target.timeout, target.restart_budget) == ("mine", 7, 3)
    certificate = certify("mine", suites=["core"])
    assert certificate.conformant
    assert certificate.run.greeting.name == "from the file"


@pytest.mark.parametrize(("file", "before"), [("overlong.toml", ""), ("pyproject.toml", "tool.overlong.")])
@pytest.mark.usefixtures("folder")
def test_a_table_that_is_none_of_ours_is_refused(file, before):
    Path(file).write_text(f'[{before}target.mini]\ntarget = "cpython"\n')
    with pytest.raises(UnknownTarget, match=rf"^{file}: there is no 'target'; did you mean targets"):
        configured()


@pytest.mark.usefixtures("folder")
def test_a_name_that_no_shell_takes_from_a_report_is_refused():
    Path("overlong.toml").write_text('[targets."a\\u001b[31m"]\ntarget = "cpython"\n')
    with pytest.raises(UnknownTarget, match=r"^overlong.toml: the target .*x1b.* has a control character; rename it$"):
        configured()


@pytest.mark.usefixtures("folder")
def test_a_name_for_a_target_of_another_kind():
    entry("overlong.toml", 'target = "py:codecs:utf_8_decode"\nrestarts = 1')
    target = resolve("mine")
    assert isinstance(target, FramedTarget)
    assert (target.id, target.restart_budget, target.timeout) == ("mine", 1, Limits().timeout)


def test_overlong_toml_comes_first_and_other_tables_are_left_alone(folder):
    (folder / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert configured() == {}
    (folder / "pyproject.toml").write_text('[tool.overlong.targets.a]\ntarget = "cpython"\n')
    assert list(configured()) == ["a"]
    (folder / "overlong.toml").write_text('[targets.b]\ntarget = "cpython"\n')
    assert list(configured()) == ["b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "write either command"),
        ('command = "a"\ntarget = "b"', "write either command"),
        ("command = []", "mine.command is no command"),
        ("command = [1]", "mine.command is no command"),
        ("command = 5", "mine.command is no command"),
        ('command = "a \'b"', "No closing quotation"),
        ("target = 5", "mine.target is no string"),
        ('target = "a"\nsetup = "make"', "mine.setup is no list"),
        ('target = "a"\nsetup = [[]]', "mine.setup is no command"),
        ('target = "a"\ntimeout = "1"', "mine.timeout is no number"),
        ('target = "a"\ntimeout = nan', "mine.timeout is no number"),
        ('target = "a"\nrestarts = -1', "mine.restarts is no whole number"),
        ('target = "a"\nrestarts = true', "mine.restarts is no whole number"),
        ('target = "a"\nenvironment = { A = 1 }', "mine.environment is no table"),
        ('target = "a"\ntimeuot = 1', "there is no 'timeuot'"),
        ('target = "mine"', "names itself"),
        ('target = "other"\n[targets.other]\ntarget = "mine"', "names itself"),
        ('target = "0"\n' + "\n".join(f'[targets.{n}]\ntarget = "{n + 1}"' for n in range(50)), "write what it is"),
        ('target = "a"\ntimeout = true', "mine.timeout is no number"),
        (f'target = "a"\nrestarts = {"9" * 5000}', "no TOML"),
        ('command = ["a\\u0000"]', "mine.command is no command"),
        ('target = "a"\nsetup = [[""]]', "mine.setup is no command"),
        ('target = "a"\nenvironment = { "A=B" = "" }', "mine.environment has a name"),
        (f"{'a.' * 100_000}a = 1", "more than 200 parts"),
        ('target = "nosuch"', "no target 'nosuch'"),
        ("\x1b", "no TOML"),
        ("a = " + "[" * 100_000, "no TOML"),
        ('target = "a"\ntarget = "b"', "no TOML"),
    ],
)
@pytest.mark.usefixtures("folder")
def test_what_is_wrong_is_one_line(text, words):
    entry("overlong.toml", text)
    with pytest.raises(UnknownTarget) as caught:
        resolve("mine")
    assert words in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["no-such-program"], "cannot be started"),
        ([sys.executable, "-c", r"import sys; sys.exit('\x1b]0;no')"], r'status 1; it said "\x1b]0;no"'),
    ],
)
@pytest.mark.usefixtures("folder")
def test_a_set_up_that_fails(command, words):
    entry("overlong.toml", f"target = 'cpython'\nsetup = [{json.dumps(command)}]")
    target = resolve("mine")
    with pytest.raises(TargetError) as caught:
        target.start()
    assert words in str(caught.value)


def running(group):
    """The running processes of a group."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            stats.append(path.read_text(errors="replace").rpartition(")")[2].split())
    return [words for words in stats if words[2] == str(group) and words[0] != "Z"]


@pytest.mark.skipif(sys.platform != "linux", reason="it looks for processes in /proc")
@pytest.mark.parametrize(
    ("script", "ends"),
    [("yes \x1b[2J | head -c 40000000; exit 1", 1), ("sleep 6000 & exit 0", 0), ("sleep 6000 & sleep 6001", None)],
)
@pytest.mark.usefixtures("folder")
def test_a_set_up_can_neither_flood_nor_hold_us_up(script, ends, monkeypatch):
    monkeypatch.setattr(module, "_SETUP_SECONDS", HUNG if ends is not None else 3.0)
    monkeypatch.setattr(module, "_DYING", 0.2)
    entry("overlong.toml", f"target = 'cpython'\nsetup = [{json.dumps(['sh', '-c', f'echo $$ > group; {script}'])}]")
    said = {1: r'status 1; it said "\x1b[2J"', None: "did not end within 3.0 s"}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TargetError, match=re.escape(said[ends])) if ends != 0 else contextlib.nullcontext():
        identity_of(resolve("mine"))
    group = int(Path("group").read_text())
    deadline = time.monotonic() + HUNG
    while ends != 0 and running(group) and time.monotonic() < deadline:
        time.sleep(0.01)  # a killed process takes a moment to be gone
    assert bool(running(group)) == (ends == 0), "what it left running is its own affair, unless it was ended"
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


@pytest.mark.parametrize("name", ["overlong.toml", "pyproject.toml"])
@pytest.mark.usefixtures("folder")
def test_a_pipe_that_has_the_files_name_is_not_waited_for(name):
    os.mkfifo(name)
    with pytest.raises(UnknownTarget, match=f"{name}: no file"):
        resolve("mine")


@pytest.mark.usefixtures("folder")
def test_a_name_that_a_built_in_has_is_refused():
    Path("overlong.toml").write_text('[targets.cpython]\ntarget = "py:a:b"\n')
    with pytest.raises(UnknownTarget, match=r"overlong.toml.*cpython.*has that name"):
        resolve("cpython")
    assert resolve("builtin:cpython").id == "cpython"


@pytest.mark.long
@pytest.mark.usefixtures("folder")
def test_a_broken_file_does_not_stand_in_the_way_of_other_targets():
    Path("pyproject.toml").write_text("[")
    done = subprocess.run(
        [sys.executable, "-m", "overlong", "certify", "-q", "--suite", "core", "py:codecs:utf_8_decode"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "no TOML" not in done.stderr
