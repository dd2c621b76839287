"""What a decoder is measured by: a dialect, and the error modes that it says it has."""

from __future__ import annotations

from dataclasses import dataclass, replace

from overlong.reference import ERROR_MODES, Dialect, ErrorMode, dialect


@dataclass(frozen=True)
class Profile:
    """A dialect and an error mode, by name."""

    speaks: str = "rfc3629"
    replaces: str = "replacement"
    encodes: str = "fatal"
    """What its encoder does with what is no scalar value: ``fatal``, ``replacement`` or ``question mark``."""

    @property
    def name(self) -> str:
        """As a certificate has it; the number is that of the frozen list of vectors."""
        return f"{self.speaks}@1"

    def as_said(self, error_mode: str, encode_errors: str) -> Profile:
        """The profile of a target that says this of itself; an unknown error mode leaves what there was."""
        known = error_mode in ERROR_MODES and ERROR_MODES[error_mode].stands_for is not None
        return replace(self, replaces=error_mode if known else self.replaces, encodes=encode_errors)

    @property
    def dialect(self) -> Dialect:
        return dialect(self.speaks)

    @property
    def mode(self) -> ErrorMode:
        return ERROR_MODES[self.replaces]


RFC3629 = Profile()
