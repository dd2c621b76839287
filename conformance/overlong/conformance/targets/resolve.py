"""Turns names into targets: ``cpython``, ``py:package.module:callable``, ``-- command``."""

from __future__ import annotations

import difflib
import os
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import TargetError, UnknownTarget
from overlong.conformance.support.printable import as_name, printable
from overlong.conformance.support.provenance import one_spelling
from overlong.conformance.targets.adapters.abi import QUESTION_ABIS
from overlong.conformance.targets.build import python_command
from overlong.conformance.targets.builtins import BUILTINS, all_shipped, function_at_hand, libraries, shipped
from overlong.conformance.targets.commands import (
    declared,
    is_program,
    library_command,
    library_in,
    of_questions,
    program_command,
    wasm_command,
)
from overlong.conformance.targets.configured import configured, set_up
from overlong.conformance.targets.consent import NotAgreed, wanted_by
from overlong.conformance.targets.elf import version_of
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import Limits
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from overlong.conformance.targets.configured import Configured

_NEAR = 0.7
"""The least similarity of two names for a suggestion."""
_MODE = "mode="
PYTHON_MODES = (f"{_MODE}fatal", f"{_MODE}replacement")
"""The words that ``py:`` takes beside traits; without one, the adapter finds the mode by a probe."""
_LONGEST_CHAIN = 8
"""The longest chain of a project's names that refer to one another."""


def resolve(
    name: str | Sequence[str], limits: Limits | None = None, *, named_by: tuple[str, ...] = ()
) -> FramedTarget | RecordedTarget:
    """The target of that name, not yet started; a sequence of strings is a command that speaks the protocol.

    ``named_by``: the project's targets that led to this name.

    Raises:
        UnknownTarget: the name is unknown; the message suggests another.
        NotAgreed: its command is in a file of the current folder, and the user has not agreed to it.
        TargetError: it is known but cannot be used here; the message names the package to install.
    """
    limits = limits or Limits()
    if runs_a_command(name):
        return _of_a_command(name, limits)
    assert isinstance(name, str), "any other is a command"
    kind, colon, rest = name.partition(":")
    if not colon and name in (own := configured()):
        return _as_configured(name, own, limits, named_by)
    if not colon or kind == "builtin":
        return _builtin(rest if colon else name, limits)
    if kind == "answers":
        return RecordedTarget(Path(rest))
    if kind not in _COMMANDS:
        raise UnknownTarget(
            f"{printable(name)}: there is no kind of target '{printable(kind)}'; "
            "write a name from 'overlong target list', py:MODULE:CALLABLE, so:LIBRARY:FUNCTION?abi=..., "
            "wasm:MODULE:FUNCTION?abi=..., cmd:COMMAND, lines:COMMAND, or -- COMMAND"
        )
    name = one_spelling(as_name(name))
    target = _framed(name, _COMMANDS[kind](name, name.partition(":")[2]), limits)
    target.is_question = any(word in QUESTION_ABIS or word.startswith("as=") for word in target.command)
    if kind == "so":
        target.version = partial(version_of, library_in(target.command))
        target.suspicion = "perhaps abi= is not how the function is called: see 'overlong target abis'"
    return target


def _builtin(name: str, limits: Limits) -> FramedTarget:
    if (of_library := function_at_hand(name)) is not None:
        library, function = of_library
        if missing := library.missing():
            raise TargetError(f"{name}: not available here: {missing}")
        target = resolve(library.target(function), limits)
        assert isinstance(target, FramedTarget), "no library has recorded answers"
        target.id = name
        return target
    builtin = shipped(name)
    if builtin is None and (own := libraries().get(name)) is not None:
        raise _is_library(name, f"{name}/{next(iter(own.functions))}")
    if builtin is None:
        raise UnknownTarget(f"no target '{printable(name)}'; {_hint(name)}")
    if missing := builtin.missing():
        raise TargetError(f"{builtin.name}: not available here: {missing}")
    target = _framed(builtin.name, builtin.command(), limits)
    target.folder = builtin.folder
    return target


def _is_library(name: str, first: str) -> UnknownTarget:
    return UnknownTarget(
        f"{printable(name)} is a library: 'overlong certify' tests all of it; name a function, such as "
        f"{printable(first)}"
    )


def _hint(name: str) -> str:
    """A suggestion for an unknown name."""
    if os.path.isfile(name):  # noqa: PTH113 (a name too long is no file, and no error)
        shown = printable(name)
        if name.endswith((".so", ".dylib")) or ".so." in name:
            return f"for a function of that library write 'so:{shown}:FUNCTION?abi=...'"
        if name.endswith(".wasm"):
            return f"for a function of that module write 'wasm:{shown}:FUNCTION?abi=...'"
        if name.endswith(".py"):
            return f"for a function in that file write py:{shown}:FUNCTION"
        if os.access(name, os.X_OK):
            return f"if that is an adapter write -- {shown if '/' in name else f'./{shown}'}"
        return "for an adapter write -- and the command that runs it"
    library = libraries().get(name.partition("/")[0])
    functions = [f"{library.name}/{each}" for each in library.functions] if library is not None else []
    known = [*configured(), *all_shipped(), *libraries(), *functions]
    close = difflib.get_close_matches(name, known, 3, _NEAR)
    if close:
        return f"did you mean {' or '.join(map(printable, close))}?"
    return "'overlong target list' shows those that ship with an adapter; overlong.toml here can name others"


