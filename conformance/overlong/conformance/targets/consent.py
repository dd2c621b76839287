"""Consent: a command that a file names runs only after the user has seen all of it and agreed.

``overlong certify mine`` does not show the command that it runs: ``overlong.toml`` names it, and that file may be a
stranger's. So may be a certificate, and the folder of a campaign. What the user writes on the command line needs no
agreement, nor do decoders that ship with an adapter.

An agreement is stored in the user's state folder, in one small file each. One to a project's file covers certain
targets of it, at its path, with its exact octets. One to commands of another file covers the same commands in the same
current folder, whatever file names them: a campaign that the user has begun there continues without a question.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.support.files import written_whole
from overlong.conformance.support.printable import counted, printable
from overlong.conformance.targets.builtins import BUILTINS, shipped
from overlong.conformance.targets.configured import configured

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from overlong.conformance.targets.configured import Configured

VARIABLE = "OVERLONG_TRUST"
"""Environment variable: SHA-256 of the trusted files, in hexadecimal digits, separated by commas. It passes the
agreement on to the processes that run parts of a run."""
MOST = 16_000
"""The most characters to ask about, 200 lines of a terminal: nobody reads more, and the first ones scroll away."""
_ON_A_LINE = 1000
"""The most characters of commands in a refusal, after which nothing runs."""
_LARGEST = 1 << 20  # octets of a file's record

_REMEDY = "if you trust that file, add --trust"


class NotAgreed(UnknownTarget):
    """The user has not agreed to the commands of a file; the message lists them."""

    def __init__(self, wanted: WantedConsent, message: str = "") -> None:
        super().__init__(message or wanted.refusal)
        self.wanted = wanted


@dataclass(frozen=True)
class WantedConsent:
    """Commands that would run without consent. All texts but ``place`` and ``names`` are safe to show."""

    file: str
    """The file that names them."""
    place: str
    """The subject of the record of an agreement: the path of a project's file, or the folder and digest of commands."""
    digest: str
    """SHA-256 of a project's file, or of the commands."""
    names: tuple[str, ...]
    """The targets, as the file has them."""
    lines: tuple[str, ...]
    """All that would run: one line for each command, and for each variable of an environment."""
    which: str
    """The targets, in the words of a refusal."""
    until: str
    """How long an agreement holds, in words."""
    remedy: str = _REMEDY
    """What the user can do, for a refusal."""
    where: str = ""
    """Where the file is, in words that follow its name."""

    @property
    def refusal(self) -> str:
        """The reason for not running, on one line."""
        lines = " | ".join(self.lines)
        cut = f"… ({counted(len(lines), 'character')}: read the file)" if len(lines) > _ON_A_LINE else ""
        return f"{self.file}: {self.which} would run {lines[:_ON_A_LINE]}{cut}; {self.remedy}"

    @property
    def too_long(self) -> str:
        """The reason why nobody could agree; empty if all of it can be shown."""
        length = sum(map(len, self.lines))
        if length <= MOST:
            return ""
        return (
            f"{self.file}: {self.which} would run commands of {counted(length, 'character')}, more than overlong asks "
            f"about; read the file, and {self.remedy}"
        )

    def rows(self, width: int) -> list[str]:
        """All characters of all lines; the rest of a long line is on the next rows."""
        wrapper = textwrap.TextWrapper(
            width, initial_indent="  ", subsequent_indent="    ", drop_whitespace=False, break_on_hyphens=False
        )
        return [row for line in self.lines for row in wrapper.wrap(line)]


def wanted_by(
    targets: Iterable[str | Sequence[str]], own: Mapping[str, Configured] | None = None
) -> WantedConsent | None:
    """The commands that these targets, and those that they refer to, would run without the user's consent.

    Args:
        targets: as on the command line.
        own: the targets of the project's file, as they will run; None: read them now.

    Returns:
        The commands, or None if there are none.

    Raises:
        UnknownTarget: the file cannot be read, or an entry is no target.
    """
    asked = [name for name in targets if isinstance(name, str) and ":" not in name and name not in BUILTINS]
    if own is None:
        own = configured() if asked else {}
    named = (each for name in asked if name in own for each in (own[name].of_functions(name) or (name,)))
    names = dict.fromkeys(each for name in named for each in _running(name, own))
    if not names:
        return None
    first = own[next(iter(names))]  # all are of one file
    place = str(Path(first.file).resolve())
    running = tuple(name for name in names if not _is_agreed(name, place, first.digest))
    if not running:
        return None
    return WantedConsent(
        file=first.file,
        place=place,
        digest=first.digest,
        names=running,
        lines=tuple(dict.fromkeys(line for name in running for line in _lines(own[name], own))),
        which=", ".join(map(printable, running[:3])),
        until="now and until the file changes",
        where=" in this folder",
    )


