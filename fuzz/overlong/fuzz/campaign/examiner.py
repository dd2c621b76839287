"""Turns divergences into buckets: finds the least example, and a simpler question with a wrong answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.protocol.kind import POSITION
from overlong.conformance.protocol.wire import AGAIN, AGAIN_REPLACE, DECODE, REPLACE, REPLACING, STREAMING, VALIDATE
from overlong.fuzz.campaign.differing import Differing
from overlong.fuzz.campaign.triage import Examined
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.minimise.bucket import UNSTABLE, key_of
from overlong.fuzz.minimise.minimise import Minimised, minimise, order
from overlong.fuzz.minimise.place import REFUSED, place_of
from overlong.fuzz.minimise.stability import stable
from overlong.fuzz.minimise.stored import AGAIN as TIMES
from overlong.fuzz.minimise.stored import ANYWHERE
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from overlong.conformance.oracle.finding import Finding
    from overlong.fuzz.execution.divergence import Divergence
    from overlong.fuzz.execution.engine import CampaignJob
    from overlong.fuzz.minimise.bucket import Key

_SECONDS = 5.0  # to minimise a fault
_DIFFERENCE = 1.0  # to minimise a difference: there are many, and they are no faults


class Probing:
    """Asks the targets of a job, each in processes of its own, which are kept from one divergence to the next."""

    def __init__(self, job: CampaignJob, meanwhile: Callable[[], None] = lambda: None) -> None:
        """Start no process before the first examination.

        Args:
            job: whose targets.
            meanwhile: called between two questions. If it raises, the examination ends.
        """
        self._meanwhile = meanwhile
        self._elsewhere = 0.0
        self._least: dict[Key, Examined] = {}
        """The least examples of faults that show in any place."""
        probes = [Probe(target, job.limits, job.profile) for target in job.targets]
        self._probes = {probe.id: probe for probe in probes}

    def examine(self, divergence: Divergence) -> Examined:
        """Find the bucket and the least example of a divergence.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        probe = self._probes[divergence.target]
        if divergence.peer:
            both = Differing(probe, self._probes[divergence.peer], divergence.finding.operation)
            small = minimise(divergence.finding, both, seconds=_DIFFERENCE, clock=self._clock)
            key = key_of(small.finding, f"{divergence.target} and {divergence.peer}")
            # a habit shows in many places, but is one finding
            name = key._replace(form="", octets_at="", placement="").id
        else:
            if (known := self._recognised(divergence.finding, probe)) is not None:
                return known
            small = minimise(divergence.finding, probe, seconds=_SECONDS, clock=self._clock)
            if (simpler := _simpler(small.finding, probe)) is not None:
                small = minimise(simpler, probe, seconds=_SECONDS, clock=self._clock)
            key = key_of(small.finding, divergence.target)
            name = key.id
        examined = _examined(small, divergence, name, (key.form, key.octets_at, key.placement))
        if small.minimal and key.placement == ANYWHERE and not divergence.peer:
            self._least[key._replace(octets_at="")] = examined
        return examined

    def _recognised(self, finding: Finding, probe: Probe) -> Examined | None:
        """A known fault of the same code and alternative, if the sequence of the finding alone shows it.

        Then nothing around the sequence matters, and minimising would give the known fault. So most divergences of a
        decoder
        with a few faults cost one question.
        """
        if finding.operation not in VALIDATE + DECODE or finding.code not in (REFUSED, *DEFECTS):
            return None
        place = place_of(finding)
        sequence = finding.vector.octets[place.offset : place.offset + place.length]
        if not place.certain or not sequence:
            return None
        self._meanwhile()
        alone = probe.ask_one(replace(finding.vector, octets=sequence, chunks=None, earlier=None), finding.operation)
        if alone is None or alone.code != finding.code:
            return None
        known = self._least.get(key_of(alone, probe.id)._replace(octets_at=""))
        return known if known is not None and order(known.finding.vector) <= order(alone.vector) else None

    def stable(self, examined: Examined) -> int:
        """How often the finding recurs in ``stored.AGAIN`` repetitions, each in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        if examined.peer:
            return 0 if examined.code == UNSTABLE else TIMES
        return stable(examined.finding, self._probes[examined.target], self._meanwhile)

    def _clock(self) -> float:
        """Seconds, without the time spent on other work."""
        began = time.monotonic()
        self._meanwhile()
        now = time.monotonic()
        self._elsewhere += now - began
        return now - self._elsewhere

    def close(self) -> None:
        """End all processes. Never raises."""
        for probe in self._probes.values():
            probe.close()


def _examined(small: Minimised, divergence: Divergence, name: str, words: tuple[str, str, str]) -> Examined:
    form, octets_at, placement = words
    return Examined(
        name, divergence.target, divergence.peer, small.finding.code, form, octets_at, placement, small.finding,
        small.minimal,
    )  # fmt: skip


def _simpler(finding: Finding, probe: Probe) -> Finding | None:
    """The fault of the same octets with replacement of the whole input, or in an unused decoder.

    The minimiser has already looked for a wrong verdict on the whole input.
    """
    vector, asked = finding.vector, list[tuple[str, bool]]()
    if finding.operation in REPLACING and finding.operation != REPLACE:
        asked.append((REPLACE, False))
    if finding.operation in AGAIN:
        asked.append((STREAMING[finding.operation == AGAIN_REPLACE], True))
    for operation, in_chunks in asked:
        if operation in probe.operations:
            chunks = vector.chunks if in_chunks else None
            found = probe.ask_one(replace(vector, chunks=chunks, earlier=None), operation)
            if found is not None and (found.claim != POSITION or finding.claim == POSITION):
                return found
    return None
