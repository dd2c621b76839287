"""The content of every report, and the state that it comes to.

A report is read from a certificate, results, a matrix, a sweep, a campaign or a diff: plain data of files, not objects
of a run, so that it can be made again years later without a decoder. All of it is hostile: names, messages and words
come from targets and files. The code that writes it out escapes it.

Only this module derives a state from claims; every report, certificate and exit code asks it. ``docs/command-line.md``
has the same as a table, ``report/wording.py`` the words for a state.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from overlong.conformance.protocol.observation import CLAIMS, GRAVE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


class State(StrEnum):
    """The state of one target, in the words that files use."""

    CONFORMS = "conforms"
    EXPECTED = "diverges as expected"
    """Each of its divergences is an expected deviation: 0 unexpected, never "certified"."""
    EXCEPT = "conforms with exceptions"
    """No claim of :data:`~overlong.conformance.protocol.observation.GRAVE` fails, but another claim fails."""
    DIVERGES = "diverges"
    INCOMPLETE = "incomplete"
    NOT_MEASURED = "not measured"
    """The target answered nothing."""
    NOTHING = "nothing to judge"
    """The target answered, but no claim holds or fails."""


HOLDS, FAILS, NOT_MEASURED = "holds", "fails", "not measured"
"""The states of a claim."""
WAITS = "what was seen is not examined yet"
"""The reason why a campaign is incomplete if it had no time to examine a divergence."""
FAILING = (State.DIVERGES, State.EXCEPT)
"""The states of a target with unexpected divergences."""
WORST_FIRST = (
    *(State.INCOMPLETE, State.NOT_MEASURED, State.DIVERGES, State.EXCEPT),
    *(State.NOTHING, State.EXPECTED, State.CONFORMS),
)
_CODES = {State.CONFORMS: 0, State.EXPECTED: 0, State.NOT_MEASURED: 3, State.NOTHING: 3, State.INCOMPLETE: 4}


def state_of(failing: Collection[str], *, held: bool, incomplete: bool = False, as_expected: bool = False) -> State:
    """The state of a run.

    Args:
        failing: the claims that fail.
        held: a claim holds; or, in a sweep or a campaign, which settles no claims, the target answered something.
        incomplete: the run ended early.
        as_expected: there are divergences, and each of them is expected.
    """
    if incomplete:
        return State.INCOMPLETE
    if as_expected:
        return State.EXPECTED
    if failing:
        graver = GRAVE.intersection(failing) or not CLAIMS.keys() >= set(failing)  # an unknown claim may be grave
        return State.DIVERGES if graver else State.EXCEPT
    return State.CONFORMS if held else State.NOTHING


def exit_code_of(state: State, stale: int = 0) -> int:
    """The exit code for a state; ``stale``: the number of expected deviations that no longer occur."""
    return _CODES.get(state, 1) or int(stale > 0)


def result_of(state: State, stale: int = 0) -> str:
    """The ``result`` of a certificate: PASSED, WARNED or FAILED."""
    if state is State.CONFORMS:
        return "PASSED"
    return "WARNED" if state is State.EXPECTED and not stale else "FAILED"


class ReportKind(StrEnum):
    """The kind of a report."""

    CERTIFY = "certify"
    MATRIX = "matrix"
    SWEEP = "sweep"
    FUZZ = "fuzz"
    DIFF = "diff"


class Standing(StrEnum):
    """The standing of a cause: against the expected deviations of its target, or in a diff against the older side."""

    UNEXPECTED = "unexpected"
    EXPECTED = "expected"
    FIXED = "fixed"
    REGRESSED = "regressed"
    NEW = "new"
    """A cause that the older side did not test."""
    SAME = "same"
    CHANGED = "changed"
    """Wrong before, and wrong in another way now."""
    NOT_COMPARABLE = "not comparable"
    DIFFERENCE = "difference"
    """Between two targets of a campaign, and no fault of either: RFC 3629 allows both."""


MORE, FEWER = "more of them", "fewer of them"
"""Titles in :attr:`Cause.more` for the same inputs: the number that diverged before, and the number now."""
EXPECTED = "expected deviation"
"""Title in :attr:`Cause.more` of the expected answer on the newer side."""
SENTENCE, PREDICTS = "cause", "predicts"
"""Titles in :attr:`Cause.more` of an examined cause: when the decoder is wrong, and how well that predicts."""
TELLING, STABLE, MINIMAL = "says more", "stable", "minimal"
"""Titles in :attr:`Cause.more` of a campaign's finding: an input that says more than the least one; how often it showed
again (``10 of 10``); and, if it may not be the least input, a remark."""
PEER, PEER_ANSWERS = "the other target", "the other"
"""Likewise of a difference between two targets."""
INPUTS = "inputs"
"""Title in :attr:`Subject.recorded`: the number of inputs of a campaign for all of its targets."""
BEFORE = "before"
"""Title in :attr:`Cause.more`: the observed answer on the older side."""
PLAN, STRINGS, AFTER, BECAUSE = "plan", "strings", "tested right after", "because"
"""Titles in :attr:`Cause.more` of a sweep's divergences: the plan; the strings, in words; the string before the
example; and its fault, if that is not its place."""
DIFF_ORDER = (
    *(Standing.REGRESSED, Standing.CHANGED, Standing.NEW),
    *(Standing.FIXED, Standing.NOT_COMPARABLE, Standing.SAME),
)
"""The order of causes in a diff: the most important first."""


@dataclass(frozen=True)
class Cause:
    """One bucket: all divergences of one cause, with the least as the example."""

    code: str
    """``OV201``."""
    title: str
    section: str
    """``RFC 3629 §3``; may be empty."""
    place: str
    """The place in the grammar, or the defect; may be empty."""
    claim: str
    """The claim that it refutes."""
    count: int
    """The number of divergences."""
    id: str
    """Id of the example: ``D-1a2b3c4d``."""
    vector: str
    """The id of the example's vector, for ``overlong replay``."""
    octets: bytes
    """The example's input; for encoders the payload (docs/results.md)."""
    operation: str
    """The operation's letter."""
    expected: str
    observed: str
    chunks: tuple[int, ...] | None = None
    """Lengths, if the input came in chunks."""
    earlier: tuple[bytes, ...] | None = None
    """The chunks of the stream that the decoder had decoded before."""
    comment: str = ""
    reproduce: str = ""
    """The command that shows it again; empty if there is none."""
    standing: Standing = Standing.UNEXPECTED
    reason: str = ""
    """The reason why it is expected, or not comparable; for a stale entry, the expected answer."""
    link: str = ""
    """The address of an expected deviation's issue."""
    more: tuple[tuple[str, str], ...] = ()
    """Further facts: ("strings", "every string that …"), ("stable", "10 of 10"); title and text."""

    @property
    def key(self) -> str:
        """The stable name of this bucket in every run: code, place and claim. Fingerprints are made from it."""
        return f"{self.code}|{self.place}|{self.claim}"


