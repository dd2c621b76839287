"""The numbers and letters of the target protocol, from the code that speaks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol import wire as protocol
from overlong.conformance.protocol.greeting import TRAITS, WORDS
from overlong.conformance.protocol.observation import CLAIMS, KINDS
from overlong.conformance.protocol.wire import UNITS
from overlong.conformance.support.printable import spaced_hex, thousands
from overlong.reference import DEFECTS, ERROR_MODES
from printing.markdown import NOTICE, code, plain, table

if TYPE_CHECKING:
    from collections.abc import Iterator

STATUSES = {
    protocol.ACCEPTED: "accepted",
    protocol.REFUSED: "refused",
    protocol.UNSUPPORTED: "not offered",
    protocol.FAILED: "the decoder failed, and that was no refusal",
}


def _codes(claim: str) -> list[str]:
    """The codes that refute a claim; every accepted defect refutes the verdict, too."""
    accepted = list(DEFECTS) if claim == KINDS["OV101"].claim else []
    return accepted + [each.code for each in KINDS.values() if each.claim == claim]


def page() -> Iterator[str]:
    """The page."""
    yield from (NOTICE, "", "# The protocol's letters and numbers", "")
    yield "For authors of adapters. [protocol](protocol.md) explains them, with every frame in octets."
    yield from ("", "## Operations", "")
    kinds = (
        ("whole input", protocol.VALIDATE + protocol.DECODE + protocol.REPLACE),
        ("stream", protocol.STREAMING),
        ("decoder used before", protocol.AGAIN),
        ("encoder", protocol.ENCODING),
        ("list of values", protocol.SEPARATE),
    )
    names = {letter: kind for kind, letters in kinds for letter in letters}
    yield from table(
        ("letter", "operation", "about"),
        ((code(letter), what, names.get(letter, "")) for letter, what in protocol.OPERATIONS.items()),
    )
    yield from ("", "## Statuses", "")
    yield from table(
        ("letter", "octet", "meaning"),
        ((code(status.decode()), code(spaced_hex(status)), meaning) for status, meaning in STATUSES.items()),
    )
    yield from ("", "## Numbers", "")
    yield from table(
        ("what", "value"),
        (
            ("version, the greeting's member `overlong`", str(protocol.VERSION)),
            ("octets before a body: length and id, u32 each, big-endian", str(protocol.HEAD.size)),
            ("the largest frame, octets", thousands(protocol.LARGEST_FRAME)),
            ("the longest greeting, octets", thousands(protocol.LARGEST_GREETING)),
            ("offset: not said", code(f"{protocol.NOT_SAID:08X}")),
            ("incomplete: not said", code(f"{protocol.INCOMPLETE_NOT_SAID:02X}")),
            ("what is sent to be echoed first", code(spaced_hex(protocol.ECHO_PROBE))),
        ),
    )
    yield from ("", "## Words of the greeting", "")
    yield from table(
        ("member", "words"),
        (
            ("`units`", ", ".join(map(code, UNITS))),
            ("`error_mode`", ", ".join(code(name) for name, mode in ERROR_MODES.items() if mode.stands_for)),
            *((code(member), ", ".join(map(code, words))) for member, words in (WORDS | TRAITS).items()),
        ),
    )
    yield from ("", "## What an answer can be wrong about", "")
    yield "Each code refutes one claim; [codes](codes.md) has a paragraph on each."
    yield ""
    yield from table(
        ("claim", "means", "codes"),
        ((claim, plain(meaning), ", ".join(_codes(claim))) for claim, meaning in CLAIMS.items()),
    )
