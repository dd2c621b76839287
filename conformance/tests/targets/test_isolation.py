"""Nothing that a target starts outlives it, its memory has a limit, and it cannot harm other processes.

Each test runs once with this machine's isolation (a PID namespace, if possible) and once as if there were none.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hostile import CORE, CULPRIT, TARGET, divergences, free, run
from overlong.conformance import TargetError, certify
from overlong.conformance.protocol.observation import describe
from overlong.conformance.targets import process
from overlong.conformance.targets.process import CROWDED, Ended, Process
from overlong.conformance.targets.supervisor import MOST_PROCESSES
from waiting import HUNG

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("unexamined")]

pytest.importorskip("fcntl", reason="signals and file locks are POSIX's")
if sys.platform != "linux":
    pytest.skip("the supervisor is for Linux", allow_module_level=True)

SUPERVISOR = Path(process.__file__).with_name("supervisor.py")
MIB = 1 << 20


@pytest.fixture
def lock(tmp_path, monkeypatch):
    """Every target and every child it forks share a lock while they live."""
    path = tmp_path / "alive"
    path.touch()
    monkeypatch.setenv("HOSTILE_LOCK", str(path))
    return path


@pytest.fixture(params=["as granted", "no namespace"])
def supervisor(request, tmp_path, monkeypatch):
    """The supervisor's path."""
    if request.param == "as granted":
        return SUPERVISOR
    path = tmp_path / "denied.py"
    path.write_text(
        f"import sys; sys.path.append({str(SUPERVISOR.parent)!r}); import supervisor\n"
        "supervisor._enter_namespace = lambda: False\n"
        "supervisor.main()\n"
    )
    monkeypatch.setattr(process, "_SUPERVISOR", str(path))
    return path


def supervised(supervisor, *command, memory=0, **popen):
    """A command under the supervisor, without a harness: returns its ending, its output, and the report."""
    ending, lifeline = os.pipe()
    report, reporting = os.pipe()
    words = [sys.executable, "-I", "-S", str(supervisor), str(ending), str(reporting), str(memory), "--", *command]
    try:
        done = subprocess.run(
            words, pass_fds=(ending, reporting), capture_output=True, text=True, timeout=HUNG, check=False, **popen
        )
    finally:
        for number in (ending, lifeline, reporting):
            os.close(number)
    with os.fdopen(report, encoding="ascii") as file:
        return done.returncode, done.stdout, file.read().splitlines()


def test_what_is_denied_is_not_claimed(supervisor):
    target = Process([*TARGET, "none"], memory=512 * MIB)
    try:
        target.greeting(10)
        kinds = ("process tree",) if supervisor != SUPERVISOR else ("PID namespace", "process tree")
        assert target.isolation in {f"{kind}, 512 MiB of memory a process" for kind in kinds}
    finally:
        target.kill()
    without = Process([*TARGET, "none"], sandbox=False)
    without.kill()
    assert without.isolation == "process group"


# -- the target's end


@pytest.mark.parametrize(
    "ending",
    ["exit 0", "exit 139", "exit 255", *(f"kill -{name} $$" for name in ("SEGV", "ABRT", "KILL", "TERM", "PIPE"))],
)
def test_it_ends_as_the_target_did(supervisor, ending):
    """Status 139 is no signal, though a shell says 128 plus its number for one."""
    code, _, report = supervised(supervisor, "sh", "-c", ending)
    verb, value, *_ = ending.split()
    assert code == (int(value) if verb == "exit" else -signal.Signals[f"SIG{value[1:]}"])
    assert len(report) == 1


@pytest.mark.parametrize(
    ("command", "why"), [("no-such-program", "No such file"), ("/etc/passwd", "Permission denied")]
)
def test_what_cannot_be_started_is_no_end_of_a_target(supervisor, command, why):
    with pytest.raises(TargetError, match=f"cannot be started: {why}"):
        certify([command])


@pytest.mark.parametrize("then", ["", "+crash", "+hang"])
@pytest.mark.usefixtures("supervisor")
def test_of_200_children_with_sessions_of_their_own_none_survives(tmp_path, lock, then):
    whole, divergences = run(
        tmp_path, [*TARGET, f"fork-many{then}", f"on={CULPRIT}"], timeout=2.0 if then == "+hang" else 5.0
    )
    assert free(lock)
    assert whole.vectors == len(CORE)
    assert {record["hex"] for record in divergences} == ({CULPRIT} if then else set())


