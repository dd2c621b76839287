"""Minimised inputs: exactly the least, for any start of the search; and never another fault's."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from overlong.conformance.oracle.compare import compare
from overlong.conformance.protocol.observation import Accepted, Crashed, Refused, TimedOut
from overlong.conformance.vectors.vector import Vector, cut
from overlong.fuzz.minimise.alike import cut_alike
from overlong.fuzz.minimise.bucket import UNSTABLE, key_of
from overlong.fuzz.minimise.minimise import minimise, order
from overlong.fuzz.minimise.place import FaultPlace, spliced
from overlong.fuzz.minimise.stability import stable
from overlong.fuzz.minimise.stored import AGAIN
from overlong.reference import Decoded, WellFormed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.oracle.finding import Finding
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

    def cause_of(self, finding: Finding) -> Finding:
        return finding

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


def wrong_if(shows: Callable[[Vector], bool]) -> Callable[[Vector], Observation]:
    """A validator that is wrong there."""

    def answer(vector: Vector) -> Observation:
        return right(vector) if not shows(vector) else Accepted() if vector.flaw else Refused()

    return answer


def first(octets: bytes) -> Vector:
    return Vector("fuzz", octets)


def refuses(shows: Callable[[int, int, int], bool]) -> Callable[[Vector], Observation]:
    """A validator that refuses characters with a given offset, length and number."""
    return wrong_if(
        lambda vector: (
            vector.flaw is None
            and any(isinstance(each, WellFormed) and shows(each.offset, each.length, each.scalar)
                    for each in vector.segments)
        )
    )  # fmt: skip


def without(octets: bytes) -> Callable[[Vector], Observation]:
    """A validator that skips a string."""
    return lambda vector: right(first(vector.octets.replace(octets, b"a")))


PLANTED: dict[str, tuple[Callable[[Vector], Observation], bytes]] = {
    "C0 80 accepted": (without(b"\xc0\x80"), b"\xc0\x80"),
    "ED A0 80 accepted": (without(b"\xed\xa0\x80"), b"\xed\xa0\x80"),
    "three across 32": (refuses(lambda at, k, _: k == 3 and at // 32 != (at + 2) // 32), bytes(30) + b"\xe0\xa0\x80"),
    "any across 16": (refuses(lambda at, k, _: at // 16 != (at + k - 1) // 16), bytes(15) + b"\xc2\x80"),
    "longer from 32": (refuses(lambda at, k, _: k > 1 and at >= 32), bytes(32) + b"\xc2\x80"),
    "no three": (refuses(lambda _at, k, _: k == 3), b"\xe0\xa0\x80"),
    "U+FFFE": (refuses(lambda _at, _k, c: c == 0xFFFE), b"\xef\xbf\xbe"),
    "cut short": (wrong_if(lambda v: bool(v.flaw and v.flaw.incomplete)), b"\xc2"),
    "cut short at 16": (
        wrong_if(lambda v: bool(v.flaw and v.flaw.incomplete) and len(v.octets) % 16 == 0),
        bytes(15) + b"\xc2",
    ),
    "length in 6 bits": (  # it can only refuse well-formed text, another fault with its own least input
        lambda v: right(first(v.octets[: len(v.octets) % 64]) if v.flaw else v),
        bytes(63) + b"\x80",
    ),
    "ends at NUL": (lambda v: right(first(v.octets.partition(b"\0")[0])), b"\0\x80"),
    "100 octets": (wrong_if(lambda v: v.flaw is None and len(v.octets) >= 100), bytes(100)),
    "F4 90 at 15": (
        wrong_if(lambda v: v.flaw is not None and v.flaw.offset == 15 and v.octets[15:17] == b"\xf4\x90"),
        bytes(15) + b"\xf4\x90",
    ),
    "nothing": (lambda _: Refused(), b""),
}

FILLERS = (b"a", b"a" * 15, b"z" * 30, b"\0", b"q" * 64)
WELL = (b"\xc2\x80", b"\xdf\xbf", b"\xe2\x82\xac", b"\xed\x9f\xbf", b"\xef\xbf\xbe", b"\xf3\xbf\xbf\xbf")
ILL = (b"\xc0\x80", b"\xff", b"\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe1\x80", b"\xf1", b"\xf5\x80\x80\x80")


def any_input(chance: random.Random) -> bytes:
    octets = b"".join(chance.choice(FILLERS + WELL) for _ in range(chance.choice((0, 1, 2, 6))))
    if chance.random() < 0.5:
        octets += chance.choice(ILL)
    if chance.random() < 0.3:
        octets += b"".join(chance.choice(FILLERS + WELL + ILL) for _ in range(3))
    return octets[: len(octets) & -16] if chance.random() < 0.3 else octets


def showing(probe: Fake, number: int) -> Finding | None:
    """A finding of the probe's target, one for each number."""
    chance = random.Random(number)
    octets = (any_input(chance) for _ in range(300))
    return next((found for each in octets if (found := probe.ask_one(first(each), "V")) is not None), None)


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", PLANTED)
@settings(max_examples=3, deadline=None)
@given(number=st.integers(0, 1 << 32))
def test_every_input_that_shows_a_fault_comes_to_the_same_least_one(name, number):
    answer, least = PLANTED[name]
    probe = Fake(answer)
    found = showing(probe, number)
    if name in ("F4 90 at 15", "C0 80 accepted") and found is None:
        found = probe.ask_one(first(b"a" * 15 + b"\xf4\x90\xc0\x80" if name[0] == "F" else b"x\xc0\x80"), "V")
    assume(found is not None)
    assert found is not None
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    assert small.minimal
    assert small.finding.vector.octets == least
    expected = probe.ask_one(first(least), "V")
    assert expected is not None
    assert key_of(small.finding, "t") == key_of(expected, "t")


