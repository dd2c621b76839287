"""What holds for every test: none fails because the machine is slow. Which are long, and profiles of Hypothesis.

``pytest --hypothesis-profile=thorough`` looks at five times as many examples, where a test does not say how many.
"""

from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("thorough", settings.get_profile("any machine"), max_examples=500)
settings.load_profile("any machine")


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
