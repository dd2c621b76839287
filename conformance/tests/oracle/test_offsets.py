"""Error positions are judged in the target's declared unit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.certification.replay import replay
from overlong.conformance.protocol.observation import Refused
from overlong.conformance.targets.build import ADAPTERS
from overlong.conformance.vectors.vector import Profile, Vector
from zoo import ZOO

pytestmark = pytest.mark.usefixtures("unexamined")

COUNTERS = ZOO / "counters.py"
SAYERS = ZOO / "offset_sayers.py"


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["in_octets", "in_scalars", "in_units"])
def test_a_declared_unit_is_the_one_that_counts(name):
    certificate = certify(f"py:{COUNTERS}:{name}", suites=["core", "complete-0-refusing"])
    assert certificate.claims["error position"] == "holds"
    assert certificate.conformant


@pytest.mark.long_after(1)
@pytest.mark.parametrize(("name", "lead"), [("in_pairs", 0xF0), ("in_silence", 0xC2)])
def test_another_unit_than_the_declared_one_is_found(name, lead):
    """Only if the two units count a character before the error differently."""
    certificate = certify(f"py:{COUNTERS}:{name}", suites=["core"])
    assert certificate.claims["verdict"] == "holds"
    assert certificate.claims["error position"] == "fails"
    assert certificate.run.codes == {"OV301"}
    for bucket in certificate.run.buckets.values():
        vector = bucket.example.vector
        assert vector.flaw is not None
        assert any(octet >= lead for octet in vector.octets[: vector.flaw.offset])


@given(st.text())
def test_offsets_are_counted_as_python_counts(text):
    octets = text.encode("utf-8", "ignore")
    text = octets.decode()
    assert Profile(counts="octets").offset(octets, len(octets)) == len(octets)
    assert Profile(counts="scalars").offset(octets, len(octets)) == len(text)
    assert Profile(counts="utf-16").offset(octets, len(octets)) == len(text.encode("utf-16-le")) // 2


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["quoted", "mute"])
def test_an_offset_in_something_else_than_the_input_is_not_believed(name):
    """Parsers add quotation marks around their input, and the exception counts from the first of them."""
    certificate = certify(f"py:{SAYERS}:{name}", suites=["core", "complete-0-refusing"])
    assert certificate.conformant, certificate.run.ordered_buckets
    assert certificate.claims["error position"] == "not measured"
    (answer,) = replay(Vector("input", b"a\xff"), f"py:{SAYERS}:{name}")
    assert answer.observed == Refused()


@pytest.mark.long
def test_offsets_that_are_said_of_some_inputs_alone_are_judged_there():
    certificate = certify(f"py:{SAYERS}:sliced", suites=["core", "complete-0-refusing"])
    assert certificate.conformant, certificate.run.ordered_buckets
    assert certificate.claims["error position"] == "holds"
    run = certificate.run
    assert 0 < run.placed < run.refusals
    assert [note for note in run.notes if "these alone show the error position" in note]
    wrong = certify(f"py:{SAYERS}:sliced_off_by_one", suites=["core"])
    assert wrong.run.codes == {"OV301"}
    assert all(bucket.example.vector.octets[0] >= 0x80 for bucket in wrong.run.buckets.values())


def test_a_validator_that_says_no_places_is_not_held_against_the_decoder_beside_it():
    """Each operation is counted separately: the decoder reports the offset of all its refusals."""
    certificate = certify(f"py:{SAYERS}:WithValidator", suites=["core"])
    assert {"V", "D"} <= set(certificate.run.greeting.operations)
    assert certificate.claims["error position"] == "holds"
    assert 0 < certificate.run.placed == certificate.run.refusals
    assert not certificate.run.notes


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["copied", "in_other_words"])
def test_offsets_in_the_input_are_believed(name):
    certificate = certify(f"py:{SAYERS}:{name}", suites=["core", "complete-0-refusing"])
    assert certificate.claims["error position"] == "holds", certificate.run.ordered_buckets
    assert not certificate.run.notes
    wrong = certify(f"py:{SAYERS}:off_by_one", suites=["core"])
    assert wrong.run.codes == {"OV301"}


@pytest.mark.long
def test_an_offset_in_something_else_than_the_stream_is_not_believed():
    run = certify(f"py:{SAYERS}:Quoted", suites=["core", "streams"]).run
    assert "OV503" not in run.codes
    right = certify(f"py:{ADAPTERS / 'cpython.py'}:Incremental", suites=["core", "streams"])
    assert right.claims["error position"] == "holds"
