"""What the examiner cannot explain is made less, and asked again in fresh processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlong.conformance.oracle.compare import compare
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused, TimedOut
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.minimise.place import place_of, spliced
from overlong.fuzz.minimise.shrinking import order, shrunk
from overlong.fuzz.minimise.stability import stable
from overlong.fuzz.minimise.stored import AGAIN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.protocol.observation import Observation
    from overlong.fuzz.execution.probe import Probe


class Fake:
    """A probe over a function, with a clock: each question takes a second."""

    def __init__(self, answer: Callable[[Vector], Observation], operations: str = "V") -> None:
        self.answer, self.operations = answer, operations
        self.now = 0.0
        self.asked = 0

    def ask(self, vectors: Sequence[Vector], operation: str) -> list[tuple[Observation, Finding | None]]:
        self.now += 1
        self.asked += len(vectors)
        said = [self.answer(vector) for vector in vectors]
        return [(each, compare(vector, operation, each)) for vector, each in zip(vectors, said, strict=True)]

    def ask_one(self, vector: Vector, operation: str) -> Finding | None:
        return self.ask([vector], operation)[0][1]

    def fresh(self) -> Fake:
        return Fake(self.answer, self.operations)

    def close(self) -> None:
        pass

    @property
    def probe(self) -> Probe:
        return cast("Probe", self)

    def clock(self) -> float:
        return self.now


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
    probe = Fake(dies_if(shows))
    found = probe.ask_one(first(LONG), "V")
    assert found is not None
    runs = [shrunk(found, Fake(probe.answer).probe, 1e6, probe.clock) for _ in range(2)]
    assert runs[0] == runs[1]
    small, minimal = runs[0]
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

    probe = Fake(answer)
    found = probe.ask_one(first(octets), "V")
    assert found is not None
    small, minimal = shrunk(found, probe.probe, 1e6, probe.clock)
    assert (small.vector.octets, minimal) == (b"\xfe\xff", True)
    assert shown <= 6


def test_time_that_is_up_ends_it_where_it_is():
    probe = Fake(dies_if(lambda octets: octets.count(b"\xc3\xa9") > 40))
    found = probe.ask_one(first(b"abcdefg\xc3\xa9" * 100), "V")
    assert found is not None
    began = probe.now
    small, minimal = shrunk(found, probe.probe, 20, probe.clock)
    assert not minimal
    assert probe.now - began <= 4 * 20 + 1
    assert order(small.vector) < order(found.vector)
    again = probe.ask_one(small.vector, "V")
    assert again is not None
    assert again.code == found.code


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

    probe = Fake(answer, "T")
    found = probe.ask_one(Vector("fuzz", octets, chunks=chunks), "T")
    assert found is not None
    small, _ = shrunk(found, probe.probe, 1e6, probe.clock)
    assert (small.vector.octets, small.vector.chunks) == (b"\x80", (0, 1))


@pytest.mark.parametrize("earlier", [(b"abc\xe2\x82",), (b"\xf0\x90", b"\x80"), (b"", b"caf\xc3")])
def test_what_came_earlier_is_made_less_too(earlier):
    def answer(vector: Vector) -> Observation:
        left = Vector("", b"".join(vector.earlier or ()))
        return Refused() if left.flaw and left.flaw.incomplete else Accepted(vector.strict.scalars)  # type: ignore[union-attr]

    probe = Fake(answer, "N")
    found = probe.ask_one(Vector("fuzz", b"text", chunks=(2, 2), earlier=earlier), "N")
    assert found is not None
    small, _ = shrunk(found, probe.probe, 1e6, probe.clock)
    assert (small.vector.octets, small.vector.earlier, small.code) == (b"", (b"\xc2",), "OV502")


def test_a_stable_finding_shows_in_every_fresh_process():
    crashes = dies_if(lambda octets: octets == b"\xc0\x80")
    probe = Fake(crashes)
    found = probe.ask_one(first(b"\xc0\x80"), "V")
    assert found is not None
    assert stable(found, probe.probe) == AGAIN
    assert stable(found, Fake(right).probe) == 0

    def over():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        stable(found, Fake(crashes).probe, over)


def test_an_answer_that_changes_shows_now_and_then():
    calls = 0

    def answer(vector: Vector) -> Observation:
        nonlocal calls
        calls += 1
        return right(vector) if calls % 3 else Accepted()

    found = Finding(first(b"\xff"), "V", "OV605", first(b"\xff").strict, Accepted())
    assert 0 < stable(found, Fake(answer).probe) < AGAIN


@pytest.mark.parametrize(
    ("octets", "place"),
    [
        (b"", "the end of the input"),
        (b"\0", "UTF8-1: %x00-7F at an octet of 00-7F"),
        (b"abc\xc0\x80", "an octet of C0-C1 F5-FF"),
        (b"abc\xe0\x80\x80", "UTF8-3: %xE0 %xA0-BF UTF8-tail at an octet of 80-8F"),
        (b"\xc2", "UTF8-2: %xC2-DF UTF8-tail at the end of the input"),
        (b"abc\xe0\xa0\x80\xc2\x80", "UTF8-3: %xE0 %xA0-BF UTF8-tail at an octet of E0"),
    ],
)
def test_a_place_is_that_of_the_flaw_or_of_the_first_character_that_is_not_ascii(octets, place):
    vector = first(octets)
    finding = compare(vector, "V", Accepted() if vector.flaw else Refused())
    assert finding is not None
    assert place_of(finding) == place


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
