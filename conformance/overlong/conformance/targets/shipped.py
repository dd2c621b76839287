"""The decoders with names: those that ship with an adapter, and those that have a record."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.records import surveyed

if TYPE_CHECKING:
    from overlong.conformance.targets.builtin import Builtin


def shipped(name: str) -> Builtin | None:
    """The decoder of that name. Records are read only for names without an adapter."""
    return BUILTINS.get(name) or surveyed().get(name)


def all_shipped() -> dict[str, Builtin]:
    """All these decoders, by their names."""
    return BUILTINS | surveyed()
