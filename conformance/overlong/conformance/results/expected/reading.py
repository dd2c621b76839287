"""Expected deviations, read from TOML and checked: a misleading entry is refused.

For messages and for :mod:`writing` a file is cut into pieces, one for each table, so that unchanged pieces stay octet
for octet. A model of the document would move comments between tables; a cut before each header moves nothing.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.kind import KINDS
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.protocol.wire import MEASURED
from overlong.conformance.results.expected.deviation import Deviation, ExpectationError, matches
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.targets.configured import toml_of
from overlong.reference import DEFECTS, DIALECTS

OWN = ("expected",)
OF_A_PROJECT = ("tool", "overlong", "expected")

PROJECT = "pyproject.toml"
FILES = {"overlong.toml": OWN, PROJECT: OF_A_PROJECT}
"""The files that may hold a project's entries, and the tables in them; the first file with entries wins."""

_KEYS = {
    "target": "a string: a target's name, * for anything",
    "profile": "a string: the name of a dialect",
    "id": "a string: a vector's id, * for anything",
    "code": "a string: a code such as OV201",
    "place": "a string: what tells apart buckets of a code",
    "operation": f"one letter of {MEASURED}",
    "observed": "a string: what is observed, in the words of the report, * for any part of it",
    "reason": "a string: why this is accepted",
    "link": "a string: an address",
    "expires": "a date: 2027-01-31",
    "suites": "a list of strings: names of suites or sweeps",
    "count": "a whole number from 1 up",
    "digest": "a string: sha256: and 64 hexadecimal digits",
}
"""The keys of an entry, and the kinds of their values."""
DIGEST = "sha256:"
_HEADER = re.compile(r"^[ \t]*(?=\[)", re.MULTILINE)


def file_of(given: Path | None) -> Path | None:
    """The file that has the entries: the given file, or that of the project in the current folder; None if no file has
    any.

    A file of the project that is not TOML has no entries. So it does not block targets that do not need it, and the
    divergences that it may have expected count like any other.
    """
    if given is not None:
        return given
    return next((Path(name) for name, path in FILES.items() if _has_entries(Path(name), path)), None)


def _has_entries(file: Path, path: tuple[str, ...]) -> bool:
    try:
        return _entries(file, path) is not None
    except ExpectationError:
        return False


def path_in(file: Path, given: Path | None) -> tuple[str, ...]:
    """The keys of the table of entries: that of a project's file, or of a file named on the command line."""
    if file.name == PROJECT:
        return OF_A_PROJECT
    if given is not None and file.is_file():
        text = _toml(file) or {}
        if OWN[0] not in text and "tool" in text:
            return OF_A_PROJECT
    return OWN


def read_entries(file: Path, path: tuple[str, ...], *, given: bool) -> tuple[Deviation, ...]:
    """The entries of a file.

    Args:
        file: TOML.
        path: the keys of their table.
        given: the file was named for one target, so that entries need not name it, and the file holds nothing else.

    Raises:
        ExpectationError: the file is not TOML, cannot be read, or has an invalid entry.
    """
    if given and path == OWN:
        others = sorted((_toml(file) or {}).keys() - {*OWN, "targets"})
        if others:
            raise ExpectationError(f"{_shown(file)}: {_unknown(others[0], ['expected', 'targets'])}")
    entries = _entries(file, path)
    if entries is None:
        return ()
    name, header = _shown(file), ".".join(path)
    if not isinstance(entries, list):
        raise ExpectationError(f"{name}: {header} is no list of tables; write [[{header}]] above each entry")
    listed = cast("list[object]", entries)
    lines = lines_of_entries(file, path, len(listed))
    return tuple(
        _read(f"{name} line {lines[number]}" if lines else f"{name} entry {number + 1}", number, entry, given=given)
        for number, entry in enumerate(listed)
    )


def _shown(file: Path) -> str:
    return printable(str(file))


def _toml(file: Path) -> dict[str, Any] | None:
    try:
        return toml_of(file, "name another with --expected")
    except UnknownTarget as error:
        raise ExpectationError(str(error)) from error


def _entries(file: Path, path: tuple[str, ...]) -> object:
    """The value of these keys; None if there is none."""
    found: Any = _toml(file)
    for number, key in enumerate(path):
        if found is None or (isinstance(found, dict) and key not in found):
            return None
        if not isinstance(found, dict):
            raise ExpectationError(f"{_shown(file)}: {'.'.join(path[:number])} is no table")
        found = cast("dict[str, Any]", found)[key]
    return found


def _unknown(key: str, known: list[str]) -> str:
    return f"there is no {printable(key)!r}; {did_you_mean(key, known)}"


