"""Targets that a project names for itself, in ``overlong.toml`` or ``pyproject.toml`` of the current folder.

.. code-block:: toml

    [tool.overlong.targets.mine]        # in overlong.toml: [targets.mine]
    command = ["build/adapter", "-v"]   # or target = "so:build/libfoo.so:valid?abi=bool(ptr,len)"
    setup = ["make -C build adapter"]
    timeout = 2.0
    restarts = 10
    environment = { LC_ALL = "C.UTF-8" }
"""

from __future__ import annotations

import shlex
import subprocess
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.printable import printable
from overlong.conformance.target import TargetError, UnknownTarget

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = {"overlong.toml": ("targets",), "pyproject.toml": ("tool", "overlong", "targets")}
"""Where targets may be named, the first that does wins; and the tables in which they stand."""

_LARGEST = 1 << 20  # octets of a file that is read
_SETUP_SECONDS = 600


@dataclass(frozen=True)
class Configured:
    """A target that a project names."""

    target: str | list[str]
    """As on the command line: a name, or a command that speaks the protocol."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands to run before it is started."""
    timeout: float | None = None
    restarts: int | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])


def configured() -> dict[str, Configured]:
    """The targets named in the current folder.

    Raises:
        UnknownTarget: a file is no TOML, or says something else than a target; the message says where.
    """
    for name, path in FILES.items():
        table = _table(Path(name), path)
        if table is not None:
            return {target: _read(f"{name}: {'.'.join(path)}.{printable(target)}", table[target]) for target in table}
    return {}


def set_up(name: str, wanted: Configured) -> None:
    """Run its set-up commands, one after the other, in the current folder.

    Raises:
        TargetError: one fails; the message has the last line that it wrote.
    """
    for command in wanted.setup:
        shown = f"{printable(name)}: its set-up command {printable(shlex.join(command))}"
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SETUP_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            raise TargetError(f"{shown} did not end within {_SETUP_SECONDS} s") from None
        except OSError as error:
            raise TargetError(f"{shown} cannot be started: {error.strerror}") from error
        if done.returncode != 0:
            said = (done.stderr or done.stdout).decode("utf-8", "backslashreplace").strip().splitlines()
            words = f'; it said "{printable(said[-1].strip(), 200)}"' if said else ""
            raise TargetError(f"{shown} ended with status {done.returncode}{words}")


def _table(file: Path, path: tuple[str, ...]) -> Mapping[str, Any] | None:
    """The table of targets in a file; None if there is none."""
    try:
        with file.open("rb") as opened:
            octets = opened.read(_LARGEST + 1)
        if len(octets) > _LARGEST:
            raise UnknownTarget(f"{file}: larger than {_LARGEST} octets; it is not read")
        found: Any = tomllib.loads(octets.decode())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnknownTarget(f"{file}: {error.strerror}; mend its permissions or name the target in full") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        why = printable(str(error)) if str(error) else type(error).__name__
        raise UnknownTarget(f"{file}: no TOML: {why}") from error
    for number, key in enumerate(path, 1):
        if key not in found:
            return None
        found = cast("dict[str, Any]", found)[key]
        if not isinstance(found, dict):
            raise UnknownTarget(f"{file}: {'.'.join(path[:number])} is no table")
    return cast("dict[str, Any]", found)


def _read(where: str, entry: object) -> Configured:
    """One entry, checked."""
    if not isinstance(entry, dict):
        raise UnknownTarget(f"{where} is no table; write command = [...] or target = '...' in it")
    given = cast("dict[str, Any]", entry)
    known = {"command", "target", "setup", "timeout", "restarts", "environment"}
    if unknown := sorted(given.keys() - known):
        raise UnknownTarget(f"{where}: there is no {printable(unknown[0])!r}; there is {', '.join(sorted(known))}")
    if ("command" in given) == ("target" in given):
        raise UnknownTarget(f"{where}: write either command = [...] or target = '...'")
    setup: Any = given.get("setup", [])
    environment = given.get("environment", {})
    timeout, restarts = given.get("timeout"), given.get("restarts")
    if "target" in given and not isinstance(given["target"], str):
        raise UnknownTarget(f"{where}.target is no string")
    if not isinstance(setup, list):
        raise UnknownTarget(f"{where}.setup is no list of commands")
    if not isinstance(environment, dict) or not all(
        isinstance(value, str) for value in cast("dict[str, Any]", environment).values()
    ):
        raise UnknownTarget(f"{where}.environment is no table of strings")
    if timeout is not None and (not isinstance(timeout, int | float) or not 0.01 <= timeout <= 3600):
        raise UnknownTarget(f"{where}.timeout is no number of seconds from 0.01 to 3600")
    if restarts is not None and (type(restarts) is not int or restarts < 0):
        raise UnknownTarget(f"{where}.restarts is no whole number from 0 up")
    return Configured(
        given["target"] if "target" in given else list(_words(f"{where}.command", given["command"])),
        tuple(_words(f"{where}.setup", command) for command in cast("list[object]", setup)),
        None if timeout is None else float(timeout),
        restarts,
        cast("dict[str, str]", environment),
    )


def _words(where: str, command: object) -> tuple[str, ...]:
    """A command: a list of words, or a string that a shell would split so."""
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UnknownTarget(f"{where}: {error} in {printable(command)!r}") from error
    else:
        words = cast("list[str]", command) if isinstance(command, list) else []
    if not words or not all(isinstance(word, str) for word in cast("list[object]", words)):
        raise UnknownTarget(f"{where} is no command; write a string, or a list of strings")
    return tuple(words)
