"""``answers:FILE``: recorded answers to the requests that ``vectors export --format frames`` wrote.

The file is an adapter's output: its greeting, and a response to each request. The first echo names the vectors asked,
the last one has the digest of all requests; this module makes the requests themselves again.
"""

from __future__ import annotations

import stat
from array import array
from collections import deque
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

from overlong.conformance.oracle.target import Answered, BudgetSpent, TargetError, UnknownTarget
from overlong.conformance.protocol import wire
from overlong.conformance.protocol.greeting import Greeting
from overlong.conformance.protocol.observation import Misbehaved
from overlong.conformance.protocol.wire import Answers, ProtocolError, big_endian
from overlong.conformance.support.printable import printable
from overlong.conformance.support.strict_json import loads
from overlong.conformance.vectors.export import Selection
from overlong.conformance.vectors.formats.data import requests, stream
from overlong.conformance.vectors.suites import suite_named
from overlong.conformance.vectors.vector import SUITE_VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from overlong.conformance.protocol.observation import Fault
    from overlong.conformance.vectors.batch import Batch

_LEAST = wire.HEAD.size + 1
_ID = 0xFFFFFFFF
_LARGEST = 1 << 30  # octets of a file


@dataclass(eq=False)
class RecordedTarget:
    """The recorded answers in a file."""

    path: Path
    notes: list[str] = field(default_factory=list[str])
    restarts: int = 0
    isolation: str = "not run here: its answers were read from a file"

    def __post_init__(self) -> None:
        self.selection = Selection()
        """The vectors asked, once the file is read."""
        self._octets = b""
        self._greeting: Greeting | None = None
        self._starts = array("Q")  # the answers' offsets, by request id
        self._asked = 0  # requests, including the two echoes
        self._first: dict[str, int] = {}  # the id of each suite's first request
        self._cursors: dict[tuple[str, str], Iterator[tuple[int, bytes]]] = {}  # for each suite and operation

    @property
    def id(self) -> str:
        """The name in the greeting: the file is only the place of the answers."""
        return self.greeting.name

    @property
    def command(self) -> list[str]:
        """The file; its digest is the target's."""
        return [str(self.path)]

    @property
    def greeting(self) -> Greeting:
        if self._greeting is None:
            raise TargetError(f"{self._name}: not read yet")
        return self._greeting

    @property
    def _name(self) -> str:
        return printable(str(self.path))

    def start(self) -> None:
        """Read the file, and check that it answers the requests that it names.

        Raises:
            UnknownTarget: it does not.
            OSError: it cannot be read.
        """
        if self._greeting is not None:
            return
        status = self.path.stat()
        if not stat.S_ISREG(status.st_mode):  # a pipe or a device cannot be read again
            raise UnknownTarget(f"{self._name}: no file; write the answers to one")
        if status.st_size > _LARGEST:
            raise UnknownTarget(f"{self._name}: larger than {_LARGEST >> 30} GiB; it is not read")
        with self.path.open("rb") as file:
            self._octets = file.read(wire.LARGEST_GREETING + 1)
            after_greeting = self._read_greeting()  # before the rest, which may be a gibibyte of anything
            file.seek(0)
            self._octets = file.read(_LARGEST)
        self._read_answers(self._read_description(after_greeting))

    def open(self) -> None:
        self.start()

    def close(self) -> None:
        pass

    def observe(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[Answered]:
        """The recorded answers; *not supported* for vectors that were not asked.

        Raises:
            BudgetSpent: the answers end too early; all existing ones have been yielded.
        """
        ended = ""
        for batch, operation, ids in self._located(asked):
            there = next((place for place, each in enumerate(ids) if each >= len(self._starts)), len(batch))
            if there:
                yield self._answered(batch.part(0, there), operation, ids[:there])
            if there < len(batch) and not ended:
                ended = (
                    f"{self._name}: the answers end after {len(self._starts)} of {self._asked}, before that to "
                    f"{batch[there].id} with {operation}: let the adapter run to its end"
                )
        if ended:
            raise BudgetSpent(ended)

    def _located(self, asked: Iterable[tuple[Batch, str]]) -> Iterator[tuple[Batch, str, list[int]]]:
        """Each batch with the ids of its requests; 0 for vectors that were not asked."""
        others: list[tuple[Batch, str]] = []
        for batch, operation in asked:
            if batch.suite in self._first:
                yield batch, operation, self._ids_of(batch, operation)
            else:
                others.append((batch, operation))
        found = {(operation, payload): 0 for batch, operation in others for payload in _payloads(batch, operation)}
        if found:
            made_anew = (request for vector in self.selection.vectors() for request in requests(vector))
            for number, request in enumerate(made_anew, 1):
                if found.get(request) == 0:
                    found[request] = number
        for batch, operation in others:
            yield batch, operation, [found[operation, payload] for payload in _payloads(batch, operation)]

    def _ids_of(self, batch: Batch, operation: str) -> list[int]:
        """The ids of a suite's next requests. Vectors may be missing, because a trait sets them aside."""
        key = batch.suite, operation
        cursor = self._cursors.setdefault(key, self._requests_of(*key))
        return [
            next((number for number, other in cursor if other == payload), 0) for payload in _payloads(batch, operation)
        ]

    def _requests_of(self, suite: str, operation: str) -> Iterator[tuple[int, bytes]]:
        """The requests of a suite with an operation: their ids and payloads."""
        made_anew = (request for vector in suite_named(suite).vectors() for request in requests(vector))
        return (
            (number, payload)
            for number, (other, payload) in enumerate(made_anew, self._first[suite])
            if other == operation
        )

    def _answered(self, batch: Batch, operation: str, ids: list[int]) -> Answered:
        chunks = batch.chunk_counts(operation)
        size, marked = self.greeting.units_of(operation).size, self.greeting.marks_refusals
        parts, faults = list[Answers](), dict[int, "Fault"]()
        for place, number in enumerate(ids):
            status, payload = self._answer(number) if number else (wire.UNSUPPORTED, b"")
            try:
                parts.append(
                    Answers.from_single(status, payload, chunks[place] if chunks else None, size, marked=marked)
                )
            except ProtocolError as error:
                faults[place] = Misbehaved(str(error))
                parts.append(Answers.of(wire.UNSUPPORTED, big_endian("I", [0]), b"\0", b"\0", b""))
        lengths, _ = batch.payloads(operation)
        return Answered(batch, operation, replace(Answers.concatenated(parts), asked=lengths), faults)

    def _answer(self, number: int) -> tuple[bytes, bytes]:
        start = self._starts[number]
        length, _ = wire.HEAD.unpack_from(self._octets, start)
        return self._octets[start + 8 : start + 9], self._octets[start + 9 : start + 4 + length]

    def _read_greeting(self) -> int:
        """Returns the offset of the first frame."""
        line, end, _ = self._octets[: wire.LARGEST_GREETING + 1].partition(b"\n")
        if self._octets[_LEAST - 1 : _LEAST + len(wire.ECHO_PROBE)] == wire.ECHO.encode("ascii") + wire.ECHO_PROBE:
            raise UnknownTarget(
                f"{self._name}: these are the requests; pipe them into the adapter, and its output into another file"
            )
        if not end:
            raise UnknownTarget(f"{self._name}: there is no greeting, a line of JSON, at its start")
        try:
            self._greeting = Greeting.parse(line)
        except ProtocolError as error:
            raise UnknownTarget(f"{self._name}: {error}") from error
        return len(line) + 1

    def _read_description(self, place: int) -> int:
        """Read the answer to the first echo. Returns the next answer's offset."""
        if place == len(self._octets):
            raise UnknownTarget(f"{self._name}: nothing follows the greeting; pipe the requests into the adapter")
        end = self._frame_end(place, 0)
        self._starts.append(place)
        status, payload = self._answer(0)
        if status != wire.ACCEPTED or not payload.startswith(wire.ECHO_PROBE):
            shown = (status + payload)[: 1 + len(wire.ECHO_PROBE)].hex(" ").upper()
            raise UnknownTarget(
                f"{self._name}: octet {place}: the answer to the first echo is {shown}, not "
                f"{(wire.ACCEPTED + wire.ECHO_PROBE).hex(' ').upper()}: open the adapter's streams in binary mode"
            )
        suites, version, generator = self._described(payload[len(wire.ECHO_PROBE) :])
        if version != SUITE_VERSION:
            raise UnknownTarget(
                f"{self._name}: the answers are to suite {version} of {generator}, and this is suite "
                f"{SUITE_VERSION}: export the requests again"
            )
        self.selection = Selection(suites)
        return end

    def _described(self, said: bytes) -> tuple[tuple[str, ...], str, str]:
        """The suites, their version, and the program that wrote the requests; the latter two are safe to show."""
        try:
            data: Any = loads(said, self._name)
            names = [*data["suites"]]
            version, generator = (printable(str(data[each]), 40) for each in ("suite", "generator"))
            for name in names:
                suite_named(name)
            narrowed = [f"{kind} {value}" for kind in ("families", "flags", "ids") for value in data[kind]]
        except (ValueError, LookupError, TypeError) as error:
            raise UnknownTarget(
                f"{self._name}: the answer to the first echo does not say which vectors were tested; "
                "write the requests with 'overlong vectors export --format frames'"
            ) from error
        if narrowed or len(set(names)) < len(names) or not names:
            raise UnknownTarget(
                f"{self._name}: the answers are to a selection from suites ({printable(', '.join(narrowed))}); "
                "export whole suites, each once"
            )
        return tuple(names), version, generator

    def _read_answers(self, place: int) -> None:
        """Find each answer, and compare the echoed digest with that of the requests made again."""
        number = 1
        for name in self.selection.suites:
            suite = suite_named(name)
            self._first[name] = number
            number += suite.size * len(_operations(streaming=suite.streaming))
        self._asked = number + 1
        while place < len(self._octets):
            if len(self._starts) == self._asked:
                raise UnknownTarget(f"{self._name}: octet {place}: there is more after the last answer; remove it")
            end = self._frame_end(place, len(self._starts))
            self._starts.append(place)
            place = end
        if len(self._starts) == self._asked and self._answer(number) != (wire.ACCEPTED, _digest(self.selection)):
            raise UnknownTarget(
                f"{self._name}: the answers are to other requests than this version of overlong writes: "
                "export the requests again"
            )

    def _frame_end(self, place: int, number: int) -> int:
        """The end of a request's answer that begins at ``place``."""
        where = f"{self._name}: octet {place}"
        if len(self._octets) - place < wire.HEAD.size:
            raise UnknownTarget(f"{where}: the file ends in the answer to request {number}; let the adapter end")
        length, request = wire.HEAD.unpack_from(self._octets, place)
        if not wire.HEAD.size - 3 <= length <= wire.LARGEST_FRAME:
            text = printable(self._octets[place : place + 60].decode("ascii", "backslashreplace"))
            raise UnknownTarget(
                f'{where}: an answer claims to have {length} octets: the adapter printed to stdout? it wrote "{text}"'
            )
        if request != number & _ID:
            raise UnknownTarget(f"{where}: an answer to request {request} where {number} is next")
        end = place + 4 + int(length)
        if end > len(self._octets):
            raise UnknownTarget(f"{where}: the file ends in the answer to request {number}; let the adapter end")
        return end


def _payloads(batch: Batch, operation: str) -> Iterator[bytes]:
    lengths, octets = batch.payloads(operation)
    return (octets[start:end] for start, end in pairwise(accumulate(lengths, initial=0)))


def _operations(*, streaming: bool) -> str:
    """The requests of a file for each vector of a suite."""
    return wire.STREAM_DECODE + wire.STREAM_REPLACE if streaming else wire.VALIDATE + wire.DECODE + wire.REPLACE


def _digest(selection: Selection) -> bytes:
    """The payload of the last echo."""
    (last,) = deque(stream(selection), maxlen=1)
    return last[_LEAST:]
