"""A sweep ends with one result, however many processes take part and however often it is interrupted."""

import contextlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

import sweep_stand_in
from overlong.conformance.oracle.target import CRASHED, KINDS, LEFT_OUT, Fault, TargetError
from overlong.conformance.results.statements import RESULTS
from overlong.conformance.results.sweeps import Shard, ShardResult
from overlong.conformance.sweep import ledger as ledgers
from overlong.conformance.sweep import sweep as engine
from overlong.conformance.sweep.ledger import HEADER, LEDGER, Ledger, LedgerError, counted
from overlong.conformance.sweep.sweep import sweep
from sweep_stand_in import StandIn
from waiting import HUNG

pytestmark = pytest.mark.long

PLANS = ("exhaustive-1", "depth-0")


@pytest.fixture
def stand_in(monkeypatch):
    """An engine in plain Python, with small shards."""
    sweep_stand_in.install(monkeypatch.setattr)


def overlong(*words, log=None, seconds=0.0, before=()):
    """The command line with the stand-in, in a separate process."""
    environment = {
        **os.environ,
        "PYTHONIOENCODING": "utf-8",
        "STAND_IN_SECONDS": str(seconds),
        **({"STAND_IN_LOG": str(log)} if log else {}),
        "COLUMNS": "80",
    }
    return subprocess.Popen(
        [*before, sys.executable, sweep_stand_in.__file__, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
    )


def one_line(text):
    assert text.startswith("overlong: ")
    assert text.count("\n") == 1
    return text


def test_any_number_of_jobs_gives_the_same(stand_in, tmp_path):
    runs = [sweep("cpython", PLANS, jobs=jobs, output=tmp_path / str(jobs)) for jobs in (1, 3)]
    assert len({run.digest for run in runs}) == 1
    assert len({(tmp_path / str(jobs) / RESULTS).read_bytes() for jobs in (1, 3)}) == 1
    assert all(run.conformant and not run.wrong for run in runs)
    assert sweep("cpython", PLANS).digest == runs[0].digest  # without a folder
    written = json.loads((tmp_path / "3" / RESULTS).read_text("ascii"))
    assert written["plans"][0]["well_formed"] == 128
    assert written["digest"]["sha256"] == runs[0].digest


def test_a_digest_fixes_every_answer(stand_in, monkeypatch):
    whole = sweep("cpython", ["depth-0"]).digest
    for name, value in (("accepted", 7), ("checksum", 7)):
        run = StandIn.run
        monkeypatch.setattr(
            StandIn,
            "run",
            lambda self, shard, run=run, name=name, value=value: (
                replace(run(self, shard), **{name: value}) if shard.first == 256 else run(self, shard)
            ),
        )
        assert sweep("cpython", ["depth-0"]).digest != whole
        monkeypatch.undo()
        sweep_stand_in.install(monkeypatch.setattr)


@pytest.mark.parametrize(
    ("after", "ending"), [(0, TargetError), (0, KeyboardInterrupt), (1, TargetError), (54, KeyboardInterrupt)]
)
def test_what_was_broken_off_goes_on_where_it_was(stand_in, monkeypatch, tmp_path, after, ending):
    kept: list[Shard] = []
    add = Ledger.add

    def add_some(self, result):
        if len(kept) == after:
            raise ending("gone")
        kept.append(result.shard)
        add(self, result)

    monkeypatch.setattr(Ledger, "add", add_some)
    if ending is TargetError and not after:
        with pytest.raises(TargetError, match="gone"):
            sweep("cpython", PLANS, output=tmp_path)
    else:
        first = sweep("cpython", PLANS, output=tmp_path)
        assert first.incomplete == ("gone" if ending is TargetError else "interrupted")
        assert not first.conformant
        assert not first.digest
        assert first.done == sum(shard.count for shard in kept)
    assert not (tmp_path / RESULTS).exists()
    monkeypatch.setattr(Ledger, "add", add)
    second = sweep("cpython", PLANS, output=tmp_path, resume=True)
    whole = sweep("cpython", PLANS, output=tmp_path / "whole")
    assert second.resumed == sum(shard.count for shard in kept)
    assert second.digest == whole.digest
    assert (tmp_path / RESULTS).read_bytes() == (tmp_path / "whole" / RESULTS).read_bytes()
    again = sweep("cpython", PLANS, output=tmp_path, resume=True)  # everything is already done
    assert (again.resumed, again.digest) == (again.strings, whole.digest)


def test_killed_at_any_moment_and_resumed(tmp_path):
    """SIGKILL twice in one sweep, at random moments."""
    plans = ("--plan", "exhaustive-1", "--plan", "depth-0")
    words = ["sweep", *plans, "--jobs", "2", "-o", tmp_path / "killed", "cpython"]
    log = tmp_path / "log"
    moments = random.Random(6)
    for number in range(2):
        before = len(log.read_text().splitlines()) if log.exists() else 0
        running = overlong(*words, *["--resume"][:number], log=log, seconds=0.01)
        deadline = time.monotonic() + HUNG
        while not log.exists() or len(log.read_text().splitlines()) < before + moments.randrange(5, 15):
            assert running.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=HUNG)
    out, err = (last := overlong(*words, "--resume", log=log)).communicate(timeout=HUNG)
    assert last.returncode == 0, err
    assert "were tested by an earlier run" in out
    assert len(log.read_text().splitlines()) < 56 + 2 * 8  # little was asked twice
    whole = overlong(*words[:-2], tmp_path / "whole", "cpython")
    out, _ = whole.communicate(timeout=HUNG)
    assert "by an earlier run" not in out
    assert (tmp_path / "killed" / RESULTS).read_bytes() == (tmp_path / "whole" / RESULTS).read_bytes()


