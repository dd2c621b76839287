"""The divergent answers of decoders that ship with an adapter, row by row, from ``docs/divergences.tsv``.

A test asks each question again.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from overlong.conformance.targets.builtins import BUILTINS
from printing.markdown import NOTICE, code, rows_of, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    rows = rows_of("divergences.tsv")
    yield from (NOTICE, "", "# Answers of real decoders that diverge", "")
    yield f"{len({row['decoder'] for row in rows})} of the {len(BUILTINS)} decoders with an adapter, in the versions"
    yield "named. [What real decoders do](divergences.md) gives the causes. `decode C0 AF` and `validate C0 AF` ask for"
    yield "a refusal, `replace E0 41` for replacement, `stream E2 / 82` and `replace-stream` for the same in chunks;"
    yield "`encode D800` gives an encoder code points, `encode-16` units of UTF-16, and `size` asks how many octets it"
    yield "announces. A number behind *accepted* was put out, whether or not it is a scalar value; *incomplete* claims"
    yield "that more octets might have made a character. The [code](codes.md) is that of the divergence. Without one"
    yield "`certify` measures the decoder by the error mode that it has; by an unknown one, only [what is wrong in any"
    yield "mode](results.md#unknown-error-modes)."
    for section, group in groupby(rows, key=lambda row: row["section"]):
        yield from ("", f"## {section}", "")
        yield from table(("decoder", "version", "asked", "its answer", "the right one", "code"), map(_cells, group))


def _cells(row: dict[str, str]) -> tuple[str, ...]:
    return code(row["decoder"]), row["version"], code(row["asked"]), row["answer"], row["right"], row["code"]
