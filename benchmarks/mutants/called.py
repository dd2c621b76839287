"""The sections of ``docs/power.md`` about Python callables: what whole certificates of them say, and cost."""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutants import in_python, served, transcribed
from mutants.population import by_family
from mutants.shaped import in_short
from mutants.shapes import OPERATOR, WRITTEN

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping, Sequence

    from mutants.population import Each, Mutant

_SOON = 30.0
_WALKS = """
## In Python

{count} of the draws above, some of each family, transcribed to Python, walk octet by octet. {validators} return `bool`,
the others, which output wrong characters, `str`. A call proves each wrong ({left_out} draws were left out).
`overlong certify py:...` ran on each, as a user would run it, one after the other. It refused **{refused} of {count}**
({percent:.0f} %), {within:.0f} % of all within 30 s, and found the {rights} right ones CONFORMANT. By the clock it took
{median:.0f} s for wrong ones, {most:.0f} s at most, and at most {right:.0f} s for right ones.

| family | how many | refused | seconds: median (most) |
|---|---:|---:|---:|
"""
_SHAPES = """
## Shapes of Python code

{count} callables are shaped like decoders that people write in Python: {rights} styles, each with one mistake.
{written} mistakes were written by hand, {operators} are made by operators. A search that knows no plan proves each
wrong by a text. {unproved} mutants without such a proof are not counted, nor are {hanging} that hang.
`overlong certify py:...` ran on each, as a user would run it, one after the other. It found the {rights} right ones
CONFORMANT, and refused **{refused} of {count}** ({percent:.1f} %), {within:.1f} % of all within 30 s. By the clock it
took {median:.0f} s for wrong ones, {most:.0f} s at most, and at most {right:.0f} s for right ones.

| style | how many | refused | seconds: median (most) |
|---|---:|---:|---:|
"""


def walks(folder: Path, options: argparse.Namespace) -> str:
    """The section about Python callables that walk octet by octet.

    Raises:
        SystemExit: a right callable is refused.
    """
    mutants, left_out = transcribed.callables(folder, options.seed, options.share)
    rights = (transcribed.RIGHT, transcribed.RIGHT_OUTPUT)
    symbols = (*rights, *(each.symbol for each in mutants))
    certified = _certified({symbol: f"py:{folder / transcribed.FILE}:{symbol}" for symbol in symbols}, rights)
    text = _WALKS.format(
        validators=sum(not transcribed.is_output(each) for each in mutants),
        left_out=left_out,
        **_sums(mutants, certified, rights),
    )
    return text + _table(mutants, certified, lambda each: each.words)


def shapes(folder: Path, options: argparse.Namespace) -> str:
    """The section about wrong implementations in Python.

    Raises:
        SystemExit: a right one is refused.
    """
    drawn = in_python.population(folder, options.seed, options.share)
    mutants, rights = drawn.mutants, [each.symbol for each in in_python.rights()]
    symbols = (*rights, *(each.symbol for each in mutants))
    certified = _certified({symbol: f"py:{folder / symbol}.py:decode" for symbol in symbols}, rights)
    text = _SHAPES.format(
        written=sum(each.origin == WRITTEN for each in mutants),
        operators=sum(each.origin == OPERATOR for each in mutants),
        unproved=len(drawn.unproved),
        hanging=drawn.hanging,
        **_sums(mutants, certified, rights),
    )
    return text + _table(mutants, certified, lambda each: f"{each.words}; wrong: {in_short(drawn.proofs[each.symbol])}")


Certified = dict[str, tuple[bool, float]]
"""For each symbol, whether its certificate is refused, and the seconds by the clock."""


def _certified(targets: Mapping[str, str], rights: Sequence[str]) -> Certified:
    """Certify callables, as a user would, the right ones first.

    Raises:
        SystemExit: a right one is refused.
    """
    certified: Certified = {}
    for symbol in (*rights, *(symbol for symbol in targets if symbol not in rights)):
        certified[symbol] = _certificate(targets[symbol])
        if symbol in rights and certified[symbol][0]:
            raise SystemExit(f"what is right is refused: {symbol}")
    return certified


def _certificate(target: str) -> tuple[bool, float]:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        refused, tier, _ = served.certificate_of([target], Path(folder))
    took = time.monotonic() - began
    print(f"{target}: {'refused' if refused else 'CONFORMANT'}, {tier or 'no tier whole'}, {took:.1f} s", flush=True)
    return refused, took


def _sums(mutants: Sequence[Mutant], certified: Certified, rights: Sequence[str]) -> dict[str, Any]:
    times = [certified[each.symbol][1] for each in mutants]
    refused = sum(certified[each.symbol][0] for each in mutants)
    within = sum(certified[each.symbol][0] and certified[each.symbol][1] <= _SOON for each in mutants)
    return {
        "count": len(mutants),
        "rights": len(rights),
        "refused": refused,
        "percent": 100 * refused / len(mutants),
        "within": 100 * within / len(mutants),
        "median": statistics.median(times),
        "most": max(times),
        "right": max(certified[symbol][1] for symbol in rights),
    }


def _table(mutants: Sequence[Each], certified: Certified, words: Callable[[Each], str]) -> str:
    """The rows of the table, and what is not refused."""
    text = ""
    for family, mine in by_family(mutants):
        took = [certified[each.symbol][1] for each in mine]
        found = sum(certified[each.symbol][0] for each in mine)
        text += f"| {family} | {len(mine)} | {found} | {statistics.median(took):.0f} ({max(took):.0f}) |\n"
    missed = [f"- {each.family}: {words(each)}\n" for each in mutants if not certified[each.symbol][0]]
    return text + "".join(["\nNot refused:\n\n", *missed] if missed else [])