def _read(where: str, number: int, entry: object, *, given: bool) -> Deviation:
    """One entry, checked."""
    if not isinstance(entry, dict):
        raise ExpectationError(f'{where}: no table; write [[expected]], and under it observed = "..." and the others')
    said = cast("dict[str, Any]", entry)
    for key in said:
        if key not in _KEYS:
            raise ExpectationError(f"{where}: {_unknown(key, list(_KEYS))}")
        if not _is_right(key, said[key]):
            raise ExpectationError(f"{where}: {key} is no {_KEYS[key].removeprefix('a ').removeprefix('one ')}")
    for key in ("observed", "reason", *(() if given else ("target",))):
        if key not in said:
            raise ExpectationError(f"{where}: {key} is missing; write {_KEYS[key]}")
    if not said["observed"]:
        raise ExpectationError(f"{where}: observed is empty; write {_KEYS['observed']}")
    if not said.get("code") and _says_nothing(said.get("id", ""), "/"):
        raise ExpectationError(
            f"{where}: it names {'every vector' if said.get('id') else 'nothing'}; write id (a vector's), or code and "
            "place (a bucket's)"
        )
    if code := said.get("code"):
        _known(f"{where}: code", code, [*DEFECTS, *KINDS])
    if "profile" in said:
        _known(f"{where}: profile", said["profile"], list(DIALECTS))
    pinned = "count" in said or "digest" in said
    if pinned and not said.get("suites"):
        raise ExpectationError(f"{where}: count and digest are those of certain suites; name them: suites = [...]")
    _names_an_answer(where, said["observed"])
    values: dict[str, Any] = {
        **said,
        "suites": tuple(said.get("suites", ())),
        "digest": said.get("digest", "").removeprefix(DIGEST),
    }
    return Deviation(where, number, **values)


def _says_nothing(pattern: str, separators: str = "") -> bool:
    """True if a pattern consists of ``*`` and ``separators``, which all texts of its kind have."""
    return not pattern.strip("* " + separators)


def _names_an_answer(where: str, observed: str) -> None:
    """Refuse an entry that fits acceptance as well as refusal, since it would hide any answer."""
    samples = (
        (Accepted(), Accepted((0x41, 0xFFFD, 0xD800))),
        (Refused(), Refused(0, 1), Refused(12, 3, incomplete=True)),
    )
    kinds = (any(matches(observed, observed_in_words(each)) for each in kind) for kind in samples)
    if _says_nothing(observed) or all(kinds):
        raise ExpectationError(
            f'{where}: observed = "{printable(observed, 60)}" stands for any answer; write the one that is observed, '
            "in the words of the report: accepted U+002E, or accepted*"
        )


def _is_right(key: str, value: object) -> bool:
    """True if a value has the kind of its key."""
    match key:
        case "expires":
            return isinstance(value, date) and not isinstance(value, datetime)
        case "count":
            return type(value) is int and value > 0
        case "suites":
            return isinstance(value, list) and all(isinstance(name, str) for name in cast("list[object]", value))
        case "operation":
            return isinstance(value, str) and len(value) == 1 and value in MEASURED
        case "digest":
            return isinstance(value, str) and re.fullmatch(DIGEST + "[0-9a-f]{64}", value) is not None
        case _:
            return isinstance(value, str)


def _known(where: str, name: str, known: list[str]) -> None:
    if name not in known:
        hint = did_you_mean(name, known, f"'overlong explain' shows what there is: {known[0]}, ...")
        raise ExpectationError(f"{where}: there is no {printable(name)!r}; {hint}")


def pieces_of(text: str) -> list[str]:
    """A document, cut before the header of each table; text before the first header is the first piece.

    Raises:
        ValueError: the text is not TOML.
    """
    starts = [0, *(found.start() for found in _HEADER.finditer(text)), len(text)]
    result: list[str] = []
    piece = ""
    for start, end in pairwise(starts):
        piece += text[start:end]
        if piece and _is_whole(piece):
            result.append(piece)
            piece = ""
    if piece:
        raise ValueError("a table in it is not whole")
    return result


def _is_whole(piece: str) -> bool:
    """True if these lines are a document: a bracket after them is a header, not inside a string or a list."""
    try:
        tomllib.loads(piece)
    except tomllib.TOMLDecodeError:
        return False
    return True


def is_entry(piece: str, path: tuple[str, ...]) -> bool:
    """True if a piece is an element of the array of tables at ``path``; also its keys."""
    if not piece.lstrip(" \t").startswith("[["):
        return False
    found: Any = tomllib.loads(piece)
    for key in path:
        if not isinstance(found, dict) or key not in found:
            return False
        found = cast("dict[str, Any]", found)[key]
    return isinstance(found, list)


def lines_of_entries(file: Path, path: tuple[str, ...], count: int) -> list[int]:
    """The line numbers of the entries' headers, from 1; empty if the entries have no headers."""
    try:
        text = file.read_bytes().decode()
        pieces = pieces_of(text)
    except (OSError, ValueError):
        return []
    lines: list[int] = []
    line = 1
    for piece in pieces:
        if is_entry(piece, path):
            lines.append(line)
        line += piece.count("\n")
    return lines if len(lines) == count else []


def in_two(piece: str) -> tuple[str, str]:
    """A piece's table, and the blank lines and comments after it, which do not belong to the table."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", piece)
    end = len(lines)
    while end > 1 and (not lines[end - 1].strip() or lines[end - 1].lstrip().startswith("#")):
        end -= 1
    return "".join(lines[:end]), "".join(lines[end:])
