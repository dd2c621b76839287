"""The cost of a call against guard pages: ``so:`` targets, by ctypes and by the core.

The function is the C library's ``strnlen``, which costs next to nothing on these strings and reads no octet beyond
them. The first two figures are those of the worker alone: write the string right before a guard page, call, read the
answer. It asks the first inputs, and few at a time, by ctypes, and large batches by the core. The third is a
user's rate, through the harness, its pipes and its judge.

    python benchmarks/guarded_calls.py [ROUNDS]
"""

from __future__ import annotations

import mmap
import time
from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.child import Child, Named
from overlong.conformance.targets.adapters.serving import column
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.suites import SUITES
from runner import arguments, figure

if TYPE_CHECKING:
    from overlong.conformance.vectors.batch import Batch

LIBRARY, SYMBOL, ABI = "libc.so.6", "strnlen", "errpos(ptr,len)"
BY_CTYPES, COMPILED, THROUGH = 150_000, 3_000_000, 1_000_000


def child() -> Child:
    """The worker's part, in this process."""
    shared = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("Q")
    return Child(Named.of([LIBRARY, SYMBOL, ABI]), shared, mmap.mmap(-1, mmap.PAGESIZE))


def by_ctypes(batches: list[Batch]) -> float:
    """Calls a second in the worker."""
    asked, ask = [[vector.octets for vector in batch] for batch in batches], child().answer
    started = time.perf_counter()
    for items in asked:
        ask("V", items, frozenset(), single=False)
    return sum(map(len, asked)) / (time.perf_counter() - started)


def compiled(batches: list[Batch]) -> float:
    """The same."""
    payloads = [column([len(batch)]) + column(batch.lengths) + batch.octets for batch in batches]
    ask = child().answer_in_core
    ask(payloads[0])  # built, or loaded
    started = time.perf_counter()
    for payload in payloads:
        ask(payload)
    return sum(map(len, batches)) / (time.perf_counter() - started)


def whole(batches: list[Batch]) -> float:
    """Calls a second through the harness."""
    target = resolve(f"so:{LIBRARY}:{SYMBOL}?abi={ABI}")
    target.open()
    try:
        for _ in target.observe((batch, "V") for batch in batches):
            pass  # from now on by the core
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
    for name, measure, bound in (
        ("in the worker, by ctypes", by_ctypes, BY_CTYPES),
        ("in the worker, by the core", compiled, COMPILED),
        ("through the harness", whole, THROUGH),
    ):
        rates = [measure(batches) for _ in range(rounds)]
        figure(f"guarded calls {name}", rates, "a second", at_least=bound)


if __name__ == "__main__":
    main()
