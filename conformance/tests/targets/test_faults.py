"""Whatever a target does, the harness reports the fault and its input, judges the rest rightly, and leaves nothing.

It leaves no process (every test ends with a check), no torn file, and no hostile character on a terminal.
"""

import errno
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import textwrap
import time
import unicodedata
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hostile import CORE, CULPRIT, TARGET, free, results, run
from overlong.conformance import Limits, TargetError, certify
from overlong.conformance.examination.examine import MOST
from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.targets import framed, process
from overlong.conformance.targets.process import Ended, Process
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import is_well_formed
from progress_lines import beside_progress
from waiting import HUNG

fcntl = pytest.importorskip("fcntl", reason="signals, process groups and file locks are POSIX's")

pytestmark = pytest.mark.usefixtures("unexamined")

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202egpj.exe\u2028\r\n::error::owned <script>alert(1)</script>"
MODES = {"batch": [], "single": ["no-batch"], "shared": ["shared"]}


@pytest.fixture(autouse=True)
def no_process_survives(tmp_path_factory, monkeypatch):
    """Every target and every child it forks share a lock while they live: afterwards it must be free."""
    lock = tmp_path_factory.mktemp("lock") / "alive"
    lock.touch()
    monkeypatch.setenv("HOSTILE_LOCK", str(lock))
    monkeypatch.setenv("HOSTILE_TEXT", HOSTILE)
    yield lock
    assert free(lock, 60.0), "a process of the target survived"


def on_file(folder, culprits):
    """The word that makes a fault occur on many inputs, or on long ones."""
    (folder / "culprits").write_text("\n".join(octets.hex() for octets in culprits), "ascii")
    return f"on-file={folder / 'culprits'}"


def found(divergences):
    return {(record["hex"], record["code"]) for record in divergences}


def overlong(*words, before=()):
    """The command line in a separate process; its output must be harmless."""
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
    done = subprocess.run(
        [*before, sys.executable, "-m", "overlong", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        timeout=HUNG,
        check=False,
    )
    for text in (done.stdout, done.stderr):
        assert_harmless(text)
    return done


def assert_harmless(text):
    """Check that text does not control a terminal, reorder text, or imitate a separate line."""
    assert "Traceback" not in text
    strange = {c for c in text if c != "\n" and unicodedata.category(c) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}}
    assert not strange, text
    assert not any(line.startswith("::") for line in text.splitlines()), text


def assert_one_line(text):
    assert text.endswith("\n")
    assert text.count("\n") == 1, text


# -- the planted program itself


@pytest.mark.parametrize("mode", MODES)
def test_without_a_fault_the_target_is_right(tmp_path, mode):
    """Otherwise the following tests would find wrong things."""
    whole, divergences = run(tmp_path, [*TARGET, "none", "operations=VDL", *MODES[mode]])
    assert divergences == []
    assert whole.restarts == 0
    assert set(whole.claims.values()) == {"holds", "not measured"}
    assert [name for name, state in whole.claims.items() if state != "holds"] == [
        "streaming",
        "earliest detection",
        "encoder",
        "memory",
    ]


# -- faults at an input

