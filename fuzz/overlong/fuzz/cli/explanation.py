"""What a finding is: its facts, the walk of its octets through the automaton, what its code means, what to do."""

from __future__ import annotations

import contextlib
import shlex
import textwrap
from typing import TYPE_CHECKING

from overlong.conformance.oracle.explanation import explain_code, explain_octets
from overlong.conformance.protocol.kind import KINDS
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.report.found import abbreviated, core
from overlong.conformance.support.printable import printable
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.minimise.stored import StoredFinding
from overlong.fuzz.promotion.case import case_of
from overlong.fuzz.promotion.promote import PromotionError, check
from overlong.fuzz.report.findings import lines_of
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from overlong.conformance.vectors.profile import Profile
    from overlong.fuzz.report.campaign import Found

_OPEN = (
    "A difference is no fault: RFC 3629 leaves open what the two targets do differently. Two programs that read the "
    "same octets with them come to different results; if they must agree, their specification has to choose."
)
_UNSTABLE = (
    "It did not show each time that it was asked again in a fresh process: something outlives a call, or the target "
    "reads what is not its input. Ask it many times, under a sanitizer if it is native code."
)


def explain_finding(stored: Found, profile: Profile, folder: str, width: int) -> Iterator[str]:
    """The lines, none of them styled, none (but commands) wider than ``width``."""
    explain, *rest = reversed(list(lines_of(stored, profile, folder, width)))
    assert "explain:" in explain  # that is what this is
    yield from reversed(rest)
    for word in _offered(stored, profile, folder):
        yield f"     {word}: {printable(shlex.join(['overlong', 'finding', word, folder, stored.id]), 1000)}"
    if stored.operation not in ENCODING:  # what those are given is no UTF-8
        yield ""
        yield from _walk(stored, profile, width)
    if not stored.is_difference and (stored.code in DEFECTS or stored.code in KINDS):
        yield ""
        yield from explain_code(stored.code, width)
    unstable = isinstance(stored, StoredFinding) and not stored.is_stable
    for paragraph in (_OPEN * stored.is_difference, _UNSTABLE * unstable):
        if paragraph:
            yield ""
            yield from textwrap.wrap(paragraph, width)


def _walk(stored: Found, profile: Profile, width: int) -> Iterator[str]:
    """Its octets, without what is only filler, through the automaton."""
    start, end = core(Vector("fuzz", stored.octets, profile=profile))
    if (start, end) != (0, len(stored.octets)):
        before, after = stored.octets[:start], stored.octets[end:]
        aside = [f"{abbreviated(before)} before them"] * bool(before) + [f"{abbreviated(after)} behind them"] * bool(
            after
        )
        line = f"Its octets from offset {start} on ({', '.join(aside)}):"
        yield from textwrap.wrap(line, width)
    yield from explain_octets(stored.octets[start:end], width, profile)


def _offered(stored: Found, profile: Profile, folder: str) -> Iterator[str]:
    """What can be done with it: a difference cannot be mended, and a finding cannot be a test in every language."""
    if not stored.is_difference:
        with contextlib.suppress(PromotionError):
            check(stored, profile)
            yield "promote"
        with contextlib.suppress(PromotionError):
            case_of(stored, folder)
            yield "test"
