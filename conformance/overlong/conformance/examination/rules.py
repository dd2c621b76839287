"""Rules: conjunctions of atoms, each a set of a factor's values: ``= k``, ``≥ k``, ``≡ r mod m``, a set.

The rule that is learned from answers is the cheapest one that holds where an answer is wrong, and only there.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, islice
from operator import not_
from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.text import ADDRESSES, FACTORS, FLAG, IN_STREAMS, NONE, NUMBER, factor_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from overlong.conformance.examination.asking import Question
    from overlong.conformance.examination.text import Factor, Site
    from overlong.conformance.oracle.finding import Finding

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

    @classmethod
    def of_json(cls, read: Mapping[str, Any], named: Callable[[str], Factor] = factor_named) -> Atom:
        """The atom that :meth:`to_json` wrote.

        Raises:
            ValueError, LookupError, TypeError: it is none.
        """
        values = read.get("values", read.get("all but"))
        low, high = (read.get("equals", read.get(name)) for name in ("from", "to"))
        return cls(
            named(read["factor"]).name,
            None if low is None else int(low),
            None if high is None else int(high),
            int(read.get("modulo", 0)),
            frozenset(map(int, read.get("is", ()))),
            None if values is None else frozenset(map(int, values)),
            without="all but" in read,
        )

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


def _order_of(name: str) -> int:
    """The place of a factor among all: of two that explain the same, the first is taken."""
    return _ORDER.get(name, len(_ORDER))


_MOST_ATOMS = 5
_PAIRS = 500
"""The most atoms that pairs are made of."""
_TRIPLES = 60
_PLAIN = 3
"""An atom of this cost is cheaper than any pair."""
_HELPS = 0.5
"""A further atom of an approximate rule leaves at most this share of the right answers that it covers."""


Rule = tuple[Atom, ...]
"""A conjunction of atoms."""


def all_hold(rule: Rule, site: Site, named: Callable[[str], Factor] = factor_named) -> bool:
    """True if all atoms hold at a place; ``named``: the factor of a name."""
    return all(atom.holds(named(atom.factor).value(site)) for atom in rule)


class AnyCondition(ABC):
    """Which questions a target answers wrongly: a decoder (:class:`.Condition`), an encoder, or another function."""

    @abstractmethod
    def holds(self, question: Question | bytes) -> bool:
        """True if the target is predicted to answer a question wrongly for this cause."""

    @abstractmethod
    def predicts(self, code: str, finding: Finding) -> bool:
        """True if a finding is what a target gives that has this fault.

        Args:
            code: of the examined divergence.
            finding: of the same target.
        """

    @abstractmethod
    def to_json(self) -> dict[str, object]:
        """The condition for files."""

    def kept(self) -> dict[str, object]:
        """The same, with what its id does not depend on, and all that foresees further answers."""
        return self.to_json()

    @cached_property
    def id(self) -> str:
        """``C-`` and eight digits of a hash: the same for the same cause, whichever verb found it."""
        return f"C-{hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()[:8]}"

    @property
    def streams(self) -> bool:
        """True if it is about streams."""
        return False

    @property
    def withholds(self) -> bool:
        """True if a stream's output comes late whatever it is."""
        return False

    @property
    def recalls(self) -> bool:
        """True if the answer depends on an earlier call or stream."""
        return False


