"""Prints the documentation that is read off the code. ``python docs/generate.py [--check]``.

``--check`` writes nothing and fails if a file is not what the code generates.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from printing import (
    abis,
    behaviours,
    cli,
    divergences,
    error_modes,
    faults,
    formats,
    glossary,
    languages,
    protocol,
    suites,
)
from printing.error_modes import EXAMPLE, put_out
from printing.markdown import NOTICE, rows_of, table
from printing.strip import strip

from overlong.conformance.models.picture import Drawing, drawn_in_svg
from overlong.conformance.protocol.observation import CLAIMS, KINDS
from overlong.conformance.support.printable import spaced_hex, thousands
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Profile
from overlong.reference import DEFECTS, DIALECTS, ERROR_MODES, dialect
from overlong.reference.automaton import access_words, characterising_set
from overlong.reference.machine import output_machine, place_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
CAUSES = (
    "### What belongs to what",
    "",
    "`certify` finds causes [by experiment](examine.md). What follows from a cause belongs to its bucket, and its code",
    "fails no claim of its own. The first code of these that a decoder shows is examined first:",
    "",
    "| cause | what belongs to it, where its condition predicts it |",
    "|---|---|",
    "| OV801 to OV805 | a verdict or output that is wrong because of octets outside the input; OV806 |",
    "| OV101 | the same in streams (OV501); earlier offsets (OV301, OV503); U+FFFD for the character (OV4xx) |",
    "| OV2xx | other defects; later offsets, other lengths (OV30x, OV503); text for U+FFFD (OV402); delays (OV512) |",
    "| OV102 | the same with U+FFFD around it, and in streams |",
    "| OV402 | wrong numbers of U+FFFD (OV401), for the same octets |",
    "| OV301 | OV302, OV303 and OV503, for the same octets |",
    "| OV501 | OV503 and OV51x, for the same cuts |",
    "| OV7xx | other divergences of encoders, for the same numbers |",
    "",
    "What is not examined is sorted by code and place: lists of values, crashes, answers that change,",
    "recorded answers, and what remains after twelve examinations.",
)


def codes() -> Iterator[str]:
    """The page of codes."""
    yield from (NOTICE, "", "# Codes", "")
    yield "Stable: never reused, never re-meant. `overlong explain CODE` prints an entry in a terminal."
    yield from ("", "## Defects: what is wrong with the input", "")
    yield "A decoder that accepts ill-formed octets diverges under the code of the defect that it accepts."
    for defect in DEFECTS.values():
        yield from ("", f"### {defect.code} {defect.title}", "", f"{defect.line[0].upper()}{defect.line[1:]}.")
        yield from ("", defect.paragraph, "")
        yield f"- Section: {defect.section}"
        yield f"- Effect: {defect.effect}"
        if defect.cwe:
            yield "- CWE: " + ", ".join(f"CWE-{number}" for number in defect.cwe)
        if defect.cves:
            yield "- CVE: " + ", ".join(defect.cves)
    yield from ("", "## Divergences: what is wrong with the answer", "")
    yield "Each refutes one claim of a certificate:"
    yield ""
    for claim, meaning in CLAIMS.items():
        yield f"- **{claim}**: {meaning}"
    yield from ("", *CAUSES)
    for kind in KINDS.values():
        yield from ("", f"### {kind.code} {kind.title}", "", kind.paragraph, "", f"- Claim: {kind.claim}")
        if kind.section:
            yield f"- Section: {kind.section}"


def automaton() -> Iterator[str]:
    """The page of the automaton."""
    spoken = dialect()
    machine = spoken.automaton
    words = access_words(machine)
    names = [
        "start",
        *("dead" if s == machine.dead else f"[{words[s].hex(' ').upper()}]" for s in range(1, len(machine))),
    ]
    yield from (NOTICE, "", f"# The automaton of {spoken.name}", "")
    yield f"{len(machine)} states, {len(machine.classes)} classes of octets. A state is named by its access word:"
    yield "the least octets that lead to it. Only `start` accepts. A dot leads to `dead`."
    yield ""
    yield "| octets | " + " | ".join(f"`{name}`" for name in names) + " |"
    yield "|---|" + "---|" * len(names)
    for octets in machine.classes:
        targets = (machine.table[state][octets.least] for state in range(len(machine)))
        yield f"| {octets} | " + " | ".join("·" if to == machine.dead else names[to] for to in targets) + " |"
    yield from (
        "",
        "Words that tell every two states apart (the characterising set): "
        + ", ".join(word.hex(" ").upper() or "the empty word" for word in characterising_set(machine))
        + ".",
    )
    yield from ("", "An arrow that is not there leads to `dead`:", "")
    yield (
        f"![{len(machine) - 1} states, all but dead, and the octets that lead from one to the other, as in the table]"
        "(pictures/automaton.svg)"
    )
    yield from ("", "## Which alternatives are open", "")
    yield "The grammar's alternatives that may continue in each state, and the octets that they want next:"
    for state, name in enumerate(names):
        if state == machine.dead:
            continue
        yield from ("", f"**{name}**", "")
        yield from (f"- {position}" for position in sorted(machine.open[state], key=lambda each: each.index))


def _rule(name: str) -> str:
    rule = dialect(name).rule
    if rule.joins_pairs:
        return "a lead surrogate and the trail surrogate right after it are one supplementary character"
    if rule.drops_signature:
        return "U+FEFF at the very start is no text"
    return "each sequence is the number that its bits spell"


def dialects() -> Iterator[str]:
    """The page of dialects and error modes."""
    yield from (NOTICE, "", "# Dialects and error modes", "")
    yield "A *dialect* says which octets are well-formed, and what they mean. An *error mode* says what"
    yield "replaces octets that are not. `overlong certify --profile DIALECT` measures a decoder by any of these"
    yield "dialects ([command line](command-line.md)), its greeting's `error_mode` says by which error mode"
    yield "([protocol](protocol.md)), and `overlong identify` finds out both ([identify](identify.md))."
    yield from ("", "## Dialects", "")
    yield "*States* are those of the minimal automaton, the one that refuses for ever included. *Suite* is the number"
    yield "of strings in `complete-0` for the dialect: no decoder of so many states that accepts anything else passes"
    yield "it ([theory](theory.md)), and none that speaks another of these dialects, however many states that has."
    yield from ("", "| dialect | what it is | states | classes of octets | suite |", "|---|---|---|---|---|")
    for name, line in DIALECTS.items():
        spoken, suite = dialect(name).automaton, replace(SUITES["complete-0"], profile=Profile(name))
        yield f"| [`{name}`](#{name}) | {line} | {len(spoken)} | {len(spoken.classes)} | {thousands(suite.size)} |"
    yield ""
    yield "The grammars are ABNF (RFC 5234). Each says at its head where it departs from RFC 3629, or from the dialect"
    yield "that it is a form of. The *scalar rule* is what becomes of the numbers of sequences."
    for name, line in DIALECTS.items():
        yield from ("", f"### {name}", "", f"{line[0].upper()}{line[1:]}.", f"Scalar rule: {_rule(name)}.")
        yield from ("", "```abnf")
        yield from (files("overlong.reference") / "grammars" / f"{name}.abnf").read_text("ascii").splitlines()
        yield "```"
    yield from ("", "## Error modes", "")
    yield f"What becomes of `{spaced_hex(EXAMPLE)}` in each: a letter, an overlong form (E0 80 AF), a surrogate"
    yield "(ED A0 80), two octets of three (E2 82), a letter. *States* are those of the smallest machine that says for"
    yield "each octet what it does to the output, over `rfc3629`; *strings* make its complete suite, and *suite* is"
    yield "their number with all prefixes: the size of `complete-0-replacing` (for `fatal`: `complete-0-refusing`,"
    yield "which tests positions of refusals)."
    yield from ("", "| error mode | output | source | states | strings | suite |", "|---|---|---|---|---|---|")
    for name, mode in ERROR_MODES.items():
        refuses = mode.stands_for is None
        machine = place_machine(dialect()) if refuses else output_machine(dialect(), mode)
        suite = SUITES["complete-0-refusing" if refuses else "complete-0-replacing"]
        size = replace(suite, profile=Profile(replaces=name)).size
        strings = thousands(len(machine.complete_strings()))
        yield f"| `{name}` | {mode.line} | {mode.source} | {len(machine)} | {strings} | {thousands(size)} |"
    yield from ("", "| error mode | the example becomes (scalar values) |", "|---|---|")
    yield from (f"| `{name}` | {put_out(EXAMPLE, name)} |" for name in ERROR_MODES)
    lossless = ", ".join(f"`{name}`" for name, mode in ERROR_MODES.items() if mode.lossless)
    yield from ("", f"Of these {lossless} loses nothing: the octets can be had back.")


def decoders() -> Iterator[str]:
    """The page of the decoders that ship with an adapter."""
    languages = {builtin.language: None for builtin in BUILTINS.values()}
    yield from (NOTICE, "", "# Decoders that ship with an adapter", "")
    yield f"{len(BUILTINS)} decoders in {len(languages)} languages. `overlong target list` says which can be used here,"
    yield "in which version, and what to install for the others. Nothing is built or fetched before it is used."
    yield "Where they depart from RFC 3629, or replace otherwise than Unicode does: [divergences](divergences.md)."
    for language in languages:
        yield from ("", f"## {language}", "", "| name | decodes with | fetched at first |", "|---|---|---|")
        for builtin in BUILTINS.values():
            if builtin.language == language:
                yield f"| `{builtin.name}` | {builtin.what} | {builtin.fetches} |"
    yield from ("", "## What some of them are", "")
    yield "What [`overlong identify`](identify.md) said of CPython 3.11, Node.js 20, glibc 2.36, Go 1.26, Rust 1.95,"
    yield "Java 17 and Perl 5.36. An empty cell: the adapter does not offer the operation, or the decoder does not say."
    yield ""
    said = rows_of("identified.tsv")
    yield from table(tuple(said[0]), (tuple(row.values()) for row in said))


def pictures() -> dict[str, str]:
    """The pictures that pages show, by their files."""
    spoken = dialect()
    drawing = Drawing(f"The automaton of {spoken.name}", spoken.automaton, spoken.automaton)
    return {
        "pictures/automaton.svg": drawn_in_svg([drawing]),
        **{f"pictures/{mode}.svg": strip(EXAMPLE, mode) for mode in ERROR_MODES},
    }


PAGES = {
    "codes.md": codes,
    "abis.md": abis.page,
    "automaton.md": automaton,
    "behaviours.md": behaviours.page,
    "dialects.md": dialects,
    "decoders.md": decoders,
    "divergences.md": divergences.page,
    "error-modes.md": error_modes.page,
    "cli.md": cli.page,
    "formats.md": formats.page,
    "glossary.md": glossary.page,
    "languages.md": languages.page,
    "planted-faults.md": faults.page,
    "protocol-constants.md": protocol.page,
    "suites.md": suites.page,
}


def main() -> None:
    """Write the pages and pictures, or check them."""
    check = sys.argv[1:] == ["--check"]
    stale: list[str] = []
    printed = {name: "\n".join(page()) + "\n" for name, page in PAGES.items()} | pictures()
    for name, text in printed.items():
        path = HERE / name
        if check and (not path.exists() or path.read_text("utf-8") != text):
            stale.append(name)
        elif not check:
            path.write_text(text, "utf-8")
    if stale:
        sys.exit(f"docs/{', docs/'.join(stale)}: not what the code generates; run python docs/generate.py")


if __name__ == "__main__":
    main()
