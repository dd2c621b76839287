"""The wrong decoders that ``score`` plants, from their code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.models.faults import SHAPES
from overlong.conformance.models.historical import CLASSES, STREAMS
from printing.markdown import NOTICE, code, table

if TYPE_CHECKING:
    from collections.abc import Iterator


def page() -> Iterator[str]:
    """The page."""
    in_chunks = {each.name for each in STREAMS}
    yield from (NOTICE, "", "# Planted faults", "")
    yield "The wrong decoders that [`overlong vectors score`](score.md) runs on every string of a list, by name in"
    yield "its report."
    yield from ("", "## Historical faults", "", "What real decoders got wrong.", "")
    yield from _decoders({name: line for name, line in CLASSES.items() if name not in in_chunks})
    yield from ("", "Only with chunks:", "")
    yield from _decoders({name: line for name, line in CLASSES.items() if name in in_chunks})
    yield from ("", "## Wrong reports", "")
    yield from _decoders({name: line for name, (line, _) in SHAPES.items()})


def _decoders(lines: dict[str, str]) -> Iterator[str]:
    return table(("name", "the decoder"), ((code(name), line) for name, line in lines.items()))
