"""The examination of divergences: a difference is minimised on both targets, and a habit of replacing is one bucket."""

from collections import Counter

import pytest

from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.vectors.profile import Profile
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.differing import Differing
from overlong.fuzz.campaign.examiner import Probing
from overlong.fuzz.execution.differences import differences
from overlong.fuzz.execution.divergence import Divergence, Fingerprint
from overlong.fuzz.execution.engine import CampaignJob
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.execution.sampled import Sampled

pytestmark = pytest.mark.long


@pytest.fixture
def targets(tmp_path):
    (tmp_path / "right.py").write_text('def decode(octets):\n    return octets.decode("utf-8")\n')
    # each answer is right: a refusal may have an offset or none
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
    (tmp_path / "twice.py").write_text(
        "def decode(octets):\n"
        "    if octets.startswith(b'\\xc0') or octets[8:9] == b'\\xc1':\n"
        "        return octets.decode('utf-8', 'replace')\n"
        "    return octets.decode('utf-8')\n"
    )
    return {name: f"py:{tmp_path}/{name}.py:decode" for name in ("right", "silent", "wrong", "twice")}


def test_a_fault_is_minimised_put_into_its_bucket_and_asked_again(targets):
    probe = Probe(targets["wrong"])
    fault = probe.ask_one(Vector("fuzz", b"\xc0\xafsome text"), probe.whole)
    probe.close()
    assert fault is not None
    examiner = Probing(CampaignJob((targets["right"], targets["wrong"])))
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
        assert [found for _, found in said] == [None] * 3  # an answer that one of them omits is no difference
        assert both.operations == "D"
    finally:
        right.close()
        silent.close()


def test_what_a_known_fault_explains_is_recognised_and_nothing_else(targets):
    name = targets["twice"]
    probe, examiner = Probe(name), Probing(CampaignJob((name,)))
    try:

        def examined(octets):
            fault = probe.ask_one(Vector("fuzz", octets), "D")
            assert fault is not None
            assert fault.code == "OV201"
            return examiner.examine(Divergence(name, fault, Fingerprint(name, "D", fault.code, ""), 1))

        first = examined(b"\xc0\xafsome text")
        assert first.placement == "anywhere"
        assert examined(b"\xc0\x80") is first
        assert examined(b"\xc0\xbf and other text") is first
        placed = examined(b"12345678\xc1\xbf and other text")  # alone, this input gets the right answer
        assert placed.placement == "at a multiple of 8"
        assert placed.id != first.id
    finally:
        probe.close()
        examiner.close()


@pytest.mark.parametrize(
    ("offered", "told"),
    [
        (("LTM", "LTM", "LTM"), ["one L two"]),  # the third declares what the first does
        (("T", "LT", "L"), ["one T two", "two L three"]),  # as far as this operation is asked
        (("M", "LT", "M"), []),
    ],
)
def test_a_habit_of_replacing_is_told_once(offered, told):
    said = []
    for name, mode, stands, operations in zip(
        ("one", "two", "three"),
        ("replacement", "replacement-per-octet", "replacement"),
        (1, 2, 1),
        offered,
        strict=True,
    ):
        sample = [
            Sampled(number, Vector("fuzz", octets), operation, Accepted((0xFFFD,) * stands), None)
            for number, octets in enumerate((b"\xe0\xa0", b"\xe1\x80", b"\xf0\x90"))
            for operation in operations
        ]
        said.append((name, Profile(replaces=mode), sample))
    counts: Counter[Fingerprint] = Counter()
    found = list(differences(said, counts))
    assert [f"{each.target} {each.finding.operation} {each.peer}" for each in found] == told
    assert all(each.finding.vector.octets == b"\xe0\xa0" for each in found)
    assert list(counts.values()) == [3] * len(told)
