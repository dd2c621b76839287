# pyright: basic
"""The reference's answers (the verdict, the first error, the scalar values), from compiled loops."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from overlong.reference.automaton import OCTETS
from overlong.reference.decoder import segment
from overlong.reference.dialect import Dialect, ScalarRule, dialect
from overlong.reference.error_mode import IllFormed
from overlong.reference.native.compiled import compiled
from overlong.reference.native.parallel import START, search_for
from overlong.reference.segment import MaximalSubpart
from overlong.reference.shift import MASK, WIDTH, ShiftAutomaton

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Octets = bytes | bytearray | memoryview | NDArray[np.uint8]

_OUT = 32
"""The shift for octets that begin a character; the shift of any other octet shares no bit with it."""
_OUT_BIT, _NUMBER = np.uint64(_OUT.bit_length() - 1), np.uint64((1 << _OUT) - 1)
_MASK, _WIDTH, _ONE = np.uint64(MASK), np.uint64(WIDTH), np.uint64(1)


class Oracle:
    """The reference of one dialect, compiled when first asked.

    Octets are ``bytes``, ``bytearray``, ``memoryview`` or a NumPy array of ``uint8``; contiguous octets are not
    copied. Threads may share an oracle: the compiled loops hold no lock and keep no state.
    """

    def __init__(self, spoken: Dialect) -> None:
        """Raises:
        ValueError: the dialect's automaton has too many states or is of the wrong shape (:mod:`.parallel`), or its
            numbers are not the bits of its octets alone.
        """
        if spoken.rule != ScalarRule() or any(row.less for row in spoken.layout.rows):
            raise ValueError(
                f"{spoken.name}: its scalar values are more than bits of octets; use overlong.reference.decode"
            )
        try:
            shifts, self._search = ShiftAutomaton.of(spoken.automaton), search_for(spoken.automaton)
        except ValueError as error:
            raise ValueError(f"{spoken.name}: {error}; use overlong.reference.decode") from None
        self._spoken = spoken
        self._rows = np.array(shifts.rows, np.uint64)
        self._dead = np.uint64(shifts.dead or 0)
        self._begins = np.array([to != spoken.automaton.dead for to in spoken.automaton.table[START]])
        self._layout = _layout(spoken, self._begins)

    @property
    def dialect(self) -> Dialect:
        """The dialect that it decides."""
        return self._spoken

    def is_well_formed(self, octets: Octets) -> bool:
        """True if ``octets`` match the grammar's start rule."""
        return self._found(_array(octets))[0] < 0

    def first_error(self, octets: Octets) -> tuple[int, int, bool] | None:
        """The first error: offset and length of the maximal subpart in octets, and whether the input ended inside a
        character that could still be completed; None if ``octets`` are well-formed.
        """
        found = self._found(_array(octets))
        return None if found[0] < 0 else found

    def decode_scalars(self, octets: Octets) -> NDArray[np.uint32]:
        """The numbers that ``octets`` encode.

        Raises:
            IllFormed: they are ill-formed.
        """
        array = _array(octets)
        offset, length, incomplete = self._found(array)
        if offset >= 0:
            # The reference names the defect; a maximal subpart has fewer octets than the automaton has states.
            beginning = array[offset : offset + len(self._spoken.automaton) + 1].tobytes()
            flaw = segment(beginning, 0, self._spoken)
            assert isinstance(flaw, MaximalSubpart), "the reference refuses what the oracle refuses"
            raise IllFormed(offset, length, incomplete, flaw.defect)
        numbers: NDArray[np.uint32] = _numbers(array, self._layout)
        return numbers

    def _found(self, array: NDArray[np.uint8]) -> tuple[int, int, bool]:
        return self._search(array, self._rows, self._dead, self._begins)


@cache
def oracle(dialect_name: str = "rfc3629") -> Oracle:
    """The oracle of the dialect of that name.

    Raises:
        ValueError: there is no such dialect, or it cannot be compiled; the message says why.
    """
    return Oracle(dialect(dialect_name))


def _array(octets: Octets) -> NDArray[np.uint8]:
    if isinstance(octets, np.ndarray):
        if octets.dtype != np.uint8 or octets.ndim != 1:
            raise TypeError(f"octets are a row of uint8, not {octets.ndim} dimensions of {octets.dtype}")
        array = np.ascontiguousarray(octets)[:]
    else:
        view = memoryview(octets)
        array = np.frombuffer(view if view.contiguous else view.tobytes(), np.uint8)
    array.flags.writeable = False  # of this view only; so Numba compiles for one type of array
    return array


def _layout(spoken: Dialect, begins: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """For each octet its bits of the number, above six bits that say how far it shifts the bits of earlier octets.

    An octet that begins a character shifts them by 32, out of the number.

    Raises:
        ValueError: an octet's bits depend on the character that it is in.
    """
    rows: list[int] = []
    for octet in OCTETS:
        if begins[octet]:
            row = spoken.layout.announced(octet)
            assert row is not None, "a lead octet stands in the layout"
            own = {(_OUT, row.templates[0].bits(octet))}
        else:
            inner = [template for row in spoken.layout.rows for template in row.templates[1:] if template.fits(octet)]
            own = {(template.free, template.bits(octet)) for template in inner} or {(0, 0)}
        if len(own) > 1:
            raise ValueError(
                f"{spoken.name}: the bits of octet {octet:02X} depend on its character; use overlong.reference.decode"
            )
        ((moves, bits),) = own
        rows.append(bits << WIDTH | moves)
    return np.array(rows, np.uint64)


@compiled
def _numbers(octets: Any, layout: Any) -> Any:
    """The numbers of well-formed octets. Each octet overwrites its character's number; the last one completes it."""
    numbers, count, number = np.empty(len(octets) + 1, np.uint32), np.uintp(0), np.uint64(0)
    for place in range(len(octets)):
        row = layout[octets[place]]
        number = number << (row & _MASK) | row >> _WIDTH
        count += row >> _OUT_BIT & _ONE
        numbers[count] = np.uint32(number & _NUMBER)
    return numbers[1 : count + _ONE]  # the loop never touches memory beyond that
