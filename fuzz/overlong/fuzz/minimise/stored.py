"""A finding as a campaign keeps it."""

from __future__ import annotations

from dataclasses import dataclass

ANYWHERE = "anywhere"
"""What a finding says of its placement where that does not matter."""


@dataclass(frozen=True)
class StoredFinding:
    """One cause, as far as octets can tell; its id is a hash of the key of its bucket. All text is printable."""

    id: str
    """``D-7f3a0c19``."""
    target: str
    operation: str
    """Its letter."""
    code: str
    """``OV201``."""
    form: str
    """The grammar's alternative at the divergence; empty where none fits."""
    octets_at: str
    """The class of octets at the divergence: ``C0-C1``; empty at the end of the input."""
    placement: str
    """What its place has to do with it: ``anywhere``, ``across a multiple of 64``, ``at offset 15``."""
    title: str
    section: str
    octets: bytes
    """The least input that shows it."""
    chunks: tuple[int, ...] | None
    earlier: tuple[bytes, ...] | None
    expected: str
    """What RFC 3629 says, in words; of a difference what the peer did."""
    observed: str
    peer: str
    """The other target, if it is a difference and no fault; else empty."""
    minimal: bool
    """Whether nothing can be left out of it, and no octet be made less; if not, time ran out first."""
    stable: int
    """How often it showed when it was asked again in fresh processes, out of :data:`AGAIN`; a difference, of which
    there are many and which is no fault, is asked again in the same ones."""
    count: int
    """How many inputs of the campaign showed it, counting those that share its fingerprint."""
    first: int
    """The number of the input that showed it first."""
    seconds: float
    """Seconds of campaign time, when it was found."""

    @property
    def where(self) -> str:
        """Where in the grammar it shows, and what its place has to do with it; empty if nothing is known of either."""
        return ", ".join(part for part in (self.form, self.octets_at, self.placement) if part not in ("", ANYWHERE))

    @property
    def is_difference(self) -> bool:
        """Whether RFC 3629 leaves it open, so that it is no fault."""
        return bool(self.peer)

    @property
    def is_stable(self) -> bool:
        return self.stable == AGAIN


AGAIN = 10
"""How often a finding is asked again, each time in a process of its own."""
