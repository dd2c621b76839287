"""Words and lines that several reports share: the verdict, the input of a decoder, the addresses of what they cite.

No line is longer than :data:`LINE`. Commands are as a reader pastes them: none is cut, and a long one goes on in the
next line after a backslash. Other text is broken where a word of letters begins: any other line could have a meaning,
of markup or for the runner of a CI job.
"""

from __future__ import annotations

import re
import textwrap
from itertools import groupby
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from overlong.conformance.certification.tiers import short_of_usual
from overlong.conformance.oracle.compare import ended_how
from overlong.conformance.protocol.observation import CLAIMS, UNDECLARED, Code
from overlong.conformance.protocol.wire import ASKING, SEPARATE, UNITS
from overlong.conformance.results.model import (
    EXPECTED,
    FAILS,
    HOLDS,
    INPUTS,
    MORE,
    SENTENCE,
    WAITS,
    ReportKind,
    Standing,
    State,
    state_of,
)
from overlong.conformance.support.printable import counted, printable, spaced_hex, thousands
from overlong.conformance.vectors.expected import words_of
from overlong.conformance.vectors.vector import Profile, Vector
from overlong.reference import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from overlong.conformance.results.invocation import Given
    from overlong.conformance.results.model import Cause, Report, Subject


LINE = 200
"""The most characters of a line of a report; a single word of a command may be longer."""
_LONGEST = 1 << 17
"""The most octets that Linux takes as one argument, such as that of ``sh -c``."""
_WORD = re.compile(r"""(?:"\$\((?:'[^']*'|[^'()])*\)"|"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+""")
"""A word of a command, with its quotes; ``"$(…)"`` holds a command of its own."""
_KEPT = ("#", ":")
"""What the first word of a line of a command must not begin with: a comment, or ``::`` for the runner of a CI job."""


def command_lines(command: str, begins: str = "", width: int = LINE) -> list[str]:
    """The lines of a command; a command that no shell would take is a comment that gives its length.

    Args:
        command: may hold hostile text.
        begins: the beginning of the first line; the others are indented as far as that is, and by two columns more.
        width: of a line.
    """
    if len(command) > _LONGEST:
        command = f"# a command of {counted(len(command), 'character')}: the file of results has it"
    shown = printable(command, _LONGEST)
    words = _WORD.findall(shown)
    if shown.startswith("#") or " ".join(words) != shown:  # a comment, or no words as this program writes them
        return [begins + shown]
    further = " " * (len(begins) - len(begins.lstrip()) + 2)
    lines = [begins + words[0]] if words else []
    for word in words[1:]:
        if len(lines[-1]) + len(word) + len("  \\") <= width or word.startswith(_KEPT):
            lines[-1] += f" {word}"
        else:
            lines[-1] += " \\"
            lines.append(further + word)
    return lines


def prose_lines(words: str, begins: str = "", further: str = "", width: int = LINE) -> list[str]:
    """The lines of a text that is safe to show; a word too long for a line loses its end.

    Args:
        words: the text.
        begins: the beginning of the first line.
        further: the indentation of the others.
        width: of a line.
    """
    most = width - max(len(begins), len(further))
    lines = [begins]
    for number, word in enumerate(words.split(" ")):
        shown = word if len(word) <= most else f"{word[: most - 1]}…"
        if number and (len(lines[-1]) + 1 + len(shown) > width) and (shown[:1].isalpha() or shown[:1] == "&"):
            lines.append(further + shown)
        else:
            lines[-1] += f" {shown}" if number else shown
    return lines


_OF_SEVERAL = {
    State.CONFORMS: "conform",
    State.EXPECTED: "diverge as expected",
    State.EXCEPT: "conform with exceptions",
    State.DIVERGES: "diverge",
}
AS_FAR = "CONFORMANT as far as these strings go"
"""The verdict of a sweep that found nothing."""
_CERTIFIES = frozenset({ReportKind.CERTIFY, ReportKind.MATRIX})
THIS_INPUT = "this input"
"""The title of a vector's comment: what its octets are."""
RUN = 5
"""The number of repetitions from which on a run is counted instead of written out."""
_ACCEPTED = re.compile(r"accepted((?: U\+[0-9A-F]{4,8})+)((?: … \(\d+ values\))?)")
_SURROGATE = b"\xed"
"""The lead of surrogates in UTF-8."""
_SECTIONS = (
    (re.compile(r"RFC (\d{1,5}) §([\d.]{1,8})"), "https://www.rfc-editor.org/rfc/rfc{0}#section-{1}"),
    (re.compile(r"Unicode ch\. (\d\d?)(?:, (?:D\d\d[a-z]?|table \d{1,2}-\d{1,2}))?"), "https://www.unicode.org/versions/latest/core-spec/chapter-{0}/"),
    (re.compile(r"WHATWG"), "https://encoding.spec.whatwg.org/#utf-8-decoder"),
)  # fmt: skip
_ASKED = re.compile(r"https?://[!-~]+")
_FAULTS = frozenset({Standing.UNEXPECTED, Standing.REGRESSED, Standing.NEW})