@pytest.mark.parametrize("name", PLANTED)
def test_no_octet_can_be_left_out_or_made_less(name):
    answer, least = PLANTED[name]
    probe = Fake(answer)
    found = probe.ask_one(first(least), "V")
    assert found is not None
    left_out = [least[:at] + least[at + 1 :] for at in range(len(least))]
    less = [least[:at] + bytes([lesser]) + least[at + 1 :] for at, octet in enumerate(least) for lesser in range(octet)]
    for octets in (*left_out, *less):
        other = probe.ask_one(first(octets), "V")
        assert other is None or other.code != found.code, octets.hex()


FAULTY = {
    b"\xc0\x80": "OV201", b"\xe0\x80\x80": "OV201", b"\xed\xa0\x80": "OV202", b"\xf4\x90\x80\x80": "OV203",
    b"\xe0\xa0\x80": "OV101", b"\xe2\x82\xac": "OV101", b"\xef\xbf\xbe": "OV101", b"\xf1\x80\x80\x80": "OV101",
}  # fmt: skip


def faulty(vector: Vector) -> Observation:
    """A validator with many faults near each other."""
    octets = vector.octets
    for each, code in FAULTY.items():
        if code == "OV101" and each in octets and vector.flaw is None:
            return Refused()
        if code != "OV101":
            octets = octets.replace(each, b"a")
    return right(first(octets))


@pytest.mark.long
@given(
    fault=st.sampled_from(sorted(FAULTY)),
    before=st.text("az\xe9", max_size=20),
    after=st.text("az\xe9\u4e00", max_size=20),
)
@settings(max_examples=24, deadline=None)
def test_one_fault_is_never_taken_for_another(fault, before, after):
    probe = Fake(faulty)
    found = probe.ask_one(first(before.encode() + fault + after.encode()), "V")
    assert found is not None
    assert found.code == FAULTY[fault]
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    assert (small.finding.vector.octets, small.finding.code) == (fault, FAULTY[fault])


def test_time_that_is_up_ends_it_where_it_is():
    probe = Fake(PLANTED["any across 16"][0])
    found = probe.ask_one(first(b"abcdefg\xc3\xa9" * 100), "V")
    assert found is not None
    began = probe.now
    small = minimise(found, probe.probe, seconds=6, clock=probe.clock)
    assert not small.minimal
    assert probe.now - began <= 7
    assert order(small.finding.vector) < order(found.vector)
    again = probe.ask_one(small.finding.vector, "V")
    assert again is not None
    assert again.code == found.code


def test_it_is_the_same_each_time():
    probe = Fake(PLANTED["three across 32"][0])
    found = probe.ask_one(first(b"\xc3\xa9" * 15 + b"a\xe2\x82\xac" + b"z" * 50), "V")
    assert found is not None
    runs = [minimise(found, Fake(probe.answer).probe, seconds=1e6, clock=probe.clock) for _ in range(2)]
    assert runs[0] == runs[1]


