"""Targets that a project defines in ``overlong.toml`` or ``pyproject.toml`` of the current folder.

.. code-block:: toml

    [tool.overlong.targets.mine]        # in overlong.toml: [targets.mine]
    command = ["build/adapter", "-v"]   # or target = "so:build/libfoo.so:valid?abi=bool(ptr,len)"
    setup = ["make -C build adapter"]
    timeout = 2.0
    restarts = 10
    environment = { LC_ALL = "C.UTF-8" }
    subjects = ["build/decoder.o"]

    [targets.all-of-mine]               # a library: its functions are the targets all-of-mine/NAME
    library = "build/libfoo.so"
    [[targets.all-of-mine.function]]
    symbol = "foo_cut"
    abi = "truncate(ptr,len,limit)&ill_formed=tails"
    [[targets.all-of-mine.function]]
    call = "py:foo.py:count?as=count-scalars"   # any target
    name = "count"                      # unless the symbol, or what is called, is name enough
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shlex
import signal
import stat
import subprocess
import sys
import threading
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.printable import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FILES = {"overlong.toml": ("targets",), "pyproject.toml": ("tool", "overlong", "targets")}
"""The files that may define targets, of which the first with a definition wins; and their tables."""

_TABLES = ("expected", "targets")
"""All that a project may say to overlong."""
_LARGEST = 4 << 20  # octets of a file: enough for more than ten thousand expected deviations
_PARTS = 200  # of a dotted key: the parser's time is quadratic in them
_DONE = "OVERLONG_SET_UP"
"""The variable that names the finished set-ups to a run's processes."""
_SETUP_SECONDS = 600
_DYING = 1.0  # seconds for a set-up command to end after SIGTERM
_SAID = 4096  # kept octets of its output
_OF_A_TARGET = (
    *("command", "environment", "function", "library", "restarts", "setup", "subjects", "target", "timeout"),
)
_OF_A_FUNCTION = ("name", "symbol", "abi", "library", "call")
_NAME = re.compile(r"[A-Za-z0-9_.+-]+")
_FORM_OF_A_FUNCTION = 'write symbol = "..." and abi = "...", or call = "..."'


_setting_up = threading.Lock()


@dataclass(frozen=True)
class Configured:
    """A target that a project defines."""

    target: str | list[str]
    """The target, as on the command line: a name, or a command that speaks the protocol; empty for a library."""
    setup: tuple[tuple[str, ...], ...] = ()
    """Commands to run before it starts."""
    timeout: float | None = None
    restarts: int | None = None
    environment: dict[str, str] = field(default_factory=dict[str, str])
    subjects: tuple[str, ...] = ()
    """More files that identify it."""
    functions: tuple[tuple[str, str], ...] = ()
    """Of a library, the name of each function, and its target; they are targets of their own."""
    of: str = ""
    """The library of which it is a function."""
    file: str = ""
    """The file that defines it, in the current folder."""
    digest: str = ""
    """SHA-256 of that file."""

    def of_functions(self, name: str) -> tuple[str, ...]:
        """The targets of a library's functions; ``name``: its own."""
        return tuple(f"{name}/{function}" for function, _ in self.functions)


def configured() -> dict[str, Configured]:
    """The targets defined in the current folder.

    Raises:
        UnknownTarget: a file is no TOML, or an entry is no target; the message gives the place.
    """
    for name, path in FILES.items():
        table, digest = _table(Path(name), path)
        if table is not None:
            if strange := [target for target in table if not target.isprintable()]:
                raise UnknownTarget(f"{name}: the target {printable(strange[0])!r} has a control character; rename it")
            read = {target: _read(f"{name}: {'.'.join(path)}.{printable(target)}", table[target]) for target in table}
            read |= {
                full: replace(each, target=target, functions=(), of=library)
                for library, each in read.items()
                for full, (_, target) in zip(each.of_functions(library), each.functions, strict=True)
            }
            return {target: replace(each, file=name, digest=digest) for target, each in read.items()}
    return {}


def set_up(name: str, wanted: Configured) -> None:
    """Run its set-up commands, one after the other, in the current folder; only once in a run and its subprocesses.

    Raises:
        TargetError: one fails; the message has its last line of output.
    """
    name = wanted.of or name
    key = hashlib.sha256(f"{Path.cwd()}\0{wanted.digest}\0{name}".encode("utf-8", "surrogateescape")).hexdigest()
    with _setting_up:
        if key not in os.environ.get(_DONE, "").split(","):
            _set_up(name, wanted)
            os.environ[_DONE] = ",".join(filter(None, [os.environ.get(_DONE, ""), key]))


