"""The engine for shared libraries: loops of the core in C ask shards in the library's own process.

This side starts ``adapter.py``, or an adapter with the same protocol, in the sandbox and sends it shards; foreign
code runs two processes away.
"""

from __future__ import annotations

import dataclasses
import json
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.oracle.target import KINDS, Fault, TargetError
from overlong.conformance.protocol.observation import describe
from overlong.conformance.protocol.wire import ACCEPTED, ECHO, FAILED
from overlong.conformance.results.sweeps import ShardResult
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import loads
from overlong.conformance.sweep.giants import why_none
from overlong.conformance.sweep.request import AT_WORK, HEAD_OF_RESULT, SWEEP, WantedSweep
from overlong.conformance.targets.adapters.abi import ABIS, QUESTION_ABIS
from overlong.conformance.targets.build import ADAPTERS
from overlong.conformance.targets.commands import REPLACES
from overlong.conformance.targets.process import Ended
from overlong.reference.core import why_not

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.protocol.greeting import Greeting
    from overlong.conformance.results.sweeps import Shard
    from overlong.conformance.sweep.plan import Plan
    from overlong.conformance.targets.framed import FramedTarget
    from overlong.conformance.targets.process import Process
    from overlong.conformance.vectors.vector import Profile

ADAPTER = Path(__file__).with_name("adapter.py")
_PLACE = 2
"""The adapter's place in a command line: after the interpreter and its option."""
_STARTS = 300.0  # seconds for the first sign of life: where the core cannot be kept, it is built first
_SILENT = 60.0  # seconds without a sign of life; the adapter itself ends a call that hangs


def reason_against(target: FramedTarget) -> str:
    """The reason why a target cannot be tested in its own process, in words; empty if it can."""
    return _unsuitable(target) or why_not()


def why_slow(target: FramedTarget) -> str:
    """What a user should know if only the core is missing to call a target's function fast; empty otherwise."""
    why = "" if _unsuitable(target) else why_not()  # which may build the core: not for a target without use for it
    return f"the function is called at a tenth of the speed: {why}" if why else ""


def _unsuitable(target: FramedTarget) -> str:
    """The same, as if there were a core."""
    command = list(target.command)
    if command[_PLACE : _PLACE + 1] != [str(ADAPTERS / "shared_library.py")]:
        return "it is no function of a shared library (so:)"
    if command[_PLACE + 3] in QUESTION_ABIS:
        return "it answers questions, and no sweep has any"
    if command[_PLACE + 3] not in ABIS:
        return "a function of Python is between (abi=py:)"
    if REPLACES in command:
        return "it replaces, and a function called in its own process is tested for what it refuses"
    if sys.platform == "win32":
        return "this system has no fork"
    return ""


def reason_against_giants(target: FramedTarget) -> str:
    """Why a target cannot be asked giant strings, in words; empty if it can."""
    if reason := reason_against(target):
        return reason
    abi = ABIS[target.command[_PLACE + 3]]
    if abi.units:
        return "it outputs text, and there is no room for so much"
    if abi.functions:
        return "it keeps a state, and its functions are not called for so much"
    return why_none()


def hold_giants_to(target: FramedTarget, plans: Iterable[Plan]) -> None:
    """Check that a target can be asked these plans.

    Raises:
        TargetError: it cannot be asked one of giant strings.
    """
    for plan in plans:
        if plan.giant and (reason := reason_against_giants(target)):
            raise TargetError(f"{printable(target.id)}: the plan {plan.name} cannot be tested: {reason}")


