"""The links of reports: addresses, which no browser fetches by itself, and ids of a page."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

_SECTIONS = (
    (re.compile(r"RFC (\d{1,5}) §([\d.]{1,8})"), "https://www.rfc-editor.org/rfc/rfc{0}#section-{1}"),
    (re.compile(r"Unicode ch\. (\d\d?)(?:, (?:D\d\d[a-z]?|table \d{1,2}-\d{1,2}))?"), "https://www.unicode.org/versions/latest/core-spec/chapter-{0}/"),
    (re.compile(r"WHATWG"), "https://encoding.spec.whatwg.org/#utf-8-decoder"),
)  # fmt: skip
_ASKED = re.compile(r"https?://[!-~]+")
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST = 60
"""Characters of an id for each word of it."""


def section_links(section: str) -> list[tuple[str, str]]:
    """``RFC 3629 §4; WHATWG`` in pieces, each with its address; empty where there is none known."""
    pieces: list[tuple[str, str]] = []
    for piece in section.split("; "):
        found = ((pattern.fullmatch(piece), address) for pattern, address in _SECTIONS)
        pieces.append((piece, next((address.format(*match.groups()) for match, address in found if match), "")))
    return pieces


def web_address(text: str) -> str:
    """``text`` if it is an address of the web, and can be nothing else; else nothing."""
    if not _ASKED.fullmatch(text):
        return ""
    try:
        host = urlsplit(text).hostname
    except ValueError:
        return ""
    return text if host else ""


def weakness(number: int) -> str:
    """Where CWE describes it."""
    return f"https://cwe.mitre.org/data/definitions/{number}.html"


def vulnerability(name: str) -> str:
    """The record of a CVE."""
    return f"https://www.cve.org/CVERecord?id={name}"


class Anchors:
    """Gives ids that hold nothing but plain letters, each once, and the same in every page of the same report."""

    def __init__(self) -> None:
        self._given: Counter[str] = Counter()

    def give(self, *words: str) -> str:
        """An id that tells ``words``; with a number if it was given before."""
        name = "-".join(part for word in words if (part := _STRANGE.sub("-", word[:_LONGEST]).strip("-.")))
        name = name if name[:1].isalpha() else f"x-{name}" if name else "x"
        unique = name
        while self._given[unique]:
            self._given[name] += 1
            unique = f"{name}-{self._given[name]}"
        self._given[unique] += 1
        return unique
