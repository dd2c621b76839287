"""A score as text for a terminal: the figures first, then what to do."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.models.faults import percent
from overlong.conformance.models.historical import STREAMS
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.models.faults import Faults
    from overlong.conformance.models.score import Score

SHOWN = 4
"""The number of names of one kind that are written out; the rest are counted."""

_LABEL = 25  # columns of the first column


def summary(score: Score, *, width: int, added: str = "") -> Iterator[str]:
    """The lines of the report, none (but names of files) wider than ``width``.

    Args:
        score: what was measured.
        width: columns.
        added: the file into which the missing vectors were written, if any.
    """
    names = ", ".join(map(printable, score.names))
    told = f"{counted(score.strings, 'string')}, {thousands(score.with_verdict)} with a verdict"
    if score.read > score.strings:
        told += f"; {counted(score.read - score.strings, 'duplicate')} folded"
    yield f"{names}: {told}"
    for line in (*score.skipped[:SHOWN], *_more(score.skipped)):
        yield f"  {line}"
    yield ""
    yield from _row("single-transition faults", width, score.transitions)
    yield from _row("historical faults", width, score.historical)
    if score.streams is None:
        yield f"{'':<{_LABEL}} {len(STREAMS)} more need chunks, which this list has none of"
    else:
        yield from _row("stream faults", width, score.streams)
    yield from _row("output faults", width, *score.outputs)
    yield from _row("alternatives touched", width, score.alternatives)
    yield from _row("boundaries touched", width, score.boundaries)
    yield ""
    yield from _missed("historical faults missed", score.historical, width)
    if score.streams is not None:
        yield from _missed("stream faults missed", score.streams, width)
    yield from _missed("wrong reports missed", score.shapes, width)
    yield from _missed("no whole character of", score.alternatives, width)
    yield from _missed("never touched", score.boundaries, width, SHOWN // 2)
    yield from _wrong(score, width)
    yield from _to_add(score, added, width)


def _wrapped(text: str, width: int, indent: str = "", hanging: str = "  ") -> list[str]:
    """The lines of ``text``, in which names with hyphens stay whole."""
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=hanging, break_on_hyphens=False)


def _row(label: str, width: int, *kinds: Faults) -> Iterator[str]:
    caught, total = sum(each.caught for each in kinds), sum(each.total for each in kinds)
    yield f"{label:<{_LABEL}}{percent(caught, total):5.1f} %   {thousands(caught)} of {thousands(total)}"[:width]


def _more(items: Sequence[str], shown: int = SHOWN) -> Iterator[str]:
    if len(items) > shown:
        yield f"and {thousands(len(items) - shown)} more"


def _missed(label: str, faults: Faults, width: int, shown: int = SHOWN) -> Iterator[str]:
    if faults.missed:
        items = [*faults.missed[:shown], *_more(faults.missed, shown)]
        yield from _wrapped(f"{label}: {'; '.join(items)}", width)


def _wrong(score: Score, width: int) -> Iterator[str]:
    if not score.wrong_count:
        yield "wrong expectations: none" if score.with_verdict else "wrong expectations: the list has none at all"
        return
    yield f"wrong expectations: {thousands(score.wrong_count)}"
    for wrong in score.wrong[:SHOWN]:
        yield from _wrapped(str(wrong), width, "  ", "    ")
    if score.wrong_count > SHOWN:
        yield f"  and {thousands(score.wrong_count - SHOWN)} more"


def _to_add(score: Score, added: str, width: int) -> Iterator[str]:
    if not score.to_add:
        yield f"to reach 100 %: nothing {'of ours ' if score.out_of_reach else ''}to add"
    else:
        count = len(score.to_add)
        bound = (
            "no set of ours has fewer"
            if score.at_least == count
            else f"no set of ours has fewer than {thousands(score.at_least)}"
        )
        where = f"written to {printable(added)}" if added else "--add FILE writes them"
        text = f"to reach 100 %: add {counted(count, 'vector')} ({bound}): {where}"
        yield from _wrapped(text, width)
    if score.out_of_reach:
        yield f"not shown by any vector of ours: {counted(score.out_of_reach, 'fault')}"
