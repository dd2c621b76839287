"""Frames: requests of the target protocol in a file, for an adapter that overlong cannot start itself."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from overlong.conformance.protocol import (
    DECODE,
    ECHO,
    ECHO_PROBE,
    REPLACE,
    STREAM_DECODE,
    STREAM_REPLACE,
    VALIDATE,
    frame,
    stream_payload,
)
from overlong.conformance.vectors.formats.format import Format

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vector import Vector
    from overlong.conformance.vectors.formats.format import Sink
    from overlong.conformance.vectors.selection import Selection


def requests(vector: Vector) -> Iterator[tuple[str, bytes]]:
    """The operations that a vector is asked, with their payloads: whole V, D and L; in chunks S and T."""
    if vector.chunks is None:
        operations, payload = VALIDATE + DECODE + REPLACE, vector.octets
    else:
        operations, payload = STREAM_DECODE + STREAM_REPLACE, stream_payload(vector.octets, vector.chunks)
    for operation in operations:
        yield operation, payload


def write(selection: Selection, sink: Sink) -> None:
    """The echo has id 0; the others count up in the order of the vectors."""
    numbers = count()
    with sink.open() as file:
        file.write(frame(next(numbers), ECHO.encode("ascii") + ECHO_PROBE))
        for vector in selection.vectors():
            for operation, payload in requests(vector):
                file.write(frame(next(numbers), operation.encode("ascii") + payload))


FORMAT = Format("frames", "vectors.frames", write)
