"""A dialect: a name, a grammar, the layout that gives its sequences their numbers, and a scalar rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

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


DIALECTS = {
    "rfc3629": "UTF-8 as RFC 3629, Unicode and WHATWG define it",
    "utf-8-sig": "UTF-8 whose first U+FEFF is a signature",
    "rfc2279": "UTF-8 as it was until 2003: one to six octets",
    "cesu-8": "UTF-16 pairs in six octets (UTR 26)",
    "mutf-8": "Java's modified UTF-8, as written",
    "mutf-8-lax": "Java's modified UTF-8, as readUTF reads it",
    "wtf-8": "surrogates too, but no pairs of them",
    "lax-surrogates": "rfc3629 and surrogates",
    "lax-overlongs": "rfc3629 with longer forms than needed",
    "lax-1fffff": "rfc3629 and four octets up to 1FFFFF",
    "lax": "one to four octets, only tails are checked",
    "lax-rfc2279": "one to six octets, only tails are checked",
}
"""Every dialect, with a description of one line; each has ``grammars/NAME.abnf``."""
_LAYOUTS = {
    "rfc3629": "rfc3629",
    "utf-8-sig": "rfc3629",
    "cesu-8": "cesu-8",
    "mutf-8": "mutf-8",
    "mutf-8-lax": "mutf-8",
}
"""The layouts by dialect, where they are not that of RFC 2279."""
_PAIRS = ScalarRule(joins_pairs=True)
_RULES = {"utf-8-sig": ScalarRule(drops_signature=True), "mutf-8": _PAIRS, "mutf-8-lax": _PAIRS}
"""What becomes of pairs and of the signature, where bits alone do not say it."""

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
    if name not in DIALECTS:
        raise ValueError(f"no dialect {name!r}; there is {', '.join(DIALECTS)}")
    file = f"{name}.abnf"
    text = (files("overlong.reference") / "grammars" / file).read_text("ascii")
    layout = load_layout(_LAYOUTS.get(name, "rfc2279"))
    return Dialect(name, Grammar.parse(text, file), layout, _RULES.get(name, ScalarRule()))
