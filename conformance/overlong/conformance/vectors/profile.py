"""A profile, the yardstick for a decoder: a dialect, and the error modes that the decoder reports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ASK, ENCODING, REPLACING
from overlong.reference import ERROR_MODES, Dialect, ErrorMode, decode_scalars, dialect

if TYPE_CHECKING:
    from overlong.conformance.protocol.greeting import Greeting


def puts_out(error_mode: str) -> bool:
    """True for a known error mode that replaces or skips: only then can all answers to L and T be judged."""
    mode = ERROR_MODES.get(error_mode)
    return mode is not None and mode.stands_for is not None


@dataclass(frozen=True)
class Profile:
    """A dialect and an error mode, by name."""

    speaks: str = "rfc3629"
    replaces: str = "replacement"
    encodes: str = "fatal"
    """The error mode of its encoder: ``fatal``, ``replacement`` or ``question mark``."""
    own_mode: str = ""
    """The target's name of an error mode unknown to overlong; empty if :attr:`replaces` is its mode."""
    counts: str = "octets"
    """The unit of a refusal's offset: ``octets``, ``scalars``, or ``utf-16`` code units."""
    functions: str = ""
    """The names of the questions that it answers, with spaces between; empty: all."""
    divides: str = ""
    """The declared modes of its functions: for ill-formed text, and of converters; empty if none is declared."""

    @property
    def name(self) -> str:
        """The name in a certificate; its number is that of the frozen list of vectors."""
        return f"{self.speaks}@1"

    def as_said(self, greeting: Greeting) -> Profile:
        """The profile of a target with this greeting; an unknown error mode leaves :attr:`replaces` unchanged."""
        of_units = {"utf-8": "octets", "utf-16": "utf-16", "utf-32": "scalars"}
        known = puts_out(greeting.error_mode)
        return replace(
            self,
            replaces=greeting.error_mode if known else self.replaces,
            own_mode="" if known else greeting.error_mode or "unnamed",
            encodes=greeting.encode_errors,
            counts=of_units[greeting.units.name] if greeting.offsets == "units" else greeting.offsets,
            functions=" ".join(greeting.functions),
            divides=f"{greeting.ill_formed} {greeting.stops}".strip(),
        )

    def offset(self, octets: bytes, place: int) -> int:
        """An offset in octets, converted to the target's unit; the octets before it are well-formed."""
        if self.counts == "octets":
            return place
        scalars = decode_scalars(octets[:place], spoken=self.dialect)
        return len(scalars) + (sum(scalar > 0xFFFF for scalar in scalars) if self.counts == "utf-16" else 0)

    def as_it_matters(self, operation: str) -> Profile:
        """The profile without the fields that do not affect an operation: these are as in :data:`RFC3629`."""
        return Profile(
            self.speaks,
            self.replaces if operation in REPLACING else RFC3629.replaces,
            self.encodes if operation in ENCODING else RFC3629.encodes,
            counts=RFC3629.counts if operation in REPLACING + ENCODING + ASK else self.counts,
            divides=self.divides if operation == ASK else RFC3629.divides,
        )

    @property
    def dialect(self) -> Dialect:
        return dialect(self.speaks)

    @property
    def mode(self) -> ErrorMode:
        return ERROR_MODES[self.replaces]


RFC3629 = Profile()
