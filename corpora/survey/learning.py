"""Learns how decoders replace that differ from their declared mode, each in a process of its own.

    python corpora/survey/learning.py NAME [DIALECT...]

is that process, for one decoder. The dialects are those over which it may replace, none if they are unknown. The output
is a JSON string: how it replaces, in words.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.models.identify import identify_error_mode
from overlong.conformance.oracle.finding import observed_in_words
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import REPLACEMENT, VERDICT
from overlong.conformance.results.model import FAILS, HOLDS
from overlong.conformance.support.printable import printable
from overlong.conformance.support.process import environment, script
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.vector import RFC3629
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from overlong.conformance.models.identify import LearnedPart
    from overlong.conformance.results.model import Subject


_SECONDS = 180.0


def unsettled(subjects: Iterable[Subject]) -> list[Subject]:
    """The decoders that replace, but not in their declared mode."""
    return [
        subject
        for subject in subjects
        if "L" in subject.operations
        and (subject.claims.get(REPLACEMENT) == FAILS or subject.error_mode not in ERROR_MODES)
    ]


def learned(subjects: Iterable[Subject], jobs: int, done: Callable[[str], None]) -> dict[str, str]:
    """How each of these decoders replaces, in words; decoders that cannot be learned are omitted.

    Args:
        subjects: the decoders with their results in the suites: a verdict that holds is not learned again.
        jobs: the number to learn at a time.
        done: called with each name when its result is known.
    """

    def learn(subject: Subject) -> tuple[str, str]:
        words = _learn(subject)
        done(subject.id)
        return subject.id, words

    with ThreadPoolExecutor(jobs) as pool:
        return {target: words for target, words in sorted(pool.map(learn, subjects)) if words}


def _learn(subject: Subject) -> str:
    """How a decoder replaces; empty if the process ends, or takes too long."""
    speaks = [RFC3629.speaks] if subject.claims.get(VERDICT) == HOLDS else []
    command = script(Path(__file__).with_name("learning.py"), subject.id, *speaks)
    try:
        ran = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
        words: str = json.loads(ran.stdout)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return words


# One decoder, in a process of its own.

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
    for each in part.counterexamples:
        if each.words is not None:
            said, wanted = each.words
            yield f"{_hexadecimal(each.witness)} becomes {said}, not {wanted}"
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
