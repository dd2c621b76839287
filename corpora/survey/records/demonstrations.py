"""Whole programs that each show one divergence of a decoder that ships with an adapter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from corpora.survey.records import Record, tables
from corpora.survey.records.language import HERE, languages


@dataclass(frozen=True)
class Demonstration:
    """A program that shows a divergence; demonstrations.toml explains each field."""

    record: Record
    """The requirements to build and run it; the record's code is the program."""
    payload: bytes
    chunks: tuple[int, ...] | None = None
    prints: str = ""
    """Its output; empty: the observed answer."""
    memory: str = ""
    """What it does to memory that is not its own, if that is what the program shows."""


@lru_cache(maxsize=1)
def demonstrations() -> dict[str, Demonstration]:
    """All demonstrations, by ``ID-CODE``."""
    spoken, read = languages(), dict[str, Demonstration]()
    for name, keys in tables(HERE / "demonstrations.toml"):
        own = {key: keys.pop(key) for key in ("chunks", "prints", "memory") if key in keys}
        payload, language, program = (keys.pop(key) for key in ("payload", "language", "program"))
        record = Record(name, "", spoken[language], program.lstrip("\n"), **keys)
        read[name] = Demonstration(record, bytes.fromhex(payload), **own)
    return read
