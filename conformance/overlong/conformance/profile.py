"""What a decoder is measured by: a dialect, and the error mode that it says it has."""

from __future__ import annotations

from dataclasses import dataclass

from overlong.reference import ERROR_MODES, Dialect, ErrorMode, dialect


@dataclass(frozen=True)
class Profile:
    """A dialect and an error mode, by name."""

    speaks: str = "rfc3629"
    replaces: str = "replacement"

    @property
    def name(self) -> str:
        """As a certificate has it; the number is that of the frozen list of vectors."""
        return f"{self.speaks}@1"

    @property
    def dialect(self) -> Dialect:
        return dialect(self.speaks)

    @property
    def mode(self) -> ErrorMode:
        return ERROR_MODES[self.replaces]


RFC3629 = Profile()
