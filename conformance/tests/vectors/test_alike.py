"""Answers by the classes of octets are those of the readable oracle, and so is what is tolerated beside them."""

from itertools import product

import pytest

from overlong.conformance.oracle.faults import function_fault, is_tolerated, shape_fault
from overlong.conformance.protocol.observation import Accepted, Refused
from overlong.conformance.vectors.expected import SHORT, Asked, classes, pattern, right_numbers
from overlong.conformance.vectors.suites.functions import FUNCTIONS_EXHAUSTIVE
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import MODES

EVERY = [bytes(octets) for count in range(3) for octets in product(range(0x100), repeat=count)]
UNITS = [name for name, question in QUESTIONS.items() if not question.written]


def differing(texts, mode):
    for name in UNITS:
        question = QUESTIONS[name]
        for text in texts:
            for argument in question.asked(text):
                asked = Asked(question, argument, text)
                if right_numbers(asked.payload, mode) != asked.right(mode).numbers:
                    yield asked


@pytest.mark.parametrize("mode", ["", *MODES])
def test_some_answers_are_those_of_the_readable_oracle(mode):
    assert not list(differing([b"", *EVERY[1::997]], mode))


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
def test_many_answers_are_those_of_the_readable_oracle(mode):
    assert not list(differing(EVERY[::31], mode))


@pytest.mark.parametrize("mode", ["", *MODES])
def test_what_is_tolerated_is_no_fault(mode):
    """The second question of a class gets the verdict of the first."""
    profile = Profile(divides=mode)
    for name in UNITS:
        question = QUESTIONS[name]
        for text in (bytes([*head, octet]) for head in ((), (0xE2,), (0x61, 0xC3)) for octet in range(0, 0x100, 5)):
            for argument in question.asked(text):
                vector = Vector(name, Asked(question, argument, text).payload, profile=profile)
                numbers = [(each,) if question.answers == 1 else (0xFFFD, each) for each in range(len(text) + 2)]
                answers: list[Accepted | Refused] = [*map(Accepted, numbers), Accepted((1, 2, 3)), Refused()]
                for observed in answers:
                    right = shape_fault(vector, observed) is None and function_fault(vector, observed) is None
                    assert is_tolerated(vector, observed) == right, (vector.id, observed)


def test_the_classes_are_the_automatons_and_what_leads_announce():
    classes_of = {octet: classes()[octet] for octet in range(0x100)}
    assert len(set(classes_of.values())) == 14
    assert classes_of[0xC0] == classes_of[0xC1] != classes_of[0xF5] != classes_of[0xF8] == classes_of[0xFF]


def test_longer_texts_and_conversions_are_answered_singly():
    assert pattern(Asked(QUESTIONS["truncate"], 0, b"a" * SHORT).payload) is not None
    assert pattern(Asked(QUESTIONS["truncate"], 0, b"a" * (SHORT + 1)).payload) is None
    assert pattern(Asked(QUESTIONS["to-utf16"], 0, b"a").payload) is None


@pytest.mark.parametrize(("question", "count"), [("is-boundary", 65_792 * 2 - 256), ("truncate", 65_536 * 4 + 256 * 3)])
def test_every_text_of_two_octets_is_asked_with_every_argument(question, count):
    profile = Profile(functions=question)
    asked = [
        octets
        for batch in FUNCTIONS_EXHAUSTIVE.make(profile)
        for octets in batch.strings(range(len(batch)))
        if len(octets) <= 7
    ]
    assert (len(asked), len(set(asked))) == (count, count)
