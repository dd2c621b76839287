"""Error positions are judged in the unit that the target says it counts in."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance import certify
from overlong.conformance.profile import Profile

COUNTERS = Path(__file__).with_name("counters.py")


@pytest.mark.parametrize("name", ["in_octets", "in_scalars", "in_units"])
def test_a_declared_unit_is_the_one_that_counts(name):
    certificate = certify(f"py:{COUNTERS}:{name}", suites=["core", "complete(0) refusing"])
    assert certificate.claims["error position"] == "holds"
    assert certificate.conformant


@pytest.mark.parametrize(("name", "lead"), [("in_pairs", 0xF0), ("in_silence", 0xC2)])
def test_another_unit_than_the_declared_one_is_found(name, lead):
    """Only where a character stands before the flaw that the two units count differently."""
    certificate = certify(f"py:{COUNTERS}:{name}", suites=["core"])
    assert certificate.claims["verdict"] == "holds"
    assert certificate.claims["error position"] == "fails"
    assert {code for code, _ in certificate.run.buckets} == {"OV301"}
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
