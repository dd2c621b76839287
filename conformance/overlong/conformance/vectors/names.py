"""Names of suites and of plans of sweeps: words that no shell splits. Only this module knows their former spelling.

``complete(0) refusing`` is now ``complete-0-refusing``, ``placed(64)`` is ``placed-64``. All code that reads a name
understands the former ones. Published data keep them (:func:`spelt_before`): digests that cover a name, the exported
files of an edition, a frozen profile.
"""

from __future__ import annotations

import contextlib
import re
import shlex
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

SPELLING = "complete-0"
"""A certificate's mark that its names have this spelling. A certificate without a mark has the former spelling."""

_BEFORE = {
    "complete(0) refusing": "complete-0-refusing",
    "complete(0) replacing": "complete-0-replacing",
    "complete(0) in chunks": "complete-0-in-chunks",
    "scalars between others": "scalars-between",
    "used before": "used-before",
    "encoder scalars": "encoder-scalars",
    "encoder edges": "encoder-edges",
    "encoder utf-16": "encoder-utf-16",
    "given in chunks": "given-in-chunks",
    "given used before": "given-used-before",
    "given in memory": "given-in-memory",
    "after": "after-3",
    "transitions": "transitions-2",
    "faults": "faults-3",
}
_NOW = {now: before for before, now in _BEFORE.items()}
_NUMBERED = "(complete|depth|exhaustive|lengths|placed)"
_NUMBERED_BEFORE = re.compile(_NUMBERED + r"\(([0-9]{1,5})\)")
_NUMBERED_NOW = re.compile(_NUMBERED + r"-([0-9]{1,5})")
_SENTENCE = re.compile(r"(?<=^the suite )[^:]+(?=: )|(?<= beyond the sweep )[a-z]+\([0-9]+\)$")
"""Finds a name in a certificate's statements on what it does not cover."""


def spelt_now(name: str) -> str:
    """The present name of a suite or a plan; any other name unchanged."""
    if name in _BEFORE:
        return _BEFORE[name]
    found = _NUMBERED_BEFORE.fullmatch(name)
    return f"{found[1]}-{found[2]}" if found else name


def all_spelt_now(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The present names of several suites or plans; None if none are given."""
    return None if names is None else tuple(map(spelt_now, names))


def spelt_before(name: str) -> str:
    """The former name of a suite or a plan; unchanged if it never had another."""
    if name in _NOW:
        return _NOW[name]
    found = _NUMBERED_NOW.fullmatch(name)
    return f"{found[1]}({found[2]})" if found else name


def told_now(name: str) -> str:
    """The present name; for a former name, a note on stderr names the new one."""
    now = spelt_now(name)
    if now != name:
        sys.stderr.write(f"note: the suite '{name}' is called {now} now; the next version drops the old name\n")
    return now


def respelt(added: dict[str, Any]) -> None:
    """Replace former names in a certificate's statement (``predicate.overlong``) by the present ones."""
    if added.get("spelling") == SPELLING:
        return
    added["spelling"] = SPELLING
    for records, member in (("suites", "suite"), ("sweeps", "plan")):
        for record in added[records]:
            record[member] = spelt_now(record[member])
        if added["invocation"][records] is not None:
            added["invocation"][records] = [*map(spelt_now, added["invocation"][records])]
    added["not_covered"] = [_SENTENCE.sub(lambda name: spelt_now(name[0]), each) for each in added["not_covered"]]
    added["command"] = _respelt_command(added["command"])


def _respelt_command(command: str) -> str:
    """A command line of overlong, with the present names after its ``--suite``."""
    words: list[str] = []
    with contextlib.suppress(ValueError):  # the command line comes from a file, so it may be malformed
        words = shlex.split(command)
    ours = words.index("--") if "--" in words else len(words)
    after = [
        place for place in range(1, ours) if words[place - 1] == "--suite" and spelt_now(words[place]) != words[place]
    ]
    for place in after:
        words[place] = spelt_now(words[place])
    return shlex.join(words) if after else command
