"""Identifies a library file: its soname and build id, and the package that installed it.

ELF is read by the System V ABI (chapters 4 and 5), build ids as ld's ``--build-id`` writes them. The file may be
anything: reads are bounded, and nonsense is skipped.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import struct
import subprocess
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

_LOAD, _DYNAMIC, _NOTE = 1, 2, 4
"""Types of segments."""
_STRTAB, _SONAME = 5, 14
"""Tags of the dynamic section."""
_BUILD_ID = 3
"""The type of a build id among notes of the owner ``GNU``."""
_SEGMENTS, _TABLES, _NOTES, _ENTRIES, _NAME, _ID = 512, 16, 1 << 16, 1 << 12, 256, 64
"""The most that are read: program headers, tables of notes, octets of each, dynamic entries, octets of a name and of
a build id."""
_SHOWN = 16
_DPKG = "/usr/bin/dpkg-query"
_ASK_SECONDS = 2.0
_PACKAGED = ("/usr/", "/lib", "/opt/")
"""Where packages install libraries; ``/usr/local`` is the administrator's."""


class Segment(NamedTuple):
    """A program header."""

    kind: int
    offset: int
    address: int
    size: int
    """The octets in the file."""


@lru_cache(maxsize=16)
def version_of(library: str) -> str:
    """``libglib2.0-0 2.74.6-2, libglib-2.0.so.0, build id 4d54…``; its digest if none of these is known.

    Empty if there is no such file. It is safe to show.
    """
    try:
        file = os.open(library, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError):
        return ""
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return ""
        soname, build_id = names_in(file)
        said = (_package(os.path.realpath(library)), printable(soname, 60), f"build id {build_id}" if build_id else "")
        if any(said):
            return ", ".join(filter(None, said))
        with open(file, "rb", closefd=False) as opened:
            opened.seek(0)
            return f"sha256 {hashlib.file_digest(opened, 'sha256').hexdigest()[:_SHOWN]}"
    except OSError:
        return ""
    finally:
        os.close(file)


def names_in(file: int) -> tuple[str, str]:
    """The soname and the build id, in hexadecimal, of an open ELF file; each empty if it has none.

    Raises:
        OSError: it cannot be read.
    """
    try:
        head = _at(file, 64, 0)
        if head[:4] != b"\x7fELF" or head[4] not in (1, 2) or head[5] not in (1, 2):
            return "", ""
        order, wide = "<>"[head[5] - 1], head[4] == 2
        segments = list(_segments(file, head, order, wide=wide))
        build_ids = (_build_id(_at(file, min(each.size, _NOTES), each.offset), order)
                     for each in [each for each in segments if each.kind == _NOTE][:_TABLES])  # fmt: skip
        return _soname(file, segments, order, wide=wide), next(filter(None, build_ids), "")
    except (struct.error, IndexError, OverflowError, ValueError):
        return "", ""


def _at(file: int, size: int, place: int) -> bytes:
    """The octets at an offset; empty beyond the end of the file."""
    try:
        os.lseek(file, place, os.SEEK_SET)
    except OSError:
        return b""
    return os.read(file, size)


def _segments(file: int, head: bytes, order: str, *, wide: bool) -> Iterator[Segment]:
    (table,) = struct.unpack_from(f"{order}{'Q' if wide else 'I'}", head, 32 if wide else 28)
    size, number = struct.unpack_from(f"{order}HH", head, 54 if wide else 42)
    form = struct.Struct(f"{order}IIQQQQ" if wide else f"{order}IIIII")
    if size < form.size:
        return
    octets = _at(file, size * min(number, _SEGMENTS), table)
    for start in range(0, len(octets) - form.size + 1, size):
        if wide:
            kind, _, offset, address, _, length = form.unpack_from(octets, start)
        else:
            kind, offset, address, _, length = form.unpack_from(octets, start)
        yield Segment(kind, offset, address, length)


def _build_id(notes: bytes, order: str) -> str:
    place = 0
    while place + 12 <= len(notes):
        name, size, kind = struct.unpack_from(f"{order}III", notes, place)
        start = place + 12 + -(-name // 4) * 4
        if kind == _BUILD_ID and notes[place + 12 : place + 12 + name] == b"GNU\0" and 0 < size <= _ID:
            found = notes[start : start + size]
            return found.hex() if len(found) == size else ""
        place = start + -(-size // 4) * 4
    return ""


def _soname(file: int, segments: list[Segment], order: str, *, wide: bool) -> str:
    form = struct.Struct(f"{order}{'QQ' if wide else 'II'}")
    dynamic = next((each for each in segments if each.kind == _DYNAMIC), None)
    if dynamic is None:
        return ""
    octets = _at(file, min(dynamic.size, _ENTRIES * form.size), dynamic.offset)
    entries = dict(form.iter_unpack(octets[: len(octets) // form.size * form.size]))
    if _STRTAB not in entries or _SONAME not in entries:
        return ""
    address = entries[_STRTAB] + entries[_SONAME]
    for each in segments:
        if each.kind == _LOAD and each.address <= address < each.address + each.size:
            name, end, _ = _at(file, _NAME, each.offset + address - each.address).partition(b"\0")
            return name.decode("utf-8", "backslashreplace") if end else ""
    return ""


def _package(library: str) -> str:
    """The Debian package that installed a file, and its version; empty if that is not quickly found."""
    if not library.startswith(_PACKAGED) or library.startswith("/usr/local/") or re.search(r"[*?\[\\]", library):
        return ""
    if not Path(_DPKG).is_file():
        return ""
    before = library.removeprefix("/usr")  # its path before /lib became a link to /usr/lib
    owner = re.match(r"([a-z0-9][a-z0-9+.-]*(?::[a-z0-9-]+)?): /", _asked("-S", "--", library, before))
    return "" if owner is None else printable(_asked("-W", "-f", "${Package} ${Version}", "--", owner[1]).strip(), 80)


def _asked(*words: str) -> str:
    """The version in dpkg's database."""
    try:
        asked = subprocess.run(
            [_DPKG, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_ASK_SECONDS,
            cwd="/",
            env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"},
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.decode("utf-8", "backslashreplace")
