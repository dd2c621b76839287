"""Checks docs/divergences.tsv: each row is asked again of its real decoder, in one process for each decoder."""

import re
from pathlib import Path
from typing import NamedTuple

import pytest

from overlong.conformance.oracle.compare import compare_batch, expected_of, marks_in
from overlong.conformance.oracle.finding import expected_in_words, observed_in_words
from overlong.conformance.protocol.observation import Accepted
from overlong.conformance.protocol.wire import read_numbers
from overlong.conformance.targets.builtins import BUILTINS
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.batch import Batch
from overlong.conformance.vectors.expected import SCALARS, UTF16
from overlong.conformance.vectors.vector import Vector

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "divergences.md").read_text(encoding="utf-8")
LETTERS = {"validate": "V", "decode": "D", "replace": "L", "stream": "S", "replace-stream": "T"}
ENCODERS = {"encode": ("E", 8, SCALARS), "encode-16": ("F", 4, UTF16), "size": ("Z", 8, SCALARS)}


class Row(NamedTuple):
    """A line of the file, without its section."""

    decoder: str
    version: str
    asked: str
    answer: str
    right: str
    code: str


def _rows():
    with (DOCS / "divergences.tsv").open(encoding="utf-8") as file:
        return [Row(*line.rstrip("\n").split("\t")[1:]) for line in file][1:]


ROWS = tuple(_rows())
DECODERS = tuple(dict.fromkeys(row.decoder for row in ROWS))
QUICK = {"libxml2-getutf8char", "libxml2-checkutf8"}
"""Functions of a system library: nothing is fetched or compiled first."""


def vector_of(asked):
    """The operation and the vector in a cell."""
    word, *numbers = asked.split()
    if word in ENCODERS:
        letter, digits, category = ENCODERS[word]
        return letter, Vector(category, bytes.fromhex("".join(number.zfill(digits) for number in numbers)))
    chunks = [bytes.fromhex(chunk) for chunk in " ".join(numbers).split("/")]
    cut = tuple(map(len, chunks)) if "stream" in word else None
    return LETTERS[word], Vector("divergence", b"".join(chunks), chunks=cut)


def answers(name, questions):
    """For each question: its answer, the right one, and the code of the fault; and the version."""
    target = resolve(name)
    target.open()
    try:
        greeting = target.greeting
        asked = []
        for question in questions:
            letter, plain = vector_of(question)
            vector = Vector(plain.category, plain.octets, chunks=plain.chunks, profile=plain.profile.as_said(greeting))
            asked.append((Batch.of([vector]), letter))
        parts = list(target.observe(asked))
        return greeting.version, [_in_words(part, greeting) for part in parts]
    finally:
        target.close()


def _in_words(part, greeting):
    letter, vector = part.operation, part.batch[0]
    units = greeting.units_of(letter)
    (observed,) = part.answers.observations(units, verdict_only=letter == "V")
    said = observed_in_words(part.faults.get(0, observed), letter)
    if vector.chunks is not None:
        marked = greeting.marks_refusals
        (marks,) = marks_in(part.answers.statuses, part.answers.marks, [len(vector.chunks)], marked=marked)
        numbers = ", ".join(map(str, read_numbers(marks)))
        said += f"; out after each chunk: {numbers}" if isinstance(observed, Accepted) else f"; in chunk {numbers}"
    findings = list(compare_batch(part, greeting))
    plain = Vector(vector.category, vector.octets, chunks=vector.chunks)  # without its declared error mode
    right = findings[0].expected_words if findings else expected_in_words(expected_of(plain, letter), letter)
    return said, right, findings[0].code if findings else ""


def test_the_page_names_decoders_that_ship_with_an_adapter():
    assert len(DECODERS) > 30
    assert set(DECODERS) > QUICK
    assert not set(DECODERS) - set(BUILTINS)
    conform = PAGE.partition("## Those that conform")[2]
    named = set(re.findall(r"`([a-z0-9-]+)`", conform))
    assert named | set(DECODERS) == set(BUILTINS)
    assert not named & set(DECODERS)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.long) for name in DECODERS]
)
def test_it_answers_as_the_page_says(name):
    if why := BUILTINS[name].missing():
        pytest.skip(f"{name}: {why}")
    rows = [row for row in ROWS if row.decoder == name]
    version, found = answers(name, [row.asked for row in rows])
    here = [
        row._replace(answer=answer, right=right, code=code)
        for row, (answer, right, code) in zip(rows, found, strict=True)
    ]
    if here != rows and version != rows[0].version:
        pytest.skip(f"{name}: the page is about {rows[0].version}, and {version} answers otherwise")
    assert here == rows


def test_a_refusal_after_what_a_handler_took_says_where_it_is():
    """CPython moves the error that it made for the surrogate and raises it again: ``args`` have the first place."""
    _, found = answers("cpython-surrogatepass", ["decode ED A0 80 FF", "decode 61 ED A0 80 E2 82"])
    assert [answer for answer, _, _ in found] == ["refused at 3, 1 octet", "refused at 4, 2 octets, incomplete"]
