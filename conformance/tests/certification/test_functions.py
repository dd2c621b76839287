"""Functions beside decoding: wrong ones are refused by the default command with a sentence, right ones are not."""

from dataclasses import replace

import pytest

from overlong.conformance import certify
from overlong.conformance.certification import runner
from overlong.conformance.certification.replay import replay
from overlong.conformance.certification.verification import verify
from overlong.conformance.oracle.apart import limits_of, without
from overlong.conformance.oracle.faults import function_fault
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import KINDS, Accepted, Refused
from overlong.conformance.results.model import HOLDS
from overlong.conformance.results.reading import read
from overlong.conformance.targets.adapters.python import given, numbers_of
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import Asked
from overlong.conformance.vectors.suites.functions import FUNCTIONS
from overlong.conformance.vectors.vector import IdError, Profile, Vector
from overlong.reference.questions import QUESTIONS
from zoo import ZOO
from zoo.functions import BY_MODE, RIGHT, WRONG

pytestmark = pytest.mark.usefixtures("unexamined")

FILE = ZOO / "functions.py"
"""The functions' own file, which the worker of a target loads, too."""


def name_of(function, question, mode):
    return f"py:{FILE}:{function.__name__}?as={question}" + (f"&ill_formed={mode}" if mode else "")


def answer_of(function, asked):
    """What the adapter makes of a call, but for faults."""
    try:
        text = given(asked.question.name, asked.text)
        said = function(text, asked.argument) if asked.question.argument else function(text)
    except UnicodeDecodeError:
        return Refused()
    numbers = numbers_of(said, asked.text, asked.question.name)
    assert not isinstance(numbers, str), numbers
    if numbers is None:
        return Refused()
    return Accepted(tuple(int.from_bytes(numbers[place : place + 4], "big") for place in range(0, len(numbers), 4)))


def faults(function, question, mode, step=1):
    """The faults in the answers to the suite, or to a part of it, without a process."""
    profile = Profile(functions=question, divides=mode)
    for batch in replace(FUNCTIONS, profile=profile).batches():
        for octets in batch.strings(range(0, len(batch), step)):
            vector = Vector(question, octets, profile=profile)
            fault = function_fault(vector, answer_of(function, Asked.of(octets)))
            if fault is not None:
                yield fault, vector


ACQUITTED = [
    *((function, question, "") for question, all_of_it in RIGHT.items() for function in all_of_it),
    *((each, question, mode) for mode, right in BY_MODE.items() for question in right for each in right[question]),
]


@pytest.mark.parametrize(("function", "question", "mode"), ACQUITTED)
def test_no_right_function_is_accused(function, question, mode):
    assert not list(faults(function, question, mode, step=97))


ONE_OF_EACH = list({(question, mode): (function, question, mode) for function, question, mode in ACQUITTED}.values())
"""A right function for each question and mode: others give the same answers."""


@pytest.mark.long
@pytest.mark.parametrize(("function", "question", "mode"), ONE_OF_EACH)
def test_no_right_function_is_accused_by_the_whole_suite(function, question, mode):
    assert not list(faults(function, question, mode))


def refused(function, output=None, suites=None):
    question, mode, code, sentence = WRONG[function]
    certificate = certify(name_of(function, question, mode), output=output, suites=suites)
    assert certificate.run.failing == ("functions",)
    shown = [bucket.example for bucket in certificate.run.ordered_buckets]
    assert code in {example.code for example in shown}
    assert any(example.code == code and example.title.startswith(sentence) for example in shown), [
        example.title for example in shown
    ]
    assert len(shown) <= 4
    return certificate


SOME = ("truncate_removes_leads", "previous_without_limit")
"""One is refused by default, with all that it begins; the other by the suite alone, which is faster."""


