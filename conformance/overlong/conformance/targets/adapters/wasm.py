"""Adapter for WebAssembly: ``wasm.py MODULE EXPORT ABI [trait=value ...]``. ``docs/shared-libraries.md`` explains it.

The adapter calls a module's function in its own instance, with fuel for each call and a limit on memory. It adds pages
for inputs and outputs at the end of the linear memory. For ``G``, an input or an output ends exactly where the memory
ends, so that an access beyond it traps. After a trap the adapter makes a new instance.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable from anywhere
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.insert(0, _root)

import ctypes
import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING

from wasmtime import (
    Config,
    Engine,
    Func,
    FuncType,
    Instance,
    Linker,
    Memory,
    Module,
    Store,
    Trap,
    TrapCode,
    ValType,
    WasiConfig,
    WasmtimeError,
)

from overlong.conformance.targets.adapters import bounds
from overlong.conformance.targets.adapters.abi import ABIS, UNIT, Abi, AnswerReading, Called, columns_of, within
from overlong.conformance.targets.adapters.bounds import Wrong
from overlong.conformance.targets.adapters.serving import answer_frames, fail, own_output, pieces, unbatched

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = 1 << 16
MOST_MEMORY = 1 << 28
"""The most octets of an instance's linear memory."""
FUEL, FUEL_FOR_AN_OCTET = 1 << 24, 1 << 12
"""One unit of fuel is about one instruction."""
WORN = 1 << 26
"""The octets by which a memory may grow before a new instance replaces it: functions may never free memory."""

_CANARY = b"overlong" * 8  # marks the start of our pages: an allocator that takes them over overwrites it
_CELLS = 512  # octets for out pointers, and for a returned struct
_PAD = 1024  # octets around an input or an output
_MARGIN = 256  # checked octets of these
_ALIGNMENTS = 16
_SIDES = ((b"a", b"a"), (b"\xf0\x9f\x98", b"\x80"), (b"\xff", b"\xff"), (b"\xe2\x82", b"\xac"), (b"\0", b"\0"))


class Trapped(Exception):
    """A call did not return; ``beyond``: it accessed memory beyond the end."""

    def __init__(self, words: str, *, beyond: bool = False) -> None:
        super().__init__(words)
        self.beyond = beyond


