"""Campaigns of encoders and of functions: their texts, and faults that only some text shows."""

from itertools import pairwise

import pytest
from click.testing import CliRunner

from overlong.conformance.cli.verbs import cli
from overlong.conformance.protocol.wire import ENCODE, ENCODE_UTF16
from overlong.conformance.vectors.expected import Asked, given
from overlong.fuzz.engines.grammar import questions, text_of, vector_of_text
from overlong.fuzz.generated import Generated
from overlong.fuzz.report import findings_in, in_full
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import read
from zoo import ZOO

FUNCTIONS = ZOO / "functions.py"
ENCODERS = ZOO / "wrong_on_long_text.py"


def overlong(*words):
    done = CliRunner().invoke(cli, list(map(str, words)), env={"COLUMNS": "80"})
    assert done.exception is None or isinstance(done.exception, SystemExit), done.output
    return done


def test_texts_are_functions_of_seed_and_number():
    texts = [text_of(1, number) for number in range(300)]
    assert texts == [text_of(1, number) for number in range(300)] != [text_of(2, number) for number in range(300)]
    assert min(map(len, texts)) == 1
    assert max(map(len, texts)) > 2048
    flawed = [each for each in texts if any(number in range(0xD800, 0xE000) for number in each)]
    assert any(max(each) > 0x10FFFF for each in texts)
    assert len(flawed) > 30
    for each in texts:
        assert not any(a in range(0xD800, 0xDC00) and b in range(0xDC00, 0xE000) for a, b in pairwise(each))


def test_a_text_as_code_points_and_as_code_units():
    numbers = [0x61, 0x1F6B2, 0x110000]
    assert given(ENCODE, vector_of_text(numbers, ENCODE).octets) == (0x61, 0x1F6B2, 0x110000)
    assert given(ENCODE_UTF16, vector_of_text(numbers, ENCODE_UTF16).octets) == (0x61, 0xD83D, 0xDEB2)


@pytest.mark.long
def test_a_campaign_finds_a_fault_of_long_text_once_and_shows_it_again(tmp_path):
    target = f"py:{ENCODERS}:loses_the_last_of_64"
    done = overlong("fuzz", "--runs", 300, "--seed", 1, "--jobs", 1, "-o", tmp_path / "it", target)
    assert done.exit_code == 1, done.output
    sentence = "writes other octets for text of characters of 1 octet and of 64 or more code points"
    assert [found.where for found in findings_in(tmp_path / "it")] == [sentence]
    done = overlong("fuzz", "--resume", tmp_path / "it", "--runs", 900, "--jobs", 1, "--ci")
    assert done.exit_code == 1, done.output
    (found,) = findings_in(tmp_path / "it")
    assert (found.code, found.octets, dict(found.more)["stable"]) == ("OV702", b"\0\0\0a" * 64, "10 of 10")
    (kept,) = (tmp_path / "it" / "inputs").glob("*.json")
    assert overlong("replay", kept, target).exit_code == 1


@pytest.mark.long
def test_a_right_encoder_has_no_findings_and_other_engines_have_no_texts(tmp_path):
    target = f"py:{ENCODERS}:right"
    assert overlong("fuzz", "--runs", 300, "--seed", 1, "--jobs", 1, "-o", tmp_path / "it", target).exit_code == 0
    done = overlong("fuzz", "--engine", "hypothesis", "--runs", 9, "-o", tmp_path / "other", target)
    assert done.exit_code == 3
    assert "only the engine grammar has texts for what does not decode" in done.output
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", QUESTIONS)
def test_each_question_has_texts_long_and_short_and_arguments_that_have_an_answer(name):
    generated = Generated(1)
    asked = [Asked.of(each.octets) for number in range(60) for each in questions(generated, number, name)]
    again = (each for number in (1, 4) for each in questions(Generated(1), number, name))
    assert {Asked.of(each.octets) for each in again} <= set(asked)
    assert {each.question.name for each in asked} == {name}
    texts = {each.text for each in asked}
    assert len(texts) > 40
    assert max(map(len, texts)) > 1024
    flawed = [each for each in texts if not read(each).is_well_formed]
    assert bool(flawed) == (QUESTIONS[name].given == "utf-8" and not QUESTIONS[name].written)


@pytest.mark.long
def test_a_campaign_of_a_function_finds_its_fault_once_and_shows_it_again(tmp_path):
    target = f"py:{FUNCTIONS}:from_utf16_underfills?as=from-utf16"
    done = overlong("fuzz", "--runs", 300, "--seed", 1, "--jobs", 1, "--ci", "-o", tmp_path / "it", target)
    assert done.exit_code == 1, done.output
    (found,) = findings_in(tmp_path / "it")
    assert (found.code, found.operation) == ("OV914", "Q")
    assert Asked.of(found.octets).question.name == "from-utf16"
    assert overlong("replay", in_full(found), target).exit_code == 1
    right = f"py:{FUNCTIONS}:from_utf16?as=from-utf16&encode_errors=fatal"
    done = overlong("fuzz", "--runs", 300, "--seed", 1, "--jobs", 1, "--ci", "-o", tmp_path / "right", right)
    assert done.exit_code == 0, done.output


@pytest.mark.long
def test_of_a_function_that_dies_a_shorter_text_is_found(tmp_path):
    (tmp_path / "dies.py").write_text(
        "import os\n"
        "def cut(octets, limit):\n"
        "    if b'\\xf0\\x9f' in octets and limit > 2:\n"
        "        os.abort()\n"
        "    return len(octets[:limit].decode('utf-8', 'ignore').encode())\n"
    )
    target = f"py:{tmp_path / 'dies.py'}:cut?as=truncate&nul=ends the string"
    overlong("fuzz", "--runs", 20, "--seed", 1, "--jobs", 1, "--ci", "-o", tmp_path / "it", target)
    (found,) = findings_in(tmp_path / "it")
    assert (found.code, Asked.of(found.octets).question.name) == ("OV602", "truncate")