@pytest.mark.parametrize("function", [each for each in WRONG if each.__name__ in SOME])
def test_the_default_command_refuses_with_a_sentence(function, tmp_path):
    certificate = refused(function, tmp_path, None if function.__name__ == SOME[0] else ("functions",))
    example = certificate.run.ordered_buckets[0].example
    (cause, *_) = read([tmp_path]).subjects[0].causes
    assert (cause.title, cause.vector) == (example.title, example.vector.id)
    (answer,) = replay(Vector.from_id(example.vector.id), certificate.run.target)
    assert answer.finding is not None
    assert answer.finding.title == example.title


@pytest.mark.long
@pytest.mark.parametrize("function", [each for each in WRONG if each.__name__ not in SOME])
def test_the_suite_refuses_the_others(function):
    refused(function, suites=("functions",))


def test_a_right_function_gets_a_claim_of_its_own(tmp_path):
    function = RIGHT["count-scalars"][3]
    certificate = certify(name_of(function, "count-scalars", ""), output=tmp_path, suites=["functions"])
    run = certificate.run
    assert (run.conformant, run.claims["functions"], run.greeting.traits["functions"]) == (True, HOLDS, "count-scalars")
    assert [(part.suite.name, part.whole) for part in run.suites] == [("functions", True)]


@pytest.mark.parametrize(("validator", "failing"), [("StrictChecker", ()), ("FilledChecker", ("streaming",))])
def test_a_validator_of_streams_is_asked_chunk_by_chunk(validator, failing):
    run = certify(f"py:{FILE}:{validator}", suites=["core", "chunking"]).run
    assert run.failing == failing
    assert run.greeting.operations == "PBVSN"
    assert not failing or {bucket.example.vector.octets[0] for bucket in run.ordered_buckets} <= {0xE0, 0xF0}


@pytest.mark.parametrize(("function", "failing"), [("scrub", ()), ("scrub_drops_last", ("error mode",))])
def test_what_makes_octets_well_formed_is_a_decoder_that_replaces(function, failing):
    run = certify(f"py:{FILE}:{function}", suites=["core"]).run
    assert (run.failing, run.greeting.operations, run.greeting.units.name) == (failing, "PBL", "utf-8")


def test_a_trait_sets_aside_what_the_text_holds_not_the_argument():
    greeting = Greeting.parse(
        b'{"overlong": 1, "operations": "PQ", "functions": ["truncate"], "nul": "ends the string"}'
    )
    payloads = [Asked(QUESTIONS["truncate"], 0, text).payload for text in (b"a", b"a\0", b"")]
    kept, aside = without(Batch.of_strings("truncate", payloads), limits_of(greeting))
    assert [vector.octets for vector in kept] == [payloads[0], payloads[2]]
    assert [vector.octets for vector in aside] == [payloads[1]]


def test_each_code_is_that_of_the_claim():
    assert {code for code, kind in KINDS.items() if kind.claim == "functions"} == {
        *(code for _, _, code, _ in WRONG.values())
    }


@pytest.mark.parametrize("identifier", ["truncate/06", "truncate/ff00000000", "next/0a0000000361"])
def test_what_is_no_question(identifier):
    with pytest.raises(IdError, match="no question"):
        Asked.of(Vector.from_id(identifier).octets)


def test_a_function_that_would_take_minutes_is_spared_long_texts_and_verified_so(monkeypatch, tmp_path):
    name = f"py:{FILE}:count_by_tails?as=count-scalars"
    monkeypatch.setattr(runner, "MOST", 0.0)
    certificate = certify(name, output=tmp_path)
    assert certificate.run.conformant
    assert certificate.left_out == ("functions-longer", "functions-longest", "functions-exhaustive")
    note = "not run: functions-longer, functions-longest, functions-exhaustive (--thorough runs them)"
    assert note in certificate.run.notes
    monkeypatch.undo()
    found = verify(tmp_path / "certificate.json", trust=True)
    assert found.verified, found.against
    assert certify(name).left_out == ("functions-exhaustive",)
