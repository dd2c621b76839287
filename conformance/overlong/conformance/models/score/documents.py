"""Lists in JSON: overlong's vector files, JSON Lines, and arrays of other projects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.models.score.expectations import (
    NOTHING_SAID,
    Expectation,
    ReadError,
    ScoreEntry,
    verdict_word,
)
from overlong.conformance.models.score.texts import checked_chunks, octets_of, spelt_scalars
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import MOST_VALUES, JsonError, loads
from overlong.conformance.vectors.vector import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_OCTETS = ("hex", "octets", "bytes", "input", "data", "string")
_VERDICT = ("verdict", "valid", "ok", "well_formed", "expected", "expect")


def document(octets: bytes, name: str) -> Iterator[ScoreEntry]:
    """Read overlong's JSON, or an array of strings: arrays of octets, hexadecimal texts, or objects with one of these.

    Raises:
        ReadError: the text is not JSON, is ambiguous JSON, or holds no list.
    """
    data = _parsed(octets, name, 1)
    if isinstance(data, dict):
        members = cast("dict[str, Any]", data)
        if "groups" in members:
            yield from _groups(members, name)
            return
        data = members.get("tests")
    if not isinstance(data, list):
        raise ReadError(f'{name}: no list of strings: neither an array nor an object with "groups" or "tests"')
    for number, item in enumerate(cast("Sequence[Any]", data)):
        yield _item(item, f"{name}: [{number}]")


def json_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """Read overlong's JSON Lines: a header, a test per line, a footer. A file without its footer is truncated.

    Raises:
        ReadError: a line is no test, or the footer is missing.
    """
    number, vectors, complete = 0, 0, False
    for number, line in lines:
        if complete:
            raise ReadError(f"{name}:{number}: text after the footer")
        test = _object(_parsed(line, name, number), f"{name}:{number}")
        if test.get("record") == "header":
            _check_schema(test, f"{name}:{number}")
        elif test.get("record") == "footer":
            complete = True
            if test.get("vectors", vectors) != vectors:
                raise ReadError(f"{name}:{number}: the footer does not count the {vectors} vectors that are here")
        else:
            vectors += 1
            yield _test(test, f"{name}:{number}")
    if not complete:
        raise ReadError(f"{name}:{number}: the file was cut: its last line is no footer")


def _parsed(octets: bytes, name: str, line: int) -> Any:
    try:
        return loads(octets, name, line=line, most=MOST_VALUES)
    except JsonError as error:
        raise ReadError(str(error)) from None


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ReadError(f"{place}: not an object")
    return cast("dict[str, Any]", value)


def _array(value: Any, place: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ReadError(f"{place}: not an array")
    return cast("Sequence[Any]", value)


def _check_schema(data: dict[str, Any], place: str) -> None:
    schema = data.get("schema")
    if schema != SCHEMA:
        raise ReadError(f"{place}: schema {printable(str(schema), 40)!r}; this version reads {SCHEMA!r}")


def _groups(data: dict[str, Any], name: str) -> Iterator[ScoreEntry]:
    _check_schema(data, name)
    for group, members in enumerate(_array(data["groups"], f"{name}: groups")):
        place = f"{name}: groups[{group}]"
        tests = _array(_object(members, place).get("tests"), f"{place}.tests")
        for number, test in enumerate(tests):
            where = f"{place}.tests[{number}]"
            yield _test(_object(test, where), where)


def _test(test: dict[str, Any], place: str) -> ScoreEntry:
    """A test in the form of overlong's vector files."""
    if not isinstance(test.get("hex"), str):
        raise ReadError(f'{place}: no "hex"')
    try:
        octets = bytes.fromhex(test["hex"])
    except ValueError:
        raise ReadError(f'{place}: "hex" is not hexadecimal: {printable(test["hex"], 40)!r}') from None
    expect = _object(test.get("expect", {}), f"{place}.expect")
    strict = _object(expect.get("strict", {}), f"{place}.expect.strict")
    replacement = _object(expect.get("replacement", {}), f"{place}.expect.replacement")
    verdict = _of_type(strict.get("verdict"), str, f"{place}.expect.strict.verdict")
    if verdict not in (None, "accept", "reject"):
        raise ReadError(f"{place}.expect.strict.verdict: {printable(verdict, 40)!r} is neither accept nor reject")
    expected = Expectation(
        accept=None if verdict is None else verdict == "accept",
        scalars=_scalars(strict.get("scalars"), f"{place}.expect.strict.scalars"),
        offset=_of_type(strict.get("offset"), int, f"{place}.expect.strict.offset"),
        length=_of_type(strict.get("length"), int, f"{place}.expect.strict.length"),
        incomplete=_of_type(strict.get("incomplete"), bool, f"{place}.expect.strict.incomplete"),
        replaced=_scalars(replacement.get("scalars"), f"{place}.expect.replacement.scalars"),
    )
    chunks = test.get("chunks")
    if chunks is None:
        return ScoreEntry(octets, place, expected)
    lengths = tuple(_of_type(each, int, f"{place}.chunks") or 0 for each in _array(chunks, f"{place}.chunks"))
    return ScoreEntry(octets, place, expected, checked_chunks(lengths, octets, f"{place}.chunks"))


def _of_type(value: Any, kind: type[Any], place: str) -> Any:
    """``value``, or None if it is missing. True is no number here."""
    if value is not None and type(value) is not kind:
        raise ReadError(f"{place}: {printable(str(value), 40)!r} is no {kind.__name__}")
    return value


def _scalars(value: Any, place: str) -> tuple[int, ...] | None:
    text = _of_type(value, str, place)
    if text is None:
        return None
    try:
        return spelt_scalars(text)
    except ValueError:
        raise ReadError(f"{place}: not scalar values in hexadecimal: {printable(text, 40)!r}") from None


def _item(item: Any, place: str) -> ScoreEntry:
    """An item of a list in another form."""
    if not isinstance(item, dict):
        return ScoreEntry(_octets(item, place), place)
    members = cast("dict[str, Any]", item)
    key = next((key for key in _OCTETS if key in members), None)
    if key is None:
        raise ReadError(f"{place}: no octets in it: none of {', '.join(_OCTETS)}")
    octets = _octets(members[key], f"{place}.{key}")
    said = next((key for key in _VERDICT if key in members), None)
    if said is None:
        return ScoreEntry(octets, place)
    value: Any = members[said]
    accept = value if isinstance(value, bool) else verdict_word(value) if isinstance(value, str) else None
    return ScoreEntry(octets, place, NOTHING_SAID if accept is None else Expectation(accept))


def _octets(value: Any, place: str) -> bytes:
    if isinstance(value, str):
        try:
            return octets_of(value)
        except ValueError:
            raise ReadError(f"{place}: not octets in hexadecimal: {printable(value, 40)!r}") from None
    numbers = _array(value, place)
    if not all(type(number) is int and 0 <= number <= 0xFF for number in numbers):
        raise ReadError(f"{place}: not an array of octets (numbers from 0 to 255)")
    return bytes(numbers)
