"""Inputs that reach new code of a Python target: Atheris, which is libFuzzer with instrumented bytecode.

Each unit is one run of libFuzzer in a child process, with a seed of its own, the dictionary and the mutator of the
grammar, and the corpus of the campaign, to which inputs that reach new code are added. The child only reports inputs
that look divergent; ``Probe`` asks them again and decides. The child is contained like a target, read while it lives,
and certain to end. When it dies or hangs, shared memory has its last input, and another child continues.

``docs/fuzzing.md`` has the traps.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
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
from overlong.conformance.support.process import environment, module
from overlong.conformance.support.strict_json import loads
from overlong.conformance.targets import build, process
from overlong.conformance.targets.adapters.python import parted
from overlong.conformance.targets.framed import FramedTarget
from overlong.conformance.targets.resolve import resolve
from overlong.conformance.vectors.formats.text import escaped, tokens
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.choice import tokens_of
from overlong.fuzz.engines.atheris_child import LONGEST, SLOTS, Orders, SharedMemory, sort_of
from overlong.fuzz.engines.job import UnitResult
from overlong.fuzz.engines.probe import Probe
from overlong.reference.core.building import install

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

    from overlong.conformance.targets.limits import Limits
    from overlong.fuzz.engines.job import CampaignJob

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

    def run(self, unit: range) -> UnitResult:
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
                self._arguments(folder, unit, attempt, len(unit) - done),
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
            if done >= len(unit):
                return
        self._spent = f"{printable(probe.id)}: it ended or hung its process {_ENDINGS + 1} times in {len(unit)} inputs"
        result.notes.append(f"{self._spent}; the rest of them was left out")

    def _next_folder(self) -> Path:
        self._runs += 1
        folder = self._folder / f"run-{self._runs}"
        (folder / "new").mkdir(parents=True)
        return folder

    def _arguments(self, folder: Path, unit: range, attempt: int, runs: int) -> list[str]:
        """libFuzzer's arguments; new inputs go to the first folder."""
        text = f"{self._job.seed} {unit.start} {attempt}"
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
                result.add(finding, probe.id, result.unit.start, times=times)
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
        result.add(finding, probe.id, result.unit.start)


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


_KEPT = 1 << 13
_COVERAGE = re.compile(rb"\bcov: (\d+)")
_ERROR = re.compile(rb"ERROR: libFuzzer: ([^\n(]+)")
_LINE = re.compile(rb"[^\n]*\n")
_LOOK = 0.2  # seconds between looks at it
_STARTING = 60.0  # seconds in which it must ask its first input
_ENDING = 6.0  # seconds in which all processes must end


