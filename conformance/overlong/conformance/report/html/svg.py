"""SVG: the elements of pictures that are drawn here, and the check of pictures from a file before they enter a page.

The text of a file may be hostile, so nothing is copied. It is parsed as XML, and an element or an attribute is written
again only if it is known to do no more than draw; invalid XML gives no picture.

Pictures of results are SVG text with classes, made only from a report's data. ``pictures.css`` has the colours, which
are those of the page; hatching, glyphs or words repeat their meaning. Every picture is an image with a name
(``role="img"``, ``aria-label``). All text from reports goes through ``printable`` and XML's escaping.
"""

from __future__ import annotations

import hashlib
import html
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup, escape

from overlong.conformance.support.printable import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


LARGEST = 600_000
"""The most characters of a picture; a larger one is left out."""
ELEMENTS = frozenset(
    ("svg", "g", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "text", "tspan", "title", "desc",
     "defs", "marker", "pattern")
)  # fmt: skip
ATTRIBUTES = frozenset(
    ("class", "d", "x", "y", "x1", "x2", "y1", "y2", "dx", "dy", "cx", "cy", "r", "rx", "ry", "width", "height",
     "viewBox", "points", "transform", "fill", "fill-opacity", "fill-rule", "stroke", "stroke-width",
     "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "stroke-opacity", "opacity", "text-anchor",
     "dominant-baseline", "font-size", "font-family", "font-weight", "font-style", "paint-order", "shape-rendering",
     "marker-start", "marker-mid", "marker-end", "markerWidth", "markerHeight", "markerUnits", "refX", "refY",
     "orient", "preserveAspectRatio", "patternUnits", "patternTransform", "id", "role", "aria-label", "aria-hidden")
)  # fmt: skip
_DEEPEST = 24
_SVG = "{http://www.w3.org/2000/svg}"
_NAME = re.compile(r"[A-Za-z][\w.-]*", re.ASCII)
_PLAIN = re.compile(r"[\w\s.,#%()+-]*", re.ASCII)
_OWN = re.compile(r"url\(#([A-Za-z][\w.-]*)\)", re.ASCII)


Picture = tuple[Markup, Markup]
"""SVG that is safe in a page, and SVG that shows the same picture in another place of that page."""


def safe_picture(text: str, name: str, title: str = "") -> Picture | None:
    """The picture in ``text``, made safe for a page; None if ``text`` is no picture.

    Args:
        text: SVG, perhaps hostile.
        name: of this picture in the page; its ids begin with it, so that no two pictures share an id.
        title: its accessible name, if the SVG has none.
    """
    if len(text) > LARGEST or "<!" in text or "<?" in text:  # no DTD, so no entities
        return None
    try:
        root = ET.fromstring(text)  # noqa: S314 - no DTD reaches it
        if root.tag.removeprefix(_SVG) != "svg":
            return None
        own = root.attrib.pop("aria-label", "") or root.findtext(f"{_SVG}title", "") or root.findtext("title", "")
        label = printable(own.strip() or title)
        markup = Markup("".join(_element(root, name, label, 0)))  # noqa: S704 - of the lists, and escaped
    except (ET.ParseError, ValueError):
        return None
    known = {key: _value(key, root.get(key, ""), name) for key in ("viewBox", "width", "height")}
    frame = Markup("").join(Markup(' {}="{}"').format(key, value) for key, value in known.items() if value)
    again = Markup('<svg role="img" aria-label="{}"{}><use href="#{}"/></svg>').format(label, frame, name)
    return markup, again


def _element(element: ET.Element, name: str, label: str, depth: int) -> Iterator[str]:
    kind = element.tag.removeprefix(_SVG) if isinstance(element.tag, str) else ""  # pyright: ignore[reportUnnecessaryIsInstance]
    if kind not in ELEMENTS:
        return
    if depth > _DEEPEST:
        raise ValueError("the picture is nested too deeply")
    attributes = {key: kept for key, value in element.attrib.items() if (kept := _value(key, value, name)) is not None}
    if not depth:
        attributes |= {"id": name, "role": "img", "aria-label": label}
    written = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
    yield f"<{kind}{written}>{_text(element.text)}"
    for child in element:
        yield from _element(child, name, "", depth + 1)
        yield _text(child.tail)
    yield f"</{kind}>"


def _text(text: str | None) -> str:
    return str(escape(printable(text, 1000))) if text and text.strip() else ""


def _value(key: str, value: str, name: str) -> str | None:
    """The value to write; None leaves the attribute out."""
    if key not in ATTRIBUTES:
        return None
    if key == "id":
        return f"{name}-{value}" if _NAME.fullmatch(value) else None
    if key == "aria-label":
        return printable(value)
    if own := _OWN.fullmatch(value):
        return f"url(#{name}-{own[1]})"
    if "url" in value.casefold() or not _PLAIN.fullmatch(value):
        return None
    return value


LABEL = 40
"""The most characters of a name in a picture; the rest is cut."""


def image(kind: str, label: str, size: tuple[float, float], body: Iterable[str]) -> str:
    """A whole picture.

    Args:
        kind: its class, beside ``picture``.
        label: its accessible name.
        size: width and height.
        body: its elements. ``{id}`` in an element is replaced by an id that no other picture has.
    """
    inner, label = "".join(body), safe(label, 1000)
    name = "p" + hashlib.sha256(f"{kind} {label} {inner}".encode()).hexdigest()[:10]
    width, height = (f"{each:g}" for each in size)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="picture {kind}" role="img" aria-label="{label}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">{inner.replace("{id}", name)}</svg>'
    )


def safe(text: str, limit: int = LABEL) -> str:
    """Hostile text on one line, escaped for XML."""
    return html.escape(printable(text, limit)).replace("{", "&#123;")


def words(x: float, y: float, text: str, kind: str = "", *, anchor: str = "start", turned: bool = False) -> str:
    """Text; ``turned`` makes it read upwards, at an angle that keeps it apart from its neighbours."""
    place = f'transform="translate({x:g} {y:g}) rotate(-55)"' if turned else f'x="{x:g}" y="{y:g}"'
    named = f' class="{kind}"' if kind else ""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f"<text {place}{named}{at}>{safe(text, 200)}</text>"
