"""Whether a finding shows again: each time that its process is asked, and in fresh processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.examination.shrinking import CHANGING, is_answer, spliced
from overlong.conformance.oracle.compare import place_of_fault
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.wire import DECODE, GUARDED, VALIDATE
from overlong.conformance.sweep.pool import cpus
from overlong.conformance.vectors.encoding import WIDTHS
from overlong.conformance.vectors.questions import Asked
from overlong.fuzz.campaign.stored import AGAIN
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.execution.probe import Probe

_DOUBTED, _DOUBTED_MEMORY, _DOUBTED_FAULTS = 8, 3, 1
"""How often a finding must show again, with other inputs in between; in memory; and one that ends its process."""
_LOOK = 0.05  # seconds between two looks at other work


def steady(finding: Finding, probe: Probe) -> Finding:
    """The finding as it shows each time in new processes, after any other input.

    If it does not, it is one of a changing answer; or of memory, if an examination of that shows the reason.

    Raises:
        TargetError: the target cannot be asked any more.
    """
    probe.renew()  # what it was asked before must not matter
    if finding.code not in CHANGING or finding.operation == GUARDED:
        vector, times = finding.vector, _DOUBTED_MEMORY if finding.operation == GUARDED else _DOUBTED
        harmless = [spliced(vector, 0, len(vector.octets), octets) for octets in _harmless(vector.category)]
        asked = [each for number in range(times) for each in (harmless[number % len(harmless)], vector)]
        asked = [*asked, vector] if is_answer(finding) else asked[: 2 * _DOUBTED_FAULTS]
        said = zip(asked, probe.ask(asked, finding.operation), strict=True)
        first, *others = [found for each, (_, found) in said if each is vector]
        if first is not None and all(each is not None and each.code == first.code for each in others):
            return first
    if GUARDED in probe.operations and finding.operation in VALIDATE + DECODE:
        examined = probe.ask_one(finding.vector, GUARDED)
        if examined is not None and examined.code in CHANGING:
            return examined
    if finding.code in CHANGING:
        return finding
    detail = ("each time", "not so when it was asked again")
    return replace(finding, code=Code.UNSTABLE, place=place_of_fault(finding.operation), detail=detail)


def _harmless(category: str) -> tuple[bytes, ...]:
    """One or two inputs of a category to ask in between."""
    if category in QUESTIONS:
        question = QUESTIONS[category]
        text = b"aaa"  # long enough for every argument
        return tuple(Asked(question, number, text).payload for number in question.asked(text)[-2:])
    return b"", bytes(WIDTHS.get(category, 1))


def stable(finding: Finding, probe: Probe, meanwhile: Callable[[], None] = lambda: None) -> int:
    """Return how often it shows, out of :data:`AGAIN`. A child forked from an earlier process does not count as fresh.

    A finding of a changing answer shows if the answer is wrong in any way.

    Args:
        finding: the finding.
        probe: its target. Its processes stay as they are: others start, one for each processor at a time.
        meanwhile: called while they start and answer. If it raises, no further process starts.

    Raises:
        TargetError: the target does not start any more.
    """

    def shows() -> bool:
        fresh = probe.fresh()
        try:
            again = fresh.ask_one(finding.vector, finding.operation)
        finally:
            fresh.close()
        return again is not None and (again.code == finding.code or finding.code in CHANGING)

    with ThreadPoolExecutor(cpus()) as executor:
        waiting = [executor.submit(shows) for _ in range(AGAIN)]
        try:
            left = set(waiting)
            while left:
                _, left = wait(left, _LOOK)
                meanwhile()
        except BaseException:
            executor.shutdown(wait=False, cancel_futures=True)
            raise
    return sum(each.result() for each in waiting)
