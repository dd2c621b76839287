"""An engine without targets, for tests of campaigns: the number of an input alone determines its divergence.

Run as a program it works on the campaign in a folder: ``campaign_stand_in.py FOLDER RUNS JOBS``.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign import campaign as campaigns
from overlong.fuzz.campaign.campaign import Campaign
from overlong.fuzz.campaign.examiner import Probing, stored
from overlong.fuzz.campaign.pool import ENGINES
from overlong.fuzz.engines.job import CampaignJob, Divergence, Fingerprint, UnitResult
from overlong.fuzz.generated import BLOCK
from overlong.reference import Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from overlong.fuzz.campaign.state import StoredFinding
    from overlong.reference import Dialect

TARGETS = ONE, TWO = "cpython", "cpython-surrogatepass"
"""Nothing is asked of them."""
SEEDS = (b"seed", b"")
PACE = 4e-6
"""Seconds for an input."""
FEATURES = 40


def octets_of(job: CampaignJob, index: int) -> bytes:
    """The input of that number."""
    seeds = b"".join(job.seeds)
    return hashlib.sha256(b"%d %d " % (job.seed, index) + seeds).digest()[: 1 + index % 7]


def divergence(job: CampaignJob, index: int, target: str, kind: str, where: str, cause: str) -> Divergence:
    octets = octets_of(job, index)
    finding = Finding(Vector("fuzz", octets), "D", "OV201", Rejected(0, 1, incomplete=False), Accepted((65,)), cause)
    return Divergence(target, finding, Fingerprint(target, "D", kind, where), index)


def diverging(job: CampaignJob, index: int) -> list[Divergence]:
    """The fault of an input: often one, seldom another with the same fingerprint, once a third."""
    found: list[Divergence] = []
    if index % 11 == 3:
        found.append(divergence(job, index, ONE, "accepted", "A", "rare" if index // BLOCK % 8 == 7 else "often"))
    if index % 1013 == 5:
        found.append(divergence(job, index, TWO, "refused", f"B{index % 3}", f"refused {index % 3}"))
    if index == 30_001:
        found.append(divergence(job, index, TWO, "crashed", "C", "crashed"))
    if job.engine in ("wrong everywhere", "one condition") and index < BLOCK:
        found.append(divergence(job, index, ONE, "scalars", f"{index % 200:03}", f"scalars {index % 200}"))
    return found


class StandIn:
    """An engine."""

    def __init__(self, job: CampaignJob) -> None:
        self.job = job

    def run(self, unit: range) -> UnitResult:
        result = UnitResult(unit, 3 * len(unit))
        if self.job.engine == "hangs":
            with open(os.environ["OVERLONG_TEST_HANGS"], "w", encoding="ascii") as held:  # noqa: PTH123
                fcntl.flock(held, fcntl.LOCK_SH)
                time.sleep(1000)
        for index in unit:
            if self.job.engine == "ends" and index == 3 * BLOCK:
                raise TargetError(f"{ONE}: it does not start any more")
            if self.job.engine == "dies" and index == 3 * BLOCK and os.environ.pop("OVERLONG_TEST_DIES", ""):
                os._exit(9)
            for each in diverging(self.job, index):
                if index >= BLOCK or each.fingerprint.where != "B1":  # one has its example after the first unit
                    result.firsts.setdefault((index // BLOCK, each.fingerprint), each)
                result.counts[each.fingerprint] += 1
            if index % 512 == 0:
                time.sleep(512 * PACE)
        for block in range(unit.start // BLOCK, (unit.stop - 1) // BLOCK + 1):
            result.reached[block] = octets_of(self.job, block) + bytes([block])
        result.asked.update({(target, "D"): len(unit) for target in TARGETS})
        return result

    def close(self) -> None:
        pass


class Looks(Probing):
    """An examiner: the finding names the cause; its least example is the first octet of the input."""

    def __init__(self, job: CampaignJob, meanwhile: Callable[[], None]) -> None:
        super().__init__(job, meanwhile)
        self.job = job

    def joined(self, divergence: Divergence, known: Sequence[StoredFinding]) -> str:
        predicts = self.job.engine == "one condition" and divergence.finding.place.startswith("scalars")
        return next((each.id for each in known if predicts and each.place.startswith("scalars")), "")

    def examine(self, divergence: Divergence, known: Sequence[StoredFinding]) -> StoredFinding:
        for _ in range(3 if self.job.engine == "slow to examine" else 0):
            time.sleep(0.05)
            self._meanwhile()
        cause = divergence.finding.place
        octets = divergence.finding.vector.octets[:1]
        finding = Finding(
            Vector("fuzz", octets), "D", "OV201", Rejected(0, 1, incomplete=False), Accepted((65,)), cause
        )
        name = "D-" + hashlib.sha256(f"{divergence.target} {cause}".encode()).hexdigest()[:8]
        return stored(divergence, name, finding, cause, minimal=True)

    def stable(self, found: StoredFinding) -> int:
        return 10


def features_of(octets: bytes, _spoken: Dialect) -> frozenset[int]:
    return frozenset({octets[-1]})


def edges(features: Iterable[int], _spoken: Dialect) -> tuple[int, int]:
    return len(set(features)), FEATURES


class Job(CampaignJob):
    """Another process that gets one imports this module, and so finds the engine."""


def work_with(put: Callable[[object, str, object], None]) -> None:
    """Have campaigns of this process examine as this module does."""
    for each in (Looks, features_of, edges):
        put(campaigns, "Probing" if each is Looks else each.__name__, each)


ENGINES.update(
    dict.fromkeys(
        ("stand-in", "wrong everywhere", "one condition", "ends", "dies", "hangs", "slow to examine"),
        cast("Any", StandIn),
    )
)


def found(folder: Path) -> dict[str, Any]:
    """Findings with counts but no times; and totals."""
    said = json.loads((folder / "campaign.json").read_text("ascii"))
    findings = [{**each, "seconds": 0} for each in said["findings"]]
    totals = {name: said[name] for name in ("inputs", "executions", "octets", "waiting", "features", "targets")}
    return {**totals, "findings": findings, "resume": said["resume"]["fingerprints"]}


def main() -> None:
    folder, runs, jobs = sys.argv[1:]
    work_with(setattr)
    with Campaign.resume(folder) as campaign, contextlib.suppress(KeyboardInterrupt):
        print("ready", flush=True)
        campaign.run(runs=int(runs), jobs=int(jobs), told=lambda status: print(status.inputs, flush=True))


if __name__ == "__main__":
    main()
