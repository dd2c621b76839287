"""Decoders that live in a registry of packages: fetched when first asked for, once for each version, and kept.

What is fetched is pinned, digests included, by the lock file that stands beside an adapter's sources. It is fetched by
the registry's own client, so the user's own configuration says from where.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.build import publish, stamp
from overlong.conformance.targets.builtin import ADAPTERS, found, not_on_path

if TYPE_CHECKING:
    from collections.abc import Mapping

_FETCH_SECONDS = 300


@dataclass(frozen=True)
class Project:
    """Packages of one registry, and the adapter of their decoders."""

    folder: str
    """Where the sources and the lock file stand, below the adapters."""
    registry: str
    """What people call it."""
    steps: tuple[tuple[str, ...], ...]
    """Commands, run in a copy of the folder: the first one fetches, the others build."""
    install: str
    """Where their programs come from."""
    probe: str
    """A command that shows whether the registry can be reached."""
    pin: str
    """A pattern that finds a package's version in the lock file; ``{}`` stands for the package's name."""
    lock: str
    """The file that pins the versions."""
    shared: tuple[str, ...] = ()
    """Other adapters' files that its own sources use; they are put beside them."""
    environment: Mapping[str, str] | None = None
    """More for the environment of its commands."""
    drop: tuple[str, ...] = ()
    """What building leaves behind and nobody needs."""
    sums: str = ""
    """A file of SHA-256 digests that what was fetched is held against, where the client has no lock file of its own."""

    @classmethod
    def of(cls, table: dict[str, Any]) -> Project:
        """From a table of TOML."""
        steps: list[list[str]] = table["steps"]
        fixed: dict[str, Any] = {key: tuple(table.get(key, ())) for key in ("shared", "drop")}
        fixed["steps"] = tuple(map(tuple, steps))
        return cls(**table | fixed)

    def missing(self, *more: str) -> str:
        """What to install, also of the programs that run its decoders; empty if nothing."""
        return not_on_path(tuple(dict.fromkeys((*more, *(step[0] for step in self.steps)))), self.install)

    def version(self, package: str) -> str:
        """The version of a package that is pinned."""
        text = (ADAPTERS / self.folder / self.lock).read_text(encoding="utf-8")
        match = re.search(self.pin.format(re.escape(package)), text)
        assert match is not None, f"{self.lock} pins {package}"
        return match[1]


def fetched(project: Project) -> Path:
    """The folder of a project in the user's cache folder, with its packages in it.

    Raises:
        TargetError: it cannot be fetched or built; the message has the client's first error and how to look further.
    """
    import tempfile

    from platformdirs import user_cache_path

    programs = [found(step[0]) for step in project.steps]
    try:
        sources = _sources(project)
        key = hashlib.sha256(repr((project.steps, [stamp(program) for program in programs])).encode())
        for name, path in sources.items():
            key.update(f"{name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
        cache = user_cache_path("overlong") / "packages"
        finished = cache / f"{project.folder}-{key.hexdigest()[:16]}"
        if not finished.exists():
            cache.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f"{project.folder}-", dir=cache) as scratch:
                work = Path(scratch) / "work"
                for name, path in sources.items():
                    (work / name).parent.mkdir(parents=True, exist_ok=True)
                    (work / name).write_bytes(path.read_bytes())
                for number, (step, program) in enumerate(zip(project.steps, programs, strict=True)):
                    _run(project, [program, *step[1:]], work)
                    if number == 0:
                        _check(project, work)
                for name in project.drop:
                    shutil.rmtree(work / name)
                publish(work, finished)
    except subprocess.TimeoutExpired as error:
        raise TargetError(_failure(project, f"{project.steps[0][0]} took more than {_FETCH_SECONDS} s")) from error
    except OSError as error:
        raise TargetError(f"{printable(str(error))}: decoders of {project.registry} cannot be kept there") from error
    return finished


def _sources(project: Project) -> dict[str, Path]:
    folder = ADAPTERS / project.folder
    own = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    return own | {name: ADAPTERS / name for name in project.shared}


def _run(project: Project, command: list[str], work: Path) -> None:
    done = subprocess.run(
        command,
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_FETCH_SECONDS,
        check=False,
        env={**os.environ, **(project.environment or {})},
    )
    if done.returncode != 0:
        text = (done.stderr + b"\n" + done.stdout).decode("utf-8", "backslashreplace")  # Maven complains on stdout
        said = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("go: downloading")]
        errors = [line for line in said if re.search("error|fail", line, re.IGNORECASE)] or said
        raise TargetError(_failure(project, errors[0] if errors else f"status {done.returncode}"))


def _check(project: Project, work: Path) -> None:
    """Hold what was fetched against the digests that are pinned."""
    if not project.sums:
        return
    for line in (work / project.sums).read_text(encoding="ascii").splitlines():
        digest, name = line.split()
        if hashlib.sha256((work / name).read_bytes()).hexdigest() != digest:
            raise TargetError(_failure(project, f"{Path(name).name} is not the file that {project.sums} pins"))


def _failure(project: Project, why: str) -> str:
    return (
        f"fetching decoders from {project.registry} failed: {printable(why, 200)}; "
        f"'{project.probe}' shows whether it can be reached from here"
    )
