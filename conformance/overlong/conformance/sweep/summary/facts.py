# pyright: basic
"""Facts that all divergent sets of a plan share, each computed once when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, BROKEN, OTHER_OUTPUT, REFUSED_WELL_FORMED
from overlong.conformance.sweep.summary.diagram import OR
from overlong.conformance.sweep.summary.languages import FirstErrors, language
from overlong.conformance.sweep.summary.learning import is_suite, learned, learned_by_suite
from overlong.reference import DIALECTS, dialect, segments
from overlong.reference.segment import MaximalSubpart
from overlong.reference.theory import equivalent

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.examination.products import Product
    from overlong.conformance.sweep.summary.members import Members, Strings
    from overlong.reference.automaton import Automaton

OF_WELL_FORMED = {REFUSED_WELL_FORMED, OTHER_OUTPUT}
"""Kinds of well-formed strings."""
_OF_VERDICTS = {REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED}
_TRIED = 16
"""A dialect is tried on so many strings of each kind before it is tried on all."""


@dataclass(frozen=True, eq=False)
class Part:
    """Strings to describe: those of one kind whose first error has the same defect."""

    kind: int
    members: Members
    defect: str
    """Empty if the kind is not about errors."""
    errors: frozenset[int]
    """The possible first errors: indices into ``FirstErrors.errors``."""


@dataclass(frozen=True)
class Said:
    """A description."""

    words: str
    exact: bool = True
    parts: tuple[str, ...] = ()


class Facts:
    """The facts about a plan's strings, and about the target that was asked them."""

    def __init__(self, strings: Strings, automaton: Automaton) -> None:
        """``automaton``: the expected one."""
        self.strings, self.automaton = strings, automaton
        self.plan = strings.gathered.plan
        self.kinds = strings.gathered.kinds
        self.of_kind = {kind: strings.of_kind(kind) for kind in self.kinds}
        self._going_wrong: dict[frozenset[int], Members] = {}

    @cached_property
    def errors(self) -> FirstErrors:
        """Byte classes and forms of the first error of a string."""
        return FirstErrors(self.automaton)

    @cached_property
    def well_formed(self) -> Members:
        """The strings that the expected automaton accepts."""
        return self.strings.of_language(language(self.automaton))

    @cached_property
    def everything(self) -> Members:
        """All strings."""
        return dict.fromkeys(self.strings.grids, 1)

    def going_wrong_with(self, errors: Iterable[int]) -> Members:
        """Strings with one of these first errors."""
        chosen = frozenset(errors)
        if chosen not in self._going_wrong:
            self._going_wrong[chosen] = self.strings.of_language(self.errors.language.of(lambda says: says in chosen))
        return self._going_wrong[chosen]

    @cached_property
    def asked(self) -> frozenset[int]:
        """The first errors that strings of the plan have."""
        return frozenset(self.strings.met(self.everything, self.errors.language)) - {-1}

    @cached_property
    def by_defect(self) -> dict[str, frozenset[int]]:
        """The first errors by their defect's code."""
        groups: dict[str, set[int]] = {}
        spoken = self.plan.profile.dialect
        for number, error in enumerate(self.errors.errors):
            found = (each for each in segments(error.octets, spoken=spoken) if isinstance(each, MaximalSubpart))
            first = next(found, None)
            groups.setdefault(first.defect.code if first else "", set()).add(number)
        return {code: frozenset(groups[code]) for code in sorted(groups)}

    def parts(self, kind: int) -> list[Part]:
        """The strings of a kind by the defect of their first error; all in one part if the kind is not about errors."""
        members = self.of_kind[kind]
        if kind in OF_WELL_FORMED or kind >= BROKEN:
            return [Part(kind, members, "", frozenset(range(len(self.errors.errors))))]
        found: list[Part] = []
        for defect, errors in self.by_defect.items():
            part = self.strings.both(members, self.going_wrong_with(errors))
            if any(part.values()):
                found.append(Part(kind, part, defect, errors))
        return found

    def product(self, word: bytes) -> Product:
        """The word with each octet replaced by its class."""
        return tuple(self.errors.class_of(octet) for octet in word)

    @cached_property
    def complete(self) -> bool:
        """True if the plan has every string up to some length, and none is missing."""
        octets = tuple(bytes([octet]) for octet in range(256))
        return len(self.strings.grids) == len(self.plan.grids) and all(
            len(grid.axes) == number and not grid.earlier and all(axis.choices == octets for axis in grid.axes)
            for number, grid in enumerate(self.plan.grids, 1)
        )

    @cached_property
    def accepted(self) -> Members | None:
        """The strings that the target accepts; None if the verdict on some string is unknown."""
        if len(self.strings.grids) < len(self.plan.grids) or self.kinds[-1] >= BROKEN:
            return None
        none = dict.fromkeys(self.strings.grids, 0)
        kept = self.strings.less(self.well_formed, self.of_kind.get(REFUSED_WELL_FORMED, none))
        return self.strings.combine(kept, self.of_kind.get(ACCEPTED_ILL_FORMED, none), OR)

    @cached_property
    def learned(self) -> Automaton | None:
        """The small automaton that accepts the same; None if none exists, or too few strings determine it."""
        accepted = self.accepted
        if accepted is None:
            return None
        sets = [(self.strings.levels(grid), accepted[grid]) for grid in sorted(accepted)]
        if self.complete:
            found = learned([(levels[0], node) for levels, node in sets], empty=self.automaton.accepting[0])
        elif is_suite(self.plan.grids):
            found = learned_by_suite(sets)
        else:
            return None
        return found if found is not None and self.strings.of_language(language(found)) == accepted else None

    @cached_property
    def dialects(self) -> tuple[str, ...]:
        """The dialects that accept the same of these strings; first the learned one, if there is one."""
        accepted = self.accepted
        if accepted is None:
            return ()
        some = {kind: self.strings.some(self.of_kind[kind], _TRIED) for kind in _OF_VERDICTS & self.of_kind.keys()}
        wanted = {octets: kind == ACCEPTED_ILL_FORMED for kind, strings in some.items() for octets, _ in strings}
        found: list[str] = []
        for name in DIALECTS:
            spoken = dialect(name).automaton
            if any(spoken.accepts(octets) != accepts for octets, accepts in wanted.items()):
                continue
            if not equivalent(spoken, self.automaton) and self.strings.of_language(language(spoken)) == accepted:
                likeliest = self.learned is not None and equivalent(spoken, self.learned)
                found.insert(0 if likeliest else len(found), name)
        return tuple(found)
