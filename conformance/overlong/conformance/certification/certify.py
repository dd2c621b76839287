"""Certify a target: resolve it, start it, run the suites, keep the findings."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.certification.runner import Runner, caveats, no_progress, sign
from overlong.conformance.certification.tiers import ENOUGH, NO_TIER, Pace, is_hasty, seeds_of, with_tier
from overlong.conformance.certification.triage import SLOW
from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.results.certificate import CERTIFICATE, Certificate
from overlong.conformance.results.expected import Expectations, settled
from overlong.conformance.results.invocation import Invocation, file_of, fixed, named, write_inputs
from overlong.conformance.results.results_file import RESULTS, ResultsWriter
from overlong.conformance.results.run import offered_in
from overlong.conformance.support.files import make_folder, saving, usable, written_whole
from overlong.conformance.support.process import no_more_interruptions
from overlong.conformance.support.provenance import portable_file, today
from overlong.conformance.targets.consent import agree, wanted_by
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.identity import hold_to, identity_of
from overlong.conformance.targets.pair import Pair
from overlong.conformance.targets.recorded import RecordedTarget
from overlong.conformance.targets.resolve import add_subjects, resolve
from overlong.conformance.vectors.suites import DRAWN, GROWING, OF_OCTETS, ONLY_THOROUGH, SHARED, SUITES, suite_named
from overlong.conformance.vectors.suites.suite import GIVEN
from overlong.conformance.vectors.vector import RFC3629, Profile
from overlong.reference import dialect

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator, Sequence

    from overlong.conformance.certification.runner import Progress
    from overlong.conformance.oracle.divergences import Divergences
    from overlong.conformance.oracle.finding import Finding
    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.invocation import GivenFile
    from overlong.conformance.results.run import Run
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.identity import Identity
    from overlong.conformance.targets.limits import Limits
    from overlong.conformance.vectors.suites.suite import Suite

BEARABLE = ("core", "complete-0", "streams", "memory", "separate-values", "functions", "functions-in-memory")
"""The default suites for a slow target: some ten seconds."""


def certify(
    target: str | Sequence[str] | Invocation,
    *,
    suites: Sequence[str] | None = None,
    plans: Sequence[str] | None = None,
    tier: str | None = None,
    speaks: str | None = None,
    limits: Limits | None = None,
    output: str | os.PathLike[str] | None = None,
    expected: Expectations | str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    trust: bool = False,
) -> Certificate:
    """Certify a target.

    Args:
        target: its name on the command line; or, as a sequence, a command that speaks the protocol; or a whole
            :class:`~overlong.conformance.Invocation`, such as that of a certificate, whose fields the next five
            arguments replace.
        suites: names of :data:`overlong.conformance.vectors.suites.SUITES`; by default :data:`BEARABLE` for a slow
            target, otherwise all; without sweeps, all that draw no strings.
        plans: names of plans that ``plan_named`` accepts, in addition to the plans that a target gets with all suites
            if it is fast enough (``sweeps.py``); an empty sequence: no sweeps at all.
        tier: sweep with the plans of this tier, ``usual`` for example; ``quick``: ask some suites, and sweep for a
            second or two, as ``--quick`` does; ``none``: sweep only with ``plans``, whatever the target's speed.
        speaks: the dialect to judge by; one of :data:`overlong.reference.DIALECTS`. By default ``rfc3629``.
        limits: the target's limits.
        output: a folder for ``results.jsonl`` and ``certificate.json``; created if missing.
        expected: the expected deviations of this target (``expected/``), or their file, which is rewritten if they are
            ``updating`` and the run is whole.
        progress: called as the run proceeds.
        trust: agree to everything that ``overlong.toml`` or ``pyproject.toml`` of the current folder runs for it.

    Raises:
        UnknownTarget: there is no such target, or nobody has agreed to its command; a file of its subjects cannot be
            read, or a file of answers cannot be judged, or not with these arguments.
        TargetError: the target cannot be measured.
        ExpectationError: the file of expected deviations cannot be read or written.
        NotSaved: the results cannot be written; it carries the certificate.
        OSError: ``output`` cannot be written, or a file of answers or vectors cannot be read.
        KeyError: there is no such suite.
        ValueError: there is no such dialect, plan or tier, or a file of vectors is malformed.
    """
    asked = target if isinstance(target, Invocation) else Invocation(fixed(target))
    asked = replace(
        asked,
        suites=asked.suites if suites is None else tuple(suites),
        plans=asked.plans if plans is None else tuple(plans),
        tier=asked.tier if tier is None else tier,
        speaks=asked.speaks if speaks is None else speaks,
        limits=asked.limits if limits is None else limits,
    )
    if expected is not None and not isinstance(expected, Expectations):
        expected = Expectations.read(Path(expected), asked.target, today(), profile=asked.speaks)
    return _certified(asked, None if output is None else Path(output), expected, progress or no_progress, trust=trust)


def _certified(
    asked: Invocation, output: Path | None, expected: Expectations | None, progress: Progress, *, trust: bool
) -> Certificate:
    """Carry out what is asked."""
    profile = Profile(dialect(asked.speaks).name)
    constants = _asks_constants(asked)
    asked = with_tier(asked)
    resolved = _resolved(asked, profile, output, trust=trust)
    add_subjects(resolved, asked.subjects)
    chosen = [replace(suite, profile=profile) for suite in _suites(resolved, asked, profile)]
    invocation = replace(
        asked,
        expected=None if expected is None else expected.as_given(),
        subjects=tuple(map(portable_file, resolved.subjects)) if isinstance(resolved, FramedTarget) else (),
    )
    _forget(output)
    with contextlib.ExitStack() as stack, contextlib.ExitStack() as results:
        stack.callback(resolved.close)
        identity = _held(resolved)
        opened = _paired(resolved, chosen, stack) if asked.paired else resolved
        opened.start()
        _make(chosen, resolved)  # while the target starts
        opened.open()
        pace = Pace()
        left_out = _suites_left_out(resolved, asked)
        if not isinstance(resolved, RecordedTarget):
            chosen = [suite for suite in chosen if suite.name not in left_out]
        found: Callable[[Finding], None] | None = None
        diverged: Callable[[Divergences], None] | None = None
        writer = None if output is None else _writer(output, invocation, results)
        if writer is not None:
            writer.header(resolved.id, resolved.greeting, identity.digest, profile.name)
            found, diverged = writer.divergence, writer.diverged
        sweeps_follow = _sweeps_follow(asked)
        swept = found
        if expected is not None:
            found, diverged, swept = expected.listeners(found, diverged)
        runner = Runner(
            opened,
            profile=profile,
            found=found,
            diverged=diverged,
            examined=not isinstance(resolved, RecordedTarget),
            threads=asked.limits.threads,
            growing=GROWING if _by_speed(asked) else (),
            enough=_enough(asked, expected),
        )
        run = _run(runner, opened, chosen, progress)
        left_out = tuple(name for name in SUITES if name in {*left_out, *_dropped(chosen, run)})
        if (asked.suites is None or asked.portrait) and not run.incomplete and SLOW not in run.greeting.traits:
            # Named suites mean only these. What the target behaves like is part of the result, with an output or not.
            from overlong.conformance.certification.nearest_model import learn_and_map

            learn_and_map(resolved, run, writer)
        resolved.close()
        run.sign, run.isolation = sign(run), resolved.isolation
        run.notes += [*opened.notes, *caveats(run)]
        if isinstance(resolved, FramedTarget) and not run.incomplete and sweeps_follow:
            # loads the plans, so only if a sweep is possible
            from overlong.conformance.certification.sweeps import add_sweeps

            invocation = add_sweeps(
                *(resolved, run, invocation, pace.seconds(run.seconds), progress, swept),
                {} if expected is None else expected.unexpected,
                constants=constants,
                all_plans=expected is not None and expected.says_something,
            )
        hold_to(resolved, identity)
        run.notes += _not_run(left_out, run.greeting, recorded=isinstance(resolved, RecordedTarget))
        expected = None if expected is None else settled(expected, run, left_out)
        invocation = invocation if expected is None else replace(invocation, expected=expected.as_given())
        certificate = Certificate(run, identity, invocation, left_out, expected)
        if output is not None and writer is not None:
            _save(certificate, output, writer, results)
    return certificate


def _sweeps_follow(asked: Invocation) -> bool:
    """True if a target that can be swept is swept."""
    by_speed = asked.tier is None and asked.suites is None and asked.plans is None
    return bool(asked.plans) or is_hasty(asked) or by_speed


def _by_speed(asked: Invocation) -> bool:
    """True if the target's speed decides which of the longest and largest suites it is asked."""
    return asked.suites is None and not asked.thorough and asked.repeated is None


