"""Files each divergence of a survey: with a text for maintainers, as announced, as practice, or withheld."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpora.survey.confirmation import demonstrated
from corpora.survey.faults import Fault, faults_of
from corpora.survey.kept import announced
from overlong.conformance.protocol.observation import EARLIEST, LIMITS, POSITION, REPLACEMENT, UNDECLARED

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from overlong.conformance.results.model import Cause, Subject

REPORTS = "reports"
"""The folder of the texts for maintainers, each ``ID-FAULT.md``."""
WITHDRAWN = "withdrawn.json"
"""The file of divergences without a text any more: an object of ``ID-CODE`` and the reason. They were seen in the
version surveyed; a newer version has fixed them, or they are documented."""
WITHHELD = "withheld.json"
"""The file of divergences without independent confirmation, which are not published: a list of ``ID-CODE``."""

TOLD_WORDS = "what real decoders do"


def is_practice(cause: Cause) -> bool:
    """True if RFC 3629 leaves the subject of a divergence open: maintainers get no text for it."""
    return cause.code == UNDECLARED or cause.claim in (POSITION, REPLACEMENT, EARLIEST, LIMITS)


def told(subject: Subject, left_out: Collection[str] = ()) -> list[Fault]:
    """The faults to tell a decoder's maintainers, without divergences that the decoder announces.

    Of several divergences of a code, a fault has the one with a complete program, or else the least.

    Args:
        subject: the decoder.
        left_out: divergences that are withdrawn or withheld, ``ID-CODE`` each.
    """
    causes = [cause for cause in subject.causes if not is_practice(cause)]
    first = [cause for cause in causes if demonstrated(subject.id, cause) is not None]
    found = list[Fault]()
    for fault in faults_of((*first, *causes)):
        gone = [code for code in fault.codes if announced(subject, code) or f"{subject.id}-{code}" in left_out]
        if len(gone) < len(fault.causes):
            found.append(fault.without(gone))
    return found


@dataclass(frozen=True)
class Files:
    """The files beside a survey, and the decoders that another page covers."""

    texts: Collection[str]
    withheld: Collection[str]
    told: Collection[str]
    """Decoders whose divergences are in docs/divergences.md, each confirmed by a standalone program."""
    withdrawn: Mapping[str, str] = field(default_factory=dict[str, str])
    """Why a text was withdrawn."""

    def text(self, subject: Subject, cause: Cause) -> str:
        """The name of the text for maintainers that has a divergence; empty if none has."""
        faults = told(subject, {*self.withdrawn, *self.withheld})
        names = (f"{subject.id}-{fault.name}" for fault in faults if cause.code in fault.codes)
        return next((name for name in names if name in self.texts), "")

    def words(self, subject: Subject, cause: Cause) -> str:
        """The place where a divergence is filed, in words; empty if nowhere."""
        name = f"{subject.id}-{cause.code}"
        if name in self.withdrawn:
            return f"withdrawn: {self.withdrawn[name]}"
        if said := announced(subject, cause.code):
            return f"documented: {said}"
        if cause.code == UNDECLARED:
            return "no rule of RFC 3629: its record declares a limit that is not so"
        if is_practice(cause):
            return "no rule of RFC 3629: Unicode and WHATWG recommend otherwise"
        if name in self.withheld:
            return "withheld: a program of its own gave another answer"
        if self.text(subject, cause):
            return "a text for its maintainers"
        return TOLD_WORDS if subject.id in self.told else ""


def withheld_in(folder: Path) -> list[str]:
    """The divergences that a survey's folder withholds."""
    path = folder / WITHHELD
    names: list[str] = json.loads(path.read_text("utf-8")) if path.exists() else []
    return names


def withdrawn_in(folder: Path) -> dict[str, str]:
    """The divergences of a survey's folder whose texts were withdrawn, each with the reason."""
    path = folder / WITHDRAWN
    reasons: dict[str, str] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return reasons
