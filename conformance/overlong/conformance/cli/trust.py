"""``--trust``, and the question that it answers: may overlong run the commands of a file in the current folder?"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

TRUST = "overlong.trust"


def keep_trust(context: click.Context, _option: click.Parameter, given: bool) -> None:  # noqa: FBT001
    """The callback of ``--trust``."""
    context.meta[TRUST] = given


def named_here() -> list[str]:
    """With ``--trust``, all targets that a file of the current folder names: a resumed campaign names none itself."""
    from overlong.conformance.targets.configured import configured

    return list(configured()) if click.get_current_context().meta.get(TRUST) else []


def agreed_to(targets: Iterable[str | Sequence[str]], *, trust: bool | None = None) -> None:
    """Show what files of the current folder would run for these targets, and ask the user to agree.

    On a terminal this asks the user, and remembers an agreement. ``--trust`` agrees for this run.

    Args:
        targets: as on the command line.
        trust: true if ``--trust`` was given; None: use the option of ``with_limits``.

    Raises:
        NotAgreed: the user did not agree.
        UnknownTarget: the file is invalid.
    """
    from overlong.conformance.targets import consent

    wanted = consent.wanted_by(targets)
    if wanted is None:
        return
    trusted = click.get_current_context().meta.get(TRUST, False) if trust is None else trust
    asking = not trusted and all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stderr))
    if not trusted and not asking:
        raise consent.NotAgreed(wanted.refusal)
    click.echo(f"overlong: {wanted.file} in this folder names what runs", err=True)
    for line in wanted.lines:
        click.echo(f"  {line}", err=True)
    if asking:
        if not click.confirm("Run this, now and until the file changes?", default=False, err=True):
            raise consent.NotAgreed(f"{wanted.file}: you did not agree, so nothing was run")
        try:
            consent.remember(wanted)
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            click.echo(f"overlong: note: {where}{error.strerror}; the next run asks again", err=True)
    consent.agree(wanted)
