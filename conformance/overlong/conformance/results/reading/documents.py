"""Files of results, opened with care: they may be cut, newer, another program's, or made to do harm."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import MOST_VALUES, JsonError, loads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

LARGEST_DOCUMENT = 64 << 20
"""Octets of a JSON document."""
LARGEST_LINE = 4 << 20
"""Octets of one line of results."""
MOST_VALUES_OF_LINE = 1 << 18


class ReportError(ValueError):
    """A file that no report can be made of; the message is one line that names the file, the place and the remedy."""


def document(path: Path) -> Any:
    """The value in a JSON file.

    Raises:
        ReportError: it is none, doubtful, or too large.
        OSError: it cannot be read.
    """
    regular(path)
    if (size := path.stat().st_size) > LARGEST_DOCUMENT:
        raise ReportError(f"{printable(str(path))}: {size} octets; a file of results has {LARGEST_DOCUMENT} at most")
    try:
        octets = path.read_bytes()
        not_too_many(octets, path)
        return loads(octets, str(path))
    except JsonError as error:
        raise ReportError(f"{error}; it is damaged or no file of overlong: measure again") from None


def not_too_many(octets: bytes, path: Path, *, line: int = 0, most: int = MOST_VALUES) -> None:
    """Refuse JSON of more values than any file of overlong has, before memory is taken for them.

    Raises:
        ReportError: it may have more; a comma in a string counts, too.
    """
    if sum(map(octets.count, (b",", b"[", b"{"))) > most:
        where = f"{printable(str(path))}:{f'{line}:' if line else ''}"
        raise ReportError(f"{where} more than {most} values; no file of overlong: name another")


def regular(path: Path) -> None:
    """Refuse what could be read for ever.

    Raises:
        ReportError: it is a device, a pipe, or something else.
    """
    if path.exists() and not path.is_file():
        raise ReportError(f"{printable(str(path))}: not a regular file; name a file of results or its folder")


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects in a file of JSON Lines, with the numbers of their lines; a last one that was cut is left out.

    Raises:
        ReportError: a line is no object.
        OSError: it cannot be read.
    """
    regular(path)
    with path.open("rb") as file:
        number = 0
        while line := file.readline(LARGEST_LINE + 1):
            number += 1
            if len(line) > LARGEST_LINE:
                raise ReportError(
                    f"{printable(str(path))}:{number}: a line of more than {LARGEST_LINE} octets; no file of overlong"
                )
            not_too_many(line, path, line=number, most=MOST_VALUES_OF_LINE)
            try:
                read = loads(line, str(path), line=number)
            except JsonError as error:
                if not line.endswith(b"\n"):  # the end of a file whose writer was ended
                    return
                raise ReportError(f"{error}; it is damaged or no file of overlong: measure again") from None
            if not isinstance(read, dict):
                raise ReportError(f"{printable(str(path))}:{number}: no JSON object; it is no file of results")
            yield number, cast("dict[str, Any]", read)


def not_of(data: Any, schema: str, path: Path, line: int = 1) -> ReportError:
    """The error for data that does not say that it is of this schema: another format, or another version of this."""
    said = cast("dict[str, Any]", data).get("schema") if isinstance(data, dict) else None
    name, shown = f"{printable(str(path))}:{line}", printable(json.dumps(said), 60)
    if isinstance(said, str) and said.rstrip("0123456789") == schema.rstrip("0123456789"):
        return ReportError(f"{name}: schema {shown} is of another version; this one reads {schema}: update overlong")
    return ReportError(f"{name}: its schema is {shown}, which no report can be made of; name another file")


def checked(data: Any, schema: str, path: Path, *, part: str = "", line: int = 0) -> None:
    """Check ``data`` against a schema of the package, or one of its definitions.

    Raises:
        ReportError: it is of another form; the message says where.
    """
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator(schema, part)(data)
    except JsonSchemaValueException as error:
        place = str(error.name).removeprefix("data").lstrip(".") or "the whole"
        why = str(error.message).removeprefix(str(error.name)).strip()
        where = f"{printable(str(path))}:{f'{line}:' if line else ''}"
        raise ReportError(
            f"{where} {printable(place, 120)}: not as the schema has it: {printable(why, 160)}; measure again"
        ) from None


@cache  # its compilation takes longer than most checks
def _validator(schema: str, part: str) -> Callable[[Any], Any]:
    import fastjsonschema

    text = (files("overlong.conformance") / "schemas" / f"{schema}.schema.json").read_text("ascii")
    read = json.loads(text)
    if part:
        read = {"$schema": read["$schema"], "$defs": read["$defs"], "$ref": f"#/$defs/{part}"}
    compiled: Any = fastjsonschema.compile(read, use_default=False)
    return cast("Callable[[Any], Any]", compiled)
