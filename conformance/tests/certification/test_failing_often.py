"""A target that crashes or hangs often: the whole report is kept, and hangs cost seconds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn

import pytest

from overlong.conformance import Invocation, certify
from overlong.conformance.certification.runner import Runner, no_progress
from overlong.conformance.certification.self_test import Accepts
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Code, Crashed, TimedOut, describe
from overlong.conformance.results.model import State, exit_code_of
from overlong.conformance.sweep.sweep import sweep
from overlong.conformance.targets import limits
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.limits import ALONE, LEAST, TIME_OUTS, AnswerLimit, Limits
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.suites import SUITES
from overlong.conformance.vectors.vector import Vector
from overlong.reference import is_well_formed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from overlong.conformance.oracle.target import Answered

_CRASHES = """
import os

def decode(octets):
    try:
        return octets.decode()
    except UnicodeDecodeError as error:
        if error.reason == "unexpected end of data":
            os._exit(0)
        raise
"""

_HANGS = """
import time

def decode(octets):
    time.sleep(1000 if octets[0] == 0xF8 else 0.3 if octets[0] == 0xC3 else 0)
    return octets.decode()
"""


def test_a_decoder_that_crashes_often_gets_its_report(tmp_path: Path) -> None:
    (tmp_path / "crashes.py").write_text(_CRASHES, "utf-8")
    target = f"py:{tmp_path / 'crashes.py'}:decode"
    limits = Limits(restarts=8)
    certificate = certify(Invocation(target, ("core",), limits=limits, portrait=True), output=tmp_path / "out")
    assert certificate.run.incomplete
    assert certificate.run.buckets
    assert exit_code_of(certificate.state) == exit_code_of(State.INCOMPLETE)
    assert "OV60" in (tmp_path / "out" / "results.jsonl").read_text("utf-8")


def test_after_some_time_outs_the_limit_is_a_thousand_answers() -> None:
    limit = AnswerLimit(5.0)
    for _ in range(64):
        limit.answered(0.00002, 1, 4)
    assert limit.seconds([4], alone=True) == 5.0
    assert not limit.notes
    for _ in range(TIME_OUTS):
        limit.timed_out()
    assert limit.seconds([4], alone=True) == ALONE
    assert limit.seconds([4], alone=False) == LEAST, "it is asked again"
    assert "in place of 5 s" in limit.notes[-1]
    assert limit.seconds([1 << 18], alone=True) == 5.0, "a long string takes longer"
    assert limit.seconds([1 << 20], alone=True) == 20.0, "and so does a longer one"


def test_a_slow_answer_raises_the_limit() -> None:
    limit = AnswerLimit(5.0)
    for seconds in (*[0.00002] * 30, 0.06):
        limit.answered(seconds, 1, 4)
    for _ in range(TIME_OUTS + 1):
        limit.timed_out()
    before = limit.seconds([4], alone=True)
    assert before > 2 * 0.06
    limit.was_slow()
    assert limit.seconds([4], alone=True) > before


@pytest.mark.parametrize("right", [False, True])
def test_no_answer_together_is_unstable_only_if_one_is_right_by_itself(*, right: bool) -> None:
    class Target(Accepts):
        """It gave no answer to the vectors together; by itself, each gets one, and the last or none is right."""

        def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
            whole = list(super().observe(asked))
            for answered in whole:
                unstable = Crashed("SIGSEGV") if answered is whole[-1] else None
                yield replace(answered, again=True, unstable=unstable)

    target = Target("wrong", lambda octets: is_well_formed(octets) is right)
    run = Runner(target).suites([SUITES["core"]], no_progress)
    assert any(code == Code.UNSTABLE for code, _ in run.buckets) is right
    assert bool(set(run.buckets) - {(Code.UNSTABLE, "")}) is not right


@pytest.mark.parametrize("error", [BudgetSpent("too often"), TargetError("it is gone")])
def test_a_sweep_whose_target_fails_afterwards_keeps_its_findings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fails(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr("overlong.conformance.sweep.describing.explained", fails)
    (tmp_path / "latin.py").write_text("def decode(octets):\n    return octets.decode('latin-1')\n", "utf-8")
    run = sweep(f"py:{tmp_path / 'latin.py'}:decode", ["exhaustive-1"])
    assert run.incomplete == str(error)
    assert sum(bucket.found.count for bucket in run.buckets) == run.divergences == 128


@pytest.mark.long
def test_a_slow_decoder_that_also_hangs_is_not_accused_of_slow_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limits are longer than usual: a busy machine is slow, too."""
    monkeypatch.setattr(limits, "LEAST", 0.2)
    monkeypatch.setattr(limits, "ALONE", 1.0)
    (tmp_path / "hangs.py").write_text(_HANGS, "utf-8")
    target = resolve(f"py:{tmp_path / 'hangs.py'}:decode", Limits(timeout=2.0))
    assert isinstance(target, FramedTarget)
    strings = [b"a", b"b", *(bytes((0xF8, last)) for last in range(5)), b"\xc3\xa9", b"c"]
    target.open()
    silent = [
        answered.batch[place].octets
        for answered in target.observe([(Batch.of([Vector("a", each)]), "D") for each in strings])
        for place in answered.faults
    ]
    target.close()
    assert silent == strings[2:-2]


def test_a_time_out_says_the_same_whatever_the_limit_was() -> None:
    assert TimedOut(5.0) == TimedOut(0.0), "asked again, it gives the same answer"
    assert describe(TimedOut(0.0)) == "it gave no answer in time"
