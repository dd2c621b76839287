"""Summaries of sweeps: what a known-wrong decoder's divergences are counted as."""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

import numpy as np
import pytest

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    CRASHED,
    OTHER_OFFSET,
    OTHER_OUTPUT,
    REFUSED_WELL_FORMED,
    ExpectedAnswers,
)
from overlong.conformance.results.sweeps import ShardResult
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.sweep.summary import summarise
from overlong.reference import DIALECTS, dialect, segments
from overlong.reference.automaton import shortlex
from overlong.reference.error_mode import MaximalSubpart

UTF8 = dialect().automaton
EXPECTED = ExpectedAnswers(UTF8, "V", "", offsets=True, strips_signature=False)


def results(plan, kinds, largest=1 << 24):
    """Shards' results from ``kinds(grid number)``: an array of the kinds of the grid's strings."""
    arrays = {number: kinds(number) for number in range(len(plan.grids))}
    for shard in plan.shards(largest):
        part = arrays[shard.grid][shard.first : shard.first + shard.count]
        packed = zlib.compress(part.tobytes(), 1) if part.any() else b""
        yield ShardResult(shard, shard.count, 0, 0, 0, 0, packed)


def states(automaton, length):
    """The state after each string of that many octets."""
    table = np.array(automaton.table, np.uint8)
    reached = np.zeros(1, np.uint8)
    for _ in range(length):
        reached = table[reached].reshape(-1)
    return reached


@lru_cache(maxsize=3)
def verdicts(automaton, length):
    return np.array(automaton.accepting)[states(automaton, length)]


def spoken_instead(automaton):
    """The kinds of a decoder of another dialect."""

    def kinds(number):
        wanted, said = verdicts(UTF8, number + 1), np.array(automaton.accepting)[states(automaton, number + 1)]
        return (wanted & ~said) * np.uint8(REFUSED_WELL_FORMED) + (~wanted & said) * np.uint8(ACCEPTED_ILL_FORMED)

    return kinds


def error_in(octets):
    """Where CPython finds the first error; None if there is none. The reference is slow on 64 KiB."""
    try:
        octets.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def first_defect(octets):
    """By the reference, which reads the first error octet by octet."""
    start = error_in(octets)
    wrong = (each.defect.code for each in segments(octets[start : start + 4]) if isinstance(each, MaximalSubpart))
    return next(wrong)


def sets(found):
    return {(each.kind, each.defect): (each.count, each.example) for each in found}


def read_past_blocks(octets, _earlier):
    """A decoder that ignores ill-formed octets behind offset 15, reports a late place, and loses a letter."""
    if error_in(octets) is None:
        return OTHER_OUTPUT if b"a" in octets[8:] else 0
    return ACCEPTED_ILL_FORMED if UTF8.accepts(octets[:15]) else OTHER_OFFSET if len(octets) % 3 == 0 else 0


def reads_pairs(octets, _earlier):
    """libxml2 takes octets that lead no three or four for a lead of two; and a late place in other errors."""
    if error_in(octets) is None:
        return 0
    pairs = re.fullmatch(rb"[\0-\x7F]?([\0-\x7F]|[\x80-\xDF][\x80-\xBF])?", octets, re.DOTALL)
    return ACCEPTED_ILL_FORMED if pairs else OTHER_OFFSET


def remembers(octets, earlier):
    return REFUSED_WELL_FORMED if earlier and error_in(earlier) is not None and error_in(octets) is None else 0


def refuses_long_text(octets, _earlier):
    return (
        CRASHED if len(octets) > 4000 else REFUSED_WELL_FORMED if len(octets) == 16 and error_in(octets) is None else 0
    )


