"""A header for C99 and C++: static data, pooled, since C++ has no compound literals."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from tempfile import TemporaryFile
from typing import TYPE_CHECKING

from overlong.conformance.vectors.formats.format import Format
from overlong.conformance.vectors.formats.source import heading, put, quoted, refusal, sentence, wrapped
from overlong.reference import Rejected

if TYPE_CHECKING:
    from typing import IO

    from overlong.conformance.vectors.formats.format import Sink, Writable
    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.vector import Vector

_WIDTH = 96

_DECLARATIONS = """
#ifndef UTF8_VECTORS_H
#define UTF8_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __GNUC__
#define UTF8_VECTORS_DATA __attribute__((unused)) static const
#else
#define UTF8_VECTORS_DATA static const
#endif

struct utf8_vector {
    const char *id;
    const char *comment;
    const unsigned char *octets;  // the input
    size_t octet_count;
    const uint32_t *chunks;       // lengths of the chunks it comes in; NULL where it comes whole
    size_t chunk_count;
    int accept;                   // the verdict: 1 well-formed, 0 ill-formed
    size_t offset;                // where ill-formed: of the first maximal subpart
    size_t length;                // where ill-formed: of that subpart, in octets
    int incomplete;               // where ill-formed: 1 if the input ends inside a possible character
    size_t detectable_at;         // octets that show it is ill-formed; SIZE_MAX where none do before the end
    const uint32_t *scalars;      // strict output; scalar_count is 0 where ill-formed
    size_t scalar_count;
    const uint32_t *replacement;  // output with one U+FFFD for each maximal subpart
    size_t replacement_count;
    const uint32_t *put_out;      // how many of these are out after each chunk; where whole, after each octet
    const char *flags;            // codes of what is wrong, parted by spaces
};
"""

_END = """
#define UTF8_VECTORS_COUNT (sizeof utf8_vectors / sizeof utf8_vectors[0])

#endif"""


def write(selection: Selection, sink: Sink) -> None:
    """One pass over the vectors: the octets go to the file, what must stand behind them to temporary ones."""
    with ExitStack() as stack:
        file = stack.enter_context(sink.open())
        numbers, rows = (stack.enter_context(TemporaryFile()) for _ in range(2))
        put(file, *heading(selection), _DECLARATIONS, "UTF8_VECTORS_DATA unsigned char utf8_vector_octets[] = {")
        octets_before = numbers_before = longest = 0
        for vector in selection.vectors():
            pool = (*vector.replaced.scalars, *vector.put_out, *(vector.chunks or ()))
            put(file, *wrapped((f"0x{octet:02x}," for octet in vector.octets), _WIDTH))
            put(numbers, *wrapped((f"{number:#x}," for number in pool), _WIDTH))
            put(rows, _row(vector, octets_before, numbers_before))
            octets_before += len(vector.octets)
            numbers_before += len(pool)
            longest = max(longest, len(vector.octets))
        put(file, "0};", "UTF8_VECTORS_DATA uint32_t utf8_vector_numbers[] = {")  # the 0: no array may be empty
        _append(numbers, file)
        put(file, "0};", "UTF8_VECTORS_DATA struct utf8_vector utf8_vectors[] = {")
        _append(rows, file)
        put(file, "};", "", f"#define UTF8_VECTORS_LONGEST {max(longest, 1)} // octets, at least 1", _END)


def _append(source: IO[bytes], file: Writable) -> None:
    source.seek(0)
    shutil.copyfileobj(source, file)


def _row(vector: Vector, octets_before: int, numbers_before: int) -> str:
    """A vector whose octets and numbers stand behind so many others in their pools."""
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
    """Question marks are escaped: two begin a trigraph."""
    return quoted(text).replace("?", "\\?")


FORMAT = Format("c-header", "utf8_vectors.h", write)