@dataclass(frozen=True)
class ReportPart:
    """A suite or a sweep's plan that ran."""

    name: str
    shows: str
    asked: int
    all: int
    failing: int
    is_sweep: bool = False
    set_aside: int = 0
    operations: str = ""
    digest: str = ""
    """SHA-256 of its vectors; for a sweep, of the answers."""


@dataclass(frozen=True)
class Map:
    """A decoder's answers to every pair of octets: 65 536, row by row (first octet), column by column."""

    name: str
    """``lead and second``, or the octets before the pair: ``E0``."""
    answers: bytes
    """For each pair the number of octets after it (``80``, as many as needed) with which it was first accepted, plus
    1: 1 alone, 2 with one more, 3 with two; 0 if with none. 255: not told (the target broke). 65 536 octets."""


@dataclass(frozen=True)
class Drawing:
    """A picture that overlong drew during the run: SVG from numbers alone."""

    title: str
    svg: str


@dataclass(frozen=True)
class Subject:
    """One target, and all facts about it from one run."""

    id: str
    """Its name on the command line."""
    state: State
    why: str = ""
    """The reason why it was not measured, or not completely."""
    name: str = ""
    version: str = ""
    language: str = ""
    operations: str = ""
    error_mode: str = ""
    traits: dict[str, str] = field(default_factory=dict[str, str])
    digest: str = ""
    """SHA-256 of its files, or of their substitute."""
    profile: str = "rfc3629@1"
    command: str = ""
    """The command that repeats the run."""
    claims: dict[str, str] = field(default_factory=dict[str, str])
    """Each claim of a certificate: ``holds``, ``fails``, ``not measured``."""
    parts: tuple[ReportPart, ...] = ()
    causes: tuple[Cause, ...] = ()
    """In the order of the certificate: the most important first."""
    stale: tuple[Cause, ...] = ()
    """Expected deviations that no longer occur, or in another way."""
    not_covered: tuple[str, ...] = ()
    """Behaviour that nothing measured; every report lists it."""
    notes: tuple[str, ...] = ()
    restarts: int = 0
    seconds: float = 0.0
    """0 if the file does not have it."""
    findings_digest: str = ""
    categories: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """For each category of vectors the number asked, and the number that failed; empty if not recorded."""
    maps: tuple[Map, ...] = ()
    automaton: Drawing | None = None
    """Its learned automaton; None if there is none."""
    sign: str = ""
    """A sentence that explains all causes by a fault of the adapter; empty if nothing hints at one."""
    set_aside: str = ""
    """The vectors that were not asked because of declared traits: ``4 785 vectors set aside (wrapper: xml)``."""
    behaves_like: str = ""
    """``rfc2279 (exact)``: the result of ``identify``; empty if it did not run."""
    recorded: dict[str, str] = field(default_factory=dict[str, str])
    """Other single facts to show, title and text: seed, engine, executions, edges of a campaign."""
    details: dict[str, str] = field(default_factory=dict[str, str])
    """Remarks on claims, such as a reason for no measurement, or the error mode of another."""

    @property
    def unexpected(self) -> tuple[Cause, ...]:
        return tuple(cause for cause in self.causes if cause.standing is Standing.UNEXPECTED)

    @property
    def told(self) -> tuple[Cause, ...]:
        """The causes that a report shows: none if a sign explains them all; then only their number."""
        return () if self.sign and self.state in FAILING else self.causes

    @property
    def failing(self) -> tuple[str, ...]:
        """The claims that fail; for a sweep or a campaign, which settles none, those that its causes refute."""
        return failing_claims(self.claims, self.causes)


