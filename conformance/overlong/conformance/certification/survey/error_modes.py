"""How decoders replace that do it otherwise than they declare: learned, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.kind import REPLACEMENT
from overlong.conformance.results.run import FAILS
from overlong.conformance.support.interpreter import environment, module
from overlong.conformance.support.printable import printable
from overlong.reference import ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from overlong.conformance.results.model import Subject

_SECONDS = 180.0
_EXAMPLES = 3
_TITLE = "error mode"


def unsettled(subjects: Iterable[Subject]) -> list[str]:
    """Those that replace, and not in the mode that they declare."""
    return [
        subject.id
        for subject in subjects
        if "L" in subject.operations
        and (subject.claims.get(REPLACEMENT) == FAILS or subject.error_mode not in ERROR_MODES)
    ]


def learned(targets: Sequence[str], jobs: int, done: Callable[[str], None]) -> dict[str, str]:
    """How each of these decoders replaces, in words; one that cannot be learned is left out.

    Args:
        targets: their names.
        jobs: how many at a time.
        done: told each name when it is known.
    """

    def learn(target: str) -> tuple[str, str]:
        words = _learn(target)
        done(target)
        return target, words

    with ThreadPoolExecutor(jobs) as pool:
        return {target: words for target, words in pool.map(learn, targets) if words}


def _learn(target: str) -> str:
    command = module("overlong", "identify", "--quiet", "--format", "json", target)
    try:
        ran = subprocess.run(
            command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
        parts: list[dict[str, Any]] = [part for part in json.loads(ran.stdout)["traits"] if part["title"] == _TITLE]
    except (OSError, ValueError, KeyError, subprocess.TimeoutExpired):
        return ""
    return _in_words(parts[0]) if parts else ""


def _in_words(part: dict[str, Any]) -> str:
    """``replacement-per-surrogate, except: E0 80 becomes U+FFFD, not U+FFFD U+FFFD; ...``."""
    departures: list[dict[str, str]] = part["departures"]
    examples = "; ".join(
        f"{bytes.fromhex(each['witness']).hex(' ').upper()} becomes {each['observed']}, not {each['expected']}"
        for each in departures[:_EXAMPLES]
        if "observed" in each
    )
    why: str = part.get("not_settled", "")
    like, joined = (f"not settled: {printable(why, 300)}", "") if why else (str(part["like"]), ", except")
    return printable(f"{like}{joined}: {examples}" if examples else like, 600)
