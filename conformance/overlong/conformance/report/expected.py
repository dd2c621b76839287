"""What a person reads of expected deviations: those that occur, and what is to be done about the others."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.results.expected.records import expired_as_words, missing_as_words, unasked_as_words
from overlong.conformance.support.printable import printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.results.expected import Expectations

SHOWN = 20
"""Entries of a kind that are written out; the rest are counted."""


def lines_of(expected: Expectations, width: int) -> Iterator[str]:
    """The lines on all entries, none wider than ``width``; none if there are no entries for the target."""
    occurring = [
        f"expected: {each.names}: {printable(each.reason) or 'no reason given'}"
        + (f" ({printable(each.link)})" if each.link else "")
        + f" [{thousands(expected.tally(each).total)}]"
        for each in expected.occurring
    ]
    stale = [
        f"STALE {each.deviation.where}: {each.deviation.names}: {printable(each.why)}; --update-expected mends it"
        for each in expected.stale
    ]
    for lines in (occurring, unasked_as_words(expected), expired_as_words(expected), stale):
        for line in lines[:SHOWN]:
            yield from textwrap.wrap(line, width, subsequent_indent="  ")
        if len(lines) > SHOWN:
            yield f"and {thousands(len(lines) - SHOWN)} more such lines"
    for line in missing_as_words(expected):
        yield from textwrap.wrap(line, width, subsequent_indent="  ")
    if expected.changes:
        yield f"written: {printable(str(expected.file))}: {expected.changes}"
