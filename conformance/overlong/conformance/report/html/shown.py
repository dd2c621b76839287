"""The shown parts of a report, with their glyphs, anchors and pictures, cut to the page's size."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from overlong.conformance.models.pair_maps import reference_maps
from overlong.conformance.protocol.observation import CLAIMS, KINDS
from overlong.conformance.protocol.wire import (
    ASKING,
    ENCODE_UTF16,
    ENCODING,
    IN_MEMORY,
    OPERATIONS,
    QUESTION,
    REPLACING,
)
from overlong.conformance.report.html.charts import claims_picture, discovery, similarity
from overlong.conformance.report.html.maps import automaton_picture, map_picture, walk
from overlong.conformance.report.html.svg import Picture, safe_picture
from overlong.conformance.report.html.verdict import CLAIM_STATES, NOT_SAID, STANDINGS, Verdict, verdict_of_subject
from overlong.conformance.report.wording import given, meaning_of
from overlong.conformance.results.model import ReportKind
from overlong.conformance.support.printable import counted, printable
from overlong.reference import DEFECTS, DIALECTS, MaximalSubpart, dialect, segments
from overlong.reference.layout import load_layout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from markupsafe import Markup

    from overlong.conformance.results.model import Cause, Map, Report, ReportPart, Standing, Subject
    from overlong.reference import Dialect


_OWN_ANCHORS = ("top", "main", "verdict", "causes", "codes", "decoders", "tested", "untested", "pictures", "repeat")
"""The ids of the page's own parts."""
_STRANGE = re.compile(r"[^A-Za-z0-9_.-]+")
_WORD = 60
"""Characters of an id for each word of it."""
_SHOWN = 24
"""The number of octets drawn of a long input: those around the first ill-formed ones."""
_BEFORE = 6
_LONGEST = 1 << 14  # octets in which the first ill-formed ones are searched


@dataclass(frozen=True)
class Room:
    """The amounts of a report that a page shows."""

    causes: int
    """Buckets of one target."""
    walks: int
    """Buckets with a picture of their walk."""
    maps: int
    """Maps of one target, where it differs from the reference; where there is room for several, its automaton, too."""
    text: int
    """Characters of one text."""
    sides: bool = False
    """Draw beside each difference what the decoder does, and what the reference does."""
    subjects: int = 1000
    svg: int = 2_000_000
    """Characters of all its pictures."""


Explanation = dict[str, Any]
"""The meaning of a code: the members of a ``Defect``, which a ``Kind`` lacks in part."""
Figure = tuple[str, "Markup", bool]
"""A caption, its picture, and whether that is large."""


@dataclass(frozen=True)
class Cell:
    """One octet."""

    offset: int
    hex: str
    marker: str
    """The marker bits, which give the kind of octet."""
    free: str
    """The bits of the scalar value."""
    role: str
    """``lead of 3``, ``tail``, ``alone``, ``none``."""
    ill_formed: bool
    """True if the octet is part of a maximal subpart."""
    begins_chunk: bool


@dataclass(frozen=True)
class ShownCause:
    """One bucket."""

    cause: Cause
    anchor: str
    tone: str
    glyph: str
    cells: tuple[list[Cell], int, int] | None
    """A decoder's input: the octets that are drawn, and the numbers of those before and after them."""
    numbers: tuple[str, ...]
    """The input of an encoder."""
    walk: Markup | None
    operation: str
    explained: bool
    """True if the page explains the code."""
    question: str = ""
    """The text and the argument that a function beside decoding was given."""


@dataclass(frozen=True)
class ShownClaim:
    """A claim and its result."""

    name: str
    state: str
    tone: str
    glyph: str
    meaning: str
    detail: str
    """A remark, such as why it was not measured; may be empty."""


