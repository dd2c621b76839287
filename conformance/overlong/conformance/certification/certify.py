"""Certify a target: resolve it, start it, run the suites, keep the findings."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from overlong.conformance.certification.pace import Pace
from overlong.conformance.certification.runner import Runner
from overlong.conformance.certification.sanity import caveats, sign
from overlong.conformance.certification.triage import SLOW
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.results.certificate import CERTIFICATE, Certificate
from overlong.conformance.results.expected.updating import settled
from overlong.conformance.results.inputs import file_of, write_inputs
from overlong.conformance.results.invocation import GivenFile, Invocation, named
from overlong.conformance.results.run import offered_in
from overlong.conformance.results.writer import RESULTS, ResultsWriter
from overlong.conformance.support.interruption import no_more_interruptions
from overlong.conformance.support.portable import portable_file
from overlong.conformance.support.whole_file import make_folder, saving, usable, written_whole
from overlong.conformance.sweep.in_process import reason_against
from overlong.conformance.targets.consent import agree, wanted_by
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.identity import hold_to, identity_of
from overlong.conformance.targets.pair import Pair
from overlong.conformance.targets.recorded import AnswersError, RecordedTarget
from overlong.conformance.targets.resolve import Limits, add_subjects, resolve
from overlong.conformance.vectors.names import all_spelt_now
from overlong.conformance.vectors.profile import RFC3629, Profile
from overlong.conformance.vectors.suites import DRAWN, OF_OCTETS, SHARED, SUITES, suite_named
from overlong.conformance.vectors.suites.core import GIVEN
from overlong.reference import dialect

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.wire import Greeting
    from overlong.conformance.results.expected import Expectations
    from overlong.conformance.results.run import Run
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.sweep.pool import Local
    from overlong.conformance.targets.identity import Identity
    from overlong.conformance.vectors.suites.suite import Suite

BEARABLE = ("core", "complete-0", "streams", "memory", "separate-values", "functions")
"""The default suites for a slow target: some ten seconds."""


def certify(
    target: str | Sequence[str],
    *,
    suites: Sequence[str] | None = None,
    sweeps: Sequence[str] | None = None,
    given: Sequence[Path] = (),
    subjects: Sequence[str | os.PathLike[str]] = (),
    usual: bool = True,
    thorough: bool = False,
    portrait: bool = False,
    budget: float | None = None,
    fast: bool = False,
    constants: bool = True,
    speaks: str = "rfc3629",
    output: Path | None = None,
    limits: Limits | None = None,
    progress: Progress | None = None,
    expected: Expectations | None = None,
    trust: bool = False,
    paired: bool = True,
) -> Certificate:
    """Certify a target.

    Args:
        target: its name on the command line; or, as a sequence, a command that speaks the protocol.
        suites: names of :data:`overlong.conformance.vectors.suites.SUITES`; by default :data:`BEARABLE` for a slow
            target, otherwise all; without sweeps, all that draw no strings.
        sweeps: names of plans that ``plan_named`` accepts, in addition to the plans that a target gets with all suites
            if it is fast enough (``sweeps.py``); an empty sequence: no sweeps at all.
        subjects: more files of the decoder, such as those that its adapter loads. The certificate has their digests.
        usual: false: sweep only the plans of ``sweeps``, independent of the target's current speed.
        given: files of vectors, or folders of them, to ask in addition to the suites (``suites/core.py``). The name
            :data:`~overlong.conformance.vectors.suites.core.GIVEN` among ``suites`` means only these files.
        thorough: ask even a slow target all suites.
        portrait: learn the nearest model and draw maps, even if ``suites`` are named.
        budget: the approximate seconds for its sweeps; None for ten (``sweeps.py``).
        fast: sweep a function of a shared library that has passed its suites with the tier ``usual``.
        constants: also sweep around the numbers that its code names; false in order to repeat a run, whose command
            names them.
        speaks: the dialect to judge by; one of :data:`overlong.reference.DIALECTS`.
        output: a folder for ``results.jsonl`` and ``certificate.json``; created if missing.
        limits: the target's limits.
        progress: called as the run proceeds.
        expected: the expected deviations of this target (``expected/``); their file is rewritten if it is ``updating``
            and the run is whole.
        trust: agree to everything that ``overlong.toml`` or ``pyproject.toml`` of the current folder runs for it.
        paired: two processes of the target share the largest suites.

    Raises:
        UnknownTarget: there is no such target, or a file of ``subjects`` cannot be read.
        NotAgreed: such a file names the target's command, and the user has not agreed to it.
        TargetError: the target cannot be measured.
        ExpectationError: the file of expected deviations cannot be written.
        AnswersError: it is a file of answers that cannot be judged, or not with these arguments.
        CheckError, JsonError, WrongError: a file of vectors is malformed.
        NotSaved: the results cannot be written; it carries the certificate.
        OSError: ``output`` cannot be written, or a file of answers or vectors cannot be read.
        KeyError: there is no such suite.
        ValueError: there is no such dialect, or no such plan.
    """
    profile = Profile(dialect(speaks).name)
    suites, sweeps = all_spelt_now(suites), all_spelt_now(sweeps)
    resolved = _resolved(target, limits, sweeps or (), profile, output, trust=trust)
    add_subjects(resolved, subjects)
    spared = _spared(sweeps) if suites is None and not thorough else ()
    chosen = [replace(suite, profile=profile) for suite in _suites(resolved, suites, spared, given, profile)]
    invocation = Invocation(  # files of vectors were just checked, so they can be read
        target if isinstance(target, str) else tuple(target),
        suites,
        sweeps,
        thorough,
        tuple(GivenFile.of(path) for path in given),
        None if expected is None else expected.as_given(),
        limits or Limits(),
        tuple(map(portable_file, resolved.subjects)) if isinstance(resolved, FramedTarget) else (),
    )
    _forget(output)
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as results:
        stack.callback(resolved.close)
        identity = _held(resolved)
        asked = _paired(resolved, chosen, stack) if paired else resolved
        asked.start()
        _make(chosen, resolved)  # while the target starts
        asked.open()
        pace = Pace()
        left_out = _suites_left_out(resolved, suites, thorough=thorough) or spared
        if not isinstance(resolved, RecordedTarget):
            chosen = [suite for suite in chosen if suite.name not in left_out]
        found: Callable[[Finding], None] | None = None
        diverged: Callable[[Divergences], None] | None = None
        writer = None if output is None else _writer(output, invocation, profile, results)
        if writer is not None:
            writer.header(resolved.id, resolved.greeting, identity.digest, profile.name)
            found, diverged = writer.divergence, writer.diverged
        sweeps_follow = bool(sweeps) or fast or (usual and suites is None and sweeps is None)
        ahead = _begun(resolved, invocation, profile.speaks, stack) if sweeps_follow else None
        swept = found
        if expected is not None:
            found, diverged, swept = expected.listeners(found, diverged)
        examined = not isinstance(resolved, RecordedTarget)
        runner = Runner(asked, profile=profile, found=found, diverged=diverged, examined=examined)
        run = _run(runner, asked, chosen, progress or _no_progress)
        if (suites is None or portrait) and not run.incomplete and SLOW not in run.greeting.traits:
            # Named suites mean only these. What the target behaves like is part of the result, with an output or not.
            from overlong.conformance.certification.nearest_model import learn_and_map

            learn_and_map(resolved, run, writer)
        resolved.close()
        run.sign, run.isolation = sign(run), resolved.isolation
        run.notes += [*asked.notes, *caveats(run)]
        if isinstance(resolved, FramedTarget) and not run.incomplete and sweeps_follow:
            # loads the plans, so only if a sweep is possible
            from overlong.conformance.certification.sweeps import add_sweeps

            invocation = add_sweeps(
                *(resolved, run, invocation, pace.seconds(run.seconds), progress or _no_progress, swept),
                {} if expected is None else expected.unexpected,
                ahead=ahead,
                usual=usual,
                fast=fast,
                budget=budget,
                constants=constants and (fast or suites is None),
                all_plans=expected is not None and expected.says_something,
            )
        hold_to(resolved, identity)
        run.notes += _not_run(left_out, run.greeting, recorded=isinstance(resolved, RecordedTarget))
        expected = None if expected is None else settled(expected, run, left_out)
        invocation = invocation if expected is None else replace(invocation, expected=expected.as_given())
        certificate = Certificate(run, identity, invocation.command(profile.speaks), invocation, left_out, expected)
        if output is not None and writer is not None:
            _save(certificate, output, writer, results)
    return certificate


def _held(target: FramedTarget | RecordedTarget) -> Identity:
    """The identity of a target before it starts, since it may replace its own files; restarts are held to it."""
    identity = identity_of(target)
    if isinstance(target, FramedTarget):
        target.unchanged = partial(hold_to, target, identity)
    return identity


def _save(certificate: Certificate, output: Path, writer: ResultsWriter, results: contextlib.ExitStack) -> None:
    """Write what has been measured; from here on no signal discards it.

    Args:
        certificate: the certificate of the run.
        output: the folder.
        writer: of the results.
        results: what makes their file appear.

    Raises:
        NotSaved: it cannot be written.
    """
    no_more_interruptions()
    examples = {bucket.example.vector for bucket in (*certificate.run.ordered_buckets, *certificate.unexpected)}
    with saving(certificate):
        write_inputs(output, (vector for vector in examples if named(vector) == file_of(vector)))
        with results:
            writer.footer(certificate)
        if not certificate.refused:
            with written_whole(output / CERTIFICATE) as file:
                file.write(certificate.to_json())


def _paired(
    target: FramedTarget | RecordedTarget, suites: Sequence[Suite], stack: contextlib.ExitStack
) -> FramedTarget | RecordedTarget | Pair:
    """The target, with a second process if any of the suites may be shared."""
    if isinstance(target, RecordedTarget) or not _shared(suites):
        return target
    pair = Pair(target)
    stack.callback(pair.close)
    return pair


def _run(
    runner: Runner, asked: FramedTarget | RecordedTarget | Pair, suites: Sequence[Suite], progress: Progress
) -> Run:
    """Run the suites; the second process of a pair ends after them."""
    if not isinstance(asked, Pair):
        return runner.suites(suites, progress)
    asked.share([suite.name for suite in _shared(suites) if offered_in(suite, asked.greeting)])
    run = runner.suites(suites, progress)
    asked.close()
    return run


def _shared(suites: Sequence[Suite]) -> list[Suite]:
    return [suite for suite in suites if suite.name in SHARED]


def _make(suites: Sequence[Suite], target: FramedTarget | RecordedTarget) -> None:
    """Make the vectors of suites that most targets can be asked; few offer the operations of the others."""
    is_question = isinstance(target, FramedTarget) and target.is_question
    for suite in () if is_question else suites:
        if set(suite.asks) & set(VALIDATE + DECODE + REPLACE):
            suite.size  # noqa: B018 (makes them)


def _begun(
    target: FramedTarget | RecordedTarget, invocation: Invocation, speaks: str, stack: contextlib.ExitStack
) -> Local | None:
    """The engines of the sweeps, which start while the suites run: that takes one processor, and these another.

    None if the target is not called in its own process.
    """
    if isinstance(target, RecordedTarget) or reason_against(target):
        return None
    from overlong.conformance.sweep.pool import cpus
    from overlong.conformance.sweep.sweep import begin_ahead

    ahead = begin_ahead(target, invocation.target, speaks, cpus(), invocation.limits)
    if ahead is not None:
        stack.callback(ahead.close, at_once=True)
    return ahead


def _writer(output: Path, invocation: Invocation, profile: Profile, stack: contextlib.ExitStack) -> ResultsWriter:
    """The writer of results into a folder; the file appears when the stack exits without an error."""
    make_folder(output)
    return ResultsWriter(
        stack.enter_context(written_whole(output / RESULTS)), command=invocation.command(profile.speaks)
    )


def _suites_left_out(
    target: FramedTarget | RecordedTarget, suites: Sequence[str] | None, *, thorough: bool
) -> tuple[str, ...]:
    """The suites that are not asked of a target."""
    if isinstance(target, RecordedTarget):
        return tuple(name for name in SUITES if name not in OF_OCTETS)
    if suites is None and not thorough and SLOW in target.greeting.traits:
        return tuple(name for name in SUITES if name not in BEARABLE)
    return ()


def _not_run(left_out: Sequence[str], greeting: Greeting, *, recorded: bool) -> list[str]:
    """A note of the suites that a target with this greeting offers and was not asked."""
    left = [name for name in left_out if offered_in(SUITES[name], greeting)]
    why = "no file of requests has them" if recorded else "--thorough runs them"
    return [f"not run: {', '.join(left)} ({why})"] if left else []


def _spared(sweeps: Sequence[str] | None) -> tuple[str, ...]:
    """The suites that sample, as sweeps do, if there are to be no sweeps."""
    return () if sweeps is None or sweeps else tuple(name for name in SUITES if name in DRAWN)


def _resolved(
    target: str | Sequence[str],
    limits: Limits | None,
    sweeps: Sequence[str],
    profile: Profile,
    output: Path | None,
    *,
    trust: bool,
) -> FramedTarget | RecordedTarget:
    """The target; errors are found before any of its commands runs, because its set-up may take minutes.

    Raises: as :func:`certify`.
    """
    plans: list[Plan] = []
    if sweeps:
        from overlong.conformance.sweep.plan import plan_named

        plans += [plan_named(name, profile) for name in sweeps]
    if output is not None:
        usable(output)
    if trust and (wanted := wanted_by([target])) is not None:
        agree(wanted)
    resolved = resolve(target, limits)
    if plans and isinstance(resolved, FramedTarget):
        from overlong.conformance.sweep.giants.suited import hold_giants_to

        hold_giants_to(resolved, plans)
    return resolved


def _forget(output: Path | None) -> None:
    """Remove the certificate of an earlier run: it must not pass for this run's."""
    if output is not None:
        (output / CERTIFICATE).unlink(missing_ok=True)


