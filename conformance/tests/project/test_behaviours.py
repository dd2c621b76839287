"""The page of behaviours: every row names tests that exist, and every example is what the product computes."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from overlong.reference import DIALECTS, ERROR_MODES, Decoded, MaximalSubpart, dialect, outcome, segments

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "behaviours.md").read_text(encoding="utf-8")
FILES = [*ROOT.glob("reference/tests/test_*.py"), *ROOT.glob("conformance/tests/*/test_*.py")]


def tables() -> dict[tuple[str, ...], list[list[str]]]:
    """The page's rows, by the heads of their tables; ``|`` stands in no cell."""
    result: dict[tuple[str, ...], list[list[str]]] = {}
    for block in re.findall(r"(?:^\|.*\n)+", PAGE, re.MULTILINE):
        head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines())
        assert all(len(row) == len(head) for row in rows), head
        result.setdefault(tuple(head), []).extend(rows)
    return result


ROWS = tables()["behaviour", "source", "what overlong does", "test"]
EXAMPLES = tables()["octets", "dialect", "read as", "source"]


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
    named = re.findall(r"`([^`]+)`", tests)
    assert named
    assert ", ".join(f"`{name}`" for name in named) == tests
    assert set(named) <= KNOWN


def test_no_behaviour_stands_twice() -> None:
    assert len({row[0] for row in ROWS}) == len(ROWS)
    assert len({(row[0], row[1]) for row in EXAMPLES}) == len(EXAMPLES)


def test_every_dialect_and_every_error_mode_is_named() -> None:
    named = {word for row in ROWS for word in re.findall(r"`([^`]+)`", row[2])} | {row[1] for row in EXAMPLES}
    assert set(ERROR_MODES) <= named
    assert set(DIALECTS) - named <= {"lax", "lax-rfc2279"}  # which no document describes


@pytest.mark.parametrize("row", EXAMPLES, ids=[" ".join(row[:2]) for row in EXAMPLES])
def test_every_example_is_read_as_the_page_says(row: list[str]) -> None:
    octets, spoken = bytes.fromhex(row[0]), dialect(row[1])
    found = outcome(octets, "fatal", spoken)
    if isinstance(found, Decoded):
        said = " ".join(f"U+{scalar:04X}" for scalar in found.scalars)
    else:
        flaw = next(each for each in segments(octets, spoken=spoken) if isinstance(each, MaximalSubpart))
        said = f"{flaw.defect.code} at {found.offset}"
    assert said == row[2]