AT_INPUT = [  # fault, modes, code, observation
    ("crash", MODES, "OV602", "was ended by SIGSEGV"),
    ("abort", MODES, "OV602", "was ended by SIGABRT"),
    ("exit-0", MODES, "OV602", "exited with status 0"),
    ("exit-7", MODES, "OV602", "exited with status 7"),
    ("crash-after", MODES, "OV602", "was ended by SIGSEGV"),
    ("half-frame", MODES, "OV602", "exited with status 0 in the middle of a response"),
    ("huge-length", MODES, "OV604", "4294967295 octets: the adapter printed to stdout?"),
    ("wrong-id", MODES, "OV604", "it answered request"),
    ("extra-frame", MODES, "OV604", "it answered request"),
    ("out-of-order", MODES, "OV604", "it answered request"),
    ("bad-status", ["batch"], "OV604", r"status b'Z': \x1b]0;owned\x07"),
    ("bad-status", ["single"], "OV604", "status 5A"),
    ("short-answer", ["batch"], "OV604", "6 octets; 1 items need at least 7"),
    ("long-answer", ["batch"], "OV604", "8 octets where its own columns add up to 7"),
    ("long-answer", ["single"], "OV604", "its refusal carries 7 octets"),
    ("columns-beyond", ["shared"], "OV604", "2147483647 octets in shared memory, where it has room for "),
    ("noise", MODES, "OV604", r'printed to stdout? it wrote "debug: \x1b]0;owned'),
    ("noise-after", MODES, "OV604", 'printed to stdout? it wrote "debug: done'),
    ("internal-error", MODES, "OV601", r"\x1b]0;owned\x07\x1b[2J"),
]


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("fault", "mode", "code", "words"),
    [(fault, mode, code, words) for fault, modes, code, words in AT_INPUT for mode in modes],
)
def test_a_fault_is_found_for_what_it_is_at_its_input_and_nowhere_else(tmp_path, fault, mode, code, words):
    whole, divergences = run(tmp_path, [*TARGET, fault, f"on={CULPRIT}", *MODES[mode]])
    (record,) = divergences
    assert (record["hex"], record["code"]) == (CULPRIT, code)
    assert words in record["observed"]["words"]
    assert_harmless(record["observed"]["words"])
    assert whole.incomplete == ""
    assert whole.vectors == len(CORE)
    assert whole.restarts == (0 if fault == "internal-error" else 2)
    assert whole.claims["verdict"] == "fails"


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "mode"),
    [
        ("hang", "batch"),
        ("hang", "single"),
        ("stop", "batch"),
        ("ignore-sigterm", "batch"),
        ("half-frame-hang", "single"),
    ],
)
def test_what_does_not_answer_is_ended_within_the_limit(tmp_path, fault, mode):
    limit = 2.0
    whole, divergences = run(tmp_path, [*TARGET, fault, f"on={CULPRIT}", *MODES[mode]], timeout=limit)
    assert found(divergences) == {(CULPRIT, "OV603")}
    assert divergences[0]["observed"]["words"] == f"no answer within {limit:g} s"
    assert whole.vectors == len(CORE)
    assert whole.restarts == 2  # once in a batch, once alone


@pytest.mark.long
def test_a_target_that_closes_its_output_and_lives_on_is_no_end_of_the_run(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "_DYING", 0.3)
    whole, divergences = run(tmp_path, [*TARGET, "close-stdout", f"on={CULPRIT}"])
    assert found(divergences) == {(CULPRIT, "OV602")}
    assert divergences[0]["observed"]["words"] == "closed its output and ran on"
    assert whole.vectors == len(CORE)


@pytest.mark.long_after(1)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", ["crash-after", "extra-frame"])
def test_the_first_and_the_last_input_are_blamed_as_any_other(tmp_path, fault, mode):
    ends = {CORE[0], CORE[-1]}
    assert b"" in ends  # even the empty string can be a culprit
    whole, divergences = run(tmp_path, [*TARGET, fault, on_file(tmp_path, ends), *MODES[mode]])
    assert {bytes.fromhex(record["hex"]) for record in divergences} == ends
    assert Counter(record["code"] for record in divergences) in ({"OV602": 2}, {"OV604": 2})
    assert whole.vectors == len(CORE)


def test_each_operation_is_blamed_by_itself(tmp_path):
    whole, divergences = run(tmp_path, [*TARGET, "crash", "operations=VDL", f"on={CULPRIT}"])
    assert sorted((record["hex"], record["operation"]) for record in divergences) == [
        (CULPRIT, "D"), (CULPRIT, "L"), (CULPRIT, "V")
    ]  # fmt: skip
    assert whole.restarts <= 9  # at most three each, for a thousand vectors are under way


@pytest.mark.long
def test_the_culprit_is_exact_in_30_of_30_crashes(tmp_path):
    suites = ("core", "complete-0")
    every = {vector.octets for name in suites for batch in SUITES[name].batches() for vector in batch}
    chosen = random.Random(3629).sample(sorted(every - {b"a"}), 30)  # without the letter that a target is tried with

    def wrong(start):
        folder, culprits = tmp_path / str(start), chosen[start : start + 10]
        folder.mkdir()
        mode = list(MODES.values())[start // 10]
        whole, divergences = run(folder, [*TARGET, "crash", on_file(folder, culprits), *mode], suites=suites)
        assert whole.incomplete == ""
        assert whole.restarts <= 3 * len(divergences)
        return found(divergences) ^ {(octets.hex(), "OV602") for octets in culprits}

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(wrong, range(0, 30, 10))) == [set()] * 3


