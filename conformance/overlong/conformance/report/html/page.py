"""One self-contained page of a report: it needs no network and no script, and hostile text cannot harm it.

Every text of a report goes through :func:`printable`, then through jinja2's escaping; the templates cannot avoid
either. Only the style, the script, and pictures that svg.py let through are marked as safe.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from overlong.conformance.protocol.wire import BATCH, ECHO, OPERATIONS
from overlong.conformance.report.html.shown import Room, Shower, claims_of, overviews
from overlong.conformance.report.html.verdict import (
    CLAIM_STATES,
    STANDINGS,
    STATES,
    page_among_others,
    pages_of,
    pairs,
    since,
    sources,
    standings_of,
    verdict_of,
)
from overlong.conformance.report.wording import (
    command_lines,
    observed,
    section_links,
    state_words,
    vulnerability,
    weakness,
    web_address,
)
from overlong.conformance.results.model import ReportKind, Standing
from overlong.conformance.support.printable import counted, printable, thousands

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.report.html.shown import ShownSubject
    from overlong.conformance.report.html.svg import Picture
    from overlong.conformance.results.model import Report

LARGEST = 2_000_000
"""The largest number of octets of a page."""
_MANY = 1000
ROOMS = (
    Room(causes=30, walks=30, maps=_MANY, text=2000, sides=True),
    Room(causes=30, walks=6, maps=_MANY, text=2000),
    Room(causes=30, walks=6, maps=1, text=2000),
    Room(causes=12, walks=4, maps=1, text=2000),
    Room(causes=8, walks=2, maps=0, text=300),
    Room(causes=3, walks=0, maps=0, text=300),
    Room(causes=1, walks=0, maps=0, text=80, subjects=300),
    Room(causes=0, walks=0, maps=0, text=80, subjects=200, svg=sys.maxsize),
)
"""Cuts to try until the page is small enough."""
FEW = 7
"""The most rows or buckets without a filter."""
_LEAST = 700
"""The octets of an empty bucket."""
_GROUPS = re.compile(r"(?<=\d) (?=\d{3}\b)")
_WHOLE = 20_000
"""The most characters of a text that is shown whole."""
_LABELS = {
    ReportKind.CERTIFY: "Conformance report",
    ReportKind.MATRIX: "Matrix of decoders",
    ReportKind.SWEEP: "Sweep",
    ReportKind.FUZZ: "Fuzzing campaign",
    ReportKind.DIFF: "Difference of two measurements",
}


def page(report: Report) -> str:
    """The page, as HTML: less than :data:`LARGEST` octets, and the same for the same report."""
    text = ""
    known: dict[str, Picture | None] = {}
    for room in ROOMS:
        shown = sum(min(len(subject.causes), room.causes) for subject in report.subjects[: room.subjects])
        if shown * _LEAST > LARGEST:
            continue
        if (rendered := _rendered(report, room, known)) is None:
            continue
        text = rendered
        if len(text.encode()) < LARGEST:
            break
    return text


def _rendered(report: Report, room: Room, known: dict[str, Picture | None]) -> str | None:
    """The page with this room; None if its pictures alone are too large."""
    shower = Shower(report, room, known)
    subjects = shower.subjects()
    several = len(report.subjects) > 1
    claims = claims_of(report.subjects)
    pictures = [figure for caption, svg in overviews(report) for figure in shower.figure(caption, svg, large=True)]
    if shower.is_full:
        return None
    return (
        _environment(room.text)
        .get_template("page.html.jinja")
        .render(
            section_links=section_links,
            web_address=web_address,
            observed=observed,
            weakness=weakness,
            vulnerability=vulnerability,
            ReportKind=ReportKind,
            Standing=Standing,
            STANDINGS=STANDINGS,
            STATES=STATES,
            glossary=several,
            operation_words=_operation_words,
            FEW=FEW,
            state_words=state_words,
            report=report,
            label=_LABELS[report.kind],
            verdict=verdict_of(report),
            subjects=subjects,
            several=several,
            left_out=len(report.subjects) - len(subjects),
            claims=claims,
            columns=[
                claim for claim in claims if any(each.claims.get(claim) in CLAIM_STATES for each in report.subjects)
            ],
            standings=standings_of(report),
            pairs=pairs(report),
            sources=sources(report),
            since=since(report),
            pages=pages_of(report),
            index=page_among_others(report.extra.get("index", "")),
            common=_common(subjects),
            pictures=pictures,
            codes=shower.codes,
            total=sum(cause.count for subject in report.subjects for cause in subject.causes),
            policy=_policy(),
            style=Markup(_style()),  # noqa: S704 - a file of ours
            script=Markup(_script()),  # noqa: S704 - a file of ours
        )
    )


def _operation_words(letters: str) -> str:
    """``decode strictly, encode code points``: operations in words, without those that only transport others."""
    return ", ".join(OPERATIONS.get(letter, letter) for letter in letters if letter not in ECHO + BATCH) or letters


@cache
def _environment(limit: int) -> Environment:
    """An environment whose templates show at most this many characters of a text."""

    def finalize(value: object) -> str:
        if isinstance(value, Markup):
            return value
        text = str(value)
        return text if len(text) <= limit and text.isprintable() else printable(text, limit)

    environment = Environment(
        loader=PackageLoader("overlong.conformance.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    cast("dict[str, Callable[..., Markup]]", environment.filters).update(
        thousands=_thousands, counted=_counted, unbroken=_unbroken, whole=_whole, command=_command, inside=_inside
    )
    return environment


def _whole(text: str) -> Markup:
    """A text of overlong or an address, uncut."""
    return escape(printable(text, _WHOLE))


def _command(text: str) -> Markup:
    """A command, uncut."""
    return escape("\n".join(command_lines(text)))


def _unbroken(text: str) -> Markup:
    """A text whose numbers are not broken over lines: half of a number would look like another number."""
    return Markup(_GROUPS.sub("\N{NO-BREAK SPACE}", str(escape(printable(text, _WHOLE)))))  # noqa: S704 - escaped


def _thousands(number: int) -> Markup:
    return _unbroken(thousands(number))


def _counted(number: int, what: str) -> Markup:
    return _unbroken(counted(number, what))


def _inside(text: str) -> Markup:
    """A short text in an attribute."""
    return escape(printable(text, 120))


def _common(subjects: list[ShownSubject]) -> tuple[str, ...]:
    """The gaps that all targets share, so that the page names them once."""
    first, *others = [each.subject.not_covered for each in subjects if each.subject.not_covered] or [()]
    return tuple(line for line in first if all(line in lines for lines in others))


@cache
def _style() -> str:
    pictures = files("overlong.conformance.report.html") / "pictures.css"
    own = files("overlong.conformance.report.html") / "style.css"
    return own.read_text("utf-8") + pictures.read_text("utf-8")


@cache
def _script() -> str:
    return (files("overlong.conformance.report.html") / "script.js").read_text("utf-8")


@cache
def _policy() -> str:
    """The Content-Security-Policy: the page may load nothing except this style and this script."""
    style, script = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (_style(), _script())
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
