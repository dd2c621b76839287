"""Source code of six languages: a template gives the text above and below the vectors; a vector is a line."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from functools import partial
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from overlong.conformance.support.provenance import generator
from overlong.conformance.vectors.formats.text import (
    escaped,
    heading,
    in_decimal,
    in_hex,
    part,
    put,
    quoted,
    refusal,
    sentence,
    wrapped,
)
from overlong.reference import Rejected

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import IO

    from overlong.conformance.vectors.export import Opened, Selection
    from overlong.conformance.vectors.vector import Vector

_WIDTH = 96
_LARGEST = 60_000  # characters of a string constant in Java; here each takes one octet


def _head(language: str, selection: Selection) -> str:
    notice = heading(selection, "# " if language == "python" else "// ")
    return part(language, "head", heading="\n".join(notice), generator=generator())


def _write_lines(language: str, row: Callable[[Vector], str], selection: Selection, opened: Opened) -> None:
    """Write a line for each vector."""
    with opened() as file:
        put(file, _head(language, selection))
        for vector in selection.vectors():
            put(file, row(vector))
        put(file, part(language, "tail"))


def _go(vector: Vector) -> str:
    """A vector as a line of Go, without the fields that have Go's zero value."""
    refused, known = refusal(vector), vector.detectable_at
    replaced = f"[]rune{{{in_hex(vector.replaced.scalars)}}}"
    fields = {"ID": quoted(vector.id), "Comment": quoted(sentence(vector)), "Octets": f'"{escaped(vector.octets)}"'}
    if vector.chunks is not None:
        fields["Chunks"] = f"[]int{{{in_decimal(vector.chunks)}}}"
    if refused is None:
        fields["Accept"] = "true"
    else:
        fields["Offset"], fields["Length"] = str(refused.offset), str(refused.length)
        fields["Incomplete"] = str(refused.incomplete).lower()
    fields["DetectableAt"] = str(-1 if known is None else known)
    if refused is None:
        fields["Scalars"] = replaced
    fields["Replacement"] = replaced
    fields["PutOut"] = f"[]int{{{in_decimal(vector.put_out)}}}"
    if vector.flags:
        fields["Flags"] = f"[]string{{{', '.join(map(quoted, vector.flags))}}}"
    return f"\t{{{', '.join(f'{name}: {value}' for name, value in fields.items())}}},"


def _javascript(vector: Vector) -> str:
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


def _python(vector: Vector) -> str:
    refused, known = refusal(vector), vector.detectable_at
    replaced = _tuple(vector.replaced.scalars)
    fields = {"id": quoted(vector.id), "comment": quoted(sentence(vector)), "octets": f'b"{escaped(vector.octets)}"'}
    if vector.chunks is not None:
        fields["chunks"] = _tuple(vector.chunks)
    fields["accept"] = str(refused is None)
    if refused is not None:
        fields |= {"offset": str(refused.offset), "length": str(refused.length), "incomplete": str(refused.incomplete)}
    if known is not None:
        fields["detectable_at"] = str(known)
    if refused is None:
        fields["scalars"] = replaced
    fields |= {"replacement": replaced, "put_out": _tuple(vector.put_out)}
    if vector.flags:
        fields["flags"] = f"({', '.join(map(quoted, vector.flags))},)"
    return f"    Vector({', '.join(f'{name}={value}' for name, value in fields.items())}),"


def _tuple(numbers: Iterable[int]) -> str:
    """A tuple in Python's notation: ``(1,)``."""
    return f"({''.join(f'{number},' for number in numbers)})"


def _rust(vector: Vector) -> str:
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


