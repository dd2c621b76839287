"""Derives a certificate's dependent fields from the others: sums, results, and the digests of this version's vectors.

Nothing is run. The decoder's files that are here are read: their digests are fields that depend on them.
"""

from __future__ import annotations

import copy
import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from overlong.conformance.certification.verification.subjects import files_here, with_files_here
from overlong.conformance.oracle.limits import aside_in_words, limits_of, without
from overlong.conformance.oracle.target import Answered
from overlong.conformance.protocol.kind import POSITION, SCALARS, VERDICT
from overlong.conformance.protocol.wire import MEASURED, UNITS, Answers, Greeting
from overlong.conformance.results.certificate import LEFT_OUT, OF_A_COMMAND, digest_of_all, not_measured_by
from overlong.conformance.results.headline import result_of, state_of
from overlong.conformance.results.invocation import GivenFile, Invocation, identifier
from overlong.conformance.results.run import FAILS, HOLDS, NOT_MEASURED, SuiteRun, shown_by
from overlong.conformance.support.provenance import generator
from overlong.conformance.sweep.plan import plan_named
from overlong.conformance.targets.resolve import Limits, runs_a_command
from overlong.conformance.vectors.profile import Profile, puts_out
from overlong.conformance.vectors.suites import SUITES
from overlong.reference import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from overlong.conformance.certification.verification.reading import Certified

_NO_ANSWERS = Answers.of(b"", b"", b"", b"", b"")


def consistent(certified: Certified, subjects: Sequence[Path] = ()) -> dict[str, Any]:
    """The statement with its dependent fields derived again; a consistent statement is unchanged.

    ``subjects``: the places of the files that the run added to those of the decoder's command line, in their order.
    """
    statement = copy.deepcopy(certified.statement)
    predicate: dict[str, Any] = statement["predicate"]
    added: dict[str, Any] = predicate["overlong"]
    claims: dict[str, str] = added["claims"]
    added["suites"] = _each_once(added["suites"], "suite")
    added["sweeps"] = _each_once(added["sweeps"], "plan")
    _without_invented(added)
    _as_asked(added)
    for bucket in added["buckets"]:
        claims[bucket["claim"]] = FAILS
        bucket["example"]["claim"], bucket["example"]["code"] = bucket["claim"], bucket["code"]
    if claims[SCALARS] == HOLDS and any(suite.get("without_text") for suite in added["suites"]):
        claims[SCALARS] = NOT_MEASURED
    failing = _in_state(claims, FAILS)
    predicate["passedTests"], added["not_measured"] = _in_state(claims, HOLDS), _in_state(claims, NOT_MEASURED)
    predicate["warnedTests"] = sorted(claim for claim in predicate["warnedTests"] if claim in failing)
    predicate["failedTests"] = [claim for claim in failing if claim not in predicate["warnedTests"]]
    predicate["result"] = _result(added)
    speaks = added["profile"].partition("@")[0]
    added["command"] = invocation_of(certified).command(speaks)
    added["target"]["id"] = identifier(certified.target)
    for suite in added["suites"]:
        _own(suite, speaks, added["target"])
    if words := aside_in_words(added["target"]["traits"], (suite["set_aside"] for suite in added["suites"])):
        added["set_aside"] = words
    else:
        added.pop("set_aside", None)
    if not added["buckets"]:
        added["findings_digest"] = {"sha256": hashlib.sha256().hexdigest()}
    diverging = sum(bucket["count"] for bucket in added["buckets"])
    for suite in added["suites"]:
        suite["failing"] = min(suite["failing"], suite["asked"], diverging)
    added["not_covered"] = not_measured_by(
        [suite["operations"] for suite in added["suites"]], [plan["plan"] for plan in added["sweeps"]]
    ) + _of_a_command(certified)
    added["not_covered"] += [line for line in certified.predicate["not_covered"] if line.startswith(LEFT_OUT)]
    statement["subject"] = with_files_here(statement["subject"], files_here(certified, subjects))
    for plan in added["sweeps"]:
        plan["expected"]["strings"] = _size(plan, speaks)
        plan.update(plan["expected"])
    digest = digest_of_all(suite["vectors_digest"]["sha256"] for suite in added["suites"])
    predicate["configuration"] = [{"name": added["profile"], "digest": {"sha256": digest}}]
    return statement


def _of_a_command(certified: Certified) -> list[str]:
    """The line on files that a command loads, if it must be there; a project's own name may stand for a command."""
    target = certified.target
    named = isinstance(target, str) and ":" not in target and OF_A_COMMAND in certified.predicate["not_covered"]
    return [OF_A_COMMAND] * ((runs_a_command(target) or named) and not certified.subjects)


def unknown_to_us(added: dict[str, Any]) -> list[str]:
    """The suites and plans that this version does not have: nothing can be derived of them."""
    given = bool(added["invocation"]["vectors"])
    suites = [each["suite"] for each in added["suites"] if each["suite"] not in SUITES and not given]
    return suites + [each["plan"] for each in added["sweeps"] if not _has(each["plan"])]


