"""How good a list of test strings is: which wrong decoders it tells from a right one.

>>> from overlong.conformance.models.score import score
>>> score("mine.txt").transitions.caught
3836

Modules: ``files`` opens what a user named, ``texts``, ``documents`` and ``frames`` read the strings in it;
``transitions``, ``historical`` (with its ``models``) and ``outputs`` are the faults that are looked for,
``coverage`` is what of the grammar is touched, ``expectations`` judges the list's own answers, and ``cover``
finds the vectors that are missing.
"""

from overlong.conformance.models.score.expectations import Expectation, ReadError, ScoreEntry
from overlong.conformance.models.score.score import EmptyList, Score, score

__all__ = ["EmptyList", "Expectation", "ReadError", "Score", "ScoreEntry", "score"]
