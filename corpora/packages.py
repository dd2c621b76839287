"""Writes data packages: the vectors for those who do not install overlong. ``python corpora/packages.py --output DIR``.

Each holds the suites `core` and `streams`, and `complete-0`, as `overlong vectors export --format json` writes them,
and what reads them in its language. Same version, same octets: archives are sorted, and their files are all of
``SOURCE_DATE_EPOCH``, or of 1980, the first year that a zip file can say. Nothing is published from here.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import hashlib
import io
import json
import os
import tarfile
import tempfile
import time
import zipfile
from pathlib import Path

from overlong.conformance.vectors.export import format_named
from overlong.conformance.vectors.registry import SUITE_VERSION
from overlong.conformance.vectors.selection import Selection
from overlong.conformance.vectors.sink import FolderSink

HERE = Path(__file__).parent
NAME = "overlong-vectors"
LINE = "Test vectors for UTF-8 decoders, with every expected answer"
SELECTIONS = {"core": Selection(("core", "streams")), "complete": Selection(("complete-0",))}
FIRST_OF_ZIP = 315532800  # 1980-01-01

README = """# overlong-vectors {version}

{line}: `core` holds each known kind of fault, named, and `complete` the strings that no wrong decoder of up to nine
states passes. The answers are those of RFC 3629 and of Unicode chapter 3. The version is the suite's: an id, once
published, never means anything else. All of it is CC0-1.0.

{use}
"""
FIELDS = """`hex` is the input. `expect.strict` says whether it is well-formed, `expect.replacement` what is put out
for it by a decoder that replaces."""

PYTHON = '''"""Test vectors for UTF-8 decoders: ``load("core")``, ``load("complete")``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Literal


def load(name: Literal["core", "complete"] = "core") -> list[dict[str, Any]]:
    """The vectors of a list, each as its JSON object."""
    groups = json.loads((files(__name__) / f"{name}.json").read_text("ascii"))["groups"]
    return [vector for group in groups for vector in group["tests"]]
