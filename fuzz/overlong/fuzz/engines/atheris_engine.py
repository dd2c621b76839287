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
import json
import platform
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from overlong.conformance.oracle.compare import expected_of
from overlong.conformance.oracle.finding import Finding
from overlong.conformance.oracle.target import BudgetSpent, TargetError
from overlong.conformance.protocol.kind import Code
from overlong.conformance.protocol.observation import Crashed, TimedOut
from overlong.conformance.protocol.wire import DECODE, REPLACE, VALIDATE
from overlong.conformance.support.interpreter import module
from overlong.conformance.support.printable import printable, spaced_hex
from overlong.conformance.support.strict_json import loads
from overlong.conformance.support.temporary import TemporaryFolder
from overlong.conformance.targets import builtin
from overlong.conformance.targets.adapters.python import parted
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.formats.libfuzzer import tokens
from overlong.conformance.vectors.formats.source import escaped
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.engines.atheris_child import Orders, sort_of
from overlong.fuzz.engines.atheris_process import AtherisProcess
from overlong.fuzz.engines.result import UnitResult
from overlong.fuzz.engines.shared_memory import LONGEST, SLOTS, SharedMemory
from overlong.fuzz.execution.probe import Probe
from overlong.fuzz.generation.tokens import tokens_of
from overlong.reference.extra import install

if TYPE_CHECKING:
    from overlong.fuzz.execution.job import CampaignJob, WorkUnit

NEEDED = f"the atheris engine needs Linux on x86-64, and Atheris; {install('atheris')}"
_WHOLE = DECODE + VALIDATE + REPLACE
_LOOK = 0.2  # seconds between looks at the child
_STARTING = 60.0  # seconds in which it must ask its first input
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
        self._child: _Child | None = None
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
            child = self._child = _Child(self._next_folder(), self._job, probe, words)
            try:
                asked = child.run(self._arguments(child.folder, unit, attempt, unit.count - done), avoid)
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

    def _take(self, result: UnitResult, child: _Child, probe: Probe) -> None:
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


class _Child:
    """One child process, its orders, and its results."""

    def __init__(self, folder: Path, job: CampaignJob, probe: Probe, words: list[str]) -> None:
        self.folder = folder
        self.memory = SharedMemory(folder / "memory", new=True)
        self.coverage = 0
        self.starting = 0.0
        """The seconds before its first input."""
        self.culprit: tuple[bytes, Crashed | TimedOut] | None = None
        """The input that ended it, and the kind of end."""
        self._outbox = folder / "outbox"
        self._job, self._probe, self._words = job, probe, words
        self._process: AtherisProcess | None = None

    def run(self, arguments: list[str], avoid: list[str]) -> int:
        """Run it to its end; return the number of inputs.

        Raises:
            TargetError: it asked nothing, or did not end in the target.
        """
        orders = Orders(
            self._words[0],
            self._words[1],
            parted(self._words[2:])[0],
            operation_of(self._probe),
            {member: word for member, word in self._probe.greeting.traits.items() if word},
            asdict(self._probe.profile),
            arguments,
            str(self.folder / "memory"),
            str(self._outbox),
            str(Path.cwd()),
            avoid,
        )
        path = self.folder / "orders.json"
        path.write_text(json.dumps(asdict(orders)), encoding="utf-8")
        limits = self._job.limits
        self._process = running = AtherisProcess(
            module(Orders.__module__, str(path)), memory=limits.memory, sandbox=limits.sandbox
        )
        seen, since = 0, (began := time.monotonic())
        patience = limits.timeout * 2 + 5
        while (status := running.wait(_LOOK)) is None:
            asked = self.memory.executions
            if asked != seen:
                if not seen:
                    self.starting = time.monotonic() - began
                seen, since = asked, time.monotonic()
            elif time.monotonic() - since > (patience if seen else max(patience, _STARTING)):
                running.kill()  # libFuzzer's own alarm does not go off either
                break
        if not seen:  # it ended before the first look
            self.starting = time.monotonic() - began
        self.coverage = running.coverage
        self._judge(status, running)
        return self.memory.executions

    def _judge(self, status: int | None, running: AtherisProcess) -> None:
        """Why it ended. Status 0 proves nothing: ``os._exit(0)`` has it, too."""
        complaint, at_hand = running.complaint, self.memory.at_hand
        if at_hand is not None:
            hung = status is None or complaint.startswith("timeout")
            says = complaint or (
                f"signal {-status}" if status is not None and status < 0 else f"exited with status {status}"
            )
            self.culprit = at_hand, TimedOut(self._job.limits.timeout) if hung else Crashed(f"under Atheris: {says}")
        elif status != 0:
            raise TargetError(f"{printable(self._probe.id)}: the atheris engine: {complaint or running.last_words}")

    def told(self) -> tuple[list[bytes], list[bytes]]:
        """The first input of each fingerprint; and inputs that together reach all that it reached of the reference.

        A truncated last line does not count.

        Raises:
            TargetError: the child did not write a line so; the target may write there, too.
        """
        found = list[bytes](), list[bytes]()
        if self._outbox.exists():
            for number, line in enumerate(self._outbox.read_bytes().split(b"\n")[:-1], 1):
                try:
                    said = loads(line, self._outbox.name, line=number)
                    found[bool(said["reaches"])].append(bytes.fromhex(said["octets"]))
                except (ValueError, LookupError, TypeError) as error:
                    raise TargetError(
                        f"{printable(self._probe.id)}: the atheris engine: line {number} of what it found is damaged"
                    ) from error
        return found

    def end(self) -> None:
        """End its process."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """End it."""
        self.end()
        self.memory.close()


def python_words(probe: Probe) -> list[str]:
    """The file or module, the name, and any mode and traits of a Python target.

    Raises:
        TargetError: it is another kind of target.
    """
    found = resolve(probe.target, probe.limits)
    if isinstance(found, FramedTarget):
        found.prepare()
    words = builtin.python_words(found.command)
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
