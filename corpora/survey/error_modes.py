"""Learns how decoders replace that differ from their declared mode: each in a process of its own, ``learning.py``."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import REPLACEMENT, VERDICT
from overlong.conformance.results.model import FAILS, HOLDS
from overlong.conformance.support.process import environment, script
from overlong.conformance.vectors.profile import RFC3629
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