@pytest.mark.usefixtures("supervisor")
def test_a_target_that_forks_without_end_is_ended():
    program = f"""
import os
for number in range({MOST_PROCESSES * 6}):  # dead ones that nobody waits for: enough, and harmless
    if os.fork() == 0: os._exit(0)
"""
    target = Process([sys.executable, "-I", "-S", "-c", program])
    try:
        with pytest.raises(Ended) as ended:
            target.greeting(20)
    finally:
        target.kill()
    assert CROWDED.fullmatch(describe(ended.value.why))


@pytest.mark.usefixtures("supervisor")
def test_a_daemon_holds_nothing_up_and_is_gone(tmp_path, lock):
    outlived = tmp_path / "outlived"
    words = "forks-daemon", f"file={tmp_path / 'daemon'}", f"outlived={outlived}"
    whole, divergences = run(tmp_path, [*TARGET, *words], timeout=3600.0)
    assert free(lock)
    assert not outlived.exists()  # the run waits neither for the daemon nor for its limit
    assert (divergences, whole.notes) == ([], [])


@pytest.mark.usefixtures("supervisor")
def test_when_the_harness_is_killed_so_is_everything(tmp_path, lock, supervisor):
    marker = tmp_path / "marker"
    program = (
        "from overlong.conformance import certify\nfrom overlong.conformance.targets import process\n"
        f"process._SUPERVISOR = {str(supervisor)!r}\n"
        f"certify({[*TARGET, 'slow+forks-daemon+forks-child', 'seconds=0.1', f'file={marker}']!r}, suites=['core'])"
    )
    with subprocess.Popen([sys.executable, "-c", program]) as harness:
        deadline = time.monotonic() + HUNG
        while not marker.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not free(lock)
        harness.kill()
    assert free(lock, patience=60.0)  # it would go on for minutes


# -- memory


def grown(folder, *words, **limits):
    """The growth of a separate harness at its peak, in MiB, and the divergences that it found."""
    program = (
        "import pathlib, resource\n"
        "from overlong.conformance import Limits, certify\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024\n"
        f"certify({[*TARGET, 'none']!r}, suites=['core'])\n"
        "before = peak()\n"
        f"certify({[*TARGET, *words]!r}, suites=['core'], output=pathlib.Path({str(folder)!r}), "
        f"limits=Limits(**{limits!r}))\n"
        "print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=HUNG, check=True)
    return int(done.stdout), divergences(folder)


def test_eating_memory_meets_the_limit_at_its_input(tmp_path):
    growth, divergences = grown(tmp_path, "eat-memory", f"on={CULPRIT}", memory=256 * MIB)
    (record,) = divergences
    assert (record["hex"], record["code"]) == (CULPRIT, "OV602")
    assert record["observed"]["words"] == "exited with status 1"  # an uncaught MemoryError
    assert growth < 32


def test_the_limit_is_that_of_the_option_and_files_of_memory_are_not_written(supervisor):
    _, output, _ = supervised(supervisor, "sh", "-c", "ulimit -d; ulimit -c", memory=300 * MIB)
    assert output.split() == [str(300 * 1024), "0"]


def test_too_little_memory_to_start_is_told_with_the_remedy():
    with pytest.raises(TargetError, match=r"Perhaps you're using ulimit -v.*--limit memory=0 lifts the limit of 4 GiB"):
        certify(["sh", "-c", 'echo "Perhaps you\'re using ulimit -v" >&2; exit 1'])


@pytest.mark.parametrize("fault", ["endless-frame", "huge-length"])
def test_endless_output_does_not_fill_the_harness(tmp_path, fault):
    growth, divergences = grown(tmp_path, fault, f"on={CULPRIT}")
    assert {(record["hex"], record["code"]) for record in divergences} == {(CULPRIT, "OV604")}
    assert growth < 256  # the largest frame has 64 MiB, and is copied once


# -- a target's environment, and its changes


def test_a_target_gets_what_the_harness_got_and_signals_as_they_come(supervisor, tmp_path):
    """No additional variable: Python may add a locale to its own environment."""

    def deaf():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})

    environment = {"PATH": os.environ["PATH"], "A": "b=c", "EMPTY": ""}
    shown = "grep -E '^Sig(Blk|Ign)' /proc/self/status; pwd; env; ls /proc/self/fd"
    _, output, _ = supervised(
        supervisor, "sh", "-c", f"exec 3<&- ; {shown}", env=environment, cwd=tmp_path, preexec_fn=deaf
    )
    blocked, ignored, folder, *rest = output.splitlines()
    assert {blocked.split()[1], ignored.split()[1]} == {"0" * 16}
    assert folder == str(tmp_path)
    assert {"A=b=c", "EMPTY="} <= set(rest)
    names = {line.partition("=")[0] for line in rest if "=" in line}
    assert names <= {*environment, "PWD", "OLDPWD", "SHLVL", "_"}  # the shell's additions
    assert sorted(line for line in rest if line.isdecimal()) == ["0", "1", "2", "3"]  # ls uses the last one to read