class Decoder:
    """A function, called in instances of its module."""

    def __init__(self, path: str, export: str, abi: Abi) -> None:
        """If it cannot be called, print the reason and exit with status 3."""
        self._path, self._export, self.abi = path, export, abi
        self.unit = UNIT[abi.units] if abi.units else 0
        self._cell_names = [name for name in abi.parameters if name in ("cell", "cell32")]
        config = Config()
        config.consume_fuel = True
        self._engine = Engine(config)
        try:
            self._module = Module(self._engine, Path(path).read_bytes())
        except (WasmtimeError, OSError) as error:
            fail(f"{path}: no WebAssembly module: {str(error).splitlines()[0]}")
        self._caller = Module(self._engine, caller_for(self._type()))
        self._linker = Linker(self._engine)
        self._linker.define_wasi()
        self._linker.define_unknown_imports_as_traps(self._module)
        self._store: Store
        self._call_it: Func
        self._asked: ctypes.Array[ctypes.c_int32]
        """The arguments of the call, then its result."""
        self._memory: Memory
        self._pages = 0  # added by us, at the end
        self._base = self._end = self._born = self._area = 0
        self.start()

    def start(self) -> None:
        """Make a new instance."""
        self._store = Store(self._engine)
        self._store.set_limits(memory_size=MOST_MEMORY)
        self._store.set_wasi(WasiConfig())
        self._store.set_fuel(FUEL)
        try:
            exports = self._linker.instantiate(self._store, self._module).exports(self._store)
            initialise = exports.get("_initialize")
            if isinstance(initialise, Func):  # modules that are no programs have it
                initialise(self._store)
        except (Trap, WasmtimeError) as error:
            fail(f"{self._path}: it cannot be started: {words_of(error)}")
        memory, function = exports.get("memory"), exports.get(self._export)
        if not isinstance(memory, Memory):
            fail(f'{self._path}: it exports no memory under the name "memory"')
        if not isinstance(function, Func):
            names = [name for name, each in exports.items() if isinstance(each, Func) and not name.startswith("_")]
            fail(f"{self._path}: it exports no function {self._export}; there is {', '.join(names[:20]) or 'none'}")
        wanted = self._type()
        found = function.type(self._store)
        if [list(map(str, each)) for each in (found.params, found.results)] != [
            list(map(str, each)) for each in (wanted.params, wanted.results)
        ]:
            fail(f"{self._export} has type {in_words(found)}; {self.abi.name} is {in_words(wanted)}")
        self._memory = memory
        caller = Instance(self._store, self._caller, [function]).exports(self._store)
        asked, call = caller["asked"], caller["call"]
        assert isinstance(asked, Memory)
        assert isinstance(call, Func)
        self._call_it = call
        self._asked = (ctypes.c_int32 * 16).from_address(ctypes.addressof(asked.data_ptr(self._store).contents))
        self._pages = self._end = 0
        self._born = memory.data_len(self._store)
        self.fit(1 << 10)

    def _type(self) -> FuncType:
        """The function's type, as in C on a 32-bit machine: the first parameter is a returned struct's address."""
        numbers = [ValType.i32()] * len(self.abi.parameters)
        if self.abi.result == "pair":
            return FuncType([ValType.i32(), *numbers], [])
        return FuncType(numbers, [] if self.abi.result == "none" else [ValType.i32()])

    def fit(self, length: int) -> None:
        """Make sure of pages at the end for inputs of ``length`` octets; add new ones if the memory has grown."""
        if self._memory.data_len(self._store) > self._born + WORN:
            self.start()
        self._area = 2 * _PAD + 4 * (4 * length + 16)
        pages = -(-(len(_CANARY) + _CELLS + 2 * self._area) // PAGE)
        size = self._memory.data_len(self._store)
        if size != self._end or pages > self._pages:
            try:
                self._memory.grow(self._store, pages)
            except WasmtimeError:
                fail(
                    f"its memory of {size // PAGE} pages cannot grow by {pages}: raise the maximum that it declares, "
                    f"up to {MOST_MEMORY // PAGE}"
                )
            self._pages, self._end = pages, size + pages * PAGE
        self._base = ctypes.addressof(self._memory.data_ptr(self._store).contents)
        ctypes.memmove(self._base + self._cells - len(_CANARY), _CANARY, len(_CANARY))

    @property
    def _cells(self) -> int:
        return self._end - self._pages * PAGE + len(_CANARY)

    @property
    def _first(self) -> int:
        """The start of an area for an input or an output."""
        return self._cells + _CELLS

    @property
    def _second(self) -> int:
        """The start of a second area, which ends where the memory ends."""
        return self._end - self._area

    def answer(self, octets: bytes) -> AnswerReading:
        """The function's answer, with room on all sides of the input."""
        self.fit(len(octets))
        try:
            return self._ask(octets, self._second + _PAD, 0, self._first + _PAD, bounds.POISONS[0], looking=False)
        except Trapped as trapped:
            self.start()
            return AnswerReading("X", text=str(trapped))

    def examine(self, octets: bytes) -> tuple[int, int]:
        """The fault in the function's use of memory, and its detail."""
        self.fit(len(octets))
        try:
            self._examine(octets)
        except Wrong as wrong:
            return wrong.fault, wrong.detail
        except Trapped:  # it traps at any place: an internal error, not a memory fault
            self.start()
            return bounds.NOT_ASKED, 0
        return bounds.CLEAN, 0

    def _examine(self, octets: bytes) -> None:
        first = self._twice(octets, self._second + _PAD, self._first + _PAD, bounds.MORE_ROOM)
        for other in bounds.CUT_SHORT:
            self._after(other)
            if self._ask(octets, self._second + _PAD, 0, self._first + _PAD, bounds.POISONS[0]) != first:
                raise Wrong(bounds.STATE)
        whole = len(octets) + self.abi.terminated
        try:
            self._alike(first, octets, self._end - whole, 0, bounds.AT_A_GUARD)
        except Trapped as trapped:
            self.start()
            if trapped.beyond:
                raise Wrong(bounds.OVER_READ) from None
            raise
        for alignment in range(_ALIGNMENTS):
            sides = alignment % len(_SIDES)
            self._alike(first, octets, self._second + _PAD + alignment, sides, alignment + 1)
        if self.unit:
            self._rooms(first, octets)

    def _after(self, other: bytes) -> None:
        """Call the function on other inputs; a trap there is found in that input's own turn."""
        try:
            self._ask(other, self._second + _PAD, 0, self._first + _PAD, bounds.POISONS[0])
        except (Trapped, Wrong):
            self.start()

    def _alike(self, first: AnswerReading, octets: bytes, address: int, sides: int, detail: int) -> None:
        """Check that the answer at this address equals the first one. Raises: Wrong: it differs."""
        out, plain = self._first + _PAD, self._second + _PAD
        if self._ask(octets, address, sides, out, bounds.POISONS[0]) == first:
            return
        if self._ask(octets, address, sides, out, bounds.POISONS[0]) == first:
            raise Wrong(bounds.STATE)
        if self._ask(octets, plain, 0, out, bounds.POISONS[0]) != first:
            raise Wrong(bounds.STATE)
        if detail != bounds.AT_A_GUARD and self._ask(octets, address, 0, out, bounds.POISONS[0]) == first:
            raise Wrong(bounds.PLACE, bounds.NEIGHBOURS)
        raise Wrong(bounds.PLACE, detail)

    def _rooms(self, first: AnswerReading, octets: bytes) -> None:
        """Call with output room that ends where the memory ends."""
        for room, detail in bounds.rooms_for(self.abi, first, len(octets)):
            try:
                self._twice(octets, self._first + _PAD, self._end - room * self.unit, detail, room)
            except Trapped as trapped:
                self.start()
                if trapped.beyond:
                    raise Wrong(bounds.OVER_WRITE, detail) from None
                raise

    def _twice(self, octets: bytes, address: int, out: int, detail: int, room: int | None = None) -> AnswerReading:
        """Call with two kinds of poison. Raises: Wrong: the answers differ, or part of the output is unwritten."""
        first, second = (self._ask(octets, address, 0, out, poison, room, detail) for poison in bounds.POISONS)
        return bounds.the_same(
            first, second, detail, judged=room is None
        )  # answers with too little room are not judged

    def _ask(
        self,
        octets: bytes,
        address: int,
        sides: int,
        out: int,
        poison: int,
        room: int | None = None,
        detail: int = bounds.MORE_ROOM,
        *,
        looking: bool = True,
    ) -> AnswerReading:
        """Make one call. Raises: Wrong: it wrote outside its output. Trapped: it did not return."""
        exact = room is not None
        room = self.abi.room(len(octets)) if room is None else room
        left, right = (side * _MARGIN for side in _SIDES[sides])
        left, octets_there = left[-_MARGIN:], octets + b"\0" * self.abi.terminated
        right = right[: min(_MARGIN, self._end - address - len(octets_there))]
        around = left + octets_there + right
        self._write(address - len(left), around)
        low, high = out - _MARGIN, min(out + room * self.unit + _MARGIN, self._end)
        poisoned = bytes([poison]) * (high - low)
        if self.unit:
            self._write(low, poisoned)
        reading = self._call(address, len(octets), out, room)
        if looking:
            seen = self._read(address - len(left), len(around))
            if seen != around:
                inside = seen[len(left) : len(left) + len(octets_there)] != octets_there
                raise Wrong(bounds.INPUT_CHANGED) if inside else Wrong(bounds.OVER_WRITE, bounds.AROUND_INPUT)
            if self.unit:
                seen, end = self._read(low, high - low), _MARGIN + room * self.unit
                if seen[:_MARGIN] != poisoned[:_MARGIN] or seen[end:] != poisoned[end:]:
                    raise Wrong(bounds.OVER_WRITE, detail)
        if reading.status != "A" or not self.unit:
            return reading
        if reading.number > room:
            return reading if exact else within(room, reading)
        return reading._replace(output=self._read(out, reading.number * self.unit))

    def _call(self, address: int, length: int, out: int, room: int) -> AnswerReading:
        """Raises: Trapped: it did not return."""
        pair, cells = self.abi.result == "pair", self._cell_names
        if pair or cells:
            self._write(self._cells, bytes(16 + 16 * len(cells)))
        places = iter(range(self._cells + 16, self._end, 16))
        given = {"ptr": address, "string": address, "len": length, "slen": length, "len32": length}
        given |= {"out": out, "cap": room, "cap32": room}
        arguments: list[ctypes.c_int32 | int] = [self._cells] if pair else []
        arguments += [next(places) if name in cells else given[name] for name in self.abi.parameters]
        self._asked[: len(arguments)] = arguments
        self._store.set_fuel(FUEL + FUEL_FOR_AN_OCTET * length)
        try:
            self._call_it(self._store)
        except (Trap, WasmtimeError) as error:
            beyond = isinstance(error, Trap) and error.trap_code is TrapCode.MEMORY_OUT_OF_BOUNDS
            raise Trapped(words_of(error), beyond=beyond) from None
        if self._memory.data_len(self._store) != self._end:
            self._base = ctypes.addressof(self._memory.data_ptr(self._store).contents)  # it may have moved
        if self._read(self._cells - len(_CANARY), len(_CANARY)) != _CANARY:
            raise Trapped(
                "it took pages that were added for its input for its own; see 'overlong docs shared-libraries'"
            )
        returned, second = self._asked[len(arguments)], 0
        if pair:
            returned, second = self._number(self._cells, signed=True), self._number(self._cells + 4)
        elif self.abi.result in ("size", "ptr"):
            returned &= 0xFFFFFFFF
        elif self.abi.result == "bool":
            returned &= 0xFF
        after = tuple(
            self._number(self._cells + 16 * place, signed=name == "cell32") for place, name in enumerate(cells, 1)
        )
        return self.abi.read(Called(returned, second, after, address, length, room))

    def _number(self, place: int, *, signed: bool = False) -> int:
        return int.from_bytes(self._read(place, 4), "little", signed=signed)

    def _read(self, place: int, size: int) -> bytes:
        return ctypes.string_at(self._base + place, size)

    def _write(self, place: int, octets: bytes) -> None:
        assert self._cells <= place
        assert place + len(octets) <= self._end
        ctypes.memmove(self._base + place, octets, len(octets))


def caller_for(kind: FuncType) -> str:
    """A module that calls a function with arguments from its own memory: faster than calls from Python."""
    loads = " ".join(f"(i32.load (i32.const {4 * place}))" for place in range(len(kind.params)))
    call = f"(call $function {loads})"
    if kind.results:
        call = f"(i32.store (i32.const {4 * len(kind.params)}) {call})"
    parameters, results = " ".join(map(str, kind.params)), " ".join(map(str, kind.results))
    return (
        f'(module (import "" "" (func $function (param {parameters}) (result {results})))'
        f' (memory (export "asked") 1) (func (export "call") {call}))'
    )


def in_words(kind: FuncType) -> str:
    """``(i32, i32) -> i32``."""
    parameters, results = (", ".join(map(str, each)) for each in (kind.params, kind.results))
    return f"({parameters}) -> {results or 'nothing'}"


def words_of(error: Trap | WasmtimeError) -> str:
    """The error in a few words."""
    if isinstance(error, Trap) and error.trap_code is TrapCode.OUT_OF_FUEL:
        return "it ran for too long: its fuel is spent"
    if isinstance(error, Trap) and error.trap_code is not None:
        return f"it trapped: {error.trap_code.name.lower().replace('_', ' ')}"
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"it failed: {lines[-1] if lines else 'no words'}"


def respond(decoder: Decoder, operation: str, items: Sequence[bytes], *, single: bool) -> bytes:
    """The response to an operation."""
    if operation == "G":
        faults = [decoder.examine(octets) for octets in items]
        columns = bounds.fault_columns([fault for fault, _ in faults], [detail for _, detail in faults])
    else:
        columns = columns_of([decoder.answer(octets) for octets in items], decoder.unit or 1, "little")
    return unbatched(columns) if single else b"A" + b"".join(columns)


def main() -> None:
    """Greet, then answer until the input ends."""
    path, export, convention, *traits = sys.argv[1:]
    answers = own_output()
    decoder = Decoder(path, export, ABIS[convention])
    operations = ("D" if decoder.unit else "V") + "G"
    greeting = {
        "overlong": 1,
        "name": f"{Path(path).name}:{export}",
        "version": f"sha256 {hashlib.sha256(Path(path).read_bytes()).hexdigest()[:16]}, wasmtime {version('wasmtime')}",
        "language": "WebAssembly",
        "operations": f"PB{operations}",
        "units": decoder.abi.units or "utf-8",
        "slow": "a call takes some 10 microseconds",
        **({"nul": "ends the string"} if decoder.abi.terminated else {}),
        **dict(trait.split("=", 1) for trait in traits),
    }

    def response(operation: str, payload: bytes, batched: bool) -> list[bytes]:  # noqa: FBT001
        return [respond(decoder, operation, pieces(payload) if batched else [payload], single=not batched)]

    answer_frames(greeting, operations, response, answers)


if __name__ == "__main__":
    main()
