"""A dialect: a name, a grammar and the layout that gives its sequences their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

from overlong.reference.automaton import Automaton
from overlong.reference.grammar import Grammar
from overlong.reference.layout import Layout, load_layout

DIALECTS = ("rfc3629",)
"""Every dialect, by name; each is ``grammars/NAME.abnf`` and ``grammars/NAME.layout``."""


@dataclass(frozen=True, eq=False)
class Dialect:
    """What a decoder may speak. Compiled when first asked for, then kept."""

    name: str
    grammar: Grammar
    layout: Layout

    @cached_property
    def unfolded(self) -> Automaton:
        """The automaton before states are merged: its open positions are exact for every path."""
        return Automaton.compile(self.grammar)

    @cached_property
    def automaton(self) -> Automaton:
        """The minimal automaton."""
        return self.unfolded.minimal()


@cache
def dialect(name: str = "rfc3629") -> Dialect:
    """The dialect of that name.

    Raises:
        ValueError: there is no such dialect; the message lists those there are.
    """
    if name not in DIALECTS:
        raise ValueError(f"no dialect {name!r}; there is {', '.join(DIALECTS)}")
    file = f"{name}.abnf"
    text = (files("overlong.reference") / "grammars" / file).read_text("ascii")
    return Dialect(name, Grammar.parse(text, file), load_layout(name))
