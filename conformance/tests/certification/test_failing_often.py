"""A target that crashes or hangs often: the whole report is kept, and hangs cost seconds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.certification.certify import certify
from overlong.conformance.results.headline import State, exit_code_of
from overlong.conformance.targets.answer_limit import LEAST, TIME_OUTS, AnswerLimit
from overlong.conformance.targets.resolve import Limits

if TYPE_CHECKING:
    from pathlib import Path

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


def test_a_decoder_that_crashes_often_gets_its_report(tmp_path: Path) -> None:
    (tmp_path / "crashes.py").write_text(_CRASHES, "utf-8")
    target = f"py:{tmp_path / 'crashes.py'}:decode"
    limits = Limits(restarts=8)
    certificate = certify(target, suites=("core",), portrait=True, output=tmp_path / "out", limits=limits)
    assert certificate.run.incomplete
    assert certificate.run.buckets
    assert exit_code_of(certificate.state) == exit_code_of(State.INCOMPLETE)
    assert "OV60" in (tmp_path / "out" / "results.jsonl").read_text("utf-8")


def test_after_some_time_outs_the_limit_is_a_thousand_answers() -> None:
    limit = AnswerLimit(5.0)
    for _ in range(64):
        limit.answered("V", 0.00002, [4])
    assert limit.seconds("V", [4]) == 5.0
    assert not limit.note
    for _ in range(TIME_OUTS):
        limit.timed_out()
    assert limit.seconds("V", [4]) == LEAST
    assert "in place of 5 s" in limit.note
    assert limit.seconds("G", [4]) == 5.0, "its usual answer is not known"
    assert limit.seconds("V", [1 << 20]) == 5.0, "a long string takes longer"


def test_a_slow_answer_raises_the_limit() -> None:
    limit = AnswerLimit(5.0)
    for seconds in (*[0.00002] * 30, 0.06):
        limit.answered("V", seconds, [4])
    for _ in range(TIME_OUTS + 1):
        limit.timed_out()
    before = limit.seconds("V", [4])
    assert before > 10 * 0.06 - LEAST
    limit.was_slow()
    assert limit.seconds("V", [4]) > before
