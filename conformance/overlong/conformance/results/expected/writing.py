"""Write entries into a file: a changed entry stays in its place, and everything else stays octet for octet."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.results.expected.deviation import Deviation, ExpectationError
from overlong.conformance.results.expected.reading import DIGEST, in_two, is_entry, pieces_of
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

_IN_PLACE = ("observed", "expires", "suites", "count", "digest")
"""The keys of an existing entry that an update may change."""
_ORDER = (
    *("target", "profile", "id", "code", "place", "operation", "observed"),
    *("reason", "link", "expires", "suites", "count", "digest"),
)


def write(
    file: Path,
    path: tuple[str, ...],
    changed: Mapping[int, Deviation],
    removed: Collection[int],
    new: Sequence[Deviation],
) -> None:
    """Change, remove and add entries.

    Args:
        file: TOML; created if it does not exist. A symbolic link stays one.
        path: the keys under which the entries stand.
        changed: by position among the entries, from 0.
        removed: likewise.
        new: entries to add after all others.

    Raises:
        ExpectationError: the file cannot be written, or would not have these entries afterwards; then it is unchanged.
    """
    name = printable(str(file))
    real = file.resolve()
    try:
        octets = real.read_bytes() if real.exists() else b""
        text = octets.decode()
        written = _edited(text, path, changed, removed, new)
        if not _says(written, text, path, changed, removed, new):
            raise ExpectationError(
                f"{name}: its entries cannot be changed as they are written; write each under [[{'.'.join(path)}]]"
            )
        _replace(real, octets, written.encode())
    except ValueError as error:
        raise ExpectationError(f"{name}: it cannot be written as TOML: {printable(str(error))}") from error
    except OSError as error:
        raise ExpectationError(f"{name}: {error.strerror}; name another file with --expected") from error


def _edited(
    text: str,
    path: tuple[str, ...],
    changed: Mapping[int, Deviation],
    removed: Collection[int],
    new: Sequence[Deviation],
) -> str:
    end = "\r\n" if "\r\n" in text else "\n"
    pieces = pieces_of(text)
    places = [place for place, piece in enumerate(pieces) if is_entry(piece, path)]
    for number, place in enumerate(places):
        body, tail = in_two(pieces[place])
        if number in removed:
            body = ""
        elif number in changed:
            body = _changed(body, path, changed[number], end)
        pieces[place] = body + tail
    if not new:
        return "".join(pieces)
    header = f"[[{'.'.join(path)}]]"
    added = end.join(_lines(header, each, end) for each in new)
    if not places:
        whole = "".join(pieces)
        if whole and not whole.endswith("\n"):
            whole += end
        return whole + (end if whole else "") + added
    body, tail = in_two(pieces[places[-1]]) if len(places) - 1 not in removed else ("", pieces[places[-1]])
    if body and not body.endswith("\n"):
        body += end
    pieces[places[-1]] = body + (end if body else "") + added + tail
    return "".join(pieces)


def _values(deviation: Deviation) -> dict[str, Any]:
    """The keys of an entry, and their values in TOML."""
    values: dict[str, Any] = {each.name: getattr(deviation, each.name) for each in fields(deviation)}
    if values["profile"] == "rfc3629":
        values["profile"] = ""
    values["suites"] = list(deviation.suites)
    values["digest"] = deviation.digest and DIGEST + deviation.digest
    kept = {"reason"} | ({"place"} if deviation.place is not None else set[str]())
    return {key: values[key] for key in _ORDER if values[key] or key in kept}


def _changed(body: str, path: tuple[str, ...], deviation: Deviation, end: str) -> str:
    """The text of an entry with the changed values."""
    import tomlkit

    document = tomlkit.parse(body if body.endswith("\n") else body + end)
    table: Any = document
    for key in path:
        table = table[key]
    entry = table[0]
    values = _values(deviation)
    for key in _IN_PLACE:
        if key not in values:
            if key in entry:
                del entry[key]
        elif key not in entry or entry[key] != values[key]:
            entry[key] = values[key]
    text = tomlkit.dumps(document)
    return text if end == "\n" else text.replace("\r\n", "\n").replace("\n", end)


def _lines(header: str, deviation: Deviation, end: str) -> str:
    import tomlkit

    entry: Any = tomlkit.document()
    entry.update(_values(deviation))
    lines = [header, *tomlkit.dumps(entry).splitlines()]
    return "".join(line + end for line in lines)


def _says(
    written: str,
    text: str,
    path: tuple[str, ...],
    changed: Mapping[int, Deviation],
    removed: Collection[int],
    new: Sequence[Deviation],
) -> bool:
    """True if a text has the given entries, and everything else as in the other text."""
    before, entries_before = _apart(text, path)
    after, entries_after = _apart(written, path)
    wanted: list[dict[str, Any]] = []
    for number, entry in enumerate(entries_before):
        if number in changed:
            values = _values(changed[number])
            kept = {key: value for key, value in entry.items() if key not in _IN_PLACE}
            wanted.append(kept | {key: values[key] for key in _IN_PLACE if key in values})
        elif number not in removed:
            wanted.append(entry)
    return after == before and entries_after == [*wanted, *map(_values, new)]


def _apart(text: str, path: tuple[str, ...]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A document without the entries (and without tables that hold only entries), and the entries."""
    document = tomllib.loads(text)
    tables: list[dict[str, Any]] = [document]
    for key in path[:-1]:
        tables.append(cast("dict[str, Any]", tables[-1].get(key, {})))
    entries = tables[-1].pop(path[-1], [])
    for place in range(len(path) - 1, 0, -1):
        if not tables[place]:
            tables[place - 1].pop(path[place - 1], None)
    return document, entries


def _replace(file: Path, before: bytes, octets: bytes) -> None:
    """Replace the contents of a file atomically, unless the file changed meanwhile."""
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name[:100]}.", delete=False) as unfinished:
        try:
            unfinished.write(octets)
            unfinished.flush()
            os.fsync(unfinished.fileno())
            if file.exists():
                if file.read_bytes() != before:
                    raise OSError(0, "it was changed while it was read")
                shutil.copymode(file, unfinished.name)
            else:
                mask = os.umask(0)
                os.umask(mask)
                os.chmod(unfinished.name, 0o666 & ~mask)  # noqa: PTH101 (a name, no path)
            os.replace(unfinished.name, file)  # noqa: PTH105
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(unfinished.name)  # noqa: PTH108
            raise
