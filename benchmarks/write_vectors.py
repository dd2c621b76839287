# pyright: basic
# (pyarrow has no types)
"""Ten million vectors with their expectations, written as JSON Lines and as columns, against ``json.dumps``.

``python benchmarks/write_vectors.py [VECTORS] [ROUNDS]``

The reference loop gets finished records; it only dumps and writes them. Our writers generate the vectors, with
every expectation, while they write. All write into a real file that starts again every 64 MiB, so that the
figures are about the writer and not the disk. Bounds: JSON Lines 10 times the loop, columns 50 times.
"""

from __future__ import annotations

import json
import resource
import tempfile
import time
from itertools import islice
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa

from overlong.conformance.vectors.formats.columnar import SCHEMA, batches
from overlong.conformance.vectors.formats.data import sequence_lines
from overlong.conformance.vectors.suites import suite_named
from overlong.conformance.vectors.vector import record
from runner import arguments, figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from overlong.conformance.vectors.suites.suite import ByteRangeSequence

SUITE = "exhaustive-3"
WINDOW = 64 << 20
SAMPLE = 20_000
BOUNDS = {"JSON Lines": 10, "columns": 50}


class Window:
    """A file that starts again at a maximal size."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.closed = False
        self.octets = 0

    def write(self, octets: Any) -> int:
        if self.file.tell() > WINDOW:
            self.file.seek(0)
        size = self.file.write(octets)
        self.octets += size
        return size

    def flush(self) -> None:
        self.file.flush()


def sequences(most: int) -> Iterator[ByteRangeSequence]:
    done = 0
    suite = suite_named(SUITE)
    assert suite.sequences is not None
    for each in suite.sequences():
        yield each
        done += len(each)
        if done >= most:
            return


def loop(most: int) -> Callable[[Window], int]:
    """The records of every n-th vector, repeated until there are enough."""
    step = max(1, most // SAMPLE)
    records: list[dict[str, Any]] = []
    for each in sequences(most):
        records += [record(vector) for vector in islice(each.vectors(), 0, None, step)]
    records = records[:SAMPLE]

    def run(file: Window) -> int:
        for each in records:
            file.write(json.dumps(each).encode("ascii") + b"\n")
        return len(records)

    return run


def json_lines(most: int) -> Callable[[Window], int]:
    def run(file: Window) -> int:
        done = 0
        for each in sequences(most):
            done += len(each)
            for block in sequence_lines(each):
                file.write(block)
        return done

    return run


def columns(most: int) -> Callable[[Window], int]:
    def run(file: Window) -> int:
        done = 0
        with pa.ipc.new_stream(file, SCHEMA) as writer:
            for batch in batches(sequences(most)):
                writer.write_batch(batch)
                done += len(batch)
        return done

    return run


def main() -> None:
    """Print seconds for a million vectors, and ratios to the loop, round by round."""
    given = arguments(__doc__, vectors=10_000_000, rounds=3)
    most, rounds = given.vectors, given.rounds
    writers = {"json.dumps loop": loop(most), "JSON Lines": json_lines(most), "columns": columns(most)}
    ratios: dict[str, list[float]] = {name: [] for name in writers}
    for number in range(1, rounds + 1):
        base = 0.0
        for name, run in writers.items():
            with tempfile.TemporaryFile() as file:
                window = Window(file)
                started = time.perf_counter()
                count = run(window)
                each = (time.perf_counter() - started) / count
            base = base or each
            ratios[name].append(base / each)
            print(
                f"round {number}  {name:<16} {count:>9} vectors  {each * 1e6:6.3f} s a million  "
                f"{window.octets / count:5.0f} octets each  {base / each:5.1f} times"
            )
    for name, bound in BOUNDS.items():
        figure(f"vectors as {name}, as many as json.dumps writes", ratios[name], at_least=bound)
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
