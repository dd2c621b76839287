"""Prints the documentation that is read off the code. ``python docs/generate.py [--check]``.

``--check`` writes nothing and fails if a file is not what the code generates.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.kind import CLAIMS, KINDS
from overlong.reference import DEFECTS, dialect
from overlong.reference.theory import access_words, characterising_set

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
NOTICE = "<!-- Printed by docs/generate.py. Do not edit. -->"


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
    yield from ("", "```mermaid", "stateDiagram-v2", "    direction LR", "    [*] --> s0")
    yield from (f'    state "{name}" as s{state}' for state, name in enumerate(names) if state != machine.dead)
    for state in range(len(machine)):
        edges: dict[int, list[str]] = {}
        for octets in machine.classes:
            edges.setdefault(machine.table[state][octets.least], []).append(str(octets))
        yield from (
            f"    s{state} --> s{to} : {', '.join(labels)}"
            for to, labels in edges.items()
            if machine.dead not in (state, to)
        )
    yield from ("```", "", "## Which alternatives are open", "")
    yield "The grammar's alternatives that may continue in each state, and the octets that they want next:"
    for state, name in enumerate(names):
        if state == machine.dead:
            continue
        yield from ("", f"**{name}**", "")
        yield from (f"- {position}" for position in sorted(machine.open[state], key=lambda each: each.index))


PAGES = {"codes.md": codes, "automaton.md": automaton}


def main() -> None:
    """Write the pages, or check them."""
    check = sys.argv[1:] == ["--check"]
    stale: list[str] = []
    for name, page in PAGES.items():
        path, text = HERE / name, "\n".join(page()) + "\n"
        if check and (not path.exists() or path.read_text("utf-8") != text):
            stale.append(name)
        elif not check:
            path.write_text(text, "utf-8")
    if stale:
        sys.exit(f"docs/{', docs/'.join(stale)}: not what the code generates; run python docs/generate.py")


if __name__ == "__main__":
    main()