class Table:
    """Places, and whether the answer is wrong there."""

    def __init__(self, factors: Sequence[Factor] = FACTORS) -> None:
        self.factors = list(factors)
        self.labels: list[bool] = []
        self._sites: list[Site] = []
        self._columns: dict[str, list[int]] = {}
        self._known = set[object]()
        self._asked: list[tuple[Sequence[Site], bool]] = []

    def add(self, site: Site, *, wrong: bool) -> None:
        """Add a place."""
        key = site.octets, site.start, site.cut, site.after, site.chunks, site.address
        if key in self._known:
            return
        self._known.add(key)
        self.labels.append(wrong)
        self._sites.append(site)

    def add_question(self, sites: Sequence[Site], *, wrong: bool) -> None:
        """Add the places of a question: all of a right answer, of a wrong one the place if it is clear."""
        self._asked.append((sites, wrong))
        within = [site for site in sites if site.cut != NONE] or sites
        for site in sites if not wrong else within if len(within) == 1 else ():
            self.add(site, wrong=wrong)

    def explained_by(self, rule: Rule) -> int:
        """The number of questions about which a rule is right."""
        return sum(any(all_hold(rule, site) for site in sites) == wrong for sites, wrong in self._asked)

    def tell_apart(self, factors: Iterable[Factor]) -> None:
        """Take more factors into account."""
        known = {factor.name for factor in self.factors}
        self.factors += (factor for factor in factors if factor.name not in known)

    def agrees(self, rule: Rule) -> float:
        """The share of the places about which a rule is right."""
        right = sum(all_hold(rule, site) == wrong for site, wrong in zip(self._sites, self.labels, strict=True))
        return right / len(self.labels) if self.labels else 0.0

    def _column(self, factor: Factor) -> list[int]:
        """The values of a factor. They are only found out if some answers differ."""
        column = self._columns.setdefault(factor.name, [])
        column += map(factor.value, islice(self._sites, len(column), None))
        return column

    def rule(self) -> Rule:
        """The cheapest rule that explains all answers, or else most of them."""
        if all(self.labels) or not any(self.labels):
            return ()
        columns = list(map(self._column, self.factors))
        rows = zip(*columns, strict=True)
        right = list(zip(*dict.fromkeys(compress(rows, map(not_, self.labels))), strict=True))
        everything = (1 << len(right[0])) - 1
        held: dict[int, Atom] = {}
        for factor, column, outside in zip(self.factors, columns, right, strict=True):
            inside, values = set(compress(column, self.labels)), set(column)
            if inside == values:
                continue
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
    return atom.cost, _order_of(atom.factor), atom.modulus


def _cheapest(held: dict[int, Atom]) -> Rule:
    """The cheapest conjunction under which no right answer is left.

    Args:
        held: each atom by the right answers for which it holds, as bits.
    """
    if 0 in held and held[0].cost <= _PLAIN:
        return (held[0],)
    alone = (held[0],) if 0 in held else None
    ordered = sorted(held, key=lambda mask: _key(held[mask]))[:_PAIRS]
    best = _cheapest_pair(held, ordered, alone)
    if best is None:
        masks = sorted(held, key=lambda mask: (mask.bit_count(), _key(held[mask])))
        best = _cheapest_triple(held, masks[:_TRIPLES])
    return in_order(best) if best is not None else _greedy(held)


def _cheapest_pair(
    held: dict[int, Atom], ordered: Sequence[int], best: tuple[Atom, ...] | None
) -> tuple[Atom, ...] | None:
    """The cheapest pair of atoms, of masks in the order of their cost, under which no right answer is left."""
    for number, one in enumerate(ordered):
        for other in ordered[number + 1 :]:
            pair = held[one], held[other]
            if best is not None and pair[0].cost + pair[1].cost + 2 > _cost(best)[0]:
                break
            if not one & other and (best is None or _cost(pair) < _cost(best)):
                best = pair
    return best


def _cheapest_triple(held: dict[int, Atom], masks: Sequence[int]) -> tuple[Atom, ...] | None:
    """The same for three, of which the second helps the first a lot."""
    found = [
        (held[one], held[other], held[third])
        for number, one in enumerate(masks)
        for place, other in enumerate(masks[number + 1 :], number + 1)
        if (one & other).bit_count() <= _HELPS * one.bit_count()
        for third in masks[place + 1 :]
        if not one & other & third
    ]
    return min(found, key=_cost, default=None)


def _cost(atoms: Iterable[Atom]) -> tuple[int, list[int]]:
    some = list(atoms)
    return sum(atom.cost for atom in some) + len(some), sorted(_order_of(atom.factor) for atom in some)


def in_order(atoms: Iterable[Atom]) -> Rule:
    """The conjunction of some atoms."""
    return tuple(sorted(atoms, key=lambda atom: _order_of(atom.factor)))


def _greedy(held: dict[int, Atom]) -> Rule:
    """Atoms one after another, as long as they leave fewer right answers: an approximate rule."""
    chosen, left = list[Atom](), -1
    while len(chosen) < _MOST_ATOMS and held:
        best = min(
            held, key=lambda mask: ((left & mask).bit_count() if left >= 0 else mask.bit_count(), _key(held[mask]))
        )
        after = best if left < 0 else left & best
        if left >= 0 and after.bit_count() >= left.bit_count() * _HELPS:
            break
        chosen.append(held[best])
        left = after
        if not left:
            break
    return in_order(chosen)
