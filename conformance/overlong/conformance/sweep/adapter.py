"""Adapter for sweeps of shared libraries: ``adapter.py LIBRARY SYMBOLS ABI [trait=value ...]``.

It answers shards: the private operation ``W``, whose payload and response are those of ``request.py`` and
:func:`respond`; only ``sweep/in_process.py`` asks it. As in ``shared_library.py``, there are two processes: this one
speaks the protocol and never runs foreign code; its child, forked once the core is loaded, loads the library and runs
the loops. Counter, sums and kinds are in shared memory: when the child dies, or hangs and is killed, this process
knows the string that caused it, and the next child continues after that string.

A decoder that crashes on string after string is asked a few of them. Then this process tries the end and the middle
of a block. If these crash too, it skips the rest of the block, and counts it as not asked, never as crashed.
A source whose strings have no order chooses itself which ones to skip.

A ``Source`` (``caller.py``) provides the strings and the loop that asks them: here the grids of a plan; another
adapter that calls :func:`main` may have its own.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[3])) not in sys.path:
        sys.path.insert(0, _root)

import heapq
import json
import os
import time
import zlib
from dataclasses import replace
from io import FileIO
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import (
    ACCEPTED_ILL_FORMED,
    BROKEN,
    CRASHED,
    FAULTS,
    LEFT_OUT,
    OTHER_OFFSET,
    REFUSED_WELL_FORMED,
    TIMED_OUT,
    Fault,
    TargetError,
)
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.wire import DECODE, NOT_SAID, VALIDATE
from overlong.conformance.sweep.caller import HANGS, Caller, Source
from overlong.conformance.sweep.giants import why_none
from overlong.conformance.sweep.grid import Grid
from overlong.conformance.sweep.plan import LARGEST_SHARD
from overlong.conformance.sweep.request import HEAD_OF_RESULT, SWEEP, WantedSweep
from overlong.conformance.targets.adapters.abi import ABIS
from overlong.conformance.targets.adapters.child import Named
from overlong.conformance.targets.adapters.serving import answer_frames, fail, pieces
from overlong.conformance.targets.adapters.shared_library import die
from overlong.reference.core import NoCore

if TYPE_CHECKING:
    from collections.abc import Sequence


if sys.platform == "win32":
    raise ImportError("what runs foreign code is forked, which needs POSIX")

IN_A_ROW = 32
"""Adjacent strings that crash before the rest of a block is skipped."""
BLOCK = 256
"""Strings in the first block; if the next block crashes at once, it grows by the same factor."""
_VAIN = 32  # deaths in a row without a culprit, or with a different one each time
_EACH_SECOND = 1 << 26  # letters of giant strings that a call may take a second longer for
_OF_ANSWERS = {ACCEPTED_ILL_FORMED, REFUSED_WELL_FORMED, OTHER_OFFSET, BROKEN}


class Course:
    """Runs a shard from its first string to its last, whatever the decoder does."""

    def __init__(self, wanted: WantedSweep, caller: Caller) -> None:
        """Raises: TargetError: there is nothing to ask, or it does not fit into the shared memory."""
        if wanted.count > LARGEST_SHARD:
            raise TargetError(f"a shard has {LARGEST_SHARD} strings at most, and this one {wanted.count}")
        self._wanted, self._caller = wanted, caller
        self._strings = caller.source.strings(wanted)
        self._between = self._strings.between if isinstance(self._strings, Grid) else 0
        if self._between and (reason := why_none()):
            raise TargetError(reason)
        self._timeout = wanted.timeout + self._between // _EACH_SECOND
        self._automaton = caller.expectation(wanted).automaton
        self._progress, self._kinds = caller.shared.progress, caller.shared.kinds
        self._end = wanted.first + wanted.count
        self._faults: dict[int, list[Fault]] = {CRASHED: [], TIMED_OUT: []}
        self._last, self._row, self._block = -2, 0, BLOCK  # the last culprit, and the strings answered before it
        self._deaths = self._hangs = 0
        self._sparing = caller.source.sparing(wanted)
        self._spared: list[int] = []  # a heap of strings to skip

    def run(self) -> tuple[dict[str, Any], bytes]:
        """The fields of a :class:`~overlong.conformance.results.sweeps.ShardResult` without its kinds, and the kinds.

        Raises:
            TargetError: it cannot be asked.
        """
        started = time.monotonic()
        try:
            self._ask_all()
            kinds = self._caller.shared.diverging(self._wanted.count)
        finally:
            self._caller.shared.wipe(self._wanted.count)
        fields = {
            **self._progress.sums,
            "faults": self._told(kinds),
            "seconds": time.monotonic() - started,
            "deaths": self._deaths,
            "left_out": kinds.count(LEFT_OUT),
        }
        return fields, zlib.compress(kinds, 1) if kinds else b""

    def _ask_all(self) -> None:
        progress = self._progress
        progress.begin(self._wanted.first)
        culprit: Fault | None = None
        vain = 0
        while (reached := progress.reached) < self._end:
            if culprit is not None and reached == culprit.index:  # the sums include all strings before it
                self._died_of(culprit)
                culprit, vain = None, 0
                continue
            if culprit is None and self._spared and self._spared[0] <= reached:
                self._leave_out(heapq.heappop(self._spared) + 1)
                continue
            until = culprit.index if culprit is not None else self._spared[0] if self._spared else self._end
            ended = self._caller.run(self._wanted, until, self._timeout)
            if ended is None:
                continue
            vain = vain + 1 if progress.reached == reached else 0
            if vain > _VAIN:
                raise TargetError(f"it {ended.text} again and again, and never of the same string")
            if ended.index >= progress.reached:  # otherwise it was between two calls
                culprit = ended
                if progress.earlier:
                    culprit = replace(ended, text=f"{ended.text}, at the string that is tested before it")

    def _died_of(self, culprit: Fault) -> None:
        """Pass over a string that crashed, and over later ones if there were too many crashes."""
        self._pass(culprit)
        if self._sparing is not None:
            for number in self._sparing(culprit.index, culprit.kind):
                heapq.heappush(self._spared, number)
            return
        if culprit.kind == CRASHED:
            self._go_on_behind(culprit.index)
        if self._hangs >= HANGS:
            self._leave_out(self._end)

    def _go_on_behind(self, index: int) -> None:
        if index == self._last + 1:
            self._row += 1
        else:
            self._row, self._block = 1, BLOCK
        self._last = index
        over = self._deaths - self._wanted.restarts
        if over >= 0:
            self._try_block(index, BLOCK ** (1 + over // IN_A_ROW), at_any_rate=True)
        elif self._row >= IN_A_ROW:
            while self._block >= BLOCK and not self._try_block(index, self._block, at_any_rate=False):
                self._block //= BLOCK
            if self._block < BLOCK:  # it does not crash on all of even the smallest block
                self._row = 0
            self._block *= BLOCK

    def _try_block(self, index: int, size: int, *, at_any_rate: bool) -> bool:
        """Skip the rest of a block if its last and its middle string crash as well.

        Returns True if it skipped them, or there is no rest. ``at_any_rate``: skip whatever the last string does; if
        that string does not crash, the shard continues with it.
        """
        last = min((index // size + 1) * size, self._end) - 1
        if last <= index:
            return True
        tried = list[Fault]()
        for each in (last,) if at_any_rate else sorted({(index + 1 + last) // 2, last}):
            ended = self._caller.try_one(self._wanted, each, self._timeout)
            if ended is not None:
                tried.append(ended)
            elif not at_any_rate:
                return False
        for ended in tried:
            self._leave_out(ended.index)
            self._pass(ended)
            self._last = ended.index
        self._leave_out(last)
        return True

    def _pass(self, why: Fault) -> None:
        octets = self._strings.string(why.index)
        self._progress.passed(len(octets) + self._between, well_formed=self._automaton.accepts(octets))
        self._kinds[why.index - self._wanted.first] = why.kind
        self._faults[why.kind].append(why)
        self._deaths += 1
        self._hangs += why.kind == TIMED_OUT

    def _leave_out(self, until: int) -> None:
        """Skip all strings before that one, if there are any."""
        count, start = until - self._progress.reached, self._progress.reached - self._wanted.first
        if count > 0:
            self._kinds[start : start + count] = bytes((LEFT_OUT,)) * count
            self._progress.left_out(count)

    def _told(self, kinds: bytes) -> list[tuple[int, int, str]]:
        """The first few faults of each kind, in order."""
        told = [(each.index, each.kind, each.text) for faults in self._faults.values() for each in faults[:FAULTS]]
        if self._between:  # it is a shard of its own
            told += [(self._wanted.first, kind, self._giant_answer(kind)) for kind in kinds if kind in _OF_ANSWERS]
            return sorted(told)
        place = -1
        for _ in range(FAULTS):
            place = kinds.find(BROKEN, place + 1)
            if place < 0:
                break
            index = self._wanted.first + place
            told.append((index, BROKEN, self._what_is_wrong(self._strings.string(index))))
        return sorted(told)

    def _giant_answer(self, kind: int) -> str:
        """What a function said of a giant string, for ``describing.py``: the offset of a refusal, if it said one."""
        if kind == BROKEN:
            return "it reports a place that the string does not have"
        return "" if kind == ACCEPTED_ILL_FORMED or self._progress.number == NOT_SAID else str(self._progress.number)

    def _what_is_wrong(self, octets: bytes) -> str:
        """The way in which an answer breaks the convention, in words."""
        said = self._caller.witness(self._wanted.operation, [octets], single=True, limit=self._timeout)
        if isinstance(said, bytes) and said[:1] == b"X":
            return said[1:].decode("ascii", "backslashreplace")
        return "it did so once, and not when it was tested again"


def respond(caller: Caller, payload: bytes) -> Sequence[bytes]:
    """The response to :data:`SWEEP`: a result, or the reason for none."""
    try:
        wanted = WantedSweep(**json.loads(payload))
        course = Course(wanted, caller)
        caller.prepare()
        fields, kinds = course.run()
    except (NoCore, TargetError, ValueError) as error:
        return [b"X", str(error).encode("ascii", "backslashreplace")]
    said = json.dumps(fields).encode()
    return [b"A", HEAD_OF_RESULT.pack(len(said)), said, kinds]


def main(source: Source | None = None) -> None:
    """Greet, then answer until the input ends. ``source``: the source of strings; None: grids."""
    import resource

    named = Named.of(sys.argv[1:])
    if named.python is not None:
        fail("a function of Python is between; the core calls the library alone")
    answers = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # output of the library must not look like answers
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a process that forks should have no threads
    abi = ABIS[named.abi]
    operation = DECODE if abi.units else VALIDATE
    greeting = {
        "overlong": 1,
        "name": f"{Path(named.library).name}:{','.join(named.symbols)}".encode("utf-8", "backslashreplace").decode(),
        "version": "",
        "language": "C",
        "operations": f"PB{operation}",
        "units": abi.units or "utf-32",
        **({"nul": "ends the string"} if abi.terminated else {}),
        **named.traits,
    }
    caller = Caller(named, Greeting.parse(json.dumps(greeting).encode()), answers, source or Source())
    loaded = caller.witness(operation, [], single=False, limit=None)
    if isinstance(loaded, int):
        die(loaded)

    def answer(asked: str, payload: bytes, batched: bool) -> Sequence[bytes]:  # noqa: FBT001
        if asked == SWEEP:
            caller.is_awaited = True
            response = respond(caller, payload)
            caller.is_awaited = False
            return response
        items = pieces(payload) if batched else [payload]
        said = caller.witness(asked, items, single=not batched, limit=None)
        if isinstance(said, int):
            die(said)
        return [b"A", said] if batched else [said]

    answer_frames(greeting, f"{operation}{SWEEP}", answer, answers)
    caller.end()
    os._exit(0)


if __name__ == "__main__":
    main()