@dataclass(frozen=True)
class ShownSubject:
    """One target."""

    subject: Subject
    anchor: str
    verdict: Verdict
    claims: tuple[ShownClaim, ...]
    groups: tuple[tuple[Standing, tuple[ShownCause, ...]], ...]
    """Buckets by standing; a report other than a diff has only one standing."""
    left: int
    """The number of buckets that the page has no room for."""
    left_divergences: int
    stale: tuple[ShownCause, ...]
    stale_left: int
    figures: tuple[Figure, ...]
    map_note: str
    not_whole: tuple[ReportPart, ...]
    """Suites that did not run completely."""

    @property
    def replaces(self) -> bool:
        """True if an operation has an error mode; a validator's greeting may name one all the same."""
        return bool(set(self.subject.operations) & set(REPLACING))

    @property
    def divergences(self) -> int:
        return sum(cause.count for cause in self.subject.causes)


@dataclass
class Shower:
    """Prepares the parts of one page. It hands out anchors and keeps each picture only once."""

    report: Report
    room: Room
    known: dict[str, Picture | None]
    """Pictures already checked for another page of the same report, and whether they passed."""
    codes: dict[str, Explanation] = field(default_factory=dict[str, Explanation])
    """The codes that the page has to explain, in order."""

    def __post_init__(self) -> None:
        self._anchors: Counter[str] = Counter(_OWN_ANCHORS)
        self._pictures: dict[str, Picture] = {}
        self._svg = 0
        self.is_full = False
        """The pictures alone have no room in a page."""

    def _anchor(self, *words: str) -> str:
        """An id of plain letters made of ``words``, with a number if it was given before."""
        name = "-".join(part for word in words if (part := _STRANGE.sub("-", word[:_WORD]).strip("-.")))
        name = name if name[:1].isalpha() else f"x-{name}" if name else "x"
        unique = name
        while self._anchors[unique]:
            self._anchors[name] += 1
            unique = f"{name}-{self._anchors[name]}"
        self._anchors[unique] += 1
        return unique

    def subjects(self) -> list[ShownSubject]:
        """All that have room; fewer once the pictures have none."""
        return [self._subject(each) for each in self.report.subjects[: self.room.subjects] if not self.is_full]

    def figure(self, caption: str, svg: str, *, large: bool = False) -> Iterator[Figure]:
        """A picture with its caption; None if there is nothing to show."""
        markup = self._picture(svg, caption)
        if markup is not None:
            yield caption, markup, large

    def _picture(self, svg: str, title: str) -> Markup | None:
        if not svg:
            return None
        key = hashlib.sha256(svg.encode("utf-8", "surrogatepass")).hexdigest()[:12]
        if key in self._pictures:
            return self._pictures[key][1]
        if key not in self.known:
            self.known[key] = safe_picture(svg, f"p{key}", title)
        picture = self.known[key]
        if picture is None:
            return None
        self._pictures[key] = picture
        self._svg += len(picture[0])
        self.is_full = self.is_full or self._svg > self.room.svg
        return picture[0]

    def _subject(self, subject: Subject) -> ShownSubject:
        anchor = self._anchor("decoder", subject.id)
        prefix = subject.id if len(self.report.subjects) > 1 else ""
        order = list(STANDINGS)
        causes = list(subject.told)
        if self.report.kind in (ReportKind.DIFF, ReportKind.FUZZ) or len({cause.standing for cause in causes}) > 1:
            causes.sort(key=lambda cause: order.index(cause.standing))  # stable
        shown = [
            self._cause(cause, prefix, subject.profile, number < self.room.walks)
            for number, cause in enumerate(causes[: self.room.causes])
        ]
        groups = tuple(
            (standing, tuple(each for each in shown if each.cause.standing is standing))
            for standing in order
            if any(each.cause.standing is standing for each in shown)
        )
        left = causes[self.room.causes :]
        stale = tuple(
            self._cause(cause, prefix, subject.profile, walked=False) for cause in subject.stale[: self.room.causes]
        )
        figures, note = self._portrait(subject)
        return ShownSubject(
            subject,
            anchor,
            verdict_of_subject(subject, self.report.kind),
            tuple(_claim(subject, name, state) for name, state in subject.claims.items()),
            groups,
            len(left),
            sum(cause.count for cause in left),
            stale,
            len(subject.stale) - len(stale),
            figures,
            note,
            tuple(part for part in subject.parts if part.asked + part.set_aside < part.all or part.set_aside),
        )

    def _cause(self, cause: Cause, prefix: str, profile: str, walked: bool) -> ShownCause:  # noqa: FBT001
        explanation = explanation_of(cause.code)
        if explanation is not None:
            self.codes.setdefault(cause.code, explanation)
        tone, glyph = STANDINGS[cause.standing]
        spoken = dialect_of(profile)
        encodes = cause.operation in ENCODING
        octets = cause.octets[QUESTION.size :] if cause.operation in ASKING else cause.octets
        picture = None
        if walked and not encodes and spoken is not None and octets:
            picture = self._picture(walk(octets, profile, cause.chunks), "its walk through the automaton")
        return ShownCause(
            cause,
            self._anchor(prefix, cause.id),
            tone,
            glyph,
            None if encodes else cells_of(octets, cause.chunks, None if cause.operation in IN_MEMORY else spoken),
            _numbers(cause) if encodes else (),
            picture,
            OPERATIONS.get(cause.operation, ""),
            explanation is not None,
            given(cause) if cause.operation in ASKING else "",
        )

    def _portrait(self, subject: Subject) -> tuple[tuple[Figure, ...], str]:
        """The pictures of one target, and a note on missing ones."""
        figures: list[Figure] = []
        same: list[str] = []
        differing: list[tuple[Map, Map]] = []
        several = len(self.report.subjects) > 1
        for seen, reference in _with_reference(subject):
            if seen.answers == reference.answers:
                same.append(seen.name)
            if seen.answers != reference.answers or not several:
                differing.append((seen, reference))
        drawn = differing[: self.room.maps]
        for seen, reference in drawn:
            for what in ("decoder", "reference", "difference") if self.room.sides else ("difference",):
                caption = _caption(seen, what, alike=seen.answers == reference.answers)
                figures.extend(self.figure(caption, map_picture(seen, reference, what)))
        if self.room.maps > 1 and (subject.automaton is not None or not several):
            title = (
                "Its automaton equals that of the reference" if subject.automaton is None else subject.automaton.title
            )
            figures.extend(self.figure(title, automaton_picture(subject), large=True))
        shown = {seen.name for seen, _ in drawn}
        left = len(subject.maps) - len(shown | {*same})
        notes: list[str] = []
        if not subject.maps and not several and self.report.kind is ReportKind.CERTIFY and subject.parts:
            notes.append("No maps were recorded: only a decoder that fails the verdict and does not crash has maps.")
        if same:
            notes.append(
                f"For every pair of octets of these maps, the decoder answers as the reference does: {', '.join(same)}."
            )
        if left > 0:
            notes.append(f"There are {counted(left, 'more map')} that this page has no room for.")
        return tuple(figures), " ".join(notes)


