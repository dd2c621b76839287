"""The wheel for Python."""

from __future__ import annotations

import base64
import hashlib

from corpora.packages.contents import LINE, NAME, VERSION, readme, source, zipped

PYTHON_EXAMPLE = """from overlong_vectors import failing

wrong = failing(bytes.decode)
print(len(wrong), "wrong", *[vector["id"] for vector in wrong])
"""


def wheel(held: dict[str, bytes], homepage: str | None) -> dict[str, bytes]:
    """The wheel: no dependencies."""
    stem = f"{NAME.replace('-', '_')}-{VERSION}"
    name = f"{stem}-py3-none-any.whl"
    about = f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {VERSION}\nSummary: {LINE}\n"
    about += f"Project-URL: Homepage, {homepage}\n" if homepage else ""
    about += "License-Expression: CC0-1.0\nLicense-File: LICENSE\nRequires-Python: >=3.9\n"
    about += "Description-Content-Type: text/markdown\n\n"
    files = {f"overlong_vectors/{each}": octets for each, octets in held.items() if each != "LICENSE"}
    files["overlong_vectors/__init__.py"] = (
        source("overlong_vectors.py.txt").replace("@VERSION@", VERSION).encode("ascii")
    )
    files["overlong_vectors/py.typed"] = b""
    files[f"{stem}.dist-info/licenses/LICENSE"] = held["LICENSE"]
    files[f"{stem}.dist-info/METADATA"] = about.encode("ascii") + readme(
        homepage, f"pip install --no-index ./{name}", "python", PYTHON_EXAMPLE
    )
    files[f"{stem}.dist-info/WHEEL"] = (
        b"Wheel-Version: 1.0\nGenerator: overlong\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    )
    record = ""
    for each in sorted(files):
        digest = base64.urlsafe_b64encode(hashlib.sha256(files[each]).digest()).rstrip(b"=").decode("ascii")
        record += f"{each},sha256={digest},{len(files[each])}\n"
    files[f"{stem}.dist-info/RECORD"] = (record + f"{stem}.dist-info/RECORD,,\n").encode("ascii")
    return {name: zipped(dict(sorted(files.items())))}
