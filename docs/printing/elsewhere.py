"""The pages of other people's lists: each string of theirs, and the vectors of ours that have its octets.

``corpora/elsewhere`` has the strings. This module finds our vectors by their octets.
"""

from __future__ import annotations

import csv
import tomllib
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable, spaced_hex
from overlong.conformance.vectors.families import all_vectors
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.suites.streams import cuts
from overlong.conformance.vectors.suites.suite import core_vectors
from overlong.reference import MaximalSubpart, is_well_formed, segments
from printing.markdown import code, plain, table
from printing.pages import written

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from overlong.conformance.vectors.vector import Vector

FOLDER = Path(__file__).parents[2] / "corpora" / "elsewhere"

_OCTETS = 12
"""The most octets of a string to print."""
_ERRORS = 6
"""The most errors of a string to name."""
_COMPLETE = ("complete-0", "complete-0-refusing", "complete-0-replacing")
_SWEPT = 4
"""The length in octets up to which a sweep can test every string."""


@dataclass(frozen=True)
class Entry:
    """A string of a list: its name there, its chunks, and the list's verdict, if it has one."""

    name: str
    octets: bytes
    chunks: tuple[int, ...] | None = None
    accept: bool | None = None


@dataclass(frozen=True)
class Listed:
    """A list of ``lists.toml``."""

    name: str
    title: str
    short: str
    address: str
    version: str
    licence: str
    copy: str
    names: str

    def entries(self) -> list[Entry]:
        """Its strings, in its order."""
        with (FOLDER / f"{self.name}.tsv").open(encoding="utf-8", newline="") as file:
            return [
                Entry(
                    row["id"],
                    bytes.fromhex(row["hex"]),
                    tuple(map(int, row.get("chunks", "").split())) or None,
                    {"accept": True, "reject": False}.get(row.get("verdict", "")),
                )
                for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            ]


@cache
def lists() -> dict[str, Listed]:
    """The lists, by their names."""
    known = tomllib.loads((FOLDER / "lists.toml").read_text("utf-8"))
    return {name: Listed(name, **fields) for name, fields in known.items()}


def same_octets(entry: Entry) -> Vector | None:
    """The vector of a family that has its octets; in the same chunks, if one is."""
    return _by_octets().get((entry.octets, entry.chunks)) or _by_octets().get((entry.octets, None))


@cache
def _by_octets() -> dict[tuple[bytes, tuple[int, ...] | None], Vector]:
    return {(vector.octets, vector.chunks): vector for vector in all_vectors()}


@cache
def _complete() -> dict[bytes, str]:
    """The strings of the complete suites, each with the first suite that has it."""
    asked = ((name, vector) for name in reversed(_COMPLETE) for vector in SUITES[name].vectors())
    return {vector.octets: f"{code(vector.id)} of {code(name)}" for name, vector in asked}


@cache
def _core() -> frozenset[bytes]:
    return frozenset(vector.octets for vector in core_vectors())


@cache
def named_in() -> dict[str, dict[str, list[str]]]:
    """For each vector's id the lists that have its octets, and their names for it."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for listed in lists().values():
        for entry in listed.entries():
            if (vector := same_octets(entry)) and entry.name not in found[vector.id][listed.name]:
                found[vector.id][listed.name].append(entry.name)
    return found


def elsewhere(vector: Vector) -> Iterator[str]:
    """A line on the lists that have this vector, if any do."""
    if found := named_in().get(vector.id):
        named = (f"[{lists()[name].short}](../elsewhere/{name}.md) {_few(names)}" for name, names in found.items())
        yield from ("", f"The same octets elsewhere: {'; '.join(named)}")


def _few(names: list[str]) -> str:
    more = len(names) - _ERRORS
    return ", ".join(map(plain, names[:_ERRORS])) + (f" and {more} more" if more > 0 else "")


def anchor(vector: Vector) -> str:
    """The anchor of the vector's description: its id, which is unique."""
    return vector.id.replace("/", "-").replace(".", "-")


def linked(vector: Vector) -> str:
    """A link to the vector's place, by the shortest of its names."""
    return f"[{code(vector.id)}](../vectors/{vector.category}.md#{anchor(vector)})"


