"""The data of a survey: the report of a matrix, without what only its run was interested in."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlong.conformance.results.model import Report, Subject
    from overlong.conformance.targets.builtin import Builtin

WHAT, OBTAINED, INTENT, REPLACES = "decodes with", "obtained from", "documented", "replaces like"
"""Titles in :attr:`Subject.recorded`: the entry point, where it comes from, what its documentation says of how it
departs from RFC 3629, and the error mode that was learned of it."""
_CODES = re.compile(r"((?:OV\d{3}(?:, )?)+): (.+)")
"""Of an intent: the codes that it explains, if not all."""
HERE = "this system"


def kept(report: Report, decoders: Mapping[str, Builtin], modes: Mapping[str, str]) -> Report:
    """A matrix's report as it is kept: small, and equal for equal answers.

    Args:
        report: of the matrix.
        decoders: by their names.
        modes: how decoders replace, in words, where that was learned.
    """
    subjects = (_kept(subject, decoders.get(subject.id), modes.get(subject.id, "")) for subject in report.subjects)
    return replace(report, subjects=tuple(subjects), source="")


def announced(subject: Subject, code: str) -> str:
    """What a decoder's documentation says of a divergence of this code; empty if it says nothing.

    Words that begin with codes, ``OV102: a byte order mark is dropped``, are of those alone.
    """
    words = subject.recorded.get(INTENT, "")
    some = _CODES.fullmatch(words)
    return words if some is None else some[2] if code in some[1] else ""


def _kept(subject: Subject, decoder: Builtin | None, mode: str) -> Subject:
    facts = {REPLACES: mode}
    version = subject.version
    if decoder is not None:
        facts |= {WHAT: decoder.what, OBTAINED: decoder.fetches or HERE, INTENT: decoder.intent}
        version = version or decoder.version()
    return replace(
        subject,
        version=version,
        recorded={title: words for title, words in facts.items() if words},
        command="",
        not_covered=(),
        categories={},
        notes=(),
        details={},
        automaton=None,
        seconds=0.0,
    )
