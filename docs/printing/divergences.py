"""The divergences of decoders with an adapter: causes from ``divergences.toml``, answers from ``divergences.tsv``.

A test repeats each row.
"""

from __future__ import annotations

import tomllib
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, NotRequired, TypedDict

from overlong.conformance.targets.builtins import BUILTINS
from printing.markdown import NOTICE, code, rows_of, table

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Cause(TypedDict):
    """A paragraph; if it is about decoders, an item that begins with their names."""

    section: str
    decoders: NotRequired[list[str]]
    text: str


def page() -> Iterator[str]:
    """The page."""
    rows, causes = rows_of("divergences.tsv"), _causes()
    depart = {row["decoder"] for row in rows}
    yield from (NOTICE, "", "# What real decoders do", "")
    yield f"{len(BUILTINS)} decoders ship with an adapter ([decoders](decoders.md)); {len(depart)} depart from RFC"
    yield "3629, or from Unicode's practice for U+FFFD. Each section says why, then lists the answers with the version,"
    yield "the right answer and the [code](codes.md). Each kind of departure was first confirmed by a program that uses"
    yield "neither overlong nor its adapter, in the decoder's language or at its command line (*seen in*); a test"
    yield "repeats each row. To see one yourself, run `overlong replay input/C0AF java-jackson`, with a dot between"
    yield "chunks (`input/E2.82.AC`). Other versions may answer otherwise."
    yield ""
    yield "In the tables, `decode C0 AF` and `validate C0 AF` test refusals, `replace E0 41` replacement,"
    yield "`stream E2 / 82` and `replace-stream` the same in chunks; `encode D800` gives an encoder code points,"
    yield "`encode-16` units of UTF-16, and `size` tests how many octets it announces. A number after *accepted* is"
    yield "output, whether or not it is a scalar value; *incomplete* claims that more octets might have made a"
    yield "character. Without a code, `certify` measures the decoder by the error mode that it has; by an unknown one,"
    yield "only [what is wrong in any mode](results.md#unknown-error-modes)."
    for section, group in groupby(rows, key=lambda row: row["section"]):
        yield from ("", f"## {section}", "")
        for cause in causes:
            if cause["section"] == section:
                yield from _lines(cause)
        yield from table(("decoder", "version", "test", "its answer", "the right one", "code"), map(_cells, group))
    yield from _conforming([name for name in BUILTINS if name not in depart])


def _causes() -> list[_Cause]:
    text = (Path(__file__).parents[1] / "divergences.toml").read_text("utf-8")
    causes: list[_Cause] = tomllib.loads(text)["cause"]
    return causes


def _lines(cause: _Cause) -> Iterator[str]:
    lines = cause["text"].strip().splitlines()
    if names := ", ".join(map(code, cause.get("decoders", ()))):
        yield f"- {names}: {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])
    else:
        yield from lines
    yield ""


def _conforming(names: list[str]) -> Iterator[str]:
    yield from ("", "## Those that conform", "")
    yield f"The other {len(names)} do what RFC 3629 says, and replace as Unicode does, in all that `certify --quick`"
    yield "tests; each only in what its interface offers, and with the [traits](protocol.md#traits) that it"
    yield "declares."
    yield ""
    languages = dict.fromkeys(BUILTINS[name].language for name in names)
    here = {language: [name for name in names if BUILTINS[name].language == language] for language in languages}
    yield from table(("language", "decoders"), ((each, ", ".join(map(code, here[each]))) for each in languages))


def _cells(row: dict[str, str]) -> tuple[str, ...]:
    return code(row["decoder"]), row["version"], code(row["asked"]), row["answer"], row["right"], row["code"]
