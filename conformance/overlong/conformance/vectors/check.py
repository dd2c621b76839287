"""Files of vectors: reads them, and checks form, digests, and every expectation against the reference."""

from __future__ import annotations

import hashlib
import json
from functools import cache, partial
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.support import strict_json
from overlong.conformance.support.printable import counted, printable, thousands
from overlong.conformance.vectors.export import MANIFEST, MANIFEST_SCHEMA
from overlong.conformance.vectors.vector import SCHEMA, Vector, record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

FORMS = (".json", ".jsonl")
"""Suffixes of the formats with complete vectors; the other formats are for other programs."""
LARGEST_DOCUMENT = 256 << 20
"""The most octets of a JSON document; larger sets of vectors are JSON Lines."""
LARGEST_LINE = 4 << 20
"""The most octets of one line of JSON Lines."""


class CheckError(ValueError):
    """A malformed file, or one with a wrong statement; the message names the file and the place."""

    def __init__(self, message: str, *, wrong: bool = False) -> None:
        super().__init__(message)
        self.wrong = wrong
        """The file has the right form."""


def check(path: Path) -> str:
    """Check a file, or a folder by its manifest; return a sentence on the result.

    Raises:
        CheckError: the file is malformed; or an expectation in it, or its digest, is wrong.
        JsonError: the file is not JSON, or its JSON is ambiguous.
        OSError: the file cannot be read.
    """
    if path.is_dir():
        return _check_manifest(path / MANIFEST)
    _regular(path)
    if path.name.endswith(MANIFEST):
        return _check_manifest(path)
    if path.suffix in FORMS:
        return f"{counted(sum(1 for _ in _tested(path)), 'vector')}, and the reference agrees with each"
    beside = path.with_name(f"{path.name}.{MANIFEST}")
    if beside.exists():
        return _check_manifest(beside)
    raise CheckError(
        f"{printable(str(path))}: neither JSON nor JSON Lines, and there is no {printable(beside.name)} "
        "beside it; export it again"
    )


def vectors_in(path: Path) -> list[Vector]:
    """The vectors of a file, or of all files directly in a folder, by name; each id once. Every file is checked first.

    Raises:
        CheckError: a file is malformed, an expectation in it differs from the reference's, or there is no vector.
        JsonError: a file is not JSON, or its JSON is ambiguous.
        OSError: a file cannot be read.
    """
    found: dict[str, Vector] = {}
    for file in _files(path):
        _regular(file)
        for vector in _tested(file):
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


def _tested(path: Path) -> Iterator[Vector]:
    """The vectors of a file, each checked, as the whole file is by the end."""
    return _of_document(path) if path.suffix == ".json" else _of_lines(path)


def _regular(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise CheckError(f"{printable(str(path))}: not a regular file")
    size = path.stat().st_size
    if path.suffix == ".json" and size > LARGEST_DOCUMENT:
        too_large = f"{thousands(size)} octets; a document may have {thousands(LARGEST_DOCUMENT)}"
        raise CheckError(f"{printable(str(path))}: {too_large}: use JSON Lines")


@cache  # its compilation takes longer than most checks
def _validator(part: str) -> Callable[[Any, str, int], None]:
    """Checks data against a definition of the schema."""
    import fastjsonschema

    text = (files("overlong.conformance") / "schemas" / "vectors-1.schema.json").read_text("ascii")
    schema = json.loads(text)
    schema = {"$defs": schema["$defs"], "$ref": f"#/$defs/{part}"}
    compiled: Any = fastjsonschema.compile(schema, use_default=False)

    def validate(data: Any, name: str, line: int) -> None:
        try:
            compiled(data)
        except fastjsonschema.JsonSchemaValueException as error:
            place = str(error.name).removeprefix("data").lstrip(".") or "the document"
            raise CheckError(
                f"{name}:{line or ''}{':' if line else ''} {printable(place, 120)}: not as the schema has it: "
                f"{printable(str(error.message).removeprefix(str(error.name)).strip(), 160)}"
            ) from None

    return validate


def _member(data: Any, name: str) -> Any:
    return cast("dict[str, Any]", data).get(name) if isinstance(data, dict) else None


def _version(data: Any, name: str) -> None:
    """Refuse other formats, and newer versions of this one; the message names them."""
    schema = _member(data, "schema")
    if schema == SCHEMA:
        return
    said = printable(json.dumps(schema), 60)
    if isinstance(schema, str) and schema.startswith(SCHEMA.rstrip("0123456789")):
        raise CheckError(f"{name}:1: schema {said} is of another version; this is {SCHEMA}: update overlong")
    raise CheckError(f"{name}:1: not a file of vectors: its schema is {said}, not {json.dumps(SCHEMA)}")


def _of_document(path: Path) -> Iterator[Vector]:
    name = printable(str(path))
    octets = path.read_bytes()
    data = strict_json.loads(octets, str(path), most=LARGEST_DOCUMENT >> 4)  # vectors have more octets per value
    _version(data, name)
    _validator("document")(data, name, 0)
    lines = octets.decode("utf-8").split("\n")
    seen: set[str] = set()
    for group in data["groups"]:
        for test in group["tests"]:
            yield _vector(test, group["category"], name, partial(_line_of, lines, test["id"]), seen)


def _line_of(lines: list[str], identifier: str) -> int:
    spelt = json.dumps(identifier)
    return next((number for number, line in enumerate(lines, 1) if spelt in line), 1)


def _of_lines(path: Path) -> Iterator[Vector]:
    name, count = printable(str(path)), 0
    test = _validator("test")
    seen: set[str] = set()
    footer: dict[str, Any] | None = None
    for number, line in _lines(path):
        if footer is not None:
            raise CheckError(f"{name}:{number}: a line after the footer")
        data: Any = strict_json.loads(line, str(path), line=number)
        if number == 1:
            _version(data, name)
            _validator("header")(data, name, 1)
        elif _member(data, "record") == "footer":
            _validator("footer")(data, name, number)
            footer = data
        else:
            test(data, name, number)
            count += 1
            yield _vector(data, data["id"].rpartition("/")[0], name, partial(int, number), seen)
    if footer is None:
        raise CheckError(f"{name}: no footer after {counted(count, 'vector')}: the file was cut; export it again")
    if footer["vectors"] != count:
        raise CheckError(f"{name}: {counted(count, 'vector')} where its footer says {thousands(footer['vectors'])}")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LARGEST_LINE + 1):
            number += 1
            if len(line) > LARGEST_LINE:
                raise CheckError(f"{printable(str(path))}:{number}: a line of more than {LARGEST_LINE} octets")
            yield number, line.rstrip(b"\n")
    if not number:
        raise CheckError(f"{printable(str(path))}:1: an empty file")


