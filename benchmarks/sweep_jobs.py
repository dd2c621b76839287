"""The gain of a second target process: shards of all strings of four octets, by one process and by two.

The ratio divides the wall time of one process by that of two, for the same shards; the engines start before the clock
does. Bound: at least 1.85, on a machine with two free cores.

    python benchmarks/sweep_jobs.py [SHARDS [ROUNDS [TARGET]]]
"""

from __future__ import annotations

import time
from itertools import islice

from overlong.conformance.sweep.engine import SweepJob
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.pool import Local, results
from runner import arguments, figure, load

BOUND = 1.85
GLIB = "so:libglib-2.0.so.0:g_utf8_validate?abi=glib(ptr,len,end)&nul=refused"
_FIRST = 8
"""The number of shards before the clock starts."""


def seconds(target: str, jobs: int, count: int) -> float:
    """The wall time for some shards by some processes."""
    shards = (shard for shard in plan_named("exhaustive-4").shards() if shard.grid == 3)
    pool = Local(SweepJob(target), jobs)
    try:
        for _ in results(pool, islice(shards, _FIRST)):  # each process has begun
            pass
        started = time.perf_counter()
        done = sum(1 for _ in results(pool, islice(shards, count)))
        assert done == count
        return time.perf_counter() - started
    finally:
        pool.close(at_once=False)


def main() -> None:
    """Print the ratio."""
    given = arguments(__doc__, shards=128, rounds=5, target=GLIB)
    count, rounds, target = given.shards, given.rounds, given.target
    ratios: list[float] = []
    for _ in range(rounds):
        one, two = (seconds(target, jobs, count) for jobs in (1, 2))
        ratios.append(one / two)
        print(f"{count} shards of 2^22 strings: {one:.2f} s by one process, {two:.2f} s by two: {one / two:.2f}")
    figure("sweep by two processes, as fast as by one", ratios, at_least=BOUND)
    print(f"load of the machine: {load():.1f}")


if __name__ == "__main__":
    main()
