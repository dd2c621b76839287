"""The reference as machines: their answers equal those of the folds, and their suites catch every other machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.reference import DIALECTS, ERROR_MODES, Rejected, decode_scalars, dialect, outcome
from overlong.reference.machine import (
    Place,
    Transducer,
    difference,
    output_change,
    output_machine,
    place_change,
    place_machine,
    verdict,
    verdict_machine,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEADS = [0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xF7, 0xF8, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF]
_OTHERS = [0x00, 0x41, 0x7F, 0x80, 0x83, 0x8F, 0x90, 0x9F, 0xA0, 0xAF, 0xB0, 0xBB, 0xBD, 0xBF, 0xC0, 0xC2, 0xC3]
STRINGS = st.lists(st.sampled_from(_LEADS + _OTHERS) | st.integers(0, 0xFF), max_size=14).map(bytes)
MODES = [name for name in ERROR_MODES if name != "fatal"]


def prefixes(octets: bytes) -> Iterator[bytes]:
    return (octets[:end] for end in range(len(octets) + 1))


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", DIALECTS)
@settings(deadline=None)  # the machine is built in the first example
@given(octets=STRINGS)
def test_machines_of_a_dialect_answer_as_it_does(name: str, octets: bytes) -> None:
    spoken = dialect(name)
    answers = [outcome(read, "fatal", spoken) for read in prefixes(octets)]
    read = [octets[:end] for end in range(1, len(octets) + 1)]
    assert verdict_machine(spoken).along(octets) == tuple(map(verdict, read, answers[1:]))
    places = [Place(*found) if isinstance(found, Rejected) else None for found in answers]
    assert place_machine(spoken).along(octets) == tuple(map(place_change, read, places, places[1:]))


@pytest.mark.long_after(2)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["rfc3629", "mutf-8", "wtf-8", "rfc2279"])
@settings(deadline=None, max_examples=30)  # the machine is built in the first example
@given(octets=STRINGS)
def test_the_machine_of_an_error_mode_answers_as_its_fold_does(name: str, mode: str, octets: bytes) -> None:
    spoken = dialect(name)
    outputs = [decode_scalars(read, mode, spoken) for read in prefixes(octets)]
    read = [octets[:end] for end in range(1, len(octets) + 1)]
    changes = tuple(map(output_change, read, outputs, outputs[1:]))
    assert output_machine(spoken, ERROR_MODES[mode]).along(octets) == changes


@pytest.mark.long
@pytest.mark.parametrize("mode", ["replacement", "replacement-per-sequence", "utf-8b"])
def test_the_suite_of_an_error_mode_catches_every_single_redirected_octet(mode: str) -> None:
    """Each state and class of octets gets every other next state in turn."""
    machine = output_machine(dialect(), ERROR_MODES[mode])
    suite = machine.complete_strings()
    passing = {word: machine.along(word) for word in suite}
    through: dict[tuple[int, int], list[bytes]] = {}  # for each step, the strings that take it
    for word in suite:
        state = 0
        for octet in word:
            through.setdefault((state, octet), []).append(word)
            state = machine.table[state][octet]
    for state in range(len(machine)):
        for octets in machine.classes:
            octet = octets.octets[-1]
            for to in range(len(machine)):
                row = list(machine.table[state])
                if to == row[octet]:
                    continue
                row[octet] = to
                wrong = Transducer((*machine.table[:state], tuple(row), *machine.table[state + 1 :]), machine.changes)
                caught = any(wrong.along(word) != passing[word] for word in through[state, octet])
                assert caught or difference(wrong, machine) is None