def _as_configured(
    name: str, own: Mapping[str, Configured], limits: Limits, named_by: tuple[str, ...]
) -> FramedTarget | RecordedTarget:
    """A target that the project defines under that name."""
    if name in BUILTINS:
        raise UnknownTarget(
            f"overlong.toml or pyproject.toml names a target '{name}', and a decoder that ships with an adapter has "
            f"that name; choose another, or write builtin:{name}"
        )
    named_by, wanted = (*named_by, name), own[name]
    if wanted.functions:
        raise _is_library(name, wanted.of_functions(name)[0])
    if wanted.target in named_by:
        raise UnknownTarget(f"{printable(name)}: in overlong.toml or pyproject.toml it names itself")
    if len(named_by) > _LONGEST_CHAIN:
        raise UnknownTarget(
            f"{printable(named_by[0])}: in overlong.toml or pyproject.toml it stands for a name that stands for a "
            f"name, and so on, {len(named_by)} times; write what it is"
        )
    if (refused := wanted_by([name], own)) is not None:
        raise NotAgreed(refused)
    timeout = limits.timeout if wanted.timeout is None else wanted.timeout
    restarts = limits.restarts if wanted.restarts is None else wanted.restarts
    limits = replace(limits, timeout=timeout, restarts=restarts)
    target = resolve(wanted.target, limits, named_by=named_by)
    if isinstance(target, FramedTarget):
        target.id = name
        target.environment = {**(target.environment or {}), **wanted.environment}
        target.set_up = (partial(set_up, name, wanted), *target.set_up)
    else:
        set_up(name, wanted)
    add_subjects(target, wanted.subjects)
    return target


def runs_a_command(name: str | Sequence[str]) -> bool:
    """True if a target's name is a command: a program of the user's, which may load files that it does not name."""
    kind = name.partition(":")[0] if isinstance(name, str) else ""
    return not isinstance(name, str) or is_program(kind)


def add_subjects(target: FramedTarget | RecordedTarget, files: Sequence[str | os.PathLike[str]]) -> None:
    """Add files to what identifies a target.

    Raises:
        UnknownTarget: it is a file of recorded answers, which no decoder gives here.
    """
    if files and isinstance(target, RecordedTarget):
        raise UnknownTarget(
            f"{printable(str(target.path))}: no decoder runs for recorded answers, so no file of it can be named; "
            "leave out --subject"
        )
    if isinstance(target, FramedTarget):
        target.subjects = tuple(dict.fromkeys((*target.subjects, *map(Path, files))))


def _framed(identifier: str, command: list[str], limits: Limits) -> FramedTarget:
    return FramedTarget(
        identifier, command, limits.timeout, limits.restarts, memory=limits.memory, sandbox=limits.sandbox
    )


def _of_a_command(name: str | Sequence[str], limits: Limits) -> FramedTarget:
    if isinstance(name, str):
        target = _framed(name, program_command(name), limits)
    else:
        target = _framed(f"-- {shlex.join(name)}", list(name), limits)
    target.is_command = True
    return target


def _python(name: str, rest: str) -> list[str]:
    rest, _, query = rest.partition("?")
    place, colon, attribute = rest.rpartition(":")
    if not colon or not place or not attribute:
        raise UnknownTarget(f"{printable(name)}: write py:MODULE:CALLABLE or py:FILE.py:CALLABLE")
    shown = printable(name)
    asked, others = of_questions(shown, query.split("&") if query else ())
    words = declared(shown, "after the question mark", others, *PYTHON_MODES)
    question = QUESTIONS.get(asked.get("as", ""))
    if asked and question is None:
        raise UnknownTarget(f"{shown}: {min(asked)}= is for a function that answers a question; write as=..., too")
    if question is not None:
        asked["as"] = f"{question.name}({question.argument})"
    mode = (word.removeprefix(_MODE) for word in words if word.startswith(_MODE))
    traits = (word for word in words if not word.startswith(_MODE))
    return python_command(place, attribute, *mode, *(f"{member}={word}" for member, word in asked.items()), *traits)


_COMMANDS: dict[str, Callable[[str, str], list[str]]] = {
    "py": _python,
    "so": library_command,
    "wasm": wasm_command,
}
"""For each kind, a function from the whole name and the part after the kind to a worker's command line."""
