"""``certify`` as a user of the library calls it: names and paths as text, and what was asked as one object."""

import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from overlong.conformance import GivenFile, Invocation, Limits, certify
from overlong.conformance.certification import certify as module
from overlong.conformance.certification.tiers import BRIEF
from overlong.conformance.certification.verification import verify
from overlong.conformance.vectors.suites import QUICK, SHARED

REGRESSIONS = Path(__file__).parents[3] / "corpora" / "regressions"
REASONS = """
[[expected]]
target = "cpython-surrogatepass"
code = "OV202"
observed = "accepted*"
reason = "it is meant to"
"""


def test_it_has_few_arguments():
    assert len(inspect.signature(certify).parameters) <= 10


def test_paths_may_be_text(tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text(REASONS, "ascii")
    file, output = str(tmp_path / "expected.toml"), str(tmp_path / "out")
    certificate = certify("cpython-surrogatepass", suites=["core"], expected=file, output=output)
    assert {bucket.example.code for bucket in certificate.unexpected} == {"OV301"}, "OV202 is expected"
    assert (tmp_path / "out" / "results.jsonl").is_file()


def test_arguments_replace_fields_of_an_invocation():
    asked = Invocation("cpython", ("core",), speaks="cesu-8", limits=Limits(threads=2))
    made = certify(asked, suites=["complete-0"], speaks="rfc3629").invocation
    assert made == replace(asked, suites=("complete-0",), speaks="rfc3629")


def test_an_invocation_repeats_its_run():
    given = GivenFile.of(str(REGRESSIONS / "D-7550af09.json"))
    first = certify(Invocation("cpython", ("given",), ("exhaustive-1",), vectors=(given,)))
    assert first.invocation.vectors == (given,)
    assert [part.suite.size for part in first.run.suites] == [1]
    assert certify(first.invocation).to_json() == first.to_json()


def test_a_tier_is_named():
    quick = certify("cpython", tier="quick")
    assert quick.invocation.suites == tuple(QUICK)
    assert quick.run.swept is not None
    named = certify("cpython", suites=["core"], tier="brief").invocation.plans
    assert named is not None
    assert set(named) > set(BRIEF.plans)
    assert certify("cpython", suites=["core"], tier="none").run.swept is None
    with pytest.raises(ValueError, match="no tier 'brif'; did you mean brief"):
        certify("cpython", tier="brif")


SLOW = """
def right(octets):
    return octets.decode()


def wrong(octets):
    return octets.decode(errors="surrogatepass")
"""


@pytest.mark.parametrize(
    ("name", "options", "asked"),
    [
        pytest.param("wrong", {}, False, id="it is refused by then"),
        pytest.param("right", {}, True, id="it is right so far"),
        pytest.param("wrong", {"expected": True}, True, id="its divergences are expected"),
        pytest.param("wrong", {"thorough": True}, True, id="a thorough run"),
    ],
)
@pytest.mark.long_after(1)
def test_the_largest_suites_are_spared_a_slow_decoder_that_is_refused(tmp_path, monkeypatch, name, options, asked):
    monkeypatch.setattr(module, "ENOUGH", -1.0)  # every decoder is slow, even if its seconds are not known
    (tmp_path / "slow.py").write_text(SLOW, "ascii")
    target, expected = f"py:{tmp_path / 'slow.py'}:{name}", tmp_path / "expected.toml"
    expected.write_text(REASONS.replace("cpython-surrogatepass", target), "ascii")
    certificate = certify(
        Invocation(target, plans=(), thorough=options.get("thorough", False)),
        output=tmp_path / "out",
        expected=expected if "expected" in options else None,
    )
    ran = {part.suite.name for part in certificate.run.suites}
    assert ran.issuperset(SHARED[:2]) if asked else ran.isdisjoint(SHARED)
    assert "runs" in ran
    assert asked == (not [note for note in certificate.run.notes if "scalars, scalars-between" in note])
    if not asked:
        verification = verify(tmp_path / "out" / "certificate.json", target=target)
        assert verification.verified, "the same suites are asked again"
