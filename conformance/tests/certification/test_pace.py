"""The time that a target itself takes, whatever the harness does meanwhile."""

import pytest

from overlong.conformance.certification import pace as module
from overlong.conformance.certification.pace import Pace

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
    times = {"_of_children": [children and 1.0, children and 1.0 + children], "_at_work": [5.0, 5.0 + own]}
    for name, values in times.items():
        monkeypatch.setattr(module, name, iter(values).__next__)
    monkeypatch.setattr(module, "_known", lambda: KNOWN)
    assert Pace().seconds(run) == pytest.approx(seconds)
