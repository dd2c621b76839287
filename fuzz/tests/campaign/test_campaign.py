"""Campaigns: the same findings for every division, sharing, kill and resumption of the work; refused folders."""

import importlib
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import (
    Accepted,
    Crashed,
    Failed,
    Misbehaved,
    Refused,
    TimedOut,
    Unsupported,
)
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.campaign import Campaign, findings_in, profile_of, to_vector
from overlong.fuzz.campaign.lock_owner import LockOwner
from overlong.fuzz.campaign.running import Running
from overlong.fuzz.campaign.statement import STATEMENT, digest_of_findings
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.store import DATABASE, PATIENCE, SORT, Store
from overlong.fuzz.campaign.triage import AT_ONCE, Unfinished
from overlong.fuzz.campaign.written import result_as_text, result_of_text
from overlong.fuzz.engines.gathering import Gathering
from overlong.fuzz.execution.divergence import Divergence, Fingerprint
from overlong.fuzz.execution.engine import BLOCK, CampaignJob, UnitResult, WorkUnit, octave
from overlong.fuzz.report.findings import finding_named
from overlong.reference import Decoded, Rejected
from waiting import HUNG

pytestmark = pytest.mark.long

fcntl = pytest.importorskip("fcntl", reason="signals and process groups are POSIX's")
HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))  # other processes find the stand-in by its name
stand_in = importlib.import_module("campaign_stand_in")
TOOLS, SEEDS = stand_in.TOOLS, stand_in.SEEDS
RUNS = 17 * BLOCK + 1234


def job(engine="grammar", **more):
    return CampaignJob(stand_in.TARGETS, seed=7, engine=engine, seeds=SEEDS, **more)


def created(folder, **more):
    return Campaign.create(folder, job(**more), tools=TOOLS)


def resumed(folder):
    return Campaign.resume(folder, tools=TOOLS)


def found(folder):
    """Findings without times; and totals."""
    with Store.read(folder / DATABASE) as store:
        totals, asked = store.totals, store.asked
    counts = {each.id: each.count for each in findings_in(folder)}
    return digest_of_findings(findings_in(folder)), counts, totals, asked


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "campaign"
    with created(folder) as campaign:
        campaign.run(runs=RUNS)
    return folder


