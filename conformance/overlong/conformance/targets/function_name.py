"""``FILE:NAME?abi=ABI&TRAIT=WORD``: a function of a library or a module, how it is called, and what is said of it."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.printable import printable
from overlong.conformance.protocol import TRAITS
from overlong.conformance.target import UnknownTarget

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAID = tuple(f"{member}={word}" for member in ("nul", "bom") for word in TRAITS[member])
"""What a user may say of a function, as a greeting says it (docs/protocol.md)."""


@dataclass(frozen=True)
class FunctionName:
    """The parts of such a name."""

    file: str
    name: str
    abi: str
    traits: tuple[str, ...]

    @classmethod
    def of(cls, shown: str, rest: str, form: str) -> FunctionName:
        """Take a name apart.

        Args:
            shown: the target as the user wrote it, safe to show.
            rest: what stands behind its kind.
            form: what the user is to write instead of what is none.

        Raises:
            UnknownTarget: it is none.
        """
        place, mark, query = rest.partition("?abi=")
        file, _, name = place.rpartition(":")
        if not mark or not file or not name:
            raise UnknownTarget(f"{shown}: {form}")
        abi, *traits = query.split("&")
        for trait in traits:
            if trait not in _SAID:
                raise UnknownTarget(
                    f"{shown}: behind the abi stands '{printable(trait)}'; there may stand {', '.join(_SAID)}"
                )
        return cls(file, name, abi, tuple(traits))

    def no_abi(self, shown: str, known: Iterable[str], where: str, otherwise: str) -> UnknownTarget:
        """The error for a name that is no ABI; ``otherwise`` is said where no known one is near."""
        near = difflib.get_close_matches(self.abi, known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        return UnknownTarget(f"{shown}: no abi '{printable(self.abi)}'{where}; {hint}{otherwise}")