def test_interrupted_by_hand(tmp_path):
    log = tmp_path / "log"
    running = overlong("sweep", "--plan", "depth-0", "-o", tmp_path / "out", "cpython", log=log, seconds=0.2)
    while not log.exists() or len(log.read_text().splitlines()) < 5:
        time.sleep(0.01)
    running.send_signal(signal.SIGTERM)  # like Ctrl-C, which a shell may have made this process ignore
    out, err = running.communicate(timeout=HUNG)
    assert (running.returncode, out) == (4, "")
    assert "interrupted; " in one_line(err)
    assert "strings are done" in err
    assert "the same command and --resume" in err


def test_a_finished_ledger_is_replaced_and_an_unfinished_one_is_not(stand_in, monkeypatch, tmp_path):
    sweep("cpython", ["exhaustive-1"], output=tmp_path)
    run = StandIn.run

    def broken_off(until):
        def run_some(self, shard):
            if shard.first >= until:
                raise TargetError("gone")
            return run(self, shard)

        monkeypatch.setattr(StandIn, "run", run_some)

    broken_off(0)
    for _ in range(2):  # without finished shards there is nothing to lose
        with pytest.raises(TargetError):
            sweep("cpython", ["depth-0"], output=tmp_path)
    assert not (tmp_path / RESULTS).exists()  # from the earlier run
    broken_off(1024)
    sweep("cpython", ["depth-0"], output=tmp_path)
    with pytest.raises(LedgerError, match="was not finished; go on with --resume, remove the file"):
        sweep("cpython", ["depth-0"], output=tmp_path)


def test_another_sweep_is_not_resumed(stand_in, tmp_path):
    sweep("cpython", ["exhaustive-1"], output=tmp_path)
    written = (tmp_path / RESULTS).read_bytes()
    with pytest.raises(LedgerError, match=r"begun with other plans: exhaustive-1, not depth-0; repeat the command"):
        sweep("cpython", ["depth-0"], output=tmp_path, resume=True)
    assert (tmp_path / RESULTS).read_bytes() == written


def test_a_decoder_that_changed_is_not_resumed(stand_in, tmp_path):
    decoder = tmp_path / "decoder.py"
    decoder.write_text("def decode(octets): return octets.decode()")
    sweep(f"py:{decoder}:decode", ["exhaustive-1"], output=tmp_path / "out")
    decoder.write_text("def decode(octets): return octets.decode('utf-8')")
    with pytest.raises(LedgerError, match="begun with another file or command of the target, with the digest"):
        sweep(f"py:{decoder}:decode", ["exhaustive-1"], output=tmp_path / "out", resume=True)


