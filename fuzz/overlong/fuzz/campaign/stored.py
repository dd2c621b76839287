"""A finding of a campaign, and its form in the campaign's files."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.finding import Why, claim_of
from overlong.conformance.results.records import why_as_json

if TYPE_CHECKING:
    from collections.abc import Mapping

AGAIN = 10
"""How often a finding is asked again, each time in a fresh process."""


@dataclass(frozen=True)
class StoredFinding:
    """One cause; its id is a hash of its target and its condition, or of its code and place. All text is printable."""

    id: str
    """``D-7f3a0c19``."""
    target: str
    operation: str
    """The operation's letter."""
    code: str
    """``OV201``."""
    place: str
    """The place in the grammar, or the defect; may be empty."""
    title: str
    section: str
    octets: bytes
    """The least input that shows it."""
    chunks: tuple[int, ...] | None
    earlier: tuple[bytes, ...] | None
    expected: str
    """The expected answer by RFC 3629, in words; for a difference, the peer's answer."""
    observed: str
    peer: str
    """The other target of a difference; empty for a fault."""
    minimal: bool
    """True if no less input was found in the time there was for it."""
    stable: int
    """How often it showed again in fresh processes, out of :data:`AGAIN`. A difference, which is no fault, is asked
    again in the same processes, since there are many."""
    count: int
    """The number of inputs of the campaign that showed it, or that its condition predicts."""
    first: int
    """The number of the first input that showed it."""
    seconds: float
    """The campaign time of its discovery, in seconds."""
    why: Why | None = None
    """When the target is wrong; None if experiments could not tell."""
    telling: bytes = b""
    """An input that says more than the least one, if there is one."""

    @property
    def where(self) -> str:
        """When it shows if that is known, else its place; may be empty."""
        return self.why.sentence if self.why is not None else self.place

    @property
    def claim(self) -> str:
        """The claim that it refutes."""
        return claim_of(self.code, self.operation)

    @property
    def is_difference(self) -> bool:
        """True for a difference that RFC 3629 allows, which is no fault."""
        return bool(self.peer)

    def as_json(self) -> dict[str, Any]:
        """It as plain data; octets as hexadecimal digits."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("why", "telling")}
        return {
            **plain,
            "octets": self.octets.hex(),
            "chunks": None if self.chunks is None else list(self.chunks),
            "earlier": None if self.earlier is None else [piece.hex() for piece in self.earlier],
            **why_as_json(self.why),
            **({"telling": self.telling.hex()} if self.telling else {}),
        }

    @classmethod
    def of(cls, read: Mapping[str, Any]) -> StoredFinding:
        """The finding that was written so, by the schema."""
        wanted: dict[str, Any] = {each.name: read[each.name] for each in fields(cls) if each.name in read}
        wanted["octets"] = bytes.fromhex(wanted["octets"])
        wanted["chunks"] = None if read["chunks"] is None else tuple(read["chunks"])
        wanted["earlier"] = None if read["earlier"] is None else tuple(map(bytes.fromhex, read["earlier"]))
        wanted["telling"] = bytes.fromhex(read.get("telling", ""))
        if "sentence" in read:
            condition = dict(read["condition"])
            predicted, asked = read["confirmed"]
            wanted["why"] = Why(read["sentence"], condition.pop("id"), condition, (predicted, asked))
        return cls(**wanted)
