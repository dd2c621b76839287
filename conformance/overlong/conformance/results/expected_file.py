"""The file of expected deviations: its entries, read from TOML and checked, and changed in place.

A misleading entry is refused. Where each entry stands in the text is found here, too, for messages, and so that all
else stays octet for octet: a model of the document (tomlkit's) knows no lines, and gives a comment before a table to
the table above it.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from datetime import date, datetime
from fnmatch import fnmatchcase
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.observation import KINDS, Accepted, Refused
from overlong.conformance.protocol.wire import MEASURED
from overlong.conformance.support.files import written_to
from overlong.conformance.support.printable import did_you_mean, printable
from overlong.conformance.targets.configured import toml_of
from overlong.reference import DEFECTS, DIALECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


PROJECT = "pyproject.toml"
OWN, OF_A_PROJECT = ("expected",), ("tool", "overlong", "expected")
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
"""The keys of an entry in the order of the file's text, and the kinds of their values."""
DIGEST = "sha256:"
_HEADER = re.compile(r"^[ \t]*(?=\[)", re.MULTILINE)


class ExpectationError(Exception):
    """A file of expected deviations is wrong, or cannot be written; the message is one line that says where."""


@dataclass(frozen=True)
class Deviation:
    """An entry. ``target``, ``id``, ``place`` and ``observed`` are patterns (:func:`matches`)."""

    where: str
    """``overlong.toml line 12``."""
    number: int
    """Its place among the entries of its file, from 0."""
    observed: str
    """The answer that is expected, in the words of a report."""
    reason: str
    """The reason; empty if none is given."""
    target: str = "*"
    profile: str = "rfc3629"
    id: str = ""
    """Id of a vector; empty: any."""
    code: str = ""
    """Empty: whichever."""
    place: str | None = None
    """None: whichever."""
    operation: str = ""
    """A letter; empty: whichever."""
    link: str = ""
    expires: date | None = None
    """The last day on which it counts."""
    suites: tuple[str, ...] = ()
    """The suites or sweeps that show it, if given: it is stale only if all of them ran."""
    count: int | None = None
    """The number of divergences that it covers if exactly :attr:`suites` run; None: any number."""
    digest: str = ""
    """SHA-256 of them all, in hexadecimal digits; empty: whichever."""

    @property
    def pinned(self) -> bool:
        """True if the entry fixes the number of its divergences, or their answers."""
        return self.count is not None or bool(self.digest)

    @property
    def names(self) -> str:
        """The divergences that it names, in a few words: ``overlong/c0af D``, ``OV201 place``."""
        words = [self.id, self.code, self.place or "", self.operation]
        return printable(" ".join(word for word in words if word))


def matches(pattern: str, text: str) -> bool:
    """True if a pattern matches a text. ``*`` matches any text, also none; other characters match themselves."""
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


def file_of_project() -> Path | None:
    """The file of the current folder that has entries; None if there is none.

    A file that is not TOML has none. So it does not block targets that do not need it, and the divergences that it may
    have expected count like any other.
    """
    for name, path in FILES.items():
        try:
            if _entries(Path(name), path) is not None:
                return Path(name)
        except ExpectationError:
            continue
    return None


def file_for_new() -> Path:
    """The file of the current folder for entries where no file has any."""
    ours, project = map(Path, FILES)
    return project if project.exists() and not ours.exists() else ours


def path_in(file: Path, *, given: bool) -> tuple[str, ...]:
    """The keys of the table of entries: that of a project's file, or of a file named on the command line."""
    if file.name == PROJECT:
        return OF_A_PROJECT
    text = _toml(file) if given and file.is_file() else {}
    return OF_A_PROJECT if OWN[0] not in text and "tool" in text else OWN


