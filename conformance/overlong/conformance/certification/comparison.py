"""Compares two statements field by field. Nothing is run here.

Records of a list are matched by their names, so that one more suite does not make all later ones differ; unmatched
records are compared in order.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

GENERATOR, ENVIRONMENT, NAME = "generator", "environment", "name"
DECODER, VECTORS, SWEEPS, ANSWERS, ASKED, FORM = "decoder", "vectors", "sweeps", "answers", "asked", "form"
INFORMATION = frozenset({GENERATOR, ENVIRONMENT, NAME})
"""Parts whose differences are reported but refute nothing: the certifier, the place and the name."""

_PARTS = (
    (r"\.predicate\.overlong\.generator", GENERATOR),
    (r"\.predicate\.overlong\.(environment|restarts)", ENVIRONMENT),  # a busy machine restarts; a failure is a finding
    (r"\.subject", DECODER),
    (r"\.predicate\.overlong\.target", DECODER),
    (r"\.predicate\.configuration", VECTORS),
    (r"\.predicate\.overlong\.suites\[\d+\]\.(suite|shows|vectors|vectors_digest)\b", VECTORS),
    (r"\.predicate\.overlong\.sweeps", SWEEPS),
    (r"\.predicate\.overlong\.(invocation|command|profile)", ASKED),
    (r"\.predicate\.(result|passedTests|warnedTests|failedTests)", ANSWERS),
    (r"\.predicate\.overlong\.", ANSWERS),
)
_MEANS = {
    GENERATOR: "another version of overlong made it (information)",
    ENVIRONMENT: "another environment (information)",
    NAME: "another name for the decoder here (information)",
    FORM: "no statement that overlong writes",
    ASKED: "something else was tested",
    DECODER: "another decoder: its files, its version or what it says of itself",
    VECTORS: "other vectors: another version of overlong has others",
    SWEEPS: "other answers in a sweep, or another sweep",
    ANSWERS: "other answers: claims, buckets, counts and the digest of findings",
}
"""Kinds of differences in the order of the report; each explains those after it."""


NOTHING: Final = object()
"""Stands for a value that one of the statements lacks."""
MOST = 12
"""The most fields of one kind to list, unless all are requested."""
_SHORT = 76
"""The most characters of a difference in one line."""


@dataclass(frozen=True)
class Difference:
    """A place where two statements differ."""

    path: str
    """The path, as JSONPath (RFC 9535), in the certificate; safe to show."""
    certified: Any
    here: Any
    part: str
    """The part that it belongs to: one of the names above."""

    @property
    def information(self) -> bool:
        """True if it refutes nothing."""
        return self.part in INFORMATION

    @property
    def lines(self) -> tuple[str, ...]:
        """The difference in one line if that is short, otherwise in three."""
        certified, here = _shown(self.certified), _shown(self.here)
        line = f"{self.path}: {certified} in the certificate, {here} here"
        return (line,) if len(line) <= _SHORT else (self.path, f"  was {certified}", f"  now {here}")


def compare(certified: Any, here: Any) -> tuple[Difference, ...]:
    """Every field in which a certificate's statement and the one made here differ."""
    return tuple(_differences(certified, here, "$"))


def lines(differences: Sequence[Difference], *, every: bool = False) -> Iterator[str]:
    """The differences in words, by kind; ``every``: list all differing fields, however many."""
    for part, means in _MEANS.items():
        found = [each for each in differences if each.part == part]
        if found:
            yield f"  {means}"
        shown = found if every else found[:MOST]
        yield from (f"    {line}" for each in shown for line in each.lines)
        if len(shown) < len(found):
            yield f"    and {len(found) - len(shown)} more fields; --verbose lists all"


def _differences(left: Any, right: Any, path: str) -> Iterator[Difference]:
    if isinstance(left, dict) and isinstance(right, dict):
        mine, theirs = cast("dict[str, Any]", left), cast("dict[str, Any]", right)
        for name in dict.fromkeys((*mine, *theirs)):
            yield from _differences(mine.get(name, NOTHING), theirs.get(name, NOTHING), path + _member(name))
    elif _is_list(left) and _is_list(right):
        for place, mine, theirs in _matched(left, right):
            yield from _differences(mine, theirs, f"{path}[{place}]")
    elif not _same(left, right):
        part = next((part for pattern, part in _PARTS if re.match(pattern, path[1:])), FORM)
        yield Difference(path, left, right, part)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _matched(left: list[Any], right: list[Any]) -> Iterator[tuple[int, Any, Any]]:
    """Pairs of entries with the index in the left list, or in the right list if the left has none."""
    names = [_name(each) for each in left], [_name(each) for each in right]
    partner: dict[int, int] = {}
    if None not in (*names[0], *names[1]) and all(len(set(each)) == len(each) for each in names):
        places = {name: place for place, name in enumerate(names[1])}
        partner = {place: places[name] for place, name in enumerate(names[0]) if name in places}
    taken = set(partner.values())
    rest = iter([place for place in range(len(right)) if place not in taken])
    for place, entry in enumerate(left):
        other = partner.get(place)
        other = next(rest, None) if other is None else other
        yield place, entry, NOTHING if other is None else right[other]
    for other in rest:
        yield other, NOTHING, right[other]
    order = [partner[place] for place in sorted(partner)]
    for place, at in zip(sorted(partner), sorted(order), strict=True):
        if partner[place] != at and len(partner) == len(left) == len(right):
            yield place, f"the entry {names[0][place]}", f"the entry {names[1][at]}"


def _name(entry: Any) -> str | None:
    """The name of a record among its kind; None if the entry is no record."""
    if not isinstance(entry, dict):
        return None
    record = cast("dict[str, Any]", entry)
    if "code" in record:
        return f"{record['code']} {record.get('place')}"
    return next((str(record[key]) for key in ("suite", "plan", "name") if key in record), None)


def _same(left: Any, right: Any) -> bool:
    """True if two values are equal in JSON: true is no number, and 1.0 equals 1."""
    return isinstance(left, bool) == isinstance(right, bool) and left == right


def _member(name: str) -> str:
    return f".{name}" if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else f"[{json.dumps(printable(name, 60))}]"


def _shown(value: Any) -> str:
    return "nothing" if value is NOTHING else printable(json.dumps(value, ensure_ascii=False), 72)
