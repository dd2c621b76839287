"""Functions of a shared library as callables of address, length, room for output and units of room.

It uses ctypes and no compiler. A :data:`~overlong.conformance.targets.adapters.abi.Call` hides the convention of its
function, and returns an :class:`~overlong.conformance.targets.adapters.abi.AnswerReading`. A converter also gets its
text as units, room of exactly so many units, and is watched for what it writes around them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from array import array
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from overlong.conformance.targets.adapters.abi import ACCEPTED, ITERATE, REFUSED, UNIT, Abi, AnswerReading, Call, Called
from overlong.conformance.targets.adapters.bounds import Guarded
from overlong.conformance.targets.adapters.python import numbers_in
from overlong.conformance.targets.adapters.serving import Refusal, held, refusal
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.reference.questions import Question
    from overlong.reference.reading import Form


class _Pair(ctypes.Structure):
    _fields_ = (("error", ctypes.c_int), ("count", ctypes.c_size_t))


_PARAMETER: dict[str, Any] = {
    **dict.fromkeys(("ptr", "string", "out", "cell", "cell32", "state"), ctypes.c_void_p),
    **dict.fromkeys(("len", "cap", "n"), ctypes.c_size_t),
    "slen": ctypes.c_ssize_t,
    **dict.fromkeys(("len32", "cap32"), ctypes.c_int32),
}
_RESULT: dict[str, Any] = {
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "size": ctypes.c_size_t,
    "ssize": ctypes.c_ssize_t,
    "ptr": ctypes.c_void_p,
    "pair": _Pair,
    "none": None,
}
_CELL: dict[str, Any] = {"cell": ctypes.c_void_p, "cell32": ctypes.c_int32}
_PLACE = {"ptr": 0, "string": 0, "len": 1, "slen": 1, "len32": 1, "out": 2, "n": 2, "cap": 3, "cap32": 3}
_UTF_32 = "utf-32-le" if sys.byteorder == "little" else "utf-32-be"
_CELLS = 4  # the cells' addresses follow


def function_in(library: ctypes.CDLL, symbol: str, parameters: Sequence[str] = (), result: str = "int") -> Any:
    """A separate function object of a library, with its types set.

    Raises:
        LookupError: there is no such symbol.
    """
    try:
        function = library[symbol]
    except AttributeError:
        raise LookupError(symbol) from None
    function.argtypes = [_PARAMETER[each] for each in parameters]
    function.restype = _RESULT[result]
    return function


def address_of(function: Any) -> int:
    """The address of a function of :func:`function_in`, for callers without ctypes."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def bound(abi: Abi, function: Any) -> Call:
    """A callable that calls ``function`` by this convention."""
    if abi is ITERATE:
        return _iterating(abi, function)
    if abi.parameters in (("ptr", "len"), ("string",)) and abi.result in ("bool", "int"):
        return _judging(abi, function)
    if abi.parameters == ("ptr", "len") and abi.result != "pair":
        return _measuring(abi, function)
    kinds = [each for each in abi.parameters if each in _CELL]
    room = Guarded(16, writable=True) if kinds else None
    cells = [_CELL[kind].from_address(room.start + 16 * place) for place, kind in enumerate(kinds) if room]
    addresses = tuple(map(ctypes.addressof, cells))
    following = iter(range(_CELLS, _CELLS + len(cells)))
    chosen = itemgetter(*[_PLACE[each] if each in _PLACE else next(following) for each in abi.parameters])
    read, is_pair = abi.read, abi.result == "pair"

    def call(address: int, length: int, out: int, units: int) -> AnswerReading:
        for cell in cells:
            cell.value = 0
        returned = function(*chosen((address, length, out, units, *addresses)))
        second = 0
        if is_pair:
            returned, second = returned.error, returned.count
        found = tuple(cell.value or 0 for cell in cells)  # ctypes reads a null address as None
        return read(Called(returned or 0, second, found, address, length, units))

    return call


def _judging(abi: Abi, function: Any) -> Call:
    """The most common ABI, without indirections."""
    (yes, no) = (abi.read(Called(returned, 0, (), 0, 0, 0)) for returned in (1, 0))
    if abi.terminated:
        return lambda address, _length, _out, _units: yes if function(address) else no
    return lambda address, length, _out, _units: yes if function(address, length) else no


def _measuring(abi: Abi, function: Any) -> Call:
    """A function of address and length that returns one number."""
    read = abi.read

    def call(address: int, length: int, _out: int, _units: int) -> AnswerReading:
        return read(Called(function(address, length) or 0, 0, (), address, length, 0))

    return call


def _iterating(abi: Abi, function: Any) -> Call:
    """One call for each code point, until the input ends."""
    memory = Guarded(16, writable=True)
    cell = ctypes.c_int32.from_address(memory.start)
    place = memory.start

    def call(address: int, length: int, _out: int, _units: int) -> AnswerReading:
        offset, points, process = 0, list[bytes](), os.getpid()
        while offset < length:
            cell.value = 0
            step = abi.read(Called(function(address + offset, length - offset, place), 0, (), 0, length - offset, 0))
            alone(process)
            if step.status != "A":
                return step if step.status == "X" else AnswerReading("R", offset)
            offset += step.number
            points.append(bytes(cell))
        return AnswerReading("A", len(points), output=b"".join(points))

    return call


def alone(process: int) -> None:
    """Let only the process of this number continue after a call: a fork by the function would be a second harness."""
    if os.getpid() != process:
        os._exit(0)


