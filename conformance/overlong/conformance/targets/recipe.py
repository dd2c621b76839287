"""Makes folders by commands: packages are fetched and programs built, once for each version, and kept."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.builtin import found
from overlong.reference.core.building import cache, publish, stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_STEP_SECONDS = 900


@dataclass(frozen=True)
class Recipe:
    """The ingredients of a folder with a decoder."""

    name: str
    """The beginning of the folder's name."""
    files: Mapping[str, bytes]
    """Files of the folder: their contents by their paths."""
    steps: tuple[tuple[str, ...], ...]
    """Commands to run in it; the first may fetch."""
    environment: Mapping[str, str]
    """Further environment variables of the commands."""
    drop: tuple[str, ...]
    """Folders that are removed afterwards."""
    failure: Callable[[str], str]
    """Makes the message for a failure from the first error."""
    sums: str = ""
    """A file with the digests of the files that the first step fetches."""


def made(recipe: Recipe, room: str) -> Path:
    """The folder of a recipe, in the user's cache folder; made if it does not exist yet.

    Raises:
        TargetError: a step fails, or the folder cannot be kept.
    """
    import tempfile

    programs = [found(step[0]) for step in recipe.steps]
    key = hashlib.sha256(repr((recipe.steps, sorted(recipe.environment.items()))).encode("utf-8", "surrogateescape"))
    try:
        key.update(repr([stamp(program) for program in programs]).encode("utf-8", "surrogateescape"))
        for name, octets in recipe.files.items():
            key.update(f"{name}\0".encode() + hashlib.sha256(octets).digest())
        finished = cache(room) / f"{recipe.name}-{key.hexdigest()[:16]}"
        if not finished.exists():
            finished.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f"{recipe.name}-", dir=finished.parent) as scratch:
                work = Path(scratch) / "work"
                for name, octets in recipe.files.items():
                    (work / name).parent.mkdir(parents=True, exist_ok=True)
                    (work / name).write_bytes(octets)
                for number, (step, program) in enumerate(zip(recipe.steps, programs, strict=True)):
                    _run(recipe, [program, *step[1:]], work)
                    if number == 0:
                        _check(recipe, work)
                for name in recipe.drop:
                    shutil.rmtree(work / name)
                publish(work, finished)
    except subprocess.TimeoutExpired as error:
        raise TargetError(recipe.failure(f"{recipe.steps[0][0]} took more than {_STEP_SECONDS} s")) from error
    except OSError as error:
        raise TargetError(f"{printable(str(error))}: decoders of {recipe.name} cannot be kept there") from error
    return finished


def _run(recipe: Recipe, command: list[str], work: Path) -> None:
    done = subprocess.run(
        command,
        cwd=work,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=_STEP_SECONDS,
        check=False,
        env={**os.environ, **recipe.environment},
    )
    if done.returncode != 0:
        text = (done.stderr + b"\n" + done.stdout).decode("utf-8", "backslashreplace")  # Maven complains on stdout
        said = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("go: downloading")]
        errors = [line for line in said if re.search("error|fail", line, re.IGNORECASE)] or said
        raise TargetError(recipe.failure(errors[0] if errors else f"status {done.returncode}"))


def _check(recipe: Recipe, work: Path) -> None:
    """Check the fetched files against the pinned digests."""
    if not recipe.sums:
        return
    for line in (work / recipe.sums).read_text(encoding="ascii").splitlines():
        digest, name = line.split()
        if hashlib.sha256((work / name).read_bytes()).hexdigest() != digest:
            raise TargetError(recipe.failure(f"{Path(name).name} is not the file that {recipe.sums} pins"))
