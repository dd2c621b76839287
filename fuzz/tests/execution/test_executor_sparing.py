"""Inputs left out because a target fails on similar ones."""

from functools import cache

import pytest

from overlong.conformance.oracle.target import CRASHED, TIMED_OUT
from overlong.fuzz.generated import ALL_DEATHS, ALL_HANGS, BLOCK, DEATHS, HANGS, Generated, Sparing

INPUTS = Generated(7)


@cache
def strings():
    return [INPUTS.string(number) for number in range(4 * BLOCK)]


def asked(fails, first, end, kind):
    """The numbers of inputs that a target fails on, and of those left out."""
    sparing = Sparing(INPUTS, first, end)
    failed: list[int] = []
    left_out: set[int] = set()
    for number in range(first, end):
        if number not in left_out and fails(strings()[number]):
            failed.append(number)
            more = sparing.failed(number, kind)
            assert not left_out.intersection(more)
            assert list(more) == sorted(set(more))
            assert all(number < each < end and each // BLOCK == number // BLOCK for each in more)
            left_out.update(more)
    return failed, left_out


@pytest.mark.long_after(1)
@pytest.mark.parametrize("pair", [b"\xed\xa0", b"\xc0\x80", b"\xf4\x90"])
@pytest.mark.parametrize(("kind", "enough"), [(CRASHED, DEATHS), (TIMED_OUT, HANGS)])
def test_a_pair_of_octets_is_found_out_and_little_else_is_left_out(pair, kind, enough):
    failed, left_out = asked(lambda octets: pair in octets, 0, 4 * BLOCK, kind)
    guilty = {number for number, octets in enumerate(strings()) if pair in octets}
    assert len(guilty) > 10 * enough
    assert set(failed) < guilty <= left_out | set(failed)
    assert len(failed) <= 4 * (enough + 1)
    assert len(left_out - guilty) < len(strings()) // 100


def test_a_campaign_may_be_cut_at_blocks():
    def fails(octets):
        return octets[:1] == b"\xf4" or len(octets) > 200

    whole = asked(fails, 0, 3 * BLOCK, CRASHED)
    parts = [asked(fails, start, start + BLOCK, CRASHED) for start in range(0, 3 * BLOCK, BLOCK)]
    assert whole == ([number for part in parts for number in part[0]], set().union(*(part[1] for part in parts)))


@pytest.mark.parametrize(("kind", "most"), [(CRASHED, ALL_DEATHS), (TIMED_OUT, ALL_HANGS)])
def test_a_target_that_fails_on_everything_is_left_alone(kind, most):
    failed, left_out = asked(lambda _: True, BLOCK + 100, 2 * BLOCK, kind)
    assert len(failed) <= most
    assert len(failed) + len(left_out) == BLOCK - 100
