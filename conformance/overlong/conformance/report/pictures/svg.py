"""The few elements that all pictures are made of."""

from __future__ import annotations

import hashlib
from html import escape
from typing import TYPE_CHECKING

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

LABEL = 40
"""Characters of a name in a picture; the rest is cut."""


def image(kind: str, label: str, size: tuple[float, float], body: Iterable[str]) -> str:
    """A whole picture.

    Args:
        kind: its class, beside ``picture``.
        label: what it is called where it cannot be seen.
        size: width and height.
        body: its elements. ``{id}`` in one is replaced by what no other picture has.
    """
    inner, label = "".join(body), safe(label, 1000)
    name = "p" + hashlib.sha256(f"{kind} {label} {inner}".encode()).hexdigest()[:10]
    width, height = (f"{each:g}" for each in size)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture {kind}" role="img" aria-label="{label}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">{inner.replace("{id}", name)}</svg>'
    )


def safe(text: str, limit: int = LABEL) -> str:
    """Hostile text on one line, as XML has it."""
    return escape(printable(text, limit)).replace("{", "&#123;")


def words(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", turned: bool = False) -> str:
    """Text; ``turned``: reading upwards, at an angle that keeps it apart from its neighbours."""
    place = f'transform="translate({x:g} {y:g}) rotate(-55)"' if turned else f'x="{x:g}" y="{y:g}"'
    named = f' class="{kind}"' if kind else ""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f"<text {place}{named}{at}>{safe(text, 200)}</text>"