HEAD = dict.fromkeys(HEADER, "t")
SHARD = Shard("exhaustive-1", 0, 0, 256)
KIND = bytes(255) + bytes([CRASHED])
RESULT = ShardResult(SHARD, 256, 256, 128, 128, (1 << 64) - 1, zlib.compress(KIND), (Fault(255, CRASHED, "died"),), 2.5)


def test_a_ledger_gives_back_what_it_was_given(tmp_path):
    result, other = counted(RESULT), replace(SHARD, plan="exhaustive-2")
    assert result.counts == {CRASHED: 1}
    left_out = counted(replace(RESULT, shard=other, kinds=zlib.compress(bytes(255) + bytes([LEFT_OUT]))))
    with Ledger(tmp_path / LEDGER, HEAD, resume=False) as ledger:
        assert not ledger.has(SHARD)
        ledger.add(result)
        ledger.add(replace(result, accepted=5))  # a committed shard stays
        assert ledger.has(SHARD)
        assert list(ledger.results(SHARD.plan)) == [result]
        with pytest.raises(LedgerError, match="shards of another size"):
            ledger.has(replace(SHARD, count=128))
        with pytest.raises(LedgerError, match="another sweep is writing it"):
            Ledger(tmp_path / LEDGER, HEAD, resume=True)
        ledger.add(left_out)
        assert ledger.strings == 512
    with Ledger(tmp_path / LEDGER, HEAD, resume=True) as ledger:
        assert ledger.has(SHARD)
        assert not ledger.has(other), "what was left out is asked again"


def test_whatever_differs_in_the_header_is_named(tmp_path):
    for resume in (False, True):
        with Ledger(tmp_path / LEDGER, HEAD, resume=resume):
            pass
    for name, words in HEADER.items():
        told = rf"begun with {words}: t, not \\x1b\[31mother\\n; repeat the command"
        with pytest.raises(LedgerError, match=told) as caught:
            Ledger(tmp_path / LEDGER, HEAD | {name: "\x1b[31mother\n"}, resume=True)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "kinds",
    [zlib.compress(bytes(255)), zlib.compress(bytes(1 << 20)), zlib.compress(b"\x63" * 256), zlib.compress(KIND)[:-3]],
    ids=["too few", "too many", "unknown", "cut"],
)
def test_kinds_that_are_not_those_of_the_shard(kinds, stand_in, monkeypatch):
    monkeypatch.setattr(StandIn, "run", lambda self, shard: replace(RESULT, kinds=kinds))
    with pytest.raises(TargetError, match="did not run as planned"):
        sweep("cpython", ["exhaustive-1"])


def test_counts_of_every_kind():
    moments = random.Random(9)
    kinds = bytes(moments.choices([0, *KINDS], k=1000))
    result = counted(replace(RESULT, shard=replace(SHARD, count=1000), kinds=zlib.compress(kinds)))
    assert result.counts == {kind: kinds.count(kind) for kind in sorted(set(kinds) - {0})}


def edited(path, *statements):
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(*statement)
        connection.commit()


