"""Inputs that reach new code of a Python target: Atheris, which is libFuzzer with instrumented bytecode.

Each unit is one run of libFuzzer in a child process, with a seed of its own, the dictionary and the mutator of the
grammar, and the corpus of the campaign, to which inputs that reach new code are added. The child only reports inputs
that look divergent; ``Probe`` asks them again and decides. When the child dies or hangs, shared memory has its last
input, and another child continues.

``docs/fuzzing.md`` has the traps.
"""

from __future__ import annotations

import hashlib
import importlib.util
import platform
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.observation import Code, Crashed, TimedOut
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.support.files import TemporaryFolder
from overlong.conformance.support.printable import printable, spaced_hex
from overlong.conformance.targets import build
from overlong.conformance.targets.adapters.python import parted
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.formats.text import escaped, tokens
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.atheris_child import LONGEST, SLOTS, Orders, sort_of
from overlong.fuzz.engines.atheris_process import AtherisProcess
from overlong.fuzz.engines.result import UnitResult
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.generation.tokens import tokens_of
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from overlong.fuzz.execution.job import CampaignJob, WorkUnit

NEEDED = f"the atheris engine needs Linux on x86-64, and Atheris; {install('atheris')}"
_WHOLE = DECODE + VALIDATE + REPLACE
_ENDINGS = 20
"""How often the target may end the child in a unit; then the rest of the unit is left out."""


