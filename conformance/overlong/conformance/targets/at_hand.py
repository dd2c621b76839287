"""Which built-in decoders can be used on this machine, and which version each has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.builtins import BUILTINS

if TYPE_CHECKING:
    from overlong.conformance.targets.builtin import Builtin

_ASKED_AT_ONCE = 8  # versions: each waits for an interpreter or a virtual machine


@dataclass(frozen=True)
class AtHand:
    """A built-in decoder as this machine has it."""

    builtin: Builtin
    missing: str
    """What to install; empty if it can be used."""
    version: str
    """Empty if it is missing, or if only the decoder itself can say it."""

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.builtin.name,
            "language": self.builtin.language,
            "what": self.builtin.what,
            "version": self.version,
            "ready": not self.missing,
            "missing": self.missing,
            "fetches": self.builtin.fetches,
        }


def at_hand() -> list[AtHand]:
    """All of them, in order. Programs are asked for their versions; nothing is built or fetched."""
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        return list(pool.map(_look, BUILTINS.values()))


def _look(builtin: Builtin) -> AtHand:
    missing = builtin.missing()
    return AtHand(builtin, missing, "" if missing else builtin.version())