@pytest.mark.parametrize(
    ("name", "kind_of"),
    [
        ("exhaustive-2", reads_pairs),
        ("after-0", read_past_blocks),
        ("depth-0", read_past_blocks),
        ("order", remembers),
        pytest.param("placed-1", read_past_blocks, marks=pytest.mark.long),
        pytest.param("lengths-0", refuses_long_text, marks=pytest.mark.long),
        pytest.param("lengths-0", read_past_blocks, marks=pytest.mark.long),
    ],
)
def test_sets_are_those_of_the_reference_string_by_string(name, kind_of):
    """In shards that end inside rows, and come in the wrong order; the reference tells the defects apart."""
    plan, arrays = plan_named(name), dict[int, np.ndarray]()
    wanted: dict[tuple[int, str], tuple[int, bytes]] = {}
    for number, grid in enumerate(plan.grids):
        arrays[number] = np.zeros(grid.size, np.uint8)
        for index in range(grid.size):
            octets = grid.string(index)
            kind = kind_of(octets, grid.asked_before(index))
            arrays[number][index] = kind
            if kind:
                of_errors = kind in (ACCEPTED_ILL_FORMED, OTHER_OFFSET)
                key = kind, first_defect(octets) if of_errors else ""
                count, least = wanted.get(key, (0, octets))
                wanted[key] = count + 1, min(least, octets, key=shortlex)
    assert wanted
    shards = list(results(plan, arrays.__getitem__, 9_999))
    for given in (shards, shards[::-1]):
        found = summarise(plan, EXPECTED, given)
        assert sets(found) == wanted
        for each in found:
            assert plan.grids[each.where.grid].string(each.where.index) == each.example
            assert plan.grids[each.where.grid].asked_before(each.where.index) == each.where.earlier
            assert arrays[each.where.grid][each.where.index] == each.kind


@pytest.mark.long_after(4)
@pytest.mark.parametrize("name", DIALECTS)
def test_every_dialect_is_named_and_its_sets_are_counted(name):
    plan = plan_named("exhaustive-3")
    kinds = list(map(spoken_instead(dialect(name).automaton), range(3)))
    found = summarise(plan, EXPECTED, results(plan, kinds.__getitem__))
    for kind in (REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED):
        wrong = sum(np.count_nonzero(each == kind) for each in kinds)
        assert sum(each.count for each in found if each.kind == kind) == wrong
    assert all(name in each.dialects for each in found)


def test_a_set_of_a_lax_decoder_is_one_to_a_defect():
    plan = plan_named("exhaustive-3")
    (found,) = summarise(plan, EXPECTED, results(plan, spoken_instead(dialect("lax-overlongs").automaton)))
    assert (found.kind, found.defect, found.count, found.example) == (ACCEPTED_ILL_FORMED, "OV201", 34944, b"\xc0\x80")
    assert found.strings == "strings whose first error is OV201 (overlong form), such as C0 80"
    assert found.dialects == ("lax-overlongs",)
    several = summarise(plan, EXPECTED, results(plan, spoken_instead(dialect("mutf-8").automaton)))
    assert sets(several) == {
        (REFUSED_WELL_FORMED, ""): (52865, b"\0"),
        (ACCEPTED_ILL_FORMED, "OV201"): (255, b"\xc0\x80"),
        (ACCEPTED_ILL_FORMED, "OV202"): (2048, b"\xed\xa0\x80"),
    }


def test_a_dialect_is_not_named_if_one_string_is_answered_otherwise():
    plan, spoken = plan_named("exhaustive-2"), spoken_instead(dialect("lax-overlongs").automaton)
    for index in (0x4142, 0xC080, 0xC1BF):
        arrays = [spoken(0), spoken(1)]
        arrays[1][index] = REFUSED_WELL_FORMED * (index == 0x4142)
        assert {each.dialects for each in summarise(plan, EXPECTED, results(plan, arrays.__getitem__))} == {()}


@pytest.mark.long
@pytest.mark.parametrize("name", ["exhaustive-3", "placed-4", "order"])
def test_a_target_that_answers_at_random_is_counted(name):
    plan, random = plan_named(name), np.random.default_rng(1)
    arrays = [random.choice([0, 0, OTHER_OUTPUT, CRASHED], grid.size).astype(np.uint8) for grid in plan.grids]
    found = summarise(plan, EXPECTED, results(plan, arrays.__getitem__))
    assert [each.kind for each in found] == [OTHER_OUTPUT, CRASHED]
    for each in found:
        assert each.count == sum(np.count_nonzero(array == each.kind) for array in arrays)
        assert plan.grids[each.where.grid].string(each.where.index) == each.example
        assert arrays[each.where.grid][each.where.index] == each.kind


def test_a_shard_with_too_few_kinds_is_an_error():
    plan = plan_named("exhaustive-1")
    (shard,) = plan.shards()
    with pytest.raises(ValueError, match=r"exhaustive-1/0/0\+256: 3 kinds for 256 strings; run this shard again"):
        summarise(plan, EXPECTED, [ShardResult(shard, 256, 0, 0, 0, 0, zlib.compress(b"\1\1\1"))])