def _set_up(name: str, wanted: Configured) -> None:
    for command in wanted.setup:
        shown = f"{printable(name)}: its set-up command {printable(shlex.join(command))}"
        try:
            status, said = _run(command)
        except subprocess.TimeoutExpired:
            raise TargetError(f"{shown} did not end within {_SETUP_SECONDS} s") from None
        except OSError as error:
            raise TargetError(f"{shown} cannot be started: {error.strerror}") from error
        if status != 0:
            lines = said.decode("utf-8", "backslashreplace").strip().splitlines()
            words = f'; it said "{printable(lines[-1].strip(), 200)}"' if lines else ""
            raise TargetError(f"{shown} ended with status {status}{words}")


def _run(command: Sequence[str]) -> tuple[int, bytes]:
    """The status of a command and the end of its output. Processes that it leaves running cause no delay.

    Raises:
        subprocess.TimeoutExpired: it did not end; it and its process group were killed.
        OSError: it cannot be started.
    """
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        bufsize=0,
        start_new_session=sys.platform != "win32",
    )
    kept = bytearray()
    assert process.stdout is not None
    reader = threading.Thread(target=_keep_the_end, args=(process.stdout, kept), daemon=True)
    try:
        reader.start()
        status = process.wait(_SETUP_SECONDS)
    except BaseException:  # also Ctrl-C
        if sys.platform != "win32":
            for number in (signal.SIGTERM, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_DYING)
        process.kill()
        raise
    reader.join(_DYING)  # to its end, unless a process that it left running keeps the pipe open
    return status, bytes(kept)


def _keep_the_end(pipe: IO[bytes], kept: bytearray) -> None:
    with contextlib.suppress(OSError), pipe:
        while octets := pipe.read(1 << 16):
            kept += octets
            del kept[:-_SAID]


def toml_of(file: Path, otherwise: str = "name the target in full") -> dict[str, Any] | None:
    """A TOML file's content; None if there is no such file.

    ``otherwise``: advice for a user who does not need the file.

    Raises:
        UnknownTarget: it is no TOML, or cannot be read; the message gives the remedy.
    """
    return _parsed(file, otherwise)[0]


def _parsed(file: Path, otherwise: str = "name the target in full") -> tuple[dict[str, Any] | None, str]:
    """A TOML file's content with the digest of its octets."""
    name = printable(str(file))
    try:
        if not stat.S_ISREG(file.stat().st_mode):  # a pipe without a writer would block
            raise UnknownTarget(f"{name}: no file; rename it or {otherwise}")
        with file.open("rb") as opened:
            octets = opened.read(_LARGEST + 1)
        if len(octets) > _LARGEST:
            raise UnknownTarget(f"{name}: larger than {_LARGEST} octets; it is not read")
        if any(part.count(b".") > _PARTS for part in re.split(rb'[^\w"\' \t.-]+', octets)):
            raise UnknownTarget(f"{name}: a key in it has more than {_PARTS} parts; it is not read")
        return tomllib.loads(octets.decode()), hashlib.sha256(octets).hexdigest()
    except FileNotFoundError:
        return None, ""
    except OSError as error:
        raise UnknownTarget(f"{name}: {error.strerror}; fix its permissions or {otherwise}") from error
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, or a number of too many digits
        why = printable(str(error)) if str(error) else type(error).__name__
        raise UnknownTarget(f"{name}: no TOML: {why}") from error


def _table(file: Path, path: tuple[str, ...]) -> tuple[Mapping[str, Any] | None, str]:
    """The table of targets in a file, or None; and the digest of the file."""
    found: Any
    found, digest = _parsed(file)
    if found is None:
        return None, ""
    for number, key in enumerate(path, 1):
        table = cast("dict[str, Any]", found)
        if number == len(path):
            _no_other(str(file), table, _TABLES)
        if key not in table:
            return None, ""
        found = table[key]
        if not isinstance(found, dict):
            raise UnknownTarget(f"{file}: {'.'.join(path[:number])} is no table")
    return cast("dict[str, Any]", found), digest


