"""What holds for every test: none fails because the machine is slow. Which are long, and profiles of Hypothesis.

Hypothesis draws the same examples in each run. ``pytest --hypothesis-profile=thorough`` looks at three times as many,
where a test does not say how many, and ``--hypothesis-profile=random`` at as many that are new.
"""

import gc
import os
import re
import sys
from collections import Counter
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("any machine"), max_examples=300)
settings.register_profile("random", settings.get_profile("thorough"), derandomize=False)
settings.load_profile("any machine")

# Tests start hundreds of processes. Without bytecode on disk each compiles all that it imports, which takes seconds.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

SOME_LONG = re.compile(r"\bmark\.long")
LONGEST = (
    *("test_functions.py", "test_vendored.py", "test_identify.py", "test_documents.py", "test_packages.py"),
    *("test_strategies.py", "test_sweep_sanitized.py", "test_guest.py", "test_tutorials.py", "test_certify_sweeps.py"),
)
"""Files that take the longest: they begin first, so that none is left alone at the end."""
ALL_LONG = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.long\b", re.MULTILINE)

GARBAGE = 50_000
"""Objects made since the last collection before the next. Suites have millions, and little of it is garbage."""


@pytest.fixture(scope="session", autouse=True)
def _state_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Generator[None]:
    """Agreements that tests give are not kept for the user who runs them, nor do the user's change a test."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture
def unexamined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sort divergences by code and place alone: an examination takes seconds, and other tests guard what it finds."""
    for module in ("certification.causes", "sweep.describing"):
        monkeypatch.setattr(f"overlong.conformance.{module}.MOST", 0)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import a file of which all tests are left out: each worker would take a second or more for these."""
    selected = config.option.markexpr
    if selected not in ("long", "not long") or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    left_out = ALL_LONG.search(text) if selected == "not long" else not SOME_LONG.search(text)
    return True if left_out else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from the collected tests, and call it seldom: it took a seventh of the time of all."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(GARBAGE)
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of tests that are marked ``long_after(N)``, the cases behind the first N are long."""
    seen = Counter[str]()
    for item in items:
        if (mark := item.get_closest_marker("long_after")) is not None:
            name = item.nodeid.partition("[")[0]
            seen[name] += 1
            if seen[name] > mark.args[0]:
                item.add_marker(pytest.mark.long)
    items.sort(key=lambda item: item.path.name not in LONGEST)
