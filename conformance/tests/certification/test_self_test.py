"""``overlong --self-test``: it passes, and it can fail."""

import pytest
from click.testing import CliRunner

from overlong.conformance import certify
from overlong.conformance.certification import self_test
from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.observation import VERDICT
from overlong.conformance.results.model import HOLDS
from overlong.conformance.vectors.pieces import strings_for
from overlong.reference import dialect


@pytest.mark.long
def test_it_passes_in_plain_lines():
    ended = CliRunner().invoke(cli, ["--self-test"])
    assert ended.exit_code == 0, ended.output
    assert len(ended.output.splitlines()) == 6
    assert all(line.startswith("ok") for line in ended.output.splitlines())
    assert "18 441 automata" in ended.output
    assert "1 112 064 characters" in ended.output


def fails(check):
    assert check()[1]


@pytest.mark.long
def test_a_judge_that_overlooks_everything_fails(monkeypatch):
    monkeypatch.setattr(self_test, "compare_batch", lambda *_: ())
    monkeypatch.setattr(self_test, "_APART", 40)
    for check, least in ((self_test.run_mutants, 11), (self_test.historical, 40)):
        _, failures = check()
        assert all("not caught" in line for line in failures)
        assert len(failures) > least


@pytest.mark.long
def test_a_runner_that_accuses_the_right_fails(monkeypatch):
    monkeypatch.setattr(dialect().automaton.__class__, "accepts", lambda *_: True)
    assert self_test.right_verdicts()[1] == ["the automaton is accused"]


def test_a_suite_that_lacks_strings_fails(monkeypatch):
    strings = strings_for(dialect())
    monkeypatch.setattr(self_test, "strings_for", lambda _: strings[: len(strings) // 2])
    fails(self_test.counted_mutants)


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["decode_scalars", "encode_scalars", "scalar_values"])
def test_a_wrong_reference_fails(monkeypatch, name):
    right = getattr(self_test, name)
    wrong = {
        "decode_scalars": lambda octets: [value ^ (value > 0xFFFF) for value in right(octets)],
        "encode_scalars": lambda values: right([0]),
        "scalar_values": lambda: (*range(0xD7FF), 0xE000, 0xD7FF, *range(0xE001, 0x110000)),
    }[name]
    monkeypatch.setattr(self_test, "_RANKED", 9973)
    monkeypatch.setattr(self_test, name, wrong)
    fails(self_test.values)


@pytest.mark.long
def test_a_harness_that_confuses_decoders_fails(monkeypatch):
    monkeypatch.setattr(self_test, "certify", lambda _name, **options: certify("cpython", **options))
    assert len(self_test.through_pipes()[1]) == 1


def test_the_stand_in_is_judged_as_a_target():
    run = self_test._judged("right", dialect().automaton.accepts)
    assert run.claims[VERDICT] == HOLDS
    assert run.buckets == {}
    assert all(part.whole for part in run.suites)