class InProcess:
    """Asks shards in the process of a shared library, through the adapter."""

    def __init__(self, target: FramedTarget, profile: Profile, *, adapter: Path = ADAPTER, more: str = "") -> None:
        """Start nothing yet.

        Args:
            target: a target without a reason against it. It is not started; another process is.
            profile: the profile to judge by.
            adapter: the adapter that asks it.
            more: further data on each shard for the adapter, in the adapter's own words.

        Raises:
            TargetError: there is a reason against it.
        """
        if reason := reason_against(target):
            raise TargetError(f"{printable(target.id)}: it cannot be tested in its own process: {reason}")
        command = list(target.command)
        command[_PLACE] = str(adapter)
        self._target = dataclasses.replace(target, command=command, restarts=0, notes=[])
        self._profile = profile
        self.more = more
        """Further data on the next shard for the adapter."""
        self._process: Process | None = None
        self._patience = _STARTS
        self._is_asked = False
        self.isolation = ""
        """The kind of its isolation; known once it has been asked."""
        self.restarts = 0
        """The number of restarts of the library's process."""
        self.notes: list[str] = []

    @property
    def greeting(self) -> Greeting:
        """Its greeting.

        Raises:
            TargetError: it does not start.
        """
        return self._open().greeting(self._target.patience)

    def run(self, shard: Shard) -> ShardResult:
        """Ask all strings of a shard; strings skipped after too many faults are counted as skipped.

        Raises:
            TargetError: it cannot be asked.
        """
        process = self._open()
        operations = process.greeting(self._target.patience).operations
        operation = next(each for each in "DV" if each in operations)
        wanted = WantedSweep(
            shard.plan,
            shard.grid,
            shard.first,
            shard.count,
            self._profile.speaks,
            operation,
            self._target.timeout,
            self._target.restart_budget,
            self.more,
        )
        request = process.numbers(1)
        process.send(request, (SWEEP + json.dumps(dataclasses.asdict(wanted))).encode())
        self._is_asked = True
        try:
            while (response := process.receive(self._patience)).status == AT_WORK:
                self._patience = _SILENT
        except Ended as ended:
            raise self._failed(ended, f"the shard {shard.key}") from ended
        finally:
            self._is_asked = False
        self._patience = _SILENT
        if response.status == FAILED:
            text = printable(bytes(response.payload).decode("ascii", "backslashreplace"))
            raise TargetError(f"{printable(self._target.id)}: {shard.key} cannot be tested: {text}")
        try:
            if (response.request, response.status) != (request, ACCEPTED):
                raise ValueError
            result, deaths = _result(shard, bytes(response.payload))
        except (ValueError, KeyError, TypeError, struct.error) as error:
            self.close()
            raise TargetError(
                f"{printable(self._target.id)}: {shard.key}: what its process says of it contradicts itself; "
                "the function may have written over memory that is not its own"
            ) from error
        self.restarts += deaths
        return result

    def close(self) -> None:
        """End its processes; if another thread is asking a shard, that thread ends them."""
        if self._is_asked and self._process is not None:
            self._process.send(0, ECHO.encode())  # any word ends the adapter
            return
        process, self._process = self._process, None
        if process is not None and (note := process.close()):
            self.notes.append(note)

    def _open(self) -> Process:
        process = self._process  # another thread may close it at any moment
        if process is None:
            try:
                self._process = process = self._target.new_process()
                self._patience = _STARTS
                process.greeting(self._target.patience)
                self.isolation = process.isolation
            except (OSError, ValueError) as error:
                why = error.strerror if isinstance(error, OSError) else str(error)
                self._process = None
                raise TargetError(f"{printable(self._target.id)}: cannot be started: {why}") from error
            except Ended as ended:
                raise self._failed(ended, "its start") from ended
        return process

    def _failed(self, ended: Ended, what: str) -> TargetError:
        """Note that the process has ended; the next shard gets a new one."""
        self._process = None
        words = f'; it said "{ended.words}"' if ended.words else ""
        return TargetError(f"{printable(self._target.id)}: not measured: at {what} {describe(ended.why)}{words}")


def _result(shard: Shard, payload: bytes) -> tuple[ShardResult, int]:
    """A shard's result, and the number of times that the library's process ended.

    Raises:
        ValueError, KeyError, TypeError, struct.error: the response is malformed.
    """
    (length,) = HEAD_OF_RESULT.unpack_from(payload)
    start = HEAD_OF_RESULT.size + length
    fields: Any = loads(payload[HEAD_OF_RESULT.size : start], "result")
    if not isinstance(fields, dict):
        raise TypeError
    fields = cast("dict[str, Any]", fields)
    deaths, left_out = fields.pop("deaths"), fields.pop("left_out")
    faults = tuple(Fault(index, kind, printable(text)) for index, kind, text in fields.pop("faults"))
    result = ShardResult(shard, kinds=payload[start:], faults=faults, **fields)
    if result.strings + left_out != shard.count or not min(left_out, deaths, result.well_formed, result.accepted) >= 0:
        raise ValueError
    if max(result.well_formed, result.accepted) > result.strings or (left_out and not result.kinds):
        raise ValueError
    if not all(fault.kind in KINDS and 0 <= fault.index - shard.first < shard.count for fault in faults):
        raise ValueError
    return result, deaths
