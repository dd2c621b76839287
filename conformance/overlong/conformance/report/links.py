"""The links of reports: addresses, which a browser opens only on a click."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

_SECTIONS = (
    (re.compile(r"RFC (\d{1,5}) §([\d.]{1,8})"), "https://www.rfc-editor.org/rfc/rfc{0}#section-{1}"),
    (re.compile(r"Unicode ch\. (\d\d?)(?:, (?:D\d\d[a-z]?|table \d{1,2}-\d{1,2}))?"), "https://www.unicode.org/versions/latest/core-spec/chapter-{0}/"),
    (re.compile(r"WHATWG"), "https://encoding.spec.whatwg.org/#utf-8-decoder"),
)  # fmt: skip
_ASKED = re.compile(r"https?://[!-~]+")


def section_links(section: str) -> list[tuple[str, str]]:
    """``RFC 3629 §4; WHATWG`` in pieces, each with its address, or an empty text if none is known."""
    pieces: list[tuple[str, str]] = []
    for piece in section.split("; "):
        found = ((pattern.fullmatch(piece), address) for pattern, address in _SECTIONS)
        pieces.append((piece, next((address.format(*match.groups()) for match, address in found if match), "")))
    return pieces


def web_address(text: str) -> str:
    """``text`` if it is certainly an address of the web; else an empty text."""
    if not _ASKED.fullmatch(text):
        return ""
    try:
        host = urlsplit(text).hostname
    except ValueError:
        return ""
    return text if host else ""


def weakness(number: int) -> str:
    """The address of a weakness in CWE."""
    return f"https://cwe.mitre.org/data/definitions/{number}.html"


def vulnerability(name: str) -> str:
    """The address of the record of a CVE."""
    return f"https://www.cve.org/CVERecord?id={name}"
