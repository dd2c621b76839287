"""Examines a stream: characters cut at each place, ends within a character, and errors in each chunk."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from operator import attrgetter
from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.examination.asking import RIGHT, Question
from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.rules import Rule, Table, in_order, wider
from overlong.conformance.examination.text import FACTORS, IN_STREAMS, strange
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import AGAIN

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from overlong.conformance.examination.asking import Asker
    from overlong.conformance.examination.text import Product, Text

_SEED, _CHECKED = 0, 300
_ROUNDS = 3
_NEAR = 0.95
"""A reading that explains a lesser share of what the best one explains does not become the best."""
_AS_GOOD = 0.995
"""A plainer rule predicts at least this share of what the other one predicts."""
_VARIED = 8
_FEW, _OWN = 4, 3
"""The most octets at the last place of characters that are a cause of their own, and the most such characters."""
_MORE = (2, 3, 4, 5)
"""How many chunks come first."""
_SOME = 11
"""One of so many kinds of errors is tried in all places."""
_OF_TIME = (Code.HELD_BACK, Code.LATE, Code.EARLY)
"""Symptoms of when an answer came, and not of what it is."""
_NAMES = {
    *("offset", "characters", "octet -1", "lead before", "size before", "behind", "octet +1"),
    *("cut", "after cut", "chunks", "chunks before", "chunks behind", "in chunk", "rest of chunk"),
    *(factor.name for factor in IN_STREAMS if factor.name != "cut off"),
}
_BEFORE = {"unfinished before", "rest before", "accepted before", "length before", "octet +1", "chunks"}
"""What matters of an earlier stream, and of the one after it."""


Readings = dict[Condition, Table]
"""What a cause may be about, and the places that have it."""


class StreamCourse:
    """Experiments with streams of one target."""

    def __init__(self, asker: Asker, text: Text, symptom: str) -> None:
        self.asker, self.text, self.symptom = asker, text, symptom
        self.random = Random(_SEED)  # noqa: S311 (no secret)
        self._shown = list[Question]()
        self.characters = [
            bytes(chosen(octets) for octets in product) for product in text.products for chosen in (min, max)
        ]
        self._errors = [bytes([octet]) for octet in range(256) if octet not in text.leads][::37]
        self._errors += [each[:size] for each in self.characters for size in range(1, len(each))]
        self._kinds = strange(text)
        if symptom in _OF_TIME:  # what a decoder waits for depends on all octets that have come
            self._errors += self._kinds[::_SOME]

    def run(self, question: Question) -> tuple[Condition | None, int, int]:
        """The condition, the fresh questions that it predicts, and their number.

        Args:
            question: an example.

        Raises:
            OutOfBudget: there are too few questions.
        """
        again = self.asker.operation in AGAIN
        self._own = self._errors_of(question)
        if again:
            readings = {self._condition(((),)): _table(_BEFORE)}
            answered = self._answered([question, *self._after_others(question)])
        else:
            answered = self._answered([question, *self._like(question)])
            own = self._own_characters(question, answered)
            self.characters += [bytes(map(min, product)) for product in own]
            readings = self._readings(own)
            answered += self._answered([*self._cut(), *self._wrong()])
        condition = self._learned(readings, answered)
        if condition is None:
            return None, 0, 0
        fresh = list[tuple[Question, bool]]()
        for number in range(_ROUNDS):
            fresh = self._answered([self._drawn(again=again) for _ in range(min(_CHECKED, self.asker.left))])
            if number == _ROUNDS - 1 or _predicted(condition, fresh) == len(fresh):
                break
            condition = self._learned(readings, fresh) or condition
        condition = self._plainer(condition, readings, fresh)
        return condition, _predicted(condition, fresh), len(fresh)

    def _errors_of(self, question: Question) -> list[bytes]:
        """The errors of an example, with what stands behind them, and with other octets there."""
        octets = question.octets
        found = [octets[start : end + more] for start, end in self.text.flaws(octets) for more in range(3)]
        near = [each[:-1] + bytes([octet]) for each in found for octet in range(0x80, 0xC0, 8)]
        return list(dict.fromkeys((*found, *near))) or self._errors

    @staticmethod
    def _like(question: Question) -> Iterator[Question]:
        """The example with any octet in place of each of its first ones."""
        octets = question.octets
        for place in range(min(len(octets), _VARIED)):
            for octet in range(256):
                yield replace(question, octets=octets[:place] + bytes([octet]) + octets[place + 1 :])

    def _own_characters(self, question: Question, answered: Sequence[tuple[Question, bool]]) -> list[Product]:
        """The characters of the example, each with those that show the same there, if not nearly all of its size do."""
        octets, found = question.octets, dict["Product", None]()
        shown = [each.octets for each, wrong in answered if wrong and self.text.is_well_formed(each.octets)]
        for start, end in self.text.pieces(octets) if octets in shown else ():
            others = [each for each in shown if each[:start] + each[end:] == octets[:start] + octets[end:]]
            product = tuple(frozenset(each[place] for each in others) for place in range(start, end))
            if len(product[-1]) <= _FEW:
                found[product] = None
        return list(found)[:_OWN]

    def _answered(self, asked: Sequence[Question]) -> list[tuple[Question, bool]]:
        """The questions, and whether the answer is wrong; without those that only show another wrong time."""
        skipped = [each for each in _OF_TIME if each != self.symptom]
        said = zip(asked, self.asker.ask(asked), strict=True)
        answered = [(question, symptom != RIGHT) for question, symptom in said if symptom not in skipped]
        self._shown += (question for question, wrong in answered if wrong)
        return answered

    def examples(self, condition: Condition) -> tuple[Question | None, Question | None]:
        """The least stream that shows the cause, and the least well-formed one if that is another."""
        shown = sorted(filter(condition.holds, self._shown), key=_size)
        whole = (each for each in shown if self.text.is_well_formed(each.octets))
        least, telling = next(iter(shown), None), next(whole, None)
        return least, None if telling == least else telling

    def _readings(self, own: Sequence[Product]) -> Readings:
        """Characters, characters and errors, or only errors may be what the cause is about; or some characters."""
        products = self.text.products
        single = frozenset(octet for product in products if len(product) == 1 for octet in product[0])
        other = (frozenset(range(256)) - single,)
        some = [products, (*products, other), (), *((each,) for each in own)]
        return {self._condition(words): _table(_NAMES) for words in some}

    @staticmethod
    def _learned(readings: Readings, answered: Sequence[tuple[Question, bool]]) -> Condition | None:
        """The condition that explains most answers, with some more of them; None if none is wrong.

        Readings that explain much fewer are removed.
        """
        found = dict[Condition, tuple[int, Rule]]()
        for condition, table in readings.items():
            for question, wrong in answered:
                table.add_question(condition.sites(question), wrong=wrong)
            if any(table.labels):
                rule = table.rule()
                found[condition] = table.explained_by(rule), rule
        if not found:
            return None
        best = max(found, key=lambda each: found[each][0])
        for each in [*readings]:
            if each not in found or found[each][0] < found[best][0] * _NEAR:
                del readings[each]
        return replace(best, rule=found[best][1])

    @staticmethod
    def _plainer(condition: Condition, readings: Readings, fresh: Sequence[tuple[Question, bool]]) -> Condition:
        """The condition without what hardly any answer needs: exceptions that one experiment showed by chance."""
        table = readings[replace(condition, rule=())]
        predicted, explained = _predicted(condition, fresh), table.explained_by(condition.rule)
        for atom in sorted(condition.rule, key=attrgetter("cost"), reverse=True):
            others = tuple(each for each in condition.rule if each != atom)
            for looser in (others, *((*others, each) for each in wider(atom))):
                plainer = replace(condition, rule=in_order(looser))
                of_fresh = _predicted(plainer, fresh)
                if of_fresh < predicted * _AS_GOOD:
                    continue
                of_all = table.explained_by(plainer.rule)
                if of_all >= explained * _AS_GOOD:
                    condition, predicted, explained = plainer, of_fresh, of_all
                    break
        return condition

    def _condition(self, words: tuple[Product, ...]) -> Condition:
        """About these words and, if there are none, about errors."""
        return Condition(
            self.symptom,
            words,
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
                        if before and not behind:
                            yield from (in_chunks(octets, [*range(1, more), start + cut]) for more in _MORE)

    def _wrong(self) -> Iterator[Question]:
        """Errors at the end and within, in the first chunk and in later ones."""
        for each in dict.fromkeys((*self._own, *self._errors)):
            for before in (b"", b"a", b"aaaa", "é€".encode()):
                for behind in (b"", b"a", b"aaa"):
                    octets = before + each + behind
                    yield Question(octets, chunks=(len(octets),))
                    for cut in {1, len(before), len(before) + 1, len(before) + len(each)}:
                        yield in_chunks(octets, [cut])

    def _after_others(self, question: Question) -> Iterator[Question]:
        """Streams after others that were accepted, refused, or ended within a character."""
        tails = sorted({each[-1:] for each in self.characters if len(each) > 1})
        seconds = [b"", b"a", *(tail * count for tail in tails for count in (1, 2, 3)), *self.characters[-3:], b"\xff"]
        for first in dict.fromkeys([*question.earlier, b"", b"a", *self.characters, *self._errors, b"a" * 70]):
            for second in dict.fromkeys([question.octets, *seconds]):
                yield Question(second, (b"a", first), (len(second),))
        for second in seconds:
            yield Question(second, question.earlier, (len(second),))

    def _drawn(self, *, again: bool) -> Question:
        random = self.random
        if again:
            first = random.choice((b"", b"a", b"b" * 9)) + random.choice((*self.characters, *self._errors, b""))
            second = random.choice((b"", *self.characters, *self._errors, b"c")) + random.choice((b"", b"a"))
            return Question(second, (first,), (len(second),))
        pieces = random.choices((*self.characters, b"a", b"b"), k=random.randrange(1, 7))
        cuts = list[int]()
        if self.symptom == Code.LATE or random.random() < 0.3:
            kinds = self._kinds if self.symptom in _OF_TIME else self._errors
            place, error = random.randrange(len(pieces) + 1), random.choice(random.choice((kinds, self._own)))
            cuts.append(sum(map(len, pieces[:place])) + random.randrange(len(error) + 1))
            pieces.insert(place, error)
        octets = b"".join(pieces)
        return in_chunks(octets, [*cuts, *(random.randrange(len(octets) + 1) for _ in range(random.randrange(5)))])


def _table(names: Collection[str]) -> Table:
    return Table([each for each in (*FACTORS, *IN_STREAMS) if each.name in names])


def in_chunks(octets: bytes, cuts: Sequence[int]) -> Question:
    """The octets as a stream that is cut at these places."""
    places = sorted(cut for cut in cuts if cut <= len(octets))
    return Question(octets, chunks=tuple(end - start for start, end in pairwise([0, *places, len(octets)])))


def _predicted(condition: Condition, answered: Sequence[tuple[Question, bool]]) -> int:
    """The number of questions that a condition predicts."""
    return sum(condition.holds(each) == wrong for each, wrong in answered)


def _size(question: Question) -> tuple[object, ...]:
    return len(question.octets), sum(map(len, question.earlier)), len(question.chunks or ()), question.octets