def _enough(asked: Invocation, expected: Expectations | None) -> float:
    """The seconds that the largest suites may take a target that is refused already."""
    compared = expected is not None and expected.says_something
    return ENOUGH if _by_speed(asked) and asked.budget is None and not compared else inf


def _asks_constants(asked: Invocation) -> bool:
    """True if it asks around the numbers in the decoder's code; a command with a seed repeats a run, and names them."""
    wanted = asked.tier != NO_TIER and (asked.suites is None or is_hasty(asked))
    return wanted and not seeds_of(asked.plans or ())


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


def _writer(output: Path, invocation: Invocation, stack: contextlib.ExitStack) -> ResultsWriter:
    """The writer of results into a folder; the file appears when the stack exits without an error."""
    make_folder(output)
    return ResultsWriter(stack.enter_context(written_whole(output / RESULTS)), command=invocation.command)


def _suites_left_out(target: FramedTarget | RecordedTarget, asked: Invocation) -> tuple[str, ...]:
    """The suites that are not asked of a target."""
    if isinstance(target, RecordedTarget):
        return tuple(name for name in SUITES if name not in OF_OCTETS)
    if asked.suites is None and not asked.thorough and SLOW in target.greeting.traits:
        return tuple(name for name in SUITES if name not in BEARABLE)
    return _spared(asked)


