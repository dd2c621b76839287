"""Files that name packages, for clients that take no names on their command lines."""

from __future__ import annotations

import json
from html import escape  # xml.sax's function would load an HTTP client
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Package = tuple[str, str, list[str]]


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
