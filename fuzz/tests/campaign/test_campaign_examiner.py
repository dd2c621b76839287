"""The examination of divergences: one bucket for each condition, and one for each habit in which two targets differ."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from overlong.conformance.examination.examine import examine
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.campaign.examiner import Probing
from overlong.fuzz.campaign.state import StoredFinding
from overlong.fuzz.engines.job import CampaignJob, Divergence, Fingerprint
from overlong.fuzz.engines.probe import Probe, Sampled, difference, differences

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
    (tmp_path / "twice.py").write_text(
        "import re\n"
        "def shorter(found):\n"
        "    return bytes([found[0][0] & 1 << 6 | found[0][1] & 63])\n"
        "def decode(octets):\n"
        "    octets = octets[:8] + re.sub(rb'\\A\\xc1[\\x80-\\xbf]', shorter, octets[8:])\n"
        "    return re.sub(rb'\\A\\xc0[\\x80-\\xbf]', shorter, octets).decode()\n"
    )
    (tmp_path / "refuses.py").write_text(
        "def decode(octets):\n"
        "    at = octets.find(b'\\xc3\\xa9')\n"
        "    octets[: at if at >= 0 else None].decode()\n"
        "    if at >= 0:\n"
        "        raise UnicodeDecodeError('utf-8', octets, at, at + 1, 'refused')\n"
        "    return octets.decode()\n"
    )
    (tmp_path / "dies.py").write_text(
        "import os\n"
        "def decode(octets):\n"
        "    if b'\\xf8' in octets or octets.endswith(b'\\xe2\\x82'):\n"
        "        os.abort()\n"
        "    return octets.decode()\n"
    )
    (tmp_path / "changes.py").write_text(
        "import itertools\n"
        "calls = itertools.count()\n"
        "def decode(octets):\n"
        "    return octets.decode('utf-8', 'strict' if octets[:2] != b'\\xfe\\xff' or next(calls) % 4 else 'replace')\n"
    )
    names = ("right", "silent", "twice", "refuses", "dies", "changes")
    return {name: f"py:{tmp_path}/{name}.py:decode" for name in names}


@pytest.fixture
def examining():
    """Examines findings of a target, one after another."""
    opened: list[Probe | Probing] = []

    def of(name, *others):
        probe, examiner = Probe(name), Probing(CampaignJob((name, *others)))
        opened.extend((probe, examiner))
        known: list[StoredFinding] = []

        def examined(octets, operation="D", **more):
            fault = probe.ask_one(Vector("fuzz", octets, **more), operation)
            assert fault is not None
            divergence = Divergence(name, fault, Fingerprint(name, operation, fault.code, ""), 1)
            result = examiner.joined(divergence, known) or examiner.examine(divergence, known)
            if isinstance(result, str):
                return next(each for each in known if each.id == result)
            kept = replace(result, stable=examiner.stable(result), telling=octets)
            written = StoredFinding.of(json.loads(json.dumps(kept.as_json())))
            assert written == kept
            known.append(written)
            return written

        return examined

    yield of
    for each in opened:
        each.close()


def test_a_condition_is_a_bucket_and_takes_what_it_predicts(targets, examining):
    """It is known from its file alone; certify gives the same id."""
    examined = examining(targets["twice"], targets["right"])
    first = examined(b"\xc0\xafsome text")
    assert (first.where, first.code, first.octets, first.stable) == (
        "accepts C0 80-BF at offset 0",
        "OV201",
        b"\xc0\x80",
        10,
    )
    assert examined(b"\xc0\x80") is first
    assert examined(b"\xc0\xbf and other text") is first
    placed = examined(b"12345678\xc1\xbf and other text")
    assert "offset 8" in placed.where
    assert placed.id != first.id
    assert first.why.id == examine(targets["twice"], b"\xc0\xaftext").id


def test_streams_and_offsets_belong_to_the_refused_character(targets, examining):
    examined = examining(targets["refuses"])
    first = examined("caf\N{LATIN SMALL LETTER E WITH ACUTE}".encode())
    assert first.where == "refuses U+00E9"
    assert examined(b"\xc3\xa9\xff") is first
    assert examining(targets["refuses"])(b"a\xc3\xa9\xff").id == first.id
    assert examined(b"a\xc3\xa9 \xed\xa0\x80") is first


def test_what_cannot_be_explained_goes_by_its_code_and_place(targets, examining):
    examined = examining(targets["dies"])
    first, second = examined(b"some text\xf8 and \xe2\x82\xac"), examined(b"cut short: \xe2\x82")
    assert (first.code, first.octets, first.place) == ("OV602", b"\xf8", "C0-C1,F5-FF")
    assert (second.code, second.octets, second.minimal) == ("OV602", b"\xe2\x82", True)
    assert first.id != second.id
    assert first.why is None


def test_an_answer_that_changes_is_one_bucket_whatever_the_input(targets, examining):
    examined = examining(targets["changes"])
    first = examined(b"\xfe\xff")
    assert (first.code, first.minimal) == ("OV605", False)


def test_two_that_are_right_and_say_the_same_do_not_differ(targets):
    right, silent = Probe(targets["right"]), Probe(targets["silent"])
    vectors = [Vector("fuzz", octets) for octets in (b"", b"\xff", b"text")]
    try:
        for vector, *said in zip(vectors, *(each.ask(vectors, "D") for each in (right, silent)), strict=True):
            one, other = (observed for observed, _ in said)
            # an answer that one of them omits is no difference
            assert difference(vector, "D", one, other, [right.profile, silent.profile]) is None
    finally:
        right.close()
        silent.close()


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


def test_a_condition_that_is_damaged_is_an_error_in_a_line(targets, examining):
    examined = examining(targets["refuses"])
    first = examined("\N{LATIN SMALL LETTER E WITH ACUTE}".encode())
    examiner = Probing(CampaignJob((targets["refuses"],)))
    fault = Finding(Vector("fuzz", b"\xc3\xa9"), "D", "OV101", Vector("", b"\xc3\xa9").strict, Refused(0))
    divergence = Divergence(first.target, fault, Fingerprint(first.target, "D", "OV101", ""), 1)
    for name, value in (
        ("dialect", "none"),
        ("rule", [{"factor": "none"}]),
        ("words", []),
        ("rule", [{"factor": "offset", "to": "x"}]),
    ):
        why = replace(first.why, condition={**first.why.condition, name: value})
        with pytest.raises(CampaignError, match=r"^finding D-[0-9a-f]{8}: condition: it is damaged"):
            examiner.joined(divergence, [replace(first, id="D-00000000", why=why)])
    examiner.close()
