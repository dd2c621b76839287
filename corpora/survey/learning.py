"""Learns how one decoder replaces.

    python corpora/survey/learning.py NAME [DIALECT...]

The dialects are those over which it may replace, none if they are unknown. The output is a JSON string: how it
replaces, in words.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from overlong.conformance.models.identify import identify_error_mode
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.support.printable import printable
from overlong.conformance.targets.resolve import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.models.identify import LearnedPart

_QUESTIONS = 1_000_000
_EXAMPLES = 3
_TITLE = "error mode"


def how(target: str, speaks: Sequence[str]) -> str:
    """How a decoder replaces, in words; empty if it cannot be asked.

    Args:
        target: its name.
        speaks: dialects over which it may replace; empty if they are unknown.
    """
    try:
        with closing(resolve(target)) as opened:
            opened.open()
            part = identify_error_mode(opened, _QUESTIONS, speaks).part(_TITLE)
    except (BudgetSpent, TargetError):
        return ""
    return in_words(part) if part is not None else ""


def in_words(part: LearnedPart) -> str:
    """``replacement-per-surrogate, except: E0 80 becomes U+FFFD, not U+FFFD U+FFFD; ...``."""
    examples = "; ".join(list(_examples(part))[:_EXAMPLES])
    like, joined = (f"not settled: {printable(part.why_not, 300)}", "") if part.why_not else (part.name, ", except")
    return printable(f"{like}{joined}: {examples}" if examples else like, 600)


def _examples(part: LearnedPart) -> Iterator[str]:
    """The differences of a decoder from its nearest error mode, and from its learned automaton."""
    for each in part.examples:
        yield f"{_hexadecimal(each.counterexample.witness)} becomes {each.said}, not {each.wanted}"
    for found in part.against:
        finding = found.finding
        said = observed_in_words(finding.observed, finding.operation)
        yield f"{_hexadecimal(found.octets)} becomes {said}, not {finding.expected_words}"


def _hexadecimal(octets: bytes) -> str:
    return octets.hex(" ").upper()


if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # a target's own output must not look like an answer
    answers.write(json.dumps(how(sys.argv[1], sys.argv[2:])))
