"""The files of a campaign for readers: ``campaign.json``, and two files for each finding.

The same seed and number of inputs give the same octets except for times, which have their own members.
"""

from __future__ import annotations

import errno
import json
import platform
import shlex
from typing import TYPE_CHECKING, Any

from overlong.conformance.results.inputs import INPUTS, kept_in, write_inputs
from overlong.conformance.results.invocation import found
from overlong.conformance.results.reading import campaign
from overlong.conformance.results.records import spelt
from overlong.conformance.support.printable import printable
from overlong.conformance.support.provenance import generator, timestamp
from overlong.conformance.support.whole_file import written_whole
from overlong.fuzz.campaign.corpus import within, written_at_once
from overlong.fuzz.campaign.header import identities_of
from overlong.fuzz.campaign.status import CampaignError
from overlong.fuzz.campaign.written import FINDING_SCHEMA, finding_as_json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from overlong.fuzz.campaign.store import Store
    from overlong.fuzz.campaign.stored import StoredFinding
    from overlong.fuzz.execution.engine import CampaignJob

STATEMENT, FINDINGS = "campaign.json", "findings"
SCHEMA = "overlong/campaign-1"


def digest_of_findings(findings: Iterable[StoredFinding]) -> str:
    """SHA-256 of the findings without times, counts and repetitions."""
    return campaign.digest_of_findings(map(finding_as_json, findings))


def statement(store: Store, job: CampaignJob, edges: tuple[int, int]) -> dict[str, Any]:
    """The contents of ``campaign.json``.

    Args:
        store: of the campaign.
        job: the original job.
        edges: transitions of the reference's automaton: reached, and all.

    Raises:
        CampaignError: the store cannot be read.
    """
    totals, findings, header = store.totals, store.findings, store.header
    faults = [each for each in findings if not each.is_difference]
    asked = store.asked
    targets = [
        {
            "id": name,
            "digest": {"sha256": digest},
            "executions": {operation: count for (of, operation), count in asked.items() if of == name},
            "findings": sum(each.target == name for each in faults),
        }
        for name, digest in identities_of(store, job)
    ]
    return {
        "schema": SCHEMA,
        "generator": generator(),
        "environment": {"system": platform.system(), "machine": platform.machine()},
        "result": "NOT MEASURED" if not totals.executions else "FAILED" if faults else "PASSED",
        "targets": targets,
        "profile": job.profile.name,
        "engine": job.engine,
        "seed": job.seed,
        "seeds": [{"from": 0, "inputs": len(job.seeds), "digest": {"sha256": header["seeds"]}}],
        "command": command_of(job, totals.inputs),
        "inputs": totals.inputs,
        "executions": totals.executions,
        "octets": totals.octets,
        "edges": {"reached": edges[0], "all": edges[1]},
        "features": totals.features,
        "coverage": totals.coverage,
        "findings": [finding_as_json(each) for each in findings],
        "findings_digest": {"sha256": digest_of_findings(findings)},
        "notes": store.notes,
        "waiting": totals.waiting,
        "faults_wait": store.faults_wait,
        "times": {
            "begun": header["begun"],
            "written": timestamp(),
            "seconds": round(store.seconds, 3),
            "discoveries": [
                {"seconds": round(each.seconds, 3), "executions": each.executions, "features": each.features,
                 "finding": each.finding or None}
                for each in store.discoveries
            ],
        },
    }  # fmt: skip


def command_of(job: CampaignJob, inputs: int) -> str:
    """The command that repeats the campaign."""
    words = ["overlong", "fuzz", "--seed", str(job.seed), "--runs", str(inputs)]
    for option, value, otherwise in (
        ("--engine", job.engine, "grammar"),
        ("--profile", job.profile.speaks, "rfc3629"),
    ):
        if value != otherwise:
            words += [option, value]
    words += job.limits.as_words()
    if job.seeds:
        words += ["--corpus", "SEEDS"]
    words += [target for target in job.targets if isinstance(target, str)]
    for target in job.targets:
        if not isinstance(target, str):
            words += ["--", *target]
    return shlex.join(words)


def write(folder: Path, store: Store, job: CampaignJob, edges: tuple[int, int]) -> None:
    """Write ``campaign.json``, and missing or outdated files of findings.

    Raises:
        CampaignError: one of them cannot be written: then there is nothing of it.
    """
    write_findings(folder, store.findings)
    path = folder / STATEMENT
    text = spelt(statement(store, job, edges), indent=2) + "\n"
    try:
        with written_whole(path) as file:
            file.write(text)
    except OSError as error:
        raise _error(path, error) from error


def write_findings(folder: Path, findings: Iterable[StoredFinding]) -> None:
    """Write ``findings/D-xxxxxxxx.json``, and ``.bin`` with its octets, where they are not there or others are.

    What is too long for a command line goes into a file for ``overlong replay``, too.

    Raises:
        CampaignError: one of them cannot be written: then there is nothing of it.
    """
    for each in findings:
        path = within(folder, FINDINGS) / f"{each.id}.json"
        text = json.dumps({"schema": FINDING_SCHEMA, **finding_as_json(each)}, indent=2) + "\n"
        try:
            path.parent.mkdir(exist_ok=True)
            for file, octets in ((path, text.encode("ascii")), (path.with_suffix(".bin"), each.octets)):
                if not _holds(file, octets):
                    written_at_once(file, octets)
            if not kept_in(within(folder, INPUTS).parent, vector := found(each)):
                write_inputs(folder, [vector])
        except OSError as error:
            raise _error(path, error) from error


def _holds(path: Path, octets: bytes) -> bool:
    try:
        return path.lstat().st_size == len(octets) and path.read_bytes() == octets
    except FileNotFoundError:
        return False


def _error(path: Path, error: OSError) -> CampaignError:
    why = error.strerror or printable(str(error))
    remedy = (
        "make room, and go on with --resume" if error.errno == errno.ENOSPC else "see to it, and go on with --resume"
    )
    return CampaignError(f"{printable(str(path))}: {why}; {remedy}")
