"""The overhead of a sweep through frames: every string of up to three octets, 16.8 million of them.

The first ratio divides the wall time of the whole sweep, with judging, by the CPU time of the target's process in the
same run. Its bound is 1.3, on a machine with a free core for the harness. A loaded machine falsifies the clock, so the
second ratio compares CPU times: harness to target. Below 1, the harness keeps up with the target on another core.
Last, sweeps of other plans show the memory of the harness: bound 400 MB.

    python benchmarks/sweep_frames.py [ROUNDS [TARGET...]]
"""

from __future__ import annotations

import resource
import statistics
import time
from dataclasses import dataclass

from overlong.conformance.sweep.columnar import Columnar
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.vector import RFC3629
from runner import arguments, children, cpu_of, figure

BOUND, MEMORY_BOUND = 1.3, 400
EXHAUSTIVE = "exhaustive-3"
OTHERS = ("placed-64", "depth-1", "lengths-1024", "pairs", "order")


@dataclass
class Cost:
    """Seconds of a sweep, and strings a second."""

    wall: float
    target: float
    harness: float
    strings: int

    @property
    def ratio(self) -> float:
        return self.wall / self.target


def swept(engine: Columnar, plan: str, process: int) -> Cost:
    """Sweep the target. The sweep must find nothing and count every well-formed string."""
    theirs, ours, began = cpu_of(process), time.process_time(), time.perf_counter()
    results = [engine.run(shard) for shard in plan_named(plan).shards()]
    cost = Cost(
        time.perf_counter() - began,
        cpu_of(process) - theirs,
        time.process_time() - ours,
        sum(result.strings for result in results),
    )
    account = plan_named(plan).account(engine.expectation.automaton)
    assert (cost.strings, sum(result.well_formed for result in results)) == (account.strings, account.well_formed)
    assert not any(result.kinds for result in results)
    return cost


def opened(target: str, operation: str) -> tuple[Columnar, int]:
    """An engine with a running target, and the target's process: without a sandbox, it is the child itself."""
    before = children()
    found = resolve(target, Limits(timeout=20, sandbox=False))
    assert isinstance(found, FramedTarget)
    engine = Columnar(found, RFC3629, operation)
    assert engine.expectation
    (process,) = children() - before
    return engine, process


def memory() -> int:
    """The peak memory of the harness so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10


def main() -> None:
    """Print the ratios."""
    given = arguments(__doc__, rounds=9, targets=("rust-std",))
    for target in given.targets:
        for operation in "VD":
            engine, process = opened(target, operation)
            swept(engine, "exhaustive-2", process)
            costs = [swept(engine, EXHAUSTIVE, process) for _ in range(given.rounds)]
            rate = statistics.median(cost.strings / cost.wall for cost in costs) / 1e6
            print(f"{target} {operation} {EXHAUSTIVE}: {rate:.1f} million strings a second")
            name = f"sweep through frames, {target} {operation}"
            figure(f"{name}: wall time / CPU time of the target", (cost.ratio for cost in costs), at_most=BOUND)
            figure(f"{name}: CPU time of the harness / of the target", (cost.harness / cost.target for cost in costs))
            engine.close()
    engine, process = opened("rust-std", "D")
    for plan in OTHERS:
        cost = swept(engine, plan, process)
        print(f"rust-std D {plan}: {cost.strings:,} strings, {cost.wall:.2f} s")
    engine.close()
    figure("sweep through frames: memory", [memory()], "MB", at_most=MEMORY_BOUND)


if __name__ == "__main__":
    main()
