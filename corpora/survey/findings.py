"""The main findings of a survey, each with the program that shows it and its output."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from printing.markdown import code, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).parent
SHOWN = re.compile(
    r"A program that shows it prints `(?P<prints>.+?)`:\n\n(?P<program>(`{3,})\w+\n.+?\n\3)\n", re.DOTALL
)
"""In a text for maintainers: the program, as a block of code, and its output."""


def findings() -> list[dict[str, Any]]:
    """The tables of ``findings.toml``."""
    found: list[dict[str, Any]] = tomllib.loads((HERE / "findings.toml").read_text("utf-8"))["finding"]
    return found


def page(texts: Path) -> Iterator[str]:
    """The page's lines.

    Args:
        texts: the folder with a survey's texts for maintainers.
    """
    yield from ("# What matters most", "")
    yield "What matters most in the newest survey. Each is shown by a program that does not know overlong, with what"
    yield "it prints. `python corpora/survey issues` runs the programs of decoders that have a text for their"
    yield "maintainers. What a library announces is not here."
    for number, finding in enumerate(findings(), 1):
        yield from (
            "",
            f"(finding-{number})=",
            "",
            f"## {number}. {finding['what']}",
            "",
            f"Seen in {finding['seen']}.",
        )
        for name in finding["shown"]:
            shown = SHOWN.search((texts / f"{name}.md").read_text("utf-8"))
            assert shown is not None, name
            decoder, _, fault = name.rpartition("-")
            yield from ("", f"[{plain(decoder)}](r-{name.lower()}.md), {fault}:", "")
            yield from (shown["program"], "", f"It prints {code(shown['prints'])}.")