def _suites(
    target: FramedTarget | RecordedTarget,
    names: Sequence[str] | None,
    spared: Sequence[str],
    given: Sequence[Path],
    profile: Profile,
) -> list[Suite]:
    """The suites with these names, or all that are not spared; and the suites of vectors in files."""
    more = _given(given)
    if isinstance(target, RecordedTarget):
        return _suites_of(target, [GIVEN] if given else names, profile)
    named = [name for name in (SUITES if names is None else names) if name != GIVEN and name not in spared]
    return [*(SUITES[name] for name in named), *more]


def _given(paths: Sequence[Path]) -> tuple[Suite, ...]:
    """The suites of the vectors in these files."""
    if not paths:
        return ()
    from overlong.conformance.vectors.given import vectors_in
    from overlong.conformance.vectors.suites.core import given_suites

    return given_suites(list({vector.id: vector for path in paths for vector in vectors_in(path)}.values()))


def _suites_of(target: RecordedTarget, suites: Sequence[str] | None, profile: Profile) -> list[Suite]:
    """The suites that recorded answers belong to.

    Raises:
        AnswersError: other suites are requested, or the file cannot be judged.
    """
    target.start()
    if suites is not None or profile != RFC3629:
        raise AnswersError("recorded answers fix suites and profile (rfc3629): drop --suite, --vectors and --profile")
    return [suite_named(name) for name in target.selection.suites]


def _no_progress(_suite: str, _done: int, _total: int) -> None:
    pass
