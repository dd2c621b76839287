"""Power: the share of wrong validators that each suite finds, of more than a thousand drawn by a seed.

Each has one fault of a family: a wrong transition, one state split into two, or a fault after a character, at an
offset, from a length on, behind a fast path, across a block, or depending on earlier calls (`mutants/`). The population
holds it only if a string shows that it is wrong, so a mutant that is not found is a miss and never a right validator.

All mutants get the lists of strings and the sweeps. Some get campaigns and libFuzzer, ten seconds each, and some a
whole certificate, which is timed.

    python benchmarks/power.py                       everything: an hour and a half on two cores
    python benchmarks/power.py --share 0.1           a tenth of it
    python benchmarks/power.py --write               and write docs/power.md
    python benchmarks/power.py --only shaped         one section: "shaped", "shaped-python", "python", "streams" or
                                                     "replacers"; with --write it replaces that section of the page
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from all import machine
from mutants import called, outputs, served, shaped, shares
from mutants.measuring import CERTIFIED, Finder, FinderOfOutputs
from mutants.population import LIBRARY, by_family, population
from mutants.refused import Refuser
from mutants.replacers import REPLACERS
from mutants.shapes import styles
from mutants.spoken import OF_ALL, RIGHT, FinderOfSpoken
from mutants.streams import STREAMS
from overlong.conformance.support.printable import thousands
from overlong.conformance.sweep.pool import cpus
from overlong.conformance.targets.limits import Limits
from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.engines.job import CampaignJob
from overlong.fuzz.generated import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mutants.population import Each, Mutant
    from mutants.spoken import Population

PAGE = Path(__file__).parents[1] / "docs" / "power.md"
SECONDS = 10
"""The time that a campaign has for each mutant, by the clock, and libFuzzer, of a processor: others may use it, too."""
LEAST = 0.98
"""The share that a default certificate must find."""
LIBFUZZER, CAMPAIGN = "libFuzzer", "fuzz"
FIRST = ("certify", "certify --quick")
"""The columns that come first."""
COSTS = "## What each costs"
_LIMITS = Limits(timeout=1.0)
_FUZZER = """
#include "mutants.h"
WALK(right, 0, false, ok)
{code}
int LLVMFuzzerTestOneInput(const octet *s, size_t n) {{
    if ({symbol}(s, n) != right(s, n)) __builtin_trap();
    return 0;
}}
"""

TOP = """<!-- Written by `python benchmarks/power.py --write`. -->

# Power: how many wrong decoders each suite finds

A certificate is worth as much as the bugs that it would have found. So this benchmark plants bugs and counts.
{count} validators in C, drawn by the seed {seed}, have one fault each, of the families in the table. A string
proves each wrong; {left_out} more draws without such a string were left out. No plan knows any of these faults.
But the same authors wrote the plans and the families, and fixed plans after this population and others showed
gaps, so an independent population would be a better measure.

A fault concerns a whole class of octets or characters, a part of it, or its first or last member. If the fault
also needs a certain place (after a character, from an offset on), only five in a hundred concern a single value
out of many, because any test finds such faults only by luck.

{machine}

