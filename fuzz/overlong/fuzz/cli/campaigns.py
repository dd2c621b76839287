"""Common parts of these commands: targets, a campaign's folder, and one-line errors."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from overlong.conformance.cli.options import MARKER, USAGE, errors_on_one_line, leave

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

_COMMAND = "overlong.command"


class TargetsCommand(click.Command):
    """A command whose last arguments are targets: names, and after ``--`` one program with its own options."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[MARKER] = "--" in args
        if ctx.meta[MARKER]:
            at = args.index("--")
            ctx.meta[_COMMAND] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


def targets_of(names: Sequence[str]) -> tuple[str | tuple[str, ...], ...]:
    """The targets named by the arguments.

    Raises:
        click.UsageError: there is no target, or one is named twice.
    """
    meta = click.get_current_context().meta
    command: tuple[str, ...] | None = meta.get(_COMMAND)
    if command == ():
        raise click.UsageError("nothing follows --; write a command there: overlong fuzz -- node adapter.js")
    targets: tuple[str | tuple[str, ...], ...] = tuple(names)
    if command:
        targets += (command,)
    if not targets:
        raise click.UsageError("name a target: 'overlong target list' shows those that are ready here")
    if len(set(targets)) < len(targets):
        raise click.UsageError("a target is named twice; its answers would only be compared with themselves")
    if "" in targets:
        raise click.UsageError("'' names no target: 'overlong target list' shows those that are ready here")
    return targets


@contextlib.contextmanager
def campaign_errors() -> Generator[None]:
    """Report a campaign's error on one line, without a traceback."""
    from overlong.fuzz.campaign.state import CampaignError
    from overlong.fuzz.promotion.promote import PromotionError

    with errors_on_one_line():
        try:
            yield
        except (CampaignError, PromotionError) as error:
            leave(str(error), USAGE)
