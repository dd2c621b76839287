"""Write entries into a file: a changed entry stays in its place, and everything else stays octet for octet."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.expected.deviation import Deviation, ExpectationError
from overlong.conformance.results.expected.reading import DIGEST, in_two, is_entry, pieces_of
from overlong.conformance.support.printable import printable
from overlong.conformance.support.whole_file import written_to

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

_IN_PLACE = ("observed", "expires", "suites", "count", "digest")
"""The keys of an existing entry that an update may change."""
_ORDER = (
    *("target", "profile", "id", "code", "place", "operation", "observed"),
    *("reason", "link", "expires", "suites", "count", "digest"),
)


def write(file: Path, path: tuple[str, ...], changes: Mapping[int, Deviation | None], new: Sequence[Deviation]) -> None:
    """Change, remove and add entries.

    Args:
        file: TOML; created if it does not exist. A symbolic link stays one.
        path: the keys under which the entries stand.
        changes: by position among the entries, from 0; None: remove the entry.
        new: entries to add after all others.

    Raises:
        ExpectationError: the file cannot be written, or not with these entries; then it is unchanged.
    """
    name = printable(str(file))
    try:
        mode = file.stat().st_mode if file.exists() else None
        text = "" if mode is None else file.read_bytes().decode()
        written = _edited(text, path, changes, new)
        tomllib.loads(written)
        with written_to(file, encoding="utf-8") as out:
            out.write(written)
        if mode is not None:
            file.chmod(mode)
    except ValueError as error:
        raise ExpectationError(f"{name}: it cannot be written as TOML: {printable(str(error))}") from error
    except OSError as error:
        raise ExpectationError(f"{name}: {error.strerror}; name another file with --expected") from error


def _edited(text: str, path: tuple[str, ...], changes: Mapping[int, Deviation | None], new: Sequence[Deviation]) -> str:
    """A document with these changes.

    Raises:
        ValueError: it is not TOML, or its entries do not stand under headers of their own.
    """
    end, header = "\r\n" if "\r\n" in text else "\n", f"[[{'.'.join(path)}]]"
    pieces = pieces_of(text)
    places = [place for place, piece in enumerate(pieces) if is_entry(piece, path)]
    if any(number >= len(places) for number in changes):
        raise ValueError(f"write each entry under {header}")
    body, tail = "".join(pieces) if not places else "", ""
    for number, place in enumerate(places):
        body, tail = in_two(pieces[place])
        if number in changes:
            changed = changes[number]
            body = "" if changed is None else _changed(body, path, changed, end)
        pieces[place] = body + tail
    if not new:
        return "".join(pieces)
    if body and not body.endswith("\n"):
        body += end
    added = end.join(_lines(header, each, end) for each in new)
    last = body + (end if body else "") + added + tail
    return "".join([*pieces[: places[-1]], last, *pieces[places[-1] + 1 :]]) if places else last


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
    return _with_ends(tomlkit.dumps(document), end)


def _lines(header: str, deviation: Deviation, end: str) -> str:
    import tomlkit

    return _with_ends(f"{header}\n{tomlkit.dumps(_values(deviation))}", end)


def _with_ends(text: str, end: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", end)
