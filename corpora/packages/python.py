"""The wheel for Python."""

from __future__ import annotations

import base64
import hashlib

from corpora.packages.archives import zipped
from corpora.packages.contents import LINE, NAME, VERSION, readme

PYTHON = '''"""Test vectors for UTF-8 decoders: ``load("core")``, ``load("complete")``, ``by_id(ID)``."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any, Literal, Optional, TypedDict, Union

__version__ = "{version}"
__all__ = ["Accepted", "Expect", "Provenance", "Rejected", "Replacement", "Rule", "Vector", "by_id", "failing", "load"]


class Accepted(TypedDict):
    """A strict decoder accepts the input, and this is its text: ``"".join(map(chr, scalars))``."""

    verdict: Literal["accept"]
    scalars: list[int]


class Rejected(TypedDict):
    """A strict decoder refuses the input."""

    verdict: Literal["reject"]
    offset: int
    """Where, in octets: of the first maximal subpart of what is ill-formed."""
    length: int
    """Of that subpart, in octets."""
    incomplete: bool
    """The input ends inside a possible character."""
    detectable_at: Optional[int]
    """So many octets show that it is ill-formed; None where only the end shows it."""


class Replacement(TypedDict):
    """The output of a decoder that replaces each maximal subpart with one U+FFFD."""

    scalars: list[int]
    chunked: list[list[int]]
    """What of it is out after each chunk, or each octet where the input comes whole, and at the end."""


class Expect(TypedDict):
    """What a right decoder answers."""

    strict: Union[Accepted, Rejected]
    replacement: Replacement


class Rule(TypedDict):
    """The rule that the input is made from."""

    document: str
    section: str
    rule: str


class Provenance(Rule, total=False):
    """The rule, and its alternative where it is a single one."""

    alternative: str


class Vector(TypedDict):
    """An input for a UTF-8 decoder, and what a right decoder answers."""

    id: str
    """Once published, an id never means anything else."""
    octets: bytes
    chunks: Optional[list[int]]
    """Lengths of the chunks that the input comes in; None where it comes whole."""
    expect: Expect
    flags: list[str]
    """Codes of what is wrong with the input."""
    comment: str
    cases: list[str]
    """What it is for."""
    decoder: Optional[str]
    """One that got it wrong; None where none is named."""
    references: list[str]
    """Where that stands."""
    provenance: Optional[Provenance]
    since: str
    """The version of the suite that the id came with."""


def load(name: Literal["core", "complete"] = "core") -> list[Vector]:
    """The vectors for each known kind of fault, or those that no wrong decoder of up to nine states passes."""
    if name not in ("core", "complete"):
        raise ValueError(f"no list {{name!r}}: load('core') or load('complete')")
    groups = json.loads((files(__name__) / f"{{name}}.json").read_text("ascii"))["groups"]
    return [_vector(test) for group in groups for test in group["tests"]]


def by_id(id: str) -> Vector:
    """The vector with that id, of whichever list; a LookupError if there is none."""
    try:
        return _all()[id]
    except KeyError:
        raise LookupError(f"no vector {{id!r}}: use an id that load('core') or load('complete') has") from None


def failing(
    decode: Callable[[bytes], str],
    vectors: Optional[Iterable[Vector]] = None,
    refuses: Union[type[Exception], tuple[type[Exception], ...]] = ValueError,
) -> list[Vector]:
    """The vectors, of both lists unless others are given, that a strict decoder accepts or refuses wrongly, or decodes
    to another text. It refuses by raising what ``refuses`` names; any other exception goes on to the caller.
    """

    def answer(octets: bytes) -> Optional[str]:
        try:
            return decode(octets)
        except refuses:
            return None

    def right(strict: Union[Accepted, Rejected]) -> Optional[str]:
        return "".join(map(chr, strict["scalars"])) if strict["verdict"] == "accept" else None

    tested = _all().values() if vectors is None else vectors
    return [each for each in tested if answer(each["octets"]) != right(each["expect"]["strict"])]


@functools.lru_cache(maxsize=None)
def _all() -> dict[str, Vector]:
    return {{vector["id"]: vector for vector in load("core") + load("complete")}}


def _vector(test: dict[str, Any]) -> Vector:
    strict, replacement = test["expect"]["strict"], test["expect"]["replacement"]
    if strict["verdict"] == "accept":
        strict["scalars"] = _numbers(strict["scalars"])
    return {{
        "id": test["id"],
        "octets": bytes.fromhex(test["hex"]),
        "chunks": test.get("chunks"),
        "expect": {{
            "strict": strict,
            "replacement": {{
                "scalars": _numbers(replacement["scalars"]),
                "chunked": [_numbers(each) for each in replacement["chunked"]],
            }},
        }},
        "flags": test["flags"],
        "comment": test.get("comment", ""),
        "cases": test.get("cases", []),
        "decoder": test.get("decoder"),
        "references": test.get("references", []),
        "provenance": test.get("provenance"),
        "since": test["since"],
    }}


def _numbers(scalars: str) -> list[int]:
    return [int(word, 16) for word in scalars.split()]
'''
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
    files["overlong_vectors/__init__.py"] = PYTHON.format(version=VERSION).encode("ascii")
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
