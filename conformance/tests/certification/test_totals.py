"""What a decoder object has been fed in all must not matter."""

import pytest

from overlong.conformance import certify
from overlong.conformance.targets.answer_limit import AnswerLimit
from overlong.conformance.vectors.suites import OF_OCTETS, SUITES

NAMES = ("totals", "totals-used-before")
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
"""


@pytest.mark.parametrize(("name", "failing"), [
    ("Right", {"totals": 0, "totals-used-before": 0}),
    ("WrongAfter65536", {"totals": 3, "totals-used-before": 2}),
    ("WrongAfter1048576", {"totals": 0, "totals-used-before": 1}),
])  # fmt: skip
def test_an_object_that_fails_after_many_octets_in_all_is_found(tmp_path, name, failing):
    (tmp_path / "decoders.py").write_text(DECODERS)
    run = certify(f"py:{tmp_path}/decoders.py:{name}", suites=NAMES, sweeps=()).run
    assert {part.suite.name: len(part.failing) for part in run.suites} == failing
    assert not run.incomplete
    assert run.restarts == 0


def test_ids_of_long_streams_are_short_and_distinct():
    ids = [vector.id for name in NAMES for vector in SUITES[name].vectors()]
    assert len(set(ids)) == len(ids) == 8
    assert max(map(len, ids)) < 100
    assert not set(NAMES) & set(OF_OCTETS), "no file holds megabytes"


def test_the_limit_grows_with_very_long_strings():
    limit = AnswerLimit(5.0)
    assert limit.seconds([1 << 18] * 9, alone=False) == 5.0
    assert limit.seconds([1 << 20], alone=True) == 20.0
