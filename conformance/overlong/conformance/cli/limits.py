"""What a target may do: ``--limit NAME=VALUE``, ``--trust``, and the question that this answers: may overlong run the
commands that a file names?
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from overlong.conformance.cli.options import TRUST, width
from overlong.conformance.support.printable import did_you_mean, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
    from pathlib import Path

    from overlong.conformance.targets.consent import WantedConsent
    from overlong.conformance.targets.limits import Limits


_LIMITS = "overlong.limits"
_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40}
_LEAST_MEMORY, _MOST_MEMORY = 16 << 20, 1 << 60


def _between(least: float, most: float, kind: type[float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        number = kind(text)
        if not least <= number <= most:  # so "nan" is refused, too
            raise ValueError(text)
        return number

    return read


def _octets(size: str) -> int:
    """The number of octets in a size: ``0``, ``512M``, ``4G``."""
    text = size.upper().removesuffix("IB").removesuffix("B")
    number, unit = (text[:-1], text[-1:]) if text[-1:] in _UNITS else (text, "")
    if not (number.isascii() and number.isdecimal()) or len(number) > 12:
        raise ValueError(size)
    octets = int(number) << _UNITS.get(unit, 0)
    if octets and not _LEAST_MEMORY <= octets <= _MOST_MEMORY:
        raise ValueError(size)
    return octets


class _Limit(NamedTuple):
    read: Callable[[str], Any]
    """Reads a value. It raises ``ValueError`` or ``KeyError`` for text that is none."""
    usual: Any
    values: str
    """The values, for an error."""
    meaning: str


_OF_TARGETS = {
    "timeout": _Limit(
        _between(0.01, 3600, float), 5.0, "seconds from 0.01 to 3600", "timeout={:g} (seconds for one answer)"
    ),
    "restarts": _Limit(
        _between(0, 10**9, int), 100, "a number from 0 on", "restarts={} (crashes and hangs, then the run stops)"
    ),
    "memory": _Limit(
        _octets,
        4 << 30,
        "512M, 4G, or 0 for no limit; 16M is the least",
        "memory=4G (for each process, 0 for no limit; Linux only)",
    ),
    "sandbox": _Limit(
        {"on": True, "off": False}.__getitem__,
        True,  # noqa: FBT003
        "on or off",
        "sandbox=on (off: a plain process group, without a memory limit, and processes that leave it may outlive it)",
    ),
}
_MORE = {
    "questions": _Limit(
        _between(1, 10**12, int), 1_000_000, "a number from 1 on", "questions={} (strings for one operation)"
    ),
}


def _read(words: Sequence[str], limits: Mapping[str, _Limit]) -> dict[str, Any]:
    """The value of each limit: that of the last word ``NAME=VALUE`` that sets it, or the usual one.

    Raises:
        click.BadParameter: there is no such limit, or it does not take the value.
    """
    values = {name: limit.usual for name, limit in limits.items()}
    for word in words:
        name, _, value = word.partition("=")
        if name not in limits:
            raise click.BadParameter(f"no limit {name!r}; {did_you_mean(name, limits)}", param_hint="--limit")
        try:
            values[name] = limits[name].read(value)
        except (KeyError, ValueError):
            needed = limits[name].values
            raise click.BadParameter(f"{name}={value}: write {needed}", param_hint="--limit") from None
    return values


def _keep_trust(context: click.Context, _option: click.Parameter, given: bool) -> None:  # noqa: FBT001
    context.meta[TRUST] = given


def with_limits(*more: str, timeout: float = 5.0) -> Callable[[Any], Any]:
    """Add ``--limit`` and ``--trust``; the command gets the values from :func:`limits_of` and :func:`limit_called`.

    Args:
        more: names of limits beside those of :class:`~overlong.conformance.targets.limits.Limits`.
        timeout: the usual time for one answer, in seconds.
    """
    limits = {**_OF_TARGETS, "timeout": _OF_TARGETS["timeout"]._replace(usual=timeout)}
    limits |= {name: _MORE[name] for name in more}

    def keep(context: click.Context, _option: click.Parameter, words: Sequence[str]) -> None:
        context.meta[_LIMITS] = _read(words, limits)

    meanings = ", ".join(limit.meaning.format(limit.usual) for limit in limits.values())
    options = (
        click.option(
            "--limit",
            "limits",
            multiple=True,
            metavar="NAME=VALUE",
            expose_value=False,
            callback=keep,
            help=f"A limit of the target (repeatable). If none is set: {meanings}.",
        ),
        click.option(
            "--trust",
            is_flag=True,
            expose_value=False,
            callback=_keep_trust,
            help="Run what files name (overlong.toml or pyproject.toml here, a resumed campaign) without asking.",
        ),
    )

    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def limit_called(name: str) -> Any:
    """The value of a limit of the present command."""
    return click.get_current_context().meta[_LIMITS][name]


def limits_of() -> Limits:
    """The target's limits of the present command."""
    from overlong.conformance.targets.limits import Limits

    timeout, restarts, memory, sandbox = map(limit_called, _OF_TARGETS)
    return Limits(timeout, restarts, memory=memory, sandbox=sandbox)


