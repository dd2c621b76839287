"""Python: a test for pytest. Of a target ``py:...`` the import is written as it must be."""

from __future__ import annotations

import json
import keyword
import re
from typing import TYPE_CHECKING, NamedTuple

from overlong.fuzz.promotion.literals import commented, listed, octet_lines, source_of, text_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.promotion.case import Case

_COLUMNS = 88


class _Decoder(NamedTuple):
    """How the decoder is reached."""

    standard: list[str]
    """Lines that import modules of Python's own."""
    imports: list[str]
    """Lines that import it."""
    name: str
    is_class: bool


def write(case: Case) -> str:
    """The test, as Black and Ruff format it."""
    decoder = _decoder(case)
    standard, body = list(decoder.standard), list[str]()
    if case.earlier is not None:
        standard.insert(0, "import contextlib")
    if case.is_stream:
        body += _stream(case, decoder)
        call = "answer()"
    else:
        make = f'{decoder.name}("replace")' if case.replaces else f"{decoder.name}()"
        call = f"{make}.decode(OCTETS, final=True)" if decoder.is_class else f"{decoder.name}(OCTETS)"
    pytest = ["import pytest"] if case.scalars is None and not _verdict(case) else []
    groups = [standard, [*pytest, *decoder.imports]]
    imports = [line for group in groups if group for line in (*group, "")]
    test = _repeated(_test(case, call), case.times)
    text = source_of(
        commented(case.comment, "#"),
        "",
        imports,
        _octets("OCTETS", case.octets),
        [] if case.scalars is None or _verdict(case) else _text(case.text),
        _numbers("LENGTHS", case.lengths) if case.is_stream else [],
        [] if case.earlier is None else _octets("EARLIER", b"".join(case.earlier)),
        [] if case.earlier is None else _numbers("EARLIER_LENGTHS", tuple(map(len, case.earlier))),
        ["", ""],
        body,
        f"def test_{case.name}() -> None:",
        test,
    )
    return re.sub(r"\n{4,}", "\n" * 3, text)


def _verdict(case: Case) -> bool:
    return case.validates and case.target.startswith("py:")


def _decoder(case: Case) -> _Decoder:
    """The decoder that the target's name says, or Python's own."""
    place, _, name = case.target.removeprefix("py:").partition("?")[0].rpartition(":")
    parts = name.split(".")
    if case.target.startswith("py:") and all(map(_is_name, parts)):
        of_class = parts[-1][:1].isupper()
        if place.endswith(".py") and place.isprintable():
            path = json.dumps(place)
            line = f'{parts[0]} = runpy.run_path({path})["{parts[0]}"]'
            return _Decoder(["import runpy"], ["", "# ADAPT: where your decoder is.", line], name, of_class)
        if all(map(_is_name, place.split("."))):
            return _Decoder([], [f"from {place} import {parts[0]}"], name, of_class)
    adapt = "# ADAPT: put your decoder in the place of Python's own."
    if case.is_stream:
        line = 'Decoder = codecs.getincrementaldecoder("utf-8")'
        return _Decoder(["import codecs"], ["", adapt, line], "Decoder", is_class=True)
    mode = ', "replace"' if case.replaces else ""
    own = ["", "", "def decode(octets: bytes) -> str:", f"    {adapt}", f'    return octets.decode("utf-8"{mode})', ""]
    return _Decoder([], own, "decode", is_class=False)


def _is_name(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text) is not None and not keyword.iskeyword(text)


def _stream(case: Case, decoder: _Decoder) -> list[str]:
    """Functions that feed the decoder chunk by chunk."""
    make = f'{decoder.name}("replace")' if case.replaces else f"{decoder.name}()"
    lines = [
        "def fed(decoder, octets: bytes, lengths: list[int]) -> str:",
        '    text, place = "", 0',
        "    for number, length in enumerate(lengths, 1):",
        "        chunk = octets[place : place + length]",
        "        text += decoder.decode(chunk, final=number == len(lengths))",
        "        place += length",
        "    return text",
        "",
        "",
        "def answer() -> str:",
        f"    decoder = {make}",
    ]
    if case.earlier is not None:
        lines += [
            "    with contextlib.suppress(ValueError):  # it may end in a refusal",
            "        fed(decoder, EARLIER, EARLIER_LENGTHS)",
            "    decoder.reset()",
        ]
    return [*lines, "    return fed(decoder, OCTETS, LENGTHS)", "", ""]


def _test(case: Case, call: str) -> list[str]:
    if _verdict(case):
        return [f"    assert {call} is {case.scalars is not None}"]
    if case.scalars is not None:
        return [f"    assert {call} == TEXT"]
    if case.offset is None:
        return [
            "    # ADAPT: what your decoder raises; UnicodeDecodeError is a ValueError.",
            "    with pytest.raises(ValueError):",
            f"        {call}",
        ]
    return [
        "    with pytest.raises(UnicodeDecodeError) as refusal:",
        f"        {call}",
        f"    assert refusal.value.start == {case.offset}",
    ]


def _repeated(lines: list[str], times: int) -> list[str]:
    if times == 1:
        return lines
    return [f"    for _ in range({times}):  # it did not always answer alike", *(f"    {line}" for line in lines)]


def _octets(name: str, octets: bytes) -> list[str]:
    return _literal(name, "b", octet_lines(octets))


def _text(text: str) -> list[str]:
    return _literal(
        "TEXT", "", text_lines(text, lambda scalar: f"\\u{scalar:04x}" if scalar < 1 << 16 else f"\\U{scalar:08x}")
    )


def _literal(name: str, prefix: str, lines: list[str]) -> list[str]:
    """Where all of it fits into a line, formatters join the lines."""
    joined = f'{prefix}"{"".join(lines)}"'
    if len(name) + len(" = ") + len(joined) <= _COLUMNS:
        return [f"{name} = {joined}"]
    fits = len(joined) + 4 <= _COLUMNS
    return [f"{name} = (", *([f"    {joined}"] if fits else [f'    {prefix}"{line}"' for line in lines]), ")"]


def _numbers(name: str, numbers: Sequence[int]) -> list[str]:
    line = f"{name} = [{listed(numbers)}]"
    return [line] if len(line) <= _COLUMNS else [f"{name} = [", *(f"    {number}," for number in numbers), "]"]
