"""JavaScript: an ES module that exports one array, with types in JSDoc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.formats.source import (
    heading,
    in_decimal,
    in_hex,
    put,
    quoted,
    refusal,
    sentence,
)

if TYPE_CHECKING:
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.vector import Vector

_DECLARATIONS = """
/**
 * @typedef {object} Accepted
 * @property {true} accept
 * @property {number[]} scalars
 *
 * @typedef {object} Refused
 * @property {false} accept
 * @property {number} offset Of the first maximal subpart of what is ill-formed.
 * @property {number} length Of that subpart, in octets.
 * @property {boolean} incomplete The input ends inside a possible character.
 * @property {number | null} detectableAt So many octets show that it is ill-formed; null: its end does.
 *
 * @typedef {object} Vector
 * @property {string} id
 * @property {string} comment
 * @property {Uint8Array} octets The input.
 * @property {number[] | null} chunks Lengths of the chunks it comes in; null: it comes whole.
 * @property {Accepted | Refused} strict What a strict decoder answers.
 * @property {number[]} replacement Output with one U+FFFD for each maximal subpart.
 * @property {number[]} putOut How many of these are out after each chunk; where whole, after each octet.
 * @property {string[]} flags Codes of what is wrong.
 */

/** @type {Vector[]} */
export const vectors = ["""


def write(selection: Selection, sink: Sink) -> None:
    with sink.open() as file:
        put(file, *heading(selection), _DECLARATIONS)
        for vector in selection.vectors():
            put(file, _row(vector))
        put(file, "];")


def _row(vector: Vector) -> str:
    chunks = "null" if vector.chunks is None else f"[{in_decimal(vector.chunks)}]"
    refused, known = refusal(vector), vector.detectable_at
    replaced = f"[{in_hex(vector.replaced.scalars)}]"
    if refused is None:
        strict = f"accept: true, scalars: {replaced}"
    else:
        strict = (
            f"accept: false, offset: {refused.offset}, length: {refused.length}, "
            f"incomplete: {str(refused.incomplete).lower()}, detectableAt: {'null' if known is None else known}"
        )
    return (
        f"  {{ id: {quoted(vector.id)}, comment: {quoted(sentence(vector))}, "
        f"octets: new Uint8Array([{in_hex(vector.octets)}]), chunks: {chunks}, strict: {{ {strict} }}, "
        f"replacement: {replaced}, putOut: [{in_decimal(vector.put_out)}], "
        f"flags: [{', '.join(map(quoted, vector.flags))}] }},"
    )


FORMAT = Format("javascript", "utf8_vectors.mjs", write)
