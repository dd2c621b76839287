"""The rows of the page of behaviours name tests that exist; ``docs/generate.py`` computes its examples."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from overlong.reference import DIALECTS, ERROR_MODES

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
FILES = [*ROOT.glob("reference/tests/test_*.py"), *ROOT.glob("conformance/tests/*/test_*.py")]


def rows(name: str) -> list[list[str]]:
    """The cells of a file of tab-separated values, without its first line."""
    lines = (ROOT / "docs" / name).read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines][1:]


ROWS = [row[1:] for row in rows("behaviours.tsv")]
EXAMPLES = rows("behaviours-examples.tsv")


def names_in(file: Path) -> set[str]:
    tree = ast.parse(file.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


KNOWN = {f"{file.name}::{name}" for file in FILES for name in names_in(file)}


def test_names_of_files_of_tests_are_unique() -> None:
    assert len({file.name for file in FILES}) == len(FILES)


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_every_behaviour_has_a_source_and_a_test_that_exists(row: list[str]) -> None:
    behaviour, source, done, tests = row
    assert behaviour
    assert done
    assert re.match(r"(RFC (2279( ja)?|3629) §\d|article|bugs|practice of decoders|all)", source)
    assert set(tests.split(", ")) <= KNOWN


def test_no_behaviour_stands_twice() -> None:
    assert len({row[0] for row in ROWS}) == len(ROWS)
    assert len({(row[0], row[1]) for row in EXAMPLES}) == len(EXAMPLES)


def test_every_dialect_and_every_error_mode_is_named() -> None:
    named = {word for row in ROWS for word in re.findall(r"`([^`]+)`", row[2])} | {row[1] for row in EXAMPLES}
    assert set(ERROR_MODES) <= named
    assert set(DIALECTS) - named <= {"lax", "lax-rfc2279"}  # which no document describes
