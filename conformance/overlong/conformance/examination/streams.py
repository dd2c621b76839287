"""Examines a stream: characters cut at each place, ends within a character, and errors in each chunk."""

from __future__ import annotations

from itertools import pairwise
from operator import itemgetter
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import RIGHT
from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.factors import FACTORS, IN_STREAMS, NONE
from overlong.conformance.examination.question import Question
from overlong.conformance.examination.rules import Rule, Table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.products import Product
    from overlong.conformance.examination.text import Text

_SEED, _CHECKED = 0, 400
_NAMES = {
    "offset",
    "characters",
    "octet -1",
    "lead before",
    "size before",
    "cut",
    "after cut",
    "chunks",
    "in chunk",
    "behind",
}


class StreamCourse:
    """Experiments with streams of one target."""

    def __init__(self, asker: Asker, text: Text, symptom: str) -> None:
        self.asker, self.text, self.symptom = asker, text, symptom
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self.characters = [
            bytes(chosen(octets) for octets in product) for product in text.products for chosen in (min, max)
        ]
        self._errors = [bytes([octet]) for octet in range(256) if octet not in text.leads][::37]
        self._errors += [each[:size] for each in self.characters for size in range(1, len(each))]

    def run(self) -> tuple[Condition | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number.

        Raises:
            OutOfBudget: there are too few questions.
        """
        asked = [*self._cut(), *self._wrong()]
        said = [symptom != RIGHT for symptom in self.asker.ask(asked)]
        best = list[tuple[int, Condition]]()
        products = self.text.products
        single = frozenset(octet for product in products if len(product) == 1 for octet in product[0])
        other = (frozenset(range(256)) - single,)
        for words in (products, (*products, other), ()):
            condition = self._condition(words)
            table = Table([*(each for each in FACTORS if each.name in _NAMES), *IN_STREAMS])
            for question, wrong in zip(asked, said, strict=True):
                sites = condition.sites(question)
                within = [site for site in sites if site.cut != NONE] or sites
                for site in sites if not wrong else within if len(within) == 1 else ():
                    table.add(site, wrong=wrong)
            if not any(table.labels):
                continue
            condition = self._condition(words, table.rule())
            right = sum(condition.holds(each) == wrong for each, wrong in zip(asked, said, strict=True))
            best.append((right, condition))
        if not best:
            return None, 0, 0
        condition = max(best, key=itemgetter(0))[1]
        fresh = [self._drawn() for _ in range(min(_CHECKED, self.asker.left))]
        found = [symptom != RIGHT for symptom in self.asker.ask(fresh)]
        predicted = sum(condition.holds(each) == wrong for each, wrong in zip(fresh, found, strict=True))
        return condition, predicted, len(fresh)

    def _condition(self, words: tuple[Product, ...], rule: Rule | None = None) -> Condition:
        """About these words and, if there are none, about errors."""
        return Condition(
            self.symptom,
            words,
            rule or Rule(),
            speaks=self.text.spoken.name,
            operation=self.asker.operation,
            subparts=not words,
        )

    def _cut(self) -> Iterator[Question]:
        """Each character, cut at each place, behind and before text of several lengths."""
        for each in self.characters:
            for before in (b"", b"a", b"aaaa", "é€".encode()):
                for behind in (b"", b"a", "€😀".encode()):
                    octets, start = before + each + behind, len(before)
                    yield Question(octets, chunks=(len(octets),))
                    for cut in range(len(each) + 1):
                        yield in_chunks(octets, [start + cut])
                        yield in_chunks(octets, [start + cut, start + cut])

    def _wrong(self) -> Iterator[Question]:
        """Errors at the end and within, in the first chunk and in later ones."""
        for each in self._errors:
            for before in (b"", b"a", b"aaaa", "é€".encode()):
                for behind in (b"", b"a", b"aaa"):
                    octets = before + each + behind
                    yield Question(octets, chunks=(len(octets),))
                    for cut in {1, len(before), len(before) + 1, len(before) + len(each)}:
                        yield in_chunks(octets, [cut])

    def _drawn(self) -> Question:
        random = self.random
        pieces = random.choices((*self.characters, b"a", b"b"), k=random.randrange(1, 7))
        if random.random() < 0.3:
            pieces.insert(random.randrange(len(pieces) + 1), random.choice(self._errors))
        octets = b"".join(pieces)
        return in_chunks(octets, [random.randrange(len(octets) + 1) for _ in range(random.randrange(3))])


def in_chunks(octets: bytes, cuts: Sequence[int]) -> Question:
    """The octets as a stream that is cut at these places."""
    places = sorted(cut for cut in cuts if cut <= len(octets))
    return Question(octets, chunks=tuple(end - start for start, end in pairwise([0, *places, len(octets)])))
