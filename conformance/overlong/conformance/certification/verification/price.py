"""Computes the cost of verifying a certificate in advance: a word from a stranger may mean years of work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable, thousands
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.resolve import Limits
from overlong.conformance.vectors.profile import Profile
from overlong.reference import DIALECTS

if TYPE_CHECKING:
    from overlong.conformance.certification.verification.reading import Certified

MOST = 10**9
"""The most strings of sweeps by default: a hundred times the strings of ``certify``'s default."""
_FAST, _SLOW = 10**6, 10**5
"""The strings that decoders answer in a second, fast ones and those that raise an exception for each error."""
_UNITS = (("year", 31_557_600), ("day", 86_400), ("hour", 3_600), ("minute", 60), ("second", 1))


class TooDear(Exception):
    """It would ask more strings than allowed; the message has their number and the option to allow them."""


@dataclass(frozen=True)
class Price:
    """The work that a certificate requires."""

    strings: int
    """The strings of its sweeps."""
    waiting: float
    """The seconds for a target that hangs as often as its limit allows."""

    @classmethod
    def of(cls, certified: Certified) -> Price:
        """The price of a certificate, by counting alone. Unknown plans cost nothing, because verifying refuses them."""
        speaks = certified.predicate["profile"].partition("@")[0]
        profile = Profile(speaks) if speaks in DIALECTS else Profile()
        strings = 0
        for name in dict.fromkeys(plan["plan"] for plan in certified.predicate["sweeps"]):
            try:
                strings += plan_named(name, profile).size
            except ValueError:
                continue
        limits = certified.invocation["limits"]
        return cls(strings, limits["timeout"] * (limits["restarts"] + 1))

    @property
    def words(self) -> str:
        """``282 578 800 148 736 strings, 8 years at a million a second, 89 years at a hundred thousand``."""
        fast, slow = (_duration(self.strings / rate) for rate in (_FAST, _SLOW))
        return f"{thousands(self.strings)} strings, {fast} at a million a second, {slow} at a hundred thousand"

    @property
    def lines(self) -> list[str]:
        """The lines to print in advance; without costs common to all certificates.

        No line says how long the sweeps take: a certificate has no clock time, and decoders differ a hundredfold.
        """
        usual = Limits()
        said = [f"its sweeps have {thousands(self.strings)} strings"] if self.strings else []
        if self.waiting > usual.timeout * (usual.restarts + 1):
            said.append(f"a target that hangs may take {_duration(self.waiting)}, by the limits in it")
        return said

    def allowed(self, certified: Certified, most: int) -> None:
        """Check that it does not exceed the allowed strings.

        Raises:
            TooDear: it does.
        """
        if self.strings > most:
            raise TooDear(
                f"{printable(str(certified.path))}: its sweeps have {self.words}; nothing was run, since "
                f"{thousands(most)} are allowed: --max-strings {self.strings} allows these"
            )


def _duration(seconds: float) -> str:
    name, size = next(((name, size) for name, size in _UNITS if seconds >= size), _UNITS[-1])
    number = max(1, round(min(seconds, 1e30) / size))
    return f"{thousands(number)} {name}{'s' * (number != 1)}"
