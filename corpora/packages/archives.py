"""Archives that are the same octets for the same files: all are of ``SOURCE_DATE_EPOCH``, or of 1980."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import time
import zipfile

FIRST_OF_ZIP = 315532800
"""1980-01-01: no zip file can say an earlier time."""


def _epoch() -> int:
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", FIRST_OF_ZIP)), FIRST_OF_ZIP)


def tarball(top: str, files: dict[str, bytes]) -> bytes:
    """A .tar.gz of these files, all below `top`."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), _epoch(), 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    return gzip.compress(plain.getvalue(), 9, mtime=_epoch())


def zipped(files: dict[str, bytes]) -> bytes:
    """A .zip of these files, in their order."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, octets in files.items():
            entry = zipfile.ZipInfo(name, time.gmtime(_epoch())[:6])
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            archive.writestr(entry, octets, zipfile.ZIP_DEFLATED, 9)
    return packed.getvalue()


def sums(files: dict[str, bytes]) -> bytes:
    """Their SHA256SUMS."""
    lines = (f"{hashlib.sha256(octets).hexdigest()}  {name}\n" for name, octets in sorted(files.items()))
    return "".join(lines).encode("ascii")
