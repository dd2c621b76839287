"""The score of a list of test strings: the share of wrong decoders that it catches.

>>> from overlong.conformance.models.score import score
>>> score("mine.txt").transitions.caught
3836

Modules: ``files`` opens the user's files; ``texts``, ``documents`` and ``frames`` read their strings. ``faults`` says
what a fault is; ``transitions`` (with the grammar's coverage), ``historical`` and ``outputs`` hold them.
``expectations`` judges the list's own answers, and ``cover`` finds the missing vectors.
"""

from overlong.conformance.models.score.expectations import ReadError
from overlong.conformance.models.score.score import EmptyList, Score, score

__all__ = ["EmptyList", "ReadError", "Score", "score"]
