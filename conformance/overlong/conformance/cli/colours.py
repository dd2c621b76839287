"""Colours of a report's lines in a terminal."""

from __future__ import annotations

import click

from overlong.conformance.results.headline import State

_OF_STATES = {
    State.CONFORMS: "green",
    State.EXPECTED: "yellow",
    State.EXCEPT: "yellow",
    State.DIVERGES: "red",
    State.INCOMPLETE: "yellow",
}
_OF_WORDS = {"LOOK": "red", "FAIL": "red", "STALE": "red", "DIFFERENCE": "yellow"}
"""Of a line that is no headline, by its first word."""


def coloured(line: str, headline: str, state: State, stale: int = 0) -> str:
    """A line of a report, styled: the verdict in the colour of the state, what else begins with a word that has one.

    Args:
        line: of the report.
        headline: the words of the verdict, with which its line begins; or the line is the first that these fill.
        state: what the run came to.
        stale: how many expected deviations occur no more.
    """
    if line == headline or line.startswith(f"{headline}  ") or (line and headline.startswith(f"{line} ")):
        word, colour = headline[: len(line)], "red" if stale else _OF_STATES.get(state)
    else:
        word = line.partition(" ")[0]
        colour = _OF_WORDS.get(word)
    return click.style(word, fg=colour, bold=True) + line[len(word) :] if colour else line