def _has(plan: str) -> bool:
    try:
        plan_named(plan)
    except ValueError:
        return False
    return True


def _without_invented(added: dict[str, Any]) -> None:
    """Drop the suites and plans of this very version that it does not have."""
    if added["generator"] == generator():
        invented = {*unknown_to_us(added)}
        for records, key in (("suites", "suite"), ("sweeps", "plan")):
            added[records] = [each for each in added[records] if each[key] not in invented]


def why_none(statement: dict[str, Any]) -> str:
    """The reason why no certificate is written for a consistent statement; empty if one is."""
    added = statement["predicate"]["overlong"]
    if not added["buckets"] and HOLDS not in added["claims"].values():
        return "nothing was measured: no suite that it names shows a claim"
    return ""


def _each_once(records: list[dict[str, Any]], key: str) -> list[dict[str, Any]]:
    """Keep each suite and plan once."""
    return [*{record[key]: record for record in reversed(records)}.values()][::-1]


def _as_asked(added: dict[str, Any]) -> None:
    """Derive the claims that its suites show, except refutations; and the requested suites, all that ran."""
    claims: dict[str, str] = added["claims"]
    ran = [suite for suite in added["suites"] if suite["asked"]]
    answered = {operation for suite in ran for operation in suite["operations"]}
    answered -= {operation for suite in ran for operation in suite["unsupported"]}
    shown = shown_by(answered, added["target"]["error_mode"])
    for claim, state in claims.items():
        if claim == POSITION and VERDICT in shown:
            claims[claim] = HOLDS if state == FAILS else state
        else:
            claims[claim] = HOLDS if claim in shown else NOT_MEASURED
    wanted, names = added["invocation"]["suites"], [suite["suite"] for suite in added["suites"]]
    if wanted is not None and (not wanted or ({*names} & {*SUITES}) - {*wanted}):
        added["invocation"]["suites"] = names


def _size(plan: dict[str, Any], speaks: str) -> int:
    """The number of a plan's strings; the stated number if this version does not have the plan."""
    try:
        return plan_named(plan["plan"], Profile(speaks) if speaks in DIALECTS else Profile()).size
    except ValueError:
        size: int = plan["expected"]["strings"]
        return size


def invocation_of(certified: Certified) -> Invocation:
    """The invocation in a certificate."""
    asked = certified.invocation
    limits, expected = asked["limits"], asked["expected"]
    return Invocation(
        certified.target,
        None if asked["suites"] is None else tuple(asked["suites"]),
        None if asked["sweeps"] is None else tuple(asked["sweeps"]),
        asked["thorough"],
        tuple(_file(file) for file in asked["vectors"]),
        None if expected is None else _file(expected),
        Limits(limits["timeout"], limits["restarts"], memory=limits["memory"]),
        certified.subjects,
    )


def _file(said: dict[str, Any]) -> GivenFile:
    ((algorithm, digest),) = said["digest"].items()
    return GivenFile(said["name"], algorithm, digest)


def _result(added: dict[str, Any]) -> str:
    """The result that follows from the claims, the buckets and the stale expectations."""
    buckets, claims = added["buckets"], added["claims"]
    met = bool(buckets) and all(each.get("standing") == "expected" for each in buckets)
    state = state_of(_in_state(claims, FAILS), held=HOLDS in claims.values(), as_expected=met)
    return result_of(state, len(added.get("stale", ())))


def _in_state(claims: dict[str, str], wanted: str) -> list[str]:
    return sorted(claim for claim, state in claims.items() if state == wanted)


def _own(record: dict[str, Any], speaks: str, target: dict[str, Any]) -> None:
    """Derive a suite's vectors if this version has the suite; a decoder was asked all of them or none."""
    record["asked"] = record["vectors"] - record["set_aside"]
    suite = SUITES.get(record["suite"])
    if suite is None or speaks not in DIALECTS or not set(record["operations"]) <= set(MEASURED):
        return  # vectors in files, or a suite of an older version
    mode = target["error_mode"]
    profile = Profile(speaks, mode) if puts_out(mode) else Profile(speaks)
    suite = replace(suite, profile=profile)
    part = SuiteRun(suite, record["operations"][0])
    for answered in _asked(part, target):
        part.asked(answered)
    record["shows"], record["vectors"], record["asked"] = suite.shows, suite.size, part.done
    record["set_aside"], record["vectors_digest"] = suite.size - part.done, {"sha256": part.vectors_digest}
    if "longest" in record:  # older versions do not say it
        record["longest"] = part.longest


def _asked(part: SuiteRun, target: dict[str, Any]) -> Iterator[Answered]:
    """The vectors that a target with these declared limits is asked."""
    greeting = Greeting(
        target["name"], "", "", target["operations"], UNITS[target["units"]], target["error_mode"],
        traits=target["traits"],
    )  # fmt: skip
    limits = () if "encoder" in part.suite.name else limits_of(greeting)
    for batch in part.suite.batches():
        yield Answered(without(batch, limits)[0] if limits else batch, part.operations, _NO_ANSWERS)
