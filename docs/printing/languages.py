"""The languages of ``overlong target new``, from its templates and ``docs/adapters.tsv``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.targets.starters import TEMPLATES
from printing.markdown import NOTICE, code, rows_of, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# Adapters by language", "")
    yield "`overlong target new LANG` writes an adapter ([how to](adapters.md)). LANG may be in capitals, and may be"
    yield "short: `js`, `node`, `cpp`, `py`, `rb`, `pl`, `ml`, `erl`. Those in Go, Java, JavaScript, Python and Rust"
    yield "have a list for [functions beside the decoder](functions.md#in-other-languages). There is none for .NET."
    yield ""
    rows = ((row, TEMPLATES[row["language"]]) for row in rows_of("adapters.tsv"))
    yield from table(
        ("LANG", "Debian packages", "build", "certify `--`", "decoder inside"),
        (
            (
                code(template.language),
                row["debian"],
                code(template.build) if template.build else "",
                code(template.run),
                template.decoder + row["more"],
            )
            for row, template in rows
        ),
    )