def test_a_crash_that_does_not_happen_again_is_not_passed_over(tmp_path):
    whole, divergences = run(tmp_path, [*TARGET, "flaky", f"on={CULPRIT}", f"file={tmp_path / 'marker'}"])
    (record,) = divergences
    assert record["code"] == "OV605"
    assert record["observed"]["words"] == "was ended by SIGSEGV"
    assert whole.vectors == len(CORE)
    assert whole.restarts == 1
    assert not whole.conformant


@pytest.mark.long
def test_a_spare_stands_ready_and_one_that_ended_meanwhile_is_no_fault():
    """From the third failure on, the harness uses a spare that a thread has started, and checks that it still runs."""
    target = framed.FramedTarget("crashes", [*TARGET, "crash", f"on={CULPRIT}"], restart_budget=100)
    target.open()

    def failures(count):
        batches = [(Batch.of_strings("x", [bytes.fromhex(CULPRIT)]), "D")] * count
        return [isinstance(each.faults[0], Crashed) for each in target.observe(batches)]

    try:
        assert failures(1) == [True]
        assert target.restarts == 2
        spares = list(target._spares)
        assert len(spares) == 2
        for spare in spares:
            spare.result().greeting(10)
        assert failures(1) == [True]
        assert not [spare for spare in target._spares if spare in spares]  # both spares were used
        for spare in target._spares:
            spare.result().greeting(10)
            spare.result().kill()
        assert failures(3) == [True] * 3
        (answered,) = target.observe([(Batch.of_strings("x", [b"x"]), "D")])
        assert (answered.faults, answered.answers.statuses) == ({}, b"A")
        assert target.restarts == 10
    finally:
        target.close()
    assert not target._spares


def observed(batches, *words, timeout):
    """A target's answers to batches of the letter x, with these sizes, and its restarts."""
    target = framed.FramedTarget("slow", [*TARGET, *words], timeout)
    target.open()
    try:
        answered = list(target.observe((Batch.of_strings("x", [b"x"] * size), "D") for size in batches))
    finally:
        target.close()
    assert sum(len(each.batch) for each in answered) == sum(batches)
    return answered, target.restarts


def test_slow_on_many_is_not_a_fault_of_one():
    """Together the strings take longer than the limit; each singly does not."""
    answered, restarts = observed([100], "slow", "seconds=0.015", timeout=1.0)
    assert restarts == 1
    assert not any(each.faults or each.unstable for each in answered)
    assert b"".join(each.answers.statuses for each in answered) == b"A" * 100


def test_requests_grow_only_as_the_target_is_fast(monkeypatch):
    """Quick answers to a few vectors do not promise quick answers to many."""
    monkeypatch.setattr(framed, "_WINDOW", 1)
    monkeypatch.setattr(framed, "_TRIAL", 1)
    monkeypatch.setattr(framed, "_FIRST", 8)
    answered, restarts = observed([1] * 20 + [800], "slow", "seconds=0.005", timeout=3.0)
    assert restarts == 0
    assert max(len(each.batch) for each in answered) > 8


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_any_answer_that_the_protocol_allows_is_judged(tmp_path, mode, monkeypatch):
    monkeypatch.setattr("overlong.conformance.results.results_file.RECORDED", len(CORE))  # write each divergence
    for seed in "123":
        folder = tmp_path / seed
        whole, divergences = run(folder, [*TARGET, "nonsense", f"seed={seed}", "operations=VDL", *MODES[mode]])
        assert whole.incomplete == ""
        assert whole.vectors == len(CORE)
        assert whole.restarts == 0
        assert len(divergences) > 100
        done = [record for record in results(folder) if record["record"] == "bucket"]
        assert sum(record["count"] for record in done) == len(divergences)


@pytest.mark.long_after(1)
@pytest.mark.parametrize("mode", MODES)
def test_an_answer_for_what_is_not_supported_cannot_shift_the_others(tmp_path, mode):
    well_formed = "c280"  # other strings in its batch are also well-formed, and have output
    whole, divergences = run(tmp_path, [*TARGET, "unsupported-at-length", f"on={well_formed}", *MODES[mode]])
    assert found(divergences) <= {(well_formed, "OV604")}
    assert whole.vectors == len(CORE)


@pytest.mark.parametrize("mode", MODES)
def test_what_was_not_answered_is_not_certified(tmp_path, mode):
    """A decoder that skips the difficult strings."""
    ill_formed = [octets for octets in CORE if not is_well_formed(octets)]
    whole, divergences = run(tmp_path, [*TARGET, "unsupported", on_file(tmp_path, ill_formed), *MODES[mode]])
    assert divergences == []
    assert whole.claims["verdict"] == "not measured"
    assert not whole.conformant


