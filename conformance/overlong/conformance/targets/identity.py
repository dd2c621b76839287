"""The files that identify a target: taken before it starts, since it may replace its own, and held to until the end."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable_file, sha256_of
from overlong.conformance.targets.builtin import ADAPTERS, python_words
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.functions import library_in
from overlong.conformance.targets.loaded_files import files_beside, files_of_package, linked_with
from overlong.conformance.targets.recorded import RecordedTarget

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Identity:
    """The identity of a target: its files with their digests, and one digest of them and of the whole command.

    For a decoder elsewhere (in an interpreter, in a library), the version in its greeting identifies it.
    """

    digest: str
    files: tuple[tuple[str, str], ...]
    """The names of the files, and their digests."""
    of_a_command: bool = False
    """The files are those of a program's command line, and no one has named those that it loads."""


def identity_of(target: FramedTarget | RecordedTarget) -> Identity:
    """The identity of a target: of its command line, of the files that its decoder loads, and of its ``subjects``.

    Raises:
        OSError: a file of its command line cannot be read.
        UnknownTarget: one of its ``subjects`` cannot be read.
        TargetError: a preparation fails.
    """
    whole, files = hashlib.sha256(), list[tuple[str, str]]()
    if isinstance(target, FramedTarget):
        target.prepare()

    def add(path: Path, name: str) -> None:
        digest = sha256_of(path)
        whole.update(bytes.fromhex(digest))
        if (name, digest) not in files:
            files.append((name, digest))

    for word in target.command:
        if os.path.isfile(word):  # noqa: PTH113 (a word too long for a name is no file, and no error)
            own = word == sys.executable  # python, python3 or python3.11
            add(Path(word), Path(word).resolve().name if own else Path(word).name)
        else:
            whole.update(word.encode("utf-8", "surrogateescape") + b"\0")
    if isinstance(target, RecordedTarget):
        return Identity(whole.hexdigest(), tuple(files))
    for name, path in _loaded(target):
        add(path, name)
    for path in target.subjects:
        try:
            if not path.is_file():  # a pipe without a writer would block
                raise UnknownTarget(_no_subject(path, "no file"))
            add(path, portable_file(path))
        except OSError as error:
            raise UnknownTarget(_no_subject(path, error.strerror or str(error))) from error
    return Identity(whole.hexdigest(), tuple(files), target.is_command and not target.subjects)


def _no_subject(path: Path, why: str) -> str:
    return f"{printable(str(path))}: {why}; --subject and subjects name files of the decoder: check the path"


def _loaded(target: FramedTarget) -> Iterator[tuple[str, Path]]:
    """The names and paths of the files that its command line does not name and its decoder loads."""
    if words := python_words(target.command):
        place = words[0]
        if not place.endswith(".py"):
            yield from files_of_package(place).items()
        elif os.path.isfile(place) and not Path(place).is_relative_to(ADAPTERS):  # noqa: PTH113 (a word, perhaps too long)
            yield from files_beside(Path(place)).items()
        return
    environment = tuple(sorted((target.environment or {}).items()))
    library = library_in(target.command)
    for file in [library] if library else [word for word in target.command if target.is_command]:
        if os.path.isfile(file) and file != sys.executable:  # noqa: PTH113 (a word too long for a name is no file)
            linked = linked_with(file, sha256_of(Path(file)), environment)
            yield from ((path.name, path) for path in linked)


def hold_to(target: FramedTarget | RecordedTarget, identity: Identity) -> None:
    """Hold a target to the files that it had before it started.

    Raises:
        TargetError: one has changed since: no one can say which was measured.
        OSError: one cannot be read.
    """
    try:
        now = identity_of(target)
    except UnknownTarget as error:
        raise TargetError(f"{printable(target.id)}: not measured any further: {error}") from error
    if now == identity:
        return
    differing = [name for name, _ in {*identity.files} ^ {*now.files}]
    name = next((name for name, _ in (*identity.files, *now.files) if name in differing), "its command")
    raise TargetError(
        f"{printable(target.id)}: not measured: {printable(name)} changed during the run; leave it as it is, and run "
        "again"
    )
