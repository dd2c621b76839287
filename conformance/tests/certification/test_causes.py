"""One bucket for each cause: what follows from a cause joins its bucket, and nothing else does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overlong.conformance import certify
from overlong.conformance.cli.verbs import cli
from overlong.conformance.examination.examine import why
from overlong.conformance.results.model import FAILS
from overlong.conformance.sweep import describing
from zoo import ZOO

CAUSES, KNOWN = ZOO / "causes.py", ZOO / "known_wrong.py"
EVERYWHERE = Path(__file__).parents[3] / "benchmarks" / "wrong_everywhere.py"


def of(name, *suites, **more):
    return certify(f"py:{CAUSES}:{name}", suites=suites or ["core"], plans=(), **more).run


def failing(run):
    return {claim for claim, state in run.claims.items() if state == FAILS}


def test_two_faults_are_two_buckets_and_fail_two_claims():
    run = of("refuses_it_and_counts_from_one")
    assert failing(run) == {"verdict", "error position"}
    sentences = {bucket.example.code: bucket.why.sentence for bucket in run.buckets.values()}
    assert set(sentences) == {"OV101", "OV301"}
    assert "refuses U+00E9" in sentences["OV101"]
    assert "reports another offset" in sentences["OV301"]


def test_a_cause_has_one_bucket_whatever_the_defects_of_what_it_accepts(tmp_path):
    run = of("takes_longer_forms", "core", "complete-0", output=tmp_path)
    (bucket,) = run.buckets.values()
    assert bucket.why.sentence == "accepts E0 80-9F 80-BF"
    assert bucket.example.vector.octets == b"\xe0\x80\x80"
    records = list(map(json.loads, tmp_path.joinpath("results.jsonl").read_text("ascii").splitlines()))
    (written,) = (record for record in records if record["record"] == "bucket")
    assert written["sentence"] == "accepts E0 80-9F 80-BF"
    assert written["condition"]["words"] == [["e0", bytes(range(0x80, 0xA0)).hex(), bytes(range(0x80, 0xC0)).hex()]]
    assert written["confirmed"][0] == written["confirmed"][1] > 100
    assert written["count"] == sum(record["record"] == "divergence" for record in records)


def test_what_a_longer_form_lacks_is_no_cause_of_its_own():
    run = of("takes_numbers_beyond", "core", "complete-0")
    (bucket,) = run.buckets.values()
    assert bucket.why.sentence == "accepts F5-F7 80-BF 80-BF 80-BF"
    assert {code for code, _ in bucket.kinds} == {"OV203", "OV302", "OV303"}
    assert failing(run) == {"verdict"}


def test_what_a_reader_loses_is_named_before_what_is_counted():
    run = of("LosesText")
    assert len(run.buckets) <= 2
    assert next(iter(run.buckets))[0] == "OV402"
    assert failing(run) == {"error mode"}


def test_a_decoder_that_is_wrong_everywhere_has_few_buckets():
    run = of("latin_1", "core", "complete-0")
    assert {code for code, _ in run.buckets} == {"OV102", "OV206"}
    assert run.codes >= {"OV102", *(f"OV20{digit}" for digit in range(1, 9))}
    assert failing(run) == {"verdict", "scalars"}


@pytest.mark.parametrize(
    ("file", "name", "sentence"),
    [
        (KNOWN, "truncated_at_the_end", "accepts truncated sequences or ED A0-BF at the end"),
        (KNOWN, "length_is_always_one", "reports another length for an error of which 2 or more octets are there"),
        (
            KNOWN,
            "more_input_always_helps",
            "is wrong on missing input for an error that is no character cut off by the end",
        ),
        (KNOWN, "nothing_checked_after_64_octets", "reads only the first 64 octets"),
        (KNOWN, "one_for_each_run", "outputs a wrong number of U+FFFD for an error right after an error"),
        (
            KNOWN,
            "remembers_the_last_error",
            (
                "outputs other characters for well-formed text in inputs of 1 or more octets "
                "and after an earlier call that was refused"
            ),
        ),
        (
            CAUSES,
            "strips",
            "outputs other characters for 29 characters, such as U+0009, U+2001 and U+3000 at the start or the end",
        ),
        (KNOWN, "strips_the_signature", "outputs other characters for U+FEFF at offset 0"),
        (CAUSES, "has_a_buffer", "reads only the first 60 octets"),
        (EVERYWHERE, "refuses_all_at_0", "refuses well-formed text"),
        (EVERYWHERE, "refuses_all_but_ascii", "refuses characters beyond ASCII"),
    ],
)
def test_one_fault_is_one_bucket_in_its_own_words(file, name, sentence):
    run = certify(f"py:{file}:{name}", suites=["core", "complete-0"], plans=()).run
    assert [bucket.why and bucket.why.sentence for bucket in run.buckets.values()] == [sentence]


def test_a_cause_that_is_found_again_has_one_bucket_and_is_not_examined_further(monkeypatch):
    examined = list[str]()

    def counted(finding, target, profile):
        examined.append(finding.code)
        return why(finding, target, profile)

    monkeypatch.setattr(describing, "why", counted)
    run = certify(f"py:{CAUSES}:overlooks_the_ends_of_ascii", suites=["core"], plans=["octets-72", "offsets-96"]).run
    assert sorted(bucket.example.code for bucket in run.buckets.values()) == ["OV101", "OV204"]
    assert len(examined) <= 2


def test_if_answers_vary_their_places_make_no_buckets():
    run = of("now_and_then", "core", "complete-0")
    codes = [bucket.example.code for bucket in run.buckets.values() if bucket.why is None]
    assert "OV605" in run.codes
    assert len(codes) == len(set(codes)) > 0
    assert max(len(bucket.kinds) for bucket in run.buckets.values()) > 1


@pytest.mark.parametrize("form", ["text", "sarif", "markdown", "junit", "html"])
def test_every_report_has_the_sentence(form, tmp_path, report_of_longer_forms):
    from click.testing import CliRunner

    done = CliRunner().invoke(cli, ["report", str(report_of_longer_forms), "--format", form])
    assert "accepts E0 80-9F 80-BF" in " ".join(done.output.split())


@pytest.fixture(scope="module")
def report_of_longer_forms(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    of("takes_longer_forms", output=folder)
    return folder
