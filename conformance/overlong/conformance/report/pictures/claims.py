"""A picture of decoders and claims: a row for each decoder, a column for each claim and category."""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import CLAIMS
from overlong.conformance.report.pictures.svg import image, words
from overlong.conformance.results.run import FAILS, HOLDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.results.model import Report, Subject

_WIDTH, _HEIGHT, _LEFT, _TOP, _BETWEEN = 30, 22, 190, 150, 26
_MOST = 200  # decoders, and columns
_SEVERAL = 0.1  # share of failing vectors of a category from which on the cell is darker
_OPEN = "\N{EN DASH}"
_KINDS = {
    "holds": ("✓", "good"),
    "fails": ("✗", "bad"),
    "some": ("✗", "bad"),
    "most": ("✘", "bad"),
    "open": (_OPEN, "quiet"),
}
"""The kinds of cells: a glyph, and the class of its ink."""


def claims_picture(report: Report) -> str:
    """The decoders of a report by claims, and by categories of vectors if recorded; empty without these."""
    subjects = [each for each in report.subjects if each.claims or each.categories][:_MOST]
    claims = _in_order((each.claims for each in subjects), list(CLAIMS))
    categories = _in_order((each.categories for each in subjects), ())
    if not subjects or not claims + categories:
        return ""
    aside = _LEFT + len(claims) * _WIDTH + (_BETWEEN if claims and categories else 0)
    width = aside + len(categories) * _WIDTH + 110
    height = _TOP + len(subjects) * _HEIGHT + 34
    failing = sum(FAILS in each.claims.values() for each in subjects)
    label = f"{len(subjects)} decoders by {len(claims)} claims and {len(categories)} categories of vectors; "
    label += f"{failing} of them fail a claim"
    body = [
        *(words(_LEFT + at * _WIDTH + 20, _TOP - 8, claim, turned=True) for at, claim in enumerate(claims)),
        *(words(aside + at * _WIDTH + 20, _TOP - 8, each, "quiet", turned=True) for at, each in enumerate(categories)),
    ]
    cells: dict[str, list[str]] = {}
    for row, subject in enumerate(subjects):
        y = _TOP + row * _HEIGHT
        body.append(
            words(_LEFT - 8, y + 16, subject.id if len(subject.id) <= 26 else f"{subject.id[:25]}…", anchor="end")
        )
        kinds = [(_LEFT + at * _WIDTH, _of_claim(subject, claim)) for at, claim in enumerate(claims)]
        kinds += [(aside + at * _WIDTH, _of_category(subject, each)) for at, each in enumerate(categories)]
        for x, kind in kinds:
            cells.setdefault(kind, []).append(f"M{x:g} {y}h{_WIDTH}v{_HEIGHT}h-{_WIDTH}z")
        body += _glyphs(kinds, y + 16)
    grounds = [f'<path class="cell {kind}" d="{"".join(parts)}"/>' for kind, parts in sorted(cells.items())]
    legend = f"✓ holds   ✗ fails   {_OPEN} not measured" if claims else ""
    if categories:
        legend += (
            "   ·   " if claims else ""
        ) + "of a category: ✓ nothing went wrong   ✗ something   ✘ a tenth or more"
    body.append(words(8, height - 10, legend, "quiet"))
    return image("claims", label, (max(width, 640), height), grounds + body)


def _in_order(some: Iterable[Iterable[str]], first: Sequence[str]) -> list[str]:
    """All names in these, some first; not more than can be drawn."""
    keys = dict.fromkeys(key for each in some for key in each)
    return [*(key for key in first if key in keys), *(key for key in keys if key not in first)][:_MOST]


def _of_claim(subject: Subject, claim: str) -> str:
    return {HOLDS: "holds", FAILS: "fails"}.get(subject.claims.get(claim, ""), "open")


def _of_category(subject: Subject, category: str) -> str:
    asked, failing = subject.categories.get(category, (0, 0))
    if not asked:
        return "open"
    return "holds" if not failing else "most" if failing / asked >= _SEVERAL else "some"


def _glyphs(kinds: Sequence[tuple[float, str]], y: float) -> Iterator[str]:
    """The glyphs of a row: a text for each ink, whose characters have places of their own."""
    inks: dict[str, list[tuple[float, str]]] = {}
    for x, kind in kinds:
        glyph, ink = _KINDS[kind]
        inks.setdefault(ink, []).append((x + _WIDTH / 2, glyph))
    for ink, some in sorted(inks.items()):
        places = " ".join(f"{x:g}" for x, _ in some)
        glyphs = "".join(glyph for _, glyph in some)
        yield f'<text class="{ink}" text-anchor="middle" y="{y:g}" x="{places}">{glyphs}</text>'
