"""What the examiner cannot explain is made less: crashes, time-outs, streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.examination.asking import OutOfBudget
from overlong.conformance.examination.examine import examine
from overlong.conformance.examination.least import order, shrunk, spliced
from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused, TimedOut
from overlong.conformance.vectors.vector import Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.observation import Observation


class Asked:
    """Asks a function; with a budget of requests."""

    def __init__(self, answer: Callable[[Vector], Observation], operation: str = "V", budget: int = 1 << 30) -> None:
        self.answer, self.operation, self.budget = answer, operation, budget

    def __call__(self, vectors: Sequence[Vector]) -> list[Finding | None]:
        self.budget -= 1
        if self.budget < 0:
            raise OutOfBudget
        return [compare(vector, self.operation, self.answer(vector)) for vector in vectors]

    def first(self, vector: Vector) -> Finding:
        found = compare(vector, self.operation, self.answer(vector))
        assert found is not None
        return found


def right(vector: Vector) -> Observation:
    return Refused() if vector.flaw else Accepted()


def dies_if(shows: Callable[[bytes], bool]) -> Callable[[Vector], Observation]:
    """A validator that crashes there."""
    return lambda vector: Crashed("died of SIGSEGV") if shows(vector.octets) else right(vector)


def first(octets: bytes) -> Vector:
    return Vector("fuzz", octets)


CRASHES: dict[str, tuple[Callable[[bytes], bool], bytes]] = {
    "an octet from 4 on": (lambda octets: b"\xf8" in octets[4:], bytes(4) + b"\xf8"),
    "a character": (lambda octets: b"\xe2\x82\xac" in octets, b"\xe2\x82\xac"),
    "two characters": (lambda octets: octets.count(b"\xc3\xa9") > 1, b"\xc3\xa9\xc3\xa9"),
    "100 octets": (lambda octets: len(octets) >= 100, bytes(100)),
    "16 octets": (lambda octets: b"\xff" in octets and len(octets) >= 16, bytes(15) + b"\xff"),
}
LONG = b"text\xe2\x82\xac and \xf8 and \xf8\xc3\xa9\xc3\xa9 \xff" + b"xyz" * 30


@pytest.mark.parametrize("name", CRASHES)
def test_what_ends_the_process_comes_to_its_cause(name):
    shows, least = CRASHES[name]
    asked = Asked(dies_if(shows))
    found = asked.first(first(LONG))
    small, minimal = shrunk(found, asked)
    assert (small, minimal) == shrunk(found, asked)
    assert (small.vector.octets, small.code, minimal) == (least, "OV602", True)


@pytest.mark.parametrize(
    "octets", [b"\x3b\xfe\xff\x0a\x3e", b"ab\xc3\xa9" * 20 + b"\xfe\xff", b"\xfe\xff" + b"\xf4" * 40]
)
@pytest.mark.parametrize("said", [TimedOut(5.0), Crashed("died of SIGSEGV")])
def test_what_costs_a_process_each_time_shows_few_times(octets, said):
    shown = 0

    def answer(vector: Vector) -> Observation:
        nonlocal shown
        shown += b"\xfe\xff" in vector.octets
        return said if b"\xfe\xff" in vector.octets else right(vector)

    asked = Asked(answer)
    small, minimal = shrunk(asked.first(first(octets)), asked)
    assert (small.vector.octets, minimal) == (b"\xfe\xff", True)
    assert shown <= 6


def test_a_budget_that_is_used_up_ends_it_where_it_is():
    asked = Asked(dies_if(lambda octets: octets.count(b"\xc3\xa9") > 40), budget=80)
    found = asked.first(first(b"abcdefg\xc3\xa9" * 100))
    small, minimal = shrunk(found, asked)
    assert not minimal
    assert order(small.vector) < order(found.vector)
    assert asked.first(small.vector).code == found.code


@pytest.mark.parametrize(
    ("octets", "chunks"),
    [(b"abc\xe2\x82\xacdef", (4, 5)), (b"\xed\x9f\xbf\xee\x80\x80", (1, 2, 3)), (b"\xef\xbf\xbd" * 9, (1,) * 27)],
)
def test_streams_are_cut_as_little_as_can_be(octets, chunks):
    """A decoder that dies of a chunk which begins with a tail octet."""

    def answer(vector: Vector) -> Observation:
        starts = [sum(vector.pieces[:number]) for number in range(1, len(vector.pieces))]
        within = any(0x80 <= octet < 0xC0 for at in starts for octet in vector.octets[at : at + 1])
        return Crashed("died of SIGSEGV") if within else Accepted(vector.replaced.scalars)

    asked = Asked(answer, "T")
    small, _ = shrunk(asked.first(Vector("fuzz", octets, chunks=chunks)), asked)
    assert (small.vector.octets, small.vector.chunks) == (b"\x80", (0, 1))


@pytest.mark.parametrize(
    "vector",
    [Vector("fuzz", b"a" * 2000, chunks=(2,) * 1000), Vector("fuzz", b"ab", chunks=(1, 1), earlier=(bytes(1 << 20),))],
)
def test_what_stays_long_is_not_made_less_octet_by_octet(vector):
    """That would take minutes of copying, and ask little; so it is not called the least."""
    asked = Asked(lambda each: Crashed("died of SIGSEGV") if each.chunks == vector.chunks else right(each), "N")
    small, minimal = shrunk(asked.first(vector), asked)
    assert (small.vector.chunks, minimal) == (vector.chunks, False)


@pytest.mark.parametrize("earlier", [(b"abc\xe2\x82",), (b"\xf0\x90", b"\x80"), (b"", b"caf\xc3")])
def test_what_came_earlier_is_made_less_too(earlier):
    def answer(vector: Vector) -> Observation:
        left = Vector("", b"".join(vector.earlier or ()))
        return Refused() if left.flaw and left.flaw.incomplete else Accepted(vector.strict.scalars)  # type: ignore[union-attr]

    asked = Asked(answer, "N")
    small, _ = shrunk(asked.first(Vector("fuzz", b"text", chunks=(2, 2), earlier=earlier)), asked)
    assert (small.vector.octets, small.vector.earlier, small.code) == (b"", (b"\xc2",), "OV502")


DIES = """
import os
def decode(octets):
    if b"\\xf8" in octets or octets.endswith(b"\\xe2\\x82"):
        os.abort()
    return octets.decode()
"""


def test_an_examination_gives_the_least_example_of_what_it_cannot_explain(tmp_path):
    (tmp_path / "dies.py").write_text(DIES)
    for octets, least in ((b"some text\xf8 and \xe2\x82\xac", b"\xf8"), (b"cut short: \xe2\x82", b"\xe2\x82")):
        found = examine(f"py:{tmp_path}/dies.py:decode", octets)
        assert (found.code, found.example, found.condition) == ("OV602", least, None)


@given(
    octets=st.binary(max_size=12),
    cuts=st.lists(st.integers(0, 12), max_size=4),
    span=st.tuples(st.integers(0, 12), st.integers(0, 12)),
    by=st.binary(max_size=4),
)
def test_what_is_spliced_keeps_its_chunks_whole(octets, cuts, span, by):
    ends = sorted(min(each, len(octets)) for each in cuts)
    chunks = tuple(end - start for start, end in zip([0, *ends], [*ends, len(octets)], strict=True))
    start, end = sorted(min(each, len(octets)) for each in span)
    result = spliced(Vector("fuzz", octets, chunks=chunks), start, end, by)
    assert result.octets == octets[:start] + by + octets[end:]
    assert sum(result.pieces) == len(result.octets)
    assert min(result.pieces, default=0) >= 0
