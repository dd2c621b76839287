"""Common parts of commands: the target on the command line, exit codes, and one-line errors."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import click

from overlong.conformance.cli.words import complete_profiles

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from overlong.conformance.targets.builtin import Builtin
    from overlong.conformance.targets.resolve import Limits

CONFORMS, DIVERGES, USAGE, NOT_MEASURED, INCOMPLETE = 0, 1, 2, 3, 4
"""Exit codes, as ``docs/command-line.md`` documents them."""

MARKER = "overlong.command_follows"
MEMORY, SANDBOX, TRUST = "overlong.memory", "overlong.sandbox", "overlong.trust"


class TargetCommand(click.Command):
    """A command whose last argument is a target: a name, or ``--`` and a program with its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[MARKER] = "--" in args
        return super().parse_args(ctx, args)


def target_of(words: Sequence[str], *, leading: int = 0) -> str | list[str]:
    """The target named by the arguments.

    Raises:
        click.UsageError: there is no argument, or several without ``--`` before them.
    """
    named = list(words[leading:])
    if click.get_current_context().meta.get(MARKER) and named:
        return named
    if len(named) == 1:
        return named[0]
    if not named:
        raise click.UsageError("name a target: 'overlong target list' shows those that are ready here")
    raise click.UsageError("name one target, or put -- before a command: overlong certify -- node adapter.js")


def leave(message: str, code: int) -> NoReturn:
    """Print an error on one line, and exit."""
    click.echo(f"overlong: {message}", err=True)
    sys.exit(code)


@contextlib.contextmanager
def errors_on_one_line() -> Generator[None]:
    """Report an error that the user can fix on one line, without a traceback."""
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.support.printable import printable
    from overlong.conformance.support.scarcity import scarce
    from overlong.conformance.support.whole_file import NotSaved

    try:
        yield
    except UnknownTarget as error:
        leave(str(error), USAGE)
    except TargetError as error:
        leave(str(error), NOT_MEASURED)
    except KeyboardInterrupt:
        leave("interrupted before anything was measured; nothing was written", INCOMPLETE)
    except OSError as error:
        if short := scarce(error):
            leave(short, INCOMPLETE)
        where = f"{printable(str(error.filename))}: " if error.filename else "output cannot be written: "
        remedy = (
            "check the path"
            if isinstance(error, FileNotFoundError) and not isinstance(error, NotSaved)
            else "choose another folder with -o"
        )
        leave(f"{where}{error.strerror or printable(str(error))}; {remedy}", USAGE)


def all_decoders() -> dict[str, Builtin]:
    """All decoders with names. If a file that should add some cannot be read, the program ends."""
    from overlong.conformance.targets.shipped import all_shipped

    with errors_on_one_line():
        return all_shipped()


@contextlib.contextmanager
def files_refused() -> Generator[None]:
    """Report an error in a file of vectors on one line that names the file and the place."""
    from overlong.conformance.support.strict_json import JsonError
    from overlong.conformance.vectors.check import CheckError, WrongError

    try:
        yield
    except (CheckError, JsonError, WrongError) as error:
        leave(str(error), USAGE)


_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}


def _octets_of(size: str) -> int:
    """The number of octets in a size: ``0``, ``512M``, ``4G``.

    Raises:
        click.BadParameter: the text is not a size, or the size is less than an interpreter needs.
    """
    text = size.upper().removesuffix("IB").removesuffix("B")
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "")
    if not (number.isascii() and number.isdecimal()) or len(number) > 12:
        raise click.BadParameter(f"{size!r} is not a size; write 512M, 4G, or 0 for no limit")
    octets, least, most = int(number) << _UNITS.get(unit, 0), 16 << 20, 1 << 60
    if 0 < octets < least:
        raise click.BadParameter(f"{size!r} is too little to start anything; {least >> 20}M is the least")
    if octets > most:
        raise click.BadParameter(f"{size!r} is more than any machine has; write 0 for no limit")
    return octets


def _keep_memory(context: click.Context, _option: click.Parameter, size: str) -> None:
    context.meta[MEMORY] = _octets_of(size)


def _keep_sandbox(context: click.Context, _option: click.Parameter, none: bool) -> None:  # noqa: FBT001
    context.meta[SANDBOX] = not none


def _keep_trust(context: click.Context, _option: click.Parameter, given: bool) -> None:  # noqa: FBT001
    context.meta[TRUST] = given


def _a_number(_context: click.Context, _option: click.Parameter, seconds: float) -> float:
    """Refuse "nan", which passes every range check."""
    if seconds != seconds:  # noqa: PLR0124
        raise click.BadParameter("nan is not a number of seconds; write one from 0.01 to 3600")
    return seconds


limits_options: list[Any] = [
    click.option(
        "--timeout",
        type=click.FloatRange(0.01, 3600),
        default=5.0,
        show_default=True,
        metavar="SECONDS",
        callback=_a_number,
        help="Longest time for one answer.",
    ),
    click.option(
        "--restarts",
        type=click.IntRange(0),
        default=100,
        show_default=True,
        metavar="N",
        help="Number of crashes and hangs after which the run stops.",
    ),
    click.option(
        "--memory",
        default="4G",
        show_default=True,
        metavar="SIZE",
        expose_value=False,
        callback=_keep_memory,
        help="Memory that each target process may allocate: 512M, 4G; 0 for no limit. Linux only.",
    ),
    click.option(
        "--no-sandbox",
        is_flag=True,
        expose_value=False,
        callback=_keep_sandbox,
        help="Run the target as a plain process group: without a memory limit, and processes that leave the group may "
        "outlive it.",
    ),
    click.option(
        "--trust",
        is_flag=True,
        expose_value=False,
        callback=_keep_trust,
        help="Run what files name (overlong.toml or pyproject.toml here, a resumed campaign) without asking.",
    ),
]


def limits_of(timeout: float, restarts: int) -> Limits:
    """The limits set by the options of :func:`with_limits`, those on memory and processes included."""
    from overlong.conformance.targets.resolve import Limits

    meta = click.get_current_context().meta
    return Limits(timeout, restarts, memory=meta[MEMORY], sandbox=meta[SANDBOX])


def with_limits(command: Any) -> Any:
    """Add the options of :class:`~overlong.conformance.targets.resolve.Limits`; see :func:`limits_of`."""
    for option in reversed(limits_options):
        command = option(command)
    return command


def profile_option(help_text: str) -> Callable[[Any], Any]:
    """``--profile DIALECT``, which accepts the names of a dialect."""
    return click.option(
        "--profile",
        default="rfc3629",
        show_default=True,
        metavar="DIALECT",
        help=help_text,
        callback=_dialect,
        shell_complete=complete_profiles,
    )


def _dialect(_context: click.Context, _option: click.Parameter, name: str) -> str:
    from overlong.reference import DIALECTS, dialect_called

    found = dialect_called(name)
    if found is None:
        from overlong.conformance.support.near import did_you_mean

        raise click.BadParameter(f"no profile {name!r}; {did_you_mean(name, DIALECTS)}", param_hint="--profile")
    return found


def width() -> int:
    """Columns of the output: those of the terminal, 80 without one, and never so many that lines are hard to read."""
    import shutil

    return max(40, min(shutil.get_terminal_size((80, 24)).columns, 120))


def read_by(reader: Callable[[str], float]) -> Callable[[click.Context, click.Parameter, str | None], float | None]:
    """A callback that reads an option's text with ``reader``, and names the option in its errors."""

    def read(_context: click.Context, _option: click.Parameter, text: str | None) -> float | None:
        if text is None:
            return None
        try:
            return reader(text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from None

    return read
