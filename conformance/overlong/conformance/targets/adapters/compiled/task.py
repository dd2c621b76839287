"""The inputs and results of the compiled code of ``answers.py``, as a row of words."""

from __future__ import annotations

from typing import NamedTuple


class AnswersTask(NamedTuple):
    """Numbers and addresses."""

    function: int
    octets: int
    """The address of the next input."""
    lengths: int
    """The address of the lengths of all inputs, each a u32."""
    next: int
    """The number of the next input."""
    inputs: int
    """The number of inputs."""
    item: int
    """The address for the number of the current input, which the process that watches this one reads."""
    written: int
    """The end of inputs, right before a guard: its writable address, and the address that the function sees."""
    ends: int
    out: int
    room: int
    """The output units with room for each octet, and the additional units."""
    more: int
    cells: int
    statuses: int
    numbers: int
    kept: int
    """The address for the next kept output."""
    get_pid: int
    process: int
    returned: int = 0
    """The results of the last call."""
    second: int = 0
    one: int = 0
    two: int = 0
