"""Modules and files that documents and docstrings name are there."""

import builtins
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
ROOTS = ("reference", "conformance", "fuzz", "docs", "benchmarks", "corpora")
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("corpora/**/*.md")]
MODULES = [
    path for folder in ROOTS for path in (ROOT / folder).rglob("*.py")
    if not {"tests", "__pycache__"}.intersection(path.relative_to(ROOT).parts)
]  # fmt: skip
TREE = [f"/{path.relative_to(ROOT).as_posix()}" for folder in ROOTS for path in (ROOT / folder).rglob("*")]
TREE += [f"/{path.name}" for path in ROOT.glob("*.py")]
DOTTED = re.compile(r"\boverlong(?:\.(?:reference|conformance|fuzz))(?:\.[A-Za-z_]\w*)*")
PLACE = re.compile(rf"(?<![\w/.-])(?:{'|'.join(ROOTS)})/[\w./-]*\w")
LISTED = re.compile(r"^ {8}(\w+(?:, \w+)*): ", re.MULTILINE)
IN_A_DOCSTRING = re.compile(r"``([a-z_]+(?:/[a-z_]+)*\.py)``")
OF_A_USER = {"fuzz/corpus", "fuzz/seeds", "corpora/regressions/D-7f3a0c19.json"}
"""Files of examples: they are in the reader's folder."""


def imported(name):
    """What a dotted name stands for."""
    words = name.split(".")
    for end in range(len(words), 1, -1):
        try:
            found = import_module(".".join(words[:end]))
        except ModuleNotFoundError:
            continue
        for word in words[end:]:
            found = getattr(found, word)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_names_is_there(page):
    text = page.read_text("utf-8")
    for name in set(DOTTED.findall(text)):
        imported(name)
    gone = {name for name in PLACE.findall(text) if not (ROOT / name).exists()}
    assert gone <= OF_A_USER


def test_files_that_docstrings_name_are_there():
    gone = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in MODULES
        for name in IN_A_DOCSTRING.findall(path.read_text("utf-8"))
        if not any(each.endswith(f"/{name}") for each in TREE)
    }
    assert not gone


@pytest.mark.parametrize("face", ["overlong.conformance", "overlong.reference"])
def test_what_a_public_function_raises_can_be_imported_beside_it(face):
    module = import_module(face)
    raised = set()
    for name in module.__all__:
        _, _, text = (getattr(module, name).__doc__ or "").partition("Raises:")
        raised |= {each for names in LISTED.findall(text) for each in names.split(", ")}
    assert raised
    assert {each for each in raised if not hasattr(builtins, each) and each not in module.__all__} == set()
