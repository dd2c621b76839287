"""What a campaign works with; tests of campaigns give it others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from overlong.fuzz.campaign.triage import Examiner
    from overlong.fuzz.execution.engine import CampaignJob, InputEngine
    from overlong.reference import Dialect


def _open_engine(job: CampaignJob) -> InputEngine:
    from overlong.fuzz.engines.opening import open_engine

    return open_engine(job)


def _open_examiner(job: CampaignJob, meanwhile: Callable[[], None]) -> Examiner:
    from overlong.fuzz.campaign.examiner import Probing

    return Probing(job, meanwhile)


def _features_of(octets: bytes, spoken: Dialect) -> frozenset[int]:
    from overlong.fuzz.generation.features import features_of

    return features_of(octets, spoken)


def _edges(features: frozenset[int], spoken: Dialect) -> tuple[int, int]:
    from overlong.fuzz.generation.features import edges

    return edges(features, spoken)


def _identities(job: CampaignJob) -> tuple[str, ...]:
    from overlong.fuzz.campaign.pool import identities_of

    return identities_of(job)


def _check(file: Path, job: CampaignJob) -> None:
    from overlong.conformance.targets.consent import check_from

    check_from(file, job.targets)


@dataclass(frozen=True)
class Tools:
    """What a campaign works with. Functions are named, so that other processes find them, too."""

    open_engine: Callable[[CampaignJob], InputEngine] = _open_engine
    open_examiner: Callable[[CampaignJob, Callable[[], None]], Examiner] = _open_examiner
    features_of: Callable[[bytes, Dialect], frozenset[int]] = _features_of
    edges: Callable[[frozenset[int], Dialect], tuple[int, int]] = _edges
    identities: Callable[[CampaignJob], tuple[str, ...]] = _identities
    check: Callable[[Path, CampaignJob], None] = _check
    """Checks that the user has agreed to the targets that a campaign's file names, before anything of them runs."""


USUAL = Tools()
