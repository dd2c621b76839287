"""``--plan exhaustive-4 --plan pairs --plan constant-1100``: plans of sweeps by their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def with_plans(command: Any) -> Any:
    """Add ``--plan``. The command gets ``plans``: names that ``plan_named`` accepts, each once."""
    return click.option(
        "--plan",
        "plans",
        multiple=True,
        metavar="NAME",
        callback=_known,
        shell_complete=_completed,
        help="Sweep with this plan, such as exhaustive-4 or pairs; repeatable. 'overlong docs suites' lists them.",
    )(command)


def _known(_context: click.Context, _option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
    if not names:
        return ()
    from overlong.conformance.sweep.plan import plan_named

    try:
        return tuple(dict.fromkeys(plan_named(name).name for name in names))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _completed(_context: click.Context, _option: click.Parameter, begun: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from overlong.conformance.sweep.plans import PLANS

    return [CompletionItem(kind.form) for kind in PLANS.values() if kind.form.startswith(begun)]