'''
PYTHON_EXAMPLE = """import overlong_vectors

wrong = 0
vectors = overlong_vectors.load("core") + overlong_vectors.load("complete")
for vector in vectors:
    try:
        bytes.fromhex(vector["hex"]).decode("utf-8")
        accepted = True
    except UnicodeDecodeError:
        accepted = False
    wrong += accepted != (vector["expect"]["strict"]["verdict"] == "accept")
print(f"{len(vectors)} vectors, {wrong} wrong")
"""
NODE = """'use strict';
const lists = { core: './core.json', complete: './complete.json' };
exports.load = (name = 'core') => require(lists[name]).groups.flatMap((group) => group.tests);
"""
NODE_TYPES = """export interface Vector {
  id: string;
  hex: string;
  comment: string;
  expect: { strict: { verdict: string; [field: string]: unknown }; [mode: string]: unknown };
  [field: string]: unknown;
}
export function load(name?: 'core' | 'complete'): Vector[];
"""
NODE_EXAMPLE = """const { load } = require('overlong-vectors');
let wrong = 0;
const vectors = [...load('core'), ...load('complete')];
for (const vector of vectors) {
  let accepted = true;
  try {
    new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(vector.hex, 'hex'));
  } catch {
    accepted = false;
  }
  wrong += accepted !== (vector.expect.strict.verdict === 'accept');
}
console.log(`${vectors.length} vectors, ${wrong} wrong`);
"""
SHELL_EXAMPLE = "sha256sum -c SHA256SUMS\n"


def _epoch() -> int:
    return max(int(os.environ.get("SOURCE_DATE_EPOCH", FIRST_OF_ZIP)), FIRST_OF_ZIP)


def data() -> dict[str, bytes]:
    """The files that each package holds, by their names."""
    held = {"LICENSE": (HERE / "LICENSE").read_bytes()}
    with tempfile.TemporaryDirectory() as scratch:
        for name, selection in SELECTIONS.items():
            format_named("json").write(selection, FolderSink(Path(scratch), f"{name}.json"))
            whole = json.loads((Path(scratch) / f"{name}.json").read_bytes())
            held[f"{name}.json"] = json.dumps(whole, separators=(",", ":")).encode("ascii") + b"\n"
    return held


def _readme(install: str, language: str, example: str) -> bytes:
    use = f"    {install}\n\n```{language}\n{example}```\n\n{FIELDS}"
    return README.format(version=SUITE_VERSION, line=LINE, use=use).encode("ascii")


def tarball(top: str, files: dict[str, bytes]) -> bytes:
    """A .tar.gz of these files, all below `top`."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name in sorted(files):
            entry = tarfile.TarInfo(f"{top}/{name}")
            entry.size, entry.mtime, entry.mode = len(files[name]), _epoch(), 0o644
            archive.addfile(entry, io.BytesIO(files[name]))
    return gzip.compress(plain.getvalue(), 9, mtime=_epoch())


def npm(held: dict[str, bytes]) -> tuple[str, bytes]:
    """The package for npm."""
    about = {"name": NAME, "version": SUITE_VERSION, "description": LINE, "license": "CC0-1.0"}
    about |= {"main": "index.js", "types": "index.d.ts"}
    files = held | {
        "package.json": json.dumps(about, indent=1).encode("ascii") + b"\n",
        "index.js": NODE.encode("ascii"),
        "index.d.ts": NODE_TYPES.encode("ascii"),
        "README.md": _readme(f"npm install --offline ./{NAME}-{SUITE_VERSION}.tgz", "js", NODE_EXAMPLE),
    }
    return f"{NAME}-{SUITE_VERSION}.tgz", tarball("package", files)


def wheel(held: dict[str, bytes]) -> tuple[str, bytes]:
    """The wheel for Python: no dependencies."""
    stem = f"{NAME.replace('-', '_')}-{SUITE_VERSION}"
    name = f"{stem}-py3-none-any.whl"
    about = f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {SUITE_VERSION}\nSummary: {LINE}\n"
    about += "License-Expression: CC0-1.0\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
    files = {f"overlong_vectors/{each}": octets for each, octets in held.items()}
    files["overlong_vectors/__init__.py"] = PYTHON.encode("ascii")
    files["overlong_vectors/py.typed"] = b""
    files[f"{stem}.dist-info/METADATA"] = about.encode("ascii") + _readme(
        f"pip install --no-index ./{name}", "python", PYTHON_EXAMPLE
    )
    files[f"{stem}.dist-info/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: overlong\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = ""
    for each in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[each]).digest()).rstrip(b"=").decode("ascii")
        record += f"{each},sha256={digest},{len(files[each])}\n"
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode("ascii")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for each in sorted(files):
            entry = zipfile.ZipInfo(each, time.gmtime(_epoch())[:6])
            entry.external_attr, entry.create_system = 0o644 << 16, 3
            archive.writestr(entry, files[each], zipfile.ZIP_DEFLATED, 9)
    return name, packed.getvalue()


def plain(held: dict[str, bytes]) -> tuple[str, bytes]:
    """The files alone, with their checksums."""
    sums = "".join(f"{hashlib.sha256(held[each]).hexdigest()}  {each}\n" for each in sorted(held))
    readme = _readme(f"tar xzf {NAME}-{SUITE_VERSION}.tar.gz", "sh", SHELL_EXAMPLE)
    files = held | {"SHA256SUMS": sums.encode("ascii"), "README.md": readme}
    return f"{NAME}-{SUITE_VERSION}.tar.gz", tarball(f"{NAME}-{SUITE_VERSION}", files)


def main() -> None:
    """Write the packages, and the checksums of all."""
    parser = argparse.ArgumentParser(description="Write the data packages.")
    parser.add_argument("--output", type=Path, required=True, metavar="DIR", help="the folder, made if it is missing")
    folder: Path = parser.parse_args().output
    folder.mkdir(parents=True, exist_ok=True)
    held = data()
    packages = dict(make(held) for make in (npm, plain, wheel))
    sums = "".join(f"{hashlib.sha256(octets).hexdigest()}  {name}\n" for name, octets in sorted(packages.items()))
    for name, octets in packages.items():
        (folder / name).write_bytes(octets)
    (folder / "SHA256SUMS").write_text(sums, "ascii")


if __name__ == "__main__":
    main()