class Glyphs:
    """Marks that the terminal's encoding can show."""

    def __init__(self, encoding: str) -> None:
        try:
            "✓✗·–".encode(encoding)
        except (UnicodeEncodeError, LookupError):
            self.holds, self.fails, self.open, self.dot = "+", "x", "-", "|"
        else:
            self.holds, self.fails, self.open, self.dot = "✓", "✗", "–", "·"

    def of(self, state: str) -> str:
        return {HOLDS: self.holds, FAILS: self.fails}.get(state, self.open)


def excused(cause: Cause) -> str | None:
    """The reason why a deviation is expected, which may be empty; None if the deviation is not expected."""
    if cause.standing is Standing.EXPECTED:
        return cause.reason
    return dict(cause.more).get(EXPECTED)


def is_fault(cause: Cause) -> bool:
    """True if the cause needs attention: it is not expected, fixed, unchanged, or no fault.

    In a diff this follows ``--fail-on new``: an older cause counts only if more inputs show it now.
    """
    if excused(cause) is not None:
        return False
    return cause.standing in _FAULTS or MORE in dict(cause.more)


def faults(subject: Subject) -> tuple[Cause, ...]:
    """The causes that need attention."""
    return tuple(cause for cause in subject.causes if is_fault(cause))


def observed(cause: Cause) -> str:
    """A decoder's answer in words: ``accepted U+DCC2`` for C2 is ``passes C2 through``, if that is no error mode."""
    return cause.observed if "U+DC" in cause.expected else passed_through(cause.observed, cause.octets)


def passed_through(words: str, octets: bytes) -> str:
    """Words of an answer, with octets that came through as octets instead of U+DC80 to U+DCFF.

    A target's UTF-8 output is kept as numbers; one of these stands for an octet that no sequence explains.
    """
    found = _ACCEPTED.fullmatch(words)
    numbers = [int(point.removeprefix("U+"), 16) for point in found[1].split()] if found else []
    if found is None or not any(map(_is_octet, numbers)):
        return words
    spelt = b"".join(bytes([each & 0xFF]) if _is_octet(each) else UNITS["utf-8"].write([each]) for each in numbers)
    if octets == spelt or (found[2] and octets.startswith(spelt)):
        return f"passes {spaced_hex(spelt)}{' …' if found[2] else ''} through"
    if all((each & 0xFF) in octets for each in filter(_is_octet, numbers)) and _SURROGATE not in octets:
        shown = (f"octet {each & 0xFF:02X}" if _is_octet(each) else f"U+{each:04X}" for each in numbers)
        return f"accepted {' '.join(shown)}{found[2]}"
    return words  # they are surrogates, in UTF-16


def _is_octet(number: int) -> bool:
    return 0xDC80 <= number <= 0xDCFF


def verdict(subject: Subject, kind: ReportKind = ReportKind.CERTIFY) -> str:
    """The outcome of the run, in capitals if it is a verdict of ``certify``; without text of the target."""
    if kind is ReportKind.DIFF and subject.state not in (State.INCOMPLETE, State.NOT_MEASURED, State.NOTHING):
        return of_standings(subject.causes) or "NO DIFFERENCE"
    return verdict_words(
        subject.state,
        subject.failing,
        expected=len(subject.causes),
        stale=len(subject.stale),
        short=swept_short(subject, kind),
        aside=printable(subject.set_aside),
        kind=kind,
    )


def swept_short(subject: Subject, kind: ReportKind = ReportKind.CERTIFY) -> str:
    """``tier brief; not swept further``, ``not swept``: the extent of the sweep if it is less than usual."""
    return short_of_usual(part.name for part in subject.parts if part.is_sweep) if kind in _CERTIFIES else ""


def state_of_campaign(report: Report) -> State:
    """The state of a campaign. Findings count even if other divergences are not examined yet."""
    states, failing = {subject.state for subject in report.subjects}, _failing(report)
    if states <= {State.NOT_MEASURED}:
        return State.NOT_MEASURED
    return state_of(failing, held=True, incomplete=State.INCOMPLETE in states and not failing)


def words_of_campaign(report: Report) -> str:
    """The first words of the verdict of a campaign."""
    return verdict_words(state_of_campaign(report), _failing(report), kind=ReportKind.FUZZ)