def forged(path):
    """A row that is no result, with its digest."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (*row, kinds) = connection.execute(f"SELECT {ledgers._COLUMNS}, kinds FROM shard ORDER BY first").fetchone()
    row[9] = "[]"
    edited(path, ("UPDATE shard SET counts = '[]', digest = ?", (ledgers._digest(tuple(row), kinds),)))


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: path.write_bytes(b"not a database, and longer than a header" * 9), "it is no ledger of a sweep"),
        (lambda path: path.write_bytes(path.read_bytes()[:5000]), "it is damaged|a row is damaged"),
        (lambda path: edited(path, ("UPDATE shard SET accepted = accepted + 1",)), "a row is damaged; remove the file"),
        (forged, "it is damaged; remove it to start over"),
        (lambda path: (path.unlink(), edited(path, ("CREATE TABLE theirs (a)",))), "it belongs to another program"),
        (lambda path: edited(path, ("PRAGMA user_version = 2",)), "a newer version of overlong wrote it"),
        (lambda path: (path.unlink(), path.mkdir()), "it cannot be opened; choose another folder"),
    ],
    ids=["text", "cut", "row", "forged", "foreign", "newer", "folder"],
)
def test_a_file_that_cannot_be_used_is_left_as_it_is(stand_in, tmp_path, damage, says):
    sweep("cpython", ["exhaustive-1"], output=tmp_path)
    path = tmp_path / LEDGER
    damage(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(LedgerError, match=says) as caught:
        sweep("cpython", ["exhaustive-1"], output=tmp_path, resume=True)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert before is None or path.read_bytes() == before


def test_a_full_disk_loses_nothing(tmp_path):
    """A limit on file size simulates a full disk."""
    words = ["sweep", "--plan", "depth-0", "-o", tmp_path, "cpython"]
    out, err = (full := overlong(*words, before=["sh", "-c", 'ulimit -f 120 && exec "$@"', "sh"])).communicate(
        timeout=HUNG
    )
    assert (full.returncode, out) == (2, "")
    assert LEDGER in one_line(err)
    assert "go on with --resume" in err
    out, err = (resumed := overlong(*words, "--resume")).communicate(timeout=HUNG)
    assert resumed.returncode == 0, err
    assert "were tested by an earlier run" in out


def test_a_folder_that_may_not_be_written(tmp_path):
    tmp_path.chmod(0o500)
    folder = (
        Path("/sys/overlong") if os.access(tmp_path, os.W_OK) else tmp_path
    )  # the only place where root cannot write
    out, err = (done := overlong("sweep", "--plan", "exhaustive-1", "-o", folder, "cpython")).communicate(timeout=HUNG)
    assert (done.returncode, out) == (2, "")
    assert "choose another folder with -o" in one_line(err)


@pytest.mark.parametrize("name", ["well_formed", "octets", "strings"])
def test_a_sweep_that_did_not_run_as_planned_is_no_verdict(stand_in, monkeypatch, tmp_path, name):
    run = StandIn.run

    def short(self, shard):
        result = run(self, shard)
        return replace(result, **{name: getattr(result, name) - 1}) if shard.first == 256 else result

    monkeypatch.setattr(StandIn, "run", short)
    done = sweep("cpython", ["depth-0"], output=tmp_path)
    assert done.wrong.startswith("depth-0: ")
    assert not done.conformant
    assert not (tmp_path / RESULTS).exists()


def test_strings_left_out_are_accounted_for(stand_in, monkeypatch):
    run = StandIn.run

    def faulty(self, shard):
        result = run(self, shard)
        kinds = bytes(shard.count - 3) + bytes([CRASHED, LEFT_OUT, LEFT_OUT])
        return replace(result, strings=result.strings - 2, kinds=zlib.compress(kinds))

    monkeypatch.setattr(StandIn, "run", faulty)
    part = sweep_only(monkeypatch, "exhaustive-1").plans[0]
    assert not part.wrong
    assert (part.seen.strings, part.kinds[LEFT_OUT], part.divergences) == (254, 2, 1)


def sweep_only(monkeypatch, plan):
    """A sweep without a summary of its divergences."""
    monkeypatch.setattr("overlong.conformance.sweep.sweep.describe", lambda *_, **_options: None)
    return sweep("cpython", [plan])


def test_answers_in_a_file_cannot_be_swept(tmp_path):
    (tmp_path / "answers").touch()
    with pytest.raises(TargetError, match="recorded answers cannot be swept"):
        sweep(f"answers:{tmp_path / 'answers'}", ["exhaustive-1"])


def test_a_thread_keeps_its_engine_for_its_job(monkeypatch):
    made, closed = [], []

    class Engine:
        def __init__(self, job):
            made.append(job)

        def run(self, shard):
            if shard.plan == "gone":
                raise TargetError("gone")
            return RESULT

        def close(self):
            closed.append(self)

    monkeypatch.setattr(engine, "open_engine", Engine)
    one, two = engine.SweepJob("one"), engine.SweepJob("two")
    for job in (one, one, two, one):
        job.run(SHARD)
    assert made == [one, two, one]
    assert len(closed) == 2
    with pytest.raises(TargetError):
        one.run(replace(SHARD, plan="gone"))
    assert len(closed) == 3  # a failed target is not asked again
    one.run(SHARD)
    engine.close_engines()
    one.run(SHARD)
    assert made == [one, two, one, one, one]
    engine.close_engines()
