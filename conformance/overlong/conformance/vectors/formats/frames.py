"""Frames: requests of the target protocol in a file, for an adapter that overlong cannot start itself."""

from __future__ import annotations

import hashlib
import json
from itertools import count
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import (
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
from overlong.conformance.vectors.registry import SUITE_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.sink import Sink
    from overlong.conformance.vectors.vector import Vector


def requests(vector: Vector) -> Iterator[tuple[str, bytes]]:
    """The operations for a vector, with their payloads: V, D and L for a whole input; S and T for chunks."""
    if vector.chunks is None:
        operations, payload = VALIDATE + DECODE + REPLACE, vector.octets
    else:
        operations, payload = STREAM_DECODE + STREAM_REPLACE, stream_payload(vector.octets, vector.chunks)
    for operation in operations:
        yield operation, payload


def description(selection: Selection) -> bytes:
    """The text of the first echo after its probe, in ASCII: it comes back, so a file of answers names its questions."""
    from overlong.conformance.support.provenance import generator

    asked = {name: list(values) for name, values in vars(selection).items()}
    data = {"vectors": selection.count(), "suite": SUITE_VERSION, "generator": generator(), **asked}
    return json.dumps(data).encode("ascii")


def stream(selection: Selection) -> Iterator[bytes]:
    """The frames. The first echo has id 0; the others count up in the order of the vectors.

    The last frame is an echo of the SHA-256 of all frames before it. Answers that end with it are complete, and belong
    to these requests.
    """
    numbers, digest = count(), hashlib.sha256()
    first = frame(next(numbers), ECHO.encode("ascii") + ECHO_PROBE + description(selection))
    digest.update(first)
    yield first
    for vector in selection.vectors():
        for operation, payload in requests(vector):
            asked = frame(next(numbers) & 0xFFFFFFFF, operation.encode("ascii") + payload)
            digest.update(asked)
            yield asked
    yield frame(next(numbers) & 0xFFFFFFFF, ECHO.encode("ascii") + digest.digest())


def write(selection: Selection, sink: Sink) -> None:
    """Write all frames into one file."""
    with sink.open() as file:
        file.writelines(stream(selection))


WRITERS = {"frames": write}
