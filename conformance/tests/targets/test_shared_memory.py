"""Batches through shared memory get the same answers as through pipes, and no target can harm the harness by it."""

import os
import shutil
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile import TARGET
from overlong.conformance import certify
from overlong.conformance.protocol.observation import Crashed
from overlong.conformance.protocol.wire import BATCH, MEASURED
from overlong.conformance.targets import requests as memory_of_requests
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.requests import SharedMemory
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.vector import Vector

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is shared on Linux alone")

ENCODERS_WIDTHS = {"E": 4, "Z": 4, "F": 2}


def not_granted():
    raise OSError("not granted")


def shared_by(target):
    return target._process is not None and target._process.shared is not None


@pytest.fixture(scope="module", params=["cpython", "rust-std", "glibc-iconv"])
def pair(request):
    """A target with shared memory, and the same target without."""
    tool = {"cpython": sys.executable, "rust-std": "rustc", "glibc-iconv": "cc"}[request.param]
    if shutil.which(tool) is None:
        pytest.skip(f"needs {tool}")
    shares, pipes = resolve(request.param), resolve(request.param)
    shares.open()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory_of_requests, "SharedMemory", not_granted)
        pipes.open()
    assert shared_by(shares)
    assert not shared_by(pipes)
    yield shares, pipes
    assert shared_by(shares)
    for target in (shares, pipes):
        target.close()
        assert target.restarts == 0


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_answers_are_those_that_come_through_pipes(pair, data):
    """For any strings, in any number of batches, with each operation that the target offers."""
    offered = sorted(set(pair[0].greeting.operations) & set(MEASURED))
    pieces = st.sampled_from([b"a", "\u00e9".encode(), "\u20ac".encode(), b"\xf0\x9f\x98", b"\xff", b"\xc0\x80", b"\0"])
    strings = st.lists(pieces, max_size=9).map(b"".join)

    def asked():
        operation = data.draw(st.sampled_from(offered))
        octets = data.draw(st.lists(strings, min_size=1, max_size=9))
        width = ENCODERS_WIDTHS.get(operation, 1)
        if width > 1:
            return Batch.of_strings("x", [each[: len(each) // width * width] for each in octets]), operation
        chunks = [(1, len(each) - 1) if len(each) > 1 else (len(each),) for each in octets]
        return Batch.of([Vector("x", each, chunks=cut) for each, cut in zip(octets, chunks, strict=True)]), operation

    batches = [asked() for _ in range(data.draw(st.integers(1, 4)))]
    one, other = (
        [(each.answers, each.faults, each.batch.octets) for each in target.observe(batches)] for target in pair
    )
    assert one == other


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 3 << 20), st.integers(0, 3)), max_size=40))
def test_no_two_requests_under_way_share_an_octet(requests):
    memory, taken = SharedMemory(), list[memory_of_requests.Slot]()
    try:
        for items, octets, freed in requests:
            slot = memory.slot(items, octets)
            if slot is None:
                assert taken or not memory.can_hold(items, octets)
            else:
                assert slot.size == 4 * items + octets
                assert slot.start + slot.size <= slot.room_start < slot.end <= memory_of_requests.SIZE
                assert all(slot.end <= other.start or other.end <= slot.start for other in taken)
                memory._slots.append(slot)
                taken.append(slot)
            for _ in range(min(freed, len(taken))):
                assert memory.free() is taken.pop(0)
    finally:
        memory.close()
        os.close(memory.descriptor)


def test_small_requests_go_round_in_what_caches_hold():
    memory = SharedMemory()
    try:
        ends = set()
        for number in range(1000):  # ten are always under way
            slot = memory.slot(8192, 30_000)
            assert slot is not None
            memory._slots.append(slot)
            ends.add(slot.end)
            if number >= 10:
                memory.free()
        assert max(ends) < memory_of_requests.SIZE / 10
    finally:
        memory.close()
        os.close(memory.descriptor)


def test_what_was_under_way_when_a_target_died_is_asked_again(tmp_path):
    """Each batch is answered once and in order, except the string that kills the target."""
    culprit = b"\xe2\x82\xac!"
    target = FramedTarget("crashes", [*TARGET, "crash", f"on={culprit.hex()}", "shared"])
    strings = [b"%d" % number for number in range(3000)]
    strings[1234] = culprit
    target.open()
    try:
        assert shared_by(target)
        batches = [Batch.of_strings("x", strings[start : start + 100]) for start in range(0, 3000, 100)]
        octets, statuses, dead = [], b"", []
        for answered in target.observe((batch, "D") for batch in batches):
            dead += [(answered.batch[place].octets, fault) for place, fault in answered.faults.items()]
            octets += [vector.octets for vector in answered.batch]
            statuses += answered.answers.statuses
        assert octets == strings
        assert statuses.count(b"A") == len(strings) - 1
        ((died_of, fault),) = dead
        assert (died_of, type(fault)) == (culprit, Crashed)
    finally:
        target.close()


def test_a_target_cannot_cut_off_the_memory_that_the_harness_reads(tmp_path):
    certificate = certify([*TARGET, "cut-off-memory", "on=80,61,C3", "shared"], suites=["core"], output=tmp_path)
    assert certificate.run.conformant
    assert certificate.run.restarts == 0


def test_a_target_that_says_it_shares_what_it_was_not_offered_is_asked_through_its_pipes(monkeypatch):
    monkeypatch.setattr(memory_of_requests, "SharedMemory", not_granted)
    target = FramedTarget("shares", [*TARGET, "none", "shared"])
    target.open()
    try:
        assert BATCH in target.greeting.operations
        (answered,) = target.observe([(Batch.of_strings("x", [b"a", b"\xff"]), "D")])
        assert answered.answers.statuses == b"AR"
    finally:
        target.close()
