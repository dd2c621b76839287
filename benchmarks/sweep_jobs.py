"""The gain of a second target process: shards of all strings of four octets, by one process and by two.

The first ratio divides the CPU time of two processes by the wall time; the engines start before the clock does. Bound:
at least 1.85 processors at work. The second divides the wall time of one process by that of two, for the same shards.
It has no bound, because two processors that share a core are little faster than one. Linux only.

    python benchmarks/sweep_jobs.py [SHARDS [ROUNDS [TARGET]]]
"""

from __future__ import annotations

import time
from functools import partial
from itertools import islice
from typing import NamedTuple

from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.pool import results
from overlong.conformance.sweep.sweep import SweepJob, pool_for
from runner import arguments, cpu_of, descendants, figure, load, ratios, turns

BOUND = 1.85
GLIB = "so:libglib-2.0.so.0:g_utf8_validate?abi=glib(ptr,len,end)&nul=refused"
_FIRST = 8
"""The number of shards before the clock starts."""


class Cost(NamedTuple):
    """Seconds of a sweep: by the clock, and CPU time of its processes."""

    wall: float
    cpu: float


def swept(target: str, jobs: int, count: int) -> Cost:
    """The time for some shards by some processes."""
    shards = (shard for shard in plan_named("exhaustive-4").shards() if shard.grid == 3)
    pool = pool_for(SweepJob(target), jobs)
    try:
        for _ in results(pool, islice(shards, _FIRST)):  # each process has begun
            pass
        processes = descendants()
        used, started = sum(map(cpu_of, processes)), time.perf_counter()
        done = sum(1 for _ in results(pool, islice(shards, count)))
        assert done == count
        return Cost(time.perf_counter() - started, sum(map(cpu_of, processes)) - used)
    finally:
        pool.close(at_once=False)


def main() -> None:
    """Print the ratios."""
    given = arguments(__doc__, shards=128, rounds=5, target=GLIB)
    taken = turns(given.rounds, {str(jobs): partial(swept, given.target, jobs, given.shards) for jobs in (1, 2)})
    for one, two in zip(taken["1"], taken["2"], strict=True):
        print(f"{given.shards} shards of 2^22 strings, seconds: {one.wall:.2f} by one process, {two.wall:.2f} by two")
    at_work = ratios((two.cpu for two in taken["2"]), (two.wall for two in taken["2"]))
    figure("CPU time of two processes of a sweep / wall time", at_work, at_least=BOUND)
    gains = ratios((one.wall for one in taken["1"]), (two.wall for two in taken["2"]))
    figure("sweep by two processes, as fast as by one", gains)
    print(f"load of the machine: {load():.1f}")


if __name__ == "__main__":
    main()