# -- faults of processes


def test_a_crash_is_seen_though_children_keep_the_pipes_open(tmp_path):
    outlived = tmp_path / "outlived"
    words = "forks-child+crash", f"on={CULPRIT}", f"outlived={outlived}"
    _, divergences = run(tmp_path, [*TARGET, *words], timeout=3600.0)
    assert found(divergences) == {(CULPRIT, "OV602")}
    assert divergences[0]["observed"]["words"] == "was ended by SIGSEGV"
    assert not outlived.exists()  # the run does not wait for the children to write


def test_a_daemon_that_keeps_the_pipes_open_cannot_hold_up_the_harness(tmp_path, no_process_survives):
    """It has left the target's process group, and without a sandbox only this test kills it."""
    daemon, outlived = tmp_path / "daemon", tmp_path / "outlived"
    words = "forks-daemon", f"file={daemon}", f"outlived={outlived}"
    try:
        whole, divergences = run(tmp_path, [*TARGET, *words], timeout=3600.0, sandbox=False)
        assert not outlived.exists()
        assert divergences == []
        assert whole.notes == []
    finally:
        os.kill(int(daemon.read_text("ascii")), signal.SIGKILL)
    assert free(no_process_survives, 60.0)


def test_a_flood_on_stderr_is_drained_and_its_end_kept(tmp_path):
    whole, divergences = run(tmp_path, [*TARGET, "flood-stderr"])
    assert whole.vectors == len(CORE)
    assert divergences == []
    with pytest.raises(TargetError, match='exited with status 7; it said "the last words"'):
        run(tmp_path, [*TARGET, "flood-stderr-and-exit"])
    started = Process([*TARGET, "flood-stderr-and-exit"])
    with pytest.raises(Ended):
        started.greeting(10)
    assert len(started._stderr) == 4096


def test_pipes_that_may_not_grow_are_no_reason_not_to_start(tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")  # Linux's error for a user with many pipes

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "fcntl", refuse)
        whole, _ = run(tmp_path, [*TARGET, "none"])
    assert whole.conformant


# -- targets that cannot be measured, or not completely

NOT_MEASURED = [  # fault, message
    ("exit-at-once", 'it exited with status 7; it said "::error::owned <script>alert(1)</script>"'),
    ("banner", r'not the greeting but "Welcome! \x1b]0;owned\x07'),
    ("endless-line", "without a greeting line"),
    ("wrong-version", "it speaks protocol version 99; this is version 1"),
    ("hostile-operations", "; there are PVDLSTNMEFZGIQKB"),
    ("hostile-units", r'"units" is '),
    ("hostile-trait", "; there are strips"),
    ("text-mode", "its echo changed 0D 0A 0A 1A 00 80 FF into 0D 0D 0A 0D 0A 1A 00 80 FF: open its streams in binary"),
    ("crash on=61", "it was ended by SIGSEGV"),
    ("hang on=61", "it gave no answer within 2 s"),
    ("noise on=61", "the adapter printed to stdout?"),
    ("extra-frame on=61", "it answered request"),
    ("unsupported on=61", "it offers D and answers U to the letter a"),
    ("internal-error on=61", r"it offers D and answers X to the letter a: \x1b]0;owned\x07"),
]


@pytest.mark.long_after(7)
@pytest.mark.parametrize(("words", "says"), NOT_MEASURED, ids=[words for words, _ in NOT_MEASURED])
def test_a_target_that_cannot_be_measured_gets_one_harmless_line(tmp_path, words, says):
    output = tmp_path / "out"
    with pytest.raises(TargetError) as caught:
        certify([*TARGET, *words.split()], output=output, limits=Limits(2.0))
    message = str(caught.value)
    assert says in message
    assert "\n" not in message
    assert_harmless(message)
    assert not output.exists()


def test_a_target_that_never_greets_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(framed, "_START_SECONDS", 0.4)
    with pytest.raises(TargetError, match=r"it gave no answer within 0\.4 s"):
        certify([*TARGET, "no-greeting"], output=tmp_path / "out", limits=Limits(0.1))
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_the_command_line_says_that_on_one_line_and_exits_with_3(tmp_path):
    for fault in ("banner", "exit-at-once"):
        done = overlong("certify", "-o", tmp_path / "out", "--", *TARGET, fault)
        assert done.returncode == 3
        assert done.stdout == ""
        assert_one_line(done.stderr)
    assert not (tmp_path / "out").exists()


