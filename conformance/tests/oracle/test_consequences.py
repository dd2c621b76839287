"""A consequence is not a cause: a decoder whose only fault is one character fails by that character alone."""

import codecs
from pathlib import Path

import pytest

from overlong.conformance import certify
from overlong.conformance.protocol.kind import SCALARS, VERDICT
from overlong.conformance.results.run import FAILS

E_ACUTE = b"\xc3\xa9"


def refuses_it(octets: bytes) -> str:
    try:
        text, end = octets.decode(), len(octets)
    except UnicodeDecodeError as error:
        text, end = "", error.start
        right = error
    place = octets.find(E_ACUTE, 0, end)
    if place >= 0:
        raise UnicodeDecodeError("utf-8", octets, place, place + 2, "refused")
    if end < len(octets):
        raise right
    return text


class ReplacesIt:
    traits = {"error_mode": "replacement"}  # noqa: RUF012

    @staticmethod
    def _decode(octets: bytes) -> str:
        return octets.replace(E_ACUTE, b"\xff\xff").decode("utf-8", "replace")

    operations = {"L": lambda many: [ReplacesIt._decode(octets) for octets in many]}  # noqa: RUF012


class RefusesItInStreams:
    """It says places, counted from the first octet that it had kept."""

    traits = {"stream_offsets": "kept"}  # noqa: RUF012

    def __init__(self) -> None:
        self.kept = b""

    def decode(self, data: bytes, final: bool = False) -> str:
        octets = self.kept + data
        place = octets.find(E_ACUTE)
        text, used = codecs.utf_8_decode(octets[: place if place >= 0 else None], "strict", final or place >= 0)
        if place >= 0:
            raise UnicodeDecodeError("utf-8", octets, place, place + 2, "refused")
        self.kept = octets[used:]
        if self.kept[:1] == b"\xed" and self.kept[1:] >= b"\xa0":  # python/cpython#154520
            raise UnicodeDecodeError("utf-8", octets, used, used + 1, "invalid")
        return text


@pytest.mark.parametrize(
    ("decoder", "suites", "code", "claim"),
    [
        (refuses_it, ["core"], "OV101", VERDICT),
        (ReplacesIt, ["core"], "OV102", SCALARS),
        (RefusesItInStreams, ["streams", "chunking"], "OV101", VERDICT),
    ],
)
def test_one_refused_character_fails_one_claim(decoder, suites, code, claim):
    run = certify(f"py:{Path(__file__)}:{decoder.__name__}", suites=suites, plans=()).run
    assert set(run.buckets) == {(code, "UTF8-2: %xC2-DF UTF8-tail")}
    assert {each for each, state in run.claims.items() if state == FAILS} == {claim}
    (bucket,) = run.buckets.values()
    assert bucket.example.vector.octets == E_ACUTE
