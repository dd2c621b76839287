"""Records of all files of results as plain data: made of what was measured, and read back with care.

A target, a finding, a bucket, a suite, a plan and an expected deviation are written here, and what a report says of
them is read here. Files may be cut, newer, another program's, or made to do harm.
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

from overlong.conformance.oracle.target import KINDS as RESULTS
from overlong.conformance.oracle.target import LEFT_OUT, NOT_SUPPORTED
from overlong.conformance.protocol.observation import KINDS, VERDICT
from overlong.conformance.results.invocation import named, placed, reproduced
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
from overlong.conformance.support.printable import as_text, printable, thousands
from overlong.conformance.support.provenance import portable
from overlong.conformance.support.strict_json import MOST_VALUES, JsonError, loads
from overlong.conformance.vectors.vector import Vector
from overlong.reference import DEFECTS, Decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from overlong.conformance.oracle.finding import Bucket, Finding, Why
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.expected_file import Deviation
    from overlong.conformance.results.run import Run, SuiteRun
    from overlong.conformance.results.sweeps import PlanRun


def spelt(value: Any, *, indent: int | None = None) -> str:
    """``value`` as JSON that all parsers read alike.

    Words of a command line may hold lone surrogates, which stand for octets that are not UTF-8 and have no meaning in
    JSON. They become text: a backslash, ``u`` and four digits.
    """
    text = json.dumps(value, indent=indent)
    return text if "\\ud" not in text else json.dumps(_whole(value), indent=indent)


def _whole(value: Any) -> Any:
    """``value`` without lone surrogates."""
    match value:
        case str():
            return as_text(value)
        case dict():
            return {_whole(name): _whole(each) for name, each in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case list() | tuple():
            return [_whole(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def packed(answers: bytes) -> str:
    """The answers of a map: compressed by zlib, in base64."""
    return base64.b64encode(zlib.compress(answers, 9)).decode("ascii")


def target_as_json(target: str, greeting: Greeting, digest: str) -> dict[str, Any]:
    return {
        "id": target,
        "name": greeting.name,
        "version": greeting.version,
        "language": greeting.language,
        "operations": greeting.operations,
        "units": greeting.units.name,
        "error_mode": greeting.error_mode,
        "traits": greeting.traits,
        "digest": {"sha256": digest},
    }


def finding_as_json(finding: Finding) -> dict[str, Any]:
    expected: dict[str, Any]
    if isinstance(finding.expected, Decoded):
        expected = {"verdict": "accept", "scalars": list(finding.expected.scalars)}
    else:
        expected = {"verdict": "reject", **finding.expected._asdict()}
    return {
        "id": finding.id,
        "vector": finding.vector.id,
        "hex": finding.vector.octets.hex(),
        "chunks": None if finding.vector.chunks is None else list(finding.vector.chunks),
        "earlier": None if finding.vector.earlier is None else [each.hex() for each in finding.vector.earlier],
        "comment": finding.vector.comment,
        "operation": finding.operation,
        "claim": finding.claim,
        "code": finding.code,
        "title": finding.title,
        "section": finding.section,
        "place": finding.place,
        "expected": {**expected, "words": finding.expected_words},
        "observed": {
            "kind": type(finding.observed).__name__.lower(),
            **{name: getattr(finding.observed, name) for name in finding.observed.__slots__},
            "words": finding.observed_words,
        },
    }


def bucket_as_json(bucket: Bucket, target: str | Sequence[str]) -> dict[str, Any]:
    """A bucket, with the command that shows its example again; ``target`` is the name on the command line."""
    example = bucket.example
    return {
        "code": example.code,
        "place": example.place,
        "claim": example.claim,
        "title": example.title,
        "section": example.section,
        "count": bucket.count,
        **why_as_json(bucket.why),
        "reproduce": reproduced(example, target),
        "example": finding_as_json(example),
    }


def why_as_json(why: Why | None) -> dict[str, Any]:
    """What the examiner found of a cause; nothing if it was not examined."""
    if why is None:
        return {}
    return {
        "sentence": why.sentence,
        "condition": {"id": why.id, **why.condition},
        "confirmed": list(why.confirmed),
    }


def suite_as_json(suite: SuiteRun) -> dict[str, Any]:
    return {
        "suite": suite.suite.name,
        "shows": suite.suite.shows,
        "operations": suite.operations,
        "vectors": suite.suite.size,
        "asked": suite.done,
        "set_aside": suite.aside,
        "failing": len(suite.failing),
        "unsupported": dict(sorted(suite.unsupported.items())),
        **({"without_text": suite.without_text} if suite.without_text else {}),
        **({"longest": suite.longest} if suite.longest else {}),
        "vectors_digest": {"sha256": suite.vectors_digest},
    }


def plan_as_json(part: PlanRun) -> dict[str, Any]:
    return {
        "plan": part.plan,
        "shows": part.shows,
        **part.seen._asdict(),
        "expected": part.expected._asdict(),
        "accepted": part.accepted,
        "kinds": {RESULTS[kind]: count for kind, count in sorted(part.kinds.items())},
        "digest": {"sha256": part.digest},
    }


def standing_as_json(bucket: Bucket, expected: Expectations | None) -> dict[str, Any]:
    """Whether a bucket is expected, as data; empty if no expectations apply."""
    if expected is None or not expected.all:
        return {}
    deviation = expected.of_bucket(bucket)
    if deviation is None:
        return {"standing": "unexpected", "reason": "", "link": ""}
    return {"standing": "expected", "reason": deviation.reason, "link": deviation.link}


def _deviation_as_json(deviation: Deviation) -> dict[str, Any]:
    return {
        "where": deviation.where.rpartition("/")[2] if deviation.where.startswith("/") else deviation.where,
        "target": portable(deviation.target),
        "vector": deviation.id,
        "code": deviation.code,
        "place": deviation.place or "",
        "operation": deviation.operation,
        "observed": deviation.observed,
        "reason": deviation.reason,
        "link": deviation.link,
        "expires": None if deviation.expires is None else deviation.expires.isoformat(),
    }


def stale_as_json(deviation: Deviation, why: str) -> dict[str, Any]:
    """An entry that no longer holds, and the reason."""
    return {**_deviation_as_json(deviation), "why": why}


def expected_as_json(expected: Expectations | None) -> dict[str, Any]:
    """The data of a certificate: the entries that cover a divergence, and the stale ones."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    return {
        "expected": [
            {**_deviation_as_json(each), "divergences": expected.tally(each).total} for each in expected.occurring
        ],
        "stale": [stale_as_json(each, why) for each, why in expected.stale.items()],
    }


def counts_as_json(expected: Expectations | None, run: Run) -> dict[str, Any]:
    """The numbers of expected buckets, expected divergences, and stale entries of a run."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    buckets = [bucket for bucket in run.buckets.values() if expected.of_bucket(bucket) is not None]
    counts = {
        "buckets": len(buckets),
        "divergences": sum(bucket.count for bucket in buckets),
        "stale": len(expected.stale),
    }
    return {"expected": counts}


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


_AGREEING = {RESULTS[each] for each in (NOT_SUPPORTED, LEFT_OUT)}


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
