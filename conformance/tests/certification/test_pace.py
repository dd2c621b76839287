"""The time that a target itself takes, whatever the harness does meanwhile."""

import pytest

from overlong.conformance.certification import tiers as module
from overlong.conformance.certification.tiers import MOST, Pace, next_after

KNOWN = 0.006


@pytest.mark.parametrize(
    ("children", "own", "run", "seconds"),
    [
        pytest.param(2.0, 1.0, 3.0, 2.0, id="its processes worked"),
        pytest.param(0.1, 2.9, 3.0, 0.1, id="it is quick, and the harness is not"),
        pytest.param(0.1, 9.0, 9.1, 0.1, id="others had the processors"),
        pytest.param(0.1, 1.0, 9.0, 8.0, id="another process did its work"),
        pytest.param(None, 1.0, 9.0, 9.0, id="the system does not say"),
        pytest.param(0.5, 9.5, 9.0, 0.5, id="several threads worked"),
    ],
)
def test_only_what_the_target_took_counts(monkeypatch, children, own, run, seconds):
    before, after = (0.0, 1.0, 4.0), (0.0, 2.0, 3.0 + own)
    times = {
        "_of_children": [children and 1.0, children and 1.0 + children],
        "_of_this_thread": [before, after],
    }
    for name, values in times.items():
        monkeypatch.setattr(module, name, iter(values).__next__)
    monkeypatch.setattr(module, "_known", lambda: KNOWN)
    assert Pace().seconds(run) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("worked", "waited", "known", "alone"),
    [
        pytest.param(2.0, 0.0, KNOWN, 8.0, id="an idle machine"),
        pytest.param(1.0, 3.0, KNOWN, 2.0, id="four at a time"),
        pytest.param(1.0, 0.0, 2 * KNOWN, 4.0, id="half as fast"),
        pytest.param(0.0, 0.0, KNOWN, 8.0, id="the system does not say"),
    ],
)
def test_a_crowd_does_not_make_a_target_slow(monkeypatch, worked, waited, known, alone):
    monkeypatch.setattr(module, "_of_this_thread", iter([(1.0, 2.0, 0.0), (1.0 + worked, 2.0 + waited, 0.0)]).__next__)
    monkeypatch.setattr(module, "_known", lambda: known)
    assert Pace().alone(8.0) == pytest.approx(alone)


def test_what_is_quick_in_a_crowd_is_quick_alone(monkeypatch):
    monkeypatch.setattr(module, "_of_this_thread", iter([(1.0, 2.0, 0.0), (2.0, 5.0, 0.0)]).__next__)
    monkeypatch.setattr(module, "_known", lambda: KNOWN)
    crowd = Pace()
    assert not crowd.exceeds(8.0, 8.0), "nothing is measured"
    assert not crowd.exceeds(8.0, 3.0), "2.0 alone"


@pytest.mark.parametrize(
    ("seconds", "following", "asked"),
    [
        pytest.param([0.02], 0.32, True, id="one size: the square is feared"),
        pytest.param([0.65], 10.4, False, id="a loop in a loop, in Python"),
        pytest.param([0.0, 0.01], 2.56, True, id="too quick to measure"),
        pytest.param([0.02, 0.08], 1.28, True, id="linear"),
        pytest.param([0.02, 0.02], 0.32, True, id="as if it shrank"),
        pytest.param([0.02, 0.32], 81.92, False, id="quadratic"),
    ],
)
def test_longer_texts_are_for_functions_whose_time_allows_them(seconds, following, asked):
    assert next_after(seconds) == pytest.approx(following)
    assert (next_after(seconds) <= MOST) is asked
