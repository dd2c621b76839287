"""What is known of decoders beside their records: what is documented, and what maintainers were told before."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from corpora.survey.records import records, tables
from corpora.survey.records.language import HERE


@dataclass(frozen=True)
class Known:
    """What is known of a decoder; known.toml explains each field."""

    documented: str = ""
    upstream: str = ""
    note: str = ""
    fix: str = ""


@lru_cache(maxsize=1)
def _known() -> dict[str, Known]:
    return {name: Known(**keys) for name, keys in tables(HERE / "known.toml")}


def known(name: str) -> Known:
    """What is known of a decoder."""
    return _known().get(name, Known())


def documented(name: str) -> str:
    """The documented departure of a decoder from RFC 3629, and the source; empty if its documentation names none."""
    record = records().get(name)
    return record.intent if record is not None else known(name).documented
