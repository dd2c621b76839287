"""Learns how decoders replace that differ from their declared mode: by a few processes, one decoder after another.

Each process keeps the machines for its comparisons: making those of all dialects takes longer than asking most
decoders. Such a process runs ``learning.py``.
"""

from __future__ import annotations

import json
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import REPLACEMENT, VERDICT
from overlong.conformance.results.run import FAILS, HOLDS
from overlong.conformance.support.interpreter import environment, script
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
    asked, words = SimpleQueue["Subject"](), dict[str, str]()
    for subject in subjects:
        asked.put(subject)

    def learn() -> None:
        with closing(_Process()) as process:
            while (subject := _next(asked)) is not None:
                words[subject.id] = process.learn(subject)
                done(subject.id)

    with ThreadPoolExecutor(jobs) as pool:
        for each in [pool.submit(learn) for _ in range(min(jobs, asked.qsize()))]:
            each.result()
    return {target: words[target] for target in sorted(words) if words[target]}


def _next(asked: SimpleQueue[Subject]) -> Subject | None:
    try:
        return asked.get_nowait()
    except Empty:
        return None


class _Process:
    """A process that learns; started on the first question, and restarted after it ended."""

    def __init__(self) -> None:
        self._running: subprocess.Popen[bytes] | None = None

    def learn(self, subject: Subject) -> str:
        """How a decoder replaces; empty if the process ends, or takes too long."""
        running = self._running = self._running or subprocess.Popen(
            script(Path(__file__).with_name("learning.py")),
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert running.stdin is not None
        assert running.stdout is not None
        speaks = [RFC3629.speaks] if subject.claims.get(VERDICT) == HOLDS else []
        clock = threading.Timer(_SECONDS, running.kill)
        clock.start()
        try:
            running.stdin.write(json.dumps([subject.id, speaks]).encode() + b"\n")
            running.stdin.flush()
            words: str = json.loads(running.stdout.readline())
        except (OSError, ValueError):
            self.close()
            return ""
        finally:
            clock.cancel()
        return words

    def close(self) -> None:
        """End it."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()
            self._running = None