Shares in percent. *certify* is all suites and the tier `full`, the default for a C function; *certify --quick* is some
suites and the tier `usual` ([command line](command-line.md#certify)). Other decoders get the tier that their speed
allows, `usual` or `brief`, or the 11, 9, 6 or 2 plans of a column beside them; with `--quick` they get `brief`, or as
much of it as fits into two seconds. The five columns after *certify* and *certify --quick* are lists of other projects
(`corpora/elsewhere`), each string whole.

"""
OTHERWISE = f"""
## Tested in other ways

A validator gives the same answers through every adapter, so a tier finds the same mutants. But its speed there decides
the tier. Here `overlong certify` ran as a user would run it, on the right validator and on some mutants. Processor
seconds count harness and target together, which share two cores.

{served.HEAD}"""
OUTPUTS = """
## Outputs

{count} decoders in C have right verdicts and one fault in their output: a character comes out as another, or a refusal
names a wrong offset, where and when the family says. A string proves each wrong ({left_out} draws were left out).
Suites and sweeps compare the outputs.

"""
SECTIONS = {
    REPLACERS: """
## Replacement

{count} decoders in C offer operation `L` ([protocol](protocol.md#frames)) with one fault each: ill-formed octets
come out as too many or too few U+FFFD, swallow text, or disappear; or a character comes out as U+FFFD, twice or not at
all.
{how}
""",
    STREAMS: """
## Streams

{count} decoders in C offer `S` and `N` with one fault each: a cut between chunks loses, keeps or changes octets; a
stream that ends within a character passes; a refusal has a wrong offset; output or a refusal comes a chunk late; or a
reset decoder remembers the stream before. The words after the colon say where: in one state of the automaton, for
example, or at one offset.
{how}
""",
}
HOW = """A request proves each wrong ({left_out} draws were left out). One program holds all of them, and its
argument chooses the decoder. Its answers to whole suites are compared with those of the right program, which
`overlong certify` found CONFORMANT. Sweeps test only `V` and `D`, so a certificate rests on the suites alone here.
`fuzz` was given {some} of them; `overlong certify` refused {refused} of these, the ones that its suites find."""
UNSEEN = """
The number of mixtures was decided with the seeds 7 and 8 in view; these mutants had no part in that.
"""


@dataclass
class Measured:
    """The result for one mutant."""

    mutant: Mutant
    found: list[str] = field(default_factory=list[str])
    """The names of the columns that find it."""


_find: Callable[[Any], list[str]] | None = None


def _asked(mutant: Mutant) -> list[str]:
    assert _find is not None
    return _find(mutant)


def by_campaign(target: str | tuple[str, ...]) -> bool:
    """True if the engine of campaigns, which has processes of its own, finds a mutant within :data:`SECONDS`."""
    engine = open_engine(CampaignJob((target,), limits=_LIMITS))
    engine.run(range(1))  # compiling and loading do not count
    began, first, count = time.monotonic(), 1, BLOCK
    try:
        while time.monotonic() < began + SECONDS:
            if engine.run(range(first, first + count)).divergences:
                return True
            first, count = first + count, min(2 * count, 64 * BLOCK)
    finally:
        engine.close()
    return False


def by_libfuzzer(mutant: Mutant, folder: Path) -> bool:
    """The same for libFuzzer, which sees the branches of the mutant and of the right validator."""
    source, program = folder / f"{mutant.symbol}.c", folder / mutant.symbol
    code = mutant.code.replace("NAME", mutant.symbol)
    source.write_text(_FUZZER.format(code=code, symbol=mutant.symbol), "ascii")
    words = ["clang", "-std=gnu11", "-O1", "-w", "-fsanitize=fuzzer", f"-I{folder}", "-o", str(program), str(source)]
    subprocess.run(words, check=True)
    options = ("-seed=1", "-max_len=4096", f"-artifact_prefix={folder}/")
    limit = partial(resource.setrlimit, resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    done = subprocess.run([str(program), *options], preexec_fn=limit, capture_output=True, check=False)
    program.unlink()
    return done.returncode != -signal.SIGXCPU


def asked_otherwise(
    some: list[Measured], folder: Path, how: str, words: Callable[[str], list[str]], right: str = served.RIGHT
) -> served.Asked:
    """Run whole certificates as a user would, of some validators and of the right one."""
    _, tier, slowest = served.certificate_of(words(right), folder)
    whole = [served.certificate_of(words(each.mutant.symbol), folder) for each in some]
    seconds = [took for refused, _, took in whole if refused]
    print(f"{how}: {tier}, {len(seconds)} of {len(some)} refused", flush=True)
    return served.Asked(how, tier, slowest, len(seconds), len(some), seconds)


def found_by(measured: list[Measured], tier: str) -> str:
    """The share in percent of all that suites and a tier find."""
    found = sum(not {OF_ALL, tier}.isdisjoint(each.found) for each in measured)
    return f"{100 * found / len(measured):.1f}"


def asked_all(mutants: Sequence[Each], find: Callable[[Each], list[str]]) -> list[Measured]:
    """Ask all mutants the lists and sweeps, with a process for each CPU."""
    global _find  # noqa: PLW0603 (forked processes share it)
    _find = find
    measured = [Measured(each) for each in mutants]
    with multiprocessing.get_context("fork").Pool(cpus()) as pool:
        for each, found in zip(measured, pool.imap(_asked, mutants, chunksize=1), strict=True):
            each.found = found
            print(
                f"{each.mutant.symbol} {each.mutant.family}: {each.mutant.words}: {', '.join(found) or 'NOT FOUND'}",
                flush=True,
            )
    return measured


def asked_some(some: list[Measured], name: str, ask: Callable[[Mutant], bool]) -> None:
    """Ask some mutants what takes ten seconds each."""
    for each in some:
        if ask(each.mutant):
            each.found.append(name)


def table(measured: list[Measured], some: list[Measured], columns: list[str]) -> str:
    """Shares in percent, in Markdown: a row for each family, and the last for all. What a user runs comes first."""
    columns = sorted(columns, key=lambda column: FIRST.index(column) if column in FIRST else len(FIRST))
    lines = ["| family | how many | " + " | ".join(columns) + " |", "|---|" + "---:|" * (len(columns) + 1)]
    families = [*by_family([each.mutant for each in measured]), ("all", [each.mutant for each in measured])]
    for family, mutants in families:
        mine = {each.symbol for each in mutants}
        cells = [family, thousands(len(mine))]
        for column in columns:
            whose = some if column in {CAMPAIGN, LIBFUZZER} else measured
            rows = [column in each.found for each in whose if each.mutant.symbol in mine]
            cells.append(f"{100 * sum(rows) / len(rows):.0f}" if rows else "")
        lines.append("| " + " | ".join(f"**{cell}**" if family == "all" and cell else cell for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def spoken(population: Population, folder: Path, options: argparse.Namespace) -> str:
    """The section about decoders behind the protocol.

    Raises:
        SystemExit: a certificate contradicts the answers to the suites.
    """
    mutants, left_out = population.population(folder, options.seed, options.share)
    finder = FinderOfSpoken(population, folder)
    measured = asked_all(mutants, finder.found)
    some = random.Random(options.seed).sample(measured, min(options.spoken, len(measured)))  # noqa: S311
    known = {RIGHT: False, **{each.mutant.symbol: OF_ALL in each.found for each in some}}
    for symbol, wrong in known.items():
        if served.certificate_of(["--", *population.command(symbol)], folder)[0] != wrong:
            raise SystemExit(f"{population.name} {symbol}: its certificate contradicts its answers to the suites")
    asked_some(some, CAMPAIGN, lambda mutant: by_campaign(population.command(mutant.symbol)))
    how = HOW.format(left_out=left_out, some=len(some), refused=sum(known.values()))
    text = SECTIONS[population].format(count=len(mutants), how=how)
    return text + "\n" + table(measured, some, [*finder.columns, CAMPAIGN]) + UNSEEN


def implementations(folder: Path, options: argparse.Namespace) -> str:
    """The section about wrong implementations.

    Raises:
        SystemExit: a right one is refused.
    """
    drawn = shaped.population(folder, options.seed, options.share)
    print(f"{len(drawn.mutants)} wrong implementations; {drawn.broken + len(drawn.unproved)} left out", flush=True)
    seeds = range(options.seed, options.seed + shares.SEEDS)
    refuser = Refuser(folder, seeds)
    for right in (each.right for each in styles()):
        if names := refuser.certified(right):
            raise SystemExit(f"the right style {right.family!r} is refused by {', '.join(names)}")
    measured = asked_all(drawn.mutants, refuser.found)
    return shares.section(drawn, {each.mutant.symbol: each.found for each in measured}, seeds)


_SECTIONS: dict[str, Callable[[Path, argparse.Namespace], str]] = {
    "shaped": implementations,
    "shaped-python": called.shapes,
    "python": called.walks,
    **{each.name: partial(spoken, each) for each in SECTIONS},
}
"""What writes each section that can be measured alone, in their order on the page."""


def _options() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--share", type=float, default=1.0, help="of the population")
    parser.add_argument("--fuzzed", type=int, default=100, help="how many go to the fuzzers")
    parser.add_argument("--certified", type=int, default=20, help="how many are certified as a user would")
    parser.add_argument("--spoken", type=int, default=10, help="the same for each population behind the protocol")
    parser.add_argument("--only", choices=[*_SECTIONS], help="measure and print this section alone")
    parser.add_argument("--write", action="store_true", help="write docs/power.md, or a section")
    return parser.parse_args()


def _replaced(page: str, section: str) -> str:
    """The page with this section in place of the one with its heading; a new one comes before the costs.

    Raises:
        SystemExit: the page has several such sections, or no costs.
    """
    section = f"\n\n{section.strip()}\n\n"
    heading = section.split("\n")[2]
    found = len(re.findall(f"^{heading}$", page, re.MULTILINE))
    old = rf"\n+^{heading}\n.*?(?=^## )" if found else rf"\n+(?=^{COSTS}\n)"
    replaced, count = re.subn(old, lambda _: section, page, count=1, flags=re.DOTALL | re.MULTILINE)
    if count != 1 or found > 1:
        raise SystemExit(f"{PAGE} has {found} sections {heading!r}; write the whole page, without --only")
    return replaced


def main() -> int:
    """Measure, print, and with ``--write`` write the page."""
    options = _options()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        if options.only:
            alone = _SECTIONS[options.only](folder, options)
            print(alone)
            if options.write:
                PAGE.write_text(_replaced(PAGE.read_text("utf-8"), alone), "utf-8")
            return 0
        mutants, left_out = population(folder, options.seed, options.share)
        print(f"{len(mutants)} wrong validators; {left_out} draws left out", flush=True)
        finder = Finder(folder / LIBRARY, options.seed)
        rights = {name: finder.seconds_of_right(name) for name in (*finder.lists, *finder.tiers)}
        measured = asked_all(mutants, finder.found)
        chosen = random.Random(options.seed).sample(measured, min(options.fuzzed, len(measured)))  # noqa: S311
        asked_some(chosen, CAMPAIGN, lambda mutant: by_campaign(mutant.target))
        columns = [*finder.columns, CAMPAIGN]
        if shutil.which("clang") is None:
            print("left out: clang is not on the path, so there is no libFuzzer")
        else:
            asked_some(chosen, LIBFUZZER, lambda mutant: by_libfuzzer(mutant, folder))
            columns.append(LIBFUZZER)
        served.serve(folder, mutants)
        some = chosen[: options.certified]
        whole = [
            asked_otherwise(some, folder, "a C function", served.as_function),
            asked_otherwise(some, folder, "an adapter in C", served.behind_protocol),
            asked_otherwise(some, folder, "a Python callable, by ctypes", served.as_callable),
            asked_otherwise([], folder, "a Python callable, octet by octet", served.as_callable, served.IN_PYTHON),
        ]
        wrong, unshown = outputs.population(folder, options.seed, options.share)
        of_outputs = FinderOfOutputs(folder / outputs.LIBRARY, options.seed)
        measured_outputs = asked_all(wrong, of_outputs.found)
        behind = "".join(make(folder, options) for make in _SECTIONS.values())
    text = table(measured, chosen, columns)
    text += f"\n`fuzz` is a campaign of {SECONDS} seconds on one core. Clang's libFuzzer, which sees the branches, "
    text += f"had the same time. Both got {len(chosen)} of the validators; compiling does not count.\n"
    text += OTHERWISE + "".join(each.row(found_by(measured, each.tier)) for each in whole)
    text += OUTPUTS.format(count=len(wrong), left_out=unshown) + table(measured_outputs, [], of_outputs.columns)
    text += behind
    text += f"\n{COSTS}\n\nProcessor seconds that a right validator takes, in its own process:\n\n"
    text += "| " + " | ".join(rights) + " |\n|" + "---:|" * len(rights) + "\n| "
    text += " | ".join(f"{each:.2f}" for each in rights.values()) + " |\n"
    text += "\n## What a certificate misses\n\n"
    missed = [each.mutant for each in measured if CERTIFIED not in each.found]
    missed += [each.mutant for each in measured_outputs if CERTIFIED not in each.found]
    text += "".join(f"- {each.family}: {each.words}\n" for each in missed) or "Nothing of this population.\n"
    print(text)
    if options.write:
        on = f"Measured on {machine(quick=False)}"
        top = TOP.format(count=thousands(len(mutants)), seed=options.seed, left_out=left_out, machine=on)
        PAGE.write_text(top + text, "utf-8")
    share = sum(CERTIFIED in each.found for each in measured) / len(measured)
    print(f"a certificate finds {share:.1%}")
    return int(share < LEAST)


if __name__ == "__main__":
    sys.exit(main())
