"""What a call against guard pages costs: ``so:`` targets, from pure Python with ctypes.

The function is the C library's ``strnlen``, which costs next to nothing on these strings and reads no octet beyond
them. The first figure is that of the worker alone: write the string right before a guard page, call, read the answer.
The second is what a user gets: through the harness, its pipes and its judge. Bound: 200 000 calls a second.

    python benchmarks/guarded_calls.py [ROUNDS]
"""

from __future__ import annotations

import mmap
import time
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.shared_library import Child, Named
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites import SUITES
from runner import arguments, figure

if TYPE_CHECKING:
    from overlong.conformance.vectors.batch import Batch

LIBRARY, SYMBOL, ABI = "libc.so.6", "strnlen", "errpos(ptr,len)"
BOUND = 200_000


def alone(batches: list[Batch]) -> float:
    """Calls a second in the worker."""
    shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
    child = Child(Named.of([LIBRARY, SYMBOL, ABI]), shared, mmap.mmap(-1, mmap.PAGESIZE))
    asked = [[vector.octets for vector in batch] for batch in batches]
    started = time.perf_counter()
    for items in asked:
        child.answer("V", items, frozenset(), single=False)
    return sum(map(len, asked)) / (time.perf_counter() - started)


def whole(batches: list[Batch]) -> float:
    """Calls a second through the harness."""
    target = resolve(f"so:{LIBRARY}:{SYMBOL}?abi={ABI}")
    target.open()
    try:
        started = time.perf_counter()
        count = sum(len(answered.batch) for answered in target.observe((batch, "V") for batch in batches))
        return count / (time.perf_counter() - started)
    finally:
        target.close()


def main() -> None:
    """Print the rates."""
    rounds = arguments(__doc__, rounds=5).rounds
    batches = list(SUITES["scalars"].batches())[:40]
    print(f"{sum(map(len, batches)):,} strings, {LIBRARY}:{SYMBOL}, {ABI}")
    for name, measure in (("in the worker", alone), ("through the harness", whole)):
        rates = [measure(batches) for _ in range(rounds)]
        figure(f"guarded calls {name}", rates, "a second", at_least=BOUND)


if __name__ == "__main__":
    main()
