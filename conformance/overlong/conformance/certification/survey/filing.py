"""Where each divergence of a survey is filed: with a text for maintainers, as announced, as practice, or withheld."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.certification.survey.kept import announced
from overlong.conformance.protocol.kind import EARLIEST, LIMITS, POSITION, REPLACEMENT, UNDECLARED

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from overlong.conformance.results.model import Cause, Subject

REPORTS = "reports"
"""The folder of the texts for maintainers, ``ID-CODE.md`` each."""
WITHHELD = "withheld.json"
"""What was not confirmed by another road, and is published of no decoder: a list of ``ID-CODE``."""


def is_practice(cause: Cause) -> bool:
    """Whether RFC 3629 leaves open what a divergence is about: maintainers get no text for it."""
    return cause.code == UNDECLARED or cause.claim in (POSITION, REPLACEMENT, EARLIEST, LIMITS)


@dataclass(frozen=True)
class Files:
    """What lies beside a survey, and which decoders another page tells of."""

    texts: Collection[str]
    withheld: Collection[str]
    told: Collection[str]
    """Decoders whose divergences docs/divergences.md has, each seen by a program of its own."""

    def words(self, subject: Subject, cause: Cause) -> str:
        """Where a divergence is filed, in words; empty if nowhere."""
        name = f"{subject.id}-{cause.code}"
        if name in self.texts:
            return "a text for its maintainers"
        if said := announced(subject, cause.code):
            return f"documented: {said}"
        if cause.code == UNDECLARED:
            return "no rule of RFC 3629: its record declares a limit that is not so"
        if is_practice(cause):
            return "no rule of RFC 3629: Unicode and WHATWG recommend otherwise"
        if name in self.withheld:
            return "withheld: a program of its own gave another answer"
        return "what real decoders do" if subject.id in self.told else ""


def withheld_in(folder: Path) -> list[str]:
    """What a survey's folder withholds."""
    path = folder / WITHHELD
    names: list[str] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return names