def read_entries(file: Path, path: tuple[str, ...], *, given: bool) -> tuple[Deviation, ...]:
    """The entries of a file.

    Args:
        file: TOML.
        path: the keys of their table.
        given: the file was named for one target, so that entries need not name it, and the file holds nothing else.

    Raises:
        ExpectationError: the file is not TOML, cannot be read, or has an invalid entry.
    """
    name, header = printable(str(file)), ".".join(path)
    if given and path == OWN and (others := sorted(_toml(file).keys() - {*OWN, "targets"})):
        raise ExpectationError(f"{name}: {_unknown(others[0], ['expected', 'targets'])}")
    entries = _entries(file, path)
    if entries is None:
        return ()
    if not isinstance(entries, list):
        raise ExpectationError(f"{name}: {header} is no list of tables; write [[{header}]] above each entry")
    listed = cast("list[object]", entries)
    places = _lines_of_headers(file, path)
    if len(places) != len(listed):  # they do not stand under headers of their own
        places = [f"entry {number}" for number in range(1, len(listed) + 1)]
    return tuple(_read(f"{name} {places[number]}", number, entry, given=given) for number, entry in enumerate(listed))


def _lines_of_headers(file: Path, path: tuple[str, ...]) -> list[str]:
    """``line 12`` for each entry."""
    try:
        text = file.read_bytes().decode()
        starts = [0, *(start for start, _ in spans_of(text, path))]
    except (OSError, ValueError):
        return []
    counts = (text.count("\n", before, start) for before, start in pairwise(starts))
    return [f"line {line + 1}" for line in accumulate(counts)]


def _toml(file: Path) -> dict[str, Any]:
    """The content of a file; empty if there is no such file."""
    try:
        return toml_of(file, "name another with --expected") or {}
    except UnknownTarget as error:
        raise ExpectationError(str(error)) from error


def _entries(file: Path, path: tuple[str, ...]) -> object:
    """The value of these keys; None if there is none."""
    found: Any = _toml(file)
    for number, key in enumerate(path):
        if not isinstance(found, dict):
            raise ExpectationError(f"{printable(str(file))}: {'.'.join(path[:number])} is no table")
        if key not in found:
            return None
        found = cast("dict[str, Any]", found)[key]
    return found


def _unknown(key: str, known: list[str], hint: str = "") -> str:
    return f"there is no {printable(key)!r}; {did_you_mean(key, known, hint)}"


def _read(where: str, number: int, entry: object, *, given: bool) -> Deviation:
    """One entry, checked."""

    def refused(why: str) -> ExpectationError:
        return ExpectationError(f"{where}: {why}")

    if not isinstance(entry, dict):
        raise refused('no table; write [[expected]], and under it observed = "..." and the others')
    said: dict[str, Any] = {
        key: value for key, value in cast("dict[str, Any]", entry).items() if (key, value) != ("code", "")
    }
    for key, value in said.items():
        if key not in _KEYS:
            raise refused(_unknown(key, list(_KEYS)))
        if not _is_right(key, value):
            raise refused(f"{key} is no {_KEYS[key].removeprefix('a ').removeprefix('one ')}")
    for key in ("observed", "reason", *(() if given else ("target",))):
        if key not in said:
            raise refused(f"{key} is missing; write {_KEYS[key]}")
    observed, id_ = said["observed"], said.get("id", "")
    if not observed:
        raise refused(f"observed is empty; write {_KEYS['observed']}")
    if "code" not in said and not id_.strip("* /"):
        what = "every vector" if id_ else "nothing"
        raise refused(f"it names {what}; write id (a vector's), or code and place (a bucket's)")
    for key, known in (("code", [*DEFECTS, *KINDS]), ("profile", list(DIALECTS))):
        if key in said and said[key] not in known:
            hint = f"'overlong explain' shows what there is: {known[0]}, ..."
            raise refused(f"{key}: {_unknown(said[key], known, hint)}")
    if ("count" in said or "digest" in said) and not said.get("suites"):
        raise refused("count and digest are those of certain suites; name them: suites = [...]")
    if not observed.strip("* ") or _hides_any_answer(observed):
        raise refused(
            f'observed = "{printable(observed, 60)}" stands for any answer; write the one that is observed, in the '
            "words of the report: accepted U+002E, or accepted*"
        )
    said |= {"suites": tuple(said.get("suites", ())), "digest": said.get("digest", "").removeprefix(DIGEST)}
    return Deviation(where, number, **said)