def test_a_command_with_a_long_word_is_a_command(tmp_path):
    whole, _ = run(tmp_path, [*TARGET, "none", "x" * 300])
    assert whole.conformant


@pytest.mark.long
def test_a_spent_budget_keeps_what_was_measured_and_certifies_nothing(tmp_path):
    (tmp_path / "certificate.json").write_text("of an earlier run")
    ill_formed = [octets for octets in CORE if not is_well_formed(octets)]
    words = ("--suite", "core", "--limit", "restarts=5", "-o", tmp_path)
    done = overlong("certify", *words, "--", *TARGET, "crash", on_file(tmp_path, ill_formed))
    assert done.returncode == 4
    assert re.search(r"^INCOMPLETE\b", done.stdout, re.MULTILINE)
    assert "failed 6 times (last: it was ended by SIGSEGV)" in " ".join(done.stdout.split())
    assert not (tmp_path / "certificate.json").exists()
    *records, footer = results(tmp_path)
    assert not footer["conformant"]
    assert "raise the limit with --limit restarts=N" in footer["incomplete"]
    assert len(found(record for record in records if record["record"] == "divergence")) == 2


@pytest.mark.parametrize(
    ("fault", "says"),
    [("start-once+crash", "does not start any more: it exited with status 9"), ("new-name+crash", "greeting changed")],
)
def test_a_target_that_does_not_come_back_as_it_was_ends_the_run(tmp_path, fault, says):
    whole, divergences = run(tmp_path, [*TARGET, fault, f"on={CULPRIT}", f"file={tmp_path / 'marker'}"])
    assert says in whole.incomplete
    assert divergences == []
    assert not whole.conformant


def test_a_second_look_that_is_broken_off_counts_nothing_twice(tmp_path, monkeypatch):
    """The decoder reports too large offsets; the harness re-examines them with other octets, on which it dies."""
    monkeypatch.setattr("overlong.conformance.certification.causes.MOST", MOST)
    known = on_file(tmp_path, CORE).partition("=")[2]
    target = decoder(
        tmp_path,
        f"""
        import os
        known = set(map(bytes.fromhex, open({known!r}).read().split("\\n"))) | {{b"a"}}
        def decode(octets):
            if octets not in known:
                os._exit(5)
            try:
                return octets.decode()
            except UnicodeDecodeError as error:
                raise UnicodeDecodeError("utf-8", octets, error.start + 1, error.end + 1, error.reason)
        """,
    )
    whole, divergences = run(tmp_path / "out", target, restarts=2)
    (note,) = (note for note in whole.notes if note.startswith("not examined further"))
    assert "failed 3 times" in note
    assert max(Counter(record["id"] for record in divergences).values()) == 1


# -- names and words of a target


@pytest.mark.long
def test_hostile_names_are_shown_escaped_and_kept_as_they_are(tmp_path):
    command = (*TARGET, "hostile-name+internal-error", f"on={CULPRIT}", HOSTILE)
    done = overlong("certify", "--suite", "core", "-o", tmp_path, "--", *command)
    assert done.returncode == 1
    assert beside_progress(done.stderr) == ""
    assert r"\x1b]0;owned\x07" in done.stdout
    header, *_ = results(tmp_path)
    for member in ("name", "version", "error_mode"):
        assert header["target"][member] == HOSTILE
    again = overlong("certify", "--suite", "core", "--format", "json", "-o", tmp_path, "--", *command)
    assert again.stdout.isascii()
    assert json.loads(again.stdout)["predicate"]["overlong"]["target"]["name"] == HOSTILE
    shown = overlong("replay", CULPRIT, "--", *command)
    assert shown.returncode == 1
    assert r"observed  internal error: \x1b]0;owned\x07" in shown.stdout


# -- Python decoders


def decoder(folder, source):
    """A target ``py:FILE:decode``."""
    lines = source.strip("\n").splitlines()
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    path = folder / "decoder.py"
    path.write_text("\n".join(line[indent:] for line in lines), "utf-8")
    return f"py:{path}:decode"


def test_a_right_python_decoder_may_print_and_forget_where_it_is(tmp_path):
    target = decoder(
        tmp_path,
        """
        import os, sys
        print("imported")
        def decode(octets):
            print("decoding", octets)
            os.write(1, b"and past sys.stdout")
            os.chdir("/")
            os.environ.clear()
            return octets.decode()
        """,
    )
    before = Path.cwd(), dict(os.environ)
    whole, divergences = run(tmp_path, target)
    assert whole.conformant
    assert divergences == []
    assert (Path.cwd(), dict(os.environ)) == before


