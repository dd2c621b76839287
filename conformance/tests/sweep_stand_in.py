"""An engine in plain Python that asks the reference, to test the code around engines.

``python sweep_stand_in.py WORDS`` is ``overlong WORDS`` with this engine; a Dask worker loads it with ``--preload``.
Environment: ``STAND_IN_SECONDS`` is the time for each shard; ``STAND_IN_REFUSES`` are octets (hexadecimal) that make it
refuse a string; ``STAND_IN_LOG`` is a file that gets a line for each shard that begins.
"""

import os
import time
import zlib
from pathlib import Path

from overlong.conformance.oracle.target import ODD, REFUSED_WELL_FORMED, answer_code
from overlong.conformance.results.sweeps import ShardResult
from overlong.conformance.sweep import plan, sweep

LARGEST = 1 << 8


class StandIn:
    def __init__(self, job):
        self.profile = job.profile
        self.automaton = job.profile.dialect.automaton
        self.seconds = float(os.environ.get("STAND_IN_SECONDS", "0"))
        self.refuses = bytes.fromhex(os.environ.get("STAND_IN_REFUSES", ""))

    def run(self, shard):
        if log := os.environ.get("STAND_IN_LOG"):
            with Path(log).open("a", encoding="ascii") as file:
                file.write(f"{shard.key}\n")
        time.sleep(self.seconds)
        grid = plan.plan_named(shard.plan, self.profile).grids[shard.grid]
        octets = well_formed = accepted = checksum = 0
        kinds = bytearray(shard.count)
        for index in range(shard.first, shard.first + shard.count):
            string = grid.string(index)
            octets += len(string)
            fine = self.automaton.accepting[self.automaton.run(string)]
            well_formed += fine
            takes = fine and not (self.refuses and self.refuses in string)
            accepted += takes
            if takes != fine:
                kinds[index - shard.first] = REFUSED_WELL_FORMED
            checksum += (answer_code("A" if takes else "R", 0) + 1) * (index * ODD | 1)
        packed = zlib.compress(kinds) if any(kinds) else b""
        return ShardResult(shard, shard.count, octets, well_formed, accepted, checksum % (1 << 64), packed)

    def close(self):
        pass


def install(replace=setattr):
    shards = plan.Plan.shards
    replace(sweep, "open_engine", StandIn)
    replace(sweep, "reason_against", lambda target: "it is a stand-in")
    replace(plan.Plan, "shards", lambda self, largest=LARGEST: shards(self, largest))


if __name__ == "__main__":
    from overlong.__main__ import main

    install()
    main()
elif __name__ == "sweep_stand_in" and "DASK_PARENT" in os.environ:
    install()
