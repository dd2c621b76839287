"""The pages of vectors, one for each family. The site's build generates them, since they take a megabyte."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from corpora.survey.surveyed import newest
from overlong.conformance.report.vector import lines
from overlong.conformance.vectors.families import FAMILIES, all_vectors
from overlong.reference import DEFECTS
from printing.elsewhere import anchor, elsewhere
from printing.markdown import code, plain, table
from printing.pages import written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from corpora.survey.surveyed import Surveyed
    from overlong.conformance.vectors.vector import Vector

_WIDTH = 88


def write(folder: Path) -> None:
    """Write ``index.md`` and a page for each family."""
    families = {name: list(group) for name, group in groupby(all_vectors(), key=lambda vector: vector.category)}
    survey = newest()
    pages = {name: _family(name, each, survey) for name, each in families.items()}
    written(folder, {"index": _index(families), **pages})


def _index(families: dict[str, list[Vector]]) -> Iterator[str]:
    yield from ("# Vectors", "")
    yield "Every vector of the core and of streams, with the right answers. Each has its own address."
    yield "To use them, see [vendoring](../vendoring.md); `overlong vectors show ID` prints the same in a terminal."
    yield "If you know [Kuhn's, WPT's, Autobahn's or Go's strings](../elsewhere/index.md), find them by their names."
    yield ""
    rows = (
        (f"[{name}]({name}.md)", str(len(vectors)), plain(FAMILIES[name].shows)) for name, vectors in families.items()
    )
    yield from table(("family", "vectors", "why"), rows)
    yield from ("", "```{toctree}", ":hidden:", "", *families, "```")


def _family(name: str, vectors: list[Vector], survey: Surveyed) -> Iterator[str]:
    shows = plain(FAMILIES[name].shows)
    yield from ("---", "tocdepth: 1", "---", "", f"# Vectors: {name}", "", f"{shows[:1].upper()}{shows[1:]}.")
    linked = set[str]()  # each vector's block names its flag; one explanation a page is enough
    for vector in vectors:
        title = vector.cases[0] if "sha256-" in vector.id and vector.cases else vector.id
        yield from ("", f"({anchor(vector)})=", f"## {code(title)}", "")
        yield from ("```text", *lines(vector, _WIDTH), "```")
        if records := [f"<{each}>" for each in vector.references if each.startswith("https://")]:
            yield from ("", "Where it went wrong: " + ", ".join(records))
        if flags := [flag for flag in vector.flags if flag not in linked]:
            links = (f"[{flag} {DEFECTS[flag].title}](../codes.md#{_heading(flag)})" for flag in flags)
            yield from ("", "What is wrong: " + ", ".join(links))
            yield from survey.kinds(flags)
        linked.update(vector.flags)
        yield from elsewhere(vector)
        yield from survey.lines(vector)


def _heading(flag: str) -> str:
    """The anchor of a code's heading."""
    return f"{flag} {DEFECTS[flag].title}".lower().replace(" ", "-").replace(",", "")
