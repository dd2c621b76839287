"""libFuzzer and AFL: a seed corpus, and a dictionary derived from the automaton."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from overlong.conformance.vectors.builders import (
    out_of_range,
    overlong,
    surrogate,
    surrogate_pair,
    truncated,
    well_formed,
)
from overlong.conformance.vectors.formats.source import escaped, heading, put
from overlong.reference import dialect
from overlong.reference.automaton import access_words
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.selection import Selection
    from overlong.conformance.vectors.sink import Sink


def write(selection: Selection, sink: Sink) -> None:
    """Write a seed for each input, named by its SHA-1 as libFuzzer does; inputs that differ only in chunks are one."""
    with sink.open() as file:
        put(file, *heading(selection, "# "))
        for octets, name in tokens().items():
            put(file, f'{name}="{escaped(octets)}"')
    written = set[bytes]()
    for vector in selection.vectors():
        digest = hashlib.sha1(vector.octets, usedforsecurity=False)
        if digest.digest() not in written:
            written.add(digest.digest())
            with sink.open(f"seeds/{digest.hexdigest()}") as file:
                file.write(vector.octets)


def tokens() -> dict[bytes, str]:
    """The entries of the dictionary: octets, and their first name."""
    result: dict[bytes, str] = {}
    for name, octets in (*_lawful(), *_unlawful()):
        if octets:
            result.setdefault(octets, name)
    return result


def _lawful() -> Iterator[tuple[str, bytes]]:
    """The parts of the grammar and its automaton."""
    automaton = dialect().automaton
    for state, word in enumerate(access_words(automaton)):
        yield f"access_state_{state}", word
    for number, octet_class in enumerate(automaton.classes):
        yield f"class_{number}_least", bytes([octet_class.least])
        yield f"class_{number}_greatest", bytes([octet_class.octets[-1]])
    positions = {position for opened in automaton.open for position in opened}
    for position in sorted(positions, key=lambda each: each.index):
        place = f"{position.form.rule.lower().replace('-', '_')}_{position.index}"
        yield f"{place}_low", bytes([position.octets.low])
        yield f"{place}_high", bytes([position.octets.high])
    for number, ranges in enumerate(well_formed_products(automaton)):
        yield f"row_{number}_first", bytes(octets[0] for octets in ranges)
        yield f"row_{number}_last", bytes(octets[-1] for octets in ranges)
    yield "signature", well_formed(0xFEFF)
    yield "noncharacter", well_formed(0xFFFE)
    yield "replacement_character", well_formed(0xFFFD)


def _unlawful() -> Iterator[tuple[str, bytes]]:
    """Unlawful moves that known decoders accept."""
    for scalar, name in ((0x2F, "slash"), (0, "nul")):
        for length in range(2, 7):
            yield f"overlong_{name}_{length}", overlong(scalar, length)
    for length, scalar in ((2, 0x7F), (3, 0x7FF), (4, 0xFFFF)):
        yield f"overlong_largest_{length}", overlong(scalar, length)
    for code_point in (0xD800, 0xDBFF, 0xDC00, 0xDFFF):
        yield f"surrogate_{code_point:x}", surrogate(code_point)
    for scalar in (0x10000, 0x10FFFF):
        yield f"surrogate_pair_{scalar:x}", surrogate_pair(scalar)
    for number in (0x110000, 0x1FFFFF, 0x200000, 0x3FFFFFF, 0x4000000, 0x7FFFFFFF):
        yield f"out_of_range_{number:x}", out_of_range(number)
    for scalar in (0x20AC, 0x1F600):
        for length in range(1, len(well_formed(scalar))):
            yield f"truncated_{scalar:x}_{length}", truncated(scalar, length)


WRITERS = {"libfuzzer": write}
