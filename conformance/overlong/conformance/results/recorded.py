"""Files of results, opened with care, and what they have in common: targets, causes, parts.

They may be cut, newer, another program's, or made to do harm.
"""

from __future__ import annotations

import base64
import binascii
import json
import shlex
import zlib
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle import kinds
from overlong.conformance.protocol.kind import KINDS, VERDICT
from overlong.conformance.results.invocation import named, placed
from overlong.conformance.results.model import (
    HOLDS,
    PREDICTS,
    SENTENCE,
    Cause,
    Map,
    ReportPart,
    Standing,
    State,
    failing_claims,
    state_of,
)
from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.support.strict_json import MOST_VALUES, JsonError, loads
from overlong.conformance.vectors.vector import Vector
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
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


_PAIRS = 1 << 16
MOST_MAPS = 16
"""Maps of one target: each takes 64 KiB of memory, and as little as 100 octets of a file."""
MOST_CAUSES = 20_000
"""Causes of one target: the places that the grammar tells apart are some hundreds."""


def target_fields(target: Mapping[str, Any]) -> dict[str, Any]:
    """What a target says of itself, as fields of a ``Subject``."""
    said = ("id", "name", "version", "language", "operations", "error_mode", "traits")
    return {**{name: target[name] for name in said}, "digest": target["digest"]["sha256"]}


def state_recorded(claims: Mapping[str, str], causes: Collection[Cause], *, incomplete: bool = False) -> State:
    """The result of a recorded run, from its claims and causes."""
    return state_of(
        failing_claims(claims, causes),
        held=HOLDS in claims.values(),
        incomplete=incomplete,
        as_expected=bool(causes) and all(cause.standing is Standing.EXPECTED for cause in causes),
    )


def agreeing(place: str, said: object, found: object) -> None:
    """Check that a file says of itself what its other parts say.

    Raises:
        ValueError: it does not: it is damaged, or somebody has changed it.
    """
    if said != found:
        raise ValueError(f"{place}: it is {said}, and by the rest of the file it is {found}")


def cause_of(bucket: Mapping[str, Any], *, command: str = "", folder: Path | None = None) -> Cause:
    """The cause that a bucket of results or of a certificate tells.

    Args:
        bucket: as the schema has it.
        command: that measured; where the bucket does not say how it is reproduced, this does.
        folder: of the results; None if nothing was written.
    """
    again = bucket.get("reproduce", "")
    cause = cause_of_finding(bucket["example"], count=bucket["count"], command="" if again else command, folder=folder)
    return replace(
        cause,
        standing=Standing(bucket.get("standing", Standing.UNEXPECTED)),
        reason=bucket.get("reason", ""),
        link=bucket.get("link", ""),
        reproduce=placed(again, vector_of(cause), folder) if again else cause.reproduce,
        more=(*examined(bucket), *cause.more),
    )


