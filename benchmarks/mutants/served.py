"""The validators of the population behind an adapter in C, and as Python callables."""

from __future__ import annotations

import json
import shlex
import statistics
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mutants.measuring import column_of
from mutants.population import LIBRARY
from overlong.conformance.certification.tiers import tier_of
from overlong.conformance.support.process import module
from overlong.conformance.targets.build import ADAPTERS
from overlong.reference import dialect
from runner import of_children

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mutants.population import Mutant

RIGHT = "right"
"""The symbol of the validator that has no fault."""
IN_PYTHON = "in_python"
"""The same validator in Python."""
CALLABLES = "callables.py"
_SOURCE = Path(__file__).with_name("served.c")
_PROGRAM = "served"
_CALLED = """
import ctypes

_LIBRARY = ctypes.CDLL({library!r})


def _called(symbol):
    function = _LIBRARY[symbol]
    function.restype, function.argtypes = ctypes.c_bool, (ctypes.c_char_p, ctypes.c_size_t)
    return lambda octets: function(octets, len(octets))


"""
_PLAIN = '''
_NEXT, _ACCEPTING, _DEAD = {table!r}, {accepting!r}, {dead}


def in_python(octets):
    """The right one, octet by octet in Python."""
    state = 0
    for octet in octets:
        state = _NEXT[state][octet]
        if state == _DEAD:
            return False
    return _ACCEPTING[state]
'''
_DIVERGES, _INCOMPLETE = 1, 4
_LONGEST = 600.0


@dataclass(frozen=True)
class Asked:
    """The results of whole certificates of some validators."""

    how: str
    tier: str
    """The tier of the right validator."""
    slowest: float
    """Processor seconds of its certificate, of harness and target together."""
    refused: int
    all: int
    seconds: Sequence[float]
    """Processor seconds of each certificate that was refused."""

    def row(self, found: str) -> str:
        """A row of the table, with the share of the whole population that suites and tier find."""
        took = f"{statistics.median(self.seconds):.0f} ({max(self.seconds):.0f})" if self.seconds else ""
        refused = f"{self.refused} of {self.all}" if self.all else "[below](#in-python)"
        cells = (self.how, self.tier, f"{self.slowest:.0f}", found, refused, took)
        return "| " + " | ".join(cells) + " |\n"


HEAD = (
    "| tested | plans of the right one | its CPU s | found of all, % | refused | CPU s: median (most) |\n"
    "|---|---|---:|---:|---:|---:|\n"
)


def serve(folder: Path, mutants: Sequence[Mutant], compiler: str = "cc") -> None:
    """Build the adapter, and write the callables.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed and printed why.
    """
    words = [compiler, "-std=gnu11", "-O2", f"-I{ADAPTERS / 'c'}", "-o", str(folder / _PROGRAM), str(_SOURCE), "-ldl"]
    subprocess.run(words, check=True)
    automaton = dialect().automaton
    code = _CALLED.format(library=str(folder / LIBRARY))
    code += "".join(f'{symbol} = _called("{symbol}")\n' for symbol in (RIGHT, *(each.symbol for each in mutants)))
    code += _PLAIN.format(
        table=tuple(map(tuple, automaton.table)), accepting=tuple(automaton.accepting), dead=automaton.dead
    )
    (folder / CALLABLES).write_text(code, "ascii")


def as_function(symbol: str) -> list[str]:
    """The target as words of a command line: a function of the shared library."""
    return [f"so:./{LIBRARY}:{symbol}?abi=bool(ptr,len)"]


def behind_protocol(symbol: str) -> list[str]:
    """The target as words of a command line: an adapter in C."""
    return ["--", f"./{_PROGRAM}", f"./{LIBRARY}", symbol]


def as_callable(symbol: str) -> list[str]:
    """The target as words of a command line: a Python callable that calls the function by ctypes."""
    return [f"py:{CALLABLES}:{symbol}"]


def certificate_of(words: Sequence[str], folder: Path) -> tuple[bool, str, float]:
    """True if the certificate is refused, the completed tier, and the processor seconds.

    Raises:
        SystemExit: there is no verdict.
    """
    began, kept = of_children(), folder / "certified"
    done = subprocess.run(
        module("overlong", "certify", "-q", "-o", str(kept), *words),
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=_LONGEST,
    )
    seconds = of_children() - began
    if done.returncode not in {0, _DIVERGES, _INCOMPLETE}:  # incomplete: it crashes too often
        raise SystemExit(f"{shlex.join(words)}: {done.stderr.decode(errors='replace')}")
    records = map(json.loads, (kept / "results.jsonl").read_text("utf-8").splitlines())
    tier = tier_of(record["plan"] for record in records if record["record"] == "sweep")
    return done.returncode != 0, column_of(tier) if tier else "", seconds
