"""What becomes of divergences: a difference is minimised on both targets, and a habit of replacing is one bucket."""

import pytest

from overlong.conformance.vector import Vector
from overlong.fuzz.campaign.differing import Differing
from overlong.fuzz.campaign.examiner import Probing
from overlong.fuzz.divergence import Divergence, Fingerprint
from overlong.fuzz.engines.engine import Job
from overlong.fuzz.probe import Probe


@pytest.fixture
def targets(tmp_path):
    (tmp_path / "right.py").write_text('def decode(octets):\n    return octets.decode("utf-8")\n')
    # each answer is right by itself: a refusal says nothing of where it is, or says it
    (tmp_path / "silent.py").write_text(
        "def decode(octets):\n"
        "    try:\n"
        '        return octets.decode("utf-8")\n'
        "    except UnicodeDecodeError:\n"
        "        raise ValueError('ill-formed') from None\n"
    )
    (tmp_path / "wrong.py").write_text(
        "def decode(octets):\n"
        "    if octets.startswith(b'\\xc0'):\n"
        "        return octets[1:].decode('utf-8', 'replace')\n"
        "    return octets.decode('utf-8')\n"
    )
    return {name: f"py:{tmp_path}/{name}.py:decode" for name in ("right", "silent", "wrong")}


def test_a_fault_is_minimised_put_into_its_bucket_and_asked_again(targets):
    probe = Probe(targets["wrong"])
    fault = probe.ask_one(Vector("fuzz", b"\xc0\xafsome text"), probe.whole)
    probe.close()
    assert fault is not None
    examiner = Probing(Job((targets["right"], targets["wrong"])))
    try:
        name = targets["wrong"]
        examined = examiner.examine(Divergence(name, fault, Fingerprint(name, "D", fault.code, ""), 5))
        assert examined.minimal
        assert examined.code == fault.code == "OV201"
        assert len(examined.finding.vector.octets) <= 2
        assert examiner.stable(examined) == 10
        again = examiner.examine(Divergence(name, examined.finding, Fingerprint(name, "D", fault.code, ""), 6))
        assert again.id == examined.id
    finally:
        examiner.close()


def test_two_that_are_right_and_say_the_same_do_not_differ(targets):
    right, silent = Probe(targets["right"]), Probe(targets["silent"])
    both = Differing(right, silent, "D")
    try:
        said = both.ask([Vector("fuzz", octets) for octets in (b"", b"\xff", b"text")], "D")
        assert [found for _, found in said] == [None] * 3  # what one of them does not say is no difference
        assert both.operations == "D"
    finally:
        right.close()
        silent.close()
