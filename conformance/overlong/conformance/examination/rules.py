"""Learns a rule from answers: the cheapest conjunction of atoms that holds where an answer is wrong, and only there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.examination.atoms import FACTOR_ORDER, Atom, atoms_of
from overlong.conformance.examination.factors import FACTORS, NONE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.examination.factors import Factor, Site

_MOST_ATOMS = 5
_PAIRS = 160
"""The most atoms that pairs are made of."""
_TRIPLES = 60
_HELPS = 0.5
"""A further atom of an approximate rule leaves at most this share of the right answers that it covers."""


@dataclass(frozen=True)
class Rule:
    """A conjunction of atoms."""

    atoms: tuple[Atom, ...] = ()

    def holds(self, site: Site) -> bool:
        """True if all atoms hold at a place."""
        return all(atom.of(site) for atom in self.atoms)


class Table:
    """Places, whether the answer is wrong there, and the values of all factors."""

    def __init__(self, factors: Sequence[Factor] = FACTORS) -> None:
        self.factors = factors
        self.columns: list[list[int]] = [[] for _ in self.factors]
        self.labels: list[bool] = []
        self._known = set[object]()

    def add(self, site: Site, *, wrong: bool) -> None:
        """Add a place."""
        key = site.octets, site.start, site.cut, site.after, site.chunks, site.address
        if key in self._known:
            return
        self._known.add(key)
        self.labels.append(wrong)
        for column, factor in zip(self.columns, self.factors, strict=True):
            column.append(factor.value(site))

    def rule(self) -> Rule:
        """The cheapest rule that explains all answers, or else most of them."""
        right = [place for place, wrong in enumerate(self.labels) if not wrong]
        if not right or len(right) == len(self.labels):
            return Rule()
        everything = (1 << len(right)) - 1
        held: dict[int, Atom] = {}
        for factor, column in zip(self.factors, self.columns, strict=True):
            inside = {value for value, wrong in zip(column, self.labels, strict=True) if wrong}
            values = set(column)
            if not inside or inside == values:
                continue
            outside = [column[place] for place in right]
            by_value: dict[int, int] = {}
            for number, value in enumerate(outside):
                by_value[value] = by_value.get(value, 0) | 1 << number
            for atom in atoms_of(factor, sorted(inside), sorted(values)):
                mask = 0
                for value, bits in by_value.items():
                    if atom.holds(value):
                        mask |= bits
                known = held.get(mask)
                if mask != everything and (known is None or _key(atom) < _key(known)):
                    held[mask] = atom
        return _cheapest(held)


def _key(atom: Atom) -> tuple[int, int, int]:
    return atom.cost, FACTOR_ORDER[atom.factor], atom.modulus


def _cheapest(held: dict[int, Atom]) -> Rule:
    """The cheapest conjunction under which no right answer is left.

    Args:
        held: each atom by the right answers for which it holds, as bits.
    """
    if 0 in held and held[0].cost <= 3:
        return Rule((held[0],))
    best: tuple[int, tuple[Atom, ...]] | None = (held[0].cost, (held[0],)) if 0 in held else None
    masks = sorted(held, key=lambda mask: (mask.bit_count(), _key(held[mask])))[:_PAIRS]
    for number, one in enumerate(masks):
        for other in masks[number + 1 :]:
            if not one & other:
                cost = held[one].cost + held[other].cost + 1
                if best is None or cost < best[0]:
                    best = cost, (held[one], held[other])
    if best is None:
        few = masks[:_TRIPLES]
        for number, one in enumerate(few):
            for place, other in enumerate(few[number + 1 :], number + 1):
                both = one & other
                if both.bit_count() > 0.5 * one.bit_count():
                    continue
                for third in few[place + 1 :]:
                    if not both & third:
                        cost = held[one].cost + held[other].cost + held[third].cost + 2
                        if best is None or cost < best[0]:
                            best = cost, (held[one], held[other], held[third])
    if best is not None:
        return Rule(tuple(sorted(best[1], key=lambda atom: FACTOR_ORDER[atom.factor])))
    return _greedy(held, masks)


def _greedy(held: dict[int, Atom], masks: Sequence[int]) -> Rule:
    """Atoms one after another, as long as they leave fewer right answers: an approximate rule."""
    chosen, left = list[Atom](), -1
    while len(chosen) < _MOST_ATOMS and masks:
        best = min(
            masks, key=lambda mask: ((left & mask).bit_count() if left >= 0 else mask.bit_count(), _key(held[mask]))
        )
        after = best if left < 0 else left & best
        if left >= 0 and after.bit_count() >= left.bit_count() * _HELPS:
            break
        chosen.append(held[best])
        left = after
        if not left:
            break
    return Rule(tuple(sorted(chosen, key=lambda atom: FACTOR_ORDER[atom.factor])))


__all__ = ["NONE", "Rule", "Table"]
