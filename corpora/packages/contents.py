"""What every data package holds: the vectors, the licence, a README with a program that runs; and archives of files."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import time
import zipfile
from pathlib import Path

from overlong.conformance.vectors.export import FORMATS, Selection, to_stream
from overlong.conformance.vectors.vector import SUITE_VERSION

NAME = "overlong-vectors"
VERSION = SUITE_VERSION
STEM = f"{NAME}-{VERSION}"
LINE = "Test vectors for UTF-8 decoders, with every expected answer"
SELECTIONS = {"core": Selection(("core", "streams")), "complete": Selection(("complete-0",))}

README = """# overlong-vectors {version}

{line}: `core` holds each known kind of fault, named, and `complete` the strings that no wrong decoder of up to nine
states passes. The answers are those of RFC 3629 and of Unicode chapter 3. The version is the suite's: an id, once
published, never means anything else. All of it is CC0-1.0.

{use}
{more}"""
FIELDS = """`failing` tests the verdict and the text of a strict decoder with both lists. For more, read the fields:
`octets` is the input; `chunks` are the lengths that it comes in, or nothing where it comes whole.
`expect.strict` says whether it is well-formed: then `scalars` is the text, as numbers, and else `offset` the place.
`expect.replacement` is the output of a decoder that replaces each maximal subpart."""


def source(name: str) -> str:
    """A file of ``sources``: a package's own code in its language."""
    return (Path(__file__).parent / "sources" / name).read_text("ascii")


def exported(form: str, name: str) -> bytes:
    """The list of that name, as ``overlong vectors export --format FORM`` writes it."""
    written = io.BytesIO()
    FORMATS[form].write(SELECTIONS[name], to_stream(written))
    return written.getvalue()


def data() -> dict[str, bytes]:
    """The files that most packages hold, by their names."""
    held = {"LICENSE": (Path(__file__).parents[1] / "LICENSE").read_bytes()}
    for name in SELECTIONS:
        whole = json.loads(exported("json", name))
        held[f"{name}.json"] = json.dumps(whole, separators=(",", ":")).encode("ascii") + b"\n"
    return held


def readme(homepage: str | None, install: str, language: str, example: str, fields: str = FIELDS) -> bytes:
    """A package's README: what to do in a project, a program that judges the language's decoder, what fields are."""
    use = f"    {install}\n\n```{language}\n{example}```\n\n{fields}"
    more = f"\nThey come from <{homepage}>.\n" if homepage else ""
    return README.format(version=VERSION, line=LINE, use=use, more=more).encode("ascii")


# Archives that are the same octets for the same files: all are of ``SOURCE_DATE_EPOCH``, or of 1980.

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
