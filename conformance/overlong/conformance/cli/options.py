"""Common parts of commands: the target and its folder, options, completions, exit codes, and one-line errors.

Each ``complete_...`` function is click's ``shell_complete`` of an argument or an option. These functions import late
and start nothing, since the user has pressed a key and waits.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import re
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import click
from click.shell_completion import CompletionItem

from overlong.conformance.support.printable import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence

    from overlong.conformance.targets.builtins import Builtin


CONFORMS, DIVERGES, USAGE, NOT_MEASURED, INCOMPLETE = 0, 1, 2, 3, 4
"""Exit codes, as ``docs/command-line.md`` documents them."""

MARKER, COMMAND = "overlong.command_follows", "overlong.command"
TRUST = "overlong.trust"

_SCARCE = {
    errno.ENOMEM: "memory is short; allow more (ulimit -v), or free some",
    errno.EAGAIN: "no further process or thread can start; allow more of them (ulimit -u) or more memory (ulimit -v)",
    errno.EMFILE: "no further file can be opened; allow more (ulimit -n)",
    errno.ENFILE: "no further file can be opened on this machine; close some",
}
"""What the system may refuse to this program: these are no internal errors."""


class TargetCommand(click.Command):
    """A command whose last argument is a target: a name, or ``--`` and a program with its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[MARKER] = "--" in args
        ctx.meta[COMMAND] = tuple(args[args.index("--") + 1 :]) if "--" in args else None
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


def slug(target: str | Sequence[str]) -> str:
    """A target's name as one safe file name, which never leaves the folder. Different targets may share a name."""
    text = target if isinstance(target, str) else " ".join(target)
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", text).strip("-")[:60]
    if plain == text:
        return plain
    return f"{plain or 'target'}-{hashlib.sha256(text.encode('utf-8', 'surrogateescape')).hexdigest()[:8]}"


def folder_of(target: str) -> str:
    """The folder of a target's results; of a function of a library, in that of the library, its own name is enough."""
    library, mark, function = target.partition("/")
    return slug(function if mark and ":" not in library and "/" not in function else target)


def leave(message: str, code: int) -> NoReturn:
    """Print an error on one line, and exit."""
    click.echo(f"overlong: {message}", err=True)
    sys.exit(code)


def scarce(error: BaseException) -> str:
    """A line with what is short and the remedy; empty if the error has another cause."""
    if isinstance(error, MemoryError):
        number = errno.ENOMEM
    elif isinstance(error, RuntimeError) and str(error) == "can't start new thread":
        number = errno.EAGAIN
    elif isinstance(error, ImportError) and "failed to map segment" in str(error):
        number = errno.ENOMEM
    elif isinstance(error, OSError) and error.filename is None:
        number = error.errno or 0
    else:
        return ""
    said = _SCARCE.get(number, "")
    return said and f"{said}; the run is incomplete"


@contextlib.contextmanager
def errors_on_one_line() -> Generator[None]:
    """Report an error that the user can fix on one line, without a traceback."""
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.support.files import FULL, NotSaved

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
        is_full = error.errno in FULL and not error.filename
        where = f"{printable(str(error.filename))}: " if error.filename else "output cannot be written: " * is_full
        if isinstance(error, IsADirectoryError):
            remedy = "name a file"
        elif not isinstance(error, NotSaved) and (
            isinstance(error, FileNotFoundError) or not (error.filename or is_full)
        ):
            remedy = "check the path"
        else:
            remedy = "choose another folder with -o"
        leave(f"{where}{error.strerror or printable(str(error))}; {remedy}", USAGE)


def all_decoders() -> dict[str, Builtin]:
    """All decoders with names. If a file that should add some cannot be read, the program ends."""
    from overlong.conformance.targets.builtins import all_shipped

    with errors_on_one_line():
        return all_shipped()


@contextlib.contextmanager
def files_refused() -> Generator[None]:
    """Report an error in a file of vectors or of expected deviations on one line, with the file and the place."""
    from overlong.conformance.results.expected_file import ExpectationError
    from overlong.conformance.support.strict_json import JsonError
    from overlong.conformance.vectors.check import CheckError

    try:
        yield
    except (CheckError, ExpectationError, JsonError) as error:
        leave(str(error), USAGE)


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
        raise click.BadParameter(f"no profile {name!r}; {did_you_mean(name, DIALECTS)}", param_hint="--profile")
    return found


