"""Opens the user's files: only regular files, and folders of them. It follows no links, and waits for no pipes.

Reads a stream of request frames, in the form of the target protocol, as a list of strings.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import stat
import struct
import sys
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO, NoReturn

from overlong.conformance.models.list_forms import (
    ReadError,
    ScoreEntry,
    document,
    hex_lines,
    is_numbered,
    is_program,
    json_lines,
    numbered_lines,
    raw_lines,
    source_lines,
    tsv_lines,
)
from overlong.conformance.protocol.wire import (
    BATCH,
    DECODE,
    HEAD,
    LARGEST_FRAME,
    OPERATIONS,
    REPLACE,
    STREAMING,
    VALIDATE,
)
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator


LARGEST_DOCUMENT = 1 << 26
"""The most octets of a file that must be read whole (JSON)."""

LARGEST_STRING = 1 << 20
"""The most octets of a file that is one string."""

LONGEST_LINE = 1 << 23
"""The most octets of a line: the largest string in the longest spelling, and a comment."""

_HEAD = 1 << 16  # octets within which the first line with content must begin
_LEAST = 9  # octets that suffice to recognise a frame
_AT_ONCE = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # opening a FIFO would wait for a writer
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_JSON = re.compile(rb'\{\s*["}]|\{$|\[(?!\s*(?:0x|\\x))')  # and no {0xC0, 0x80} of C

_BY_LINES: dict[str, Callable[[Iterable[tuple[int, bytes]], str], Iterator[ScoreEntry]]] = {
    "hex": hex_lines,
    "numbered": numbered_lines,
    "tsv": tsv_lines,
    "lines": raw_lines,
    "source": source_lines,
    "jsonl": json_lines,
}
AUTO = "auto"
FORMATS = (AUTO, "hex", "numbered", "json", "jsonl", "tsv", "frames", "directory", "raw", "lines", "source")


def entries(path: str, form: str = AUTO, note: Callable[[str], None] = lambda _: None) -> Iterator[ScoreEntry]:
    """The strings of a file, of a folder, or of standard input (``-``), in their order; never all in memory.

    Args:
        path: as the user named it.
        form: one of :data:`FORMATS`.
        note: called with one line about each skipped file and the reason.

    Raises:
        ReadError: the path cannot be opened or read.
    """
    name = printable(path)
    if path != "-" and os.path.isdir(path):  # noqa: PTH112 (the user's text, not a path of overlong)
        if form not in (AUTO, "directory"):
            raise ReadError(f"{name}: a folder; if each file is a string, say --input directory; or name a file")
        yield from _folder(path, note)
        return
    if form == "directory":
        raise ReadError(f"{name}: not a folder, which --input directory needs")
    with _opened(path, name) as file:
        yield from _Source(file, "stdin" if path == "-" else name).entries(form)


@contextlib.contextmanager
def _opened(path: str, name: str) -> Generator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
        return
    try:
        number = os.open(path, os.O_RDONLY | _AT_ONCE)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else printable(str(error))
        raise ReadError(f"{name}: {why}") from None
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise ReadError(f"{name}: not a regular file; for another program's output, name standard input: -")
        yield file


class _Source:
    """A file whose first lines are read ahead, to recognise its format."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._ahead: list[bytes] = []

    def entries(self, form: str) -> Iterator[ScoreEntry]:
        form = self._detected() if form == AUTO else form
        if form in _BY_LINES:
            return _BY_LINES[form](self._lines(), self._name)
        if form == "frames":
            return frames(self._read, self._name)
        if form == "json":
            return document(self._whole(LARGEST_DOCUMENT, "JSON Lines may have more"), self._name)
        octets = self._whole(LARGEST_STRING, "a file that is one string must be shorter")
        return iter((ScoreEntry(octets, self._name),))

    def _detected(self) -> str:
        size, telling = 0, b""
        # the head of a frame may hold line feeds, so one line of it may be too little
        while (size < _HEAD and not telling) or size < _LEAST:
            line = self._file.readline(LONGEST_LINE + 1)
            if not line:
                break
            self._ahead.append(line)
            size += len(line)
            if not telling and line.strip() and not line.lstrip().startswith(b"#"):
                telling = line.strip().removeprefix(codecs.BOM_UTF8)
        if not size:
            raise ReadError(f"{self._name}: empty")
        if is_program(self._name):
            return "source"
        if looks_like_frames(b"".join(self._ahead)):
            return "frames"
        if _JSON.match(telling):
            return "jsonl" if telling.startswith(b"{") and b'"record"' in telling[:200] else "json"
        if telling.startswith(b"id\t"):
            return "tsv"
        if telling.startswith(b"id,hex,"):
            raise ReadError(f"{self._name}: overlong's CSV; export the vectors as tsv or json, and name that")
        if is_numbered(telling):
            return "numbered"
        if telling.isascii() and telling.decode("ascii").replace("\t", " ").isprintable():
            return "hex"
        raise ReadError(
            f"{self._name}: no known form of list; if the whole file is one string, say --input raw; "
            "if each line is one, --input lines; if they are in a program, --input source"
        )

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        rest = iter(lambda: self._file.readline(LONGEST_LINE + 1), b"")
        for number, line in enumerate(chain(self._ahead, rest), 1):
            if len(line) > LONGEST_LINE:
                raise ReadError(
                    f"{self._name}:{number}: a line of more than {LONGEST_LINE} octets; write a string a line, "
                    "or say --input raw if the file is one string"
                )
            yield number, line

    def _read(self, size: int) -> bytes:
        """The next ``size`` octets, or as many as there are."""
        ahead = b"".join(self._ahead)
        self._ahead = [ahead[size:]] if len(ahead) > size else []
        return ahead[:size] + self._file.read(max(size - len(ahead), 0))

    def _whole(self, limit: int, remedy: str) -> bytes:
        too_large = False
        with contextlib.suppress(io.UnsupportedOperation):  # not a file, so its size is unknown
            status = os.fstat(self._file.fileno())
            too_large = stat.S_ISREG(status.st_mode) and status.st_size > limit
        octets = b"" if too_large else self._read(limit + 1)
        if too_large or len(octets) > limit:
            raise ReadError(f"{self._name}: more than {limit} octets; {remedy}")
        return octets


