"""Run all benchmarks, and print one table of their figures and bounds.

A ratio that is worse by half than its bound is a defect, and ends this with status 1. Both sides of a ratio take turns
in one run, so a slow machine does not explain it. One whose speed changes within seconds might: the benchmark runs
again, up to three times in all, and the last run counts. Seconds and rates have bounds, too, for a machine with two
free cores; these are shown and fail nothing. If a bound is known to be missed, the recorded ratio takes its place.

    python benchmarks/all.py            every benchmark, as long as it takes (some twenty minutes)
    python benchmarks/all.py --quick    few rounds each, as CI runs it
    python benchmarks/all.py --ratios   only those that have a ratio with a bound: nothing may run beside these
    python benchmarks/all.py --write    and write docs/performance.md
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from overlong.conformance.support.process import script
from runner import KEPT_IN, WORSE, Figure

HERE = Path(__file__).parent
STARTED = time.monotonic()
PAGE = HERE.parent / "docs" / "performance.md"

ATTEMPTS = 3
"""How often a benchmark runs before a ratio of it is a defect: other users of the machine come and go."""
QUICK = {
    "certify_cpython": "3",
    "certify_wrong": "1 quick",
    "identify_cpython": "2",
    "write_vectors": "1000000 3",
    "guarded_calls": "2",
    "restart_crashed": "5",
    "subprocess_cost": "0.3 rust-std",
    "oracle": "",
    "sweep_exhaustive": "4",
    "sweep_frames": "3",
    "sweep_jobs": "64 2",
    "fuzz_inputs_to_find": "3",
    "fuzz_compiled": "500000",
    "fuzz_python": "2",
    "fuzz_planted": "--quick",
}
"""The arguments that make each quick; without them each is thorough."""

WITHOUT_RATIOS = ("identify_cpython", "guarded_calls", "restart_crashed", "fuzz_inputs_to_find", "fuzz_planted")
"""Those that have no ratio with a bound: they end alike on a busy machine."""

TOP = """<!-- Written by `python benchmarks/all.py --write`. -->

# Performance

The cost of overlong, compared with the least that a test costs: a bare loop over the same strings, the same loop in C,
or another fuzzer. Each figure is the median of several rounds, with the least and the most. Contenders take turns, so a
busy machine disturbs both, and ratios say most. Seconds, rates and nanoseconds are from this machine:

{machine}

`python benchmarks/all.py` measures everything again; the `--help` of each benchmark describes it. CI runs them quickly
and fails if a ratio is worse by half than its bound in three runs; if the bound is missed here, CI compares with the
ratio here.
"""


def machine(*, quick: bool) -> str:
    """The machine and the mode of the measurement, in a line."""
    name = platform.processor() or platform.machine()
    if sys.platform == "linux":
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{name}, {os.cpu_count()} cores, {platform.system()}, {python}{'; few rounds each' if quick else ''}."


def measured(name: str, words: list[str]) -> list[Figure]:
    """The figures of one benchmark, which also prints its own lines.

    Raises:
        SystemExit: it failed.
    """
    print(f"\n-- {time.monotonic() - STARTED:.0f} s: {name} {' '.join(words)}".rstrip(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "figures"
        environment = {**os.environ, KEPT_IN: str(kept), "PYTHONPATH": str(HERE)}
        done = subprocess.run(script(HERE / f"{name}.py", *words), env=environment, check=False)
        if done.returncode:
            raise SystemExit(f"{name}.py ended with status {done.returncode}")
        return [Figure(**json.loads(line)) for line in kept.read_text("ascii").splitlines()] if kept.exists() else []


def confirmed(name: str, words: list[str]) -> list[Figure]:
    """The figures of a benchmark, which runs again while one of them is a defect.

    Raises:
        SystemExit: it failed.
    """
    figures = measured(name, words)
    for _ in range(ATTEMPTS - 1):
        if not (defects := [one for one in figures if one.is_defect]):
            break
        for one in defects:
            print(f"measured again: {one.what}: {one.words}; {one.bound_words}")
        figures = measured(name, words)
    return figures


def table(figures: dict[str, list[Figure]]) -> str:
    """All of them in Markdown, a section for each benchmark."""
    rows = list[str]()
    for name, each in figures.items():
        if not each:
            continue
        rows += [f"\n## {name}.py\n", "| | measured | bound |", "|---|---|---|"]
        rows += [f"| {one.what} | {one.words} | {one.bound_words} |" for one in each]
    return "\n".join(rows) + "\n"


def main() -> int:
    """Run them, print the table, and report ratios that are too bad."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="those to run (usually all), without .py")
    parser.add_argument("--quick", action="store_true", help="few rounds each")
    parser.add_argument(
        "--ratios", action=argparse.BooleanOptionalAction, help="those that have a ratio with a bound, or the others"
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(HERE.parent)}")
    options = parser.parse_args()
    ratios: bool | None = options.ratios
    some = [name for name in QUICK if ratios is None or ratios != (name in WITHOUT_RATIOS)]
    names: list[str] = options.names or some
    if unknown := set(names) - set(QUICK):
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}; there are {', '.join(QUICK)}")
    if options.write and names != list(QUICK):
        parser.error("--write is for all benchmarks: the page would lose the others")
    on = machine(quick=options.quick)
    figures = {name: confirmed(name, QUICK[name].split() if options.quick else []) for name in names}
    assert not [one for name in WITHOUT_RATIOS for one in figures.get(name, ()) if one.is_judged]
    text = table(figures)
    print(text)
    if options.write:
        PAGE.write_text(TOP.format(machine=on) + text, "utf-8")
    defects = [one for each in figures.values() for one in each if one.is_defect]
    for one in defects:
        print(f"worse than may be by more than {WORSE:g} times: {one.what}: {one.words}; {one.bound_words}")
    return int(bool(defects))


if __name__ == "__main__":
    sys.exit(main())
