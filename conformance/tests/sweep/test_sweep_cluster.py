"""Sweeps by the workers of a Dask cluster: a real scheduler and workers, on this machine."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

import pytest

import sweep_stand_in
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.results.statements import RESULTS
from overlong.conformance.sweep.sweep import sweep
from waiting import HUNG

pytestmark = pytest.mark.long

pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
pytest.importorskip("fcntl", reason="signals and process groups are POSIX's")

HERE = Path(__file__).parents[1]
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join((str(HERE), os.environ.get("PYTHONPATH", ""))).rstrip(os.pathsep),
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s",
    "PYTHONIOENCODING": "utf-8",
}
NOWHERE = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")


def started(stack, program, *words, **environment):
    """A process that ends with the test, and its stderr."""
    running = subprocess.Popen(
        [sys.executable, *program, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, **environment},
        start_new_session=True,
    )

    def end():
        running.kill()
        running.communicate()

    stack.callback(end)
    return running


def said(running, pattern, seconds=HUNG):
    """Wait for a line in its log."""
    deadline = time.monotonic() + seconds
    lines = []
    while time.monotonic() < deadline and (line := running.stderr.readline()):
        lines.append(line)
        if found := re.search(pattern, line):
            return found
    raise AssertionError("".join(lines))


def scheduler(stack):
    running = started(stack, ("-m", "distributed.cli.dask_scheduler"), *NOWHERE)
    return running, said(running, r"Scheduler at:\s+(tcp://\S+)")[1]


def worker(stack, address, *words, program=("-m", "distributed.cli.dask_worker"), **environment):
    """A worker with the stand-in."""
    return started(
        stack,
        program,
        address,
        *("--no-nanny", "--nthreads", "1", "--no-dashboard", "--preload", sweep_stand_in.__file__, *words),
        DASK_PARENT="yes",
        **environment,
    )


@pytest.fixture
def stand_in(monkeypatch):
    sweep_stand_in.install(monkeypatch.setattr)


def lines(log):
    return len(log.read_text().splitlines()) if log.exists() else 0


def kill_when(log, count, victim):
    """A progress function that kills a process once some shards have begun."""

    def progress(_plan, _done, _total):
        if victim.poll() is None and lines(log) >= count:
            victim.send_signal(signal.SIGKILL)
            victim.wait(5)

    return progress


def test_a_worker_that_is_killed_and_a_scheduler_that_goes(stand_in, tmp_path):
    log = tmp_path / "log"
    slow = {"STAND_IN_SECONDS": "0.02", "STAND_IN_LOG": str(log)}
    with ExitStack() as stack:
        head, address = scheduler(stack)
        first, second = (worker(stack, address, **slow) for _ in range(2))
        for each in (first, second):
            said(each, "Registered to:")
        killed = sweep(
            "cpython", ["depth-0"], cluster=address, output=tmp_path / "one", progress=kill_when(log, 10, first)
        )
        assert first.returncode == -signal.SIGKILL
        assert killed.conformant
        whole = sweep("cpython", ["depth-0"], output=tmp_path / "whole")
        assert killed.digest == whole.digest
        assert (tmp_path / "one" / RESULTS).read_bytes() == (tmp_path / "whole" / RESULTS).read_bytes()

        log.unlink()
        lost = sweep(
            "cpython", ["depth-0"], cluster=address, output=tmp_path / "two", progress=kill_when(log, 10, head)
        )
        assert lost.incomplete == f"{address}: the scheduler is gone"
        assert 0 < lost.done < lost.strings
    resumed = sweep("cpython", ["depth-0"], output=tmp_path / "two", resume=True)  # here, without a cluster
    assert resumed.resumed == lost.done
    assert resumed.digest == whole.digest


def test_workers_that_cannot_help(stand_in, tmp_path, monkeypatch):
    """No workers; workers without overlong, with another overlong, or with another target."""
    monkeypatch.setattr("overlong.conformance.sweep.pool._ALONE", 1.0)
    bare = ("-c", "import sys; sys.modules['overlong'] = None; from distributed.cli.dask_worker import main; main()")
    with ExitStack() as stack:
        _, address = scheduler(stack)
        with pytest.raises(TargetError, match=r"has no workers; start workers with 'dask worker tcp"):
            sweep("cpython", ["exhaustive-1"], cluster=address)
        with ExitStack() as alone:
            helpless = started(alone, bare, address, "--no-nanny", "--no-dashboard")
            said(helpless, "Registered to:")
            with pytest.raises(TargetError, match=r"lacks a module .*where overlong is installed") as caught:
                sweep("cpython", ["exhaustive-1"], cluster=address)
            assert "\n" not in str(caught.value)
        decoder = tmp_path / "decoder.py"
        decoder.write_text("def decode(octets): return octets.decode()")
        said(worker(stack, address), "Registered to:")
        monkeypatch.setattr("overlong.conformance.sweep.pool.version", lambda _: "0.0.1")
        with pytest.raises(TargetError, match=r"a worker on .* has overlong \d.*, and this is 0.0.1"):
            sweep("cpython", ["exhaustive-1"], cluster=address)
        monkeypatch.setattr("overlong.conformance.sweep.pool.version", version)

        def changed(_plan, _done, _total):
            decoder.write_text("def decode(octets): return octets.decode('utf-8')")

        with pytest.raises(TargetError, match="another file or command for this target than is here"):
            sweep(f"py:{decoder}:decode", ["exhaustive-1"], cluster=address, progress=changed)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "127.0.0.1", "inproc://x", "tcp://", "\x1b[31m"])
def test_no_scheduler(monkeypatch, address):
    monkeypatch.setattr("overlong.conformance.sweep.pool._CONNECT", 0.3)
    with pytest.raises(TargetError, match=r"no scheduler at .*: start one with 'dask scheduler'") as caught:
        sweep("cpython", ["exhaustive-1"], cluster=address)
    assert str(caught.value).isprintable()