_Result = TypeVar("_Result")


def agreed_to(targets: Iterable[str | Sequence[str]], *, trust: bool | None = None, ask: bool = True) -> None:
    """Show what files of the current folder would run for these targets, and ask the user to agree.

    On a terminal this asks the user, and remembers an agreement. ``--trust`` agrees for this run.

    Args:
        targets: as on the command line.
        trust: true if ``--trust`` was given; None: use the option of :mod:`limits`.
        ask: false: never wait for an answer.

    Raises:
        NotAgreed: the user did not agree.
        UnknownTarget: the file is invalid.
    """
    from overlong.conformance.targets.consent import wanted_by

    if (wanted := wanted_by(targets)) is not None:
        _agree(wanted, trust=trust, ask=ask)


def with_agreement(run: Callable[[], _Result], *, trust: bool | None = None, ask: bool = True) -> _Result:
    """The result of a function; each time that it lacks the user's consent, get that as :func:`agreed_to`, and repeat.

    Raises:
        NotAgreed: the user did not agree.
    """
    from overlong.conformance.targets.consent import NotAgreed

    while True:
        try:
            return run()
        except NotAgreed as refused:
            _agree(refused.wanted, trust=trust, ask=ask)


def named_by_user(file: Path, targets: Iterable[str | Sequence[str]]) -> None:
    """Remember that the user has written these targets on the command line, since this file names them from now on."""
    from overlong.conformance.targets.consent import remember, wanted_from

    with _told_if_not_kept():
        if (wanted := wanted_from(file, targets)) is not None:
            remember(wanted)


def _agree(wanted: WantedConsent, *, trust: bool | None, ask: bool) -> None:
    """Show all that would run, and get the user's consent.

    Raises:
        NotAgreed: there is none.
    """
    from overlong.conformance.targets.consent import NotAgreed, agree, remember

    trusted = click.get_current_context().meta.get(TRUST, False) if trust is None else trust
    asking = ask and not trusted and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    if not trusted and (not asking or wanted.too_long):
        raise NotAgreed(wanted, wanted.too_long)
    click.echo(f"overlong: {wanted.file}{wanted.where} names what runs", err=True)
    for row in wanted.rows(width()):
        click.echo(row, err=True)
    if asking:
        if not _yes(f"Run this, {wanted.until}?"):
            raise NotAgreed(wanted, f"{wanted.file}: you did not agree, so nothing was run")
        with _told_if_not_kept():
            remember(wanted)
    agree(wanted)


@contextlib.contextmanager
def _told_if_not_kept() -> Generator[None]:
    """Print a note if an agreement cannot be stored."""
    try:
        yield
    except OSError as error:
        where = f"{printable(str(error.filename))}: " if error.filename else ""
        click.echo(f"overlong: note: {where}{error.strerror}; the next run asks again", err=True)


def _yes(question: str) -> bool:
    """The user's answer on the terminal; its end (Ctrl-D) is no.

    Raises:
        KeyboardInterrupt: on Ctrl-C.
    """
    answer = ""
    try:
        click.echo(f"{question} [y/N]: ", nl=False, err=True)
        answer = sys.stdin.readline()
    except UnicodeDecodeError:
        pass
    finally:
        if not answer.endswith("\n"):  # the next message begins a line of its own
            click.echo(err=True)
    return answer.strip().lower() in ("y", "yes")
