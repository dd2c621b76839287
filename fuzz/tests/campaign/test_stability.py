"""A finding is asked again in fresh processes."""

from itertools import count
from types import SimpleNamespace

import pytest

from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.examiner import stable
from overlong.fuzz.campaign.state import REPETITIONS


def shown(octets, code, answer, meanwhile=lambda: None):
    """How often a finding shows of a function that answers."""

    def ask_one(vector, operation):
        return compare(vector, operation, answer(vector))

    fresh = SimpleNamespace(ask_one=ask_one, close=lambda: None)
    return stable(Vector("fuzz", octets), "V", code, SimpleNamespace(fresh=lambda: fresh), meanwhile)  # type: ignore[arg-type]


def right(vector):
    return Refused() if vector.flaw else Accepted()


def test_a_stable_finding_shows_in_every_fresh_process():
    def crashes(_vector):
        return Crashed("died of SIGSEGV")

    def over():
        raise TimeoutError

    assert shown(b"\xc0\x80", "OV602", crashes) == REPETITIONS
    assert shown(b"\xc0\x80", "OV602", right) == 0
    with pytest.raises(TimeoutError):
        shown(b"\xc0\x80", "OV602", crashes, over)


def test_an_answer_that_changes_shows_now_and_then():
    calls = count(1)
    assert 0 < shown(b"\xff", "OV605", lambda vector: right(vector) if next(calls) % 3 else Accepted()) < REPETITIONS
