"""Measures one row of a matrix in its own process, which does not outlive the matrix.

    python -m overlong.conformance.certification.matrix_worker

Standard input gets one line, a ``MatrixJob`` as JSON, and stays open while the matrix runs. When it ends, for any
reason, this process and everything that it started end at once. The output is the certificate, with an exit status of
``overlong certify``; or one line, ``KEPT_LINE``, if the target is the known one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overlong.conformance.support.process import listen

if TYPE_CHECKING:
    from overlong.conformance.targets.limits import Limits


INCOMPLETE = 4
"""The exit status of a worker that was interrupted; a certificate does not record it."""
KEPT_LINE = b'{"kept": true}\n'
"""A worker's output if the target has not changed."""


@dataclass(frozen=True)
class MatrixJob:
    """One target for a worker, which reads it as a line of JSON."""

    speaks: str
    """The dialect to judge by."""
    quick: bool
    """Ask only the suites of ``--quick``. Sweeps and mixtures are never asked."""
    limits: Limits
    portrait: bool = False
    """Find the nearest model, and draw maps, even in a quick run."""
    expected: str = ""
    """The file of expected deviations; empty for that of the project."""
    target: str = ""
    folder: str = ""
    """The folder for its results."""
    known: dict[str, Any] | None = None
    """The target in an earlier matrix: if it is unchanged, there is nothing to do. None: it is measured."""

    @classmethod
    def read(cls, line: bytes) -> MatrixJob:
        """The job in a line."""
        from overlong.conformance.targets.limits import Limits

        said: dict[str, Any] = json.loads(line)
        said["limits"] = Limits(**said["limits"])
        return cls(**said)


def main() -> int:
    """Run the job, and return the exit status."""
    listen()
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.results.expected_file import ExpectationError
    from overlong.conformance.support.printable import printable

    line = sys.stdin.buffer.readline()
    if not line:  # the matrix ended before it sent a job
        return 0
    job = MatrixJob.read(line)
    _end_with_standard_input()
    try:
        if _is_known(job):
            sys.stdout.buffer.write(KEPT_LINE)
            return 0
        return _certified(job)
    except (TargetError, UnknownTarget, ExpectationError) as error:
        why, status = str(error), 3
    except KeyboardInterrupt:
        why, status = "interrupted before anything was measured; nothing was written", INCOMPLETE
    except OSError as error:
        where = f"{printable(str(error.filename))}: " if error.filename else "output cannot be written: "
        why, status = f"{where}{error.strerror or printable(str(error))}; choose another folder with -o", 2
    print(why, file=sys.stderr)
    return status


def _certified(job: MatrixJob) -> int:
    """Certify, write the certificate to standard output, and return the exit status.

    Raises:
        TargetError, UnknownTarget, ExpectationError, OSError: as :func:`certify`.
    """
    from overlong.conformance.certification.certify import certify
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.invocation import Invocation
    from overlong.conformance.results.model import exit_code_of
    from overlong.conformance.support.files import NotSaved
    from overlong.conformance.support.provenance import today
    from overlong.conformance.vectors.suites import QUICK

    expected = Path(job.expected) if job.expected else None
    asked = Invocation(
        job.target,
        tuple(QUICK) if job.quick else None,
        None if job.quick else (),
        limits=job.limits,
        speaks=job.speaks,
        portrait=job.portrait,
        paired=False,  # other targets are measured at the same time
    )
    deviations = Expectations.read(expected, job.target, today(), profile=job.speaks)
    try:
        certificate = certify(asked, output=job.folder, expected=deviations)
    except NotSaved as error:  # the row has what was found, and the reason
        sys.stdout.write(error.results.to_json())
        raise
    sys.stdout.write(certificate.to_json())
    return exit_code_of(certificate.state, len(certificate.stale))


def _end_with_standard_input() -> None:
    """Watch a copy of standard input; for new processes, standard input itself is empty from now on."""
    lifeline = os.dup(0)  # not inheritable
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    if sys.platform != "win32" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # targets end by their own lifelines
    os._exit(1)


def _is_known(job: MatrixJob) -> bool:
    """True if the target's files and its whole greeting are unchanged."""
    if job.known is None:
        return False
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.results.records import target_as_json
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.identity import identity_of
    from overlong.conformance.targets.resolve import resolve

    try:
        target = resolve(job.target, job.limits)
        if not isinstance(target, FramedTarget):
            return False
        with contextlib.ExitStack() as stack:
            stack.callback(target.close)
            target.start()
            target.open()
            return target_as_json(target.id, target.greeting, identity_of(target).digest) == job.known
    except (TargetError, UnknownTarget, OSError):
        return False  # certifying it reports the reason


if __name__ == "__main__":
    sys.exit(main())