def test_a_fork_that_returns_from_a_python_decoder_answers_nothing(tmp_path):
    log = tmp_path / "log"
    target = decoder(
        tmp_path,
        f"""
        import os
        def decode(octets):
            asked = os.getpid()
            if octets == bytes.fromhex("{CULPRIT}") and os.fork() == 0:
                asked = -os.getpid()
            with open({str(log)!r}, "ab", 0) as log:
                log.write(b"%d\\n" % asked)
            return octets.decode()
        """,
    )
    whole, divergences = run(tmp_path, target)
    assert divergences == []
    assert whole.conformant
    asked = set(map(int, log.read_text("ascii").split()))
    forks = {-number for number in asked if number < 0}
    assert forks
    assert not forks & asked


def program(text):
    """Run a program with the adapters' modules; it must print nothing."""
    text = "import os, sys, time\n" + textwrap.dedent(text)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=HUNG, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(sys.platform != "linux", reason="forks are not reaped elsewhere")
def test_forks_that_returned_are_reaped_and_the_decoders_own_children_are_not():
    program("""
        from overlong.conformance.targets.adapters.serving import alone
        for _ in range(3):
            fork = os.fork()
            if fork == 0: alone()
            os.waitid(os.P_PID, fork, os.WEXITED | os.WNOWAIT)
        alone()
        own = os.fork()
        if own == 0: os._exit(7)
        os.waitid(os.P_PID, own, os.WEXITED | os.WNOWAIT)
        alone()
        assert os.waitstatus_to_exitcode(os.waitpid(own, 0)[1]) == 7
        try: os.wait()
        except ChildProcessError: sys.exit(0)
        sys.exit(1)
    """)


@pytest.mark.skipif(sys.platform != "linux", reason="processes are not adopted elsewhere")
def test_what_a_function_leaves_behind_is_killed_and_what_loading_it_started_is_not():
    program("""
        from overlong.conformance.targets.adapters.shared_library import ending_leftovers
        from overlong.conformance.targets.adapters.one_shot import adopted
        own = os.fork()
        if own == 0: time.sleep(600); os._exit(0)
        end = ending_leftovers()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0: time.sleep(600)
            os._exit(0)
        deadline = time.monotonic() + 300
        while adopted() != [own] and time.monotonic() < deadline: end()
        assert adopted() == [own]
        os.kill(own, 9)
    """)


def test_a_target_that_had_too_many_processes_is_not_started_again_for_long(tmp_path):
    """To fork so often takes long: the decoder ends as the supervisor would end it (test_isolation.py)."""
    body = """
        import os
        def decode(octets):
            if len(octets) > 1:
                os.write(2, b"it had more than 500 processes at once; overlong ended it\\n")
                os.kill(os.getpid(), 9)
            return octets.decode()
        """
    whole, _ = run(tmp_path, decoder(tmp_path, body))
    assert whole.restarts == 5
    assert "failed 5 times (last: it had more than 500 processes at once; overlong ended it)" in whole.incomplete
    assert "--limit" not in whole.incomplete


def test_a_right_python_decoder_may_lose_its_streams_and_return_text_of_its_own_kind(tmp_path):
    target = decoder(
        tmp_path,
        """
        import io, os, sys
        class Text(str):
            def encode(self, *_): return b"?"
            def __len__(self): return 7
            def __bool__(self): return False
            def __radd__(self, other): return "?"
            def __eq__(self, other): return True
            __hash__ = str.__hash__
        class Refuses(UnicodeDecodeError):
            start = property(lambda self: -5)
            def __str__(self): raise KeyError
        sys.stdin = None
        os.close(0)
        def decode(octets):
            sys.stdout.close()
            sys.stdout = io.StringIO()
            try:
                return Text(octets.decode())
            except UnicodeDecodeError as error:
                raise Refuses(*error.args) from None
        """,
    )
    whole, divergences = run(tmp_path, target)
    assert divergences == []
    assert whole.conformant


