"""``pytest --overlong TARGET``: a test for each claim of a certificate; and vectors for a project's own tests.

pytest loads this module in every project that shares an environment with overlong. So it imports nothing else of
overlong until a test, an option or a setting asks for it: ``overlong.conformance.cli.pytest_plugin`` does the work.

It stands beside the package, not in it. pytest marks all modules of a plugin's distribution for the rewriting of
assertions, and takes a package without ``__init__.py``, as ``overlong`` is, for a folder of sources: it would mark
``reference``, ``fuzz`` and ``__main__``, and warn that the last is imported already. PYTEST_DONT_REWRITE: there are no
assertions here, and importing this module before pytest gives no warning either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from overlong.conformance.cli.pytest_plugin import Vectors

MARKER = "overlong_vectors"
ARGUMENT = "overlong_vector"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("overlong", "certify UTF-8 decoders")
    group.addoption(
        "--overlong",
        action="append",
        default=[],
        metavar="TARGET",
        dest="overlong_targets",
        help="Add a test for each claim of RFC 3629 on this decoder, as 'overlong certify' names it (repeatable).",
    )
    group.addoption(
        "--overlong-suite",
        action="append",
        default=[],
        metavar="NAME",
        dest="overlong_suites",
        help="Ask this suite in place of those that take about a second; 'all' for every one (repeatable).",
    )
    group.addoption(
        "--overlong-expected",
        metavar="FILE",
        dest="overlong_expected",
        help="What is expected to diverge; if left out, what overlong.toml or pyproject.toml says.",
    )
    parser.addini("overlong_targets", "Decoders that are certified with every run, one a line.", "linelist", default=[])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "overlong: a test that --overlong added")
    config.addinivalue_line(
        "markers",
        f"{MARKER}(*categories): give the argument {ARGUMENT} each vector of these categories; without any, of all",
    )


@pytest.hookimpl(tryfirst=True)  # -k and the like choose among these, too
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    targets = [*(config.getoption("overlong_targets") or ()), *config.getini("overlong_targets")]
    if targets:
        from overlong.conformance.cli.pytest_plugin import items_of

        added: list[pytest.Item | pytest.Collector] = [*items_of(session, list(dict.fromkeys(targets)))]
        items.extend(each for each in added if isinstance(each, pytest.Item))
        session.ihook.pytest_collectreport(
            report=pytest.CollectReport("overlong", "passed", None, added)
        )  # counts them


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if ARGUMENT in metafunc.fixturenames:
        from overlong.conformance.cli.pytest_plugin import unknown, wanted

        categories = [name for mark in metafunc.definition.iter_markers(MARKER) for name in mark.args]
        if wrong := unknown(categories):
            pytest.fail(wrong, pytrace=False)
        vectors = wanted(categories)
        metafunc.parametrize(ARGUMENT, vectors, ids=[vector.id for vector in vectors])


@pytest.fixture(scope="session")
def overlong_vectors() -> Vectors:
    """The vectors of the suite ``core``: octets, and what a right decoder makes of them."""
    from overlong.conformance.cli.pytest_plugin import wanted

    return wanted(())
