"""Parses ABNF text into a :class:`Grammar`: named rules in which every octet range knows its origin.

A grammar file holds RFC 5234 ABNF and nothing else. The ``abnf`` library parses it; this module
turns the parse tree into expressions over octets. It understands only what a regular octet grammar
needs: numeric values (``%x80-BF``), rule names, groups, options, repetition, concatenation and
alternation. Anything else, and any rule that refers to itself, is a :class:`GrammarError` that names
the file and the line: the module never guesses the meaning of a construct.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from abnf.parser import Node


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
            rule = _Reader(name, line).rule(source)
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


class _Reader:
    """Reads the library's parse tree of one rule."""

    def __init__(self, grammar: str, line: int) -> None:
        self.place = f"{grammar}:{line}"
        self.line = line

    def rule(self, source: str) -> Rule:
        from abnf.parser import ParseError

        try:
            tree = _tree(source)
        except ParseError as error:
            head = source.splitlines()[0]
            raise GrammarError(f"{self.place}: not ABNF as in RFC 5234: {head!r}; correct the rule") from error
        name, defined_as, elements = (_child(tree, kind) for kind in ("rulename", "defined-as", "elements"))
        if defined_as.value.strip() != "=":
            raise self._unknown("incremental alternatives", defined_as.value.strip())
        concatenations = _children(_child(elements, "alternation"), "concatenation")
        return Rule(
            name.value,
            tuple(
                (Alternative(name.value, number, " ".join(node.value.split()), self.line), self._concatenation(node))
                for number, node in enumerate(concatenations, 1)
            ),
        )

    def _group(self, node: Node) -> Expression:
        choices = tuple(self._concatenation(child) for child in _children(_child(node, "alternation"), "concatenation"))
        return choices[0] if len(choices) == 1 else Group(choices)

    def _concatenation(self, node: Node) -> Expression:
        items = tuple(self._repetition(child) for child in _children(node, "repetition"))
        return items[0] if len(items) == 1 else Concatenation(items)

    def _repetition(self, node: Node) -> Expression:
        item = self._element(_child(node, "element").children[0])
        repeats = _children(node, "repeat")
        if not repeats:
            return item
        least, star, most = repeats[0].value.partition("*")
        if not star:
            most = least
        return Repetition(item, int(least or 0), int(most) if most else None)

    def _element(self, node: Node) -> Expression:
        match node.name:
            case "rulename":
                return Reference(node.value)
            case "group":
                return self._group(node)
            case "option":
                return Repetition(self._group(node), 0, 1)
            case "num-val":
                return self._number(node.value)
            case _:
                raise self._unknown(node.name, node.value)

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

    def _unknown(self, construct: str, text: str) -> GrammarError:
        return GrammarError(
            f"{self.place}: {construct} {text!r} is not understood; "
            "an octet grammar is written with numeric values such as %x80-BF"
        )


def _children(node: Node, name: str) -> list[Node]:
    return [child for child in node.children if child.name == name]


@lru_cache(maxsize=256)
def _tree(source: str) -> Node:
    """The library's tree of one rule, for reading only: grammars of one family share most of their rules."""
    from abnf.parser import ABNFGrammarRule

    return ABNFGrammarRule("rule").parse_all(source)


def _child(node: Node, name: str) -> Node:
    return _children(node, name)[0]
