"""The classes of historical faults that a list shows. The wrong decoders themselves are in ``models``.

The wrong grammars run all at once, as one product of automata that includes the correct one. The other decoders run
one by one, each only until a string has shown it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.models.score.models import GRAMMARS, OUTPUTS, STREAMS, VERDICTS, WrongOutput, decoded, differs
from overlong.conformance.vectors.vector import cut
from overlong.reference import dialect
from overlong.reference.automaton import OCTETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.models.score.models import WrongStream, WrongVerdict
    from overlong.conformance.models.score.mutation import Fault, Specimen
    from overlong.reference.automaton import Automaton


class HistoricalFaults:
    """The classes that whole strings can show. Implements ``MutationOperator``."""

    def __init__(self) -> None:
        self._grammars = Product([dialect().automaton, *(each.automaton for each in GRAMMARS)])
        self._wanted = (1 << len(GRAMMARS)) - 1
        self._habits: dict[str, WrongVerdict | WrongOutput] = {each.name: each for each in VERDICTS}
        self._habits.update((each.name, each) for each in OUTPUTS)
        self._numbers = {each.name: number for number, each in enumerate(GRAMMARS)}
        self.total = len(GRAMMARS) + len(self._habits)

    @property
    def live(self) -> int:
        return self._wanted.bit_count() + len(self._habits)

    @property
    def missed(self) -> tuple[str, ...]:
        """The classes that no string has shown yet."""
        return *(each.name for each in GRAMMARS if self._wanted >> self._numbers[each.name] & 1), *self._habits

    def shown(self, specimen: Specimen) -> list[str]:
        """The live classes that a string shows."""
        found = self._grammars.differing(specimen.octets) & self._wanted if self._wanted else 0
        result = [each.name for number, each in enumerate(GRAMMARS) if found >> number & 1] if found else []
        for habit in self._habits.values():
            least = 0 if isinstance(habit, WrongOutput) else habit.least
            if len(specimen.octets) >= least and differs(habit, specimen):
                result.append(habit.name)
        return result

    def kill(self, faults: Iterable[Fault]) -> None:
        """Remove classes from the live ones."""
        for fault in faults:
            assert isinstance(fault, str)
            if fault in self._numbers:
                self._wanted &= ~(1 << self._numbers[fault])
            else:
                self._habits.pop(fault, None)


class StreamFaults:
    """Classes that only a list with chunks can show."""

    def __init__(self) -> None:
        self.missed: dict[str, WrongStream] = {each.name: each for each in STREAMS}
        self.measured = False
        """True if the list has a string in chunks."""

    def add(self, octets: bytes, chunks: Sequence[int]) -> None:
        """Take a string in these chunks into account."""
        self.measured = True
        if not self.missed:
            return
        pieces, right = cut(octets, chunks) or [b""], decoded(octets)
        for name in [name for name, model in self.missed.items() if model.decode(pieces) != right]:
            del self.missed[name]


class Product:
    """Automata that read a string together; the first is the correct one. States are made on demand."""

    def __init__(self, automata: Sequence[Automaton]) -> None:
        self._automata = automata
        self._members: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self._rows: list[list[int]] = []
        self._differing: list[int] = []
        self._number((0,) * len(automata))

    def differing(self, octets: bytes) -> int:
        """The automata whose answers differ from the first one's, as bits from the second automaton on."""
        rows, state = self._rows, 0
        for octet in octets:
            to = rows[state][octet]
            state = to if to >= 0 else self._step(state, octet)
        return self._differing[state]

    def _step(self, state: int, octet: int) -> int:
        members = zip(self._automata, self._members[state], strict=True)
        to = self._rows[state][octet] = self._number(tuple(each.table[member][octet] for each, member in members))
        return to

    def _number(self, members: tuple[int, ...]) -> int:
        if members not in self._numbers:
            self._numbers[members] = len(self._members)
            self._members.append(members)
            self._rows.append([-1] * len(OCTETS))
            right, *others = (each.accepting[state] for each, state in zip(self._automata, members, strict=True))
            self._differing.append(sum(1 << number for number, said in enumerate(others) if said != right))
        return self._numbers[members]
