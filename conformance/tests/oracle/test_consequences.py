"""A consequence is not a cause: a decoder whose only fault is one character fails by that character alone."""

import pytest

from overlong.conformance import certify
from overlong.conformance.protocol.observation import SCALARS, VERDICT
from overlong.conformance.results.model import FAILS
from zoo import ZOO

E_ACUTE = b"\xc3\xa9"


@pytest.mark.parametrize(
    ("decoder", "suites", "code", "claim"),
    [
        ("refuses_it", ["core"], "OV101", VERDICT),
        ("ReplacesIt", ["core"], "OV102", SCALARS),
        ("RefusesItInStreams", ["streams", "chunking"], "OV101", VERDICT),
    ],
)
def test_one_refused_character_fails_one_claim(decoder, suites, code, claim):
    run = certify(f"py:{ZOO}/causes.py:{decoder}", suites=suites, plans=()).run
    assert set(run.buckets) == {(code, "UTF8-2: %xC2-DF UTF8-tail")}
    assert {each for each, state in run.claims.items() if state == FAILS} == {claim}
    (bucket,) = run.buckets.values()
    assert bucket.example.vector.octets == E_ACUTE