def _hides_any_answer(observed: str) -> bool:
    """True if a pattern fits acceptance as well as refusal."""
    samples = (
        (Accepted(), Accepted((0x41, 0xFFFD, 0xD800))),
        (Refused(), Refused(0, 1), Refused(12, 3, incomplete=True)),
    )
    return all(any(matches(observed, observed_in_words(each)) for each in kind) for kind in samples)


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


def spans_of(text: str, path: tuple[str, ...]) -> list[tuple[int, int]]:
    """Where the entries at ``path`` stand: each from its header to the end of its last line that is no comment.

    A bracket at the beginning of a line is a header if the lines before it, from the last header on, are a document:
    then it is not inside a string or a list.

    Raises:
        ValueError: the text is not TOML.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for end in (*(found.start() for found in _HEADER.finditer(text)), len(text)):
        piece = text[start:end]
        try:
            found: Any = tomllib.loads(piece)
        except tomllib.TOMLDecodeError:
            if end == len(text):
                raise
            continue
        for key in path:
            found = cast("dict[str, Any]", found).get(key) if isinstance(found, dict) else None
        if isinstance(found, list) and piece.lstrip(" \t").startswith("[["):
            lines = piece.split("\n")
            while len(lines) > 1 and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
                lines.pop()
            spans.append((start, min(start + len("\n".join(lines)) + 1, end)))
        start = end
    return spans


_IN_PLACE = ("observed", "expires", "suites", "count", "digest")
"""The keys of an existing entry that an update may change."""


def write_entries(
    file: Path, path: tuple[str, ...], changes: Mapping[int, Deviation | None], new: Sequence[Deviation]
) -> None:
    """Change, remove and add entries; the file is created if it does not exist, and a symbolic link stays one.

    Args:
        file: TOML.
        path: the keys of their table.
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
    import tomlkit

    end, header = "\r\n" if "\r\n" in text else "\n", f"[[{'.'.join(path)}]]"
    spans = spans_of(text, path)
    if any(number >= len(spans) for number in changes):
        raise ValueError(f"write each entry under {header}")
    pieces, done = list[str](), 0
    for number, (start, behind) in enumerate(spans):
        entry, changed = text[start:behind], changes.get(number)
        if changed is not None:
            entry = _with_ends(_changed(entry, path, changed), end)
        pieces += [text[done:start], "" if number in changes and changed is None else entry]
        done = behind
    if not spans:
        pieces, done = [text], len(text)
    if new:
        if pieces[-1]:
            pieces.append(end if pieces[-1].endswith("\n") else end + end)
        added = "\n".join(f"{header}\n{tomlkit.dumps(_values(each))}" for each in new)
        pieces.append(_with_ends(added, end))
    return "".join([*pieces, text[done:]])


def _with_ends(text: str, end: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", end)


def _values(deviation: Deviation) -> dict[str, Any]:
    """The keys of an entry, and their values in TOML."""
    values: dict[str, Any] = {each.name: getattr(deviation, each.name) for each in fields(deviation)}
    values["profile"] = "" if deviation.profile == "rfc3629" else deviation.profile
    values["suites"] = list(deviation.suites)
    values["digest"] = deviation.digest and DIGEST + deviation.digest
    kept = {"reason"} | ({"place"} if deviation.place is not None else set[str]())
    return {key: values[key] for key in _KEYS if values[key] or key in kept}


def _changed(entry: str, path: tuple[str, ...], deviation: Deviation) -> str:
    """The text of an entry with the changed values."""
    import tomlkit

    document = tomlkit.parse(entry if entry.endswith("\n") else f"{entry}\n")
    table: Any = document
    for key in path:
        table = table[key]
    (values,), wanted = table, _values(deviation)
    for key in _IN_PLACE:
        if key not in wanted:
            values.pop(key, None)
        elif key not in values or values[key] != wanted[key]:
            values[key] = wanted[key]
    return tomlkit.dumps(document)
