"""The files that identify a target: taken before it starts, since it may replace its own, and held to until the end."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.portable import portable_file
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.builtin import python_words
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.recorded import RecordedTarget


@dataclass(frozen=True)
class Identity:
    """The identity of a target: the files of its command line with their digests, and one digest of the whole command.

    For a decoder elsewhere (in an interpreter, in a library), the version in its greeting identifies it.
    """

    digest: str
    files: tuple[tuple[str, str], ...]
    """The names of the files, and their digests."""
    of_a_command: bool = False
    """The files are those of a program's command line, and no one has named those that it loads."""


def identity_of(target: FramedTarget | RecordedTarget) -> Identity:
    """The identity of a target from its command line; for ``py:`` also the module in the current folder.

    Raises:
        OSError: a file of its command line cannot be read.
        UnknownTarget: one of its ``subjects`` cannot be read.
        TargetError: a preparation fails.
    """
    whole, files = hashlib.sha256(), list[tuple[str, str]]()
    if isinstance(target, FramedTarget):
        target.prepare()

    def add(path: Path, name: str) -> None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256")
        whole.update(digest.digest())
        if (name, digest.hexdigest()) not in files:
            files.append((name, digest.hexdigest()))

    for word in target.command:
        if os.path.isfile(word):  # noqa: PTH113 (a word too long for a name is no file, and no error)
            own = word == sys.executable  # python, python3 or python3.11
            add(Path(word), Path(word).resolve().name if own else Path(word).name)
        else:
            whole.update(word.encode("utf-8", "surrogateescape") + b"\0")
    if (words := python_words(target.command)) and words[0].partition(".")[0] not in sys.stdlib_module_names:
        module = Path(words[0].replace(".", "/"))
        for path in (module.with_name(f"{module.name}.py"), module / "__init__.py"):
            if path.is_file():
                add(path, path.name)
    if isinstance(target, RecordedTarget):
        return Identity(whole.hexdigest(), tuple(files))
    for path in target.subjects:
        try:
            add(path, portable_file(path))
        except OSError as error:
            raise UnknownTarget(
                f"{printable(str(path))}: {error.strerror}; --subject and subjects name files of the decoder: check "
                "the path"
            ) from error
    return Identity(whole.hexdigest(), tuple(files), target.is_command and not target.subjects)


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
