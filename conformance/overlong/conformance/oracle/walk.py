"""The walk of octets through the automaton, and paragraphs for codes."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.finding import expected_in_words
from overlong.conformance.protocol.kind import CLAIMS, KINDS
from overlong.conformance.support.printable import code_points, counted, spaced_hex
from overlong.conformance.vectors.vector import RFC3629, Vector
from overlong.reference import DEFECTS, ERROR_MODES, WellFormed
from overlong.reference.automaton import OCTETS, OctetClass
from overlong.reference.decoder import fold
from overlong.reference.theory import access_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.vector import Profile
    from overlong.reference import Dialect, Segment
    from overlong.reference.grammar import Position

_EXPLAINED = 64  # octets in a walk; a person reads the explanation


def explain_code(code: str, width: int) -> Iterator[str]:
    """The paragraph of a defect or a kind.

    Raises:
        KeyError: there is no such code.
    """
    if code in DEFECTS:
        defect = DEFECTS[code]
        yield f"{defect.code}  {defect.title}: {defect.line}"
        yield ""
        yield from textwrap.wrap(defect.paragraph, width)
        yield ""
        yield f"section  {defect.section}"
        yield f"effect   {defect.effect}"
        yield "CWE      " + ", ".join(f"CWE-{number}" for number in defect.cwe)
        if defect.cves:
            yield "CVE      " + ", ".join(defect.cves)
        return
    kind = KINDS[code]
    yield f"{kind.code}  {kind.title}"
    yield ""
    yield from textwrap.wrap(kind.paragraph, width)
    yield ""
    if kind.section:
        yield f"section  {kind.section}"
    yield from textwrap.wrap(f"claim    {kind.claim}: {CLAIMS[kind.claim]}", width, subsequent_indent=" " * 9)


def explain_octets(octets: bytes, width: int, profile: Profile = RFC3629) -> Iterator[str]:
    """The walk through the automaton, segment by segment, and the result of each error mode."""
    spoken, vector = profile.dialect, Vector("input", octets, profile=profile)
    verdict = "well-formed" if vector.flaw is None else "ill-formed"
    yield f"{spaced_hex(octets)}  {verdict} ({spoken.name})"
    yield ""
    before = b""  # the preceding characters, which matter in wtf-8
    for found in vector.segments:
        if found.offset >= _EXPLAINED:
            yield f"… {len(octets) - found.offset} more octets"
            break
        yield from _segment(octets, found, spoken, width, before)
        yield ""
        end = found.offset + found.length
        before = before + octets[found.offset : end] if isinstance(found, WellFormed) else b""
    names = len(max(ERROR_MODES, key=len)) + 2
    for mode in ERROR_MODES.values():
        if mode.stands_for is None:
            made = expected_in_words(vector.strict)
        else:
            made = code_points(tuple(fold(octets, mode, spoken)), 64)
        name = mode.name if vector.flaw is not None else "every error mode"
        yield from textwrap.wrap(f"{name:<{names}}{made}", width, subsequent_indent=" " * names)
        if vector.flaw is None:
            break


def _segment(octets: bytes, found: Segment, spoken: Dialect, width: int, before: bytes) -> Iterator[str]:
    automaton, unfolded = spoken.automaton, spoken.unfolded
    names = access_words(automaton)
    state, detail = automaton.run(before), unfolded.run(before)
    end = found.offset + found.length
    shown = end if isinstance(found, WellFormed) else min(end + 1, len(octets))
    for offset in range(found.offset, shown):
        octet = octets[offset]
        expected = sorted(unfolded.open[detail], key=lambda position: position.index)
        here = [position for position in expected if octet in position.octets]
        to, detail = automaton.table[state][octet], unfolded.table[detail][octet]
        move = f"state {_state(names, state)} → {_state(names, to, automaton.dead)}"
        line = f"  {offset:>4}  {octet:02X}  {octet:08b}  {move}  {_positions(here, expected)}"
        yield from textwrap.wrap(line, width, subsequent_indent=" " * 22)
        if to == automaton.dead:
            break
        state = to
    if isinstance(found, WellFormed):
        yield f"        U+{found.scalar:04X}, {counted(found.length, 'octet')}"
        return
    if found.incomplete:
        missing = sorted(unfolded.open[detail], key=lambda position: position.index)
        yield from textwrap.wrap(f"        the input ends; {_positions([], missing)}", width, subsequent_indent=" " * 8)
    yield from textwrap.wrap(
        f"        ill-formed at offset {found.offset}, {counted(found.length, 'octet')}: "
        f"{found.defect}: {found.defect.line} ({found.defect.section})",
        width,
        subsequent_indent=" " * 8,
    )


def _state(names: tuple[bytes, ...], state: int, dead: int | None = None) -> str:
    """A state, named by its access word: the shortest octets that lead there."""
    if state == dead:
        return "dead"
    return f"[{names[state].hex(' ').upper()}]" if names[state] else "[start]"


def _positions(here: list[Position], expected: list[Position]) -> str:
    if here:
        return "; ".join(dict.fromkeys(str(position.form) for position in here))
    wanted = OctetClass(tuple(octet for octet in OCTETS if any(octet in position.octets for position in expected)))
    forms = list(dict.fromkeys(str(position.form) for position in expected))
    return f"no alternative; wanted {wanted}" + (f" ({forms[0]})" if len(forms) == 1 else "")
