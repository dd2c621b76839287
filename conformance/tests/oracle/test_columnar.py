"""The columnar oracle gives concatenated strings the same results as the readable one gives each string."""

import sys
from array import array
from functools import cache
from itertools import product
from types import SimpleNamespace

import pytest

np = pytest.importorskip("numpy", reason="columns need NumPy; pip install '.[native]'")

from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from overlong.conformance.oracle import columnar  # noqa: E402
from overlong.conformance.oracle.columnar import ColumnarOracle, ColumnReader, compiled  # noqa: E402
from overlong.conformance.oracle.expectation import ExpectedAnswers  # noqa: E402
from overlong.conformance.protocol.wire import ACCEPTED, INCOMPLETE_NOT_SAID, NOT_SAID, REFUSED, UNITS  # noqa: E402
from overlong.reference import IllFormed, decode_scalars, dialect  # noqa: E402

DIALECTS = ("rfc3629", "rfc2279", "wtf-8")
NUMBA = pytest.mark.skipif(compiled() is None, reason="needs Numba")
WAYS = [pytest.param(False, id="numpy"), pytest.param(True, id="numba", marks=NUMBA)]
EDGES = bytes.fromhex("007f80818f909fa0bfc0c1c2dfe0e1edeff0f1f4f5f7f8fcfdfeff")


@cache
def oracle(spoken, units, way):
    expected = ExpectedAnswers(dialect(spoken).automaton, "D", units, offsets=True, strips_signature=False)
    return ColumnarOracle(expected, dialect(spoken).layout, reader=ColumnReader(expected.automaton, compiled=way))


def agree(strings, spoken, units, way):
    """Ask both, and compare all columns."""
    found = oracle(spoken, units, way).expected(array("I", map(len, strings)), b"".join(strings))
    columns = (found.verdicts.statuses, found.verdicts.numbers, found.verdicts.lengths, found.verdicts.incompletes)
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
    silent = found.verdicts.said_by(type(found.habits)(offset=False, length=False, incomplete=False))
    refused = ~found.verdicts.accepted
    assert (silent.numbers[refused] == NOT_SAID).all()
    assert (silent.incompletes[refused] == INCOMPLETE_NOT_SAID).all()


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


@pytest.mark.parametrize(("passing", "loads"), [(0.0, True), (10.0, False)])
def test_what_takes_long_to_start_is_started_only_if_reading_is_what_is_waited_for(monkeypatch, passing, loads):
    """By the clock: with a slow target, NumPy reads the strings meanwhile, and LLVM is not loaded."""
    asked, seconds = list[int](), iter(range(1 << 20))
    monkeypatch.setattr(columnar, "time", SimpleNamespace(monotonic=lambda: passing * next(seconds)))
    monkeypatch.setattr(columnar, "compiled", cache(lambda: asked.append(1)))
    reader, strings = ColumnReader(dialect().automaton), array("B", b"\xc3\xa9" * (1 << 18))
    for _ in range(100):
        lengths = np.full(1 << 16, 8, np.uint32)
        read = reader.read(strings.tobytes(), lengths)
        assert read.accepted.all()
        assert bool(asked) <= loads
        if asked:
            break
    assert bool(asked) == loads


def read_alike(reader, other, strings, **where):
    lengths = np.array(list(map(len, strings)), np.uint32)
    found, right = (each(b"".join(strings), lengths, **where) for each in (reader, other.read))
    for column in ("accepted", "last", "live", "state"):
        assert (getattr(found, column) == getattr(right, column)).all(), column


@pytest.mark.parametrize("spoken", DIALECTS)
def test_the_loop_that_is_compiled_is_python_too(spoken):
    """In every state, with pending octets, it reads the same as the columns."""
    plain = ColumnReader(dialect(spoken).automaton, compiled=False)

    def by_loop(octets, lengths, state=0, pending=0):
        result = np.empty(len(lengths), np.uint32), np.empty(len(lengths), np.uint32), np.empty(len(lengths), np.uint8)
        ends = np.cumsum(lengths, dtype=np.int64)
        rules = plain._table, plain._accepting, plain._dead
        columnar._read(np.frombuffer(octets, np.uint8), ends, *rules, state, pending, *result)
        last, live, states = result
        return columnar.Read(plain._accepting[states], last, live, states)

    strings = [bytes(each) for length in range(1, 4) for each in product(EDGES[::4], repeat=length)]
    for state in range(len(plain.automaton)):
        read_alike(by_loop, plain, strings, state=state, pending=min(state, 1))


@pytest.mark.parametrize("way", WAYS)
def test_of_a_few_long_strings_each_is_read_by_itself(way):
    reader, plain = (ColumnReader(dialect().automaton, compiled=each) for each in (way, False))
    long = "\u00e9".encode() * 2000
    strings = [long, b"a", long + b"\xc3", b"\xff" + long, long[:-2] + b"\xed\xa0\x80", b"a" * 3000]
    read_alike(reader.read, plain, strings)
    for string in strings:
        whole = reader.read(string, np.array([len(string)], np.uint32))
        assert reader.read_one(string) == (whole.last[0], whole.live[0], whole.state[0])


def test_without_numba_there_is_no_loop(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    assert compiled.__wrapped__() is None


def test_where_only_the_verdict_is_asked_no_output_is_made():
    expected = ExpectedAnswers(dialect().automaton, "V", "utf-32", offsets=True, strips_signature=False)
    found = ColumnarOracle(expected, dialect().layout).expected(array("I", [1, 2]), b"a\xc3\x28")
    assert (found.verdicts.statuses.tobytes(), found.units) == (ACCEPTED + REFUSED, b"")