def _vector(test: dict[str, Any], category: str, name: str, line: Callable[[], int], seen: set[str]) -> Vector:
    """One vector, checked: its octets have its id, and the reference gives its expectations."""
    identifier = test["id"]

    def wrong(what: str) -> CheckError:
        return CheckError(f"{name}:{line()}: {printable(identifier, 80)}: {what}", wrong=True)

    octets = bytes.fromhex(test["hex"])
    chunks = tuple(test["chunks"]) if "chunks" in test else None
    if chunks is not None and sum(chunks) != len(octets):
        raise wrong(f"its chunks have {sum(chunks)} octets, its input {len(octets)}")
    earlier = tuple(map(bytes.fromhex, test["earlier"])) if "earlier" in test else None
    vector = Vector(
        category,
        octets,
        test.get("comment", ""),
        chunks,
        tuple(test.get("cases", ())),
        test.get("decoder", ""),
        tuple(test.get("references", ())),
        earlier=earlier,
    )
    if identifier != vector.id:
        raise wrong(f"these octets have the id {vector.id}")
    if identifier in seen:
        raise wrong("the id occurs twice in the file")
    seen.add(identifier)
    right = record(vector)
    for member in ("flags", "provenance"):
        if member in test and test[member] != right.get(member):
            raise wrong(f"{member} {_shown(test[member])}; the reference has {_shown(right.get(member))}")
    for mode, expectation in test["expect"].items():
        for member, value in expectation.items():
            expected = right["expect"].get(mode, {}).get(member)
            if value != expected:
                raise wrong(f"{mode} {member} {_shown(value)}; the reference has {_shown(expected)}")
    return vector


def _shown(value: Any) -> str:
    return printable(json.dumps(value), 80)


def _check_manifest(path: Path) -> str:
    """Check that every file in a manifest has the size and the digest given there."""
    name = printable(str(path))
    if not path.exists():
        raise CheckError(f"{printable(str(path.parent))}: a folder without {MANIFEST}; name a file")
    _regular(path)
    data: Any = strict_json.loads(path.read_bytes(), str(path))
    if _member(data, "schema") != MANIFEST_SCHEMA:
        raise CheckError(f"{name}:1: not a manifest: its schema is not {MANIFEST_SCHEMA}")
    _validator("manifest")(data, name, 0)
    for entry in data["files"]:
        parts = PurePosixPath(entry["name"]).parts
        if ".." in parts or PurePosixPath(entry["name"]).is_absolute() or "\\" in entry["name"] or not parts:
            raise CheckError(f"{name}: the name {_shown(entry['name'])} leads out of the folder")
        file = path.parent.joinpath(*parts)
        if not file.is_file() or file.is_symlink():
            raise CheckError(f"{printable(str(file))}: not there, though {name} names it", wrong=True)
        with file.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        if digest != entry["sha256"]:
            raise CheckError(f"{printable(str(file))}: not the file that {name} describes; export it again", wrong=True)
    checked = [
        check(path.parent / entry["name"]) for entry in data["files"] if entry["name"].endswith((".json", ".jsonl"))
    ]
    count = len(data["files"])
    return "; ".join((f"{counted(count, 'file')}, and the manifest agrees with each", *checked))
