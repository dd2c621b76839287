"""Shared by benchmarks: arguments, clocks, turns, figures, and other people's programs to compare with ours.

Each result that has a bound or deserves a row in a table goes through :func:`figure`; ``all.py`` runs every benchmark
and makes one table of the figures.

A single figure says little: machines differ and carry other load. The ratio of two contenders that take turns in one
run says more, and the median of the ratios of many turns says most.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from overlong.conformance.targets.builtins import PROJECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

Measured = TypeVar("Measured")

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


KEPT_IN = "OVERLONG_FIGURES"
"""The variable that names the file to which figures are added, a line of JSON for each."""
WORSE = 1.5
"""A ratio that is worse than its bound by this factor, each time it is measured, is a defect."""


@dataclass(frozen=True)
class Figure:
    """A figure with its bound."""

    what: str
    value: float
    """The median."""
    least: float
    most: float
    unit: str = "times"
    """``times`` marks a ratio of two measurements in one run; any other unit depends on the machine."""
    bound: float | None = None
    at_least: bool = False
    """True if more is better, so that the bound is a minimum."""
    so_far: float | None = None
    """The recorded value, if the bound is known to be missed."""

    @property
    def holds(self) -> bool:
        """True if the median keeps the bound."""
        return self.bound is None or (self.value >= self.bound if self.at_least else self.value <= self.bound)

    @property
    def is_judged(self) -> bool:
        """Whether it is a ratio with a bound, which can be a defect."""
        return self.bound is not None and self.unit == "times"

    @property
    def is_defect(self) -> bool:
        """True for a ratio that is worse by half than its bound, or than :attr:`so_far` if there is one."""
        allowed = self.bound if self.so_far is None else self.so_far
        if allowed is None or not self.is_judged:
            return False
        return self.value < allowed / WORSE if self.at_least else self.value > allowed * WORSE

    @property
    def words(self) -> str:
        """``1.07 times (1.02 to 1.21)``."""
        if self.least == self.most:
            return f"{_number(self.value)} {self.unit}"
        return f"{_number(self.value)} {self.unit} ({_number(self.least)} to {_number(self.most)})"

    @property
    def bound_words(self) -> str:
        """``at most 1.15: holds``; empty if there is none."""
        if self.bound is None:
            return ""
        limit = f"at {'least' if self.at_least else 'most'} {_number(self.bound)}"
        return f"{limit}: {'holds' if self.holds else 'missed'}"


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if abs(value) >= 100 else f"{value:.3g}"


def figure(
    what: str,
    values: Iterable[float],
    unit: str = "times",
    *,
    at_most: float | None = None,
    at_least: float | None = None,
    so_far: float | None = None,
) -> None:
    """Print the median of some values with their spread and its bound, and keep it for ``all.py``."""
    ordered, bound = sorted(values), at_most if at_least is None else at_least
    made = Figure(what, statistics.median(ordered), ordered[0], ordered[-1], unit, bound, at_least is not None, so_far)
    print(f"{what}: {made.words}" + (f"; {made.bound_words}" if bound is not None else ""), flush=True)
    if path := os.environ.get(KEPT_IN):
        with Path(path).open("a", encoding="ascii") as file:
            file.write(json.dumps(asdict(made)) + "\n")


def arguments(page: str | None, **usual: Any) -> Any:
    """Read the positional arguments of the command line; those left out have their usual value.

    Args:
        page: the docstring of the benchmark, which ``--help`` shows.
        usual: the name of each argument, and its default, which also sets its type; a tuple takes all remaining
            arguments, as strings.

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
    """The seconds of a call, by the wall clock; with ``time.process_time``, CPU seconds of this process."""
    started = clock()
    work()
    return clock() - started


def turns(rounds: int, contenders: Mapping[str, Callable[[], Measured]], *, warm: int = 0) -> dict[str, list[Measured]]:
    """Let the contenders measure in turn, for a number of rounds.

    Args:
        rounds: the rounds that count.
        contenders: functions that return what they measured, seconds as a rule.
        warm: earlier rounds, which do not count.
    """
    figures: dict[str, list[Measured]] = {name: [] for name in contenders}
    for number in range(-warm, rounds):
        for name, measure in contenders.items():
            figure = measure()
            if number >= 0:
                figures[name].append(figure)
    return figures


def ratios(dividends: Iterable[float], divisors: Iterable[float]) -> list[float]:
    """The ratios of figures that were measured in the same round."""
    return [one / other for one, other in zip(dividends, divisors, strict=True)]


def spread(figures: Iterable[float], style: str = ".2f") -> str:
    """The median, the least and the most."""
    ordered = sorted(figures)
    return f"median {statistics.median(ordered):{style}}, {ordered[0]:{style}} to {ordered[-1]:{style}}"


def bare_loop(strings: Sequence[bytes], decode: Callable[[bytes], object] = bytes.decode) -> float:
    """Seconds of a loop that decodes each string, catches what is raised, and checks nothing."""
    started = time.perf_counter()
    for octets in strings:
        try:
            decode(octets)
        except ValueError:
            pass
    return time.perf_counter() - started


def children(process: int | None = None) -> set[int]:
    """The running processes that the threads of a process, usually this one, have started. Linux only."""
    lists = Path(f"/proc/{process or os.getpid()}/task").glob("*/children")
    return {int(word) for file in lists for word in file.read_text("ascii").split()}


def descendants() -> set[int]:
    """The children of this process, their children, and so on. Linux only."""
    found, new = set[int](), children()
    while new:
        found |= new
        new = set[int]().union(*map(children, new))
    return found


def cpu_of(process: int) -> float:
    """CPU seconds of a running process with all its threads. Linux has a clock for each process id."""
    return time.clock_gettime((~process << 3) | 2)


def of_children() -> float:
    """CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def load() -> float:
    """The number of processes that want a CPU."""
    return os.getloadavg()[0]


def simdutf8(folder: Path) -> ctypes.CDLL | None:
    """The Rust crate, built by cargo, with its function ``verdict``; without cargo, None and a printed line.

    Raises:
        subprocess.CalledProcessError: the build failed; cargo has printed why.
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
