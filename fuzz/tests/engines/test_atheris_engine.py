"""The coverage-guided engine: it outlives its targets, and trusts no exit status."""

import importlib.util
import platform
import sys
import time

import pytest

from overlong.conformance.oracle.target import TargetError
from overlong.conformance.targets.limits import Limits
from overlong.fuzz.campaign.pool import open_engine
from overlong.fuzz.engines.atheris_child import SharedMemory, mutated, sort_of
from overlong.fuzz.engines.job import CampaignJob, edges, features_of
from overlong.reference import is_well_formed

pytestmark = pytest.mark.long

HERE = sys.platform == "linux" and platform.machine() == "x86_64" and importlib.util.find_spec("atheris") is not None
needs_atheris = pytest.mark.skipif(not HERE, reason="atheris is not installed: it has wheels for Linux on x86-64 only")

WRONG = """
import os

def decode(octets):
    print("noise")
    if octets[:2] == b"\\xf4\\x90":
        os._exit(0)
    if octets[:2] == b"\\xed\\xa0":
        raise SystemExit
    if len(octets) > 5 and octets[0] == 0x42 and octets[1] == 0x75:
        return "found"
    return octets.replace(b"\\xc0\\x80", b"\\0").decode()
"""


@needs_atheris
def test_goes_on_after_everything_that_a_target_does(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    corpus = tmp_path / "corpus"
    job = CampaignJob(
        (f"py:{tmp_path}/wrong.py:decode",), seed=1, engine="atheris", corpus=str(corpus), limits=Limits(timeout=5)
    )
    engine = open_engine(job)
    try:
        began = time.monotonic()
        result = engine.run(range(6_000))
    finally:
        engine.close()
    found = {each.finding.code: each.finding for each in result.divergences}
    ended = [each.finding for each in result.divergences if each.finding.code == "OV602"]
    assert {finding.vector.octets[:2] for finding in ended} == {b"\xf4\x90", b"\xed\xa0"}
    assert all("status 0" in finding.observed_words for finding in ended)
    assert found["OV201"].vector.octets.count(b"\xc0\x80")
    assert result.executions > 5_000
    assert result.coverage > 5
    assert result.asked == {(job.targets[0], "D"): result.executions}
    assert edges(result.reached)[0] > 90
    assert features_of_all(result.reached.values()) == result.reached.keys()
    assert 0 < result.starting < time.monotonic() - began
    assert result.covering
    names = {path.name for path in corpus.iterdir()}
    assert len(names) == len(set(result.covering))
    assert all(len(name) == 40 for name in names)


def features_of_all(inputs):
    return frozenset().union(*map(features_of, inputs))


@needs_atheris
def test_decoders_that_ship_with_an_adapter_are_found_without_their_folder():
    engine = open_engine(CampaignJob(("cpython",), seed=1, engine="atheris", limits=Limits(timeout=5)))
    try:
        result = engine.run(range(500))
    finally:
        engine.close()
    assert not result.divergences
    assert result.executions >= 500
    assert result.coverage > 1  # the adapter is instrumented


@pytest.mark.parametrize("target", ["cpython-utf8-none", "iconv", "cmd:cat"])
def test_targets_that_are_not_pythons_are_told(target):
    with pytest.raises(TargetError, match=r"--engine grammar|no target|no kind"):
        open_engine(CampaignJob((target,), engine="atheris"))


def test_where_atheris_cannot_be_had_one_line_says_so(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(TargetError, match=r"Linux on x86-64, and Atheris; .*: pip install '\.\[atheris\]'"):
        open_engine(CampaignJob(("py:codecs:decode",), engine="atheris"))


def test_mutations_are_a_function_of_their_number_and_reach_flaws_and_text():
    def mutate(octets, longest, number):
        return mutated(octets, longest, number, lambda whole, most: whole[:most])

    seen = [mutate(b"\xe2\x82\xacab", 64, number) for number in range(3000)]
    assert seen == [mutate(b"\xe2\x82\xacab", 64, number) for number in range(3000)]
    assert max(map(len, seen)) == 64
    assert len(set(seen)) > 1000
    well_formed = sum(map(is_well_formed, seen))
    assert 500 < well_formed < 2500
    assert mutate(b"", 8, 1) is not None


def test_shared_memory_keeps_the_input_at_hand(tmp_path):
    ours = SharedMemory(tmp_path / "memory", new=True)
    theirs = SharedMemory(tmp_path / "memory", new=False)
    assert [ours.at_hand] == [None]  # a list: otherwise mypy takes it for None
    theirs.begin(b"\xc0")
    assert [ours.at_hand, ours.executions, ours.octets] == [b"\xc0", 1, 1]
    theirs.end()
    theirs.count(3)
    theirs.count(3)
    assert ours.at_hand is None
    assert (ours.counted(3), ours.counted(4)) == (2, 0)
    ours.close()
    theirs.close()


def test_inputs_are_of_a_sort_by_their_first_flaw():
    assert sort_of(b"ab\xed\xa0\x80") == sort_of(b"\xed\xa0") == "eda0"
    assert sort_of(b"ab") == ""
