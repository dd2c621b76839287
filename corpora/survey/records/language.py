"""The rules that make programs of records, for each language; and manifests for clients that need some."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.build import found, not_on_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Package = tuple[str, str, list[str]]


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


# Files that name packages, for clients that take no names on their command lines.


def npm(_packages: Sequence[Package]) -> tuple[str, str]:
    """npm's manifest: it makes this folder a separate project, whatever is above it."""
    return "package.json", '{"name": "decode", "private": true}\n'


def cargo(packages: Sequence[Package]) -> tuple[str, str]:
    """Cargo's manifest; the program is named ``decode``."""
    lines = ["[package]", 'name = "decode"', 'version = "0.0.0"', 'edition = "2021"', "", "[workspace]", ""]
    lines += ["[dependencies]"]
    for name, version, features in packages:
        lines += [f"{name} = {{ version = {json.dumps(f'={version}')}, features = {json.dumps(features)} }}"]
    return "Cargo.toml", "\n".join(lines) + "\n"


def maven(packages: Sequence[Package]) -> tuple[str, str]:
    """Maven's manifest."""
    dependencies = list[str]()
    for name, version, _ in packages:
        group, _, artifact = name.partition(":")
        parts = (("groupId", group), ("artifactId", artifact), ("version", version))
        inner = "".join(f"<{tag}>{escape(of, quote=False)}</{tag}>" for tag, of in parts)
        dependencies += [f"<dependency>{inner}</dependency>"]
    return "pom.xml", (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
        "<groupId>decode</groupId><artifactId>decode</artifactId><version>0</version><packaging>pom</packaging>"
        f"<dependencies>{''.join(dependencies)}</dependencies></project>\n"
    )


MANIFESTS: dict[str, Callable[[Sequence[Package]], tuple[str, str]]] = {"npm": npm, "cargo": cargo, "maven": maven}
"""Manifests by the words of languages.toml."""
