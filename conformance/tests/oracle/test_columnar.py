"""The columnar oracle gives concatenated strings the same results as the readable one gives each string."""

from array import array
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlong.conformance.oracle import columnar
from overlong.conformance.oracle.columnar import ColumnarOracle, ColumnReader, Habits, Read
from overlong.conformance.oracle.target import ExpectedAnswers
from overlong.conformance.protocol.wire import (
    ACCEPTED,
    INCOMPLETE_NOT_SAID,
    NOT_SAID,
    REFUSED,
    UNITS,
    Answers,
    read_numbers,
)
from overlong.reference import IllFormed, decode_scalars, dialect
from overlong.reference.core import core, why_not

DIALECTS = ("rfc3629", "rfc2279", "wtf-8")
CORE = pytest.mark.skipif(bool(why_not()), reason=why_not() or "there is a core")
WAYS = [pytest.param(False, id="numpy"), pytest.param(True, id="core", marks=CORE)]
EDGES = bytes.fromhex("007f80818f909fa0bfc0c1c2dfe0e1edeff0f1f4f5f7f8fcfdfeff")


@cache
def oracle(spoken, units, way):
    expected = ExpectedAnswers(dialect(spoken).automaton, "D", units, offsets=True, strips_signature=False)
    return ColumnarOracle(
        expected, dialect(spoken).layout, UNITS[units].size, reader=ColumnReader(expected.automaton, by_core=way)
    )


def agree(strings, spoken, units, way):
    """Ask both, and compare all columns."""
    found = oracle(spoken, units, way).expected(array("I", map(len, strings)), b"".join(strings))
    columns = found.statuses, found.numbers, found.lengths, found.incompletes
    output, at = UNITS[units], 0
    for string, (status, number, length, incomplete) in zip(strings, np.stack(columns, 1).tolist(), strict=True):
        try:
            written = output.write(decode_scalars(string, spoken=dialect(spoken)))
        except IllFormed as right:
            place = right.offset, right.length, right.incomplete
            assert (status, number, length, incomplete) == (REFUSED[0], *place), string
        else:
            size = number * output.size
            assert (status, length, incomplete, found.units[at : at + size]) == (ACCEPTED[0], 0, 0, written), string
            at += size
    assert at == len(found.units)
    silent = Answers(len(strings), replace(found, habits=Habits(offset=False, length=False, incomplete=False)).wire)
    refused, said = ~found.accepted, np.array(read_numbers(silent.numbers), np.uint32)
    assert (said[refused] == NOT_SAID).all()
    assert silent.incompletes == bytes(INCOMPLETE_NOT_SAID * each for each in refused.tolist())


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("spoken", DIALECTS)
def test_of_every_edge_of_every_range_in_up_to_four_octets(spoken, way):
    for length in range(5):
        edges = EDGES if length < 3 else EDGES[:: 2 * length - 4]
        agree([bytes(each) for each in product(edges, repeat=length)], spoken, "utf-16", way)


@pytest.mark.parametrize("way", WAYS)
@settings(deadline=None, max_examples=60)
@given(
    strings=st.lists(st.binary(max_size=40) | st.text(max_size=20).map(lambda text: text.encode("utf-8", "ignore"))),
    spoken=st.sampled_from(DIALECTS),
    units=st.sampled_from(("utf-8", "utf-16", "utf-32")),
)
def test_of_any_strings(strings, spoken, units, way):
    agree(strings, spoken, units, way)


@pytest.mark.parametrize("there", [False, pytest.param(True, marks=CORE)])
def test_the_core_reads_what_is_worth_building_it(monkeypatch, there):
    asked = list[str]()

    def told(word, answer):
        asked.append(word)
        return answer

    monkeypatch.setattr(columnar, "why_not", lambda: told("why not", "" if there else "no compiler"))
    monkeypatch.setattr(columnar, "core", lambda: told("core", core()))
    reader, lengths = ColumnReader(dialect().automaton), np.full(1 << 16, 8, np.uint32)
    octets = b"\xc3\xa9" * (1 << 18)
    for _ in range(columnar.WORTH // len(octets) - 1):
        assert reader.read(octets, lengths).accepted.all()
    assert not asked
    reader.read(octets, lengths)
    reader.read(octets, lengths)
    assert asked == ["why not", *["core"] * 2 * there]


@pytest.mark.parametrize("way", WAYS)
def test_long_strings_are_read_like_short_ones(way):
    strings = [b"a" * 5000 + b"\xff", b"b", b"\xe2\x82\xac" * 2000, b"c\xff", b"", b"d" * 4999 + b"\xf0\x9f"]
    lengths = np.array([len(each) for each in strings], np.uint32)
    found = ColumnReader(dialect().automaton, by_core=way).read(b"".join(strings), lengths)
    assert isinstance(found, Read)
    assert found.last.tolist() == [5000, 1, 6000, 1, 0, 4999]
    assert found.live.tolist() == [5000, 1, 6000, 1, 0, 5001]


def test_where_only_the_verdict_is_asked_no_output_is_made():
    expected = ExpectedAnswers(dialect().automaton, "V", "utf-32", offsets=True, strips_signature=False)
    found = ColumnarOracle(expected, dialect().layout, 4).expected(array("I", [1, 2]), b"a\xc3\x28")
    assert (found.statuses.tobytes(), found.units) == (ACCEPTED + REFUSED, b"")
