"""Certify a target: resolve it, start it, run the suites, keep what was found."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

from overlong.conformance.certification.pace import Pace
from overlong.conformance.certification.runner import Runner
from overlong.conformance.certification.sanity import caveats, sign
from overlong.conformance.certification.triage import SLOW
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.results.certificate import CERTIFICATE, Certificate
from overlong.conformance.results.expected.updating import settled
from overlong.conformance.results.invocation import GivenFile, Invocation
from overlong.conformance.results.run import offered_in
from overlong.conformance.results.writer import RESULTS, ResultsWriter
from overlong.conformance.support.whole_file import make_folder, usable, written_whole
from overlong.conformance.targets.consent import agree, wanted_by
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.recorded import AnswersError, RecordedTarget
from overlong.conformance.targets.resolve import Limits, identity_of, resolve
from overlong.conformance.vectors.names import all_spelt_now
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.conformance.vectors.suites import OF_OCTETS, SUITES, suite_named
from overlong.conformance.vectors.suites.core import GIVEN
from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.vectors.suites.suite import Suite

BEARABLE = ("core", "complete-0", "streams", "memory", "separate-values")
"""The default suites for such a target: some ten seconds."""


def certify(
    target: str | Sequence[str],
    *,
    suites: Sequence[str] | None = None,
    sweeps: Sequence[str] | None = None,
    given: Sequence[Path] = (),
    usual: bool = True,
    thorough: bool = False,
    portrait: bool = False,
    budget: float | None = None,
    fast: bool = False,
    speaks: str = "rfc3629",
    output: Path | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    expected: Expectations | None = None,
    trust: bool = False,
) -> Certificate:
    """Certify a target.

    Args:
        target: its name, as on the command line; or, as a sequence, a command that speaks the protocol.
        suites: names of :data:`overlong.conformance.vectors.suites.SUITES`; if left out, all that the target can bear:
            :data:`BEARABLE` for a slow one, else all.
        sweeps: plans of sweeps, as ``plan_named`` takes them, beside those that a target gets with all suites if it
            can bear them (``sweeps.py``); an empty sequence: no sweeps at all.
        usual: false: sweep with the plans of ``sweeps`` and no others, whatever the target can bear just now.
        given: files of vectors, or folders of them, that are asked beside the suites (``suites/core.py``). The name
            :data:`~overlong.conformance.vectors.suites.core.GIVEN` among ``suites`` stands for nothing more than them.
        thorough: all of them for a slow one, too.
        portrait: learn what it behaves like, and draw maps, also where ``suites`` are named.
        budget: seconds that its sweeps may take, about; None for ten (``sweeps.py``).
        fast: sweep a function of a shared library that has passed its suites with the tier ``fast``.
        speaks: the dialect that it is measured by; one of :data:`overlong.reference.DIALECTS`.
        output: a folder for ``results.jsonl`` and ``certificate.json``; made if it is not there.
        limits: what the target may take.
        progress: called as the run goes on.
        expected: what of this target is expected to diverge (``expected/``); its file is written anew if it is
            ``updating`` and the run is whole.
        trust: agree to whatever ``overlong.toml`` or ``pyproject.toml`` of the current folder runs for it.

    Raises:
        NotAgreed: such a file says what the target runs, and the user has not agreed to it.
        TargetError: the target cannot be measured.
        ExpectationError: the file of what is expected cannot be written.
        AnswersError: it is a file of answers, and they cannot be judged, or not so.
        CheckError, JsonError, WrongError: a file is not one of vectors.
        OSError: ``output`` cannot be written, or a file of answers or of vectors not read.
        KeyError: there is no such suite.
        ValueError: there is no such dialect, or no such plan.
    """
    profile = Profile(dialect(speaks).name)
    suites, sweeps = all_spelt_now(suites), all_spelt_now(sweeps)
    resolved = _resolved(target, limits, sweeps or (), profile, output, trust=trust)
    chosen = [replace(suite, profile=profile) for suite in _suites(resolved, suites, given, profile)]
    invocation = Invocation(  # files of vectors were checked just now: they can be read
        target if isinstance(target, str) else tuple(target),
        suites,
        sweeps,
        thorough,
        tuple(GivenFile.of(path) for path in given),
        None if expected is None else expected.as_given(),
        limits or Limits(),
    )
    _forget(output)
    with contextlib.ExitStack() as stack:
        stack.callback(resolved.close)
        resolved.start()
        for suite in chosen:
            if set(suite.asks) & set(VALIDATE + DECODE + REPLACE):  # most targets offer one of these, fewer the others
                suite.size  # noqa: B018 (makes the vectors while the target starts)
        resolved.open()
        pace = Pace()
        left_out = _suites_left_out(resolved, suites, thorough=thorough)
        if not isinstance(resolved, RecordedTarget):
            chosen = [suite for suite in chosen if suite.name not in left_out]
        identity = identity_of(resolved)
        found: Callable[[Finding], None] | None = None
        diverged: Callable[[Divergences], None] | None = None
        writer = None if output is None else _writer(output, invocation, profile, stack)
        if writer is not None:
            writer.header(resolved.id, resolved.greeting, identity.digest, profile.name)
            found, diverged = writer.divergence, writer.diverged
        swept = found
        if expected is not None:
            found, diverged, swept = expected.listeners(found, diverged)
        runner = Runner(resolved, profile=profile, found=found, diverged=diverged)
        run = runner.suites(chosen, progress or _no_progress)
        if (
            (suites is None or portrait)
            and writer is not None
            and SLOW not in resolved.greeting.traits
            and not run.incomplete
        ):
            # Named suites mean these and nothing else; a portrait is looked at in a report, so it is worth
            # its second only where one can be made of what is written.
            from overlong.conformance.certification.nearest_model import learn_and_map

            learn_and_map(resolved, run, writer)
        resolved.close()
        run.sign, run.notes = sign(run), [*resolved.notes, *caveats(run)]
        run.isolation = resolved.isolation
        if (
            isinstance(resolved, FramedTarget)
            and not run.incomplete
            and (sweeps or fast or (usual and suites is None and sweeps is None))
        ):
            # loads NumPy, so only where a sweep may be asked
            from overlong.conformance.certification.sweeps import add_sweeps

            unexpected = {} if expected is None else expected.unexpected
            invocation = add_sweeps(
                *(resolved, run, invocation, pace.seconds(run.seconds), progress or _no_progress, swept, unexpected),
                usual=usual,
                fast=fast,
                budget=budget,
                all_plans=expected is not None and expected.says_something,
            )
        if left := [name for name in left_out if offered_in(SUITES[name], run.greeting)]:
            why = "no file of requests asks them" if isinstance(resolved, RecordedTarget) else "--thorough runs them"
            run.notes.append(f"not run: {', '.join(left)} ({why})")
        expected = None if expected is None else settled(expected, run, left_out)
        invocation = invocation if expected is None else replace(invocation, expected=expected.as_given())
        certificate = Certificate(run, identity, invocation.command(profile.speaks), invocation, left_out, expected)
        if writer is not None:
            writer.footer(certificate)
    if output is not None and not certificate.refused:
        with written_whole(output / CERTIFICATE) as file:
            file.write(certificate.to_json())
    return certificate


def _writer(output: Path, invocation: Invocation, profile: Profile, stack: contextlib.ExitStack) -> ResultsWriter:
    """The writer of results into a folder; the file is there once the stack is left without an error."""
    make_folder(output)
    return ResultsWriter(
        stack.enter_context(written_whole(output / RESULTS)), command=invocation.command(profile.speaks)
    )


def _suites_left_out(
    target: FramedTarget | RecordedTarget, suites: Sequence[str] | None, *, thorough: bool
) -> tuple[str, ...]:
    """The suites that a target is spared."""
    if isinstance(target, RecordedTarget):
        return tuple(name for name in SUITES if name not in OF_OCTETS)
    if suites is None and not thorough and SLOW in target.greeting.traits:
        return tuple(name for name in SUITES if name not in BEARABLE)
    return ()


def _resolved(
    target: str | Sequence[str],
    limits: Limits | None,
    sweeps: Sequence[str],
    profile: Profile,
    output: Path | None,
    *,
    trust: bool,
) -> FramedTarget | RecordedTarget:
    """The target; what is wrong is found before anything of it runs, which may be minutes of set-up.

    Raises: as :func:`certify`.
    """
    if sweeps:
        from overlong.conformance.sweep.plan import plan_named

        for name in sweeps:
            plan_named(name, profile)
    if output is not None:
        usable(output)
    if trust and (wanted := wanted_by([target])) is not None:
        agree(wanted)
    return resolve(target, limits)


def _forget(output: Path | None) -> None:
    """Remove the certificate of an earlier run: it must not be taken for this one's."""
    if output is not None:
        (output / CERTIFICATE).unlink(missing_ok=True)