def verdict_of_campaign(report: Report) -> str:
    """The verdict of a campaign, in a line."""
    causes = [(subject.id, cause) for subject in report.subjects for cause in subject.causes]
    differences = sum(cause.standing is Standing.DIFFERENCE for _, cause in causes)
    aside = f"; {counted(differences, 'difference')} that RFC 3629 leaves open" if differences else ""
    number = next((subject.recorded[INPUTS] for subject in report.subjects if INPUTS in subject.recorded), "0")
    inputs, targets = f"{printable(number)} input{'s' * (number != '1')}", counted(len(report.subjects), "target")
    match state_of_campaign(report):
        case State.NOT_MEASURED:
            extent = "nothing ran"
        case State.INCOMPLETE:
            extent = f"{WAITS}; {inputs}{aside}"
        case State.CONFORMS:
            extent = f"{inputs}, {targets}{aside}"
        case _:
            wrong = {target for target, cause in causes if cause.standing is not Standing.DIFFERENCE}
            faults = counted(len(causes) - differences, "finding")
            extent = f"{faults} in {len(wrong)} of {targets}, {inputs}{aside}"
    return f"{words_of_campaign(report)}  {extent}"


def _failing(report: Report) -> list[str]:
    """The claims that faults of any target refute."""
    return list(dict.fromkeys(claim for subject in report.subjects for claim in subject.failing))


def verdict_words(
    state: State,
    failing: Iterable[str] = (),
    *,
    expected: int = 0,
    stale: int = 0,
    short: str = "",
    aside: str = "",
    kind: ReportKind = ReportKind.CERTIFY,
) -> str:
    """A state as the verdict of one run.

    Args:
        state: of the run.
        failing: the claims that fail.
        expected: the number of buckets if all are expected.
        stale: the number of expected deviations that no longer occur, or have changed.
        short: the extent of the sweep, in words, if it is less than usual; CONFORMANT is never shown without it.
        aside: the vectors set aside for traits that the target declares, in words.
        kind: of the run; a campaign certifies nothing.
    """
    but_for = (f" ({short})" if short else "") + (f", {aside}" if aside else "")
    only = " and ".join(map(printable, failing))
    match state:
        case State.INCOMPLETE | State.NOT_MEASURED:
            return state.value.upper()
        case State.NOTHING:
            return "NOTHING TO JUDGE"
        case State.CONFORMS | State.EXPECTED if stale:
            return counted(stale, "STALE EXPECTATION").upper()
        case State.EXPECTED:
            return f"0 unexpected ({counted(expected, 'bucket')} as expected)"
        case State.CONFORMS:
            return {ReportKind.SWEEP: AS_FAR, ReportKind.FUZZ: "NOTHING FOUND"}.get(kind, "CONFORMANT") + but_for
        case State.EXCEPT:
            return f"FAILS IN {only} ALONE" if kind is ReportKind.FUZZ else f"CONFORMANT EXCEPT {only}{but_for}"
        case State.DIVERGES:
            return "NOT CONFORMANT"


_IN_MEMORY: dict[str, str] = {
    Code.READ_PAST_END: "reads past the input",
    Code.READ_BEFORE_START: "reads before the input",
    Code.WRITTEN_OUTSIDE: "writes outside the output",
    Code.LEFT_UNWRITTEN: "leaves output unwritten",
    Code.INPUT_WRITTEN: "writes to the input",
}
"""What a verdict says first: a function that leaves its memory may answer anything."""


def extent_of(subject: Subject, kind: ReportKind = ReportKind.CERTIFY) -> str:
    """``3 buckets (1 as expected), 12 of 966 vectors``: the extent of a verdict, after a fault of memory if any.

    For a sweep without findings: ``6 plans, 12 659 087 strings``. Wrong answers to strings that were set aside for a
    declared limit are counted separately.
    """
    causes = subject.causes
    if kind is ReportKind.SWEEP and subject.state is State.CONFORMS:
        strings = thousands(sum(part.all for part in subject.parts))
        return f"{counted(len(subject.parts), 'plan')}, {strings} strings"
    expected = sum(cause.standing is Standing.EXPECTED for cause in causes)
    memory = [_IN_MEMORY[cause.code] for cause in causes if cause.code in _IN_MEMORY]
    parts = [
        *memory[:1],
        counted(len(causes), "bucket") + (f" ({thousands(expected)} as expected)" if expected else ""),
    ]
    for sweep, what in ((False, "vectors"), (True, "strings")):
        of_kind = [part for part in subject.parts if part.is_sweep is sweep]
        if failing := sum(part.failing for part in of_kind):
            asked = sum(part.all if sweep else part.asked for part in of_kind)
            parts.append(f"{thousands(failing)} of {thousands(asked)} {what}")
    if aside := sum(cause.count for cause in causes if cause.code == UNDECLARED):
        parts.append(f"{counted(aside, 'answer')} to strings set aside")
    return ", ".join(parts)


