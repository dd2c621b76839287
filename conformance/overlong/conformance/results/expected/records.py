"""Expected deviations as plain data: in results, and in a certificate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import portable

if TYPE_CHECKING:
    from overlong.conformance.oracle.finding import Bucket
    from overlong.conformance.results.expected.deviation import Deviation
    from overlong.conformance.results.expected.expectations import Expectations, Stale
    from overlong.conformance.results.run import Run


def standing_as_json(bucket: Bucket, expected: Expectations | None) -> dict[str, Any]:
    """Whether a bucket is expected, as data; empty if no expectations apply."""
    if expected is None or not expected.all:
        return {}
    deviation = expected.of_bucket(bucket)
    if deviation is None:
        return {"standing": "unexpected", "reason": "", "link": ""}
    return {"standing": "expected", "reason": deviation.reason, "link": deviation.link}


def deviation_as_json(deviation: Deviation) -> dict[str, Any]:
    return {
        "where": deviation.where.rpartition("/")[2] if deviation.where.startswith("/") else deviation.where,
        "target": portable(deviation.target),
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
    """The data of a certificate: the entries that cover a divergence, and the stale ones."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    return {
        "expected": [
            {**deviation_as_json(each), "divergences": expected.tally(each).total} for each in expected.occurring
        ],
        "stale": [stale_as_json(each) for each in expected.stale],
    }


def unasked_as_words(expected: Expectations) -> list[str]:
    """A line for each entry that the run could not check."""
    return [f"not tested: {each.deviation.where}: {each.deviation.names}: {each.why}" for each in expected.unasked]


def expired_as_words(expected: Expectations) -> list[str]:
    """A line for each expired entry."""
    return [
        f"expired on {each.expires}, and does not count: {each.where}: {each.names}: {printable(each.reason)}"
        for each in expected.expired
    ]


def missing_as_words(expected: Expectations) -> list[str]:
    """A line on missing reasons; no line if all are given."""
    missing = expected.without_reason
    if not missing:
        return []
    places = ", ".join(each.where for each in missing[:3]) + (", ..." if len(missing) > 3 else "")
    return [f"{'1 reason is' if len(missing) == 1 else f'{len(missing)} reasons are'} missing: {places}"]


def notes_on(expected: Expectations | None) -> list[str]:
    """Notes on entries that are neither met nor stale."""
    if expected is None:
        return []
    return [*unasked_as_words(expected), *expired_as_words(expected), *missing_as_words(expected)]


def counts_as_json(expected: Expectations | None, run: Run) -> dict[str, Any]:
    """The numbers of expected buckets, expected divergences, and stale entries of a run."""
    if expected is None or not (expected.deviations or expected.expired):
        return {}
    buckets = [bucket for bucket in run.buckets.values() if expected.of_bucket(bucket) is not None]
    counts = {
        "buckets": len(buckets),
        "divergences": sum(bucket.count for bucket in buckets),
        "stale": len(expected.stale),
    }
    return {"expected": counts}