@pytest.mark.long_after(3)
@pytest.mark.parametrize(
    ("body", "code", "says"),
    [
        ("raise IndexError(octets)", "OV601", r"IndexError: b'\x80'"),
        ("raise MemoryError", "OV601", "MemoryError"),
        ("return decode(octets)", "OV601", "RecursionError"),
        ("return None", "OV601", "returned NoneType where it returned str before"),
        ("return octets", "OV601", "returned bytes where it returned str before"),
        ("return '\\ud800'", "OV206", "accepted U+D800"),
        ("sys.exit()", "OV602", "exited with status 0"),
        ("sys.exit('no')", "OV602", "exited with status 1"),
        ("os._exit(0)", "OV602", "exited with status 0"),
        ("os.abort()", "OV602", "was ended by SIGABRT"),
        ("os.kill(os.getpid(), 9)", "OV602", "was ended by SIGKILL"),
        ("raise UnicodeDecodeError('utf-8', octets, 1 << 32, (1 << 32) + 1, '')", "OV301", "refused at 4294967294"),
        ("raise UnicodeDecodeError('utf-8', octets, -1, 0, '')", "OV301", "refused at 4294967294"),
    ],
)
def test_what_a_python_decoder_does_instead_of_refusing(tmp_path, body, code, says):
    target = decoder(
        tmp_path,
        f"""
        import os, resource, sys
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        def decode(octets):
            if octets == bytes.fromhex("{CULPRIT}"):
                {body}
            return octets.decode()
        """,
    )
    whole, divergences = run(tmp_path, target)
    (record,) = divergences
    assert (record["hex"], record["code"]) == (CULPRIT, code)
    assert says in record["observed"]["words"]
    assert whole.vectors == len(CORE)


@pytest.mark.long_after(8)
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("raise RuntimeError('two\\nlines \\x1b[31m')", r"importing DECODER failed: RuntimeError: two lines \x1b[31m"),
        ("import sys; sys.exit(0)", "importing DECODER failed: SystemExit: 0"),
        ("import os; os._exit(0)", "it exited with status 0"),
        ("def f(:", "importing DECODER failed: SyntaxError"),
        ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        ("other = 1", "DECODER has no decode"),
        ("decode = 5", "DECODER:decode is int; name a callable"),
        ("def decode(octets): return [octets]", "it returned list for the letter a"),
        ("def decode(octets): return 1", "it returned int for the letter a"),
        ("async def decode(octets): return ''", "it returned coroutine for the letter a"),
        ("def decode(): return ''", "it failed on the letter a: TypeError"),
    ],
)
def test_a_python_decoder_that_cannot_be_used_is_told_why(tmp_path, source, says):
    target = decoder(tmp_path, source)
    with pytest.raises(TargetError) as caught:
        certify(target, output=tmp_path / "out")
    assert says.replace("DECODER", str(tmp_path / "decoder.py")) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert_harmless(str(caught.value))
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(TargetError, match=r'it said "no file .*nothing\.py"'):
        certify(f"py:{tmp_path / 'nothing.py'}:decode")


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("cpythn", "did you mean cpython?"),
        ("py:mod:f?mode=loud", "write mode=fatal, mode=replacement"),
        ("py:mod:f?speed=fast", "write mode=fatal, mode=replacement"),
        (f"cgi:{HOSTILE}", "there is no kind of target 'cgi'"),
        (HOSTILE.replace(":", ""), "no target"),
    ],
)
def test_names_that_mean_nothing_exit_with_2(tmp_path, name, says):
    done = overlong("certify", "-o", tmp_path / "out", name)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr
    assert_one_line(done.stderr)
    assert not (tmp_path / "out").exists()


# -- files and the terminal


@pytest.mark.long
def test_a_file_where_the_folder_should_be(tmp_path):
    file = tmp_path / "file"
    file.touch()
    done = overlong("certify", "--suite", "core", "-o", file, "cpython")
    assert done.returncode == 2
    assert "is a file" in done.stderr
    done = overlong("certify", "--suite", "core", "-o", file / "below", "cpython")
    assert done.returncode == 2
    assert "Not a directory; choose another folder with -o" in done.stderr
    assert done.stdout == ""
    assert_one_line(done.stderr)


def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    folder = (
        Path("/sys/overlong") if os.access(tmp_path, os.W_OK) else tmp_path
    )  # the only place where root cannot write
    done = overlong("certify", "--suite", "core", "-o", folder, "cpython")
    assert done.returncode == 2
    assert re.search(
        r"(Permission denied|not permitted|Read-only file system); choose another folder with -o", done.stderr
    )
    assert_one_line(done.stderr)


