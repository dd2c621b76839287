"""Decoders that answer for a column otherwise than for a string are caught, in suites and in sweeps."""

import sys
from pathlib import Path

import pytest

from batched_target import FAULTS
from overlong.conformance import certify
from overlong.conformance.oracle.alone import OF_EACH, sample_of
from overlong.conformance.protocol.kind import KINDS
from overlong.conformance.vectors.batch import Batch

TARGET = [sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "batched_target.py")]


def buckets(fault, *, suites=("core",)):
    run = certify([*TARGET, fault], suites=suites, sweeps=()).run
    assert not run.incomplete
    return run.buckets


@pytest.mark.parametrize("fault", FAULTS)
def test_an_answer_that_depends_on_what_is_asked_with_it_is_a_finding_of_its_own(fault):
    found = {place: bucket.example for (code, place), bucket in buckets(fault).items() if code == "OV607"}
    assert found
    assert {example.claim for example in found.values()} <= {"verdict", "scalars", "error position"}
    assert all("as among others" in example.expected_words for example in found.values())


def test_it_names_what_is_wrong_and_how_it_was_asked():
    alone = buckets("alone")["OV607", "surrogate accepted"].example
    assert (alone.vector.octets.hex(), alone.claim) == ("eda080", "verdict")
    assert alone.observed_words.endswith("; asked by itself")
    together = buckets("neighbours")
    assert {code for code, _ in together} == {"OV607"}  # nothing is flaky: by itself each is right every time
    assert all(each.example.observed_words.endswith("in another order") for each in together.values())


def test_a_right_decoder_is_not_accused():
    assert buckets("none", suites=("core", "complete-0", "complete-0-refusing", "runs")) == {}


def test_a_batch_gives_the_same_sample_each_time():
    batch = Batch.of_strings("smoke", [bytes([octet]) for octet in range(256)])
    assert sample_of(batch) == sample_of(batch)
    assert len({vector.octets for vector in sample_of(batch)}) == OF_EACH
    assert len(sample_of(batch.part(0, 2))) == 2


@pytest.mark.parametrize(("fault", "caught"), [("alone", True), ("none", False)])
def test_sweeps_ask_some_strings_by_themselves(fault, caught):
    pytest.importorskip("numpy", reason="sweeps need NumPy")
    from overlong.conformance.sweep.sweep import sweep

    run = sweep([*TARGET, fault], ["depth-0", "offsets-16"])
    assert not run.wrong
    assert run.conformant is not caught
    told = {(bucket.finding.code, bucket.finding.title, bucket.alone) for bucket in run.buckets}
    assert told == ({("OV607", KINDS["OV607"].title, True)} if caught else set())
