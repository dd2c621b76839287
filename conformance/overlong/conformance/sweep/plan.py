"""A plan: a name, its purpose, and its strings as grids. A pure function of the name and the profile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from overlong.conformance.results.sweeps import Account, Shard
from overlong.conformance.support.printable import did_you_mean, thousands
from overlong.conformance.sweep import distances, schemes
from overlong.conformance.sweep.grid import account, total
from overlong.conformance.sweep.schemes import DEPTH, words_within
from overlong.conformance.vectors.vector import RFC3629

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.sweep.grid import Grid, Scheme
    from overlong.conformance.vectors.vector import Profile
    from overlong.reference.automaton import Automaton

_SCHEMES = (
    *(schemes.EXHAUSTIVE, schemes.DEPTH, schemes.LEADS, schemes.FORMS, schemes.PLACED),
    *(distances.OFFSETS, distances.LENGTHS, distances.FAR, schemes.PAIRS),
    *(distances.ADDRESSES, distances.OCTETS, distances.RUNS, distances.BLOCKS, distances.FOLLOWS, distances.GIANT),
    *(schemes.AFTER, schemes.TRANSITIONS, schemes.FAULTS, distances.THRESHOLDS, distances.CONSTANT, schemes.ORDER),
    *(schemes.HISTORY, schemes.DRAWN, schemes.SAMPLE, schemes.SOAK),
)
PLANS: dict[str, Scheme] = {scheme.name: scheme for scheme in _SCHEMES}
SEEDED = frozenset(scheme.name for scheme in (schemes.DRAWN, schemes.SAMPLE, schemes.SOAK))
"""The names of plans that a seed draws."""

SHARD, LARGEST_SHARD = 1 << 22, 1 << 24
"""The usual and the most strings in a shard. The usual number takes a decoder in Python seconds; shards of a very
large grid are larger, so that there are not thousands, but their kinds always fit in memory."""
_SHARDS = 1 << 10
_OCTETS = 64
"""The number of octets that cost a decoder as much as the call for a string."""
SHARD_OCTETS = 1 << 28
"""The most octets in a shard, however few strings that is."""


@dataclass(frozen=True)
class Plan:
    """Strings to be asked, numbered."""

    name: str
    shows: str
    profile: Profile
    scheme: Scheme
    number: int = 0

    @cached_property
    def grids(self) -> tuple[Grid, ...]:
        """The grids in order. They are small: no string is made."""
        return tuple(self.scheme.grids(self.profile, self.number))

    @cached_property
    def size(self) -> int:
        """The number of strings."""
        return sum(grid.size for grid in self.grids)

    @cached_property
    def octets(self) -> int:
        """The total octets of its strings."""
        return sum(grid.octets for grid in self.grids)

    @cached_property
    def giant(self) -> bool:
        """True if it has strings that cannot be made (``giants.py``)."""
        return any(grid.between for grid in self.grids)

    @property
    def price(self) -> float:
        """The cost of the plan: the number of short strings that take a decoder as long."""
        return self.size + self.octets / _OCTETS

    def shards(self, largest: int | None = None) -> Iterator[Shard]:
        """All of its strings, each in one shard of at most ``largest`` strings, if that is given."""
        for number, grid in enumerate(self.grids):
            wanted = largest or min(max(SHARD, grid.size // _SHARDS), LARGEST_SHARD)
            most = 1 if grid.between else max(1, min(wanted, SHARD_OCTETS // max(grid.longest, 1)))
            for first in range(0, grid.size, most):
                yield Shard(self.name, number, first, min(most, grid.size - first))

    def account(self, automaton: Automaton) -> Account:
        """The sums over all of its strings, by counting alone."""
        return total([account(grid, automaton) for grid in self.grids])


_LISTED = "'overlong docs suites' lists them"


@lru_cache(maxsize=32)  # enough for a certificate and the next tier
def plan_named(name: str, profile: Profile = RFC3629) -> Plan:
    """The plan of that name: ``exhaustive-3``, ``placed-64``, ``pairs``.

    Raises:
        ValueError: there is no such plan; the message suggests one.
    """
    found = re.fullmatch(r"([a-z]+)(?:-([0-9]{1,9}))?", name)
    scheme = PLANS.get(found[1]) if found else None
    if found is None or scheme is None:
        forms = [each.form_with(found[2] if found else None) for each in PLANS.values()]
        raise ValueError(f"no plan {name!r}; {did_you_mean(name, forms, _LISTED)}")
    if scheme.least is None:
        if found[2] is not None:
            raise ValueError(f"the plan '{scheme.name}' takes no number")
        return Plan(scheme.name, scheme.shows, profile, scheme)
    number = scheme.usual if found[2] is None else int(found[2])
    if not scheme.least <= number <= scheme.most:
        raise ValueError(f"{scheme.name}-{number}: write a number from {scheme.least} to {scheme.most}")
    states = len(profile.dialect.automaton) + number
    speaks = "RFC 3629" if profile.speaks == RFC3629.speaks else profile.speaks
    within = thousands(words_within(profile.dialect.automaton, number)) if scheme is DEPTH else ""
    octets = f"{number} octet{'' if number == 1 else 's'}" if scheme is DEPTH else number
    shows = scheme.shows.format(octets, states=states, speaks=speaks, within=within)
    return Plan(f"{scheme.name}-{number}", shows, profile, scheme, number)
