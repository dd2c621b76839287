"""The site: ``python -m sphinx -q -W -b html docs site``. Neither the build nor its pages use the network."""

from __future__ import annotations

import re
import sys
from functools import partial
from importlib import import_module
from importlib.metadata import version as version_of
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from sphinx.application import Sphinx

_OCTET = "[0-9A-F]{2}(?:-[0-9A-F]{2})?"
_OCTETS = re.compile(rf"(?<![\w+-]){_OCTET}(?: {_OCTET})*(?![\w-])")
"""Octets, and ranges of them, in hexadecimal."""
_WIDEST = 36  # characters: more are wider than a telephone
_IN_TABLES = re.compile(
    rf"{_OCTETS.pattern}|(?<!\d)(?<!\d )\d{{1,3}}(?: \d{{3}})+(?!\d)|(?<![\w-])(?:--?\w[\w-]*|[\w-]*\w-\w[\w-]*)"
)
"""The same, and numbers, options, names and dates that a narrow cell would break."""

project = "overlong"
author = "The overlong authors"
version = release = version_of("overlong")
html_title = f"overlong {release}"
html_theme = "furo"
html_copy_source = False
smartquotes = False  # --quick is no dash
html_show_copyright = False

extensions = ["myst_parser"]
exclude_patterns = ["printing", "pictures"]
html_static_path = ["printing/static"]
html_css_files = ["octets.css"]
myst_heading_anchors = 4  # anchors like those of the repository's web page, so that links work in both
nitpicky = True


def setup(app: Sphinx) -> None:
    """Octets in fences are text: Pygments does not know ``hex``. Some pages are made first."""
    app.add_lexer("hex", import_module("pygments.lexers.special").TextLexer)
    sys.path[:0] = [str(app.srcdir), str(app.srcdir.parent)]
    for name in ("printing.vectors", "printing.elsewhere", "corpora.survey.gallery"):
        write = import_module(name).write
        app.connect("builder-inited", partial(_made, write, name.rpartition(".")[2]))
    app.connect("source-read", _indexed)
    app.connect("doctree-read", _kept_together)
    app.connect("html-page-context", partial(_one_tree, {}), priority=400)  # before the theme asks for the tree


def _indexed(_: Sphinx, page: str, source: list[str]) -> None:
    """Take navigation and index from the pages, which already have that content."""
    if page == "index":
        source[0] += "".join(_contents(source[0]))
    elif page == "targets":  # the search drops "so:" as a word that says nothing, but not an entry of the index
        kinds = dict.fromkeys(re.findall(r"^\| .*?`(\w+:)", source[0], re.MULTILINE))
        entries = "".join(f"```{{index}} single: {kind}\n```\n" for kind in kinds)
        source[0] = source[0].replace("\n## ", f"\n{entries}\n## ", 1)
    elif page == "codes":  # a main entry of the index comes first in the search, with its place on the page
        source[0] = re.sub(r"^### (OV\d+) ", r"```{index} ! \1\n```\n\n\g<0>", source[0], flags=re.MULTILINE)


def _kept_together(_: Sphinx, tree: nodes.document) -> None:
    """Octets become one unit of a line; so do short words of code, and in tables words with hyphens."""
    for text in list(tree.findall(nodes.Text)):
        within, parts, end = text.parent, list[nodes.Node](), 0
        if isinstance(within, nodes.literal):
            short = len(text) <= _WIDEST and (" " not in text or _OCTETS.fullmatch(text))
            within["classes"] += ["octets"] if short else []
            continue
        cell = within.parent.parent if isinstance(within, nodes.strong) else within.parent
        pattern = _IN_TABLES if isinstance(cell, nodes.entry) else _OCTETS
        for found in pattern.finditer(text):
            if not 2 < len(found[0]) <= _WIDEST or isinstance(within, nodes.literal_block | nodes.raw | nodes.title):
                continue
            parts += [nodes.Text(text[end : found.start()]), nodes.inline("", found[0], classes=["octets"])]
            end = found.end()
        if parts:
            within.replace(text, [*parts, nodes.Text(text[end:])])


def _contents(text: str) -> Iterator[str]:
    """A table of contents for each part of the first page: the pages to which the part is the first to link."""
    listed: set[str] = set()
    for part in text.split("\n## ")[1:]:
        caption = part.partition("\n")[0]
        yield f"\n```{{toctree}}\n:caption: {caption}\n:hidden:\n\n"
        for words, linked in re.findall(r"\[([^\]]+)\]\(([\w/-]+)\.md\)", part):
            if linked.startswith("tutorials/") and linked not in listed:  # their titles are too long for a margin
                yield f"Tutorial: {' '.join(words.split())} <{linked}>\n"
            elif linked not in listed:
                yield f"{linked}\n"
            listed.add(linked)
        yield "```\n"


def _made(write: Callable[[Path], None], name: str, app: Sphinx) -> None:
    write(app.srcdir / name)


def _one_tree(kept: dict[str, str], app: Sphinx, name: str, _template: str, context: dict[str, Any], _: object) -> None:
    """Resolve the tree of all pages once for those of a folder that it does not name: they have the same links.

    Without it most of the time goes into resolving it for each of the survey's hundreds of pages.
    """
    if "orphan" in app.env.metadata.get(name, {}):
        resolve, folder = context["toctree"], name.rpartition("/")[0]

        def tree(**options: object) -> str:
            if folder not in kept:
                kept[folder] = resolve(**options)
            return kept[folder]

        context["toctree"] = tree
