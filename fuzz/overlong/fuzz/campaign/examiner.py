"""Divergences to buckets: the least example of each, and what simpler question its target answers wrongly, too."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.kind import POSITION
from overlong.conformance.protocol import AGAIN, AGAIN_REPLACE, REPLACE, REPLACING, STREAMING
from overlong.fuzz.bucket import UNSTABLE, key_of
from overlong.fuzz.campaign.absorb import Examined
from overlong.fuzz.campaign.differing import Differing
from overlong.fuzz.campaign.stored import AGAIN as TIMES
from overlong.fuzz.minimise.minimise import Minimised, minimise
from overlong.fuzz.minimise.stability import stable
from overlong.fuzz.probe import Probe

if TYPE_CHECKING:
    from overlong.conformance.finding import Finding
    from overlong.fuzz.divergence import Divergence
    from overlong.fuzz.engines.engine import Job

_SECONDS = 5.0  # to minimise a fault
_DIFFERENCE = 1.0  # to minimise a difference: they are many, and nobody's fault


class Probing:
    """Asks the targets of a job, each in processes of its own, which are kept from one divergence to the next."""

    def __init__(self, job: Job) -> None:
        """Nothing is started before something is examined."""
        probes = [Probe(target, job.limits, job.profile) for target in job.targets]
        self._probes = {probe.id: probe for probe in probes}

    def examine(self, divergence: Divergence) -> Examined:
        """Its bucket and least example.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        probe = self._probes[divergence.target]
        if divergence.peer:
            both = Differing(probe, self._probes[divergence.peer], divergence.finding.operation)
            small = minimise(divergence.finding, both, seconds=_DIFFERENCE)
            key = key_of(small.finding, f"{divergence.target} and {divergence.peer}")
            # a habit shows in many places: what kind of octets it is about is enough to tell it from others
            name = key._replace(form=small.finding.place, octets_at="", placement="").id
        else:
            small = minimise(divergence.finding, probe, seconds=_SECONDS)
            if (simpler := _simpler(small.finding, probe)) is not None:
                small = minimise(simpler, probe, seconds=_SECONDS)
            key = key_of(small.finding, divergence.target)
            name = key.id
        return _examined(small, divergence, name, (key.form, key.octets_at, key.placement))

    def stable(self, examined: Examined) -> int:
        """How often it shows again, out of ``stored.AGAIN``, each time in fresh processes.

        Raises:
            TargetError: the target cannot be asked any more.
        """
        if examined.peer:
            return 0 if examined.code == UNSTABLE else TIMES
        return stable(examined.finding, self._probes[examined.target])

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
    """What is wrong with the same octets if they are replaced as a whole, or by a decoder that was not used before.

    That the verdict on the whole may be wrong, too, is looked at before: while it is minimised.
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
