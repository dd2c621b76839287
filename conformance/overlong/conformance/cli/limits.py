"""``--limit NAME=VALUE``: what a target may take and use, and ``--trust``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click

from overlong.conformance.cli.options import TRUST
from overlong.conformance.support.printable import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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
