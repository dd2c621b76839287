"""What a decoder or an encoder object has been fed in all must not matter."""

import pytest

from overlong.conformance import certify
from overlong.conformance.targets.limits import AnswerLimit
from overlong.conformance.vectors.suites import OF_OCTETS, SUITES
from zoo import ZOO

NAMES = ("totals", "totals-used-before", "totals-longer", "totals-longest")
DECODERS = """
import codecs

class Right:
    most = 1 << 40

    def __init__(self, errors="strict"):
        self.decoder, self.total = codecs.getincrementaldecoder("utf-8")(errors), 0

    def reset(self):
        self.decoder.reset()

    def decode(self, data, final=False):
        self.total += len(data)
        if self.total > self.most:
            self.decoder.errors = "ignore"
        return self.decoder.decode(data, final)

class WrongAfter65536(Right):
    most = 1 << 16

class WrongAfter1048576(Right):
    most = 1 << 20

class WrongAfter16777216(Right):
    most = 1 << 24
"""
ENCODERS = """
import sys

sys.path.insert(0, {folder!r})
from wrong_on_long_text import target, utf8

def until(most):
    total = 0

    def encode(text):
        nonlocal total
        octets = utf8(text)
        total += len(octets)
        return octets if total <= most else octets.replace(b"\\xf0", b"\\xf1")

    return target(encode)

right, wrong_after_65536, wrong_after_1048576 = until(1 << 40), until(1 << 16), until(1 << 20)
"""


@pytest.mark.parametrize(("name", "codes"), [
    ("right", set()),
    ("wrong_after_65536", {"OV702"}),
    ("wrong_after_1048576", {"OV702", "OV607"}),  # right alone: a new process has encoded little
])  # fmt: skip
def test_an_encoder_that_fails_after_many_octets_in_all_is_found(tmp_path, name, codes):
    (tmp_path / "encoders.py").write_text(ENCODERS.format(folder=str(ZOO)))
    run = certify(f"py:{tmp_path}/encoders.py:{name}", suites=["encoder-long"], plans=()).run
    assert run.codes == codes
    assert run.claims["encoder"] == ("fails" if codes else "holds")


@pytest.mark.parametrize(("name", "failing"), [
    ("Right", (0, 0, 0, 0)),
    ("WrongAfter65536", (3, 2)),
    ("WrongAfter1048576", (0, 1)),
    ("WrongAfter16777216", (0, 0, 0, 1)),
])  # fmt: skip
def test_an_object_that_fails_after_many_octets_in_all_is_found(tmp_path, name, failing):
    (tmp_path / "decoders.py").write_text(DECODERS)
    run = certify(f"py:{tmp_path}/decoders.py:{name}", suites=NAMES[: len(failing)], plans=()).run
    assert tuple(len(part.failing) for part in run.suites) == failing
    assert not run.incomplete
    assert run.restarts == 0


def test_ids_of_long_streams_are_short_and_distinct():
    ids = [vector.id for name in NAMES for vector in SUITES[name].vectors()]
    assert len(set(ids)) == len(ids) == 12
    assert max(map(len, ids)) < 100
    assert not set(NAMES) & set(OF_OCTETS), "no file holds megabytes"


def test_the_limit_grows_with_very_long_strings():
    limit = AnswerLimit(5.0)
    assert limit.seconds([1 << 18] * 9, alone=False) == 5.0
    assert limit.seconds([1 << 20], alone=True) == 20.0
