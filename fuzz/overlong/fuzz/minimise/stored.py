"""A finding in a campaign's store."""

from __future__ import annotations

from dataclasses import dataclass

ANYWHERE = "anywhere"
"""The placement of a finding whose place does not matter."""


@dataclass(frozen=True)
class StoredFinding:
    """One cause, as far as octets can tell; its id is a hash of its bucket's key. All text is printable."""

    id: str
    """``D-7f3a0c19``."""
    target: str
    operation: str
    """The operation's letter."""
    code: str
    """``OV201``."""
    form: str
    """The grammar's alternative at the divergence; empty if none fits."""
    octets_at: str
    """The class of octets at the divergence: ``C0-C1``; empty at the end of the input."""
    placement: str
    """The role of its place: ``anywhere``, ``across a multiple of 64``, ``at offset 15``."""
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
    """True if no octet can be left out or made smaller; False if time ran out first."""
    stable: int
    """How often it showed again in fresh processes, out of :data:`AGAIN`. A difference, which is no fault, is asked
    again in the same processes, since there are many."""
    count: int
    """The number of inputs of the campaign that showed it or share its fingerprint."""
    first: int
    """The number of the first input that showed it."""
    seconds: float
    """The campaign time of its discovery, in seconds."""

    @property
    def where(self) -> str:
        """Its place in the grammar, and the role of its place; empty if neither is known."""
        return ", ".join(part for part in (self.form, self.octets_at, self.placement) if part not in ("", ANYWHERE))

    @property
    def is_difference(self) -> bool:
        """True for a difference that RFC 3629 allows, which is no fault."""
        return bool(self.peer)

    @property
    def is_stable(self) -> bool:
        return self.stable == AGAIN


AGAIN = 10
"""How often a finding is asked again, each time in a fresh process."""
