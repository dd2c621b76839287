"""A vector as plain data, with every expectation; ``schemas/vectors-1.schema.json`` describes it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.vectors.registry import about, since
from overlong.reference import WellFormed
from overlong.reference.defect import DEFECTS, FOREIGN
from overlong.reference.error_mode import REPLACEMENT_CHARACTER

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.vectors.vector import Vector


def spelt(*scalars: int) -> str:
    """``002F FFFD``: scalar values as hexadecimal numbers of at least four digits."""
    return " ".join(f"{scalar:04X}" for scalar in scalars)


def scalar_of(found: WellFormed) -> str:
    return f"{found.scalar:04X}"


def record(
    vector: Vector, identifier: str = "", octets: str = "", scalar: Callable[[WellFormed], str] = scalar_of
) -> dict[str, Any]:
    """The vector as plain data.

    Args:
        vector: the vector.
        identifier: text in place of its id; for templates.
        octets: text in place of its octets in hexadecimal.
        scalar: gives the text in place of the scalar value of a segment.
    """
    replaced = spelt(REPLACEMENT_CHARACTER)
    words = [scalar(each) if isinstance(each, WellFormed) else replaced for each in vector.segments]
    output = " ".join(words)
    flaw = vector.flaw
    strict: dict[str, Any]
    if flaw is None:
        strict = {"verdict": "accept", "scalars": output}
    else:
        strict = {
            "verdict": "reject",
            "offset": flaw.offset,
            "length": flaw.length,
            "incomplete": flaw.incomplete,
            "detectable_at": vector.detectable_at,
        }
    # no error mode of a file swallows octets, so its segments are what is taken
    chunked = [" ".join(words[start:end]) for start, end in vector.released]
    result: dict[str, Any] = {"id": identifier or vector.id, "hex": octets or vector.octets.hex()}
    if vector.chunks is not None:
        result["chunks"] = list(vector.chunks)
    if vector.earlier is not None:
        result["earlier"] = [chunk.hex() for chunk in vector.earlier]
    if vector.comment:
        result["comment"] = vector.comment
    if vector.cases:
        result["cases"] = list(vector.cases)
    if vector.decoder:
        result["decoder"] = vector.decoder
    if vector.references:
        result["references"] = list(vector.references)
    provenance = vector.provenance
    if provenance is not None:
        result["provenance"] = {"document": "RFC 3629", "section": "4", "rule": provenance.rule}
        if provenance.alternative:
            result["provenance"]["alternative"] = provenance.alternative
    expect = {"strict": strict, "replacement": {"scalars": output, "chunked": chunked}}
    return {**result, "flags": list(vector.flags), "since": since(vector.id), "expect": expect}


def document_of(vector: Vector, selection: str) -> dict[str, Any]:
    """A document of one vector; ``selection`` says in words where it is from."""
    return {**about(selection), "notes": {}, "groups": [{"category": vector.category, "tests": [record(vector)]}]}


def notes() -> dict[str, dict[str, Any]]:
    """The meaning of each flag: title, effect, weaknesses, known cases."""
    return {
        defect.code: {
            "title": defect.title,
            "text": defect.paragraph,
            "section": defect.section,
            "effect": defect.effect,
            "cwe": list(defect.cwe),
            "cves": list(defect.cves),
            "links": [f"https://cwe.mitre.org/data/definitions/{number}.html" for number in defect.cwe]
            + [f"https://www.cve.org/CVERecord?id={cve}" for cve in defect.cves],
        }
        for defect in DEFECTS.values()
        if defect is not FOREIGN  # files are written for rfc3629, which never has this defect
    }
