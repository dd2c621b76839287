"""Text as Markdown that the repository's web page and the site read alike."""

from __future__ import annotations

import re
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
