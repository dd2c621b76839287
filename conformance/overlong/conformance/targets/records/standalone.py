"""A record's decoder asked one thing by a program of its own, which knows nothing of overlong.

Who reads of a fault wants to see it without us, and what is published is first confirmed in this way.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.adapters.documents import DOCUMENTS

if TYPE_CHECKING:
    from overlong.conformance.targets.records import Record

_SECONDS = 60.0
_POINT = re.compile(r"U\+([0-9A-F]{4,8})")


@dataclass(frozen=True)
class Shown:
    """What such a program printed."""

    accepted: bool
    values: tuple[int, ...]
    """The numbers of the text that it gave."""
    line: str
    """What it printed, safe to show."""


def standalone(record: Record, octets: bytes) -> str:
    """The text of a program that asks the decoder for these octets, in the document that it takes, and prints."""
    given = DOCUMENTS[record.document](octets) if record.document else octets
    text = record.program("shows").replace("@HEX@", given.hex())
    text = text.replace("@ESCAPED@", "".join(f"\\x{octet:02x}" for octet in given))
    return text.replace("@BYTES@", ", ".join(f"0x{octet:02X}" for octet in given))


def shown(record: Record, octets: bytes) -> Shown:
    """What that program prints when it is run.

    Raises:
        TargetError: it cannot be built, does not end, or prints something else.
    """
    command = record.start(standalone(record, octets))
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise TargetError(f"{record.name}: its program did not end as it should: {printable(str(error))}") from error
    printed = ran.stdout.decode("utf-8", "backslashreplace")
    line = printable(" ".join(printed.split()), 400)
    words = line.split()
    if ran.returncode or ("accepted" in words) == ("refused" in words):
        raise TargetError(f"{record.name}: its program ended with status {ran.returncode} and printed: {line}")
    if "refused" in words:
        return Shown(accepted=False, values=(), line=line)
    words.remove("accepted")
    points = [_POINT.fullmatch(word) for word in words]
    if all(points):
        return Shown(accepted=True, values=tuple(int(point[1], 16) for point in points if point), line=line)
    return Shown(accepted=True, values=UNITS["utf-8"].values(bytes.fromhex("".join(words))), line=line)
