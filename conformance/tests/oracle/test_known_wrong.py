"""Tests the judge: it catches every known-wrong decoder, for its fault and nothing else."""

import pytest

from overlong.conformance import certify
from overlong.conformance.certification.tiers import BRIEF
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.vectors.suites import QUICK, SUITES
from zoo import ZOO
from zoo.known_wrong import WRONG

DECODERS = ZOO / "known_wrong.py"
NEEDS_SCALARS = {"one_character_is_another"}
HAVE_CONSEQUENCES = {"surrogates"}
"""Only an examination tells the consequences of what these accept from faults of their own."""


def caught(name: str) -> set[str]:
    quick = [suite for suite in QUICK if suite != "complete-0-in-chunks"]  # test_streaming.py asks that suite
    suites = ["scalars"] if name in NEEDS_SCALARS else quick
    certificate = certify(f"py:{DECODERS}:{name}", suites=suites)
    assert not certificate.run.incomplete
    assert not certificate.run.restarts
    return certificate.run.codes


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", WRONG)
def test_caught_for_what_it_is(name, request):
    if name not in HAVE_CONSEQUENCES:
        request.getfixturevalue("unexamined")
    assert caught(name) == WRONG[name]


def test_there_are_enough_of_them():
    assert len(WRONG) >= 40
    assert {"OV101", "OV102", "OV301", "OV302", "OV303", "OV401", "OV402", "OV501", "OV601"} <= set().union(
        *WRONG.values()
    )


@pytest.mark.long
def test_no_right_decoder_is_accused():
    """Nor is cpython: the session in command-line.md shows all of its certificate."""
    if why := BUILTINS["node-textdecoder"].missing():
        pytest.skip(why)
    # by default the target's rate selects a tier
    certificate = certify("node-textdecoder", plans=BRIEF.plans, tier="none")
    assert certificate.run.buckets == {}
    assert certificate.run.swept is not None
    assert certificate.conformant
    assert certificate.refused == ""
    assert all(part.whole for part in certificate.run.suites)


@pytest.mark.long
def test_cpython_keeps_back_what_can_only_be_a_surrogate_and_nothing_else_is_wrong():
    """ED A0 at the end of a chunk (python/cpython#154520)."""
    certificate = certify("cpython-incremental", suites=QUICK)
    assert set(certificate.run.buckets) == {("OV512", "surrogate")}
    octets = {bucket.example.vector.octets for bucket in certificate.run.buckets.values()}
    assert octets == {b"\xed\xa0"}
    measured = {claim: state for claim, state in certificate.claims.items() if claim not in ("encoder", "memory")}
    assert [claim for claim, state in measured.items() if state != "holds"] == ["earliest detection"]


@pytest.mark.long
def test_glibc_differs_only_in_what_it_says_of_missing_input():
    """iconv reports EINVAL ("incomplete") for F5, F8, E0 80 and ED A0, which no octet can complete."""
    if why := BUILTINS["glibc-iconv"].missing():
        pytest.skip(why)
    certificate = certify("glibc-iconv", suites=QUICK)
    assert certificate.run.codes == {"OV303", "OV512"}  # in a stream it also waits for more
    failing = {claim for claim, state in certificate.claims.items() if state == "fails"}
    assert failing == {"error position", "earliest detection"}


@pytest.mark.long
def test_one_cause_is_one_bucket():
    certificate = certify("cpython-surrogatepass", suites=list(SUITES))
    assert set(certificate.run.buckets) == {
        ("OV202", ""),
        ("OV703", "lone surrogate"),
    }  # one of its decoder, one of its encoder
    bucket = certificate.run.buckets["OV202", ""]
    assert bucket.example.vector.octets == b"\xed\xa0\x80"
    assert bucket.count > 100