class AtherisProcess:
    """One run: its orders, its process, whose standard streams are drained, and what it found."""

    def __init__(self, folder: Path, orders: Orders, target: str, limits: Limits) -> None:
        """Start nothing yet.

        Args:
            folder: for its files.
            orders: what it is to do.
            target: the name, safe to show.
            limits: of the process; only the supervisor enforces that of memory.
        """
        self.folder = folder
        self.memory = SharedMemory(Path(orders.memory), new=True)
        self.coverage = 0
        """The edges of the target that it reached, counted by libFuzzer."""
        self.starting = 0.0
        """The seconds before its first input."""
        self.culprit: tuple[bytes, Crashed | TimedOut] | None = None
        """The input that ended it, and the kind of end."""
        self._orders, self._target, self._limits = orders, target, limits
        self._tail = b""
        self._lifeline: IO[bytes] | None = None
        self._report: IO[bytes] | None = None
        self._popen: subprocess.Popen[bytes] | None = None
        self._drainer = threading.Thread(target=self._drain, daemon=True)

    def run(self) -> int:
        """Run it to its end; return the number of inputs.

        Raises:
            TargetError: it asked nothing, or did not end in the target.
            OSError: it cannot start.
        """
        path = self.folder / "orders.json"
        path.write_text(json.dumps(asdict(self._orders)), encoding="utf-8")
        self._popen = running = self._started(module(Orders.__module__, str(path)))
        self._drainer.start()
        seen, since = 0, (began := time.monotonic())
        patience = self._limits.timeout * 2 + 5
        while (status := _status(running, _LOOK)) is None:
            asked = self.memory.executions
            if asked != seen:
                if not seen:
                    self.starting = time.monotonic() - began
                seen, since = asked, time.monotonic()
            elif time.monotonic() - since > (patience if seen else max(patience, _STARTING)):
                self.end()  # libFuzzer's own alarm does not go off either
                break
        if not seen:  # it ended before the first look
            self.starting = time.monotonic() - began
        self._drainer.join(1)
        self._judge(status)
        return self.memory.executions

    def _started(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start it; through the supervisor if the system has one."""
        surroundings = dict(environment() or os.environ)
        surroundings.pop("PYTHONFAULTHANDLER", None)
        memory = self._limits.memory if self._limits.sandbox and process.can_supervise() else None
        popen, self._lifeline, self._report = process.started(
            command, memory, environment=surroundings, stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT
        )
        return popen

    def _judge(self, status: int | None) -> None:
        """Why it ended. Status 0 proves nothing: ``os._exit(0)`` has it, too."""
        said = _ERROR.findall(self._tail)  # as libFuzzer says it: "timeout after 2 seconds"
        complaint = printable(said[-1].decode("utf-8", "backslashreplace").strip()) if said else ""
        at_hand = self.memory.at_hand
        if at_hand is not None:
            hung = status is None or complaint.startswith("timeout")
            says = complaint or (
                f"signal {-status}" if status is not None and status < 0 else f"exited with status {status}"
            )
            self.culprit = at_hand, TimedOut(self._limits.timeout) if hung else Crashed(f"under Atheris: {says}")
        elif status != 0:
            lines = [line for line in self._tail.decode("utf-8", "backslashreplace").splitlines() if line.strip()]
            last_words = printable(lines[-1].strip()) if lines else ""
            raise TargetError(f"{self._target}: the atheris engine: {complaint or last_words}")

    def told(self) -> tuple[list[bytes], list[bytes]]:
        """The first input of each fingerprint; and inputs that together reach all that it reached of the reference.

        A truncated last line does not count.

        Raises:
            TargetError: the child did not write a line so; the target may write there, too.
        """
        found, outbox = (list[bytes](), list[bytes]()), Path(self._orders.outbox)
        if outbox.exists():
            for number, line in enumerate(outbox.read_bytes().split(b"\n")[:-1], 1):
                try:
                    said = loads(line, outbox.name, line=number)
                    found[bool(said["reaches"])].append(bytes.fromhex(said["octets"]))
                except (ValueError, LookupError, TypeError) as error:
                    raise TargetError(
                        f"{self._target}: the atheris engine: line {number} of what it found is damaged"
                    ) from error
        return found

    def end(self) -> None:
        """End it and all its children. Never raises."""
        self._let_go()  # then the supervisor kills everything, and ends
        running = self._popen
        if running is None:
            return
        if running.poll() is None and process.can_supervise():
            _status(running, _ENDING)
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(running.pid, signal.SIGKILL)
        _status(running, _ENDING)
        self._drainer.join(1)
        if running.stdout is not None and not self._drainer.is_alive():
            running.stdout.close()

    def close(self) -> None:
        """End it; its files stay."""
        self.end()
        self.memory.close()

    def _drain(self) -> None:
        assert self._popen is not None
        assert self._popen.stdout is not None
        rest = b""
        with contextlib.suppress(OSError, ValueError):
            while octets := self._popen.stdout.read(1 << 16):
                rest += octets
                for line in _LINE.findall(rest):
                    if found := _COVERAGE.search(line):
                        self.coverage = max(self.coverage, int(found[1]))
                rest = rest[rest.rfind(b"\n") + 1 :][-_KEPT:]
                self._tail = (self._tail + octets)[-_KEPT:]

    def _let_go(self) -> None:
        for pipe in (self._lifeline, self._report):
            if pipe is not None:
                pipe.close()


def _status(running: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit status, negative for a signal; None if it still runs after the seconds given."""
    try:
        return running.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