@pytest.mark.parametrize("octets", [b"", b"abc", b"\xc0\x80", b"\xe1\x80", b"\xf4\x90\x80\x80"])
def test_an_answer_that_changes_is_one_bucket_whatever_the_input(octets):
    calls = 0

    def answer(vector: Vector) -> Observation:
        nonlocal calls
        calls += 1
        sound = right(vector)
        return sound if calls % 3 else Accepted() if isinstance(sound, Refused) else Refused()

    probe = Fake(answer)
    found = next(found for found in (probe.ask_one(first(octets), "V") for _ in range(3)) if found is not None)
    small = minimise(found, probe.probe)
    assert not small.minimal
    assert small.finding.code == UNSTABLE
    assert key_of(small.finding, "t") == ("t", "", UNSTABLE, "", "", "")
    assert 0 < stable(found, probe.probe) < AGAIN


def test_a_stable_finding_shows_in_every_fresh_process():
    probe = Fake(without(b"\xc0\x80"))
    found = probe.ask_one(first(b"\xc0\x80"), "V")
    assert found is not None
    assert stable(found, probe.probe) == AGAIN
    assert stable(found, Fake(right).probe) == 0

    def over():
        raise TimeoutError

    probe = Fake(without(b"\xc0\x80"))
    with pytest.raises(TimeoutError):
        stable(found, probe.probe, over)


def test_what_ends_the_process_comes_to_its_cause():
    probe = Fake(lambda vector: Crashed("died of SIGSEGV") if b"\xf8" in vector.octets[4:] else right(vector))
    found = probe.ask_one(first(b"text\xe2\x82\xac and \xf8 and \xf8"), "V")
    assert found is not None
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    assert (small.finding.vector.octets, small.finding.code, small.minimal) == (bytes(4) + b"\xf8", "OV602", True)


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
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    assert (small.finding.vector.octets, small.minimal) == (b"\xfe\xff", True)
    assert shown <= 8


def stream(vector: Vector) -> Observation:
    """The answer of a strict decoder that forgets a character of three octets if it is cut after its first."""
    octets, read = b"", 0
    for piece in cut(vector.octets, vector.pieces):
        if octets and read and len(octets) == read and 0xE0 <= octets[-1] < 0xF0 and piece:
            octets = octets[:-1]
        octets += piece
        read = len(octets)
    outcome = replace(vector, octets=octets, chunks=None).strict
    return Accepted(outcome.scalars) if isinstance(outcome, Decoded) else Refused()


@pytest.mark.parametrize(
    ("octets", "chunks"),
    [(b"abc\xe2\x82\xacdef", (4, 5)), (b"\xed\x9f\xbf\xee\x80\x80", (1, 2, 3)), (b"\xef\xbf\xbd" * 9, (1,) * 27)],
)
def test_streams_are_cut_as_little_as_can_be(octets, chunks):
    probe = Fake(stream, "S")
    found = probe.ask_one(Vector("fuzz", octets, chunks=chunks), "S")
    assert found is not None
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    vector = small.finding.vector
    assert (vector.octets, vector.chunks, small.finding.code) == (b"\xe0\xa0\x80", (1, 2), "OV501")
    assert key_of(small.finding, "t").placement == "cut after 1 of 3 octets"


def test_a_character_that_is_cut_before_the_flaw_may_be_the_cause():
    place = FaultPlace(3, 1, "", "80-8F", certain=True)
    tried = cut_alike(Vector("fuzz", b"a\xc3\xa9\x80", chunks=(2, 2)), place)
    assert {(vector.octets, vector.chunks) for vector in tried} == {(b"\xc2\x80", (1, 1)), (b"\xc2\x80", (1, 0, 1))}


@pytest.mark.parametrize("earlier", [(b"abc\xe2\x82",), (b"\xf0\x90", b"\x80"), (b"", b"caf\xc3")])
def test_what_came_earlier_is_made_less_too(earlier):
    def answer(vector: Vector) -> Observation:
        left = Vector("", b"".join(vector.earlier or ()))
        return Refused() if left.flaw and left.flaw.incomplete else Accepted(vector.strict.scalars)  # type: ignore[union-attr]

    probe = Fake(answer, "N")
    found = probe.ask_one(Vector("fuzz", b"text", chunks=(2, 2), earlier=earlier), "N")
    assert found is not None
    small = minimise(found, probe.probe, seconds=1e6, clock=probe.clock)
    vector = small.finding.vector
    assert (vector.octets, vector.earlier, small.finding.code) == (b"", (b"\xc2",), "OV502")


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
