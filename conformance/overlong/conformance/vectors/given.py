"""Vectors from files of the user, in the formats that ``vectors export`` and a campaign's promotion write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.check import CheckError, check
from overlong.conformance.vectors.sink import MANIFEST
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FORMS = (".json", ".jsonl")
"""Suffixes of the formats with complete vectors; the other formats are for other programs."""


def vectors_in(path: Path) -> list[Vector]:
    """The vectors of a file, or of all files directly in a folder, by name; each id once. Every file is checked first.

    Raises:
        CheckError: a file is malformed, or there is no vector.
        JsonError: a file is not JSON, or its JSON is ambiguous.
        WrongError: an expectation in a file differs from the reference's.
        OSError: a file cannot be read.
    """
    found: dict[str, Vector] = {}
    for file in _files(path):
        check(file)
        for category, test in _tests(file):
            vector = _vector(category, test)
            found.setdefault(vector.id, vector)
    if not found:
        raise CheckError(f"{printable(str(path))}: no vectors in it; name a file, or a folder of .json or .jsonl files")
    return list(found.values())


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        if path.suffix not in FORMS or path.name.endswith(MANIFEST):
            raise CheckError(f"{printable(str(path))}: not a file of vectors; export one with --format json or jsonl")
        return [path]
    return sorted(file for file in path.iterdir() if file.suffix in FORMS and not file.name.endswith(MANIFEST))


def _tests(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Categories and records of a file that was checked."""
    octets = file.read_bytes()
    if file.suffix == ".json":
        for group in json.loads(octets)["groups"]:
            yield from ((group["category"], test) for test in group["tests"])
        return
    for line in octets.splitlines()[1:-1]:  # without header and footer
        test = json.loads(line)
        yield test["id"].rpartition("/")[0], test


def _vector(category: str, test: dict[str, Any]) -> Vector:
    return Vector(
        category,
        bytes.fromhex(test["hex"]),
        test.get("comment", ""),
        tuple(test["chunks"]) if "chunks" in test else None,
        tuple(test.get("cases", ())),
        test.get("decoder", ""),
        tuple(test.get("references", ())),
        earlier=tuple(map(bytes.fromhex, test["earlier"])) if "earlier" in test else None,
    )
