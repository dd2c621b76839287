"""Suites and sweeps catch decoders that answer a column differently from a single string."""

import sys
from dataclasses import replace

import pytest

from overlong.conformance import certify
from overlong.conformance.oracle.apart import OF_EACH, sample_of
from overlong.conformance.protocol.observation import KINDS
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from zoo import ZOO
from zoo.batched_target import FAULTS

TARGET = [sys.executable, "-I", "-S", str(ZOO / "batched_target.py")]


def buckets(fault, *, suites=("core",)):
    run = certify([*TARGET, fault], suites=suites, plans=()).run
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
    assert alone.observed_words.endswith("; tested by itself")
    together = buckets("neighbours")
    assert {code for code, _ in together} == {"OV607"}  # nothing is flaky: singly, each answer is always right
    assert all(each.example.observed_words.endswith("in another order") for each in together.values())


def test_a_right_decoder_is_not_accused():
    assert buckets("none", suites=("core", "complete-0", "complete-0-refusing", "runs")) == {}


def test_a_batch_gives_the_same_sample_each_time():
    batch = Batch.of_strings("smoke", [bytes([octet]) for octet in range(256)])
    assert sample_of(batch) == sample_of(batch)
    assert len({member.vector.octets for member in sample_of(batch)}) == OF_EACH
    assert len(sample_of(batch.part(0, 2))) == 2


def asked_singly(fault, strings):
    target = resolve([*TARGET, fault])
    batch = replace(Batch.of_strings("smoke", strings), singly=True)
    target.open()
    try:
        return list(target.observe([(batch, "D")])), target.restarts
    finally:
        target.close()


def test_a_batch_is_asked_singly_in_one_go():
    strings = [b"a", b"\xed\xa0\x80", b"", b"\xff", b"\xf0\x9f\x98\x80"]
    (answered,), restarts = asked_singly("alone", strings)
    assert (answered.answers.statuses, restarts) == (b"AAARA", 0)  # the surrogate, only if asked singly
    assert answered.answers.outputs(4) == [b"\0\0\0a", b"\0\0\xff\xfd", b"", b"", b"\0\x01\xf6\x00"]
    assert answered.answers.columns != asked_singly("none", strings)[0][0].answers.columns


def test_what_ends_a_target_by_itself_is_named():
    strings = [b"a", b"\xed\xa0\x80", b"\xff", b"b"]
    answered, restarts = asked_singly("dies", strings)
    culprits = [each.batch[place].octets for each in answered for place in each.faults]
    assert (culprits, restarts) == ([b"\xff"], 2)
    assert b"".join(each.batch.octets for each in answered) == b"".join(strings)


@pytest.mark.parametrize(("fault", "caught"), [("alone", True), ("none", False)])
def test_sweeps_ask_some_strings_by_themselves(fault, caught):
    pytest.importorskip("numpy", reason="sweeps need NumPy")
    from overlong.conformance.sweep.sweep import sweep

    run = sweep([*TARGET, fault], ["depth-0", "offsets-16"])
    assert not run.wrong
    assert run.conformant is not caught
    told = {(bucket.finding.code, bucket.finding.title, bucket.alone) for bucket in run.buckets}
    assert told == ({("OV607", KINDS["OV607"].title, True)} if caught else set())
