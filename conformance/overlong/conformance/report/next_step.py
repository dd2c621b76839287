"""The one command that follows a run: its last line in a terminal."""

from __future__ import annotations

import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.certification.left_out import next_tier
from overlong.conformance.report.wording import faults, swept_short
from overlong.conformance.results.headline import FAILING

if TYPE_CHECKING:
    from pathlib import Path

    from overlong.conformance.results.certificate import Certificate
    from overlong.conformance.results.model import Report

_CERTIFY = "overlong certify"


def next_step(report: Report, certificate: Certificate, folder: Path | None) -> str:
    """A command line; empty if other lines already say what to do.

    Args:
        report: of the run.
        certificate: of the run.
        folder: of the results; None if nothing was written.
    """
    (subject,), run = report.subjects, certificate.run
    if subject.state in FAILING:
        found = faults(subject)
        if subject.sign or not found or folder is None:
            return ""
        return shlex.join(["overlong", "explain", str(folder), found[0].id])
    if run.incomplete or not run.claims or certificate.stale:
        return ""
    whole = replace(certificate.invocation, suites=None, plans=None).command
    if certificate.refused:
        return whole
    declined = certificate.invocation.plans == ()
    if not swept_short(subject) or (run.swept is None and not declined):  # what only replaces is never swept
        return "overlong docs ci"
    tier = None if declined else next_tier(run)
    return whole.replace(_CERTIFY, f"{_CERTIFY} --tier {tier.name}", 1) if tier and tier.is_typed else whole