def working(folder, jobs=1, runs=RUNS, **environment):
    """Another process that works on the campaign in a folder."""
    running = subprocess.Popen(
        [sys.executable, str(HERE / "campaign_stand_in.py"), str(folder), str(runs), str(jobs)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    return running


def test_findings_and_counts_are_those_of_the_numbers(uninterrupted):
    expected = Counter(
        (each.target, each.finding.place) for index in range(RUNS) for each in stand_in.diverging(job(), index)
    )
    got = Counter({(each.target, each.place): each.count for each in findings_in(uninterrupted)})
    assert got.keys() == expected.keys()  # the rare cause behind the fingerprint of another is found, too
    behind = ("one", "rare"), ("one", "often")
    assert sum(got[each] for each in behind) == sum(expected[each] for each in behind)
    assert {each: n for each, n in got.items() if each not in behind} == {
        each: n for each, n in expected.items() if each not in behind
    }
    totals = found(uninterrupted)[2]
    assert (totals.inputs, totals.executions, totals.octets, totals.waiting) == (RUNS, 2 * RUNS, 3 * RUNS, 0)


def test_several_processes_of_one_campaign_find_the_same(uninterrupted, tmp_path):
    with created(tmp_path / "campaign") as campaign:
        status = campaign.run(runs=RUNS, jobs=2)
    assert found(tmp_path / "campaign") == found(uninterrupted)
    assert status.inputs == RUNS
    assert status.edges == (18, stand_in.FEATURES)
    corpus = {path.name for path in (tmp_path / "campaign" / "corpus").iterdir()}
    assert corpus == {path.name for path in (uninterrupted / "corpus").iterdir()}
    assert status.corpus == len(corpus) == len(SEEDS) + 18


def test_killed_and_resumed_it_is_as_if_nothing_had_happened(uninterrupted, tmp_path):
    folder = tmp_path / "campaign"
    created(folder).close()
    for kills in range(3):
        running = working(folder, jobs=1 + kills % 2)
        seen = running.stdout.readline()
        time.sleep(0.05 * kills)
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
        running.stdout.close()
        assert int(seen) < RUNS
    with resumed(folder) as campaign:
        assert campaign.run(runs=RUNS).others == 0
    assert found(folder) == found(uninterrupted)


def test_workers_end_with_the_process_that_started_them(tmp_path):
    """They end at once, not after the rest of their inputs."""
    folder, held = tmp_path / "campaign", tmp_path / "held"
    created(folder, engine="hangs").close()
    running = working(folder, jobs=2, OVERLONG_TEST_HANGS=str(held))

    def lives():
        if not held.exists():
            return False
        with held.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def waited_for(state):
        deadline = time.monotonic() + HUNG
        while lives() is not state and time.monotonic() < deadline:
            time.sleep(0.02)
        return lives() is state

    assert waited_for(True)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    running.stdout.close()
    assert waited_for(False)


def test_two_processes_on_a_folder_share_the_work(uninterrupted, tmp_path):
    folder = tmp_path / "campaign"
    created(folder).close()
    both = [working(folder), working(folder)]
    shown = [running.communicate(timeout=HUNG)[0] for running in both]
    assert [running.returncode for running in both] == [0, 0], shown
    assert found(folder) == found(uninterrupted)


def test_a_process_that_is_lost_is_replaced(uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLONG_TEST_DIES", "")
    folder = tmp_path / "campaign"
    with created(folder, engine="dies") as campaign:
        monkeypatch.setenv("OVERLONG_TEST_DIES", "once")  # each process that inherits the setting dies
        with pytest.raises(TargetError, match=r"has ended 3 times in a row .exit 9.*--resume"):
            campaign.run(runs=RUNS, jobs=2)
        monkeypatch.setenv("OVERLONG_TEST_DIES", "")
        campaign.run(runs=RUNS, jobs=2)
    assert found(folder)[:3] == found(uninterrupted)[:3]


def test_claims_of_the_dead_are_taken_over_and_those_of_the_living_are_not(tmp_path):
    created(tmp_path / "campaign").close()
    path = tmp_path / "campaign" / DATABASE
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    with Store.open(path) as one, Store.open(path) as two:
        assert one.claim(BLOCK) == WorkUnit(0, BLOCK)
        assert two.claim(2 * BLOCK + 5) == WorkUnit(BLOCK, 2 * BLOCK)
        assert (one.others, two.others) == (1, 1)

        def make_owner(column, value):
            with sqlite3.connect(path) as connection:
                connection.execute(f"UPDATE claimant SET {column} = ? WHERE token = ?", (value, one._mine))
            connection.close()

        make_owner("host", "elsewhere")
        assert two.claim(BLOCK, left_by_others=True) is None
        make_owner("heard", time.time() - PATIENCE - 1)
        assert two.others == 0
        make_owner("host", one._owner.host)
        assert two.claim(BLOCK, left_by_others=True) is None  # after any silence
        make_owner("pid", dead.pid)
        assert two.claim(BLOCK, left_by_others=True) == WorkUnit(0, BLOCK)
        assert not one.commit(UnitResult(WorkUnit(0, BLOCK), 1, 1))
        assert two.commit(UnitResult(WorkUnit(0, BLOCK), 1, 1))
        two.leave()
        assert one.claim(BLOCK) == WorkUnit(BLOCK, 2 * BLOCK)  # given back
        assert one.claim(100) == WorkUnit(3 * BLOCK, 100)
        assert one.claim(BLOCK * 5) == WorkUnit(3 * BLOCK + 100, BLOCK - 100)
        assert one.claim(BLOCK * 5, runs=4 * BLOCK + 9) == WorkUnit(4 * BLOCK, 9)
        assert one.claim(BLOCK * 5, runs=4 * BLOCK + 9) is None


def test_a_process_is_told_from_another_with_its_number():
    here = LockOwner.here()
    assert here.may_be_at_work(1e9, 1)
    for other in (
        LockOwner(here.host, "another boot", here.pid, here.begun, ""),
        LockOwner(here.host, here.boot, here.pid, "17", ""),
    ):
        assert not other.may_be_at_work(0, 1)


def is_alive(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def test_interrupted_what_is_committed_stays_and_nothing_else_runs_on(uninterrupted, tmp_path):
    folder = tmp_path / "campaign"
    created(folder).close()
    running = working(folder, jobs=2)
    running.stdout.readline()
    running.terminate()
    running.communicate(timeout=HUNG)
    deadline = time.monotonic() + 60
    while is_alive(running.pid):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert json.loads((folder / STATEMENT).read_text())["inputs"] < RUNS

    def stop(status):
        if status.inputs > 8 * BLOCK:
            raise KeyboardInterrupt

    with resumed(folder) as campaign, pytest.raises(KeyboardInterrupt):
        campaign.run(runs=RUNS, told=stop)
    with resumed(folder) as campaign:
        assert campaign.run(runs=RUNS).resumed
    assert found(folder) == found(uninterrupted)


class _Signalling:
    """A connection with signals after one of its operations, and again after the next."""

    def __init__(self, connection, at):
        self._connection, self._at, self.number = connection, at, 0

    def __getattr__(self, name):
        return getattr(self._connection, name)

    def _operation(self, name, *arguments):
        result = getattr(self._connection, name)(*arguments)
        self.number += 1
        if self._at <= self.number <= self._at + 1:
            signal.raise_signal(signal.SIGTERM)
            signal.raise_signal(signal.SIGHUP)
        return result

    def execute(self, *arguments):
        return self._operation("execute", *arguments)

    def executemany(self, *arguments):
        return self._operation("executemany", *arguments)


def test_whenever_signals_come_how_it_ended_is_written(tmp_path):
    whole = tmp_path / "whole"
    with created(whole) as campaign:
        campaign.run(runs=512)
    before = signal.getsignal(signal.SIGTERM)
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        with created(folder) as campaign:
            signalling: Any = _Signalling(campaign.store._connection, at)
            campaign.store._connection = signalling
            signal.signal(signal.SIGTERM, lambda *_: None)  # a run does not care about signals before and after it
            signal.signal(signal.SIGHUP, lambda *_: None)
            try:
                campaign.run(runs=512)
                interrupted = False
            except KeyboardInterrupt:
                interrupted = True
        written = json.loads((folder / STATEMENT).read_text())
        if not interrupted and signalling.number < at:
            break
        assert written["inputs"] in (0, 512)
        assert found(folder)[2].inputs == written["inputs"]
    assert at > 30
    assert found(folder) == found(whole)
    signal.signal(signal.SIGTERM, before)


def test_spans_are_long_where_it_takes_long_to_start():
    """Otherwise the start would take most of the time, and a unit would seem slow and not grow."""

    def wanted(**spent):
        campaign: Any = SimpleNamespace(store=None, tools=None, began=time.monotonic())
        running = Running(campaign, None, None, 1, "", print, 0)
        running._learn(UnitResult(WorkUnit(0, 64), 64, 0, **spent))
        return running._wanted()

    assert wanted(seconds=2.0) == 64
    assert wanted(seconds=2.0, starting=1.0) == 64 * 8
    assert wanted(seconds=2.0, starting=2.0) == 64 * 64


def test_a_target_that_cannot_be_asked_ends_it(tmp_path):
    for jobs in (1, 2):
        with created(tmp_path / str(jobs), engine="ends") as campaign:
            with pytest.raises(TargetError, match="does not start any more"):
                campaign.run(runs=RUNS, jobs=jobs)
            if jobs == 1:  # one of two processes may start slowly, while the other continues
                assert campaign.status.inputs <= 3 * BLOCK
                assert campaign.status.findings


def test_time_ends_it(tmp_path):
    with created(tmp_path / "campaign") as campaign:
        began = time.monotonic()
        status = campaign.run(seconds=0.5)
        assert time.monotonic() - began >= 0.5
        assert status.inputs > 0
        assert status.seconds >= 0.5
        assert status.rate == pytest.approx(2 * status.inputs / status.seconds, rel=0.1)
        again = campaign.run(seconds=0.2)
        assert again.inputs > status.inputs
        assert again.earlier >= status.seconds


def test_examining_takes_a_share_of_the_time_and_what_is_left_waits(uninterrupted, tmp_path):
    folder = tmp_path / "campaign"
    with created(folder, engine="slow to examine") as campaign:
        status = campaign.run(seconds=0.5, runs=RUNS)
        assert status.inputs > 2 * BLOCK
        assert status.findings
        assert any(note.endswith(" for --resume") for note in status.notes)
        with pytest.raises(Unfinished):  # the rest waits for another process
            campaign.triage_next(stand_in.Looks(campaign.job, no_time))
    with resumed(folder) as campaign:
        assert not any("--resume" in note for note in campaign.run(runs=RUNS).notes)
    assert found(folder) == found(uninterrupted)


def no_time():
    raise Unfinished


def test_a_decoder_that_is_wrong_everywhere_is_not_examined_for_ever(tmp_path):
    folder = tmp_path / "campaign"
    with created(folder, engine="wrong everywhere") as campaign:
        status = campaign.run(runs=2 * BLOCK)
    scalars = [each for each in status.findings if each.place.startswith("scalars")]
    assert len(scalars) == AT_ONCE + 1  # and the 128th
    (note,) = status.notes
    assert note.startswith(f"one: {200 - AT_ONCE - 1} further sorts of scalars (")


def test_what_a_known_condition_predicts_is_counted_and_not_examined(tmp_path):
    with created(tmp_path / "campaign", engine="one condition") as campaign:
        status = campaign.run(runs=2 * BLOCK)
    (scalars,) = [each for each in status.findings if each.place.startswith("scalars")]
    assert scalars.count == BLOCK
    assert not status.notes


def test_statement_and_files_hold_nothing_of_chance_but_times(uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    with created(tmp_path / "campaign") as campaign:
        campaign.run(runs=RUNS)

    def read(folder):
        said = json.loads((folder / STATEMENT).read_text())
        times = said.pop("times")
        for each in said["findings"]:
            each.pop("seconds")
        return said, times

    (said, times), (other, _) = read(tmp_path / "campaign"), read(uninterrupted)
    assert said == other
    assert times["begun"] == times["written"] == "1970-01-01T00:00:00Z"
    assert said["command"] == f"overlong fuzz --seed 7 --runs {RUNS} --corpus SEEDS one two"
    assert [target["executions"] for target in said["targets"]] == [{"D": RUNS}, {"D": RUNS}]
    assert {each["finding"] for each in times["discoveries"]} - {None} == {each["id"] for each in said["findings"]}
    for each in findings_in(uninterrupted):
        path = uninterrupted / "findings" / f"{each.id}.json"
        assert json.loads(path.read_text())["octets"] == each.octets.hex()
        assert path.with_suffix(".bin").read_bytes() == each.octets
        assert to_vector(each, Profile("wtf-8")) == Vector("fuzz", each.octets, profile=Profile("wtf-8"))


def test_findings_are_named_by_the_beginning_of_their_id(uninterrupted):
    first, second, *_ = findings_in(uninterrupted)
    assert finding_named(uninterrupted, first.id) == first
    assert finding_named(uninterrupted, second.id[:6].upper()) == second
    assert profile_of(uninterrupted) == Profile()
    for name in ("D-", "D-zz\x1b", "", "D-0123456789"):
        with pytest.raises(CampaignError) as refused:
            finding_named(uninterrupted, name)
        assert str(refused.value).isprintable()


def damaged(folder):
    path = folder / DATABASE
    octets = bytearray(path.read_bytes())
    octets[200:] = b"\xff" * (len(octets) - 200)
    path.write_bytes(octets)


def of_another_version(folder):
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()


def of_another_release(folder):
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute("UPDATE header SET value = '99' WHERE name = 'version'")
    connection.close()


def of_another_program(folder):
    (folder / DATABASE).unlink()
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()


def with_strange_seeds(folder):
    with sqlite3.connect(folder / DATABASE) as connection:
        connection.execute("UPDATE seed SET octets = x'00'")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (damaged, "damaged|no campaign"),
        (of_another_version, "a newer version"),
        (of_another_release, "begun with overlong 99"),
        (of_another_program, "belongs to another program"),
        (with_strange_seeds, "damaged"),
        (lambda folder: (folder / DATABASE).write_bytes(b""), "no campaign has begun there"),
        (lambda folder: (folder / DATABASE).write_text("text " * 100), "no campaign"),
        (lambda folder: (folder / DATABASE).unlink(), "no campaign has begun there"),
    ],
)
def test_what_is_no_campaign_is_refused_in_a_line(tmp_path, spoil, why):
    folder = tmp_path / "cam\x1bpaign"
    created(folder).close()
    spoil(folder)
    with pytest.raises(CampaignError, match=why) as refused:
        resumed(folder)
    assert str(refused.value).isprintable()
    assert "\\x1b" in str(refused.value)


def test_a_folder_is_not_taken_twice(tmp_path):
    created(tmp_path / "campaign").close()
    with pytest.raises(CampaignError, match="go on with --resume"):
        created(tmp_path / "campaign")
    (tmp_path / "file").write_text("")
    with pytest.raises(CampaignError, match="not empty, and no campaign"):
        created(tmp_path)
    with pytest.raises(CampaignError, match="choose another folder"):
        created(tmp_path / "file")
    with pytest.raises(CampaignError, match="choose another folder"):
        created(tmp_path / "file" / "below")


def test_a_disk_that_is_full_leaves_what_was_there(uninterrupted, tmp_path):
    folder = tmp_path / "campaign"
    with created(folder) as campaign:
        campaign.run(runs=BLOCK)
        (pages,) = campaign.store._connection.execute("PRAGMA page_count").fetchone()
        campaign.store._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(CampaignError, match="the disk is full; make room, and go on with --resume"):
            campaign.run(runs=RUNS, told=lambda status: campaign.store.note([str(status) * 100]))
    with resumed(folder) as campaign:
        campaign.run(runs=RUNS)
    assert found(folder)[:2] == found(uninterrupted)[:2]


def test_a_removed_file_is_told(tmp_path):
    folder = tmp_path / "campaign"
    with created(folder) as campaign:
        (folder / DATABASE).unlink()
        with pytest.raises(CampaignError, match="it was removed or replaced"):
            campaign.run(runs=RUNS)


def test_findings_that_cannot_be_written_are_an_error_in_a_line(tmp_path):
    folder = tmp_path / "campaign"
    with created(folder) as campaign:
        (folder / "findings").write_text("no folder")
        with pytest.raises(CampaignError, match=r"findings.*go on with --resume"):
            campaign.run(runs=BLOCK)
        (folder / "findings").unlink()
        campaign.run(runs=BLOCK)
    assert {path.stem for path in (folder / "findings").iterdir()} == {each.id for each in findings_in(folder)}


def test_errors_of_the_machine_are_one_line(tmp_path):
    with pytest.raises(CampaignError, match="No space"), SORT.errors_of(tmp_path):
        raise OSError(28, "No space left on device")


words = st.text(max_size=8)
numbers = st.integers(0, 1 << 40)
observations = st.one_of(
    st.builds(Accepted, st.none() | st.lists(numbers, max_size=3).map(tuple)),
    st.builds(Refused, st.none() | numbers, st.none() | numbers, st.none() | st.booleans()),
    st.builds(TimedOut, st.floats(0, 9)),
    st.just(Unsupported()),
    *(st.builds(kind, words) for kind in (Failed, Crashed, Misbehaved)),
)
outcomes = st.one_of(
    st.builds(Decoded, st.lists(numbers, max_size=4).map(tuple)), st.builds(Rejected, numbers, numbers, st.booleans())
)
vectors = st.builds(
    Vector,
    st.just("fuzz"),
    st.binary(max_size=9),
    chunks=st.none() | st.lists(numbers, max_size=3).map(tuple),
    earlier=st.none() | st.lists(st.binary(max_size=3), max_size=3).map(tuple),
    profile=st.builds(Profile, st.sampled_from(["rfc3629", "wtf-8"])),
)
findings = st.builds(Finding, vectors, words, words, outcomes, observations, words, st.tuples(words, words))
fingerprints = st.builds(Fingerprint, words, words, words, words)
harvests = st.builds(
    UnitResult,
    st.just(WorkUnit(0, BLOCK)),
    numbers,
    numbers,
    st.lists(st.builds(Divergence, words, findings, fingerprints, numbers, words), max_size=3).map(tuple),
    st.dictionaries(fingerprints, numbers, max_size=3).map(Counter),
    st.frozensets(numbers, max_size=3),
    st.lists(st.binary(max_size=4), max_size=2).map(tuple),
    numbers,
    st.floats(0, 9),
    st.lists(words, max_size=2).map(tuple),
    st.dictionaries(st.tuples(words, words), numbers, max_size=2).map(Counter),
    st.lists(st.binary(max_size=4), max_size=2).map(tuple),
    st.floats(0, 9),
)


@given(harvests)
def test_a_harvest_is_read_as_it_was_written(result):
    text = result_as_text(result)
    assert text.isascii()
    assert result_of_text(text, result.unit) == result


@given(st.lists(st.tuples(st.integers(0, 40 * BLOCK), st.sampled_from("AB")), max_size=40))
def test_of_each_fingerprint_the_first_divergence_is_kept_each_time_a_campaign_doubles(places):
    gathering, firsts = Gathering(WorkUnit(0, 40 * BLOCK)), dict[tuple[Fingerprint, int], Divergence]()
    for index, where in sorted(places):
        each = stand_in.divergence(job(), index, "one", "k", where, "")
        assert gathering.is_new(each.fingerprint, index // BLOCK) == (
            firsts.setdefault((each.fingerprint, octave(index // BLOCK)), each) is each
        )
        gathering.keep(each, index // BLOCK)
    assert gathering.result().divergences == tuple(firsts.values())
