"""``--trust``, and the question that it answers: may overlong run the commands that a file names?"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, TypeVar

import click

from overlong.conformance.cli.options import TRUST, width
from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path

    from overlong.conformance.targets.consent import WantedConsent

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
