"""Encoders that are wrong in long text only: refused, with one bucket whose sentence says where."""

from dataclasses import replace

import pytest

from overlong.conformance import certify
from overlong.conformance.examination.encoders import OfNumbers
from overlong.conformance.examination.rules import Atom
from overlong.conformance.protocol.wire import ENCODE, ENCODE_UTF16, big_endian
from overlong.conformance.results.reading import read
from overlong.conformance.vectors.suites import QUICK
from zoo import ZOO, wrong_on_long_text

ENCODERS = ZOO / "wrong_on_long_text.py"
SUITES = [name for name in QUICK if name.startswith("encoder-")]


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", wrong_on_long_text.SAID)
def test_one_bucket_says_what_is_wrong_and_where(name):
    code, sentence = wrong_on_long_text.SAID[name]
    (bucket,) = certify(f"py:{ENCODERS}:{name}", suites=SUITES).run.buckets.values()
    assert bucket.example.code == code
    assert bucket.why is not None
    assert bucket.why.sentence == sentence
    predicted, checked = bucket.why.confirmed
    assert predicted == checked >= 50


def test_a_right_one_conforms_and_says_the_longest_text(tmp_path):
    certificate = certify(f"py:{ENCODERS}:right", suites=SUITES, output=tmp_path)
    assert certificate.conformant
    (subject,) = read([tmp_path]).subjects
    assert subject.details["encoder"] == "in texts of up to 65 557 code points, 65 557 code units"


def condition(operation, *atoms, always=False):
    return OfNumbers("OV702", ((0x10000, 0x10FFFF),), "rfc3629", operation, "fatal", always=always, atoms=atoms)


def test_a_condition_holds_at_the_places_that_it_says():
    late = condition(ENCODE, Atom("index", low=2), Atom("kind before", values=frozenset({1})))
    assert late.numbers == "U+10000 to U+10FFFF after characters of 1 octet and at index 2 or more"
    for text, wrong in {"aa😀": True, "a😀a": False, "aé😀": False, "aé😀a😀": True, "aa\ud800😀": False}.items():
        assert late.holds(big_endian("I", list(map(ord, text)))) == wrong, text
    refuses = OfNumbers("OV701", ((0xFFFE, 0xFFFF),), "rfc3629", ENCODE, "fatal")
    for text, wrong, unseen in [("\ufffe", True, True), ("a\uffff\ud800", True, False), ("\ud800\ufffe", False, False)]:
        assert refuses.holds(big_endian("I", list(map(ord, text)))) == wrong, text
        assert replace(refuses, silent=True).holds(big_endian("I", list(map(ord, text)))) == unseen, text
    units = condition(ENCODE_UTF16, Atom("index", modulus=4, rests=frozenset({3})))
    for text, wrong in {"aaa😀": True, "😀a😀": True, "aa😀": False}.items():
        assert units.holds(text.encode("utf-16-be")) == wrong, text
    whole = condition(ENCODE, Atom("octets in all", low=5), Atom("kind of others", values=frozenset({2})), always=True)
    assert whole.numbers == "text of characters of 2 octets and of 5 or more octets"
    for text, wrong in {"éé": False, "ééé": True, "éééa": False, "ééé\ud800": False}.items():
        assert whole.holds(big_endian("I", list(map(ord, text)))) == wrong, text