@pytest.mark.long
def test_a_full_disk_leaves_no_torn_file(tmp_path):
    """A limit on file size simulates a full disk: writing fails in the middle of the results."""
    limited = ["sh", "-c", 'ulimit -f 1 && exec "$@"', "sh"]
    done = overlong("certify", "--suite", "core", "-o", tmp_path, "cpython-surrogatepass", before=limited)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert_one_line(done.stderr)
    assert done.stdout.startswith("NOT CONFORMANT")  # what was measured is not lost
    assert "report:" not in done.stdout
    assert not list(tmp_path.glob("*.json*"))


@pytest.mark.parametrize(("name", "suites"), [("results.jsonl", ["core"]), ("certificate.json", None)])
def test_results_that_cannot_take_their_name_leave_nothing_half_done(tmp_path, name, suites):
    (tmp_path / name).mkdir()
    with pytest.raises(OSError, match="Is a directory") as caught:
        certify("cpython", suites=suites, output=tmp_path)
    assert caught.value.errno == errno.EISDIR
    assert not list(tmp_path.glob("*.part"))


def interrupted(folder, *words, when, by=signal.SIGINT):
    """Start ``certify``, send it a signal at the right moment, and wait for its end."""
    # A shell or nohup may have told this process to ignore these signals, and children inherit that.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    listen += "; signal.signal(signal.SIGHUP, signal.SIG_DFL)"
    program = f"{listen}; from overlong.__main__ import main; main()"
    running = subprocess.Popen(
        [sys.executable, "-c", program, "certify", "--suite", "core", "-o", str(folder), "--", *TARGET, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with running:
        deadline = time.monotonic() + HUNG
        while not when() and time.monotonic() < deadline:
            time.sleep(0.02)
        running.send_signal(by)
        out, err = running.communicate(
            timeout=HUNG
        )  # independent of the target's speed: the whole run would take minutes
    assert_harmless(out)
    assert_harmless(err)
    return running.returncode, out, err


@pytest.mark.long
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_says_what_is_saved(tmp_path, by):
    (tmp_path / "certificate.json").write_text("of an earlier run")
    under_way = tmp_path / "marker"
    code, out, err = interrupted(tmp_path, "slow", "seconds=0.1", f"file={under_way}", when=under_way.exists, by=by)
    assert code == 4
    assert beside_progress(err) == ""
    assert out.startswith("INCOMPLETE\n")
    assert "\nincomplete: interrupted\n" in out
    assert f"report: {tmp_path / 'results.jsonl'}" in out
    assert "note:" not in out  # the busy target is not at fault
    assert not (tmp_path / "certificate.json").exists()
    *_, footer = results(tmp_path)
    assert (footer["incomplete"], footer["conformant"]) == ("interrupted", False)


def test_an_interruption_right_after_a_request_was_sent_is_no_fault_of_the_target(monkeypatch):
    target = framed.FramedTarget("slow", [*TARGET, "slow", "seconds=0.1"])
    target.open()
    send = Process.send_frames

    def interrupted(process, *frames):
        send(process, *frames)
        raise KeyboardInterrupt

    monkeypatch.setattr(Process, "send_frames", interrupted)
    with pytest.raises(KeyboardInterrupt):
        next(target.observe([(Batch.of_strings("x", [b"x"] * 100), "D")]))
    target.close()
    assert target.notes == []


@pytest.mark.long
def test_interrupted_before_anything_was_measured(tmp_path, no_process_survives):
    def waiting():
        return not free(no_process_survives)  # it has started, and never greets

    code, out, err = interrupted(tmp_path / "out", "no-greeting", when=waiting)
    assert not (tmp_path / "out").exists()
    assert out == ""
    assert_one_line(err)
    assert code == 4


def test_an_interruption_while_the_target_starts_leaves_no_process(no_process_survives, monkeypatch):
    """The interruption comes in the constructor, when the process runs but no caller has a handle to it."""

    def interrupt(_):
        while free(no_process_survives):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "widen", interrupt)
    with pytest.raises(KeyboardInterrupt):
        certify([*TARGET, "no-greeting"])
    assert free(no_process_survives, 60.0)


@pytest.mark.long
def test_a_reader_that_leaves_early_is_no_reason_for_a_traceback(tmp_path):
    words = [sys.executable, "-m", "overlong", "certify", "--suite", "core", "-o", tmp_path, "cpython-surrogatepass"]
    for reader in ("head -1", "true"):
        done = subprocess.run(
            ["sh", "-c", f"{shlex.join(map(str, words))} | {reader}"],
            capture_output=True,
            text=True,
            timeout=HUNG,
            check=False,
        )
        assert beside_progress(done.stderr) == ""
        results(tmp_path)
