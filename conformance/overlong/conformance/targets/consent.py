"""Consent: commands from a file of the current folder run only after the user has seen them and agreed.

``overlong certify mine`` does not show the command that it runs: ``overlong.toml`` names it, and that file may be a
stranger's. An agreement covers certain targets of a file at its path, with its exact octets. It is stored in the user's
state folder, in one small file for each such file.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.support.printable import printable
from overlong.conformance.support.whole_file import written_whole
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.configured import configured
from overlong.conformance.targets.shipped import shipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from overlong.conformance.targets.configured import Configured

VARIABLE = "OVERLONG_TRUST"
"""Environment variable: SHA-256 of the trusted files, in hexadecimal digits, separated by commas. It passes the
agreement on to the processes that run parts of a run."""
_SHOWN = 1000  # shown characters of a command
_LARGEST = 1 << 20  # octets of a file's record

_agreed: set[tuple[str, str]] = set()  # digests of files and names of targets, in this process


class NotAgreed(UnknownTarget):
    """The user has not agreed to the commands of a file in the current folder; the message lists them."""


@dataclass(frozen=True)
class WantedConsent:
    """Commands that would run without consent. All texts are safe to show."""

    file: str
    """``overlong.toml`` or ``pyproject.toml``, in the current folder."""
    digest: str
    names: tuple[str, ...]
    """The names of the targets in it, as written there."""
    lines: tuple[str, ...]
    """One line for each command."""

    @property
    def refusal(self) -> str:
        """The reason for not running, on one line."""
        names, lines = ", ".join(map(printable, self.names[:3])), " | ".join(self.lines)
        return f"{self.file}: {names} would run {lines[:_SHOWN]}; if you trust that file, add --trust"


def wanted_by(
    targets: Iterable[str | Sequence[str]], own: Mapping[str, Configured] | None = None
) -> WantedConsent | None:
    """The commands that these targets would run without the user's consent; None if there are none.

    ``own``: the targets of the file; None: read them now.

    Raises:
        UnknownTarget: the file cannot be read, or an entry is no target.
    """
    asked = [name for name in targets if isinstance(name, str) and ":" not in name and name not in BUILTINS]
    if own is None:
        own = configured() if asked else {}
    chains = {name: _chain(name, own) for name in asked if name in own}
    names = dict.fromkeys(each for chain in chains.values() if _runs(chain, own) for each in chain)
    running = [name for name in names if not _is_agreed(name, own[name])]
    if not running:
        return None
    first = own[running[0]]
    lines = tuple(line for name in running for line in _lines(own[name], own))
    return WantedConsent(first.file, first.digest, tuple(running), lines)


def check(name: str, own: Mapping[str, Configured]) -> None:
    """Check that a target of the file, and those that it refers to, may run.

    Args:
        name: the target's name.
        own: the targets of the file, as they will run.

    Raises:
        NotAgreed: they may not.
    """
    if (refused := wanted_by([name], own)) is not None:
        raise NotAgreed(refused.refusal)


def agree(wanted: WantedConsent) -> None:
    """Allow these commands from now on, in this process and its children."""
    _agreed.update((wanted.digest, name) for name in wanted.names)
    digests = os.environ.get(VARIABLE, "").split(",")
    if wanted.digest not in digests:
        os.environ[VARIABLE] = ",".join(filter(None, [*digests, wanted.digest]))


def remember(wanted: WantedConsent) -> None:
    """Store that these commands may run until the file changes.

    Raises:
        OSError: the record cannot be written.
    """
    place, said = _memory(wanted.file), _remembered(wanted.file)
    names = {*wanted.names, *(said["targets"] if said.get("sha256") == wanted.digest else ())}
    place.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(place) as file:
        json.dump({"file": str(Path(wanted.file).resolve()), "sha256": wanted.digest, "targets": sorted(names)}, file)


def _is_agreed(name: str, wanted: Configured) -> bool:
    if (wanted.digest, name) in _agreed or wanted.digest in os.environ.get(VARIABLE, "").split(","):
        return True
    said = _remembered(wanted.file)
    return said.get("sha256") == wanted.digest and name in said["targets"]


def _chain(name: str, own: Mapping[str, Configured]) -> list[str]:
    """A target, the one that it refers to, and so on."""
    chain = [name]
    while isinstance(following := own[chain[-1]].target, str) and following in own and following not in chain:
        chain.append(following)
    return chain


def _runs(chain: Sequence[str], own: Mapping[str, Configured]) -> bool:
    """True if a target runs a command of the file: not if it renames a decoder that ships with an adapter."""
    if any(own[name].setup or own[name].environment for name in chain):
        return True
    last = own[chain[-1]].target
    return not (isinstance(last, str) and (shipped(last.removeprefix("builtin:")) or last.startswith("answers:")))


def _lines(wanted: Configured, own: Mapping[str, Configured]) -> list[str]:
    """The commands that one target runs, in order."""
    lines = [f"set-up: {printable(shlex.join(command), _SHOWN)}" for command in wanted.setup]
    if not isinstance(wanted.target, str):
        lines.append(f"decoder: {printable(shlex.join(wanted.target), _SHOWN)}")
    elif wanted.target not in own:
        lines.append(f"decoder: {printable(wanted.target, _SHOWN)}")
    if wanted.environment:
        said = " ".join(f"{name}={shlex.quote(value)}" for name, value in wanted.environment.items())
        lines.append(f"with: {printable(said, _SHOWN)}")
    return lines


def _memory(file: str) -> Path:
    """The path of the record of a file's consents."""
    from platformdirs import user_state_path

    place = hashlib.sha256(os.fsencode(Path(file).resolve())).hexdigest()
    return user_state_path("overlong", appauthor=False) / "trust" / f"{place[:32]}.json"


def _remembered(file: str) -> dict[str, Any]:
    """The consents for a file; empty if there are none, or if the record is damaged."""
    try:
        with _memory(file).open("rb") as opened:
            read = json.loads(opened.read(_LARGEST))
    except (OSError, ValueError, RecursionError):
        return {}
    said = cast("dict[str, Any]", read) if isinstance(read, dict) else {}
    whole = said.get("file") == str(Path(file).resolve()) and isinstance(said.get("targets"), list)
    return said if whole else {}
