"""The engine that draws from the strategies: it is reproducible, and no input stops it."""

import subprocess
import sys

import pytest

from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.choice import tokens_of
from overlong.fuzz.engines.job import CampaignJob, edges
from overlong.fuzz.generated import BLOCK
from overlong.reference import dialect

WRONG = """
import codecs

class Wrong(codecs.getincrementaldecoder("utf-8")):
    def __init__(self, errors="strict"):
        super().__init__(errors)

    def decode(self, octets, final=False):
        if final:
            octets = octets.replace(b"\\xc0", b"A")
        text = super().decode(octets, final)
        if not final and len(self.buffer) == 2:
            self.buffer = b""
        return text
"""

STREAMS_ALONE = """
import codecs

class Right:
    @staticmethod
    def ask(payloads):
        from __main__ import stream

        return [stream(codecs.getincrementaldecoder("utf-8"), payload) for payload in payloads]

    operations, traits = {"S": ask}, {"stream_refusals": "marked"}
"""

DRAW = """
import hashlib, importlib, sys
for module in sys.argv[1:]:
    importlib.import_module(module)
from overlong.fuzz.engines.hypothesis_engine import drawn, streams
print(hashlib.sha256(repr(drawn(streams(), 7, 60)).encode()).hexdigest())
"""


@pytest.mark.long
def test_finds_what_is_wrong_whole_and_in_chunks(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    engine = open_engine(CampaignJob((f"py:{tmp_path}/wrong.py:Wrong",), seed=3, engine="hypothesis"))
    try:
        result = engine.run(range(BLOCK, BLOCK + 200))
    finally:
        engine.close()
    found = {(each.finding.operation, each.finding.code) for each in result.divergences}
    assert ("D", "OV201") in found
    assert any(operation in "ST" and code.startswith("OV5") for operation, code in found)
    assert {each.fingerprint for each in result.divergences} == set(result.counts)
    assert all(BLOCK <= each.index < BLOCK + 200 for each in result.divergences)
    assert result.executions == result.asked.total() >= 200
    assert {operation for _, operation in result.asked} >= {"D", "S", "N"}


def test_begins_with_the_grammar_and_then_the_seeds_and_says_what_they_reach():
    opening = len(tokens_of(dialect()).opening)
    engine = open_engine(CampaignJob(("cpython",), seeds=(seed := b"corpus " * 10 + b"\xc2",), engine="hypothesis"))
    try:
        result = engine.run(range(opening + 1))
        (later, again) = (engine.run(range(first, first + 40)) for first in (opening + 1, opening + 1 + 40))
    finally:
        engine.close()
    reached, every = edges(result.reached)
    assert reached == every
    assert seed in result.reached.values()
    assert min(result.reached.values(), key=len) == b""
    assert result.asked["cpython", "D"] == opening + 1
    assert set(later.reached.values()) != set(again.reached.values()), "the rest of a block is drawn anew"


def test_a_right_decoder_of_streams_alone_is_left_alone(tmp_path):
    (tmp_path / "right.py").write_text(STREAMS_ALONE)
    engine = open_engine(CampaignJob((target := f"py:{tmp_path}/right.py:Right",), engine="hypothesis"))
    try:
        result = engine.run(range(100))
    finally:
        engine.close()
    assert not result.divergences
    assert result.asked == {(target, "S"): 100}


@pytest.mark.long
def test_a_seed_fixes_what_is_drawn_whatever_is_imported():
    def drawn(*modules):
        return subprocess.run([sys.executable, "-c", DRAW, *modules], check=True, capture_output=True).stdout

    assert drawn() == drawn(
        "overlong.conformance.certification.runner", "json.tool", "overlong.conformance.protocol.wire"
    )
