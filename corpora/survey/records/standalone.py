"""Asks a record's decoder one question by a standalone program, independent of overlong; people can build it by hand.

Maintainers want to see a fault without overlong. Each fault is confirmed in this way before it is published.
"""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.documents import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from corpora.survey.records import Record


_SECONDS = 240.0
_POINT = re.compile(r"U\+([0-9A-Fa-f]{1,8})")
_IF = re.compile(r"@IF ([^@]+)@(.*\n)")
"""A line of shows/ that is kept only if the record's code contains this text."""


class EndedBySignal(TargetError):
    """The program crashed; the message is the signal's name."""


@dataclass(frozen=True)
class Shown:
    """The output of such a program."""

    accepted: bool
    values: tuple[int, ...]
    """The numbers of the text that it printed."""
    line: str
    """Its output, safe to show."""


def standalone(record: Record, octets: bytes) -> str:
    """The text of a program that gives the decoder these octets, in its kind of document, and prints the result."""
    given = DOCUMENTS[record.document](octets) if record.document else octets
    wanted = partial(_wanted, record.code)
    text = _IF.sub(wanted, record.program("shows"))
    for place, literal in _literals(given).items():
        text = text.replace(place, literal)
    return text


def _wanted(code: str, line: re.Match[str]) -> str:
    return line[2] if re.search(line[1], code) else ""


def _paired(numbers: list[int]) -> list[int]:
    """Combine UTF-16 code units into characters; keep other numbers."""
    if max(numbers, default=0) > 0xFFFF:
        return numbers
    return list(UNITS["utf-16"].values(b"".join(number.to_bytes(2, "big") for number in numbers)))


def _literals(given: bytes) -> dict[str, str]:
    """The octets as literals of each language, by the placeholder in a program."""
    return {
        "@HEX@": given.hex(),
        "@ESCAPED@": "".join(f"\\x{octet:02x}" for octet in given),
        "@BYTES@": ", ".join(f"0x{octet:02X}" for octet in given),
        "@DECIMALS@": ", ".join(map(str, given)),
        "@DECIMALSPACED@": " ".join(map(str, given)),
        "@CHARACTERS@": ", ".join(f"{place} => Character'Val ({octet})" for place, octet in enumerate(given, 1)),
        "@LAST@": str(len(given) - 1),
        "@SIZE@": str(len(given)),
        "@COMMAS@": " ".join(f"${octet:02X} c," for octet in given),
    }


def printed(record: Record, text: str) -> str:
    """The output of a program with this text, on one line, safe to show.

    Raises:
        EndedBySignal: it was ended by a signal.
        TargetError: it cannot be built, does not end, or ends with a status other than 0.
    """
    command = record.start(text)
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{record.name}: its program did not end as it should: {printable(str(error))}") from error
    line = printable(" ".join(ran.stdout.decode("utf-8", "backslashreplace").split()), 400)
    if ran.returncode < 0:
        raise EndedBySignal(signal.Signals(-ran.returncode).name)
    if ran.returncode:
        raise TargetError(f"{record.name}: its program ended with status {ran.returncode} and printed: {line}")
    return line


def shown(record: Record, octets: bytes) -> Shown:
    """The output of such a program when it runs.

    Raises:
        EndedBySignal: it was ended by a signal.
        TargetError: it cannot be built, does not end, or prints something else.
    """
    line = printed(record, standalone(record, octets))
    words = line.split()
    if ("accepted" in words) == ("refused" in words):
        raise TargetError(f"{record.name}: its program printed: {line}")
    if "refused" in words:
        return Shown(accepted=False, values=(), line=line)
    words.remove("accepted")
    points = [_POINT.fullmatch(word) for word in words]
    if all(points):
        numbers = [int(point[1], 16) for point in points if point]
        return Shown(accepted=True, values=tuple(_paired(numbers)), line=line)
    return Shown(accepted=True, values=UNITS["utf-8"].values(bytes.fromhex("".join(words))), line=line)


# The lines for a shell that build and run the program of a record, for people who have only the program.

_PLACE = re.compile(r"\{(packages|flags)\}")


def by_hand(record: Record) -> Iterator[str]:
    """The lines, for the folder with the program."""
    language = record.language
    libraries = [f"$(pkg-config --cflags --libs {record.pkg_config})"] if record.pkg_config else []
    words = {"packages": " ".join(record.packages), "flags": " ".join((*libraries, *record.links))}
    if record.debian:
        yield f"apt install {' '.join(record.debian)}  # or the like"
    for line in language.by_hand or map(_line, (*language.steps, language.start)):
        if record.packages or "{packages}" not in line:
            yield _PLACE.sub(lambda place: words[place[1]], line).rstrip()


def _line(command: Sequence[str]) -> str:
    """A command of languages.toml as a line."""
    program, *rest = (re.sub(r"^\{folder\}", ".", word) for word in command)
    words = [program, *(word.removeprefix("./") if len(word) > 2 else word for word in rest)]
    return " ".join(word if _PLACE.fullmatch(word) else shlex.quote(re.sub(r"[{}]", "", word)) for word in words)
