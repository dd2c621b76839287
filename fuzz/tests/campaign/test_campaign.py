"""Campaigns: the same findings for every division, sharing, kill and resumption of the work; refused folders."""

import contextlib
import hashlib
import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.oracle.target import TargetError
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.examiner import AT_ONCE
from overlong.fuzz.campaign.state import STATEMENT
from overlong.fuzz.engines.job import Divergence, Fingerprint, UnitResult, octave
from overlong.fuzz.generated import BLOCK
from overlong.fuzz.report import findings_in
from waiting import HUNG

pytestmark = pytest.mark.long

fcntl = pytest.importorskip("fcntl", reason="signals and process groups are POSIX's")
HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))  # other processes find the stand-in by its name
stand_in = importlib.import_module("campaign_stand_in")
ONE, TWO, SEEDS = stand_in.ONE, stand_in.TWO, stand_in.SEEDS
RUNS = 17 * BLOCK + 1234
SEED = hashlib.sha1(SEEDS[0]).hexdigest()


@pytest.fixture(scope="module", autouse=True)
def looks():
    with pytest.MonkeyPatch.context() as patch:
        stand_in.work_with(patch.setattr)
        yield


def job(engine="stand-in", **more):
    return stand_in.Job(stand_in.TARGETS, seed=7, engine=engine, seeds=SEEDS, **more)


def created(folder, **more):
    return Campaign.create(folder, job(**more))


def resumed(folder):
    return Campaign.resume(folder)


found = stand_in.found


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
    behind = (ONE, "rare"), (ONE, "often")
    assert sum(got[each] for each in behind) == sum(expected[each] for each in behind)
    assert {each: n for each, n in got.items() if each not in behind} == {
        each: n for each, n in expected.items() if each not in behind
    }
    totals = found(uninterrupted)
    assert [totals[each] for each in ("inputs", "executions", "octets", "waiting")] == [RUNS, 2 * RUNS, 3 * RUNS, 0]


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
        campaign.run(runs=RUNS)
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


def test_a_second_process_on_a_folder_is_told_to_wait(tmp_path):
    folder = tmp_path / "campaign"
    created(folder).close()
    with resumed(folder), pytest.raises(CampaignError, match="another process is at work on it"):
        resumed(folder)
    with resumed(folder) as campaign:
        campaign.run(runs=BLOCK)


def test_a_process_that_is_lost_is_replaced(uninterrupted, tmp_path, monkeypatch):
    monkeypatch.setenv("OVERLONG_TEST_DIES", "")
    folder = tmp_path / "campaign"
    with created(folder, engine="dies") as campaign:
        monkeypatch.setenv("OVERLONG_TEST_DIES", "once")  # each process that inherits the setting dies
        with pytest.raises(TargetError, match=r"has ended 3 times in a row.*--resume"):
            campaign.run(runs=RUNS, jobs=2)
        monkeypatch.setenv("OVERLONG_TEST_DIES", "")
        campaign.run(runs=RUNS, jobs=2)
    assert found(folder) == found(uninterrupted)


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


def test_whenever_signals_come_how_it_ended_is_written(tmp_path, monkeypatch):
    with created(tmp_path / "whole") as campaign:
        campaign.run(runs=512)
    write, before = Campaign._write, signal.getsignal(signal.SIGTERM)
    for at in (1, 2, 3):
        folder, number = tmp_path / str(at), 0

        def signalling(campaign, at=at):
            nonlocal number
            number += 1
            for kind in [signal.SIGTERM, signal.SIGHUP] * (number == at):
                signal.raise_signal(kind)
            write(campaign)

        with created(folder) as campaign:
            monkeypatch.setattr(Campaign, "_write", signalling)
            signal.signal(signal.SIGTERM, lambda *_: None)  # a run does not care about signals before and after it
            signal.signal(signal.SIGHUP, lambda *_: None)
            with contextlib.suppress(KeyboardInterrupt):
                campaign.run(runs=512)
            monkeypatch.setattr(Campaign, "_write", write)
        with resumed(folder) as campaign:
            campaign.run(runs=512)
        assert number >= at
        assert found(folder) == found(tmp_path / "whole")
    signal.signal(signal.SIGTERM, before)