def _caption(seen: Map, what: str, *, alike: bool) -> str:
    differ = "they differ nowhere" if alike else "where they differ"
    of = {"decoder": "what the decoder does", "reference": "what the reference does", "difference": differ}
    return f"{seen.name}: {of[what]}"


def explanation_of(code: str) -> Explanation | None:
    """The explanation of a code; None if there is none."""
    if (defect := DEFECTS.get(code)) is not None:
        return {**asdict(defect), "title": f"{defect.title} accepted"}
    kind = KINDS.get(code)
    return None if kind is None else {"line": "", "effect": "", "cwe": (), "cves": (), **asdict(kind)}


def dialect_of(profile: str) -> Dialect | None:
    """The dialect named by a profile such as ``rfc3629@1``; None if this version does not know it."""
    name = profile.partition("@")[0]
    return dialect(name) if name in DIALECTS else None


def claims_of(subjects: Iterable[Subject]) -> list[str]:
    """The claims of the subjects, in the order of a certificate."""
    named = {claim: None for subject in subjects for claim in subject.claims}
    return [*(claim for claim in CLAIMS if claim in named), *(claim for claim in named if claim not in CLAIMS)]


def _claim(subject: Subject, name: str, state: str) -> ShownClaim:
    tone, glyph = CLAIM_STATES.get(state, NOT_SAID)
    detail = subject.details.get(name, "").removeprefix(f"{state}: ")
    return ShownClaim(name, state, tone, glyph, meaning_of(subject, name), detail)