def examined(bucket: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What the examiner found of a bucket; nothing if it was not examined."""
    if "sentence" in bucket:
        yield SENTENCE, bucket["sentence"]
    if "confirmed" in bucket:
        predicted, checked = bucket["confirmed"]
        yield PREDICTS, f"{thousands(predicted)} of {thousands(checked)} fresh inputs"


def cause_of_entry(entry: Mapping[str, Any]) -> Cause:
    """An entry of expected deviations that has gone stale, as a cause; it has no example, since it does not occur."""
    kind = KINDS.get(entry["code"])
    defect = DEFECTS.get(entry["code"])
    return Cause(
        code=entry["code"],
        title=kind.title if kind else f"{defect.title} accepted" if defect else "",
        section=kind.section if kind else defect.section if defect else "",
        place=entry["place"],
        claim=kind.claim if kind else VERDICT if defect else "",
        count=0,
        id=entry["where"],
        vector=entry["vector"],
        octets=b"",
        operation=entry["operation"],
        expected="",
        observed=entry["observed"],
        reason=f"{entry['why']}; it was expected: {entry['reason']}" if entry["reason"] else entry["why"],
        link=entry["link"],
    )


_SAID_ALIKE = ("code", "title", "section", "place", "claim", "id", "vector", "operation", "comment")
"""What a finding's record says as its cause does."""


def cause_of_finding(
    finding: Mapping[str, Any], *, count: int = 1, command: str = "", folder: Path | None = None
) -> Cause:
    """The cause that one divergence shows."""
    octets = bytes.fromhex(finding["hex"])
    chunks, earlier = finding["chunks"], finding.get("earlier")
    cause = Cause(
        **{name: finding[name] for name in _SAID_ALIKE},
        count=count,
        octets=octets,
        expected=finding["expected"]["words"],
        observed=finding["observed"]["words"],
        chunks=None if chunks is None else tuple(chunks),
        earlier=_earlier(finding["vector"]) if earlier is None else tuple(map(bytes.fromhex, earlier)),
    )
    if not command:
        return cause
    vector = vector_of(cause)
    return replace(cause, reproduce=placed(repeated(command, "replay", named(vector)), vector, folder))


def vector_of(cause: Cause) -> Vector:
    """The vector of a cause's example."""
    category = cause.vector.rpartition("/")[0] or "input"
    return Vector(category, cause.octets, chunks=cause.chunks, earlier=cause.earlier)


def _earlier(vector: str) -> tuple[bytes, ...] | None:
    """The first stream, which the id of a vector spells before ``+``."""
    first, plus, _ = vector.rpartition("/")[2].rpartition("+")
    return tuple(map(bytes.fromhex, first.split("."))) if plus else None


def repeated(command: str, verb: str, *words: str) -> str:
    """The command that asks the target of another command; empty if that names none."""
    said = _words(command)
    if len(said) < 3:
        return ""
    target = said[said.index("--") :] if "--" in said else said[-1:]
    profile = said[said.index("--profile") :][:2] if "--profile" in said[: -len(target)] else []
    return shlex.join(["overlong", verb, *profile, *words, *target])


@lru_cache(4)  # all causes of a run have the same
def _words(command: str) -> list[str]:
    """The words of a command; none if it cannot be told."""
    try:
        return shlex.split(command)
    except ValueError:
        return []


def part_of_suite(suite: Mapping[str, Any]) -> ReportPart:
    """A suite's record."""
    return ReportPart(
        name=suite["suite"],
        shows=suite["shows"],
        asked=suite["asked"],
        all=suite["vectors"],
        failing=suite["failing"],
        set_aside=suite["set_aside"],
        operations=suite["operations"],
        digest=suite["vectors_digest"]["sha256"],
    )


_AGREEING = {kinds.KINDS[each] for each in (kinds.NOT_SUPPORTED, kinds.LEFT_OUT)}


def part_of_plan(plan: Mapping[str, Any]) -> ReportPart:
    """A plan's record."""
    return ReportPart(
        name=plan["plan"],
        shows=plan["shows"],
        asked=plan["strings"],
        all=plan["expected"]["strings"],
        failing=sum(count for kind, count in plan["kinds"].items() if kind not in _AGREEING),
        is_sweep=True,
        digest=plan["digest"]["sha256"],
    )


def map_of(name: str, answers: str) -> Map:
    """A map, of the base64 of what zlib made of its answers.

    Raises:
        ValueError: it is none.
    """
    try:
        packed = base64.b64decode(answers, validate=True)
        reader = zlib.decompressobj()
        octets = reader.decompress(packed, _PAIRS + 1)
    except (binascii.Error, zlib.error):
        raise ValueError("no map: its answers are not base64 of zlib") from None
    if len(octets) != _PAIRS or not reader.eof:
        raise ValueError(f"no map: it has not {_PAIRS} answers")
    return Map(name, octets)


def ordered(causes: Iterable[Cause]) -> tuple[Cause, ...]:
    """In the order of a certificate."""
    return tuple(sorted(causes, key=lambda cause: (cause.code, len(cause.octets), cause.octets, cause.place)))
