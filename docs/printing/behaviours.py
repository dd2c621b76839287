"""The rules of documents on UTF-8, from two files of rows; the readings of the examples are computed."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from overlong.reference import Decoded, MaximalSubpart, dialect, outcome, segments
from printing.markdown import NOTICE, code, rows_of, table

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENTS = {
    "RFC 2279": "the obsolete standard of 1998: one to six octets",
    "RFC 2279 ja": "its Japanese translation, which has one misprint",
    "RFC 3629 §3": "the definition: table, algorithms, what must be protected against",
    "RFC 3629 §4": "the grammar, with examples and a validator",
    "article": "an encyclopedia's article on UTF-8, by its headings",
    "bugs": "a list of bugs that real decoders had",
}


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# What the documents say, and the test that shows it", "")
    yield "Each behaviour of UTF-8 decoders that these documents describe, in our own words, with what overlong does"
    yield "about it and the tests that show it, in `reference/tests` and `conformance/tests`."
    yield ""
    yield from table(("short", "document"), DOCUMENTS.items())
    yield from ("", "## Examples", "")
    yield "All examples of octets in the documents. A code is the reason of a refusal, with its offset."
    yield ""
    yield from table(
        ("octets", "dialect", "read as", "source"),
        (
            (row["octets"], row["dialect"], _read_as(bytes.fromhex(row["octets"]), row["dialect"]), row["source"])
            for row in rows_of("behaviours-examples.tsv")
        ),
    )
    for section, group in groupby(rows_of("behaviours.tsv"), key=lambda row: row["section"]):
        yield from ("", f"## {section}", "")
        yield from table(
            ("behaviour", "source", "what overlong does", "test"),
            (
                (row["behaviour"], row["source"], row["done"], ", ".join(map(code, row["tests"].split(", "))))
                for row in group
            ),
        )


def _read_as(octets: bytes, spoken: str) -> str:
    found = outcome(octets, "fatal", dialect(spoken))
    if isinstance(found, Decoded):
        return " ".join(f"U+{scalar:04X}" for scalar in found.scalars)
    flaw = next(each for each in segments(octets, spoken=dialect(spoken)) if isinstance(each, MaximalSubpart))
    return f"{flaw.defect.code} at {found.offset}"
