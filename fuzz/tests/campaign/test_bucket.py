"""Keys of buckets: the causes that they tell apart, and those that they do not."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.oracle.compare import compare
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.minimise.bucket import Key, key_of
from overlong.fuzz.minimise.place import place_of


def found(octets: bytes, operation: str = "V") -> Finding:
    """A finding of a decoder that inverts every answer."""
    vector = Vector("fuzz", octets)
    finding = compare(vector, operation, Accepted() if vector.flaw else Refused())
    assert finding is not None
    return finding


@pytest.mark.parametrize(
    ("octets", "form", "octets_at", "placement"),
    [
        (b"", "", "", "anywhere"),
        (b"\0", "UTF8-1: %x00-7F", "00-7F", "anywhere"),
        (b"\xc0\x80", "", "C0-C1 F5-FF", "anywhere"),
        (b"\xe0\x80\x80", "UTF8-3: %xE0 %xA0-BF UTF8-tail", "80-8F", "anywhere"),
        (b"\xed\xa0\x80", "UTF8-3: %xED %x80-9F UTF8-tail", "A0-BF", "anywhere"),
        (b"\xf4\x90\x80\x80", "UTF8-4: %xF4 %x80-8F 2( UTF8-tail )", "90-9F", "anywhere"),
        (b"\xc2", "UTF8-2: %xC2-DF UTF8-tail", "", "anywhere"),
        (b"\xc2\x00", "UTF8-2: %xC2-DF UTF8-tail", "00-7F", "anywhere"),
        (bytes(62) + b"\xe0\xa0\x80", "UTF8-3: %xE0 %xA0-BF UTF8-tail", "E0", "across a multiple of 64"),
        (bytes(63) + b"\xe0\xa0\x80", "UTF8-3: %xE0 %xA0-BF UTF8-tail", "E0", "across a multiple of 64"),
        (bytes(64) + b"\xc2\x80", "UTF8-2: %xC2-DF UTF8-tail", "C2-DF", "at a multiple of 64"),
        (bytes(31) + b"\xc2", "UTF8-2: %xC2-DF UTF8-tail", "", "ends at a multiple of 32"),
        (bytes(15) + b"\xf4\x90", "UTF8-4: %xF4 %x80-8F 2( UTF8-tail )", "90-9F", "across a multiple of 16"),
        (b"\0\x80", "", "80-8F", "at offset 1"),
        (bytes(21) + b"\x80", "", "80-8F", "at offset 21"),
        (bytes(301) + b"\x80", "", "80-8F", "at offset 256 or more"),
        (b"\xc2\x80\x80", "", "80-8F", "among other characters"),
        (b"\x80" + bytes(19), "", "80-8F", "of 16 octets or more"),
        (b"\x80\0", "", "80-8F", "before other octets"),
        (b"\0\x80\0", "", "80-8F", "between other octets"),
    ],
)
def test_what_a_key_says(octets, form, octets_at, placement):
    finding = found(octets)
    assert key_of(finding, "mine") == ("mine", "whole", finding.code, form, octets_at, placement)


@given(octets=st.binary(max_size=80), target=st.text(max_size=5))
def test_an_id_is_that_of_its_key_and_the_operations_on_whole_inputs_share_it(octets, target):
    key = key_of(found(octets), target)
    assert re.fullmatch("D-[0-9a-f]{8}", key.id)
    assert key.id == Key(*key).id == key_of(found(octets, "D"), target).id
    assert key.id != key_of(found(octets), target + "x").id
    assert key.id != key._replace(placement=key.placement + "x").id


@given(octets=st.binary(min_size=1, max_size=80))
def test_a_place_lies_in_its_input(octets):
    place = place_of(found(octets))
    assert 0 <= place.offset < place.offset + place.length <= len(octets)


@pytest.mark.parametrize("codes", [("OV605", "OV807"), ("OV806", "OV806"), ("OV603", "OV603")])
def test_what_no_input_is_the_least_of_is_told_by_its_code_alone(codes):
    one, other = (
        Finding(Vector("fuzz", octets), "V", code, Vector("", octets).strict, Refused())
        for code, octets in zip(codes, (b"abc", b"\xf0\x90"), strict=True)
    )
    assert key_of(one, "t") == key_of(other, "t")


@pytest.mark.parametrize(
    ("octets", "chunks", "earlier", "placement"),
    [
        (b"\xe0\xa0\x80", (1, 2), None, "cut after 1 of 3 octets"),
        (b"\0\xe0\xa0\x80", (3, 1), None, "cut after 2 of 3 octets"),
        (b"abcde", (1, 1, 1, 1, 1), None, "in 4 chunks or more"),
        (b"\xe0\xa0\x80", (3,), None, "anywhere"),
        (b"a", (1,), (b"\xc2",), "after a stream that ended early"),
        (b"a", (1,), (b"\x80",), "after a stream that is ill-formed"),
        (b"a", (1,), (), "after a stream that was empty"),
    ],
)
def test_what_a_key_says_of_streams(octets, chunks, earlier, placement):
    operation = "S" if earlier is None else "N"
    finding = compare(Vector("fuzz", octets, chunks=chunks, earlier=earlier), operation, Refused())
    assert finding is not None
    assert key_of(finding, "t").placement == placement
    assert key_of(finding, "t").operations == ("stream" if earlier is None else "used-before")
