"""The state machine for streams accepts right decoders, and finds each kind of fault."""

import encodings.utf_8

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from overlong.fuzz.streams import Diverges, stream_machine
from overlong.reference import IncrementalDecoder

QUICK = settings(
    max_examples=300,
    stateful_step_count=8,
    database=None,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
    print_blob=False,
)
SHORT = settings(QUICK, max_examples=40)


class CPython(encodings.utf_8.IncrementalDecoder):
    """Python's own."""


TestCPython = stream_machine(CPython, prompt=True).TestCase
TestCPython.settings = SHORT


@pytest.mark.parametrize("error_mode", ["fatal", "replacement"])
def test_the_reference_is_right(error_mode):
    machine = stream_machine(lambda: IncrementalDecoder(error_mode), error_mode=error_mode, prompt=True)
    run_state_machine_as_test(machine, settings=SHORT)


class Late(IncrementalDecoder):
    """It puts out nothing before the end."""

    def reset(self):
        super().reset()
        self.octets = b""

    getstate = setstate = None  # type: ignore[assignment]

    def decode(self, chunk, final=False):
        self.octets += chunk
        return super().decode(self.octets, final=True) if final else ""


def test_late_output_is_wrong_only_where_that_is_asked():
    run_state_machine_as_test(stream_machine(Late), settings=SHORT)
    with pytest.raises(Diverges, match=r"output '', not|not refused"):
        run_state_machine_as_test(stream_machine(Late, prompt=True), settings=QUICK)


class Forgets(CPython):
    """It loses an unfinished character at the end of a chunk."""

    def decode(self, chunk, final=False):
        text = super().decode(chunk, final)
        super().reset()
        return text


class KeepsAfterReset(CPython):
    def reset(self):
        pass


class DropsTheEnd(CPython):
    def decode(self, chunk, final=False):
        return super().decode(chunk, False)


class LosesSavedState(CPython):
    def setstate(self, state):
        pass


class ThinksEachChunkWhole(CPython):
    def decode(self, chunk, final=False):
        return super().decode(chunk, True)


class Fails(CPython):
    def decode(self, chunk, final=False):
        if len(chunk) == 2:
            raise ZeroDivisionError
        return super().decode(chunk, final)


@pytest.mark.parametrize("wrong", [Forgets, KeepsAfterReset, DropsTheEnd, LosesSavedState, ThinksEachChunkWhole])
def test_wrong_decoders_are_caught(wrong):
    with pytest.raises(Diverges, match="the octets"):
        run_state_machine_as_test(stream_machine(wrong), settings=QUICK)


def test_an_error_that_is_no_refusal_is_not_taken_for_one():
    with pytest.raises(ZeroDivisionError):
        run_state_machine_as_test(stream_machine(Fails), settings=QUICK)


def test_an_error_mode_that_is_none_is_told_at_once():
    with pytest.raises(ValueError, match="ignored"):
        stream_machine(CPython, error_mode="ignored")
