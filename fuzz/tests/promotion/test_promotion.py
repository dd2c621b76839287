"""Promotion: a finding becomes a vector in a file, and certify runs it."""

import json
import stat
from dataclasses import replace

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.results.model import Standing
from overlong.conformance.vectors.check import check, vectors_in
from overlong.fuzz.campaign.corpus import CampaignError
from overlong.fuzz.promotion import promote, vector_of
from overlong.fuzz.report import Found

pytestmark = pytest.mark.long

OVERLONG = Found(
    id="D-7f3a0c19",
    target="py:decoder.py:decode",
    operation="D",
    code="OV201",
    place="overlong form",
    title="overlong form accepted",
    section="RFC 3629 \N{SECTION SIGN}3",
    octets=b"\xc0\x80",
    chunks=None,
    earlier=None,
    expected="reject at 0, 1 octet",
    observed="accepted U+0000",
    claim="verdict",
    count=5,
    vector="",
)
LOST = replace(OVERLONG, id="D-00000001", operation="S", code="OV501", octets=b"\xe2\x82\xac", chunks=(1, 2))
KEPT = replace(OVERLONG, id="D-00000002", operation="N", code="OV502", octets=b"a", chunks=(1,), earlier=(b"", b"\xe2"))
LONG = replace(OVERLONG, id="D-00000003", operation="G", code="OV801", octets=b"a" * 300 + b"\xe2")

DECODER = """
def decode(octets):
    if octets == b"\\xc0\\x80" and {wrong}:
        return "\\0"
    return octets.decode()


class Decoder:
    def __init__(self):
        self.kept = b""

    def reset(self):
        self.kept = self.kept if {wrong} else b""

    def decode(self, data, final=False):
        self.kept += data
        if not final and not {wrong}:
            return ""
        octets, self.kept = self.kept, b"" if final and not {wrong} else self.kept
        return octets.decode()
"""


def test_a_promoted_finding_is_a_vector_as_the_schema_has_it(tmp_path):
    for each in (OVERLONG, LOST, KEPT, LONG):
        path = promote(each, tmp_path / "regressions")
        assert path.name == f"{each.id}.json"
        assert check(path) == "1 vector, and the reference agrees with each"
        assert path.read_bytes().isascii()
        (vector,) = vectors_in(path)
        assert vector == vector_of(each)
        assert (vector.octets, vector.chunks, vector.earlier) == (each.octets, each.chunks, each.earlier)
        assert each.target in vector.comment
        assert each.title in vector.comment
        assert stat.S_IMODE(path.stat().st_mode) & 0o111 == 0
    assert len(vectors_in(tmp_path / "regressions")) == 4


def test_promotion_is_idempotent_and_never_takes_anothers_place(tmp_path):
    first = promote(OVERLONG, tmp_path)
    before = first.read_bytes()
    assert promote(replace(OVERLONG, count=99, observed="accepted"), tmp_path) == first
    other = promote(replace(OVERLONG, octets=b"\xc0\x81"), tmp_path)
    assert other not in (first, promote(replace(OVERLONG, octets=b"\xc1\x81"), tmp_path))
    assert promote(replace(OVERLONG, octets=b"\xc0\x81"), tmp_path) == other
    assert first.read_bytes() == before
    (tmp_path / "D-00000001.json").write_text("mine")
    assert promote(LOST, tmp_path).name != "D-00000001.json"
    assert (tmp_path / "D-00000001.json").read_text() == "mine"


def test_hostile_text_stays_text(tmp_path):
    hostile = replace(OVERLONG, target='x"\n\x1b[31m\u202e\udc80', title="\0", observed="\\" * 300)
    (vector,) = vectors_in(promote(hostile, tmp_path))
    assert vector.comment.isprintable()
    for name in ("../D-7f3a0c19", "D-7F3A0C19", "D-7f3a0c19\n", ""):
        with pytest.raises(CampaignError, match="no id of a finding"):
            promote(replace(OVERLONG, id=name), tmp_path)


def test_what_no_vector_can_say_is_refused_with_the_reason(tmp_path):
    with pytest.raises(CampaignError, match="difference"):
        promote(replace(OVERLONG, standing=Standing.DIFFERENCE), tmp_path)
    with pytest.raises(CampaignError, match="cesu-8"):
        promote(replace(OVERLONG, measured_by="cesu-8@1"), tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with promoted findings, and decoders with and without their bugs."""
    monkeypatch.chdir(tmp_path)
    for each in (OVERLONG, LOST, KEPT):
        promote(each, tmp_path / "regressions")
    for name, wrong in (("buggy", True), ("fixed", False)):
        (tmp_path / f"{name}.py").write_text(DECODER.format(wrong=wrong))
    return tmp_path


def certify(*words):
    return CliRunner().invoke(cli, ["certify", "--suite", "given", "--vectors", "regressions", "-q", *words])


def test_certify_asks_promoted_vectors_of_every_kind(project):
    for target in ("decode", "Decoder"):
        assert certify(f"py:fixed.py:{target}").exit_code == 0
    whole = certify("py:buggy.py:decode")
    assert whole.exit_code == 1
    assert "fuzz/c080" in whole.output
    streams = certify("py:buggy.py:Decoder")
    assert streams.exit_code == 1
    lines = (project / "overlong-results").rglob("results.jsonl")
    found = {json.loads(line).get("vector", "") for path in lines for line in path.read_text().split("\n") if line}
    assert found >= {"fuzz/c080", "fuzz/e2.82ac", "fuzz/.e2+61"}