def _write_c(selection: Selection, opened: Opened) -> None:
    """Write in one pass over the vectors: the octets go to the file, the parts that follow them to temporary files."""
    with ExitStack() as stack:
        file = stack.enter_context(opened())
        numbers, rows = (stack.enter_context(TemporaryFile()) for _ in range(2))
        put(file, _head("c-header", selection))
        octets_before = numbers_before = longest = 0
        for vector in selection.vectors():
            pool = (*vector.replaced.scalars, *vector.put_out, *(vector.chunks or ()))
            put(file, *wrapped((f"0x{octet:02x}," for octet in vector.octets), _WIDTH))
            put(numbers, *wrapped((f"{number:#x}," for number in pool), _WIDTH))
            put(rows, _c(vector, octets_before, numbers_before))
            octets_before += len(vector.octets)
            numbers_before += len(pool)
            longest = max(longest, len(vector.octets))
        put(file, "0};", "UTF8_VECTORS_DATA uint32_t utf8_vector_numbers[] = {")  # the 0: no array may be empty
        _append(numbers, file)
        put(file, "0};", "UTF8_VECTORS_DATA struct utf8_vector utf8_vectors[] = {")
        _append(rows, file)
        put(file, part("c-header", "tail", longest=max(longest, 1)))


def _append(source: IO[bytes], file: IO[bytes]) -> None:
    source.seek(0)
    shutil.copyfileobj(source, file)


def _c(vector: Vector, octets_before: int, numbers_before: int) -> str:
    """A vector as a line of C; its octets and numbers follow the given counts of others in their pools."""
    refused = refusal(vector)
    place = refused or Rejected(0, 0, incomplete=False)
    replaced, pieces, chunks = len(vector.replaced.scalars), len(vector.pieces), vector.chunks

    def numbers(behind: int) -> str:
        return f"utf8_vector_numbers + {numbers_before + behind}"

    fields = (
        _literal(vector.id),
        _literal(sentence(vector)),
        f"utf8_vector_octets + {octets_before}",
        len(vector.octets),
        "NULL" if chunks is None else numbers(replaced + pieces),
        0 if chunks is None else len(chunks),
        int(refused is None),
        place.offset,
        place.length,
        int(place.incomplete),
        "SIZE_MAX" if vector.detectable_at is None else vector.detectable_at,
        numbers(0),
        replaced if refused is None else 0,
        numbers(0),
        replaced,
        numbers(replaced),
        _literal(" ".join(vector.flags)),
    )
    return f"{{{', '.join(map(str, fields))}}},"


def _literal(text: str) -> str:
    """A string literal of C with escaped question marks: two of them would begin a trigraph."""
    return quoted(text).replace("?", "\\?")


def _write_java(selection: Selection, opened: Opened) -> None:
    with opened() as file:
        put(file, _head("java", selection))
        count = 0
        for count, pieces in enumerate(_parts(map(_java, selection.vectors())), 1):
            put(file, f"    private static final class Part{count} {{", "        static String text() {")
            literals = (quoted(piece).replace("\t", "\\t").replace("\n", "\\n") for piece in pieces)
            put(file, "            return " + "\n                + ".join(literals) + ";", "        }", "    }", "")
        put(file, part("java", "tail", parts=count))


def _java(vector: Vector) -> str:
    refused, known = refusal(vector), vector.detectable_at
    place = refused or Rejected(0, 0, incomplete=False)
    fields = (
        vector.id,
        sentence(vector),
        vector.octets.hex(),
        " ".join(map(str, vector.chunks or ())),
        "reject" if refused else "accept",
        str(place.offset),
        str(place.length),
        "incomplete" if place.incomplete else "",
        str(-1 if known is None else known),
        " ".join(f"{scalar:x}" for scalar in vector.replaced.scalars),
        " ".join(map(str, vector.put_out)),
        " ".join(vector.flags),
    )
    return "\t".join(fields) + "\n"


def _parts(rows: Iterable[str]) -> Iterator[list[str]]:
    """Rows in groups that fit into a constant; a row that does not fit is cut."""
    part, size = list[str](), 0
    for row in rows:
        for start in range(0, len(row), _LARGEST):
            piece = row[start : start + _LARGEST]
            if size + len(piece) > _LARGEST:
                yield part
                part, size = [], 0
            part.append(piece)
            size += len(piece)
    if part:
        yield part


WRITERS = {
    "c-header": _write_c,
    "rust": partial(_write_lines, "rust", _rust),
    "go": partial(_write_lines, "go", _go),
    "javascript": partial(_write_lines, "javascript", _javascript),
    "java": _write_java,
    "python": partial(_write_lines, "python", _python),
}
