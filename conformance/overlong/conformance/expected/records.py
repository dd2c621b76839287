"""Expected deviations as plain data: in results, and in a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlong.conformance.expected.deviation import Deviation
    from overlong.conformance.expected.expectations import Expectations, Stale
    from overlong.conformance.finding import Bucket
    from overlong.conformance.runner import Run


def standing_as_json(bucket: Bucket, expected: Expectations | None) -> dict[str, Any]:
    """How a bucket stands to what is expected; empty if nobody said anything."""
    if expected is None or not expected.all:
        return {}
    deviation = expected.of_bucket(bucket.example.bucket)
    if deviation is None:
        return {"standing": "unexpected", "reason": "", "link": ""}
    return {"standing": "expected", "reason": deviation.reason, "link": deviation.link}


def deviation_as_json(deviation: Deviation) -> dict[str, Any]:
    return {
        "where": deviation.where,
        "target": deviation.target,
        "vector": deviation.id,
        "code": deviation.code,
        "place": deviation.place or "",
        "operation": deviation.operation,
        "observed": deviation.observed,
        "reason": deviation.reason,
        "link": deviation.link,
        "expires": None if deviation.expires is None else deviation.expires.isoformat(),
    }


def stale_as_json(stale: Stale) -> dict[str, Any]:
    return {**deviation_as_json(stale.deviation), "why": stale.why}


def expected_as_json(expected: Expectations | None) -> dict[str, Any]:
    """What a certificate says of all that: the entries that stand for something, and those gone stale."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    return {
        "expected": [
            {**deviation_as_json(each), "divergences": expected.tally(each).total} for each in expected.occurring
        ],
        "stale": [stale_as_json(each) for each in expected.stale],
    }


def counts_as_json(expected: Expectations | None, run: Run) -> dict[str, Any]:
    """Of results: how many buckets and divergences are expected, and how many entries are stale."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    buckets = [bucket for key, bucket in run.buckets.items() if expected.of_bucket(key) is not None]
    counts = {
        "buckets": len(buckets),
        "divergences": sum(bucket.count for bucket in buckets),
        "stale": len(expected.stale),
    }
    return {"expected": counts}
