"""Parses ABNF text into a :class:`Grammar`: named rules in which every octet range knows its origin.

A grammar file holds RFC 5234 ABNF and nothing else. This module understands only what a regular octet
grammar needs: numeric values (``%x80-BF``), rule names, groups, options, repetition, concatenation and
alternation. Anything else, and any rule that refers to itself, is a :class:`GrammarError` that names
the file and the line: the module never guesses the meaning of a construct. It reads a grammar ten
times faster than the ``abnf`` library, with which the tests compare it: every process reads all grammars.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


class GrammarError(ValueError):
    """An unusable grammar file; the message names the file, the line and the reason."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One alternative of one rule, as the source text spells it."""

    rule: str
    number: int  # counted from 1, in the order of the source
    text: str  # white space folded
    line: int  # of the rule, in its file

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


@dataclass(frozen=True, slots=True)
class OctetRange:
    """``%xLOW-HIGH``: the only terminal."""

    low: int
    high: int

    def __contains__(self, octet: int) -> bool:
        return self.low <= octet <= self.high

    def __str__(self) -> str:
        return f"{self.low:02X}" if self.low == self.high else f"{self.low:02X}-{self.high:02X}"


@dataclass(frozen=True, slots=True)
class Reference:
    """A rule name, in its place in another rule."""

    name: str


@dataclass(frozen=True, slots=True)
class Concatenation:
    """Expressions, one after the other."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives inside one alternative of a rule: ``( a / b )``."""

    choices: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """``least*most item``; ``most`` is None where there is no upper bound."""

    item: Expression
    least: int
    most: int | None


Expression = OctetRange | Reference | Concatenation | Group | Repetition


@dataclass(frozen=True)
class Rule:
    """A rule: its alternatives and, for each, its expression."""

    name: str
    alternatives: tuple[tuple[Alternative, Expression], ...]


@dataclass(frozen=True, slots=True)
class Position:
    """One octet's place in the grammar: an octet range, and the alternatives that lead to it.

    ``trail`` runs from the start rule down to the rule that spells the range.
    """

    index: int
    octets: OctetRange
    trail: tuple[Alternative, ...]
    form: Alternative
    """The outermost alternative that itself spells an octet: for UTF-8, the row of a character."""

    def __str__(self) -> str:
        return f"{self.octets} ({self.form})"


@dataclass(frozen=True)
class Grammar:
    """Named ABNF rules; the first one is the start rule."""

    name: str
    text: str
    rules: Mapping[str, Rule]

    @classmethod
    def parse(cls, text: str, name: str) -> Grammar:
        """The grammar in ``text``; errors call it ``name``.

        Raises:
            GrammarError: the text is not RFC 5234 ABNF, or not a regular grammar over octets.
        """
        rules: dict[str, Rule] = {}
        for line, source in _rule_sources(text):
            rule = _Reader(name, line, source).rule()
            if rule.name.lower() in rules:
                raise GrammarError(f"{name}:{line}: rule {rule.name!r} is defined twice; keep one of them")
            rules[rule.name.lower()] = rule
        if not rules:
            raise GrammarError(f"{name}:1: no rule here; a grammar needs at least one")
        grammar = cls(name, text, rules)
        grammar._check_references()
        return grammar

    @property
    def start(self) -> Rule:
        return next(iter(self.rules.values()))

    def rule(self, name: str) -> Rule:
        """The rule of that name; names are case-insensitive (RFC 5234 section 2.1)."""
        return self.rules[name.lower()]

    def _check_references(self) -> None:
        def visit(expression: Expression, path: tuple[str, ...], line: int) -> None:
            match expression:
                case Reference(name):
                    if name.lower() not in self.rules:
                        raise GrammarError(f"{self.name}:{line}: rule {name!r} is not defined; define it in this file")
                    if name.lower() in path:
                        raise GrammarError(
                            f"{self.name}:{line}: rule {name!r} refers to itself; only regular grammars are understood"
                        )
                    for alternative, inner in self.rule(name).alternatives:
                        visit(inner, (*path, name.lower()), alternative.line)
                case Concatenation(items) | Group(items):
                    for item in items:
                        visit(item, path, line)
                case Repetition(item=item):
                    visit(item, path, line)
                case OctetRange():
                    pass

        for key, rule in self.rules.items():
            for alternative, expression in rule.alternatives:
                visit(expression, (key,), alternative.line)


def _rule_sources(text: str) -> Iterator[tuple[int, str]]:
    """Each rule's line number and text: a rule starts in the first column, continuation lines do not."""
    start, lines = 0, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith(";"):
            continue
        if line[0] not in " \t" and lines:
            yield start, "\r\n".join(lines) + "\r\n"
            lines = []
        if not lines:
            start = number
        lines.append(line.rstrip())
    if lines:
        yield start, "\r\n".join(lines) + "\r\n"


