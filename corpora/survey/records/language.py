"""The rules that make programs of records, for each language."""

from __future__ import annotations

import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.build import found, not_on_path

if TYPE_CHECKING:
    from collections.abc import Sequence

HERE = Path(__file__).parent
_PLACE = re.compile(r"\{([A-Za-z][A-Za-z0-9.+-]*)\}")


@dataclass(frozen=True)
class Language:
    """The rules for programs in one language; languages.toml explains each field."""

    language: str
    source: str
    start: list[str]
    units: str
    steps: list[list[str]] = field(default_factory=list[list[str]])
    needs: list[str] = field(default_factory=list[str])
    debian: list[str] = field(default_factory=list[str])
    registry: str = ""
    manifest: str = ""
    loop: str = ""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    drop: list[str] = field(default_factory=list[str])
    ask: list[str] = field(default_factory=list[str])
    by_hand: list[str] = field(default_factory=list[str])
    prefix: str = ""

    @classmethod
    def of(cls, name: str, table: dict[str, Any]) -> Language:
        """Make a language from a TOML table; by default its loop has the language's name."""
        own: dict[str, Any] = {"loop": f"{name}{Path(table['source']).suffix}.in"}
        return cls(**(own | table))

    def missing(self) -> str:
        """The packages to install; empty if none."""
        if sys.platform == "win32":
            return "its adapter needs POSIX"
        return not_on_path(tuple(self.needs), f"{self.language} (Debian: apt install {' '.join(self.debian)})")

    def filled(self, words: Sequence[str], folder: str = "") -> list[str]:
        """The words of a command, with programs replaced by their paths."""
        known = {name: found(name) for name in self.needs if f"{{{name}}}" in "".join(words)}
        known |= {"python": sys.executable, "folder": folder, "pathsep": os.pathsep}
        return [_PLACE.sub(lambda place: known[place[1]], word) for word in words]


def languages() -> dict[str, Language]:
    """The languages, by the names of their files in ``decoders/``."""
    tables = tomllib.loads((HERE / "languages.toml").read_text("utf-8"))
    return {name: Language.of(name, table) for name, table in tables.items()}
