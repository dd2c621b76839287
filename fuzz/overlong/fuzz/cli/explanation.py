"""The explanation of a finding: its facts, the path of its octets, the meaning of its code, and next steps."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.explanation import explain_code, explain_octets
from overlong.conformance.protocol.kind import KINDS
from overlong.conformance.protocol.wire import ASK, ENCODING, QUESTION
from overlong.conformance.report.found import core, is_difference
from overlong.conformance.results.model import STABLE
from overlong.conformance.support.printable import printable, spaced_hex
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.campaign.state import REPETITIONS
from overlong.fuzz.promotion.case import case_of
from overlong.fuzz.promotion.promote import PromotionError, check
from overlong.fuzz.report.findings import lines_of
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.fuzz.report.findings import Found

_OPEN = (
    "A difference is no fault: RFC 3629 allows both answers. But two programs that read the same octets with these "
    "targets get different results; if the programs must agree, their specification has to choose."
)
_UNSTABLE = (
    "The finding did not recur in every fresh process: some state outlives a call, or the target reads beyond its "
    "input. Run the input many times; under a sanitizer if the target is native code."
)


def explain_finding(stored: Found, folder: str, width: int) -> Iterator[str]:
    """The lines, none of them styled, none (but commands) wider than ``width``."""
    yield from lines_of(stored, folder, width, explain=False)
    for word in _offered(stored, folder):
        yield f"     {word}: {printable(shlex.join(['overlong', 'finding', word, folder, stored.id]), 1000)}"
    if stored.operation not in ENCODING:  # the input of an encoder is no UTF-8
        yield ""
        yield from _walk(stored, width)
    differs = is_difference(stored)
    if not differs and (stored.code in DEFECTS or stored.code in KINDS):
        yield ""
        yield from explain_code(stored.code, width)
    unstable = dict(stored.more).get(STABLE, always := f"{REPETITIONS} of {REPETITIONS}") != always
    for paragraph in (_OPEN * differs, _UNSTABLE * unstable):
        if paragraph:
            yield ""
            yield from textwrap.wrap(paragraph, width)


def _walk(stored: Found, width: int) -> Iterator[str]:
    """The path of the finding's octets, without filler, through the automaton."""
    octets = stored.octets[QUESTION.size :] if stored.operation == ASK else stored.octets
    start, end = core(Vector("fuzz", octets, profile=stored.profile))
    if (start, end) != (0, len(octets)):
        before, after = octets[:start], octets[end:]
        aside = [f"{spaced_hex(before)} before them"] * bool(before) + [f"{spaced_hex(after)} after them"] * bool(after)
        line = f"Its octets from offset {start} on ({', '.join(aside)}):"
        yield from textwrap.wrap(line, width)
    yield from explain_octets(octets[start:end], width, stored.profile)


def _offered(stored: Found, folder: str) -> Iterator[str]:
    """The commands that apply to the finding: a difference has none, and not every finding can become a test."""
    if not is_difference(stored):
        with contextlib.suppress(PromotionError):
            check(stored)
            yield "promote"
        with contextlib.suppress(PromotionError):
            case_of(stored, folder)
            yield "test"