_TOKEN = re.compile(
    r"""(?:[ \t\r\n]|;.*)*(?:
        (?P<name>[a-z][a-z0-9-]*) | (?P<repeat>\d*\*\d*|\d+) | (?P<mark>=/|[=/()\[\]])
        | (?P<num_val>%(?:x[0-9a-f]+(?:-[0-9a-f]+|(?:\.[0-9a-f]+)+)?
                        |d[0-9]+(?:-[0-9]+|(?:\.[0-9]+)+)?
                        |b[01]+(?:-[01]+|(?:\.[01]+)+)?))
        | (?P<char_val>(?:%[si])?"[^"]*") | (?P<prose_val><[^>]*>) | (?P<end>\Z) | (?P<other>.)
    )""",
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_CLOSED_BY = {"(": ")", "[": "]"}


class _Reader:
    """Reads one rule by recursive descent; white space matters only between the items of a concatenation."""

    def __init__(self, grammar: str, line: int, source: str) -> None:
        self.place, self.line, self.source = f"{grammar}:{line}", line, source
        self.tokens = list(_TOKEN.finditer(source))
        self.at = 0

    def rule(self) -> Rule:
        name = self._taken("name")
        if (defined_as := self._taken("mark")) == "=/":
            raise self._unknown("incremental alternatives", defined_as)
        if defined_as != "=":
            raise self._malformed()
        alternatives = self._alternation()
        self._taken("end")
        return Rule(
            name,
            tuple(
                (Alternative(name, number, " ".join(text.split()), self.line), expression)
                for number, (text, expression) in enumerate(alternatives, 1)
            ),
        )

    def _alternation(self) -> list[tuple[str, Expression]]:
        """The alternatives, with their text."""
        found = [self._concatenation()]
        while self._sees("mark", "/"):
            self.at += 1
            found.append(self._concatenation())
        return found

    def _concatenation(self) -> tuple[str, Expression]:
        first = self.at
        items = [self._repetition()]
        while not (self._sees("end") or self._sees("mark", "/", *_CLOSED_BY.values())):
            if self._adjoins():
                raise self._malformed()
            items.append(self._repetition())
        text = self.source[self._start(first) : self.tokens[self.at - 1].end()]
        return text, items[0] if len(items) == 1 else Concatenation(tuple(items))

    def _repetition(self) -> Expression:
        if not self._sees("repeat"):
            return self._element()
        least, star, most = self._taken("repeat").partition("*")
        if not self._adjoins():
            raise self._malformed()
        return Repetition(self._element(), int(least or 0), int(most) if most else None if star else int(least))

    def _element(self) -> Expression:
        kind = str(self.tokens[self.at].lastgroup)
        match kind, text := self._taken(kind):
            case "name", _:
                return Reference(text)
            case "num_val", _:
                return self._number(text)
            case "mark", "(" | "[":
                choices = tuple(expression for _, expression in self._alternation())
                if self._taken("mark") != _CLOSED_BY[text]:
                    raise self._malformed()
                group = choices[0] if len(choices) == 1 else Group(choices)
                return group if text == "(" else Repetition(group, 0, 1)
            case "char_val" | "prose_val", _:
                raise self._unknown(kind.replace("_", "-"), text)
            case _:
                raise self._malformed()

    def _number(self, text: str) -> Expression:
        radix = {"x": 16, "d": 10, "b": 2}[text[1].lower()]
        if "-" in text:
            low, high = (self._octet(part, radix, text) for part in text[2:].split("-"))
            if low > high:
                raise GrammarError(f"{self.place}: {text} is empty: its ends are the wrong way round; exchange them")
            return OctetRange(low, high)
        octets = tuple(self._octet(part, radix, text) for part in text[2:].split("."))
        ranges = tuple(OctetRange(octet, octet) for octet in octets)
        return ranges[0] if len(ranges) == 1 else Concatenation(ranges)

    def _octet(self, digits: str, radix: int, text: str) -> int:
        value = int(digits, radix)
        if value > 0xFF:
            raise GrammarError(f"{self.place}: {text} is not an octet; octets end at %xFF")
        return value

    def _sees(self, kind: str, *texts: str) -> bool:
        token = self.tokens[self.at]
        return token.lastgroup == kind and (not texts or token[kind] in texts)

    def _taken(self, kind: str) -> str:
        if not self._sees(kind):
            raise self._malformed()
        self.at += 1
        return self.tokens[self.at - 1][kind]

    def _start(self, at: int) -> int:
        token = self.tokens[at]
        return token.start(str(token.lastgroup))

    def _adjoins(self) -> bool:
        """True if there is no white space before the next token."""
        return self._start(self.at) == self.tokens[self.at - 1].end()

    def _malformed(self) -> GrammarError:
        head = self.source.splitlines()[0]
        return GrammarError(f"{self.place}: not ABNF as in RFC 5234: {head!r}; correct the rule")

    def _unknown(self, construct: str, text: str) -> GrammarError:
        return GrammarError(
            f"{self.place}: {construct} {text!r} is not understood; "
            "an octet grammar is written with numeric values such as %x80-BF"
        )
