"""Opens the files of lists: only regular files, and folders of them. It follows no links, and waits for no pipes."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import stat
import sys
from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

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
FORMATS = (AUTO, "hex", "numbered", "json", "jsonl", "tsv", "directory", "raw", "lines", "source")


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
        yield from _entries(file, "stdin" if path == "-" else name, form)


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


def _entries(file: BinaryIO, name: str, form: str) -> Iterator[ScoreEntry]:
    """The strings of an open file."""
    head = b""
    if form == AUTO:
        head = file.read(_HEAD)
        head += b"" if head.endswith(b"\n") else file.readline(LONGEST_LINE + 1)
        form = _form_of(head, name)
    if form in _BY_LINES:
        return _BY_LINES[form](_lines(head, file, name), name)
    if form == "json":
        return document(_whole(head, file, name, LARGEST_DOCUMENT, "JSON Lines may have more"), name)
    octets = _whole(head, file, name, LARGEST_STRING, "a file that is one string must be shorter")
    return iter((ScoreEntry(octets, name),))


def _form_of(head: bytes, name: str) -> str:
    """The form of a file, by its first line with content."""
    if not head:
        raise ReadError(f"{name}: empty")
    lines = (line.strip() for line in head.split(b"\n"))
    telling = next((line for line in lines if line and not line.startswith(b"#")), b"").removeprefix(codecs.BOM_UTF8)
    if is_program(name):
        return "source"
    if _JSON.match(telling):
        return "jsonl" if telling.startswith(b"{") and b'"record"' in telling[:200] else "json"
    if telling.startswith(b"id\t"):
        return "tsv"
    if telling.startswith(b"id,hex,"):
        raise ReadError(f"{name}: overlong's CSV; export the vectors as tsv or json, and name that")
    if is_numbered(telling):
        return "numbered"
    if telling.isascii() and telling.decode("ascii").replace("\t", " ").isprintable():
        return "hex"
    raise ReadError(
        f"{name}: no known form of list; if the whole file is one string, say --input raw; "
        "if each line is one, --input lines; if they are in a program, --input source"
    )


def _lines(head: bytes, file: BinaryIO, name: str) -> Iterator[tuple[int, bytes]]:
    """The lines of what was read already, and of the rest."""
    rest = iter(lambda: file.readline(LONGEST_LINE + 1), b"")
    for number, line in enumerate(chain(io.BytesIO(head), rest), 1):
        if len(line) > LONGEST_LINE:
            raise ReadError(
                f"{name}:{number}: a line of more than {LONGEST_LINE} octets; write a string a line, "
                "or say --input raw if the file is one string"
            )
        yield number, line


def _whole(head: bytes, file: BinaryIO, name: str, limit: int, remedy: str) -> bytes:
    too_large = False
    with contextlib.suppress(io.UnsupportedOperation):  # not a file, so its size is unknown
        status = os.fstat(file.fileno())
        too_large = stat.S_ISREG(status.st_mode) and status.st_size > limit
    octets = b"" if too_large else head + file.read(max(limit + 1 - len(head), 0))
    if too_large or len(octets) > limit:
        raise ReadError(f"{name}: more than {limit} octets; {remedy}")
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