class Streams:
    """The functions of a stream: ``new``, ``feed``, ``finish``, ``free``, and ``reset`` if it has one."""

    def __init__(self, abi: Abi, library: ctypes.CDLL, symbols: Sequence[str]) -> None:
        """Raises: LookupError: there is no such symbol."""
        kinds = {
            "new": ((), "ptr"),
            "feed": (abi.parameters, abi.result),
            "finish": (("state", "out", "cap") if abi.units else ("state",), abi.result),
            "free": (("state",), "none"),
            "reset": (("state",), "none"),
        }
        found = {
            job: function_in(library, symbol, *kinds[job]) for job, symbol in zip(abi.functions, symbols, strict=False)
        }
        self.new, self.feed, self.finish, self.free = (found[job] for job in abi.functions[:4])
        self.reset: Any = found.get("reset")
        self._size = UNIT[abi.units] if abi.units else 0

    def whole(self, address: int, length: int, out: int, units: int) -> AnswerReading:
        """Decode the input as a stream of one chunk, with all output in one place."""
        process = os.getpid()
        state = self.new()
        alone(process)
        if not state:
            return AnswerReading("X", text="it made no state")
        try:
            if not self._size:
                accepted = self.feed(state, address, length) and self.finish(state)
                alone(process)
                return ACCEPTED if accepted else REFUSED
            fed = self.feed(state, address, length, out, units)
            alone(process)
            if fed < 0:
                return REFUSED
            if fed > units:
                return AnswerReading("X", text=f"it says that it wrote {fed} units where {units} have room")
            ended = self.finish(state, out + fed * self._size, units - fed)
            alone(process)
            return REFUSED if ended < 0 else AnswerReading("A", fed + ended)
        finally:
            self.free(state)


def by_python(judge: Callable[..., Any], function: Any) -> Call:
    """The escape hatch: a Python function that gets the loaded function, an address and a length."""

    def call(address: int, length: int, _out: int, _units: int) -> AnswerReading:
        try:
            said = held(judge(function, address, length))
        except Exception as error:  # noqa: BLE001 (it raises what it likes)
            said = refusal(error)
        if type(said) is bool:
            return ACCEPTED if said else REFUSED
        if type(said) is str:
            return AnswerReading("A", len(said), output=said.encode(_UTF_32, "surrogatepass"))
        if isinstance(said, Refusal):
            return AnswerReading("R", said.columns()[0])
        text = getattr(said, "text", None)
        return AnswerReading("X", text=text if isinstance(text, str) else f"it returned {type(said).__name__}")

    return call


_POISON = b"\xaa"
_AROUND = 64
"""Watched octets on both sides of the room."""


def units_of(question: Question, octets: bytes) -> bytes:
    """The text as the function gets it, in the machine's byte order."""
    if question.given == "utf-8":
        return octets
    form = FORMS[question.given]
    return b"".join(unit.to_bytes(form.size, sys.byteorder) for unit in form.units(read(octets)))


def numbers_given(question: Question, operation: str, payload: bytes) -> bytes | None:
    """What an encoder is to encode, in the machine's byte order; None if UTF-16 has no units for it."""
    if question.given == "utf-16" and operation != "F":
        text = numbers_in(operation, payload)
        if text is None:
            return None
        payload, operation = text.encode("utf-16-be", "surrogatepass"), "F"
    units = array("H" if operation == "F" else "I", payload)
    if sys.byteorder == "little":
        units.byteswap()
    return units.tobytes()


def encoded(question: Question, answer: AnswerReading, count: int) -> AnswerReading:
    """The octets, or the size in four, of an encoder that had room for everything. Where it stops, it refuses."""
    if answer.status != "A":
        return answer
    octets = answer.output
    if question.written:
        if (taken := int.from_bytes(octets[:4], "big")) < count:
            return REFUSED._replace(number=taken)
        octets = octets[7::4]  # what was taken, and each octet, in 32 bits
    return AnswerReading("A", len(octets), output=octets)


def converted(
    question: Question, output: Guarded, pad: int, room: int, call: Callable[[int], AnswerReading]
) -> AnswerReading:
    """The answer to one call; what it writes outside its room is a fault.

    Args:
        question: of a converter.
        output: memory for its output.
        pad: the octets before the room there.
        room: units.
        call: calls the function with the address of the room.
    """
    form = FORMS[question.written]
    end = pad + room * form.size
    output.view[pad - _AROUND : end + _AROUND] = _POISON * (end - pad + 2 * _AROUND)
    answer = call(output.start + pad)
    if answer.status != "A":
        return answer
    before, after = output.view[pad - _AROUND : pad], output.view[end : end + _AROUND]
    if stray := len(before.lstrip(_POISON)) or len(after.rstrip(_POISON)):
        side = "before" if before.lstrip(_POISON) else "after"
        return AnswerReading(
            "X", text=f"it writes {stray} octet{'s' * (stray != 1)} {side} its room of {_shown(form, room)}"
        )
    if answer.number > room:
        return AnswerReading("X", text=f"it says that it wrote {answer.number} units into {_shown(form, room)}")
    return numbers_written(question, output.view[pad : pad + answer.number * form.size], answer)


def numbers_written(question: Question, output: bytes | bytearray, answer: AnswerReading) -> AnswerReading:
    """The answer with the numbers of the units that it says are in the output."""
    size = FORMS[question.written].size
    units = (output[place : place + size] for place in range(0, answer.number * size, size))
    numbers = b"".join(int.from_bytes(unit, sys.byteorder).to_bytes(4, "big") for unit in units)
    return AnswerReading("A", 1 + answer.number, output=answer.output + numbers)


def _shown(form: Form, room: int) -> str:
    return f"{room} {form.word}{'s' * (room != 1)}"
