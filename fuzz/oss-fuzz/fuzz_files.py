#!/usr/bin/env python3
"""Files from strangers: grammars, vectors as JSON and as JSON Lines. They are read, or refused by a documented error.

The first octet says what the others are: g a grammar, n JSON, anything else JSON Lines. No ``from __future__``: for
coverage reports lines are put before these.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["overlong", "abnf"]):
    from running import RAISES, compared, fuzz

    from overlong.conformance.support.strict_json import JsonError
    from overlong.conformance.vectors.check import CheckError, vectors_in
    from overlong.reference import Grammar, GrammarError

SCRATCH = tempfile.TemporaryDirectory(prefix="overlong-fuzz-")
"""Removed when the process ends."""


def one_input(data: bytes) -> None:
    """One file of the kind that its first octet says."""
    kind, content = data[:1], data[1:]
    if kind == b"g":
        grammar(content)
    else:
        vectors(content, ".json" if kind == b"n" else ".jsonl")
    compared()


def grammar(content: bytes) -> None:
    """Text as ABNF."""
    try:
        read = Grammar.parse(content.decode("utf-8", "replace"), "fuzzed")
    except GrammarError as error:
        one_line(str(error))
    else:
        if read.start.name.lower() not in read.rules:
            RAISES["OV604"](f"{content!r}: a grammar whose start rule is none of its rules")


def vectors(content: bytes, ending: str) -> None:
    """A file of vectors."""
    path = Path(SCRATCH.name) / f"fuzzed{ending}"
    path.write_bytes(content)
    try:
        found = vectors_in(path)
    except (CheckError, JsonError) as error:
        one_line(str(error))
    else:
        if len({vector.id for vector in found}) != len(found):
            RAISES["OV604"](f"{content!r}: an id stands twice")


def one_line(message: str) -> None:
    """An error is a line that can be shown, and names the file."""
    if "fuzzed" not in message or not message.isprintable():
        RAISES["OV604"](f"an error that is no line: {message!r}")


if __name__ == "__main__":
    fuzz(one_input, sys.argv)
