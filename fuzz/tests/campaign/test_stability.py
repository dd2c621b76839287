"""A finding is asked again in fresh processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.examiner import stable
from overlong.fuzz.campaign.state import REPETITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.engines.probe import Probe


class Fake:
    """A probe over a function."""

    def __init__(self, answer: Callable[[Vector], Observation]) -> None:
        self.answer = answer

    def ask_one(self, vector: Vector, operation: str) -> Finding | None:
        return compare(vector, operation, self.answer(vector))

    def fresh(self) -> Fake:
        return Fake(self.answer)

    def close(self) -> None:
        pass

    @property
    def probe(self) -> Probe:
        return cast("Probe", self)


def right(vector: Vector) -> Observation:
    return Refused() if vector.flaw else Accepted()


def test_a_stable_finding_shows_in_every_fresh_process():
    def crashes(vector: Vector) -> Observation:
        return Crashed("died of SIGSEGV") if vector.octets == b"\xc0\x80" else right(vector)

    asked = Vector("fuzz", b"\xc0\x80"), "V", "OV602"
    assert stable(*asked, Fake(crashes).probe, lambda: None) == REPETITIONS
    assert stable(*asked, Fake(right).probe, lambda: None) == 0

    def over():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        stable(*asked, Fake(crashes).probe, over)


def test_an_answer_that_changes_shows_now_and_then():
    calls = 0

    def answer(vector: Vector) -> Observation:
        nonlocal calls
        calls += 1
        return right(vector) if calls % 3 else Accepted()

    assert 0 < stable(Vector("fuzz", b"\xff"), "V", "OV605", Fake(answer).probe, lambda: None) < REPETITIONS
