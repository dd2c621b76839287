"""A vector as text, with all its data."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import expected_in_words
from overlong.conformance.support.printable import code_points, spaced_hex
from overlong.conformance.vectors.vector import since
from overlong.reference import DEFECTS, Rejected

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Vector

_SHOWN = 16


def lines(vector: Vector, width: int) -> Iterator[str]:
    """The lines, at most ``width`` columns wide where words allow."""

    def row(label: str, text: str) -> list[str]:
        return textwrap.wrap(
            f"{label:<13}{text}", width, subsequent_indent=" " * 13, break_long_words=False, break_on_hyphens=False
        )

    yield vector.id
    if vector.comment:
        yield from row("what", vector.comment)
    for case in vector.cases:
        yield from row("case", case)
    if vector.decoder:
        yield from row("decoder", vector.decoder)
    for reference in vector.references:
        yield from row("reference", reference)
    yield from row("octets", spaced_hex(vector.octets))
    if vector.chunks is not None:
        yield from row("chunks", ", ".join(map(str, vector.chunks)))
    rule, alternative = vector.provenance
    if rule:
        yield from row("grammar", f"RFC 3629 §4  {rule}: {alternative or 'no alternative'}")
    for code in vector.flags:
        yield from row("flag", f"{code} {DEFECTS[code].title}: {DEFECTS[code].line} ({DEFECTS[code].section})")
        yield from row("effect", DEFECTS[code].effect)
    yield from row("since", since(vector.id))
    yield from row("strict", expected_in_words(vector.strict))
    if isinstance(vector.strict, Rejected):
        known = vector.detectable_at
        when = "only at the end" if known is None else f"after {'1 octet' if known == 1 else f'{known} octets'}"
        yield from row("detectable", when)
    yield from row("replacement", code_points(vector.replaced.scalars, _SHOWN))
    if len(vector.pieces) <= _SHOWN:
        what = "octet" if vector.chunks is None else "chunk"
        *pieces, end = (code_points(each, _SHOWN) for each in vector.chunked)
        yield from row("streamed", "; ".join(f"{what} {n}: {each}" for n, each in enumerate(pieces, 1)))
        if end != "nothing":
            yield from row("", f"at the end: {end}")
    yield from row("reproduce", f"overlong replay {vector.id} TARGET")