class AtherisEngine:
    """Runs Atheris for each target of the job, one after the other."""

    def __init__(self, job: CampaignJob) -> None:
        """Check that Atheris is installed and the targets are Python's; start nothing.

        Raises:
            TargetError: Atheris is missing, or it cannot instrument a target.
        """
        supported = sys.platform == "linux" and platform.machine() == "x86_64"
        if not supported or importlib.util.find_spec("atheris") is None:
            raise TargetError(NEEDED)
        self._job = job
        self._probes = [Probe(target, job.limits, job.profile) for target in job.targets]
        self._temporary = TemporaryFolder("atheris")
        self._folder = self._temporary.path
        self._corpus = Path(job.corpus) if job.corpus else self._folder / "corpus"
        self._spent = ""
        self._runs = 0
        self._child: AtherisProcess | None = None
        try:
            self._commands = [python_words(probe) for probe in self._probes]
            self._prepare()
        except BaseException:
            self._temporary.close()
            raise

    def run(self, unit: WorkUnit) -> UnitResult:
        """Have libFuzzer ask each target a number of inputs.

        Raises:
            BudgetSpent: a target ended or hung its process too often in the unit before.
            TargetError: a target cannot be loaded, or not asked again.
        """
        if self._spent:
            raise BudgetSpent(self._spent)
        result = UnitResult(unit)
        for probe, words in zip(self._probes, self._commands, strict=True):
            self._run_target(result, probe, words)
            result.note(*probe.notes)
        return result

    def close(self) -> None:
        """End the targets' processes, and delete their files."""
        if self._child is not None:
            self._child.end()
        for probe in self._probes:
            probe.close()
        self._temporary.close()

    def _prepare(self) -> None:
        """Write the dictionary and the seeds."""
        told, spoken = tokens(), tokens_of(self._job.profile.dialect)
        lines = [f'{name}="{escaped(octets)}"\n' for octets, name in told.items()]
        lines += [f'"{escaped(octets)}"\n' for octets in (*spoken.completed, *spoken.lenient) if octets not in told]
        (self._folder / "dictionary").write_text("".join(lines), encoding="ascii")
        (self._folder / "seeds").mkdir()
        (self._folder / "artifacts").mkdir()
        for octets in {*told, *spoken.opening, *self._job.seeds}:
            (self._folder / "seeds" / _name_of(octets)).write_bytes(octets)
        self._corpus.mkdir(parents=True, exist_ok=True)

    def _run_target(self, result: UnitResult, probe: Probe, words: list[str]) -> None:
        """All runs of a unit for one target: one, and another after each end of the child."""
        unit, done, avoid = result.unit, 0, list[str]()
        for attempt in range(_ENDINGS + 1):
            folder = self._next_folder()
            orders = Orders(
                words[0],
                words[1],
                parted(words[2:])[0],
                operation_of(probe),
                {member: word for member, word in probe.greeting.traits.items() if word},
                asdict(probe.profile),
                self._arguments(folder, unit, attempt, unit.count - done),
                str(folder / "memory"),
                str(folder / "outbox"),
                str(Path.cwd()),
                avoid,
            )
            child = self._child = AtherisProcess(folder, orders, printable(probe.id), self._job.limits)
            try:
                asked = child.run()
                self._take(result, child, probe)
            finally:
                child.close()
            done += asked
            if child.culprit is None:
                return
            octets, how = child.culprit
            self._blame(result, probe, octets, how)
            if sort := sort_of(octets):
                avoid.append(sort)
            if done >= unit.count:
                return
        self._spent = f"{printable(probe.id)}: it ended or hung its process {_ENDINGS + 1} times in {unit.count} inputs"
        result.notes.append(f"{self._spent}; the rest of them was left out")

    def _next_folder(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        (folder / "new").mkdir(parents=True)
        return folder

    def _arguments(self, folder: Path, unit: WorkUnit, attempt: int, runs: int) -> list[str]:
        """libFuzzer's arguments; new inputs go to the first folder."""
        text = f"{self._job.seed} {unit.first} {attempt}"
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") or 1
        return [
            f"-runs={runs}",
            f"-seed={seed}",
            f"-max_len={LONGEST}",
            f"-timeout={max(round(self._job.limits.timeout), 1)}",
            "-rss_limit_mb=0",  # the supervisor limits it
            "-reload=0",
            f"-dict={self._folder / 'dictionary'}",
            f"-artifact_prefix={self._folder / 'artifacts'}/",
            *map(str, (folder / "new", self._corpus, self._folder / "seeds")),
        ]

    def _take(self, result: UnitResult, child: AtherisProcess, probe: Probe) -> None:
        """The result of a run: counts, coverage, new inputs, and the inputs that looked divergent, asked again."""
        operation = operation_of(probe)
        result.asked[probe.id, operation] += child.memory.executions
        result.octets += child.memory.octets
        result.coverage = max(result.coverage, child.coverage)
        result.starting += child.starting
        for file in sorted((child.folder / "new").iterdir()):
            result.covering.append(file.read_bytes())
            _copy(file, self._corpus)
        suspects, reaching = child.told()
        result.reach(list(map(len, reaching)), b"".join(reaching), self._job.profile.dialect)
        for slot, octets in enumerate(suspects):
            times = child.memory.counted(slot) if slot < SLOTS else 1
            finding = probe.ask_one(Vector("fuzz", octets), operation)
            if finding is not None:
                result.add(finding, probe.id, result.unit.first, times=times)
            else:
                result.notes.append(
                    f"{printable(probe.id)}: {spaced_hex(octets)} was answered wrongly under Atheris ({times} such "
                    "inputs), and rightly when it was tested again"
                )

    def _blame(self, result: UnitResult, probe: Probe, octets: bytes, how: Crashed | TimedOut) -> None:
        """A finding for the input that ended the child: as observed when tested again, or else as the child ended."""
        operation = operation_of(probe)
        vector = Vector("fuzz", octets, profile=probe.profile)
        finding = probe.ask_one(vector, operation)
        if finding is None:
            code = Code.CRASHED if isinstance(how, Crashed) else Code.TIMED_OUT
            finding = Finding(vector, operation, code, expected_of(vector, operation), how)
            result.notes.append(
                f"{printable(probe.id)}: {spaced_hex(octets)} ended the process under Atheris, and not when repeated"
            )
        result.add(finding, probe.id, result.unit.first)


def python_words(probe: Probe) -> list[str]:
    """The file or module, the name, and any mode and traits of a Python target.

    Raises:
        TargetError: it is another kind of target.
    """
    found = resolve(probe.target, probe.limits)
    if isinstance(found, FramedTarget):
        found.prepare()
    words = build.python_words(found.command)
    if not words:
        raise TargetError(
            f"{printable(probe.id)}: the atheris engine instruments Python targets (py:MODULE:CALLABLE); use --engine "
            "grammar for others, or --engine libfuzzer for functions of shared libraries"
        )
    return words


def operation_of(probe: Probe) -> str:
    """The operation for a target.

    Raises:
        TargetError: it does not take whole inputs, or does not start.
    """
    if found := next((each for each in _WHOLE if each in probe.operations), ""):
        return found
    raise TargetError(f"{printable(probe.id)}: it takes no whole inputs; use --engine grammar or hypothesis")


def _name_of(octets: bytes) -> str:
    return hashlib.sha1(octets, usedforsecurity=False).hexdigest()


def _copy(file: Path, folder: Path) -> None:
    """Copy a file under the same name, at once: other processes read the folder."""
    if not (folder / file.name).exists():
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".", delete=False) as copy:
            copy.write(file.read_bytes())
        Path(copy.name).replace(folder / file.name)