def wanted_from(file: Path, targets: Iterable[str | Sequence[str]], remedy: str = _REMEDY) -> WantedConsent | None:
    """What targets would run without the user's consent that a certificate or a campaign names; None for nothing.

    Args:
        file: the certificate, or the campaign's database.
        targets: the targets in it.
        remedy: what the user can do, for the refusal.

    Raises:
        UnknownTarget: the project's file cannot be read.
        OSError: there is no current folder.
    """
    commands = [each if isinstance(each, str) else list(each) for each in targets if not ships(each)]
    if not commands:
        return None
    here = str(Path.cwd())
    digest = hashlib.sha256(json.dumps([here, commands]).encode("ascii")).hexdigest()
    place = f"{here}: {digest}"
    names = tuple(each if isinstance(each, str) else f"-- {shlex.join(each)}" for each in commands)
    if all(_is_agreed(name, place, digest) for name in names):
        return None
    return WantedConsent(
        file=_whole(str(file)),
        place=place,
        digest=digest,
        names=names,
        lines=tuple(f"decoder: {_whole(name)}" for name in names),
        which="it",
        until="now, and again whenever a file names the same in this folder",
        remedy=remedy,
    )


def check_from(file: Path, targets: Iterable[str | Sequence[str]], remedy: str = _REMEDY) -> None:
    """Check that targets that a certificate or a campaign names may run; the arguments are those of
    :func:`wanted_from`.

    Raises:
        NotAgreed: they may not.
        UnknownTarget: the project's file cannot be read.
        OSError: there is no current folder.
    """
    targets = list(targets)
    if (refused := wanted_from(file, targets, remedy) or wanted_by(targets)) is not None:
        raise NotAgreed(refused)


def ships(target: str | Sequence[str]) -> bool:
    """True if the target is a decoder that ships with an adapter, and no file of the project gives it another meaning.

    Raises:
        UnknownTarget: the project's file cannot be read.
    """
    if not isinstance(target, str):
        return False
    name = target.removeprefix("builtin:")
    return shipped(name) is not None and (name != target or name not in configured())


def agree(wanted: WantedConsent) -> None:
    """Allow these commands from now on, in this process and its children."""
    digests = os.environ.get(VARIABLE, "").split(",")
    if wanted.digest not in digests:
        os.environ[VARIABLE] = ",".join(filter(None, [*digests, wanted.digest]))


def remember(wanted: WantedConsent) -> None:
    """Store that these commands may run until the file changes.

    Raises:
        OSError: the record cannot be written.
    """
    path, names = _memory(wanted.place), {*wanted.names, *_remembered(wanted.place, wanted.digest)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as file:
        json.dump({"file": wanted.place, "sha256": wanted.digest, "targets": sorted(names)}, file)


def _is_agreed(name: str, place: str, digest: str) -> bool:
    return digest in os.environ.get(VARIABLE, "").split(",") or name in _remembered(place, digest)


def _running(name: str, own: Mapping[str, Configured]) -> list[str]:
    """A target, the one that it refers to, and so on; none if it only renames a decoder that ships with an adapter."""
    chain = [name]
    while isinstance(last := own[chain[-1]].target, str) and last in own and last not in chain:
        chain.append(last)
    if any(own[each].setup or own[each].environment for each in chain):
        return chain
    renames = isinstance(last, str) and (shipped(last.removeprefix("builtin:")) or last.startswith("answers:"))
    return [] if renames else chain


def _lines(wanted: Configured, own: Mapping[str, Configured]) -> list[str]:
    """The commands that one target runs, in order."""
    lines = [f"set-up: {_whole(shlex.join(command))}" for command in wanted.setup]
    if not isinstance(wanted.target, str):
        lines.append(f"decoder: {_whole(shlex.join(wanted.target))}")
    elif wanted.target not in own:
        lines.append(f"decoder: {_whole(wanted.target)}")
    lines += (f"with: {_whole(f'{name}={shlex.quote(value)}')}" for name, value in wanted.environment.items())
    return lines


def _whole(text: str) -> str:
    """All of a text, safe to show."""
    return printable(text, len(text))


def _memory(place: str) -> Path:
    """The path of the record of the consents for a place."""
    from platformdirs import user_state_path

    name = hashlib.sha256(os.fsencode(place)).hexdigest()
    return user_state_path("overlong", appauthor=False) / "trust" / f"{name[:32]}.json"


def _remembered(place: str, digest: str) -> list[str]:
    """The targets of a place that the user has agreed to; none if it has other octets now, or the record is damaged."""
    try:
        with _memory(place).open("rb") as opened:
            said = json.loads(opened.read(_LARGEST))
        names: list[Any] = said["targets"] if (said["file"], said["sha256"]) == (place, digest) else []
        return [name for name in names if isinstance(name, str)]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return []
