"""The options that name plans of sweeps: ``--exhaustive 4 --pairs``."""

from __future__ import annotations

from typing import Any

import click

_PLANS = "overlong.plans"
_OPTIONS: dict[str, tuple[str, int, int, str]] = {
    "exhaustive": ("N", 1, 6, "every string of 1 to N octets (5 and 6 take long)"),
    "depth": ("D", 0, 4, "the complete suite for decoders with up to D states more than needed"),
    "leads": ("", 0, 0, "every octet at each place after every lead, alone, at the end of text and within it"),
    "forms": ("", 0, 0, "every lead of two to four octets with all of its tails"),
    "placed": ("K", 0, 4096, "every string of up to four classes of octets at every offset from 0 to K"),
    "offsets": ("N", 0, 4096, "every kind of error at every offset from 0 to N, and as far from the end"),
    "lengths": ("L", 0, 4096, "text of every length from 0 to L and around powers of two, with an error at an end"),
    "far": ("P", 8, 22, "every kind of error after 2^P octets, and before 2^P octets"),
    "pairs": ("", 0, 0, "every two characters, whole or cut short, across boundaries of blocks"),
    "after": ("N", 0, 4, "every error after a character of every lead, with up to N others between"),
    "transitions": ("0|1|2", 0, 2, "every transition amid text, after each kind of character (1), after each lead (2)"),
    "faults": ("N", 1, 3, "up to 65 536 of one error, and up to N of several together"),
    "thresholds": ("P", 3, 22, "every kind of error around every 2^k octets and characters, k up to P"),
    "order": ("", 0, 0, "the complete suite, right after strings that end in each state"),
    "history": ("", 0, 0, "well-formed and ill-formed ends of text, right after text with the same beginning"),
    "drawn": ("SEED", 0, 999_999_999, "four million random strings of the grammar, drawn with this seed; repeatable"),
    "sample": ("SEED", 0, 999_999_999, "the same, two thousand strings"),
    "campaign": ("SEED", 0, 999_999_999, "the same, 268 million strings"),
}
"""For each kind of plan: the name of its number, the number's range, and the strings of the plan."""
_REPEATABLE = {"drawn", "sample", "campaign"}
"""Kinds whose plan with a larger number does not contain the plan with a smaller one."""


def with_plans(command: Any) -> Any:
    """Add an option for each kind of plan; :func:`plans_wanted` returns those that were named."""
    for plan, (number, least, most, strings) in reversed(_OPTIONS.items()):
        option = click.option(
            f"--{plan}",
            type=click.IntRange(least, most) if number else None,
            is_flag=not number,
            multiple=plan in _REPEATABLE,
            metavar=number or None,
            expose_value=False,
            callback=_keep,
            help=f"Sweep: {strings}.",
        )
        command = option(command)
    return command


def _keep(context: click.Context, option: click.Parameter, value: int | bool | tuple[int, ...] | None) -> None:  # noqa: FBT001
    if value is not None and value is not False and value != ():
        context.meta.setdefault(_PLANS, {})[option.name] = value


def plans_wanted() -> tuple[str, ...]:
    """The plans named on the command line, in the order of the help, in the form that ``plan_named`` takes."""
    named = click.get_current_context().meta.get(_PLANS, {})
    found = ((plan, each) for plan in _OPTIONS if plan in named for each in _several(named[plan]))
    return tuple(plan if each is True else f"{plan}-{each}" for plan, each in found)


def _several(value: int | tuple[int, ...]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(value)) if isinstance(value, tuple) else (value,)
