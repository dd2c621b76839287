"""What ``docs/conf.py`` makes of pages: CI builds the whole site, these hold parts of it."""

import importlib.util
import re
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

DOCS = Path(__file__).parents[3] / "docs"
nodes = pytest.importorskip("docutils.nodes")


@pytest.fixture(scope="module")
def conf():
    spec = importlib.util.spec_from_file_location("conf_of_the_site", DOCS / "conf.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name):
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "together"),
    [
        ("as ED A1 8C, not F0 A3.", ["ED A1 8C", "F0 A3"]),
        ("C0 80-BF", ["C0 80-BF"]),
        ("U+00E9 is not", []),
        ("C0 AFter", []),
        ("ED before A0-BF", ["A0-BF"]),
        ("F1 alone", []),
        (" ".join(["A0"] * 12), [" ".join(["A0"] * 12)]),
        (" ".join(["A0"] * 13), []),
    ],
)
@pytest.mark.parametrize("within", ["paragraph", "literal"])
def test_octets_stay_on_a_line(conf, text, together, within):
    tree = nodes.paragraph("", "", nodes.literal("", text) if within == "literal" else nodes.Text(text))
    conf._kept_together(None, tree)
    kept = [each.astext() for each in tree.findall(nodes.Element) if "octets" in each.get("classes", ())]
    assert kept == ([each for each in together if each == text] if within == "literal" else together)
    assert tree.astext() == text
    assert ".octets" in (DOCS / conf.html_static_path[0] / conf.html_css_files[0]).read_text("ascii")


@pytest.mark.parametrize(
    ("text", "together"),
    [
        ("2026-11-24 and complete-0-refusing", ["2026-11-24", "complete-0-refusing"]),
        ("the input ED A0-BF", ["ED A0-BF"]),
        ("certify --quick: 1 342 of 8 - 9", ["--quick", "1 342"]),
    ],
)
@pytest.mark.parametrize("strong", [False, True])
def test_a_narrow_cell_breaks_no_word(conf, text, together, strong):
    tree = nodes.entry("", nodes.paragraph("", "", nodes.strong("", text)) if strong else nodes.paragraph("", text))
    conf._kept_together(None, tree)
    assert [each.astext() for each in tree.findall(nodes.inline)] == together


@pytest.mark.parametrize(("text", "kept"), [("--quick", True), ("overlong certify", False), ("a" * 37, False)])
def test_short_code_is_not_broken(conf, text, kept):
    tree = nodes.paragraph("", "", nodes.literal("", text))
    conf._kept_together(None, tree)
    assert [each["classes"] for each in tree.findall(nodes.literal)] == [["octets"] if kept else []]


def test_the_search_has_an_entry_for_each_code(conf):
    source = [page("codes.md")]
    conf._indexed(None, "codes", source)
    codes = re.findall(r"^### (OV\d+) ", page("codes.md"), re.MULTILINE)
    assert len(codes) > 40
    assert re.findall(r"^```\{index\} ! (OV\d+)\n```\n\n### OV\d+ ", source[0], re.MULTILINE) == codes


def test_the_margin_says_which_pages_are_tutorials(conf):
    entries = re.findall(r"^(.*?)<?(tutorials/\w+)>?$", "".join(conf._contents(page("index.md"))), re.MULTILINE)
    assert {name for _, name in entries} == {f"tutorials/{file.stem}" for file in (DOCS / "tutorials").glob("*.md")}
    assert all(label.startswith("Tutorial: ") for label, _ in entries)
