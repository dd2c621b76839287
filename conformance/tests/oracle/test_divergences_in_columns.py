"""Divergences in columns equal those found in each single answer, with the same digest."""

import struct

import pytest

from overlong.conformance.oracle.compare import compare_batch
from overlong.conformance.oracle.divergences import divergences
from overlong.conformance.oracle.finding import Bucket
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    ANNOUNCE,
    DECODE,
    ENCODE,
    FAILED,
    REFUSED,
    REPLACE,
    UNITS,
    UNSUPPORTED,
    VALIDATE,
    Answers,
    big_endian,
)
from overlong.conformance.vectors.suites import SUITES


def greeting(units):
    return Greeting("wrong", "1", "", "PVDLEZ", UNITS[units], "replacement")


def refused(batch, _right, _size, *, said=True):
    count = len(batch)
    numbers = [place % 3 for place in range(count)] if said else [0xFFFFFFFF] * count
    return Answers.of(REFUSED * count, big_endian("I", numbers), bytes([said]) * count, bytes(count), b"")


def silent(batch, right, size):
    return refused(batch, right, size, said=False)


def turned(_batch, right, size):
    """The last unit of each output is changed."""
    output = b"".join(each[:-size] + each[-size:-1] + bytes([each[-1] ^ 1]) for each in right.outputs(size) if each)
    return Answers.of(right.statuses, right.numbers, right.lengths, right.incompletes, output)


def empty(batch, _right, _size):
    count = len(batch)
    return Answers.of(ACCEPTED * count, bytes(4 * count), bytes(count), bytes(count), b"")


def mixed(batch, right, size):
    """Every other answer is right; the rest are refusals, faults and operations not supported."""
    statuses = bytes(
        (right.statuses[place], *(REFUSED + FAILED + UNSUPPORTED))[place % 4] for place in range(len(batch))
    )
    numbers = [len(each) // size if place % 4 == 0 else 0 for place, each in enumerate(right.outputs(size))]
    output = b"".join(each for place, each in enumerate(right.outputs(size)) if place % 4 == 0)
    return Answers.of(statuses, big_endian("I", numbers), right.lengths, right.incompletes, output)


def alike(batch, _right, size):
    """The same output for all."""
    count = len(batch)
    unit = (0x41).to_bytes(size, "big")
    return Answers.of(ACCEPTED * count, big_endian("I", [1] * count), bytes(count), bytes(count), unit * count)


def cut_short(batch, right, size):
    """Each output lacks its last unit, or its last two."""
    written = [each[: -size * (1 + place % 2)] for place, each in enumerate(right.outputs(size))]
    numbers = big_endian("I", [len(each) // size for each in written])
    return Answers.of(right.statuses, numbers, right.lengths, right.incompletes, b"".join(written))


def in_halves(batch, _right, _size):
    """Supplementary characters are written as in CESU-8, and every fifth in another way; others are right."""
    written = []
    for place, (number,) in enumerate(struct.iter_unpack(">I", batch.octets)):
        units = chr(number).encode("utf-16-be")
        halves = [units[at : at + 2].decode("utf-16-be", "surrogatepass") for at in range(0, len(units), 2)]
        written.append("".join(halves).encode("utf-8", "surrogatepass")[: 4 if place % 5 == 4 else None])
    numbers = big_endian("I", list(map(len, written)))
    return Answers.of(ACCEPTED * len(batch), numbers, bytes(len(batch)), bytes(len(batch)), b"".join(written))


@pytest.mark.long_after(5)
@pytest.mark.parametrize("wrong", [refused, silent, turned, empty, mixed])
@pytest.mark.parametrize("units", ["utf-32", "utf-16", "utf-8"])
@pytest.mark.parametrize(
    ("suite", "operation"),
    [
        *((suite, operation) for suite in ("scalars-between", "runs") for operation in (VALIDATE, DECODE, REPLACE)),
        *(("encoder-scalars", operation) for operation in (ENCODE, ANNOUNCE)),
    ],
)
def test_they_are_those_that_each_answer_shows(suite, operation, units, wrong):
    seen_alike(suite, operation, units, wrong)


@pytest.mark.parametrize("wrong", [alike, turned, cut_short])
@pytest.mark.parametrize("units", ["utf-32", "utf-16", "utf-8"])
def test_wrong_outputs_are_those_that_each_answer_shows(units, wrong):
    seen_alike("scalars-between", DECODE, units, wrong)


@pytest.mark.parametrize("wrong", [alike, mixed])
@pytest.mark.parametrize("operation", [ENCODE, ANNOUNCE])
def test_what_encoders_answer_wrongly_is_what_each_answer_shows(operation, wrong):
    seen_alike("encoder-scalars", operation, "utf-16", wrong)


def test_an_encoders_halves_are_told_from_other_wrong_octets():
    codes = {code for code, _ in seen_alike("encoder-scalars", ENCODE, "utf-8", in_halves)}
    assert codes == {Code.SURROGATE_ENCODED, Code.WRONG_OCTETS}


def seen_alike(suite, operation, units, wrong):
    """The buckets of divergences in columns, which equal those of the single answers."""
    says = greeting(units)
    size = says.units_of(operation).size
    of_singles: dict[tuple[str, str], Bucket] = {}
    of_columns: dict[tuple[str, str], Bucket] = {}
    for number, whole in enumerate(SUITES[suite].batches()):
        if number % 40 not in (0, 1, 3):
            continue
        batch = whole.part(1, min(len(whole), 40))
        answers = wrong(batch, batch.expected(operation, says.units_of(operation)), size)
        answered = Answered(batch, operation, answers)
        found, singly = divergences(answered, says), list(compare_batch(answered, says))
        assert found is not None
        assert [found.finding(index) for index in range(len(found))] == singly
        assert list(found.observed[1:3]) == [each.observed for each in singly[1:3]]
        assert found.digested() == "".join(each.line for each in singly).encode()
        firsts = {each.bucket: each for each in reversed(singly)}
        assert {each.bucket: each for each in found.first(lambda _: 1)} == firsts
        found.count_in(of_columns)
        for each in singly:
            of_singles.setdefault(each.bucket, Bucket(each)).add(each)
    assert of_columns == of_singles
    return of_columns


def test_what_is_not_known_in_columns_is_looked_at_singly():
    batch = next(SUITES["core"].batches())
    says = greeting("utf-32")
    answered = Answered(batch, VALIDATE, refused(batch, None, 4))
    assert divergences(answered, says) is None


@pytest.mark.parametrize("name", ["scalars", "scalars-between", "runs", "encoder-scalars"])
def test_what_is_compared_in_columns_is_well_formed_and_of_one_length(name):
    operation = ENCODE if name == "encoder-scalars" else DECODE
    batches = list(SUITES[name].batches())
    assert all(batch.is_closed for batch in batches)
    for batch in batches[:: max(1, len(batches) // 5)]:
        assert len(set(batch.lengths)) == 1
        assert set(batch.expected(operation, greeting("utf-8").units_of(operation)).statuses) == set(ACCEPTED)
