"""Decoders in a registry of packages: each version is fetched once, when first needed, and kept.

The lock file beside an adapter's sources pins the packages, including their digests. The registry's own client
fetches them, so the user's configuration decides from where.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.build import Recipe, made
from overlong.conformance.targets.builtin import ADAPTERS, not_on_path

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Project:
    """Packages of one registry, and the adapter of their decoders."""

    folder: str
    """The folder of the sources and the lock file, below the adapters."""
    registry: str
    """The registry's common name."""
    steps: tuple[tuple[str, ...], ...]
    """Commands, run in a copy of the folder: the first one fetches, the others build."""
    install: str
    """The source of the programs that the steps need."""
    probe: str
    """A command that tests the connection to the registry."""
    pin: str
    """A pattern that finds a package's version in the lock file; the package's name replaces ``{}``."""
    lock: str
    """The file that pins the versions."""
    shared: tuple[str, ...] = ()
    """Other adapters' files that its sources use; they are copied beside them."""
    environment: Mapping[str, str] | None = None
    """Further environment variables of its commands."""
    drop: tuple[str, ...] = ()
    """Files of the build that are removed afterwards."""
    sums: str = ""
    """A file of SHA-256 digests for the fetched files, if the client has no lock file of its own."""

    @classmethod
    def of(cls, table: dict[str, Any]) -> Project:
        """Make a project from a TOML table."""
        steps: list[list[str]] = table["steps"]
        fixed: dict[str, Any] = {key: tuple(table.get(key, ())) for key in ("shared", "drop")}
        fixed["steps"] = tuple(map(tuple, steps))
        return cls(**table | fixed)

    def missing(self, *more: str) -> str:
        """Packages to install, including those that run its decoders; empty if none."""
        return not_on_path(tuple(dict.fromkeys((*more, *(step[0] for step in self.steps)))), self.install)

    def version(self, package: str) -> str:
        """The pinned version of a package."""
        text = (ADAPTERS / self.folder / self.lock).read_text(encoding="utf-8")
        match = re.search(self.pin.format(re.escape(package)), text)
        assert match is not None, f"{self.lock} pins {package}"
        return match[1]


def fetched(project: Project) -> Path:
    """The folder of a project in the user's cache folder, with its packages in it.

    Raises:
        TargetError: it cannot be fetched or built; the message has the client's first error and a command to test with.
    """
    try:
        files = {name: path.read_bytes() for name, path in _sources(project).items()}
    except OSError as error:
        raise TargetError(f"{printable(str(error))}: decoders of {project.registry} cannot be read") from error
    steps, environment = project.steps, project.environment or {}
    failure = partial(_failure, project)
    return made(Recipe(project.folder, files, steps, environment, project.drop, failure, project.sums), "packages")


def _sources(project: Project) -> dict[str, Path]:
    folder = ADAPTERS / project.folder
    own = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return own | {name: ADAPTERS / name for name in project.shared}


def _failure(project: Project, why: str) -> str:
    return (
        f"fetching decoders from {project.registry} failed: {printable(why, 200)}; "
        f"'{project.probe}' shows whether it can be reached from here"
    )
