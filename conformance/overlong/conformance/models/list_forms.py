"""The forms of lists of test strings: text, programs and JSON, and what a list says of each string.

Text has a string per line in hexadecimal, numbered, separated by tabs, or raw. JSON is overlong's vector files, JSON
Lines, and arrays of other projects.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import MOST_VALUES, JsonError, loads
from overlong.conformance.vectors.vector import SCHEMA
from overlong.reference import MaximalSubpart, WellFormed, segments

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


class ReadError(ValueError):
    """A list that cannot be read; the message is one line and names the file, the place and the remedy."""


class ScoreEntry(NamedTuple):
    """One string of a list, and what the list expects of a correct decoder: a part is None if it does not say it."""

    octets: bytes
    place: str
    """For messages: a file and a line, or a file and a path into its JSON."""
    accept: bool | None = None
    scalars: tuple[int, ...] | None = None
    offset: int | None = None
    length: int | None = None
    incomplete: bool | None = None
    replaced: tuple[int, ...] | None = None
    chunks: tuple[int, ...] | None = None

    @property
    def expects(self) -> bool:
        """True if the list expects something of it."""
        said = self.accept, self.scalars, self.offset, self.length, self.incomplete, self.replaced
        return any(each is not None for each in said)


VERDICTS = {
    "accept": True, "valid": True, "ok": True, "true": True, "well-formed": True,
    "reject": False, "invalid": False, "bad": False, "false": False, "ill-formed": False,
}  # fmt: skip
"""Words for verdicts in lists, in lower case."""


def verdict_word(word: str) -> bool | None:
    """The verdict of a word; None if it has no such meaning."""
    return VERDICTS.get(word.strip(" \t:,;\"'").lower())


_LONE_DIGIT = re.compile(r"0[xX]([0-9A-Fa-f])(?![0-9A-Fa-f])")
_MARKS = re.compile(r"\\x|0[xX]|[,:;_|\"'\[\](){}-]+")
_NUMBERED = re.compile(rb"\s*\d+(?:\.\d+)*\s*:")
_COMMENT = re.compile(r"#|//")
_OCTETS_WITH_COLONS = re.compile(rb"\s*(?:[0-9A-Fa-f]{2}:)+[0-9A-Fa-f]{2}\s*$")
_ENDINGS = (
    ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs", ".go", ".java", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".kt",
    ".php", ".pl", ".py", ".rb", ".rs", ".swift", ".zig",
)  # fmt: skip
_ELEMENT = r"(?:\([a-z]+\)\s*)?(?:0[xX][0-9A-Fa-f]{1,2}|[0-9]{1,3})"
_ARRAY = re.compile(rf"[\[{{(]\s*+({_ELEMENT}(?:\s*+,\s*+{_ELEMENT})*+)\s*+(?:,\s*+)?[\]}})]")
_LITERAL = re.compile(r"""\\.|(["'`])((?:\\.|(?!\1)[^\\\n])*+)\1""")
"""A literal, or an escape outside of one. Nothing in these patterns gives back what it took, and an escape is one
token everywhere, so the time is linear: a quote without its partner is looked for once in a line."""
_WITH_X = re.compile(r"(?:[^\\]|\\[^x])*+\\x")
_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3})|([abfnrtv\\'\"`?]))|([^\\])")
_PLAIN = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def octets_of(text: str) -> bytes:
    r"""The octets of ``E0 80 AF``, ``e080af``, ``\xE0\x80\xAF`` or ``0xE0, 0x80, 0xAF``.

    Raises:
        ValueError: the text spells no octet, or half of one.
    """
    try:
        return bytes.fromhex(text)  # the common case, and by far the fastest
    except ValueError:
        return b"".join(map(bytes.fromhex, _MARKS.sub(" ", _LONE_DIGIT.sub(r" 0\1 ", text)).split()))


def is_numbered(line: bytes) -> bool:
    """True if a line begins like ``num:hex``."""
    return bool(_NUMBERED.match(line)) and not _OCTETS_WITH_COLONS.match(line)


def _text(line: bytes, name: str, number: int) -> str:
    try:
        return line.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError(
            f"{name}:{number}: octets that are not text; if each line is itself a string, say --input lines"
        ) from None


def _no_octets(name: str, number: int, text: str) -> ReadError:
    said = f"{name}:{number}: not octets in hexadecimal such as E0 80 AF: {printable(text.strip(), 40)!r}"
    return ReadError(f"{said}; if each line is itself a string, say --input lines")


def hex_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """Read octets in hexadecimal, perhaps with a verdict before or after them; ``#`` or ``//`` begins a comment.

    A line with tabs holds octets, a verdict and anything else: ``--add`` writes such lines.
    """
    for number, line in lines:
        text = _text(line, name, number)
        if "\t" in text and not text.lstrip().startswith("#"):
            yield _tabbed(text, name, number)
            continue
        text = _COMMENT.split(text, 1)[0].strip()
        if not text:
            continue
        octets, verdict = _with_verdict(text, name, number)
        yield ScoreEntry(octets, f"{name}:{number}", verdict)


def _tabbed(text: str, name: str, number: int) -> ScoreEntry:
    fields = text.rstrip("\r\n").split("\t")
    verdict = verdict_word(fields[1])
    if verdict is None and fields[1].strip():
        octets, verdict = _with_verdict(_COMMENT.split(" ".join(fields), 1)[0], name, number)
        return ScoreEntry(octets, f"{name}:{number}", verdict)
    try:
        return ScoreEntry(octets_of(fields[0]), f"{name}:{number}", verdict)
    except ValueError:
        raise _no_octets(name, number, text) from None


def _with_verdict(text: str, name: str, number: int) -> tuple[bytes, bool | None]:
    try:
        return octets_of(text), None
    except ValueError:
        words = text.split()
    verdict: bool | None = None
    for end in (0, -1):
        said = verdict_word(words[end]) if len(words) > 1 else None
        if said is not None:
            verdict = said
            del words[end]
    try:
        return octets_of(" ".join(words)), verdict
    except ValueError:
        raise _no_octets(name, number, text) from None


def numbered_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """Read ``num:hex``, perhaps with a verdict before the octets.

    It also reads the lines of github.com/flenniken/utf8tests: ``num:valid:text``, ``num:valid hex:octets`` and
    ``num:invalid hex:octets:octets when skipping:octets when replacing``.
    """
    for number, line in lines:
        text = _text(line, name, number).strip()
        if not text or text.startswith("#"):
            continue
        head, colon, rest = text.partition(":")
        if not colon or not re.fullmatch(r"\d+(\.\d+)*", head.strip()):
            raise ReadError(f"{name}:{number}: not number:octets such as 7:E0 80 AF: {printable(text, 40)!r}")
        words, parted, after = rest.partition(":")
        kind = words.strip().lower()
        place = f"{name}:{number}"
        if parted and kind == "valid":  # the line holds the text itself
            yield ScoreEntry(after.encode(), place, accept=True)
        elif parted and kind.removesuffix(" hex") in ("valid", "invalid"):
            yield _with_replacement(after, place, name, number, accept=kind.startswith("valid"))
        else:
            octets, verdict = _with_verdict(_COMMENT.split(rest, 1)[0], name, number)
            yield ScoreEntry(octets, place, verdict)


def _with_replacement(text: str, place: str, name: str, number: int, *, accept: bool) -> ScoreEntry:
    fields = text.split(":")
    try:
        octets = octets_of(fields[0])
        replaced = None if len(fields) < 3 else b"" if fields[2].strip() == "nothing" else octets_of(fields[2])
    except ValueError:
        raise _no_octets(name, number, text) from None
    output = None if replaced is None else tuple(segments(replaced))
    if output is not None and any(isinstance(found, MaximalSubpart) for found in output):
        raise ReadError(f"{name}:{number}: the output expected after replacement is itself ill-formed")
    scalars = None if output is None else tuple(found.scalar for found in output if isinstance(found, WellFormed))
    return ScoreEntry(octets, place, accept, replaced=scalars)


def tsv_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """Read overlong's TSV: a line of column names, then a vector per line. Only the column ``hex`` is required."""
    columns: list[str] | None = None
    for number, line in lines:
        fields = _text(line, name, number).rstrip("\r\n").split("\t")
        if columns is None:
            columns = fields
            if "hex" not in columns or len(set(columns)) < len(columns):
                raise ReadError(f"{name}:{number}: the first line must name each column once, and one of them 'hex'")
            continue
        if len(fields) != len(columns):
            raise ReadError(f"{name}:{number}: {len(fields)} fields where the first line names {len(columns)} columns")
        row = dict(zip(columns, fields, strict=True))
        try:
            entry = ScoreEntry(
                bytes.fromhex(row["hex"]),
                f"{name}:{number}",
                accept=verdict_word(row.get("verdict", "")),
                scalars=spelt_scalars(row["scalars"]) if row.get("verdict") == "accept" and "scalars" in row else None,
                offset=_number(row.get("offset", "")),
                length=_number(row.get("length", "")),
                incomplete={"true": True, "false": False}.get(row.get("incomplete", "")),
                replaced=spelt_scalars(row["replacement"]) if "replacement" in row else None,
                chunks=tuple(map(int, row.get("chunks", "").split())) or None,
            )
        except ValueError as error:
            raise ReadError(f"{name}:{number}: a field does not fit its column: {printable(str(error))}") from None
        yield _with_checked_chunks(entry, entry.place)


def _with_checked_chunks(entry: ScoreEntry, place: str) -> ScoreEntry:
    """The entry, if the sum of its chunks' lengths is the number of its octets.

    Raises:
        ReadError: their sum differs.
    """
    chunks, octets = entry.chunks, entry.octets
    if chunks is not None and (min(chunks, default=0) < 0 or sum(chunks) != len(octets)):
        raise ReadError(f"{place}: the lengths of the chunks do not add up to {len(octets)} octets")
    return entry


def _number(text: str) -> int | None:
    if not text:
        return None
    if len(text) > 20:
        raise ValueError(f"a number of {len(text)} digits")
    return int(text)


def spelt_scalars(text: str) -> tuple[int, ...]:
    """The scalar values in a text such as ``0041 FFFD``.

    Raises:
        ValueError: the text has none.
    """
    words = text.split()
    if any(len(word) > 8 for word in words):
        raise ValueError("a scalar value of more than eight digits")
    return tuple(int(word, 16) for word in words)


def raw_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """Read each line's octets, without the line feed, as one string."""
    for number, line in lines:
        yield ScoreEntry(line.removesuffix(b"\n"), f"{name}:{number}")


def is_program(name: str) -> bool:
    """True if the file's name is that of a program."""
    return name.lower().endswith(_ENDINGS)


def source_lines(lines: Iterable[tuple[int, bytes]], name: str) -> Iterator[ScoreEntry]:
    """The arrays and literals of a program: WPT's lists, say, or tests in C, Go, Rust, Java and Python.

    It runs no program, and reads no verdicts. An array may take several lines; messages name its first line.

    Raises:
        ReadError: the program is not text, or overlong exported it, with other arrays beside the octets.
    """
    texts: list[str] = []
    for number, line in lines:
        try:
            texts.append(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise ReadError(f"{name}:{number}: octets that are not text; a program has none such") from None
    if texts and "generated by overlong" in texts[0]:
        raise ReadError(f"{name}: a program that overlong exported; export the vectors as tsv or json, and name that")
    whole = "".join(texts)
    found = chain(
        ((match.start(), _of_array(match[1])) for match in _ARRAY.finditer(whole)),
        ((match.start(), _of_literal(match[2])) for match in _LITERAL.finditer(whole) if _WITH_X.match(match[2] or "")),
    )
    number, seen = 1, 0
    for place, octets in sorted(found, key=lambda each: each[0]):
        number += whole.count("\n", seen, place)
        seen = place
        if octets is not None:
            yield ScoreEntry(octets, f"{name}:{number}")


def _of_array(text: str) -> bytes | None:
    """The octets of an array, if all its numbers are octets; a single number in brackets is an index, not an array."""
    words = [word.rpartition(")")[2].strip() for word in text.split(",")]
    numbers = [int(word, 16) if word[:2] in ("0x", "0X") else int(word) for word in words]
    if max(numbers) > 0xFF or (len(numbers) == 1 and not words[0].lower().startswith("0x")):
        return None
    return bytes(numbers)


def _of_literal(text: str) -> bytes | None:
    r"""The octets of a literal with ``\x`` escapes; None if it has escapes for characters, such as ``\u``."""
    octets = bytearray()
    end = 0
    for match in _ESCAPE.finditer(text):
        if match.start() != end:
            return None
        end = match.end()
        hexadecimal, octal, letter, character = match.groups()
        if hexadecimal or octal:
            octets.append(int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF)
        elif letter:
            octets.append(_PLAIN.get(letter, ord(letter)))
        else:
            octets += character.encode("utf-8", "surrogatepass")
    return bytes(octets) if end == len(text) else None


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
    lengths = test.get("chunks")
    chunks = None if lengths is None else _array(lengths, f"{place}.chunks")
    entry = ScoreEntry(
        octets,
        place,
        accept=None if verdict is None else verdict == "accept",
        scalars=_scalars(strict.get("scalars"), f"{place}.expect.strict.scalars"),
        offset=_of_type(strict.get("offset"), int, f"{place}.expect.strict.offset"),
        length=_of_type(strict.get("length"), int, f"{place}.expect.strict.length"),
        incomplete=_of_type(strict.get("incomplete"), bool, f"{place}.expect.strict.incomplete"),
        replaced=_scalars(replacement.get("scalars"), f"{place}.expect.replacement.scalars"),
        chunks=None if chunks is None else tuple(_of_type(each, int, f"{place}.chunks") or 0 for each in chunks),
    )
    return _with_checked_chunks(entry, f"{place}.chunks")


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
    return ScoreEntry(octets, place, accept)


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
