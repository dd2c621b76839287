"""The walk of octets through the automaton of a dialect, drawn from top to bottom: a state, an octet, a state.

Also the learned automaton of a decoder beside that of the reference, as ``identify`` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING

from overlong.conformance.report.pictures.svg import image, words
from overlong.conformance.support.printable import spaced_hex
from overlong.reference import DIALECTS, WellFormed, dialect, segments
from overlong.reference.automaton import OCTETS, OctetClass, access_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.conformance.results.model import Subject
    from overlong.reference import Dialect

_HEAD, _TAIL = 4, 10  # steps drawn of a long walk: at its beginning, and at its end
_LONGEST_INPUT = 1 << 16
_ROW, _RAIL, _TEXT, _WIDTH, _RADIUS = 46, 26, 52, 640, 9
_LONGEST = 84  # characters of a line


@dataclass(frozen=True)
class WalkStep:
    """One octet read."""

    offset: int
    octet: int
    group: OctetClass
    """The class of the octet: octets that no state distinguishes from it."""
    to: int
    """The state after it."""
    stands: str
    """The state after it, in words."""
    open: str
    """The alternatives of the grammar that are possible after the octet; for the last step, the octets wanted."""


@lru_cache(maxsize=512)
def walk(octets: bytes, profile: str, chunks: tuple[int, ...] | None = None) -> str:
    """A picture of the walk; empty if the profile is unknown, or the input is longer than 65 536 octets.

    Args:
        octets: the input.
        profile: ``rfc3629@1``; the number does not matter.
        chunks: lengths, if the input came in chunks; the picture has a line at each end of a chunk.
    """
    speaks = profile.partition("@")[0]
    if speaks not in DIALECTS or len(octets) > _LONGEST_INPUT:
        return ""
    automaton = dialect(speaks).automaton
    steps, end, state, unread = walked_through(octets, dialect(speaks))
    rows: list[str] = []
    y = 30.0
    rows.append(words(_TEXT, y + 5, "start", "strong"))
    nodes = [(y, "accepts" if automaton.accepting[0] else "inside")]
    edges = set(accumulate(chunks or ()))  # where chunks end
    for step in _shown(steps):
        y += _ROW
        if isinstance(step, str):
            rows.append(words(_TEXT, y + 5, step, "quiet"))
            continue
        last = step is steps[-1]
        kind = state if last else "accepts" if automaton.accepting[step.to] else "inside"
        nodes.append((y, kind))
        rows += _step(step, y, kind)
        if step.offset in edges and step.offset:
            line = f'<path class="cut" d="M8 {y - _ROW / 2:g}H{_WIDTH - 8}"/>'
            rows += [line, words(_WIDTH - 8, y - _ROW / 2 - 4, "next chunk", "quiet", anchor="end")]
    y += _ROW
    rows.append(words(_TEXT, y - 8, end, "dead strong" if state == "dies" else "strong"))
    if unread:
        more = "1 octet" if unread == 1 else f"{unread} octets"
        y += 20
        rows.append(words(_TEXT, y - 8, f"not read any more: {more}; nothing after this makes it well-formed", "quiet"))
    rail = f'<path class="rail" d="M{_RAIL} {nodes[0][0]:g}V{nodes[-1][0]:g}"/>'
    body = [rail, *rows, *(_node(*node) for node in nodes)]
    label = f"Walk of {spaced_hex(octets)} through the automaton of {speaks}: {end}"
    return image("walk", label, (_WIDTH, y + 6), body)


def walked_through(octets: bytes, spoken: Dialect) -> tuple[list[WalkStep], str, str, int]:
    """The steps of ``octets`` through the automaton, up to the one after which nothing can be accepted.

    Returns:
        The steps; how the walk ends, in words; ``accepts``, ``open`` or ``dies``; and the number of octets that it does
        not read after it has died.
    """
    automaton, unfolded, names = spoken.automaton, spoken.unfolded, access_words(spoken.automaton)
    groups = {octet: group for group in automaton.classes for octet in group.octets}
    steps: list[WalkStep] = []
    state = detail = 0
    for offset, octet in enumerate(octets):
        wanted = unfolded.open[detail]
        here = [each for each in wanted if octet in each.octets]
        state, detail = automaton.table[state][octet], unfolded.table[detail][octet]
        if state == automaton.dead:
            able = OctetClass(tuple(each for each in OCTETS if any(each in position.octets for position in wanted)))
            steps.append(WalkStep(offset, octet, groups[octet], state, "dead", f"no alternative has it; wanted {able}"))
            return steps, _flaw(octets, spoken), "dies", len(octets) - offset - 1
        forms = dict.fromkeys(str(each.form) for each in sorted(here, key=lambda each: each.index))
        name = names[state].hex(" ").upper() or "start"
        steps.append(WalkStep(offset, octet, groups[octet], state, name, "; ".join(forms)))
    if automaton.accepting[state]:
        return steps, "well-formed: the input ends between characters", "accepts", 0
    return steps, _flaw(octets, spoken), "open", 0


def _flaw(octets: bytes, spoken: Dialect) -> str:
    """The reference's report on the first error."""
    flaw = next(each for each in segments(octets, spoken=spoken) if not isinstance(each, WellFormed))
    count = "1 octet" if flaw.length == 1 else f"{flaw.length} octets"
    return f"ill-formed at offset {flaw.offset}, {count}: {flaw.defect.code} {flaw.defect.title}"


