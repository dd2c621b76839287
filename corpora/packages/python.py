"""The wheel for Python."""

from __future__ import annotations

import base64
import hashlib

from corpora.packages.archives import zipped
from corpora.packages.contents import LINE, NAME, VERSION, readme

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


def wheel(held: dict[str, bytes]) -> dict[str, bytes]:
    """The wheel: no dependencies."""
    stem = f"{NAME.replace('-', '_')}-{VERSION}"
    name = f"{stem}-py3-none-any.whl"
    about = f"Metadata-Version: 2.4\nName: {NAME}\nVersion: {VERSION}\nSummary: {LINE}\n"
    about += "License-Expression: CC0-1.0\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n"
    files = {f"overlong_vectors/{each}": octets for each, octets in held.items()}
    files["overlong_vectors/__init__.py"] = PYTHON.encode("ascii")
    files["overlong_vectors/py.typed"] = b""
    files[f"{stem}.dist-info/METADATA"] = about.encode("ascii") + readme(
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
    return {name: zipped(dict(sorted(files.items())))}
