"""TSV: a line for each vector, a line of names first. Opens in a spreadsheet, splits in any language."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.record import spelt
from overlong.reference import Decoded

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.vector import Vector

COLUMNS = (
    "id", "hex", "chunks", "verdict", "offset", "length", "incomplete", "detectable_at", "scalars", "replacement",
    "chunked", "flags", "rule", "alternative", "cases", "comment",
)  # fmt: skip


def row(vector: Vector) -> tuple[str, ...]:
    """One vector's fields, as :data:`COLUMNS` names them; what does not apply is empty."""
    strict, provenance = vector.strict, vector.provenance
    if isinstance(strict, Decoded):
        answer = ("accept", "", "", "", "", spelt(*strict.scalars))
    else:
        known = "" if vector.detectable_at is None else str(vector.detectable_at)
        answer = ("reject", str(strict.offset), str(strict.length), str(strict.incomplete).lower(), known, "")
    return (
        vector.id,
        vector.octets.hex(),
        "" if vector.chunks is None else " ".join(map(str, vector.chunks)),
        *answer,
        spelt(*vector.replaced.scalars),
        "|".join(spelt(*each) for each in vector.chunked),
        " ".join(vector.flags),
        provenance.rule if provenance else "",
        provenance.alternative if provenance else "",
        " ".join(vector.cases),
        vector.comment,
    )


def write(selection: Selection, sink: Sink) -> None:
    with sink.open() as file:
        file.write(("\t".join(COLUMNS) + "\n").encode("ascii"))
        for vector in selection.vectors():
            file.write(("\t".join(row(vector)) + "\n").encode("ascii"))


FORMAT = Format("tsv", "vectors.tsv", write)
