"""The data of a survey: the report of a matrix, without details that matter only to its run."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from corpora.survey.records import documented
from overlong.conformance.support.printable import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlong.conformance.results.model import Report, Subject
    from overlong.conformance.targets.builtins import Builtin

SURVEY = "report.json"
"""The file of a survey. It is a report, which ``overlong report`` and ``overlong diff`` read."""
WHAT, OBTAINED, INTENT, REPLACES = "decodes with", "obtained from", "documented", "replaces like"
"""Titles in :attr:`Subject.recorded`: the entry point, its source, its documented departure from RFC 3629, and its
learned error mode."""
_CODES = re.compile(r"((?:OV\d{3}(?:, )?)+): (.+)")
"""The codes that an intent explains, if not all."""
HERE = "this system"


def kept(report: Report, decoders: Mapping[str, Builtin], modes: Mapping[str, str]) -> Report:
    """A matrix's report in the kept form: small, and equal for equal answers.

    Args:
        report: the report of the matrix.
        decoders: the decoders by their names.
        modes: the learned error modes of decoders, in words.
    """
    subjects = (_kept(subject, decoders.get(subject.id), modes.get(subject.id, "")) for subject in report.subjects)
    return replace(report, title=counted(len(report.subjects), "decoder"), subjects=tuple(subjects), source="")


def announced(subject: Subject, code: str) -> str:
    """The documentation of a decoder's divergence with this code; empty if there is none.

    Words that begin with codes, ``OV102: a byte order mark is dropped``, apply only to these codes.
    """
    return announced_by(subject.recorded.get(INTENT, ""), code)


def announced_by(words: str, code: str) -> str:
    """What a record's ``intent`` says of divergences with this code; empty if nothing."""
    some = _CODES.fullmatch(words)
    return words if some is None else some[2] if code in some[1] else ""


def _kept(subject: Subject, decoder: Builtin | None, mode: str) -> Subject:
    facts = {REPLACES: mode}
    version = subject.version
    if decoder is not None:
        facts |= {WHAT: decoder.what, OBTAINED: decoder.fetches or HERE, INTENT: documented(subject.id)}
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
