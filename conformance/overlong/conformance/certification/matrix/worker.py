"""One row of a matrix, measured in a process of its own that does not outlive the matrix.

    python -m overlong.conformance.certification.matrix.worker

Standard input gets one line, a ``Job`` of ``running.py`` as JSON, and stays open for as long as the matrix lives: when
it ends, whatever ended the matrix, this process and all that it has started end at once. What is written and the exit
status are those of ``overlong certify --format json``; or there is one line, ``KEPT_LINE`` of ``running.py``, if the
target is the known one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import threading
from typing import Any

from overlong.conformance.support.interruption import listen


def main() -> None:
    """Run the job."""
    listen()
    from overlong.conformance.certification.matrix.running import KEPT_LINE, Job
    from overlong.conformance.cli.certify import command

    line = sys.stdin.buffer.readline()
    if not line:  # the matrix has ended before it could say what to do
        return
    given = json.loads(line)
    job = Job(given["target"], given["folder"], tuple(given["options"]), given["known"])
    _end_with_standard_input()
    words = ["--format", "json", "-q", "-o", job.folder, *job.options, job.target]
    if job.known is not None and _is_known(words, job.known):
        sys.stdout.buffer.write(KEPT_LINE)
        return
    command.main(words, prog_name="overlong certify")


def _end_with_standard_input() -> None:
    """Watch a copy of standard input, which is empty from now on for whatever is started."""
    lifeline = os.dup(0)  # not inheritable
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    threading.Thread(target=_watch, args=(lifeline,), daemon=True).start()


def _watch(lifeline: int) -> None:
    while os.read(lifeline, 1):
        pass
    if os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)  # targets end by their own lifelines
    os._exit(1)


def _is_known(words: list[str], known: dict[str, Any]) -> bool:
    """Whether the target's files, and all that it says of itself, are still as they were."""
    from overlong.conformance.cli.certify import command
    from overlong.conformance.cli.options import limits_of
    from overlong.conformance.oracle.target import TargetError, UnknownTarget
    from overlong.conformance.results.writer import target_as_json
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.resolve import identity_of, resolve

    try:
        with command.make_context("overlong certify", words.copy()) as context:
            target = resolve(words[-1], limits_of(context.params["timeout"], context.params["restarts"]))
        if not isinstance(target, FramedTarget):
            return False
        with contextlib.ExitStack() as stack:
            stack.callback(target.close)
            target.start()
            target.open()
            return target_as_json(target.id, target.greeting, identity_of(target).digest) == known
    except (TargetError, UnknownTarget, OSError):
        return False  # and certifying it says why


if __name__ == "__main__":
    main()
