"""What benchmarks share: arguments, clocks, turns, figures, and programs of others that ours are held against.

A figure says little, for machines differ and others load them. A ratio of two that take turns in one run says more, and
the median of the ratios of many turns most.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.targets.builtins import PROJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_RUST = """
#[no_mangle]
pub unsafe extern "C" fn verdict(octets: *const u8, size: usize) -> bool {
    simdutf8::basic::from_utf8(std::slice::from_raw_parts(octets, size)).is_ok()
}
"""
_CARGO = """
[package]
name = "verdict"
version = "0.0.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
path = "verdict.rs"
[dependencies]
simdutf8 = "={version}"
"""


def arguments(page: str | None, **usual: Any) -> Any:
    """What stands on the command line, in this order; what is left out is as usual.

    Args:
        page: the docstring of the benchmark, which ``--help`` shows.
        usual: the name of each argument and its value if it is left out, which has its type; of a tuple: all that are
            left, as strings.

    Returns:
        An object with an attribute for each.
    """
    parser = argparse.ArgumentParser(description=page, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in usual.items():
        if isinstance(value, tuple):
            parser.add_argument(name, nargs="*", default=value)
        else:
            parser.add_argument(name, nargs="?", type=cast("type[int | float | str]", type(value)), default=value)
    return parser.parse_args()


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds that it takes, by the clock on the wall; or ``time.process_time``: of this process on a CPU."""
    started = clock()
    work()
    return clock() - started


def turns(rounds: int, contenders: Mapping[str, Callable[[], float]], *, warm: int = 0) -> dict[str, list[float]]:
    """What each measures, in turn, so many times.

    Args:
        rounds: that count.
        contenders: functions that return a figure, seconds as a rule.
        warm: rounds before that do not count.
    """
    figures: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(-warm, rounds):
        for name, measure in contenders.items():
            figure = measure()
            if number >= 0:
                figures[name].append(figure)
    return figures


def ratios(dividends: Iterable[float], divisors: Iterable[float]) -> list[float]:
    """Those of figures that were measured in the same round."""
    return [one / other for one, other in zip(dividends, divisors, strict=True)]


def spread(figures: Iterable[float], style: str = ".2f") -> str:
    """The median, the least and the most."""
    ordered = sorted(figures)
    return f"median {statistics.median(ordered):{style}}, {ordered[0]:{style}} to {ordered[-1]:{style}}"


def bare_loop(strings: Sequence[bytes], decode: Callable[[bytes], object] = bytes.decode) -> float:
    """Seconds for a loop that decodes each string, catches what is raised, and looks at nothing."""
    started = time.perf_counter()
    for octets in strings:
        try:
            decode(octets)
        except ValueError:
            pass
    return time.perf_counter() - started


def children() -> set[int]:
    """The processes that this one has started and that run. Linux only."""
    return set(map(int, Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text("ascii").split()))


def cpu_of(process: int) -> float:
    """CPU seconds of a running process with all its threads. Linux has a clock for each process id."""
    return time.clock_gettime((~process << 3) | 2)


def load() -> float:
    """How many processes want a CPU."""
    return os.getloadavg()[0]


def simdutf8(folder: Path) -> ctypes.CDLL | None:
    """The Rust crate, built by cargo, with its function ``verdict``; None where there is no cargo, and that is said.

    Raises:
        subprocess.CalledProcessError: it cannot be built; cargo has said why.
    """
    if shutil.which("cargo") is None:
        print("left out: cargo is not on the path, so there is no simdutf8")
        return None
    (folder / "Cargo.toml").write_text(_CARGO.replace("{version}", PROJECTS["crates"].version("simdutf8")), "ascii")
    (folder / "verdict.rs").write_text(_RUST, "ascii")
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, check=True)
    crate = ctypes.CDLL(str(next((folder / "target" / "release").glob("libverdict.*"))))
    crate.verdict.restype = ctypes.c_bool
    return crate