def _read(where: str, entry: object) -> Configured:
    """One entry, checked."""
    if not isinstance(entry, dict):
        raise UnknownTarget(f"{where} is no table; write command = [...] or target = '...' in it")
    given = cast("dict[str, Any]", entry)
    _no_other(where, given, _OF_A_TARGET)
    if len(given.keys() & {"command", "target", "function"}) != 1:
        raise UnknownTarget(f"{where}: write either command = [...] or target = '...', or a table of each function")
    functions = functions_in(where, given)
    setup: Any = given.get("setup", [])
    environment = given.get("environment", {})
    timeout, restarts = given.get("timeout"), given.get("restarts")
    if "target" in given and not isinstance(given["target"], str):
        raise UnknownTarget(f"{where}.target is no string")
    if not isinstance(setup, list):
        raise UnknownTarget(f'{where}.setup is no list of commands; write setup = ["COMMAND"]')
    if not isinstance(environment, dict) or not all(
        isinstance(value, str) for value in cast("dict[str, Any]", environment).values()
    ):
        raise UnknownTarget(f"{where}.environment is no table of strings")
    variables = cast("dict[str, str]", environment)
    if any(not name or "=" in name or "\0" in name + value for name, value in variables.items()):
        raise UnknownTarget(f"{where}.environment has a name that is empty or has '=' in it, or a NUL")
    if timeout is not None and (type(timeout) not in (int, float) or not 0.01 <= timeout <= 3600):
        raise UnknownTarget(f"{where}.timeout is no number of seconds from 0.01 to 3600")
    if restarts is not None and (type(restarts) is not int or restarts < 0):
        raise UnknownTarget(f"{where}.restarts is no whole number from 0 up")
    subjects: Any = given.get("subjects", [])
    if not isinstance(subjects, list) or not all(
        isinstance(file, str) and file and "\0" not in file for file in cast("list[object]", subjects)
    ):
        raise UnknownTarget(f'{where}.subjects is no list of files; write subjects = ["FILE"]')
    command = list(_words(f"{where}.command", given["command"])) if "command" in given else ""
    return Configured(
        given.get("target", command),
        tuple(_words(f"{where}.setup", command) for command in cast("list[object]", setup)),
        None if timeout is None else float(timeout),
        restarts,
        variables,
        tuple(cast("list[str]", subjects)),
        functions,
    )


def _no_other(where: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    """Raises: UnknownTarget: the table has another key; the message suggests one."""
    if unknown := sorted(table.keys() - known):
        raise UnknownTarget(f"{where}: there is no {printable(unknown[0])!r}; {did_you_mean(unknown[0], known)}")


def _words(where: str, command: object) -> tuple[str, ...]:
    """A command: a list of words, or a string that is split as a shell does."""
    if isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UnknownTarget(f"{where}: {error} in {printable(command)!r}") from error
    else:
        words = cast("list[str]", command) if isinstance(command, list) else []
    if not words or not all(isinstance(word, str) for word in cast("list[object]", words)):
        raise UnknownTarget(f"{where} is no command; write a string, or a list of strings")
    if not words[0] or any("\0" in word for word in words):
        raise UnknownTarget(f"{where} is no command: its program has no name, or there is a NUL in it")
    return tuple(words)


def functions_in(where: str, table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """The name and the target of each function in a library's table.

    Args:
        where: the file and the table, for messages.
        table: its ``function``, a list of tables, and its ``library``, the file for those that name none.

    Raises:
        UnknownTarget: a table is no function, or two have one name.
    """
    library = table.get("library", "")
    listed: Any = table.get("function", [])
    if not isinstance(library, str) or ("library" in table and "function" not in table):
        raise UnknownTarget(
            f"{where}.library is no file of functions; write library = '...', and [[...function]] tables"
        )
    if not isinstance(listed, list) or ("function" in table and not listed):
        raise UnknownTarget(f"{where}.function is no list of tables; {_FORM_OF_A_FUNCTION} in each")
    found: dict[str, str] = {}
    for number, each in enumerate(cast("list[object]", listed), 1):
        name, target = _function(f"{where}.function, number {number}", each, library)
        if name in found:
            raise UnknownTarget(f"{where}: two functions are {name}; give one another name = '...'")
        found[name] = target
    return tuple(found.items())


def _function(where: str, table: object, library: str) -> tuple[str, str]:
    said = cast("dict[str, Any]", table) if isinstance(table, dict) else {}
    _no_other(where, said, _OF_A_FUNCTION)
    if not said or not all(isinstance(value, str) and value for value in said.values()):
        raise UnknownTarget(f"{where} is no table of strings; {_FORM_OF_A_FUNCTION}")
    words = cast("dict[str, str]", {"library": library, **said})
    if ("call" in words) == ("symbol" in words) or ("symbol" in words) != ("abi" in words):
        raise UnknownTarget(f"{where}: {_FORM_OF_A_FUNCTION}")
    if "symbol" in words and not words["library"]:
        raise UnknownTarget(f"{where}: write library = '...', the file of {printable(words['symbol'])}")
    call = words.get("call", "")
    name = words.get("name") or words.get("symbol", "").split(",")[0] or call.partition("?")[0].rpartition(":")[2]
    if not _NAME.fullmatch(name):
        raise UnknownTarget(f"{where}: name = {printable(name)!r}: write a name of letters, digits and any of _.+-")
    return name, call or f"so:{words['library']}:{words['symbol']}?abi={words['abi']}"