def ours(entry: Entry) -> str:
    """Our vectors and suites that have this string, or its parts: the nearest first."""
    vector = same_octets(entry)
    if vector is not None and entry.chunks and vector.chunks != entry.chunks:
        asked = entry.octets in _core() and entry.chunks in set(cuts(entry.octets))
        return linked(vector) + (", so cut in `chunking`" if asked else ", cut otherwise")
    if whole := _whole(entry.octets):
        return whole
    said = [f"`sweep --plan exhaustive-{len(entry.octets)}`"] if len(entry.octets) <= _SWEPT else []
    found = [each for each in segments(entry.octets) if isinstance(each, MaximalSubpart)]
    wrong = dict.fromkeys(_whole(entry.octets[each.offset : each.offset + each.length]) for each in found)
    parts = list(filter(None, wrong))
    if parts:
        more = f" and {len(parts) - _ERRORS} more" if len(parts) > _ERRORS else ""
        said.append(f"its errors: {', '.join(parts[:_ERRORS])}{more}")
    elif not found:
        said.append("its characters: `scalars`")
    return "; ".join(said)


def _whole(octets: bytes) -> str:
    """The vector, or the suite, with exactly these octets; empty if there is none."""
    if (octets, None) in _by_octets():
        return linked(_by_octets()[octets, None])
    if octets in _complete():
        return _complete()[octets]
    return "`scalars`" if is_well_formed(octets) and len(octets.decode()) == 1 else ""


def write(folder: Path) -> None:
    """Write ``index.md`` and a page for each list."""
    written(folder, {"index": _index(), **{name: _list(listed) for name, listed in lists().items()}})


def _counted(entries: Iterable[Entry]) -> tuple[int, int, int]:
    """The number of strings in a family, in a complete suite only, and in neither."""
    counts = [0, 0, 0]
    for entry in entries:
        counts[0 if same_octets(entry) else 1 if entry.octets in _complete() else 2] += 1
    return counts[0], counts[1], counts[2]


def _index() -> Iterator[str]:
    yield from ("# Lists of others", "")
    yield "Test strings that other projects have, and the [vector](../vectors/index.md) of ours with the same octets."
    yield "Where no vector is the same, the page names the suite with the string or its errors."
    yield "[Comparison](../compared.md) says which faults each list finds; `overlong vectors score` does for any."
    rows = [
        (f"[{plain(each.title)}]({name}.md)", *map(str, (len(each.entries()), *_counted(each.entries()))))
        for name, each in lists().items()
    ]
    yield from ("", *table(("list", "strings", "a vector", "in a complete suite", "neither"), rows))
    yield from ("", "```{toctree}", ":hidden:", "", *lists(), "```")


def _list(listed: Listed) -> Iterator[str]:
    yield from (f"# {plain(listed.title)}", "")
    rows = (
        ("where", f"<{listed.address}>"),
        ("version", plain(listed.version)),
        ("licence", plain(listed.licence)),
        ("what was copied", listed.copy),
        ("names", plain(listed.names)),
        ("measured", f"`overlong vectors score corpora/elsewhere/{listed.name}.tsv` says which faults it finds"),
    )
    yield from table(("", ""), rows)
    yield from ("", "A vector has the same octets. A suite or sweep in its place has them, too. Where only errors or")
    yield "characters are named, neither a family of vectors nor a complete suite has the string as a whole:"
    yield from ("`overlong explain HEX` tells what is right, `overlong replay HEX TARGET` tests a decoder.", "")
    yield from table(
        ("there", "octets", "chunks", "verdict there", "here"),
        (
            (
                plain(printable(entry.name)),
                code(spaced_hex(entry.octets, _OCTETS)),
                _chunks(entry),
                "" if entry.accept is None else "accept" if entry.accept else "reject",
                ours(entry),
            )
            for entry in listed.entries()
        ),
    )


def _chunks(entry: Entry) -> str:
    if entry.chunks and set(entry.chunks) == {1} and len(entry.chunks) > _ERRORS:
        return "each octet"
    return " ".join(map(str, entry.chunks or ()))
