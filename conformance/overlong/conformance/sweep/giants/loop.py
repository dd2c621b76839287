"""Asks a function giant strings: a few dozen calls, each judged here."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    AGREES,
    BROKEN,
    ODD,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    answer_code,
)
from overlong.conformance.protocol.wire import NOT_SAID
from overlong.conformance.sweep.giants.memory import Text
from overlong.conformance.sweep.progress import INDEX
from overlong.reference.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.conformance.oracle.target import ExpectedAnswers
    from overlong.conformance.sweep.grid import Grid
    from overlong.conformance.sweep.progress import Progress
    from overlong.conformance.targets.adapters.abi import Abi
    from overlong.reference.automaton import Automaton

_CELLS = 64
_MORE = 1 << 10
"""More octets than the strings of one power differ by: what was mapped, and read, serves them all."""


class GiantLoop:
    """The loop of ``compiled.py``, for grids with letters between."""

    def __init__(self, abi: Abi, addresses: Sequence[int], expected: ExpectedAnswers) -> None:
        """``addresses``: of the function.

        Raises:
            NoCore: there is no core in C.
        """
        self._abi, self._expected = abi, expected
        self._convention = core().convention(abi.name)
        self._function = ctypes.c_uint64(addresses[0])
        self._cells = (ctypes.c_uint8 * _CELLS)()
        self._text: Text | None = None

    def run(self, strings: Grid, until: int, progress: Progress, kinds: memoryview, origin: int) -> None:
        """Ask the strings from ``progress.reached`` up to, but not including, ``until``.

        Raises:
            OSError: there is no memory for them.
        """
        for index in range(progress.reached, until):
            head, *tail = strings.pieces(index)
            length = len(head) + strings.between + sum(map(len, tail))
            address = self._placed(head, strings.between, b"".join(tail), length, strings.around)
            progress.words[INDEX] = index
            status, number = self._ask(address, length)
            right = self._expected.automaton.accepts(strings.string(index))
            offset = expected_offset(strings, index, self._expected.automaton)
            kinds[index - origin] = self._judged(status, number, offset, right=right)
            checked = (answer_code(status, number) + 1) * (index * ODD | 1)
            progress.answered(length, well_formed=right, accepted=status == "A", checked=checked, number=number)

    def _placed(self, head: bytes, letters: int, tail: bytes, length: int, around: int) -> int:
        if self._text is None or self._text.most < length:
            if self._text is not None:
                self._text.close()
            self._text = None
            self._text = Text(length + _MORE)
        behind = 0 if self._abi.terminated else around
        return self._text.placed(head, letters, tail, bytes([around]), bytes([behind]))

    def _ask(self, address: int, length: int) -> tuple[str, int]:
        """The status of an answer, and its number."""
        function, cells = ctypes.addressof(self._function), ctypes.addressof(self._cells)
        question = (ctypes.c_uint64 * 6)(function, address, length, 0, 0, cells)
        answer = (ctypes.c_uint64 * 2)()
        core()("ask_once", self._convention, ctypes.addressof(question), ctypes.addressof(answer))
        return "ARX"[answer[0]], answer[1]

    def _judged(self, status: str, number: int, offset: int, *, right: bool) -> int:
        if status == "X":
            return BROKEN
        if right:
            return AGREES if status == "A" else REFUSED_WELL_FORMED
        if status == "A":
            return ACCEPTED_ILL_FORMED
        is_wrong = self._expected.offsets and number not in (NOT_SAID, offset)
        return OTHER_OFFSET if is_wrong else AGREES


def expected_offset(strings: Grid, index: int, automaton: Automaton) -> int:
    """Where the first error of a string begins: as without the letters between, or as many octets later."""
    octets, (head, *_) = strings.string(index), strings.pieces(index)
    offset = max(end for end in range(len(octets) + 1) if automaton.accepts(octets[:end]))
    return offset if offset < len(head) else offset + strings.between
