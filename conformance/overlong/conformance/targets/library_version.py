"""Identifies a library file: its soname and build id, and the package that installed it.

Build ids are read as ld's ``--build-id`` writes them.
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

from overlong.conformance.support.printable import printable
from overlong.conformance.targets.elf import NONSENSE, NOTE, SONAME, STRTAB, Elf

_BUILD_ID = 3
"""The type of a build id among notes of the owner ``GNU``."""
_TABLES, _NOTES, _ID = 16, 1 << 16, 64
"""The most that are read: tables of notes, octets of each, octets of a build id."""
_SHOWN = 16
_DPKG = "/usr/bin/dpkg-query"
_ASK_SECONDS = 2.0
_PACKAGED = ("/usr/", "/lib", "/opt/")
"""Where packages install libraries; ``/usr/local`` is the administrator's."""


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
        elf = Elf(file)
        notes = [each for each in elf.segments if each.kind == NOTE][:_TABLES]
        build_ids = (_build_id(elf.at(each.offset, min(each.size, _NOTES)), elf.order) for each in notes)
        return _soname(elf), next(filter(None, build_ids), "")
    except NONSENSE:
        return "", ""


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


def _soname(elf: Elf) -> str:
    tags = elf.dynamic
    return elf.name(tags[STRTAB] + tags[SONAME]) if STRTAB in tags and SONAME in tags else ""


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
