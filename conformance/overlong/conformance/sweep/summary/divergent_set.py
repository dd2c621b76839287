"""One line of a summary: strings that diverge in the same way, for the same reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Where:
    """Where a string stands in a plan: enough to ask it again."""

    grid: int
    index: int
    """Its number in the grid."""
    earlier: bytes | None = None
    """What is asked right before it; None if nothing is."""


@dataclass(frozen=True)
class DivergentSet:
    """Strings of one kind whose first error has one defect."""

    kind: int
    """A code of ``shard.KINDS``."""
    count: int
    """Strings."""
    example: bytes
    """The shortlex-least of them."""
    where: Where
    """Of the example; of equal strings, the first."""
    description: str
    """One sentence in ASCII, of 250 characters at most: ``every well-formed string that contains 00``."""
    exact: bool
    """The description says the set exactly, as far as the plan's strings go: it was compared with all of them."""
    defect: str = ""
    """The code of the defect with which all of them first go wrong: ``OV202``; empty if they have none in common."""
    dialects: tuple[str, ...] = ()
    """The dialects that accept just what the target does, as far as the plan's strings go."""
    automaton: int | None = None
    """States of the automaton that the target's verdicts are those of; None if none of few states was found."""
    parts: tuple[str, ...] = ()
    """The patterns that the description speaks of, all of them: ``ED A0-BF 80-BF``."""
    apart: tuple[tuple[bytes, ...], ...] = ()
    """Where what its strings are called takes an answer to tell (``summary/apart.py``): for each name that some of them
    may have, the first that may have it, shortlex order."""