@pytest.mark.parametrize("fault", ["send-around", "rearrange"])
@pytest.mark.usefixtures("supervisor")
def test_what_a_target_does_to_itself_and_around_touches_nobody(tmp_path, fault):
    def state():
        handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
        umask = os.umask(0)
        os.umask(umask)
        return Path.cwd(), dict(os.environ), os.getpriority(os.PRIO_PROCESS, 0), umask, handlers

    before = state()
    whole, divergences = run(tmp_path, [*TARGET, fault])
    assert whole.conformant
    assert (divergences, whole.restarts, whole.notes) == ([], 0, [])
    assert state() == before


ALONE = ["unshare", "--pid", "--fork", "--mount-proc", *([] if os.geteuid() == 0 else ["--user", "--map-root-user"])]


@pytest.mark.parametrize("means", ["Landlock", "seccomp", "nothing"])
def test_where_there_is_no_namespace_kill_all_reaches_nothing_else(tmp_path, means):
    """Everything runs in a PID namespace: an escaped signal must not end more than the test."""
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no PID namespace to try it in")
    without = {"Landlock": ["_deny_kill_all"], "seccomp": ["_enter_landlock"]}.get(
        means, ["_deny_kill_all", "_enter_landlock"]
    )
    path = tmp_path / "denied.py"
    denied = "".join(f"supervisor.{name} = lambda: False\n" for name in ("_enter_namespace", *without))
    path.write_text(
        f"import sys; sys.path.append({str(SUPERVISOR.parent)!r}); import supervisor\n{denied}supervisor.main()\n"
    )
    program = tmp_path / "program.py"
    program.write_text(
        f"from overlong.conformance import TargetError, certify\n"
        f"from overlong.conformance.targets import process\nprocess._SUPERVISOR = {str(path)!r}\n"
        f"try:\n    run = certify({[*TARGET, 'kill-all']!r}, suites=['core']).run\n"
        "    print(run.conformant, run.restarts)\n"
        "except TargetError as error:\n    print(error)\n"
    )
    script = 'sleep 1000 & "$0" -P "$1"; echo "code $?"; kill $! && echo "others live"'
    done = subprocess.run(
        [*ALONE, "sh", "-c", script, sys.executable, str(program)],
        env={**os.environ, "HOSTILE_MAY_KILL_ALL": "yes"},
        capture_output=True,
        text=True,
        timeout=HUNG,
        check=False,
    )
    said, *rest = done.stdout.splitlines()
    assert rest == ["code 0", "others live"], done.stderr
    refused = "no Landlock, no seccomp" in said and "--limit sandbox=off" in said
    if means == "Landlock" and refused:
        pytest.skip("this kernel has no Landlock for signals")
    assert refused == (means == "nothing")
    assert refused or said == "True 0"


# -- a different answer the second time


@pytest.mark.parametrize(
    ("pattern", "again"),
    [
        ("wrrr", "refused at 0, 1 octet; refused at 0, 1 octet; refused at 0, 1 octet"),
        ("wwrw", "accepted U+0021; refused at 0, 1 octet; accepted U+0021"),
        ("wrrw", "refused at 0, 1 octet; refused at 0, 1 octet; accepted U+0021"),
    ],
)
def test_other_answers_the_next_time_are_unstable_and_all_are_told(tmp_path, pattern, again):
    whole, divergences = run(tmp_path, [*TARGET, "waver", f"on={CULPRIT}", f"pattern={pattern}"])
    first, unstable = divergences
    assert first["observed"]["words"] == "accepted U+0021"
    assert (unstable["hex"], unstable["code"], unstable["claim"]) == (CULPRIT, "OV605", "verdict")
    assert unstable["observed"]["words"] == f"accepted U+0021; tested again: {again}"
    assert unstable["expected"]["words"] == "reject at 0, 1 octet; each time"
    assert not whole.conformant


def test_the_same_wrong_answer_each_time_is_only_wrong(tmp_path):
    whole, divergences = run(tmp_path, [*TARGET, "waver", f"on={CULPRIT}", "pattern=wwww"])
    assert [record["code"] for record in divergences] == [divergences[0]["code"]]
    assert divergences[0]["code"].startswith("OV2")
    assert whole.restarts == 0
