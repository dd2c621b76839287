"""Questions that may make a function leave its memory: about the inputs that decoders get, at their ends and edges."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import GUARDED_ASK
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.questions import Asked
from overlong.conformance.vectors.suites.memory import memory_vectors
from overlong.conformance.vectors.suites.suite import of_questions
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

_AT_ONCE = 16
"""So few that a request is answered in time even if each costs several processes."""
_SHORT = 3
"""The most octets of a text that is asked with every argument."""


@cache
def _batches_of(name: str) -> tuple[Batch, ...]:
    """Of a longer text one argument: in turn one of the last three or first two. The adapter gives converters room."""
    question, strings = QUESTIONS[name], list[bytes]()
    for number, vector in enumerate(memory_vectors()):
        every = question.asked(vector.octets)
        if question.written:
            chosen: Sequence[int] = every[-1:]
        elif len(vector.octets) <= _SHORT:
            chosen = every
        else:
            few = [*every[-3:], *every[:2]]
            chosen = [few[number % len(few)]] if few else ()
        strings += [Asked(question, each, vector.octets).payload for each in chosen]
    parts = (strings[start : start + _AT_ONCE] for start in range(0, len(strings), _AT_ONCE))
    return tuple(Batch.of_strings(name, part) for part in parts)


FUNCTIONS_IN_MEMORY = of_questions(
    "functions-in-memory",
    "the function stays within its memory, at every address, whatever it is asked",
    _batches_of,
    GUARDED_ASK,
)