def _shown(steps: Sequence[WalkStep]) -> Iterator[WalkStep | str]:
    """The steps to draw, and a text for the steps left out."""
    left = len(steps) - _HEAD - _TAIL
    if left <= 1:
        yield from steps
        return
    yield from steps[:_HEAD]
    yield f"… {left} more octets, up to offset {steps[-_TAIL].offset - 1} …"
    yield from steps[-_TAIL:]


def _step(step: WalkStep, y: float, kind: str) -> Iterator[str]:
    """The text beside an edge and the state that it leads to."""
    dead = " dead" if kind == "dies" else ""
    yield words(_TEXT, y - 4, f"{step.octet:02X}", "octet strong" + dead)
    yield words(_TEXT + 30, y - 4, f"{step.octet:08b}", "octet")
    yield words(_TEXT + 118, y - 4, f"→ {step.stands}", "code" + dead)
    yield words(_WIDTH - 8, y - 4, f"offset {step.offset} · class {_cut(str(step.group), 36)}", "quiet", anchor="end")
    yield words(_TEXT, y + 14, _cut(step.open, _LONGEST), "code quiet" + dead)


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _node(y: float, kind: str) -> str:
    """A state: a double circle if it accepts, a cross if the walk dies."""
    circle = f'<circle class="state {kind}" cx="{_RAIL}" cy="{y:g}" r="{_RADIUS}"/>'
    if kind == "dies":
        return circle + f'<path class="cross" d="M{_RAIL - 4} {y - 4:g}l8 8m0-8l-8 8"/>'
    if kind == "accepts":
        return circle + f'<circle class="state" cx="{_RAIL}" cy="{y:g}" r="4"/>'
    return circle


def automaton_picture(subject: Subject) -> str:
    """A decoder's learned automaton. If the decoder passes the verdict, this is the reference's, as complete-0 proves.

    Returns:
        SVG; empty if the automaton is unknown. The learned automaton comes from a file, and may be hostile.
    """
    from overlong.conformance.models.identify.picture import Drawing, drawn_in_svg

    if subject.automaton is not None and subject.automaton.svg:
        return subject.automaton.svg
    speaks = subject.profile.partition("@")[0]
    whole = any(part.name == "complete-0" and not part.failing and part.asked == part.all for part in subject.parts)
    if subject.claims.get("verdict") != "holds" or speaks not in DIALECTS or not whole:
        return ""
    known = dialect(speaks).automaton
    return drawn_in_svg([Drawing(f"{speaks}, the reference; complete-0 shows that it is this", known, known)])
