"""The glossary, from ``docs/glossary.tsv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from printing.markdown import NOTICE, rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# Glossary", "")
    yield "Terms of RFC 3629, of the Unicode Standard (chapter 3) and of the theory of automata, and a few of our own."
    yield ""
    for row in sorted(rows_of("glossary.tsv"), key=lambda row: row["term"].lower()):
        yield f"- **{row['term']}**: {row['meaning']}"
