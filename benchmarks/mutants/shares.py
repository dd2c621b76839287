"""The section of ``docs/power.md`` about wrong implementations: how many are refused, what finds each, what passes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mutants.measuring import CERTIFIED, QUICKLY
from mutants.population import by_family
from mutants.shapes import OPERATOR, WRITTEN, styles
from mutants.spoken import OF_QUICK
from overlong.conformance.sweep.schemes import DRAWN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mutants.shaped import Drawn
    from mutants.shapes import Shaped

SEEDS = 3
"""The number of seeds of drawn strings that are tried."""
HEADING = "## Shapes of real code"
_TOP = """
{heading}

The mutants above are guards on one walk. {count} decoders in C are shaped like real ones instead: {styles} styles, each
with one mistake. {written} mistakes were written by hand into the style ("an aligned prologue does not look at its last
octet"), {operators} are made by operators (a comparison, a constant, a mask, a lost statement, a narrow counter). A
search that knows no plan proves each wrong by a text, an address or earlier calls. {unproved} mutants without such a
proof are not counted, nor are {broken} that cannot be compiled or hang. `overlong certify` found the {rights} right
ones CONFORMANT. It refuses **{least:.1f} %**{seeds}; of those written by hand, {least_written:.1f} %; of the {hard}
that the suites of `--quick` do not find, {least_hard:.1f} %. Without drawn strings, which are luck, it refuses
{sure:.1f} %.

| style | how many | certify --quick | certify | with drawn strings |
|---|---:|---:|---:|---:|
"""


def refused(mutants: Sequence[Shaped], found: Mapping[str, Sequence[str]], seed: int) -> int:
    """The number of mutants that a certificate refuses whose drawn strings have this seed."""
    wanted = {CERTIFIED, f"{DRAWN.name}-{seed}"}
    return sum(not wanted.isdisjoint(found[each.symbol]) for each in mutants)


def section(drawn: Drawn, found: Mapping[str, Sequence[str]], seeds: Sequence[int]) -> str:
    """The text.

    Args:
        drawn: the population.
        found: for each symbol, what finds the mutant: see ``Refuser.found``.
        seeds: those of the drawn strings.
    """
    mutants = drawn.mutants

    def share(some: Sequence[Shaped]) -> list[float]:
        return [100 * refused(some, found, seed) / max(len(some), 1) for seed in seeds]

    by_hand = [each for each in mutants if each.origin == WRITTEN]
    hard = [each for each in mutants if OF_QUICK not in found[each.symbol]]
    text = _TOP.format(
        heading=HEADING,
        count=len(mutants),
        styles=len(styles()),
        rights=len(styles()),
        written=len(by_hand),
        operators=sum(each.origin == OPERATOR for each in mutants),
        unproved=len(drawn.unproved),
        broken=drawn.broken,
        least=min(share(mutants)),
        seeds=f" with the seed of least luck (of {len(seeds)}: {', '.join(f'{each:.1f}' for each in share(mutants))})",
        least_written=min(share(by_hand)),
        hard=len(hard),
        least_hard=min(share(hard)),
        sure=100 * sum(CERTIFIED in found[each.symbol] for each in mutants) / len(mutants),
    )
    for family, mine in [*by_family(mutants), ("all", mutants)]:
        counts = [sum(column in found[each.symbol] for each in mine) for column in (QUICKLY, CERTIFIED)]
        drawn_too = dict.fromkeys(refused(mine, found, seed) for seed in seeds)
        cells = [family, str(len(mine)), *map(str, counts), ", ".join(map(str, drawn_too))]
        text += "| " + " | ".join(f"**{cell}**" if family == "all" else cell for cell in cells) + " |\n"
    first = Counter(found[each.symbol][0] for each in mutants if found[each.symbol])
    text += "\nWhat finds each first, in the order of a certificate: "
    text += ", ".join(f"{name} {count}" for name, count in first.most_common()) + ".\n"
    missed = [each for each in mutants if CERTIFIED not in found[each.symbol]]
    text += "\nNot refused, or by luck alone:\n\n" if missed else "\nNone of them passes.\n"
    for each in missed:
        lucky = [str(seed) for seed in seeds if f"{DRAWN.name}-{seed}" in found[each.symbol]]
        luck = f" (refused with seed {', '.join(lucky)})" if lucky else ""
        text += f"- {each.family}: {_quoted(each)}{luck}; wrong: {drawn.proofs[each.symbol]}\n"
    return text


def _quoted(each: Shaped) -> str:
    return each.words if each.origin == WRITTEN else f"`{each.words.replace(' → ', '` → `')}`"