@cache
def _parts(octet: int) -> tuple[str, str, str]:
    """The marker bits, the other bits and the role of an octet."""
    bits, layout = f"{octet:08b}", load_layout("rfc2279")
    if layout.is_tail(octet):
        free, role = layout.rows[-1].templates[-1].free, "tail"
    elif (row := layout.announced(octet)) is not None:
        free, length = row.templates[0].free, len(row.templates)
        role = "alone" if length == 1 else f"lead of {length}"
    else:
        free, role = 0, "no UTF-8"
    return bits[: 8 - free], bits[8 - free :], role


def cells_of(octets: bytes, chunks: tuple[int, ...] | None, spoken: Dialect | None) -> tuple[list[Cell], int, int]:
    """The octets to draw, and the numbers of those left out before and after them.

    The marker bits of a lead or tail octet are set apart; they come from the layout of RFC 2279, the widest form of
    UTF-8, so its octets are marked, too.

    Args:
        octets: of the input.
        chunks: lengths, if it came in chunks.
        spoken: the dialect that defines which octets are ill-formed; None: mark none.
    """
    begins = set(accumulate((chunks or ())[:-1]))
    wrong: set[int] = set()
    if spoken is not None and len(octets) <= _LONGEST:
        for found in segments(octets, spoken=spoken):
            if isinstance(found, MaximalSubpart):
                wrong.update(range(found.offset, found.offset + found.length))
    first = 0 if len(octets) <= _SHOWN else max(0, min(min(wrong, default=0) - _BEFORE, len(octets) - _SHOWN))
    shown = octets[first : first + _SHOWN]
    cells = [
        Cell(offset, f"{octet:02X}", *_parts(octet), offset in wrong, offset > 0 and offset in begins)
        for offset, octet in enumerate(shown, first)
    ]
    return cells, first, len(octets) - first - len(cells)


def _numbers(cause: Cause) -> tuple[str, ...]:
    """The code points or code units given to an encoder."""
    size = 2 if cause.operation == ENCODE_UTF16 else 4
    shown = cause.octets[: 16 * size]
    numbers = [shown[place : place + size] for place in range(0, len(shown), size)]
    written = [f"{int.from_bytes(number, 'big'):04X}" for number in numbers]
    if left := (len(cause.octets) - len(shown)) // size:
        written.append(f"and {left} more")
    return tuple(written)


def _with_reference(subject: Subject) -> Iterator[tuple[Map, Map]]:
    if not subject.maps or dialect_of(subject.profile) is None:
        return
    known = {each.name: each for each in reference_maps(subject.profile)}
    for seen in subject.maps:
        if seen.name in known and len(seen.answers) == len(known[seen.name].answers):
            yield seen, known[seen.name]


def overviews(report: Report) -> Iterator[tuple[str, str]]:
    """The pictures of the whole report: caption and SVG."""
    several = len(report.subjects) > 1
    named = tuple(replace(each, id=printable(each.id)) for each in report.subjects)  # a lone surrogate cannot be hashed
    report = replace(report, subjects=named)
    drawings: list[tuple[bool, str, Callable[[Report], str]]] = [
        (several and any(subject.claims or subject.categories for subject in report.subjects),
         "Decoders and their claims", claims_picture),
        (several, "How alike the decoders are", similarity),
        (bool(report.discovery), "Divergences over time", discovery),
    ]  # fmt: skip
    for wanted, caption, picture in drawings:
        if wanted and (svg := picture(report)):
            yield caption, svg