def with_version(named: str, version: str, width: int) -> Iterator[str]:
    """The name with its version; the version gets its own lines if both do not fit on one line."""
    said = f"({printable(version)})" if version else ""
    if len(named) + 1 + len(said) <= width:
        yield f"{named} {said}".rstrip()
        return
    yield from textwrap.wrap(named, width, subsequent_indent="  ")
    yield from textwrap.wrap(said, width, initial_indent="  ", subsequent_indent="  ")


def of_standings(causes: Iterable[Cause]) -> str:
    """``2 regressed, 1 fixed``; in the order of the standings."""
    counts: dict[Standing, int] = {}
    for cause in causes:
        counts[cause.standing] = counts.get(cause.standing, 0) + 1
    return ", ".join(f"{thousands(counts[standing])} {standing}" for standing in Standing if standing in counts)


def of_states(subjects: Sequence[Subject], kind: ReportKind = ReportKind.CERTIFY) -> str:
    """``2 conform, 1 diverges``; in the order of the states."""
    counts = {state: sum(subject.state is state for subject in subjects) for state in State}
    return ", ".join(of_state(number, state, kind) for state, number in counts.items() if number)


def of_state(number: int, state: State, kind: ReportKind = ReportKind.CERTIFY) -> str:
    """``1 conforms``, ``20 conform``, ``nothing found in 3``."""
    words = state_words(state, kind, number)
    if state is State.CONFORMS and kind in (ReportKind.FUZZ, ReportKind.SWEEP):
        return f"{words} in {thousands(number)}"
    return f"{thousands(number)} {words}"


def state_words(state: State, kind: ReportKind = ReportKind.CERTIFY, number: int = 1) -> str:
    """The words for a state of this many targets; those of a campaign or a sweep differ, since they certify nothing."""
    if state is State.CONFORMS and kind in (ReportKind.FUZZ, ReportKind.SWEEP):
        return "nothing found" if kind is ReportKind.FUZZ else "no divergence"
    if state is State.EXCEPT and kind is ReportKind.FUZZ:
        return "fails in part" if number == 1 else "fail in part"
    return state.value if number == 1 else of_several(state)


def of_several(state: State) -> str:
    """The verb for several targets: ``20 conform``."""
    return _OF_SEVERAL.get(state, state.value)


def in_chunks(chunks: Sequence[int]) -> str:
    """``1, 2, 0 x 8, 3``: lengths of chunks, with repetitions counted."""
    groups = [(length, len(list(same))) for length, same in groupby(chunks)]
    return ", ".join(
        f"{length} x {times}" if times >= RUN else ", ".join([str(length)] * times) for length, times in groups
    )


def given(cause: Given, profile: str = "") -> str:
    """The octets, their chunks, and the stream decoded before: ``E2 82 AC in chunks of 2, 1``.

    Args:
        cause: the cause with these data.
        profile: decides how the earlier stream ended; empty: leave that out.
    """
    words = words_of(cause.octets) if cause.operation in ASKING else spaced_hex(cause.octets)
    if cause.chunks is not None and (len(cause.chunks) > 1 or profile):
        words += f" in {'values' if cause.operation == SEPARATE else 'chunks'} of {in_chunks(cause.chunks)}"
    if cause.earlier is not None:
        before = b"".join(cause.earlier)
        words += ", after a stream" + (f" {spaced_hex(before)}" if before or not profile else "")
        if len(cause.earlier) > 1:
            words += f" in chunks of {in_chunks([len(chunk) for chunk in cause.earlier])}"
        if (speaks := profile.partition("@")[0]) in DIALECTS:
            stream = Vector("", b"", profile=Profile(speaks))
            words += f" that {ended_how(cause.earlier, stream)}"
    return words


def meaning_of(subject: Subject, claim: str) -> str:
    """What a claim says of the decoder; if it fails, what the decoder does instead, as far as that was examined."""
    if subject.claims[claim] != FAILS:
        return CLAIMS.get(claim, "")
    found = (dict(cause.more).get(SENTENCE, "") for cause in subject.told if cause.claim == claim)
    return next(filter(None, found), "")


def headline(cause: Cause) -> str:
    """``OV202 surrogate accepted``, and its place if known."""
    return f"{cause.code} {cause.title}" + (f" ({cause.place})" if cause.place else "")


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
