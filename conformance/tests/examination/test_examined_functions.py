"""Functions beside decoding that are wrong: one bucket for one cause, whose sentence says when."""

import pytest

from overlong.conformance import certify
from overlong.conformance.examination import examine as examination
from overlong.conformance.examination.examine import condition_of
from overlong.conformance.examination.functions import OTHERS, OfQuestions, place_of
from overlong.conformance.examination.rules import Atom
from overlong.conformance.examination.sentence import about
from overlong.conformance.results.reading import read
from overlong.conformance.vectors.expected import Asked
from overlong.conformance.vectors.vector import Vector
from overlong.reference.questions import QUESTIONS
from zoo import ZOO, functions

FILE = ZOO / "functions.py"
SAID = {
    "truncate_removes_leads": (
        "truncate/0600000002e0a080",
        "truncate cuts characters if the limit is 2 or more octets into them",
    ),
    "truncate_at_limit": ("truncate/0600000001c280", "truncate cuts at the limit, wherever that is"),
    "truncate_after_lead": ("truncate/0600000001c280", "truncate cuts characters if the limit is inside them"),
    "truncate_refuses": ("truncate/0600000000f0908080", "truncate refuses text with a character of 4 octets"),
    "truncate_beyond": ("truncate/060000000080", "truncate keeps the character that the limit is inside"),
    "previous_without_limit": (
        "previous/0b000000020080",
        "previous steps wrongly over tails without a lead at offset 1 or more",
    ),
    "utf16_of_offset_by_scalars": ("utf16-of-offset/0c00000004f0908080", "utf16-of-offset counts scalar values"),
    "count_octets": ("count-scalars/0100000000c280", "count-scalars counts octets"),
    "count_by_words": (
        f"count-scalars/0100000000{'61' * 62}c3a9",
        "count-scalars counts wrongly text with a character of 2 or more octets at offset 62",
    ),
    "floor_of_three": ("floor/0400000003f0908080", "floor cuts characters if the offset is 3 octets into them"),
    "boundary_e0_is_tail": (
        "is-boundary/0300000000e0a080",
        "is-boundary answers wrongly about characters that begin with E0 if the offset is at the start of them",
    ),
    "size_by_leads": (
        "size-from-utf16/1500000000f0908080",
        "size-from-utf16 counts each half of a surrogate pair as a character",
    ),
    "to_utf16_halves": (
        "to-utf16/1000000001f0908080",
        "to-utf16 writes wrong output for text if 1 UTF-16 code unit of room is missing",
    ),
}
"""A wrong answer of each, and the sentence."""


def target(name):
    question, mode, *_ = functions.WRONG[getattr(functions, name)]
    return f"py:{FILE}:{name}?as={question}" + (f"&ill_formed={mode}" if mode else "")


@pytest.mark.long_after(3)
@pytest.mark.parametrize("name", SAID)
def test_the_sentence_says_when_a_function_is_wrong(name):
    identifier, sentence = SAID[name]
    found = examination.examine(target(name), Vector.from_id(identifier).octets, operation="Q")
    assert (found.sentence, found.confirmed, found.checked >= 200) == (sentence, True, True)
    assert found.finding is not None
    assert found.joins(found.finding)
    assert isinstance(found.condition, OfQuestions)
    assert condition_of(found.condition.kept()).id == found.condition.id


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["truncate_removes_leads", "truncate_after_lead", "truncate_at_limit"])
def test_one_cause_has_one_bucket(name, tmp_path):
    """Also of ill-formed text, of which the standard says only where it must not be cut."""
    (bucket,) = certify(target(name), suites=["functions"], output=tmp_path).run.buckets.values()
    assert [cause.code for cause in read([tmp_path]).subjects[0].causes] == [bucket.example.code]
    assert bucket.why is not None
    assert (bucket.why.sentence, bucket.why.share) == (SAID[name][1], 1.0)


PLACES = [  # question, argument, text, the octets of the place, inside, lacks, past
    ("truncate", 3, "a€b", (1, 4), 2, 0, -2),
    ("truncate", 5, "a€b", (5, 5), 0, 0, 0),
    ("previous", 4, "a€b", (1, 4), 0, 0, -1),
    ("previous", 3, "a€b", (1, 4), 1, 0, -2),
    ("offset-of-utf16", 2, "a😀", (1, 5), 1, 0, -1),
    ("to-utf16", 2, "a😀", (1, 5), 1, 1, -1),
    ("count-scalars", 0, "a😀", (1, 5), 0, 0, 0),
]


@pytest.mark.parametrize(("question", "argument", "text", "span", "inside", "lacks", "past"), PLACES)
def test_the_place_that_an_argument_points_at(question, argument, text, span, inside, lacks, past):
    place = place_of(Asked(QUESTIONS[question], argument, text.encode()), "")
    assert ((place.start, place.end), place.inside, place.lacks, place.past) == (span, inside, lacks, past)


WORDS = {
    "counts wrongly any text": ("OV911", "count-scalars", []),
    "cuts any character": ("OV913", "truncate", []),
    "counts wrongly text of 64 or more octets": ("OV911", "count-scalars", [Atom("length", low=64)]),
    "keeps a wrong length of text that ends with ill-formed octets": (
        *("OV914", "trim-partial"),
        [Atom("ill-formed", low=1, high=1)],
    ),
    "refuses text if the offset is at the end of the text": ("OV918", "ceil", [Atom("size", low=0, high=0)]),
    "cuts characters of 3 octets if the limit is inside them": (
        *("OV913", "truncate"),
        [Atom("size", low=3, high=3), Atom("inside", low=1)],
    ),
    "cuts characters of 3 or fewer octets": ("OV913", "truncate", [Atom("size", high=3)]),
    "gives a wrong index in text with a character of 4 octets before the offset": (
        *("OV916", "utf16-of-offset"),
        [Atom("of 4 octets", low=1)],
    ),
    "stops early in text if a character of 4 octets does not fit and room for 3 octets is left": (
        *("OV914", "from-utf16"),
        [Atom("size", low=4, high=4), Atom("inside", low=3, high=3)],
    ),
    "refuses text with limit 0": ("OV918", "truncate", [Atom("argument", low=0, high=0)]),
    "refuses text if the limit is past the end": ("OV918", "truncate", [Atom("past", low=1)]),
}


@pytest.mark.parametrize("words", WORDS)
def test_atoms_in_words(words):
    symptom, question, atoms = WORDS[words]
    assert about(symptom, atoms, QUESTIONS[question], anywhere=False) == words


def test_each_other_answer_has_a_name_of_its_own_for_its_question():
    named = [(question, name) for name, questions, _ in OTHERS for question in questions]
    assert len(named) == len(set(named))
    assert {question for question, _ in named} <= set(QUESTIONS)
