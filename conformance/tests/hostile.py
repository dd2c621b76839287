"""The hostile target of the zoo: its command, runs of it, and the lock that its processes hold while they live."""

import json
import sys
import time

from overlong.conformance import Limits, certify
from overlong.conformance.vectors.suites import SUITES
from zoo import ZOO

TARGET = [sys.executable, "-I", "-S", str(ZOO / "hostile_target.py")]
CORE = [vector.octets for batch in SUITES["core"].batches() for vector in batch]
CULPRIT = "80"


def run(folder, target, *, suites=("core",), **limits):
    """Certify through the API: returns the run, and every recorded divergence."""
    certificate = certify(target, suites=suites, output=folder, limits=Limits(**limits))
    assert (folder / "certificate.json").exists() == (suites is None and not certificate.run.incomplete)
    return certificate.run, divergences(folder)


def results(folder):
    """The records of a complete results file."""
    records = [json.loads(line) for line in (folder / "results.jsonl").read_text("ascii").splitlines()]
    assert [records[0]["record"], records[-1]["record"]] == ["header", "footer"]
    assert not list(folder.glob("*.part"))
    return records


def divergences(folder):
    return [record for record in results(folder) if record["record"] == "divergence"]


def free(lock, patience=0.0):
    """True if the lock is free, at once or after a moment."""
    import fcntl

    deadline = time.monotonic() + patience
    with lock.open("rb") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(0.01)
            else:
                return True