@dataclass(frozen=True)
class Moment:
    """A point of a campaign."""

    seconds: float
    executions: int
    findings: int
    """The findings so far."""
    features: int


@dataclass(frozen=True)
class Report:
    """The content of one file or several, or the difference of two."""

    kind: ReportKind
    title: str
    """``cpython`` or ``40 decoders`` or ``old.json → new.json``."""
    generator: str
    """``overlong 0.1.0``: the version that measured."""
    subjects: tuple[Subject, ...]
    """One target, the decoders of a matrix, or the targets of a campaign; for a diff those of the newer side, one
    for each pair, with each cause's standing against the older side."""
    environment: dict[str, str] = field(default_factory=dict[str, str])
    time: str = ""
    """The time of the measurement; empty if the file does not have it."""
    discovery: tuple[Moment, ...] = ()
    """The findings of a campaign over time."""
    notes: tuple[str, ...] = ()
    incomplete: str = ""
    """The reason why it is incomplete: a file without its footer, an interrupted matrix."""
    source: str = ""
    """The files' names in the user's words."""
    extra: dict[str, Any] = field(default_factory=dict[str, Any])
    """More of a diff: ``{"older": [...], "newer": [...], "counts": {standing: n}}``. For pages of HTML only: the
    addresses of others (``index``, ``pages``), and the changes (``since``)."""

    @property
    def state(self) -> State:
        """The worst of them."""
        return min((subject.state for subject in self.subjects), key=WORST_FIRST.index, default=State.NOT_MEASURED)


def failing_claims(claims: Mapping[str, str], causes: Iterable[Cause]) -> tuple[str, ...]:
    """The claims that fail, and those that an unexpected cause refutes."""
    failing = [claim for claim, state in claims.items() if state == FAILS]
    refuted = [cause.claim for cause in causes if cause.standing is Standing.UNEXPECTED]
    return tuple(dict.fromkeys([*failing, *refuted]))
