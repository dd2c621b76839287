"""An expected deviation: one entry of a file, and the divergences that it covers."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from datetime import date

    from overlong.conformance.oracle.finding import Finding


class ExpectationError(Exception):
    """A file of expected deviations is wrong, or cannot be written; the message is one line that says where."""


def matches(pattern: str, text: str) -> bool:
    """True if a pattern matches a text. ``*`` matches any text, also none; other characters match themselves."""
    return fnmatchcase(text, pattern.replace("[", "[[]").replace("?", "[?]"))


class Seen(NamedTuple):
    """The parts of a divergence that entries can name."""

    code: str
    place: str
    operation: str
    id: str
    """Id of its vector."""
    observed: str
    """In words."""
    finding: str
    """The finding's own id: a hash of octets, operation and answer."""

    @classmethod
    def of(cls, finding: Finding) -> Seen:
        return cls(
            finding.code, finding.place, finding.operation, finding.vector.id, finding.observed_words, finding.id
        )

    @property
    def line(self) -> bytes:
        """The line of this divergence in an entry's digest."""
        return f"{self.finding} {self.id}\n".encode()


@dataclass(frozen=True)
class Deviation:
    """An entry. ``target``, ``id``, ``place`` and ``observed`` are patterns (:func:`matches`)."""

    where: str
    """``overlong.toml line 12``."""
    number: int
    """Its place among the entries of its file, from 0."""
    observed: str
    """The answer that is expected, in the words of a report."""
    reason: str
    """The reason; empty if none is given."""
    target: str = "*"
    profile: str = "rfc3629"
    id: str = ""
    """Id of a vector; empty: any."""
    code: str = ""
    """Empty: whichever."""
    place: str | None = None
    """None: whichever."""
    operation: str = ""
    """A letter; empty: whichever."""
    link: str = ""
    expires: date | None = None
    """The last day on which it counts."""
    suites: tuple[str, ...] = ()
    """The suites or sweeps that show it, if given: it is stale only if all of them ran."""
    count: int | None = None
    """The number of divergences that it covers if exactly :attr:`suites` run; None: any number."""
    digest: str = ""
    """SHA-256 of them all, in hexadecimal digits; empty: whichever."""

    @property
    def pinned(self) -> bool:
        """True if the entry fixes the number of its divergences, or their answers."""
        return self.count is not None or bool(self.digest)

    @property
    def names(self) -> str:
        """The divergences that it names, in a few words: ``overlong/c0af D``, ``OV201 place``."""
        words = [self.id, self.code, self.place or "", self.operation]
        return printable(" ".join(word for word in words if word))

    def names_same(self, seen: Seen) -> bool:
        """True if the entry names the divergence, whatever the observed answer."""
        return (
            (not self.code or self.code == seen.code)
            and (not self.operation or self.operation == seen.operation)
            and (self.place is None or matches(self.place, seen.place))
            and (not self.id or matches(self.id, seen.id))
        )
