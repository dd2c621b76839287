# pyright: basic
"""Descriptions by the place of an error: ``every string of well-formed characters and FF at offset 63``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from overlong.conformance.examination.arithmetic import Numbers, numbers_in_words
from overlong.conformance.examination.products import Product, in_words, merged, product_in_words
from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, BROKEN, REFUSED_WELL_FORMED
from overlong.conformance.sweep.summary.by_language import errors_in_words, ill_formed, octets_in_words
from overlong.conformance.sweep.summary.facts import OF_WELL_FORMED, Facts, Part, Said
from overlong.conformance.sweep.summary.languages import (
    Language,
    TooManyStatesError,
    interspersed,
)
from overlong.conformance.sweep.summary.patterns import made_of, middle
from overlong.conformance.sweep.summary.places import ACROSS, BLOCKS, Coordinate, Places, described, places
from overlong.reference.theory import shortlex

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.sweep.summary.places import Column

_LOOKED_AT = 20_000
"""The most strings from which patterns are read one by one."""
_READ = 1 << 20
"""The most octets of these strings: longer ones are described by similar ones, or not at all."""
_MOST_FORMS = 63
_LONGEST = 64
"""The most octets of a form: longer strings combine several forms, or no sentence describes them."""


class ByPlace:
    """Describes parts of one plan by a table, which is made once, when it is first needed."""

    def __init__(self, facts: Facts, product: Callable[[bytes], Product], *, only_forms: bool) -> None:
        """How to describe.

        Args:
            facts: those of the plan.
            product: what each octet of an accepted form stands for.
            only_forms: describe nothing but accepted forms.
        """
        self._facts, self._product, self._only_forms = facts, product, only_forms

    @cached_property
    def _table(self) -> Places | None:
        facts = self._facts
        inside, behind = self._forms
        try:
            patterns = interspersed(facts.automaton, inside, ends=behind) if inside or behind else _NO_PATTERNS
        except TooManyStatesError:
            patterns = _NO_PATTERNS
        told = set[int]()
        for kind, members in facts.of_kind.items():
            if kind != ACCEPTED_ILL_FORMED:
                told |= facts.strings.met(members, facts.errors.language)
        wanted = np.zeros(len(facts.errors.errors) + 1, bool)
        wanted[np.array(sorted(self._same_but_for_place(told)), np.int64) + 1] = True
        return places(facts.strings, facts.errors.language, patterns, wanted, facts.kinds, facts.automaton)

    @cached_property
    def _forms(self) -> tuple[list[Product], list[Product]]:
        """The ill-formed octets between characters of accepted strings, and those at their truncated ends."""
        if ACCEPTED_ILL_FORMED not in self._facts.kinds:
            return [], []
        automaton = self._facts.automaton
        inside, behind = dict[Product, bytes](), dict[Product, bytes]()
        read = 0
        for octets, _ in self._facts.strings.some(self._facts.of_kind[ACCEPTED_ILL_FORMED], _LOOKED_AT):
            read += len(octets)
            if read > _READ:
                break
            found, at_the_end = middle(octets, automaton)
            cut = at_the_end and automaton.run(found) != automaton.dead
            if not found or len(found) > _LONGEST:  # no form, or several in one
                continue
            form = self._product(found)
            (behind if cut else inside).setdefault(form, found)
        if len(behind) > _MOST_FORMS:
            return [], []
        chosen: list[Product] = []
        for form, octets in sorted(inside.items(), key=lambda each: shortlex(each[1])):
            if not made_of(octets, chosen, automaton):
                chosen.append(form)
            if len(chosen) > _MOST_FORMS:  # too many for a sentence
                return [], []
        return chosen, sorted(behind, key=len)

    def __call__(self, facts: Facts, part: Part) -> Said | None:
        """A description, exact or not; None if there is none."""
        if facts.complete or (part.kind != ACCEPTED_ILL_FORMED and self._only_forms):
            return None
        table = self._table
        if table is None:
            return None
        labels = (table.pattern + 1) // 2 if part.kind == ACCEPTED_ILL_FORMED else table.error
        of_part = np.isin(table.error, sorted(part.errors))
        if part.kind == ACCEPTED_ILL_FORMED:
            of_part &= labels > 0
        elif part.kind in OF_WELL_FORMED:
            of_part = labels == -1
        elif part.kind >= BROKEN:
            of_part[:] = True
        told = np.unique(labels[of_part & (table.kinds[part.kind] > 0)])
        if part.kind != ACCEPTED_ILL_FORMED:
            told = np.array(sorted(self._same_but_for_place(set(told.tolist()))))
        rows = np.flatnonzero(of_part & np.isin(labels, told))
        members, strings = table.kinds[part.kind][rows], table.strings[rows]
        total = facts.strings.count(part.members)
        if not total or int(members.sum()) < total:
            return None
        several = bool(((table.pattern[rows] + 1) % 2)[members > 0].any())
        subject, parts = self._subject(part, told.tolist(), several=several)
        elsewhere = np.isin(labels, told) & (table.strings > 0) & ~np.isin(table.error, sorted(part.errors))
        if part.kind == ACCEPTED_ILL_FORMED and elsewhere.any():  # what follows such a form matters
            subject = subject.replace("string", f"{ill_formed(facts, part)},", 1)
        placed = described(members, strings, self._coordinates(part, table, rows, labels[rows]))
        of_verdicts = part.kind in {ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED}
        by_chance = placed.words and of_verdicts and facts.learned is not None  # an automaton cannot depend on places
        if placed.exact and not by_chance:
            return Said(f"every {subject}{placed.words}", parts=parts)
        words = f"not every {subject}{placed.words}, but {total} of {placed.covered}"
        return Said(words, exact=False, parts=parts)

    def _same_but_for_place(self, numbers: set[int]) -> set[int]:
        """These first errors, with and without a character before them."""
        errors = self._facts.errors.errors
        alike = {errors[number][:2] for number in numbers if number >= 0}
        return {number for number, error in enumerate(errors) if error[:2] in alike} | (numbers & {-1})

    def _subject(self, part: Part, told: list[int], *, several: bool) -> tuple[str, tuple[str, ...]]:
        if part.kind == ACCEPTED_ILL_FORMED:
            return self._accepted_subject(told, several=several)
        if part.kind in OF_WELL_FORMED or told == [-1]:
            return "well-formed string", ()
        if -1 in told:
            return "string", ()
        words, parts = errors_in_words(self._facts, told)
        return f"string {words}", parts

    def _accepted_subject(self, told: list[int], *, several: bool) -> tuple[str, tuple[str, ...]]:
        known = len(self._forms[0])
        inside = [self._forms[0][label - 1] for label in told if label <= known]
        behind = [self._forms[1][label - 1 - known] for label in told if label > known]
        said: list[str] = []
        parts: list[Product] = []
        if inside:
            products = merged(inside)
            parts += products
            others = several and len(told) < known + len(self._forms[1])
            first = "ill-formed ones that it accepts, the first of these being " if others else ""
            said.append(f"string of well-formed characters and {first}{in_words(products)}")
        if behind:
            products = merged(behind)
            parts += products
            errors = self._facts.errors.errors
            all_cuts = {self._product(errors[number].octets) for number in self._facts.asked if errors[number].cut}
            everywhere = set(behind) == all_cuts
            said.append(
                "string cut off inside a character" if everywhere else f"string cut off after {in_words(products)}"
            )
        return " or ".join(said), tuple(map(product_in_words, parts))

    def _coordinates(self, part: Part, table: Places, rows: Column, labels: Column) -> list[Coordinate]:
        offset, length, text = table.offset[rows], table.length[rows], table.text[rows]
        of_well_formed = part.kind in OF_WELL_FORMED or (labels == -1).any()
        found = [_numbered(" whose length is {}" if of_well_formed else ", if the string's length is {}", length)]
        if part.kind in OF_WELL_FORMED:
            found += [
                Coordinate(_yes_or_no(f"a character across {words}"), offset >> bit & 1)
                for bit, words in enumerate(ACROSS)
            ]
        elif (labels >= 0).all():
            if part.kind == ACCEPTED_ILL_FORMED:
                sizes = [0, *map(len, self._forms[0]), *map(len, self._forms[1])]
            else:
                sizes = [len(error.octets) for error in self._facts.errors.errors]
            size = np.array(sizes)[labels]
            blocks = [
                Coordinate(
                    _yes_or_no(f"a multiple of {block} inside it"), (offset + size - 1) // block - offset // block
                )
                for block in BLOCKS
            ]
            found = [
                _numbered(" at offset {}", offset),
                _numbered(" with its last octet at offset {}", offset + size - 1),
                *found,
                _numbered(" with {} octets behind it", length - offset - size),
                *blocks,
            ]
            if part.kind == ACCEPTED_ILL_FORMED:
                found.append(Coordinate(_once, (table.pattern[rows] + 1) % 2))
        earlier = [grid for grid in self._facts.plan.grids if grid.earlier]
        if earlier:
            found.append(Coordinate(self._right_after, text))
        else:
            found.append(_numbered(", in text of characters of {} octets", text))
        return found

    def _right_after(self, some: list[int], of: list[int]) -> Numbers:
        if len(some) == len(of):
            return Numbers("", 0)
        grid = next(grid for grid in self._facts.plan.grids if grid.earlier)
        words = octets_in_words(grid.axes[0].choices[some[0]])
        if len(some) > 1:
            words = f"one of {len(some)} strings, such as {words}"
        return Numbers(f" right after {words}", min(len(some), 3))


_NO_PATTERNS = Language(np.zeros((1, 256), np.int32), np.zeros(1, np.int32))


def _numbered(words: str, values: Column) -> Coordinate:
    def phrase(some: list[int], of: list[int]) -> Numbers:
        numbers = numbers_in_words(some, of)
        said = words.format(numbers.words)
        return Numbers(said.replace(" 1 octets", " 1 octet"), numbers.cost)

    return Coordinate(phrase, values)


def _yes_or_no(words: str) -> Callable[[list[int], list[int]], Numbers]:
    def phrase(some: list[int], of: list[int]) -> Numbers:
        if len(some) == len(of):
            return Numbers("", 0)
        return Numbers(f" with {words}" if some[0] else f" without {words}", 2)

    return phrase


def _once(some: list[int], of: list[int]) -> Numbers:
    if len(some) == len(of):
        return Numbers("", 0)
    return Numbers(", and another one behind it" if some[0] else ", only once", 1)
