"""The columnar oracle says of strings in a row what the readable one says of each."""

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
    """Ask both, and compare all that the columns hold."""
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
    """By the clock: of a slow target the strings are read meanwhile, and LLVM is not loaded for that."""
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