def with_plans(command: Any) -> Any:
    """Add ``--plan``. The command gets ``plans``: names that ``plan_named`` accepts, each once."""
    return click.option(
        "--plan",
        "plans",
        multiple=True,
        metavar="NAME",
        callback=_plans,
        shell_complete=_complete_plans,
        help="Sweep with this plan, such as exhaustive-4 or pairs; repeatable. 'overlong docs suites' lists them.",
    )(command)


def _plans(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        return ()
    from overlong.conformance.sweep.plan import plan_named

    try:
        return tuple(dict.fromkeys(plan_named(name).name for name in names))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _complete_plans(_context: click.Context, _option: click.Parameter, begun: str) -> list[CompletionItem]:
    from overlong.conformance.sweep.plan import PLANS

    return [CompletionItem(kind.form) for kind in PLANS.values() if kind.form.startswith(begun)]


def text_or_json(help_text: str = "What to print.") -> Callable[[Any], Any]:
    """``--format text`` or ``json``; the command gets it as ``output_format``."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help=help_text,
    )


class Jobs(NamedTuple):
    """Who works: a number of processes here, or the workers of a Dask scheduler."""

    number: int
    """0: one for each CPU."""
    cluster: str
    """The scheduler's address; empty if this machine works."""


def _jobs(_context: click.Context, _option: click.Parameter, text: str | None) -> Jobs:
    if text is None:
        return Jobs(0, "")
    if "://" in text:
        return Jobs(0, text)
    if text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= 1024:
        return Jobs(int(text), "")
    raise click.BadParameter(f"{text!r} is neither a number from 1 to 1024 nor tcp://HOST:PORT")


def jobs_option(what: str) -> Callable[[Any], Any]:
    """``--jobs``, whose value is a :class:`Jobs`. ``what``: the beginning of its help text."""
    return click.option(
        "-j",
        "--jobs",
        metavar="N|ADDRESS",
        callback=_jobs,
        help=f"{what}, or tcp://HOST:PORT of a Dask scheduler, whose workers do it.  [default: one for each CPU]",
    )


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


_KINDS = {
    "py:": "a Python function: py:MODULE:CALLABLE",
    "so:": "a function of a shared library: so:LIBRARY:FUNCTION?abi=...",
    "wasm:": "a function in WebAssembly: wasm:MODULE:FUNCTION?abi=...",
    "cmd:": "a program that exits with status 0 or 1",
    "lines:": "a program that reads lines of hexadecimal and writes a line for each",
}


def complete_targets(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete targets: decoders with an adapter, targets that the project names, and the prefixes of other targets."""
    from overlong.conformance.oracle.target import UnknownTarget
    from overlong.conformance.targets.builtins import all_shipped
    from overlong.conformance.targets.configured import configured

    try:
        own = configured()
    except UnknownTarget:  # the other words help even if the project's file cannot be read
        own = {}
    words = dict.fromkeys(own, "named by this project")
    words |= {name: builtin.what for name, builtin in all_shipped().items()}
    return _beginning(incomplete, (words | _KINDS).items())


def complete_suites(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete suites, without making their vectors."""
    from overlong.conformance.vectors.suites import SUITES
    from overlong.conformance.vectors.suites.suite import GIVEN

    return _beginning(incomplete, [*((name, "") for name in SUITES), (GIVEN, "the vectors of --vectors")])


def complete_profiles(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete dialects."""
    from overlong.reference import DIALECTS

    return _beginning(incomplete, ((name, "") for name in DIALECTS))


def complete_codes(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the codes that ``explain`` knows, with their titles."""
    from overlong.conformance.protocol.observation import KINDS
    from overlong.reference import DEFECTS

    titles = {code: defect.title for code, defect in DEFECTS.items()} | {c: kind.title for c, kind in KINDS.items()}
    return _beginning(incomplete, [("codes", "all of them"), *sorted(titles.items())])


def complete_languages(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the languages of the adapter templates."""
    from overlong.conformance.targets.starters import TEMPLATES

    return _beginning(incomplete, ((name, "") for name in TEMPLATES))


def _beginning(incomplete: str, words: Iterable[tuple[str, str]]) -> list[CompletionItem]:
    return [CompletionItem(word, help=what or None) for word, what in words if word.startswith(incomplete)]
