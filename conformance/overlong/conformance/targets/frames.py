"""Frames in pipes: written without a copy, and cut out of what was read."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import IO, TYPE_CHECKING, NamedTuple

from overlong.conformance.protocol.wire import HEAD, LARGEST_FRAME, ProtocolError
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Sequence


LARGE = 1 << 16  # octets from which a frame is read into its own memory
_PIPE = 1 << 20


class Response(NamedTuple):
    """One response frame."""

    request: int
    status: bytes
    payload: bytes | bytearray


def widen(pipe: IO[bytes]) -> None:
    """Enlarge a pipe if the system permits, so that a target need not wait for the harness's threads."""
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(AttributeError, OSError):  # a user's pipes share one limit
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE)


def write_all(pipe: IO[bytes], parts: Sequence[bytes]) -> None:
    """Write the parts one after the other, if possible without joining them."""
    if sys.platform == "win32":
        parts = [b"".join(parts)]
    views = [memoryview(part) for part in parts]
    while views:
        if sys.platform == "win32":
            written = pipe.write(views[0])
        else:
            written = os.writev(pipe.fileno(), views)
        while views and written >= len(views[0]):
            written -= len(views.pop(0))
        if views:
            views[0] = views[0][written:]


def has_begun_large(buffer: bytearray) -> bool:
    """True if ``buffer``, which holds no whole frame, begins a large one and includes its status."""
    return len(buffer) > HEAD.size and HEAD.unpack_from(buffer)[0] > LARGE


def whole_frames(buffer: bytearray) -> list[Response]:
    """Remove and return the whole frames at the start of ``buffer``."""
    found: list[Response] = []
    place, size = 0, len(buffer)
    while size - place >= HEAD.size:
        length, request = HEAD.unpack_from(buffer, place)
        if not 5 <= length <= LARGEST_FRAME:
            text = bytes(buffer[place : place + 60])
            raise ProtocolError(
                f"a response claims to have {length} octets: the adapter printed to stdout? "
                f'it wrote "{printable(text.decode("ascii", "backslashreplace"))}"'
            )
        end = place + 4 + length
        if end > size:
            break
        with memoryview(buffer) as view:  # frames are copied once
            found.append(Response(request, bytes(view[place + 8 : place + 9]), bytes(view[place + 9 : end])))
        place = end
    del buffer[:place]
    return found
