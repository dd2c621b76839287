"""JSON with one meaning only: this reader refuses ambiguous JSON, and names the place.

RFC 8259 leaves open what duplicate names, lone surrogates and enormous numbers mean. Parsers differ, and hostile
files exploit that. Here they are errors, as are NaN and Infinity, which are not JSON.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from typing import Any, NoReturn

from overlong.conformance.support.printable import printable

LONGEST_NUMBER = 20
"""The most digits of a number; overlong needs no larger ones."""

DEEPEST = 64
"""The deepest nesting of brackets."""

MOST_VALUES = 1 << 21
"""The most values in a document: a value takes 50 times as much memory as ``[],`` takes in a file."""


class JsonError(ValueError):
    """Text that is not JSON, or is ambiguous; the message names the file, the line and the reason."""

    def __init__(self, message: str, doubt: str = "") -> None:
        super().__init__(message)
        self.doubt = doubt
        """The ambiguous or meaningless part; empty if the text is no JSON at all."""


def loads(octets: bytes, name: str, *, line: int = 1, most: int | None = None) -> Any:
    """The value that ``octets`` spell.

    Args:
        octets: UTF-8.
        name: the name of the file, for messages.
        line: the number of the first line, if the text is a line of a larger file.
        most: the most values, counted before memory is allocated; a comma in a string counts, too.

    Raises:
        JsonError: the octets spell no value, or an ambiguous one.
    """
    if most is not None and sum(map(octets.count, (b",", b"[", b"{"))) > most:
        _refuse(name, line, f"more than {most} values")
    try:
        text = octets.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(name, line + octets.count(b"\n", 0, error.start), f"not UTF-8 at octet {error.start}")
    place = _too_deep(text)
    if place is not None:
        _refuse(name, _line(text, place, line), f"more than {DEEPEST} brackets within brackets")
    try:
        value = json.loads(
            text, object_pairs_hook=_pairs, parse_int=_integer, parse_float=_number, parse_constant=_constant
        )
    except json.JSONDecodeError as error:
        _refuse(name, line + error.lineno - 1, f"column {error.colno}: {error.msg}")
    except JsonError as error:
        _refuse(name, _line(text, _place_of(text), line), error.doubt, doubtful=True)
    if surrogate := re.search(r"\\u[dD][89a-fA-F]", text):  # a pair is allowed, half of a pair is not
        _check_strings(value, name, _line(text, surrogate.start(), line))
    return value


def _doubtful(part: str) -> JsonError:
    """The error of a part with more than one meaning, or with none; its place is added later."""
    return JsonError(part, part)


def _refuse(name: str, line: int, why: str, *, doubtful: bool = False) -> NoReturn:
    raise JsonError(f"{printable(name)}:{line}: {why}", why if doubtful else "") from None


def _line(text: str, place: int, first: int) -> int:
    return first + text.count("\n", 0, place)


def _too_deep(text: str) -> int | None:
    """The place where brackets nest too deep, if there is one; strings are skipped."""
    depth = 0
    if text.count("[") + text.count("{") <= DEEPEST:
        return None
    for found in re.finditer(r'"(?:[^"\\]|\\.)*"|[][{}]', text, re.DOTALL):
        if found[0] in "[{":
            depth += 1
            if depth > DEEPEST:
                return found.start()
        elif found[0] in "]}":
            depth -= 1
    return None


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise _doubtful(f'the member "{printable(twice, 40)}" occurs twice in one object')
    return result


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise _doubtful(f"a number of {len(digits)} digits")
    return int(digits)


def _number(digits: str) -> float:
    if len(digits) > 2 * LONGEST_NUMBER:
        raise _doubtful(f"a number of {len(digits)} digits")
    value = float(digits)
    if math.isinf(value):
        raise _doubtful(f"{digits} is too large for a number")
    return value


def _constant(word: str) -> NoReturn:
    raise _doubtful(f"{word} is no JSON")


_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"(\s*:)?|[][{}]|-?Infinity|NaN|-?[0-9][-+.0-9eE]*', re.DOTALL)


def _place_of(text: str) -> int:
    """The place of the ambiguous part; the search runs only if there is one."""
    names: list[set[str]] = []
    for found in _TOKEN.finditer(text):
        word = found[0]
        if word in "[{":
            names.append(set())
        elif word in "]}":
            names.pop()
        elif found[2] is not None:
            name = json.loads(f'"{found[1]}"')
            if name in names[-1]:
                return found.start()
            names[-1].add(name)
        elif found[1] is None and (word[-1] in "Ny" or _doubtful_number(word)):
            return found.start()
    return 0


def _doubtful_number(digits: str) -> bool:
    try:
        _number(digits) if set(digits) & set(".eE") else _integer(digits)
    except JsonError:
        return True
    return False


def _check_strings(value: Any, name: str, line: int) -> None:
    """Refuse lone surrogates in all strings, names and values alike."""
    if isinstance(value, str):
        if re.search(r"[\ud800-\udfff]", value):
            _refuse(name, line, "a string with a lone surrogate", doubtful=True)
    elif isinstance(value, list):
        for each in value:  # pyright: ignore[reportUnknownVariableType]
            _check_strings(each, name, line)
    elif isinstance(value, dict):
        for key, each in value.items():  # pyright: ignore[reportUnknownVariableType]
            _check_strings(key, name, line)
            _check_strings(each, name, line)