def test_spans_are_long_where_it_takes_long_to_start(tmp_path):
    """Otherwise the start would take most of the time, and a unit would seem slow and not grow."""

    def wanted(**spent):
        results = [UnitResult(range(64), 0, **spent)]

        class Once:
            def next(self, _seconds):
                return results.pop()

        with created(tmp_path / str(len(list(tmp_path.iterdir())))) as campaign:
            campaign._began, campaign._seconds, campaign._runs, campaign._pool = time.monotonic(), None, None, Once()
            campaign._gather(0.0)
            return campaign._wanted()

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
        assert any("not examined yet; --resume" in note for note in status.notes)
    with resumed(folder) as campaign:
        assert not any("--resume" in note for note in campaign.run(runs=RUNS).notes)
    assert found(folder) == found(uninterrupted)


def test_a_decoder_that_is_wrong_everywhere_is_not_examined_for_ever(tmp_path):
    folder = tmp_path / "campaign"
    with created(folder, engine="wrong everywhere") as campaign:
        status = campaign.run(runs=2 * BLOCK)
    scalars = [each for each in status.findings if each.place.startswith("scalars")]
    assert len(scalars) == AT_ONCE + 1  # and the 128th
    (note,) = status.notes
    assert note.startswith(f"{ONE}: {200 - AT_ONCE - 1} further sorts of scalars (")


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
    assert said["command"] == f"overlong fuzz --seed 7 --runs {RUNS} --engine stand-in --corpus SEEDS {ONE} {TWO}"
    assert [target["executions"] for target in said["targets"]] == [{"D": RUNS}, {"D": RUNS}]
    assert {each["finding"] for each in times["discoveries"]} - {None} == {each["id"] for each in said["findings"]}
    for each in findings_in(uninterrupted):
        path = uninterrupted / "findings" / f"{each.id}.json"
        assert json.loads(path.read_text())["octets"] == each.octets.hex()
        assert path.with_suffix(".bin").read_bytes() == each.octets


def changed(**members):
    def spoil(folder):
        said = json.loads((folder / STATEMENT).read_text())
        (folder / STATEMENT).write_text(json.dumps({**said, **members}))

    return spoil


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (changed(schema="overlong/campaign-99"), "another version|not as the schema has it"),
        (changed(generator="overlong 99"), "begun with overlong 99"),
        (changed(schema="other/1"), "not as the schema has it|no report"),
        (lambda folder: (folder / "seeds" / SEED).write_bytes(b"other"), "other inputs than it began with"),
        (lambda folder: (folder / STATEMENT).write_bytes(b""), "damaged"),
        (lambda folder: (folder / STATEMENT).write_text("text " * 100), "damaged"),
        (lambda folder: (folder / STATEMENT).unlink(), "no campaign has begun there"),
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


def test_a_disk_that_is_full_leaves_what_was_there(uninterrupted, tmp_path, monkeypatch):
    folder = tmp_path / "campaign"

    def full(*_, **__):
        raise OSError(28, "No space left on device", str(folder / STATEMENT))

    with created(folder) as campaign:
        campaign.run(runs=BLOCK)
        monkeypatch.setattr("overlong.fuzz.campaign.state.written_whole", full)
        with pytest.raises(CampaignError, match="No space left on device; make room"):
            campaign.run(runs=RUNS)
        monkeypatch.undo()
    with resumed(folder) as campaign:
        campaign.run(runs=RUNS)
    assert found(folder) == found(uninterrupted)


def test_findings_that_cannot_be_written_are_an_error_in_a_line(tmp_path):
    folder = tmp_path / "campaign"
    with created(folder) as campaign:
        (folder / "findings").write_text("no folder")
        with pytest.raises(CampaignError, match=r"findings.*go on with --resume"):
            campaign.run(runs=BLOCK)
        (folder / "findings").unlink()
        campaign.run(runs=BLOCK)
    assert {path.stem for path in (folder / "findings").iterdir()} == {each.id for each in findings_in(folder)}


@given(st.lists(st.tuples(st.integers(0, 40 * BLOCK), st.sampled_from("AB")), max_size=40))
def test_of_each_fingerprint_the_first_divergence_is_kept_each_time_a_campaign_doubles(places):
    result, firsts = UnitResult(range(40 * BLOCK)), dict[tuple[Fingerprint, int], Divergence]()
    for index, where in sorted(places):
        each = stand_in.divergence(job(), index, ONE, "k", where, "")
        assert result.is_new(each.fingerprint, index // BLOCK) == (
            firsts.setdefault((each.fingerprint, octave(index // BLOCK)), each) is each
        )
        result.keep(each, index // BLOCK)
    assert result.divergences == tuple(firsts.values())
