"""Atoms: sets of a factor's values, as a rule uses them: ``= k``, ``≥ k``, ``≡ r mod m``, a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.examination.factors import ADDRESSES, FACTORS, FLAG, IN_STREAMS, NUMBER, factor_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.examination.factors import Factor, Site

MODULI = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 3, 5, 6, 7, 10, 12)
_LISTED = 4
"""The most values in a list."""


@dataclass(frozen=True)
class Atom:
    """A set of the values of one factor."""

    factor: str
    low: int | None = None
    high: int | None = None
    modulus: int = 0
    rests: frozenset[int] = frozenset()
    values: frozenset[int] | None = None
    """A set of values; None if the numbers say it."""
    without: bool = False
    """True for all values but these."""
    cost: int = 1

    def holds(self, value: int) -> bool:
        """True if a value is in the set."""
        if self.values is not None:
            return (value in self.values) != self.without
        if self.low is not None and value < self.low:
            return False
        if self.high is not None and value > self.high:
            return False
        return not self.modulus or value % self.modulus in self.rests

    def of(self, site: Site) -> bool:
        """True if it holds at a place."""
        return self.holds(factor_named(self.factor).value(site))

    def to_json(self) -> dict[str, object]:
        """Its members that say something."""
        found: dict[str, object] = {"factor": self.factor}
        if self.values is not None:
            found["all but" if self.without else "values"] = sorted(self.values)
        if self.low is not None and self.low == self.high:
            found["equals"] = self.low
        else:
            found |= {"from": self.low} if self.low is not None else {}
            found |= {"to": self.high} if self.high is not None else {}
        if self.modulus:
            found |= {"modulo": self.modulus, "is": sorted(self.rests)}
        return found


def atoms_of(factor: Factor, inside: Sequence[int], values: Sequence[int]) -> Iterator[Atom]:
    """The tightest atoms of each form that hold for some values of a factor.

    Args:
        factor: the factor.
        inside: the distinct values where the answer is wrong.
        values: all distinct values that were asked.
    """
    some, rest = set(inside), set(values) - set(inside)
    if not rest:
        return
    low, high, name = min(some), max(some), factor.name
    if factor.kind == FLAG:
        if len(some) == 1:
            yield Atom(name, low=low, high=high, cost=1 + factor.cost)
        return
    if factor.kind == NUMBER:
        yield from _of_numbers(factor, some, rest, low, high)
        return
    cost = 1 + factor.cost + _runs(some)
    if len(rest) < len(some):
        # all but those where nothing was wrong
        yield Atom(name, values=frozenset(rest), without=True, cost=2 + factor.cost + _runs(rest))
    yield Atom(name, values=frozenset(some), cost=cost)


def wider(atom: Atom) -> Iterator[Atom]:
    """The plainer atoms that hold for all values of one of numbers, and for more; the widest first."""
    if atom.modulus or atom.without or factor_named(atom.factor).kind != NUMBER:
        return
    low, high = (min(atom.values), max(atom.values)) if atom.values else (atom.low, atom.high)
    if low is not None and high is not None and low < high:
        yield Atom(atom.factor, low=low, cost=2)
        yield Atom(atom.factor, high=high, cost=2)
        if atom.values:
            yield Atom(atom.factor, low=low, high=high, cost=3)


def _of_numbers(factor: Factor, some: set[int], rest: set[int], low: int, high: int) -> Iterator[Atom]:
    name = factor.name
    if low == high:
        yield Atom(name, low=low, high=high, cost=1 + factor.cost)
    if min(rest) < low:
        yield Atom(name, low=low, cost=2 + factor.cost)
    if max(rest) > high:
        yield Atom(name, high=high, cost=2 + factor.cost)
    if low < high and min(rest) < low and max(rest) > high:
        yield Atom(name, low=low, high=high, cost=3 + factor.cost)
    if 1 < len(some) <= _LISTED:
        yield Atom(name, values=frozenset(some), cost=3 + 2 * len(some) + factor.cost)
    if low == high:
        return
    for modulus in MODULI:
        rests = {value % modulus for value in some}
        if 2 * len(rests) > modulus or len(rests) > 8 or len(some) <= len(rests):
            continue
        cost = 3 + len(rests) + factor.cost
        yield Atom(name, modulus=modulus, rests=frozenset(rests), cost=cost)
        if low >= modulus:
            yield Atom(name, low=low, modulus=modulus, rests=frozenset(rests), cost=cost + 1)


def _runs(values: set[int]) -> int:
    return sum(value - 1 not in values for value in values)


_ORDER = {factor.name: number for number, factor in enumerate((*FACTORS, *IN_STREAMS, *ADDRESSES))}


def order_of(name: str) -> int:
    """The place of a factor among all: of two that explain the same, the first is taken."""
    return _ORDER.get(name, len(_ORDER))
