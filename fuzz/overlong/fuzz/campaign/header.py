"""What a campaign's file says of the campaign itself: its job, and the targets when it began."""

from __future__ import annotations

import json
import math
import shlex
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.support.printable import as_text
from overlong.conformance.targets.resolve import Limits
from overlong.conformance.vectors.profile import Profile
from overlong.fuzz.execution.engine import CampaignJob
from overlong.reference import DIALECTS, ERROR_MODES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overlong.fuzz.campaign.store import Store

Identities = list[tuple[str, str]]
"""The name and the digest of each target."""


def named(target: str | tuple[str, ...]) -> str:
    """A target as findings name it."""
    return as_text(target if isinstance(target, str) else f"-- {shlex.join(target)}")


def header_of(job: CampaignJob, identities: Sequence[str]) -> dict[str, str]:
    """The job and the digests of its targets, for a new campaign's file."""
    said = {
        "targets": job.targets,
        "seed": str(job.seed),
        "engine": job.engine,
        "profile": asdict(job.profile),
        "limits": asdict(job.limits),
    }
    pairs = list(zip(map(named, job.targets), identities, strict=True))
    return {"job": json.dumps(said), "identities": json.dumps(pairs)}


def job_of(store: Store) -> CampaignJob:
    """The original job of a campaign, without its seeds.

    Raises:
        CampaignError: the file is damaged.
    """
    with store.part_of_header("job") as text:
        read = json.loads(text)
        targets = tuple(map(_target, read["targets"]))
        if not targets:
            raise ValueError
        seed, profile = int(read["seed"]), Profile(**{name: _text(word) for name, word in read["profile"].items()})
        if profile.speaks not in DIALECTS or profile.replaces not in ERROR_MODES:
            raise ValueError
        return CampaignJob(targets, seed, _text(read["engine"]), profile, _limits(read["limits"]))


def identities_of(store: Store, job: CampaignJob) -> Identities:
    """The digests of the targets when the campaign began.

    Raises:
        CampaignError: the file is damaged.
    """
    with store.part_of_header("identities") as text:
        pairs = [(_text(name), _text(digest)) for name, digest in json.loads(text)]
        if [name for name, _ in pairs] != list(map(named, job.targets)):
            raise ValueError
        return pairs


def _target(read: object) -> str | tuple[str, ...]:
    return read if isinstance(read, str) else tuple(map(_text, cast("list[object]", read)))


def _limits(read: dict[str, Any]) -> Limits:
    limits = Limits(**read)
    for number, kind, least, most in (
        (limits.timeout, int | float, 0.01, 3600),  # as on the command line
        (limits.restarts, int, 0, math.inf),
        (limits.memory, int, 0, 1 << 60),
        (limits.sandbox, bool, 0, 1),
    ):
        if not isinstance(number, kind) or not least <= number <= most:
            raise ValueError
    return limits


def _text(read: object) -> str:
    """A string that was written as one.

    Raises:
        TypeError: it was not.
    """
    if not isinstance(read, str):
        raise TypeError
    return read
