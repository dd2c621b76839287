"""The options that name plans of sweeps: ``--plan exhaustive-4 --plan pairs --constant 1100``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


LEAST, GREATEST = 3, 1 << 20
"""The numbers that ``--constant`` takes: those of the plan ``constant``, which is not loaded for a page of help."""


def with_plans(command: Any) -> Any:
    """Add the options.

    Their values are ``plans``: names that ``plan_named`` accepts, each once; and ``constants``: such names, too.
    """
    plan = click.option(
        "--plan",
        "plans",
        multiple=True,
        metavar="NAME",
        callback=_known,
        shell_complete=_completed,
        help="Sweep with this plan, such as exhaustive-4 or pairs; repeatable. 'overlong docs suites' lists them.",
    )
    constant = click.option(
        "--constant",
        "constants",
        multiple=True,
        type=click.IntRange(LEAST, GREATEST),
        metavar="N",
        callback=_around,
        help="Also test inputs near N octets and N characters (the plan constant-N); repeatable.",
    )
    return plan(constant(command))


def _around(_context: click.Context, _option: click.Parameter, numbers: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(f"constant-{number}" for number in dict.fromkeys(numbers))


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