def _suites(
    target: FramedTarget | RecordedTarget, names: Sequence[str] | None, given: Sequence[Path], profile: Profile
) -> list[Suite]:
    """The suites of these names, or all; and those of vectors in files."""
    more = _given(given)
    if isinstance(target, RecordedTarget):
        return _suites_of(target, [GIVEN] if given else names, profile)
    named = SUITES if names is None else [name for name in names if name != GIVEN]
    return [*(SUITES[name] for name in named), *more]


def _given(paths: Sequence[Path]) -> tuple[Suite, ...]:
    """The suites of the vectors in these files."""
    if not paths:
        return ()
    from overlong.conformance.vectors.given import vectors_in
    from overlong.conformance.vectors.suites.core import given_suites

    return given_suites(list({vector.id: vector for path in paths for vector in vectors_in(path)}.values()))


def _suites_of(target: RecordedTarget, suites: Sequence[str] | None, profile: Profile) -> list[Suite]:
    """The suites that recorded answers are to.

    Raises:
        AnswersError: others are wanted, or the file cannot be judged.
    """
    target.start()
    if suites is not None or profile != RFC3629:
        raise AnswersError("recorded answers fix suites and profile (rfc3629): drop --suite, --vectors and --profile")
    return [suite_named(name) for name in target.selection.suites]


def _no_progress(_suite: str, _done: int, _total: int) -> None:
    pass
