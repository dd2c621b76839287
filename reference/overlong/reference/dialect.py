"""A dialect: a name, a grammar, the layout that gives its sequences their numbers, and a scalar rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import NamedTuple

from overlong.reference.automaton import Automaton
from overlong.reference.grammar import Grammar
from overlong.reference.layout import Layout, load_layout


@dataclass(frozen=True, slots=True)
class ScalarRule:
    """Changes to the decoded numbers that their bits alone do not give."""

    joins_pairs: bool = False
    """A lead surrogate and the trail surrogate right after it are one supplementary character (UTF-16)."""
    drops_signature: bool = False
    """U+FEFF at the very start is not part of the text (RFC 3629 section 6)."""


class _Entry(NamedTuple):
    line: str
    layout: str
    rule: ScalarRule = ScalarRule()


_ENTRIES = {
    "rfc3629": _Entry("UTF-8 as RFC 3629, Unicode and WHATWG define it", "rfc3629"),
    "utf-8-sig": _Entry("UTF-8 whose first U+FEFF is a signature", "rfc3629", ScalarRule(drops_signature=True)),
    "rfc2279": _Entry("UTF-8 as it was until 2003: one to six octets", "rfc2279"),
    "cesu-8": _Entry("UTF-16 pairs in six octets (UTR 26)", "cesu-8"),
    "mutf-8": _Entry("Java's modified UTF-8, as written", "mutf-8", ScalarRule(joins_pairs=True)),
    "mutf-8-lax": _Entry("Java's modified UTF-8, as readUTF reads it", "mutf-8", ScalarRule(joins_pairs=True)),
    "wtf-8": _Entry("surrogates too, but no pairs of them", "rfc2279"),
    "lax-surrogates": _Entry("rfc3629 and surrogates", "rfc2279"),
    "lax-overlongs": _Entry("rfc3629 with longer forms than needed", "rfc2279"),
    "lax-1fffff": _Entry("rfc3629 and four octets up to 1FFFFF", "rfc2279"),
    "lax": _Entry("one to four octets, only tails are checked", "rfc2279"),
    "lax-rfc2279": _Entry("one to six octets, only tails are checked", "rfc2279"),
}

DIALECTS = {name: entry.line for name, entry in _ENTRIES.items()}
"""Every dialect, with a description of one line; each has ``grammars/NAME.abnf``."""

_ALSO_CALLED = {"utf8": "rfc3629", "utf8bom": "utf-8-sig", "modifiedutf8": "mutf-8"}
"""Dialects by other names that the field has for them, as :func:`_plain` spells these."""


def dialect_called(name: str) -> str | None:
    """The name of the dialect that a person calls so: ``UTF-8``, ``cesu8``, ``RFC 3629``; None if there is none."""
    spelt = {_plain(each): each for each in DIALECTS} | _ALSO_CALLED
    return spelt.get(_plain(name))


def _plain(name: str) -> str:
    """The letters and digits of a name, in lower case."""
    return "".join(filter(str.isalnum, name.casefold()))


@dataclass(frozen=True, eq=False)
class Dialect:
    """A language that a decoder may accept. It is compiled at first use, then kept."""

    name: str
    grammar: Grammar
    layout: Layout
    rule: ScalarRule = ScalarRule()

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
        ValueError: there is no such dialect; the message lists all dialects.
    """
    if name not in _ENTRIES:
        raise ValueError(f"no dialect {name!r}; there is {', '.join(_ENTRIES)}")
    file, entry = f"{name}.abnf", _ENTRIES[name]
    text = (files("overlong.reference") / "grammars" / file).read_text("ascii")
    return Dialect(name, Grammar.parse(text, file), load_layout(entry.layout), entry.rule)
