"""CONTRIBUTING.md: what its recipes name is there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES = dict(re.findall(r"^## (.*)\n\n((?:(?!^## ).*\n?)+)", PAGE, re.MULTILINE))
TREE = [path for root in ("reference", "conformance", "fuzz", "docs", "benchmarks", "corpora")
        for path in (ROOT / root).rglob("*") if "__pycache__" not in path.parts]  # fmt: skip


def named(recipe):
    """The files and folders that a recipe names, by their whole path or the end of it."""
    for name in re.findall(r"(?:`|python )([\w/.-]+(?:\.py|\.toml|/))`", recipe):
        found = [path for path in TREE if f"/{path.relative_to(ROOT).as_posix()}".endswith(f"/{name.rstrip('/')}")]
        assert found, name
        yield from found


EXAMPLES = {
    "A dialect": '"rfc3629": "UTF-8 as RFC 3629',
    "A vector": "@FAMILY.case",
    "A target": '\n[cpython.decoders]\ncpython = ["Strict"',
    "An error mode": '\n        ErrorMode("fatal"',
    "A question": '\n        Question(1, "count-scalars"',
    "A report format": '\n        Format("text"',
    "An engine for campaigns": '\n    "grammar": _grammar',
    "A language for regression tests": '\n        TestLanguage("pytest"',
    "A kind of divergence": "\n        Kind(Code.REFUSED",
}
"""What stands already where a recipe sends its reader: an entry of the kind that is to be added."""


@pytest.mark.parametrize("title", RECIPES)
def test_what_a_recipe_names_is_there(title):
    recipe = RECIPES[title]
    files = list(named(recipe))
    assert files
    texts = [path.read_text("utf-8") for each in files for path in (each.rglob("*.py") if each.is_dir() else [each])]
    assert any(EXAMPLES[title] in text for text in texts)
    names = set(re.findall(r"`(_?[A-Z][A-Z_]+[A-Z])`", recipe)) - {"NAME"}
    names |= set(re.findall(r"[Aa]n? `(_?[A-Z]\w+)`", recipe))
    for name in sorted(names):
        pattern = rf"^(?:    )?(?:class )?{name}(?:\b.*= |\(|:|\b.*\bimport\b)|import .*\b{name}\b"
        assert any(re.search(pattern, text, re.MULTILINE) for text in texts), name


def test_there_are_all_recipes():
    assert RECIPES.keys() == EXAMPLES.keys()


def test_what_explains_a_verdict_is_short():
    _, _, after = PAGE.partition("#### To understand a verdict, read these\n")
    names = [name for row in re.findall(r"^\| `.*?\|", after.partition("####")[0], re.MULTILINE)
             for name in re.findall(r"`(\S+)`", row)]  # fmt: skip
    files = [path for path in TREE for name in names if path.as_posix().endswith(f"/{name}")]
    assert len(names) == len(files) > 10
    lines_of_code = runpy.run_path(str(ROOT / "benchmarks" / "count_code.py"))["lines_of_code"]
    assert sum(lines_of_code(path.read_bytes()) for path in files) < 4500
