"""A campaign on a Dask cluster: a real scheduler, and workers in processes of this machine."""

import importlib
import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from overlong.conformance.oracle.target import TargetError
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.generated import BLOCK

pytestmark = pytest.mark.long

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytest.importorskip("fcntl", reason="signals are POSIX's")
HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE))  # workers find the stand-in by its name
stand_in = importlib.import_module("campaign_stand_in")
RUNS = 24 * BLOCK


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, protocol="tcp://", host="127.0.0.1", dashboard_address=None,
        silence_logs=50,
    ) as running:  # fmt: skip
        yield running


@pytest.fixture(scope="module", autouse=True)
def looks():
    with pytest.MonkeyPatch.context() as patch:
        stand_in.work_with(patch.setattr)
        yield


def created(folder, engine="stand-in"):
    job = stand_in.Job(stand_in.TARGETS, seed=7, engine=engine, seeds=stand_in.SEEDS)
    return Campaign.create(folder, job)


def test_workers_find_the_same_though_one_is_killed(cluster, tmp_path):
    with created(tmp_path / "here") as campaign:
        campaign.run(runs=RUNS)
    pids = [worker.pid for worker in cluster.workers.values()]
    killed = threading.Event()

    def kill(status):
        if status.inputs and not killed.is_set():
            os.kill(pids[0], signal.SIGKILL)
            killed.set()

    with created(tmp_path / "there") as campaign:
        status = campaign.run(runs=RUNS, cluster=cluster.scheduler_address, told=kill)
    assert killed.is_set()
    assert status.inputs == RUNS
    assert stand_in.found(tmp_path / "here") == stand_in.found(tmp_path / "there")


def test_what_a_worker_cannot_ask_ends_it(cluster, tmp_path):
    with (
        created(tmp_path / "campaign", "ends") as campaign,
        pytest.raises(TargetError, match="does not start any more"),
    ):
        campaign.run(runs=RUNS, cluster=cluster.scheduler_address)
