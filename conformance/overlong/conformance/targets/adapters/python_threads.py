"""Calls a Python function in several threads at once. It runs in the adapter, on the standard library alone."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from threading import Barrier
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECONDS, _FEW = 0.5, 3
_CALLS = (_FEW, 16)
"""The calls of a round: a few that give way to the other threads at each line of Python, and many that do not."""
_LINES = 64
_OWN = str(Path(__file__).parent)
_SWITCHES = 1e-6  # seconds: threads that share an interpreter take turns amid a call


def _giving_way() -> Callable[..., Any]:
    """A trace function that lets other threads run before each of the first lines of a call."""
    left = _LINES

    def trace(frame: Any, event: str, _: object) -> Any:
        nonlocal left
        if event == "call" and frame.f_code.co_filename.startswith(_OWN):
            return None
        if event == "line" and left:
            left -= 1
            time.sleep(0)
        return trace

    return trace


def together(
    answer: Callable[[Sequence[bytes]], Sequence[Any]],
    shown: Callable[[Any, bytes], object],
    items: Sequence[bytes],
    threads: int,
) -> list[Any]:
    """The result of each input: one that differs from the result alone, if any thread got such a one.

    Args:
        answer: the function, of many inputs.
        shown: what is compared of a result.
        items: inputs; in each round, which all threads begin together, each thread has another one.
        threads: so many at once.
    """
    alone = [answer([item])[0] for item in items]
    right = [shown(result, item) for result, item in zip(alone, items, strict=True)]
    other, going, until = dict[int, Any](), [True], time.monotonic() + _SECONDS

    def decide() -> None:
        going[0] = time.monotonic() < until

    barrier = Barrier(threads, decide)

    def work(thread: int) -> None:
        place = thread
        for calls in cycle(_CALLS):
            barrier.wait()
            if not going[0]:
                return
            place = (place + 1) % len(items)
            for _ in range(calls):
                if calls == _FEW:
                    sys.settrace(_giving_way())
                result = answer([items[place]])[0]
                sys.settrace(None)
                if shown(result, items[place]) != right[place]:
                    other.setdefault(place, result)

    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCHES)
    try:
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
    finally:
        sys.setswitchinterval(usual)
    return [other.get(place, result) for place, result in enumerate(alone)]
