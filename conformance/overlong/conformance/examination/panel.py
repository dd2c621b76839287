"""Octets that other causes like one may concern: every kind of error, and characters that programs treat specially."""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.examination.factors import WIDEST
from overlong.reference import DIALECTS, dialect
from overlong.reference.automaton import access_words
from overlong.reference.layout import load_layout
from overlong.reference.order import well_formed_products

if TYPE_CHECKING:
    from overlong.conformance.examination.text import Text


_NUMBERS = (0, 0x2F, 0x7F, 0x7FF, 0xFFFF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0x110000, 0x13FFFF, 0x140000, 0x1FFFFF)
"""Numbers whose ill-formed spellings some decoders take, besides the ends of each length."""
_ENDS = (0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFDD0, 0xFDEF, 0xFEFF, 0xFFFC, 0xFFFD, 0x10000, 0x10FFFF, 0x100000)
_OTHERS = (0x85, 0xE9, 0x20AC, 0x1F600, 0x3FF, 0x400, 0x1000, 0x3FFFF, 0x40000)


@cache
def edges(text: Text) -> tuple[int, ...]:
    """Octets that stand for all: the first and the last of each class of octets that some dialect tells apart."""
    found = {0, 255}
    for each in (text.spoken.name, *DIALECTS):
        for octets in dialect(each).automaton.classes:
            for run in octets.ranges:
                found |= {run.low, run.high}
    return tuple(sorted(found))


@cache
def strange(text: Text) -> tuple[bytes, ...]:
    """Ill-formed octets of every kind."""
    automaton, layout = text.spoken.automaton, load_layout(WIDEST)
    found = dict[bytes, None]()
    words = [word for word in access_words(automaton) if automaton.run(word) != automaton.dead]
    for product in well_formed_products(automaton):
        for size in range(1, len(product)):
            for ends in (min, max):
                found[bytes(map(ends, product[:size]))] = None
    for word in words:
        if word and not automaton.accepting[automaton.run(word)]:
            found[word] = None
        for octet in edges(text):
            longer = word + bytes([octet])
            if automaton.run(longer) == automaton.dead:
                found[longer] = None
                row = layout.announced(longer[0])
                rest = (len(row.templates) if row is not None else 1) - len(longer)
                tail = next(each for each in range(256) if layout.is_tail(each))
                if rest > 0:
                    found[longer + bytes([tail]) * rest] = None
                    found[longer + bytes([tail + 63]) * rest] = None
    for row in layout.rows:
        numbers = {row.numbers.start, row.numbers.stop - 1, *_NUMBERS}
        for number in sorted(numbers):
            if number < row.numbers.stop and not automaton.accepts(octets := row.octets(number)):
                found[octets] = None
    return tuple(found)


@cache
def notable(text: Text) -> tuple[bytes, ...]:
    """Characters at the ends of ranges, and those that programs treat specially."""
    spoken = text.spoken
    numbers = {*range(0x80), *_ENDS, *_OTHERS}
    numbers |= {plane << 16 | low for plane in range(17) for low in (0, 0xFFFE, 0xFFFF)}
    numbers |= {number for number in range(0x10000) if unicodedata.category(chr(number))[0] == "Z"}
    found = [spoken.layout.encode(number) for number in sorted(numbers)]
    return tuple(each for each in found if each is not None and spoken.automaton.accepts(each))
