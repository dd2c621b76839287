"""A finding in a campaign's store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import claim_of

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Why


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

    @property
    def is_stable(self) -> bool:
        return self.stable == AGAIN


AGAIN = 10
"""How often a finding is asked again, each time in a fresh process."""
