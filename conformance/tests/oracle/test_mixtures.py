"""Mixtures: the same octets for ever, and faults that need length, a count, or what was decoded before."""

import hashlib
import json
import re
from importlib.resources import files

import pytest

from overlong.conformance import Invocation, certify
from overlong.conformance.certification import certify as certification
from overlong.conformance.vectors.suites import QUICK, SUITES

pytestmark = pytest.mark.usefixtures("unexamined")

DIGESTS = {
    "mixtures": "d542f3a3114ced94f3deaf90008abb0345d68a5557a73f4fb1bf792589a163ff",
    "mixtures-in-chunks": "b0a6c9e869b5d781a05d70d5426ff487fd8a35778c8720907a57ea1263e65a4c",
    "mixtures-used-before": "890fceb7c4b210d64aa0f4ad01534700d8560abbca5181d5af57b3281b906ebf",
}
DECODERS = """
import codecs

def doubled_at_4095(octets: bytes) -> str:
    text = octets.decode("utf-8", "replace")
    return text.replace("\\ufffd", "\\ufffd" * 2) if len(octets) == 4095 else text

def swallows_after_e8_70(octets: bytes) -> str:
    return octets.replace(b"\\xe8\\x70a", b"\\xe8\\x70").decode("utf-8", "replace")

def stops_after_100_000(octets: bytes) -> str:
    return octets.decode("utf-8", "replace")[:100_000]

def leaves_errors_out_after_300(octets: bytes) -> str:
    text, errors = octets.decode("utf-8", "replace"), 0
    for place, character in enumerate(text):
        errors += character == "\\ufffd"
        if errors == 300:
            return text[:place] + text[place:].replace("\\ufffd", "")
    return text

class Right:
    def __init__(self):
        self.reset()

    def reset(self):
        self.inner, self.calls, self.read = codecs.getincrementaldecoder("utf-8")(), 0, 0

    def decode(self, data: bytes, final: bool = False) -> str:
        self.calls, self.read = self.calls + 1, self.read + len(data)
        return self.inner.decode(data, final)

class ForgetsAfterChunk1000(Right):
    def decode(self, data: bytes, final: bool = False) -> str:
        if self.calls >= 1000 and not final:
            self.inner.reset()
        return super().decode(data, final)

class EndsInChunk513(Right):
    def decode(self, data: bytes, final: bool = False) -> str:
        return super().decode(data, final and self.calls != 512)

class TrustsWhatFollowsALeadAtOctet9999(Right):
    def decode(self, data: bytes, final: bool = False) -> str:
        if self.read == 9999 and self.inner.getstate()[0][:1] == bytes([0xE0]):
            data = bytes([0xA0]) + data[1:]
        return super().decode(data, final)

class IsNotResetAfter100001Octets(Right):
    read = 0

    def reset(self):
        if self.read != 100_001:
            super().reset()
        self.read = 0

class IsNotResetAfter4000Octets(Right):
    read = 0

    def reset(self):
        if self.read < 4000:
            super().reset()
        self.read = 0
"""


def test_strings_never_change():
    """The ids of vectors depend on them."""
    for name, known in DIGESTS.items():
        digest = hashlib.sha256()
        for vector in SUITES[name].vectors():
            digest.update(repr((vector.octets, vector.chunks, vector.earlier)).encode())
        assert digest.hexdigest() == known, name
    assert not set(DIGESTS) & set(QUICK), "they take longer than a quick run may"


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("name", "suite", "codes"),
    [
        ("doubled_at_4095", "mixtures", {"OV401"}),
        ("swallows_after_e8_70", "mixtures", {"OV402"}),
        ("stops_after_100_000", "mixtures", {"OV402"}),
        ("leaves_errors_out_after_300", "mixtures", {"OV402"}),
        ("ForgetsAfterChunk1000", "mixtures-in-chunks", {"OV501"}),
        ("EndsInChunk513", "mixtures-in-chunks", {"OV501"}),
        ("TrustsWhatFollowsALeadAtOctet9999", "mixtures-in-chunks", {"OV501"}),
        ("IsNotResetAfter4000Octets", "mixtures-used-before", {"OV502"}),
        ("IsNotResetAfter100001Octets", "mixtures-used-before", {"OV502"}),
    ],
)
def test_what_other_suites_let_through_is_found(name, suite, codes, tmp_path):
    (tmp_path / "far.py").write_text(DECODERS)
    others = {"mixtures": ("core", "complete-0-replacing", "runs")}.get(suite, ("streams", "chunking", "used-before"))
    assert not found(f"py:{tmp_path}/far.py:{name}", others)
    assert codes <= found(f"py:{tmp_path}/far.py:{name}", [suite])


def test_a_right_decoder_of_streams_passes(tmp_path):
    (tmp_path / "far.py").write_text(DECODERS)
    assert not found(f"py:{tmp_path}/far.py:Right", DIGESTS)


def found(target, suites):
    """The codes, without those that CPython's own decoder of streams gets: it comes late after ED A0."""
    certificate = certify(target, suites=list(suites), plans=())
    return certificate.run.codes - {"OV511", "OV512"}


def test_their_ids_are_as_the_schemas_say():
    """The id of a stream in many chunks has two digests."""
    schema = (files("overlong.conformance") / "schemas" / "results-1.schema.json").read_text("utf-8")
    shapes = {json.loads(quoted) for quoted in re.findall(r'"pattern": ("\^[^"]*sha256-[^"]*")', schema)}
    assert shapes
    for name in DIGESTS:
        for vector in SUITES[name].vectors():
            assert all(re.search(shape, vector.id) for shape in shapes), vector.id[:200]


@pytest.mark.parametrize(
    ("options", "asked"), [({}, True), ({"plans": ()}, False), ({"plans": (), "thorough": True}, True)]
)
def test_a_run_without_sweeps_leaves_them_out_and_says_so(monkeypatch, options, asked):
    monkeypatch.setattr(certification, "SUITES", {name: SUITES[name] for name in ("core", "mixtures")})
    certificate = certify(Invocation("cpython", tier="none", **options))
    assert [part.suite.name for part in certificate.run.suites] == ["core", *["mixtures"] * asked]
    assert ("not run: mixtures (--thorough runs them)" in certificate.run.notes) is not asked
