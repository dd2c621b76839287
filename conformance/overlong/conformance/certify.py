"""Certify a target: resolve it, start it, run the suites, keep what was found."""

from __future__ import annotations

import contextlib
import shlex
from typing import TYPE_CHECKING

from overlong.conformance.certificate import Certificate
from overlong.conformance.results import ResultsWriter, written_whole
from overlong.conformance.runner import Runner
from overlong.conformance.suites import SUITES
from overlong.conformance.targets.resolve import identify, resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from overlong.conformance.finding import Finding
    from overlong.conformance.runner import Progress
    from overlong.conformance.targets.resolve import Limits

CERTIFICATE = "certificate.json"
RESULTS = "results.jsonl"


def certify(
    target: str | Sequence[str],
    *,
    suites: Sequence[str] | None = None,
    output: Path | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
) -> Certificate:
    """Certify a target.

    Args:
        target: its name, as on the command line; or, as a sequence, a command that speaks the protocol.
        suites: names from :data:`~overlong.conformance.suites.SUITES`; all of them if left out.
        output: a folder for ``results.jsonl`` and ``certificate.json``; made if it is not there.
        limits: what the target may take.
        progress: called as the run goes on.

    Raises:
        TargetError: the target cannot be measured.
        OSError: ``output`` cannot be written.
        KeyError: there is no such suite.
    """
    resolved = resolve(target, limits)
    chosen = [SUITES[name] for name in suites] if suites is not None else list(SUITES.values())
    command = reproduce_command("certify", target, *(word for name in suites or () for word in ("--suite", name)))
    if output is not None:
        (output / CERTIFICATE).unlink(missing_ok=True)  # of an earlier run: it must not be taken for this one's
    with contextlib.ExitStack() as stack:
        stack.callback(resolved.close)
        resolved.start()
        for suite in chosen:
            suite.size  # noqa: B018 (makes the vectors while the target starts)
        resolved.open()
        identity = identify(resolved)
        found: Callable[[Finding], None] | None = None
        writer: ResultsWriter | None = None
        if output is not None:
            make_folder(output)
            writer = ResultsWriter(stack.enter_context(written_whole(output / RESULTS)), command=command)
            writer.header(resolved.id, resolved.greeting, identity.digest)
            found = writer.divergence
        runner = Runner(resolved, found=found)
        run = runner.suites(chosen, progress or _no_progress)
        resolved.close()
        run.notes = list(resolved.notes)
        if writer is not None:
            writer.footer(run)
    certificate = Certificate(run, identity, command)
    if output is not None and not certificate.refused:
        with written_whole(output / CERTIFICATE) as file:
            file.write(certificate.to_json())
    return certificate


def _no_progress(_suite: str, _done: int, _total: int) -> None:
    pass


def reproduce_command(verb: str, target: str | Sequence[str], *words: str) -> str:
    """The command line that does this again."""
    named = [target] if isinstance(target, str) else ["--", *target]
    return shlex.join(["overlong", verb, *words, *named])


def make_folder(folder: Path) -> None:
    """A folder for results, which version control leaves alone.

    Raises:
        OSError: it cannot be made.
    """
    if not folder.is_dir():
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n", encoding="ascii")
