"""Names of suites and of plans of sweeps: words that no shell takes apart. Here alone is known how they were spelt.

``complete(0) refusing`` is ``complete-0-refusing`` now, ``placed(64)`` is ``placed-64``. The names of before are
understood wherever one is read. What was published under them keeps them (:func:`spelt_before`): digests that cover a
name, the exported files of an edition, a frozen profile.
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
"""What a certificate says of its names: they are spelt like this one. One that says nothing is spelt as before."""

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
"""A name in what a certificate says it does not cover."""


def spelt_now(name: str) -> str:
    """A suite or a plan by the name that it has now; a name of neither as it is."""
    if name in _BEFORE:
        return _BEFORE[name]
    found = _NUMBERED_BEFORE.fullmatch(name)
    return f"{found[1]}-{found[2]}" if found else name


def all_spelt_now(names: Sequence[str] | None) -> tuple[str, ...] | None:
    """The same for several, if there are any."""
    return None if names is None else tuple(map(spelt_now, names))


def spelt_before(name: str) -> str:
    """The name that it had; one that never had another as it is."""
    if name in _NOW:
        return _NOW[name]
    found = _NUMBERED_NOW.fullmatch(name)
    return f"{found[1]}({found[2]})" if found else name


def told_now(name: str) -> str:
    """The same; a line on stderr replaces an outdated name by its new one."""
    now = spelt_now(name)
    if now != name:
        sys.stderr.write(f"note: the suite '{name}' is called {now} now; its old name goes with the next version\n")
    return now


def respelt(added: dict[str, Any]) -> None:
    """Replace former names in what a certificate says (``predicate.overlong``) by today's."""
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
    """A command line of ours, with the names of now behind its ``--suite``."""
    words: list[str] = []
    with contextlib.suppress(ValueError):  # a stranger wrote it
        words = shlex.split(command)
    ours = words.index("--") if "--" in words else len(words)
    after = [
        place for place in range(1, ours) if words[place - 1] == "--suite" and spelt_now(words[place]) != words[place]
    ]
    for place in after:
        words[place] = spelt_now(words[place])
    return shlex.join(words) if after else command
