"""Whole programs that show one divergence each of decoders that ship with an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from overlong.conformance.targets.records import Record, tables
from overlong.conformance.targets.records.language import HERE, languages


@dataclass(frozen=True)
class Demonstration:
    """A program that shows a divergence; demonstrations.toml says what each field means."""

    record: Record
    """What is needed to build and run it; its code is the program."""
    payload: bytes
    chunks: tuple[int, ...] | None = None
    prints: str = ""
    """What it prints; empty: what was observed."""


@lru_cache(maxsize=1)
def demonstrations() -> dict[str, Demonstration]:
    """All of them, by ``ID-CODE``."""
    spoken, read = languages(), dict[str, Demonstration]()
    for name, keys in tables(HERE / "demonstrations.toml"):
        own = {key: keys.pop(key) for key in ("chunks", "prints") if key in keys}
        payload, language, program = (keys.pop(key) for key in ("payload", "language", "program"))
        record = Record(name, "", spoken[language], program.lstrip("\n"), **keys)
        read[name] = Demonstration(record, bytes.fromhex(payload), **own)
    return read
