"""Text as Markdown that the repository's web page and the site read alike."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

NOTICE = "<!-- Printed by docs/generate.py. Do not edit. -->"


def plain(text: str) -> str:
    """Text in which no character is markup, on one line."""
    return re.sub(r"([\\`*_<\[\]|])", r"\\\1", " ".join(text.split()))


def code(text: str) -> str:
    """Text as code; a bar is escaped, for tables."""
    return f"`{text}`".replace("|", "\\|")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def rows_of(name: str) -> list[dict[str, str]]:
    """The rows of a file of tab-separated values in ``docs/``, by the names of its first line."""
    with (Path(__file__).parents[1] / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE, strict=True))