def _folder(path: str, note: Callable[[str], None]) -> Iterator[ScoreEntry]:
    """Read a folder: each regular file is one string. Links, pipes, large and hidden files are skipped and reported."""
    try:
        with os.scandir(path) as found:
            members = sorted(found, key=lambda member: member.name)
    except OSError as error:
        raise ReadError(f"{printable(path)}: {error.strerror}") from None
    for member in members:
        name = printable(member.path)
        if member.name.startswith("."):
            note(f"{name}: skipped: hidden")
        elif member.is_symlink():
            note(f"{name}: skipped: a link")
        elif member.is_dir(follow_symlinks=False):
            yield from _folder(member.path, note)
        else:
            octets = _member(member.path, name, note)
            if octets is not None:
                yield ScoreEntry(octets, name)


def _member(path: str, name: str, note: Callable[[str], None]) -> bytes | None:
    try:
        # the file may have been replaced since the folder was read
        number = os.open(path, os.O_RDONLY | _AT_ONCE | _NO_FOLLOW)
    except OSError as error:
        note(f"{name}: skipped: {error.strerror}")
        return None
    with os.fdopen(number, "rb") as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            note(f"{name}: skipped: not a regular file")
            return None
        octets = file.read(LARGEST_STRING + 1)
    if len(octets) > LARGEST_STRING:
        note(f"{name}: skipped: more than {LARGEST_STRING} octets")
        return None
    return octets


_WHOLE = VALIDATE + DECODE + REPLACE
_LEAST = HEAD.size + 1


def looks_like_frames(head: bytes) -> bool:
    """True if a file that begins so may be a stream of request frames."""
    if len(head) < _LEAST:
        return False
    length, _ = HEAD.unpack_from(head)
    return 5 <= length <= LARGEST_FRAME and chr(head[HEAD.size]) in OPERATIONS


def frames(read: Callable[[int], bytes], name: str) -> Iterator[ScoreEntry]:
    """The inputs of all requests; a batch has many, and an echo request has none."""
    number = 0
    while head := read(HEAD.size):
        number += 1
        place = f"{name}: frame {number}"
        if len(head) < HEAD.size:
            _refuse(place, "the file ends inside it")
        length, _ = HEAD.unpack(head)
        if not 5 <= length <= LARGEST_FRAME:
            _refuse(place, f"a length of {length}; this is no stream of request frames")
        body = read(length - 4)
        if len(body) < length - 4:
            _refuse(place, "the file ends inside it")
        operation, payload = chr(body[0]), body[1:]
        if operation not in OPERATIONS:
            _refuse(place, f"operation {body[0]:02X}; there are {', '.join(OPERATIONS)}")
        if operation == BATCH:
            yield from _batch(payload, place)
        else:
            yield from _single(operation, payload, place)


def _refuse(place: str, why: str) -> NoReturn:
    raise ReadError(f"{place}: {why}")


def _single(operation: str, payload: bytes, place: str) -> Iterator[ScoreEntry]:
    if operation in _WHOLE:
        yield ScoreEntry(payload, place)
    elif operation in STREAMING:
        count = struct.unpack_from(">H", payload)[0] if len(payload) >= 2 else 0
        start = 2 + 4 * count
        if len(payload) < max(start, 2):
            _refuse(place, "it is too short for its chunks")
        chunks = struct.unpack_from(f">{count}I", payload, 2)
        if sum(chunks) != len(payload) - start:
            _refuse(place, "its chunks do not add up")
        yield ScoreEntry(payload[start:], place, chunks=chunks)


def _batch(payload: bytes, place: str) -> Iterator[ScoreEntry]:
    if len(payload) < 5:
        _refuse(place, "it is too short for a batch")
    operation, (count,) = chr(payload[0]), struct.unpack_from(">I", payload, 1)
    start = 5 + 4 * count
    if start > len(payload):
        _refuse(place, f"it is too short for {count} items")
    lengths = struct.unpack_from(f">{count}I", payload, 5)
    if start + sum(lengths) != len(payload):
        _refuse(place, "its items do not add up")
    for item, length in enumerate(lengths, 1):
        yield from _single(operation, payload[start : start + length], f"{place}, item {item}")
        start += length