def _dropped(suites: Sequence[Suite], run: Run) -> Iterator[str]:
    """The suites that were not asked because they would have taken too long."""
    ran = {part.suite.name for part in run.suites}
    names = (each.name for each in suites if offered_in(each, run.greeting))
    return (name for name in names if name not in ran)


def _not_run(left_out: Sequence[str], greeting: Greeting, *, recorded: bool) -> list[str]:
    """A note of the suites that a target with this greeting offers and was not asked."""
    left = [name for name in left_out if offered_in(SUITES[name], greeting)]
    why = "no file of requests has them" if recorded else "--thorough runs them"
    return [f"not run: {', '.join(left)} ({why})"] if left else []


def _spared(asked: Invocation) -> tuple[str, ...]:
    """The suites for a thorough run, samples if there are no sweeps, and what a run that is repeated left out."""
    if asked.suites is not None or asked.thorough:
        return ()
    drawn = DRAWN if asked.plans == () else ()
    too_long = set[str]() if asked.repeated is None else {*chain(*GROWING), *SHARED}.difference(asked.repeated)
    return tuple(name for name in SUITES if name in {*ONLY_THOROUGH, *drawn, *too_long})


def _resolved(
    asked: Invocation, profile: Profile, output: Path | None, *, trust: bool
) -> FramedTarget | RecordedTarget:
    """The target; errors are found before any of its commands runs, because its set-up may take minutes.

    Raises: as :func:`certify`.
    """
    plans: list[Plan] = []
    if asked.plans:
        from overlong.conformance.sweep.plan import plan_named

        plans += [plan_named(name, profile) for name in asked.plans]
    if output is not None:
        usable(output)
    if trust and (wanted := wanted_by([asked.target])) is not None:
        agree(wanted)
    resolved = resolve(asked.target, asked.limits)
    if plans and isinstance(resolved, FramedTarget):
        from overlong.conformance.sweep.in_process import hold_giants_to

        hold_giants_to(resolved, plans)
    return resolved


def _forget(output: Path | None) -> None:
    """Remove the certificate of an earlier run: it must not pass for this run's."""
    if output is not None:
        (output / CERTIFICATE).unlink(missing_ok=True)


def _suites(target: FramedTarget | RecordedTarget, asked: Invocation, profile: Profile) -> list[Suite]:
    """The suites that are named, or all that are not spared; and the suites of vectors in files."""
    more = _given(asked.vectors)
    if isinstance(target, RecordedTarget):
        return _suites_of(target, [GIVEN] if asked.vectors else asked.suites, profile)
    names, spared = SUITES if asked.suites is None else asked.suites, _spared(asked)
    return [*(SUITES[name] for name in names if name != GIVEN and name not in spared), *more]


def _given(files: Sequence[GivenFile]) -> tuple[Suite, ...]:
    """The suites of the vectors in these files."""
    if not files:
        return ()
    from overlong.conformance.vectors.check import vectors_in
    from overlong.conformance.vectors.suites.suite import given_suites

    paths = [Path(file.name) if file.path is None else file.path for file in files]
    return given_suites(list({vector.id: vector for path in paths for vector in vectors_in(path)}.values()))


def _suites_of(target: RecordedTarget, suites: Sequence[str] | None, profile: Profile) -> list[Suite]:
    """The suites that recorded answers belong to.

    Raises:
        UnknownTarget: other suites are requested, or the file cannot be judged.
    """
    target.start()
    if suites is not None or profile != RFC3629:
        raise UnknownTarget("recorded answers fix suites and profile (rfc3629): drop --suite, --vectors and --profile")
    return [suite_named(name) for name in target.selection.suites]
