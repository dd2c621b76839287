"""Rust: a module with one static slice. Scalar values stand in string literals: slices of ``char`` compile slowly."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.formats.source import (
    escaped,
    heading,
    in_decimal,
    put,
    quoted,
    refusal,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.vector import Vector

_DECLARATIONS = """
/// Where and how a strict decoder refuses its input.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Refusal {
    /// Of the first maximal subpart of what is ill-formed.
    pub offset: usize,
    /// Of that subpart, in octets.
    pub length: usize,
    /// The input ends inside a possible character.
    pub incomplete: bool,
    /// So many octets show that it is ill-formed; `None`: its end does.
    pub detectable_at: Option<usize>,
}

#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Vector {
    pub id: &'static str,
    pub comment: &'static str,
    /// The input.
    pub octets: &'static [u8],
    /// Lengths of the chunks it comes in; `None`: it comes whole.
    pub chunks: Option<&'static [usize]>,
    /// What a strict decoder answers.
    pub strict: Result<&'static str, Utf8Refusal>,
    /// Output with one U+FFFD for each maximal subpart.
    pub replacement: &'static str,
    /// How many of its characters are out after each chunk; where it comes whole, after each octet.
    pub put_out: &'static [usize],
    /// Codes of what is wrong.
    pub flags: &'static [&'static str],
}

#[allow(dead_code)]
#[rustfmt::skip]
pub static UTF8_VECTORS: &[Utf8Vector] = &["""


def write(selection: Selection, sink: Sink) -> None:
    with sink.open() as file:
        put(file, *heading(selection), _DECLARATIONS)
        for vector in selection.vectors():
            put(file, _row(vector))
        put(file, "];")


def _row(vector: Vector) -> str:
    chunks = "None" if vector.chunks is None else f"Some(&[{in_decimal(vector.chunks)}])"
    refused, known = refusal(vector), vector.detectable_at
    if refused is None:
        strict = f"Ok({_text(vector.replaced.scalars)})"
    else:
        strict = (
            f"Err(Utf8Refusal {{ offset: {refused.offset}, length: {refused.length}, "
            f"incomplete: {str(refused.incomplete).lower()}, "
            f"detectable_at: {'None' if known is None else f'Some({known})'} }})"
        )
    return (
        f"    Utf8Vector {{ id: {quoted(vector.id)}, comment: {quoted(sentence(vector))}, "
        f'octets: b"{escaped(vector.octets)}", chunks: {chunks}, strict: {strict}, '
        f"replacement: {_text(vector.replaced.scalars)}, put_out: &[{in_decimal(vector.put_out)}], "
        f"flags: &[{', '.join(map(quoted, vector.flags))}] }},"
    )


def _text(scalars: Iterable[int]) -> str:
    return '"' + "".join(f"\\u{{{scalar:x}}}" for scalar in scalars) + '"'


FORMAT = Format("rust", "utf8_vectors.rs", write)
