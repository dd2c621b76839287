"""Divergences of a campaign over time: steps, with time on a logarithmic axis."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from overlong.conformance.report.pictures.svg import image, words
from overlong.conformance.support.printable import thousands

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.results.model import Moment, Report

_LEFT, _TOP, _WIDTH, _HEIGHT = 64, 34, 560, 240
_POINTS = 600  # points of a line; more points than pixels show nothing more
_ROUND = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 18000, 36000, 86400)
_APART = 46  # between two labels of time
_LEAST = 0.1  # seconds at the left end


def discovery(report: Report) -> str:
    """The number of findings of a campaign over time; empty if the campaign recorded no moments."""
    moments = sorted((each for each in report.discovery if math.isfinite(each.seconds)), key=lambda each: each.seconds)
    if not moments:
        return ""
    last = max(moments[-1].seconds, 10 * _LEAST)
    first = max(min(moments[0].seconds, last / 10), _LEAST)
    most = max(each.findings for each in moments)

    def x(seconds: float) -> float:
        share = math.log(max(seconds, first) / first) / math.log(last / first)
        return round(_LEFT + _WIDTH * share, 1)

    def y(findings: int) -> float:
        return round(_TOP + _HEIGHT * (1 - findings / max(most, 1)), 1)

    steps = _steps(moments)
    line = f"M{x(first):g} {y(0):g}" + "".join(f"H{x(each.seconds):g}V{y(each.findings):g}" for each in steps)
    executions = f"{thousands(moments[-1].executions)} executions"
    label = f"Divergences over time: {most} in {_time(moments[-1].seconds)}, {executions}"
    dots = [f'<circle class="dot" cx="{x(each.seconds):g}" cy="{y(each.findings):g}" r="3"/>' for each in steps]
    body = [
        words(8, 16, "divergences found ↑", "axis"),
        words(_LEFT + _WIDTH, _TOP + _HEIGHT + 40, "time (logarithmic) →", "axis", anchor="end"),
        *_axis_of_time(first, last, x),
        *_axis_of_findings(most, y),
        f'<path class="steps" d="{line}H{_LEFT + _WIDTH}"/>',
        *(dots if len(dots) <= 60 else ()),
        words(_LEFT, _TOP + _HEIGHT + 40, executions, "quiet"),
    ]
    return image("discovery", label, (_LEFT + _WIDTH + 24, _TOP + _HEIGHT + 52), body)


def _steps(moments: Sequence[Moment]) -> list[Moment]:
    """The moments with new findings; evenly thinned out if there are very many."""
    found: list[Moment] = []
    for each in moments:
        if each.findings > (found[-1].findings if found else 0):
            found.append(each)
    if len(found) <= _POINTS:
        return found
    return [found[at * (len(found) - 1) // (_POINTS - 1)] for at in range(_POINTS)]


def _axis_of_time(first: float, last: float, x: Callable[[float], float]) -> Iterator[str]:
    bottom, before = _TOP + _HEIGHT, 0.0
    for seconds in (_LEAST, *_ROUND):
        if first <= seconds <= last and x(seconds) - before >= _APART:
            before = x(seconds)
            yield f'<path class="grid" d="M{x(seconds):g} {_TOP}V{bottom + 4}"/>'
            yield words(x(seconds), bottom + 18, _time(seconds), "tick", anchor="middle")


def _axis_of_findings(most: int, y: Callable[[int], float]) -> Iterator[str]:
    step = max(1, 10 ** max(len(str(most)) - 1, 0) // 2)
    while most / step > 6:
        step *= 2
    for findings in range(0, most + 1, step):
        yield f'<path class="grid" d="M{_LEFT - 4} {y(findings):g}H{_LEFT + _WIDTH}"/>'
        yield words(_LEFT - 8, y(findings) + 4, str(findings), "tick", anchor="end")


def _time(seconds: float) -> str:
    """``30 s``, ``5 min``, ``2 h``."""
    for unit, name in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} s"
