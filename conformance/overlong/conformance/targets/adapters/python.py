"""Adapter for Python decoders: ``python.py MODULE_OR_FILE NAME [fatal|replacement] [as=QUESTION] [MEMBER=WORD...]``.

Runs in its own process, on the standard library alone. NAME is a callable ``bytes -> str`` that
raises on ill-formed input, or ``bytes -> bool``; or a class with ``decode(data, final=...)``, reused after
its ``reset()`` if it has one; or a callable that takes a list of ``bytes``, and raises or returns
a bool, or for each a bool or its text; or an object with an attribute ``operations``: a dictionary from operation to a
function on a list of payloads. With ``as=truncate(limit)`` it is a function that answers this question (``asked.py``).
An attribute ``traits``, a dictionary of strings, is added to the greeting, and so are
the traits that the command line names, which win.
"""

from __future__ import annotations

import codecs
import importlib
import json
import os
import struct
import sys
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from io import FileIO
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

HEAD = struct.Struct(">II")
NOT_SAID = 0xFFFFFFFF
WRONG_OFFSET = 0xFFFFFFFE
"""Stands for an offset below 0, or too large for the wire: no input is so long."""
PART, LARGEST_PART = 1 << 17, 1024
"""The octets and items of one part: inputs and results should fit into the CPU's cache."""
VECTORS = 1024
"""The parts that one system call writes: POSIX promises 16, all current systems take 1024."""
MISSING = {"unexpected end of data": True, "invalid start byte": False, "invalid continuation byte": False}
"""CPython's reasons: True if octets are missing. Other reasons leave that open."""
BUGS = (TypeError, NameError, AttributeError, ImportError, LookupError, ArithmeticError, MemoryError, RecursionError)
"""Exceptions that mean an internal error, not a refusal."""


class Refusal:
    """A refusal of ill-formed input; None for what is not reported. ``chunk`` counts from 1, in streams only."""

    __slots__ = ("chunk", "incomplete", "length", "offset")

    def __init__(self, offset: int | None = None, length: int | None = None, incomplete: bool | None = None) -> None:  # noqa: FBT001
        self.offset, self.length, self.incomplete = offset, length, incomplete
        self.chunk: int | None = None

    def columns(self) -> tuple[int, int, int]:
        """Offset, length and incomplete in the wire format; a number that does not fit becomes one that is wrong."""
        offset, length = self.offset, self.length
        return (
            NOT_SAID if offset is None else offset if 0 <= offset < WRONG_OFFSET else WRONG_OFFSET,
            0 if length is None else length if 0 <= length < 255 else 255,
            255 if self.incomplete is None else self.incomplete,
        )


class Bug:
    """An internal error of the decoder; or, with ``breach``, an answer that its adapter cannot read."""

    __slots__ = ("breach", "text")

    def __init__(self, text: str, *, breach: bool = False) -> None:
        self.text, self.breach = text, breach


class Stream:
    """The text of a stream, and the number of characters output after each chunk."""

    __slots__ = ("marks", "text")

    def __init__(self, text: str, marks: list[int]) -> None:
        self.text, self.marks = text, marks


class Numbers:
    """The answer to a question, in the wire format."""

    __slots__ = ("octets",)

    def __init__(self, octets: bytes) -> None:
        self.octets = octets


Arguments = tuple[str, bytes, int, int, str]
"""``args`` of a UnicodeDecodeError: encoding, object, start, end and reason."""
Result = str | bytes | bool | Refusal | UnicodeDecodeError | Arguments | Bug | Stream | Numbers
"""Text becomes units; an encoder's octets stay unchanged. An error with a place is a refusal, and so are its ``args``
alone: keeping an error would keep its traceback, which is slow."""
Answerer = Callable[[Sequence[bytes]], Sequence[Result]]


def held(result: Any) -> Any:
    """What ``str`` and ``bytes`` themselves hold: a subclass may say otherwise of itself. Other objects stay."""
    kind = cast("type[object]", type(result))  # unlike isinstance, it does not believe __class__
    if issubclass(kind, str):
        return str.__str__(result)
    return bytes.__getitem__(result, slice(None)) if issubclass(kind, bytes) else result


def in_words(error: BaseException) -> str:
    """An exception's name and message, if it has one that can be read."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 (its own code makes the message)
        return type(error).__name__


def refusal(error: Exception) -> Refusal | Bug:
    """The bug or the refusal that an exception means, without a place."""
    return Bug(in_words(error)) if issubclass(type(error), BUGS) else Refusal()


def located(arguments: Arguments, given: bytes) -> Refusal:
    """The refusal that an error means. Its place counts only if the error is about exactly these octets.

    A parser that quotes the octets, or decodes a slice of them, raises an error that counts from another start.
    """
    _, about, start, end, reason = arguments
    if about != given:
        return Refusal()
    return Refusal(start, end - start, MISSING.get(reason))


def meant(result: Result, given: bytes) -> str | bytes | bool | Refusal | Bug | Stream | Numbers:
    """The result of one input, or the refusal that an error means; a bug if it is none of the kinds."""
    result = held(result)
    kind = type(result)
    if issubclass(kind, UnicodeDecodeError):
        return located(said(cast("UnicodeDecodeError", result)), given)
    if kind is tuple and len(cast("Arguments", result)) == 5:
        return located(cast("Arguments", result), given)
    if issubclass(kind, str | bytes | bool | Refusal | Bug | Stream | Numbers):
        return cast("str | bytes | bool | Refusal | Bug | Stream | Numbers", result)
    return Bug(f"returned {kind.__name__}")


_under_way = cast("Iterator[bytes]", iter(()))
"""The inputs that :func:`one_by_one` still has to ask."""
_process = os.getpid()
_RETURNED = 86
"""The status of a fork that has returned from the decoder: hardly one of a process that the decoder waits for."""
_reaped = 0  # forks of this process
MOST_LEFT = 500
"""The number of processes left behind by a decoder up to which they are cleared away after each request."""


def alone() -> None:
    """Let only this process continue: a fork by the decoder, returned from it, would answer a second time.

    Forks that ended here before are reaped, but only a limited number: then a decoder that forks at every call has too
    many processes, and the supervisor ends it. To reap all would let it run for hours.
    """
    global _reaped  # noqa: PLW0603 (as its number is that of the process)
    if os.getpid() != _process:
        os._exit(_RETURNED)
    if sys.platform != "linux" or not hasattr(os, "waitid"):
        return
    try:
        while _reaped < MOST_LEFT:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None or ended.si_status != _RETURNED:
                return  # the decoder may wait for its own
            os.waitpid(ended.si_pid, 0)
            _reaped += 1
    except ChildProcessError:
        return


def _ask_no_more() -> None:
    """Let a fork's loop end: to look at the process number after each call would take longer than a call."""
    for _ in _under_way:
        pass


def one_by_one(decode: Callable[[bytes], Any], kind: type) -> Answerer:
    """Make a decoder of many inputs from a decoder of one."""

    def ask(many: Sequence[bytes]) -> Sequence[Result]:
        global _under_way  # noqa: PLW0603 (a fork stops the last loop that began)
        results = list[Result]()
        _under_way = under_way = iter(many)
        for octets in under_way:  # inline: a call for each input would take 1.5 times as long
            try:
                result = decode(octets)
            except UnicodeDecodeError as error:
                results.append(said(error))
            except Exception as error:  # noqa: BLE001 (decoders raise what they like)
                results.append(refusal(error))
            else:
                if type(result) is not kind:
                    result = held(result)
                results.append(
                    cast("Result", result)
                    if type(result) is kind
                    else Bug(f"returned {type(result).__name__} where it returned {kind.__name__} before")
                )
        return results

    return ask


def stream(make: Callable[[], Any], payload: bytes) -> Result:
    """The result of decoding a stream, a payload of chunks."""
    (count,) = struct.unpack_from(">H", payload)
    lengths = struct.unpack_from(f">{count}I", payload, 2)
    start = place = 2 + 4 * count
    text, marks, number, length = "", list[int](), 1, 0
    alone()
    try:
        decoder = make()
        for number, length in enumerate(lengths, 1):
            part = held(decoder.decode(payload[place : place + length], final=number == count))
            if type(part) is not str:
                return Bug(f"returned {type(part).__name__} where a str is due")
            text += part
            marks.append(len(text))
            place += length
    except Exception as error:  # noqa: BLE001
        result = refusal(error)
        if issubclass(type(error), UnicodeDecodeError):
            arguments, so_far = said(cast("UnicodeDecodeError", error)), payload[start : place + length]
            about = arguments[1]
            if len(about) >= length and so_far.endswith(about):  # the chunk, perhaps after kept octets
                result = located(arguments, about)
        if isinstance(result, Refusal):
            result.chunk = number
        return result
    return Stream(text, marks)


def streaming(make: Callable[[], Any]) -> Answerer:
    """Decode streams with a class with ``decode(data, final=...)``, one new decoder for each stream."""
    return lambda many: [stream(make, payload) for payload in many]


def again(make: Callable[[], Any]) -> Answerer:
    """Decode two streams with one decoder, with ``reset()`` between them; return the second result."""

    def ask(payload: bytes) -> Result:
        try:
            decoder = make()
            end = 4 + int.from_bytes(payload[:4], "big")
            stream(lambda: decoder, payload[4:end])  # up to its end or its refusal; its answer is not needed
            decoder.reset()
        except Exception as error:  # noqa: BLE001 (nothing was refused: decoding has its own try)
            return Bug(in_words(error))
        return stream(lambda: decoder, payload[end:])

    return lambda many: [ask(payload) for payload in many]


def probe(decode: Callable[[Any], Any], mode: str, traits: dict[str, str]) -> dict[str, Answerer]:
    """Find out whether a callable validates, decodes strictly or replaces; or whether it takes lists of values.

    If its output is octets, ``traits`` gets that.
    """
    sample, raised = cast("Any", ""), cast("Exception | None", None)
    try:
        sample = held(decode(b"a"))
    except Exception as error:  # noqa: BLE001 (of one that refuses even that: a strict decoder, and a wrong one)
        raised = error
    if (raised or sample is False or type(sample) not in (str, bool)) and takes_lists(decode):
        return {"I": of_lists(decode)}
    if isinstance(raised, BUGS):
        aside = "; a decoder takes bytes; an encoder needs an adapter with E" * isinstance(raised, AttributeError)
        fail(f"it failed on the letter a: {in_words(raised)}{aside}")
    if type(sample) is bool:
        return {"V": one_by_one(decode, bool)}
    if type(sample) not in (str, bytes):
        fail(
            f"it returned {type(sample).__name__} for the letter a; a decoder returns str, a validator bool, and what "
            "makes octets well-formed bytes"
        )
    if type(sample) is bytes:
        traits["units"] = "utf-8"
    if not mode:
        try:
            replaced = held(decode(b"\xff"))
            mark = "\ufffd" if type(sample) is str else b"\xef\xbf\xbd"
            mode = "replacement" if type(replaced) is type(sample) and mark in replaced else "fatal"
        except Exception:  # noqa: BLE001
            mode = "fatal"
    return {"L" if mode == "replacement" else "D": one_by_one(decode, bytes if "units" in traits else str)}


def cut(payload: bytes) -> list[bytes]:
    """The chunks of a stream, or the values of a list."""
    (count,) = struct.unpack_from(">H", payload)
    ends = list(accumulate(struct.unpack_from(f">{count}I", payload, 2), initial=2 + 4 * count))
    return [payload[start:end] for start, end in pairwise(ends)]


def of_lists(decode: Callable[[list[bytes]], Any]) -> Answerer:
    """A callable that takes a list of values. Only the verdict is asked: do all values pass?"""

    def ask(payload: bytes) -> Result:
        values = cut(payload)
        alone()
        try:
            return passes(decode(values), len(values))
        except UnicodeDecodeError:
            return Refusal()
        except Exception as error:  # noqa: BLE001 (decoders raise what they like)
            return refusal(error)

    return lambda many: [ask(payload) for payload in many]


def passes(result: Any, count: int) -> bool | Bug:
    """True if all values passed; the callable returns one bool, or a bool or text for each."""
    if type(result) is bool:
        return result
    if not issubclass(type(result), list | tuple):
        return Bug(f"returned {type(result).__name__} for a list of values; it returns a bool, or one thing for each")
    each = cast("Sequence[Any]", result)
    if len(each) != count:
        return Bug(f"returned {len(each)} things for {count} values")
    if strange := [type(one).__name__ for one in each if not issubclass(type(one), bool | str)]:
        return Bug(f"returned {strange[0]} for a value; it returns a bool, or a str")
    return all(one is not False for one in each)


def takes_lists(decode: Callable[[Any], Any]) -> bool:
    """True if a callable that does not take the letter a takes a list with it."""
    try:
        return passes(decode([b"a"]), 1) is True
    except Exception:  # noqa: BLE001
        return False


def asked(function: Callable[..., Any], question: str, *, argument: bool) -> Answerer:
    """A function that answers a question about octets; ``argument``: it takes a number besides."""
    read = module_at(beside("asked.py"), "_overlong_asked")  # this may run without a package

    def ask(payload: bytes) -> Result:
        number, octets = int.from_bytes(payload[1:5], "big"), payload[5:]
        alone()
        try:
            text = read.given(question, octets)
            result = function(text, number) if argument else function(text)
        except Exception as error:  # noqa: BLE001 (functions raise what they like)
            return refusal(error)
        numbers = read.numbers_of(held(result), octets, question)
        if isinstance(numbers, str):
            return Bug(numbers, breach=True)
        return Refusal() if numbers is None else Numbers(numbers)

    return lambda many: [ask(payload) for payload in many]


def encoding(function: Callable[..., Any], question: str) -> dict[str, Answerer]:
    """The operation of an encoder that a function answers, if its question has one: text with lone surrogates."""
    read = module_at(beside("asked.py"), "_overlong_asked")
    if question not in read.ENCODES:
        return {}
    operation: str = read.ENCODES[question]

    def encode(payload: bytes) -> Result:
        text, count = read.numbers_in(operation, payload), len(payload) // (2 if operation == "F" else 4)
        if text is None:
            return Refusal()  # str has no such number
        alone()
        try:
            result = function(text) if operation == "Z" else function(text, read.room_for(count))
        except Exception as error:  # noqa: BLE001
            return refusal(error)
        octets = read.encoded(held(result), operation, count)
        if isinstance(octets, str):
            return Bug(octets, breach=True)
        return octets if isinstance(octets, bytes) else Refusal() if octets is None else Refusal(octets)

    return {operation: lambda many: [encode(payload) for payload in many]}


def beside(file: str) -> str:
    """The path of another file of this folder."""
    return str(Path(__file__).with_name(file))


def read_as_text() -> codecs.IncrementalDecoder:
    """What the yeses of a validator of streams stand for: the text of its input, whenever a character is whole."""
    return codecs.getincrementaldecoder("utf-8")("replace")


class Validating:
    """A decoder made of a validator whose ``decode(data, final=...)`` returns a bool for each chunk."""

    def __init__(self, validator: Any) -> None:
        self._validator, self._text = validator, read_as_text()

    def decode(self, data: bytes, *, final: bool) -> str:
        """Raises: ValueError: the validator says no. TypeError: it says neither yes nor no."""
        accepted = held(self._validator.decode(data, final=final))
        if type(accepted) is not bool:
            raise TypeError(f"returned {type(accepted).__name__} where it returned bool before")
        if not accepted:
            raise ValueError
        return self._text.decode(data, final)

    def reset(self) -> None:
        self._validator.reset()
        self._text.reset()


def validating(cls: type) -> dict[str, Answerer]:
    """The operations of a class that only says yes or no to each chunk."""
    operations = {
        "V": one_by_one(lambda octets: cls().decode(octets, final=True), bool),
        "S": streaming(lambda: Validating(cls())),
    }
    return (
        {**operations, "N": again(lambda: Validating(cls()))} if callable(getattr(cls, "reset", None)) else operations
    )


def incremental(cls: type) -> dict[str, Answerer]:
    """The operations of a class with ``decode(data, final=...)``."""
    with suppress(Exception):  # a decoder that refuses even the letter a is no validator
        if type(cls().decode(b"a", final=True)) is bool:
            return validating(cls)
    whole = one_by_one(lambda octets: cls().decode(octets, final=True), str)
    operations = {"D": whole, "S": streaming(cls)}
    reusable = callable(getattr(cls, "reset", None))
    if reusable:
        operations["N"] = again(cls)
    try:
        replaced = held(cls("replace").decode(b"\xff", final=True))
    except Exception:  # noqa: BLE001 (no error modes: the strict one is all there is)
        return operations
    if type(replaced) is str and "\ufffd" in replaced:
        operations["L"] = one_by_one(lambda octets: cls("replace").decode(octets, final=True), str)
        operations["T"] = streaming(lambda: cls("replace"))
        if reusable:
            operations["M"] = again(lambda: cls("replace"))
    return operations


def search_for(place: str) -> None:
    """Add the folder of the module or file that the user named to ``sys.path``, after the standard library.

    For a file, that is its own folder, and the current folder if the file is below it. For a module, it is the
    current folder if the module is there. Otherwise ``sys.path`` stays as Python made it.
    """
    try:
        here = os.getcwd()  # noqa: PTH109
    except OSError:  # the current folder is gone
        return
    library = Path(os.__file__).parent
    own = (str(library), str(library / "lib-dynload"))
    behind = max((number for number, entry in enumerate(sys.path, 1) if entry in own), default=len(sys.path))
    if place.endswith(".py"):
        file = Path(os.path.abspath(place))  # noqa: PTH100 (links are not followed: it lies where it is named)
        if not file.is_relative_to(Path(__file__).parent):  # our own adapters need no folder
            beside = str(file.parent)
            sys.path[behind:behind] = [beside, here] if beside != here and file.is_relative_to(here) else [beside]
        return
    top = place.partition(".")[0]
    if top in sys.stdlib_module_names:
        return
    sys.path.insert(behind, here)
    found = PathFinder.find_spec(top)
    places = (found.origin or "", *(found.submodule_search_locations or ())) if found else ()
    if not any(os.path.dirname(each) == here for each in places):  # noqa: PTH120
        del sys.path[behind]


def module_at(file: str, name: str) -> Any:
    """Load the module in a file, under a unique name."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[spec.name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load(place: str, name: str) -> Any:
    """Load the attribute ``name`` of a module or a file."""
    search_for(place)
    try:
        if place.endswith(".py"):
            if not Path(place).is_file():
                fail(f"no file {place}")
            module = module_at(place, Path(place).stem)
        else:
            module = importlib.import_module(place)
    except BaseException as error:  # noqa: BLE001 (whatever importing it does, it is not a verdict)
        fail(f"importing {place} failed: {in_words(error)}{_hint(place, error)}")
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            from overlong.conformance.support.printable import nearest

            close = nearest(part, dir(found))
            fail(f"{place} has no {name}{f'; did you mean {close[0]}?' if close else ''}")
        found = getattr(found, part)
    return found


def _hint(place: str, error: BaseException) -> str:
    """A hint for a package of the current folder that was not found."""
    package = place.partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or error.name != package:
        return ""
    if any(Path("src", package + ending).exists() for ending in ("", ".py")):
        return "; it is in src/: 'pip install -e .', or set PYTHONPATH=src"
    return "; install it where overlong is, or set PYTHONPATH"


def fail(message: str) -> NoReturn:
    """Print why there is nothing to certify, and exit. The harness shows stderr's last line: nothing may follow."""
    os.write(2, f"{' '.join(message.split())}\n".encode("utf-8", "backslashreplace"))
    os._exit(3)


def column(numbers: Iterable[int]) -> bytes:
    """Big-endian u32."""
    result = array("I", numbers)
    if sys.byteorder == "little":
        result.byteswap()
    return result.tobytes()


def units(text: str) -> bytes:
    """The text in UTF-32, including surrogates that a decoder accepted."""
    return text.encode("utf-32-be", "surrogatepass")


def batch_response(operation: Answerer, items: Sequence[bytes], octets: int) -> list[bytes]:
    """The columns of a batch of that many octets, as parts to join.

    It decodes one part at a time and keeps no results, to reuse memory that is still in the cache.
    """
    step = min(max(PART * len(items) // max(octets, 1), 1), LARGEST_PART)
    parts = list[tuple[bytes, ...]]()
    for start in range(0, len(items), step):
        part = items[start : start + step]
        results = operation(part)
        alone()
        parts.append(columns(results, part))
    return [piece for column in zip(*parts, strict=True) for piece in column]


def columns(results: Sequence[Result], items: Sequence[bytes]) -> tuple[bytes, ...]:
    """Statuses, numbers, lengths, incompletes, output and marks of the answers to some items."""
    count, kinds = len(results), set(map(type, results))
    if kinds == {str}:
        texts = cast("Sequence[str]", results)
        joined = "".join(texts)
        if len(joined) == count and all(texts):  # by far the most common batch
            numbers = b"\0\0\0\1" * count
        else:
            sizes = list(map(len, texts))
            numbers = column(sizes[:1]) * count if sizes.count(sizes[0]) == count else column(sizes)
        return b"A" * count, numbers, bytes(count), bytes(count), units(joined), b""
    if kinds == {bytes}:
        encoded = cast("Sequence[bytes]", results)
        return b"A" * count, column(map(len, encoded)), bytes(count), bytes(count), b"".join(encoded), b""
    if kinds <= {str, UnicodeDecodeError}:
        results = [said(each) if type(each) is UnicodeDecodeError else each for each in results]
        kinds = {str, tuple}
    if kinds <= {str, tuple}:  # a strict decoder of CPython
        try:
            return decoded_or_refused(results, items)
        except (ValueError, OverflowError):  # an offset or a length that does not fit
            pass
    return one_after_the_other(results, items)


def said(error: UnicodeDecodeError) -> Arguments:
    """The fields of an error. After an error handler continued, ``args`` still hold the first error's place."""
    if type(error) is UnicodeDecodeError and type(error.object) is bytes and type(error.reason) is str:
        return error.encoding, error.object, error.start, error.end, error.reason
    field = UnicodeDecodeError.__dict__  # a subclass may have others of these names
    try:
        about, start, end, reason = [held(field[name].__get__(error)) for name in ("object", "start", "end", "reason")]
    except Exception:  # noqa: BLE001 (it was not initialised)
        return "", b"", 0, 0, ""
    return "", about if type(about) is bytes else b"", start, end, reason if type(reason) is str else ""


def decoded_or_refused(results: Sequence[Any], items: Sequence[bytes]) -> tuple[bytes, ...]:
    """The columns of text and of error arguments. One loop, because five comprehensions take twice as long."""
    statuses, lengths, incompletes = bytearray(), bytearray(), bytearray()
    numbers, texts = list[int](), list[str]()
    for result, given in zip(results, items, strict=True):
        if type(result) is str:
            statuses.append(65)
            numbers.append(len(result))
            lengths.append(0)
            incompletes.append(0)
            texts.append(result)
        else:
            _, about, start, end, reason = result
            statuses.append(82)
            if about == given:
                if not 0 <= start < WRONG_OFFSET:
                    raise OverflowError
                numbers.append(start)
                lengths.append(end - start)
                incompletes.append(MISSING.get(reason, 255))
            else:
                numbers.append(NOT_SAID)
                lengths.append(0)
                incompletes.append(255)
    return bytes(statuses), column(numbers), bytes(lengths), bytes(incompletes), units("".join(texts)), b""


def one_after_the_other(results: Sequence[Result], items: Sequence[bytes]) -> tuple[bytes, ...]:
    """The columns of any kinds of answers."""
    statuses, lengths, incompletes = bytearray(), bytearray(), bytearray()
    counts, written, marks = list[int](), list[bytes](), list[bytes]()
    for answer, given in zip(results, items, strict=True):
        result = meant(answer, given)
        status, number, length, incomplete = b"A", 0, 0, 0
        if isinstance(result, bytes):
            number = len(result)
            written.append(result)
        elif isinstance(result, Stream):
            number = len(result.text)
            written.append(units(result.text))
            marks.append(column(result.marks))
        elif isinstance(result, Numbers):
            number = len(result.octets) // 4
            written.append(result.octets)
        elif isinstance(result, str):
            number = len(result)
            written.append(units(result))
        elif isinstance(result, Refusal):
            status = b"R"
            number, length, incomplete = result.columns()
            if result.chunk is not None:
                marks.append(column([result.chunk]))
        elif isinstance(result, Bug):
            text = result.text[:200].encode("ascii", "backslashreplace")
            status, number, incomplete = b"X", len(text), int(result.breach)
            written.append(text)
        elif not result:
            status, number, incomplete = b"R", NOT_SAID, 255
        statuses += status
        counts.append(number)
        lengths.append(length)
        incompletes.append(incomplete)
    joined = b"".join(written), b"".join(marks)
    return bytes(statuses), column(counts), bytes(lengths), bytes(incompletes), *joined


def pieces(payload: bytes) -> Sequence[bytes]:
    """The items of a batch from their number, lengths and octets. ``struct`` cuts faster than slices."""
    (count,) = struct.unpack_from(">I", payload)
    start = 4 + 4 * count
    lengths = array("I", payload[4:start])
    if sys.byteorder == "little":
        lengths.byteswap()
    if count and lengths == array("I", [lengths[0]]) * count:
        return struct.unpack(f"{lengths[0]}s" * count, memoryview(payload)[start:])
    ends = list(accumulate(lengths, initial=start))
    return [payload[begin:end] for begin, end in pairwise(ends)]


def write_all(answers: FileIO, parts: Sequence[bytes]) -> None:
    """Write octets in parts, if possible without joining them."""
    if sys.platform == "win32":
        parts = [b"".join(parts)]
    for start in range(0, len(parts), VECTORS):
        views = [memoryview(part) for part in parts[start : start + VECTORS]]
        while views:
            if sys.platform == "win32":
                written = answers.write(views[0])
            else:
                written = os.writev(answers.fileno(), views)
            while views and written >= len(views[0]):
                written -= len(views.pop(0))
            if views:
                views[0] = views[0][written:]


def shared_memory() -> Any:
    """Map the memory that the harness offers; None if there is none or mapping fails."""
    said = os.environ.get("OVERLONG_SHARED_MEMORY", "").split()
    if sys.platform == "win32" or len(said) != 2:
        return None
    try:
        import mmap

        descriptor, size = map(int, said)
        if os.fstat(descriptor).st_size == size:  # otherwise another file took the descriptor meanwhile
            return mmap.mmap(descriptor, size)
    except (ImportError, OSError, ValueError):
        pass
    return None


def shared_response(
    memory: Any, request: bytes, respond: Callable[[str, bytes, bool], Sequence[bytes]]
) -> Sequence[bytes]:
    """The response to a batch in shared memory: the size of its columns, or the columns if they do not fit."""
    count, start, size, place, room = struct.unpack_from(">5I", request, 1)
    status, *columns = respond(chr(request[0]), struct.pack(">I", count) + memory[start : start + size], True)  # noqa: FBT003
    if status != b"A" or sum(map(len, columns)) > room:
        return [status, *columns]
    memory.seek(place)
    for part in columns:
        memory.write(part)
    return [status, struct.pack(">I", memory.tell() - place)]


def answer_frames(
    greeting: dict[str, Any],
    operations: str,
    respond: Callable[[str, bytes, bool], Sequence[bytes]],
    answers: FileIO,
    requests: BinaryIO | None = None,
    together: Callable[[str, bytes, int], Sequence[bytes]] | None = None,
) -> None:
    """Greet, then answer frames until the input ends.

    ``respond`` takes one of ``operations``, a payload, and True for a batch; it returns the response in parts, the
    status first. This loop itself answers echoes and unknown operations. ``requests``: None for standard input.
    ``together`` takes an operation, the payload of a batch, and the number of threads that answer it at once.
    """
    global _process  # noqa: PLW0603 (an adapter may have forked the process that answers)
    _process = os.getpid()
    source: BinaryIO = requests or sys.stdin.buffer
    memory = shared_memory()
    if memory is not None:
        greeting["shared_memory"] = "mapped"
    if together is not None:
        greeting["threads"] = "called"
    spelt = {  # a file name may not be UTF-8, which JSON cannot express
        member: said.encode("utf-8", "backslashreplace").decode() if isinstance(said, str) else said
        for member, said in greeting.items()
    }
    write_all(answers, [json.dumps(spelt).encode() + b"\n"])
    while len(head := source.read(HEAD.size)) == HEAD.size:
        length, request = HEAD.unpack(head)
        body = source.read(length - 4)
        operation, response = chr(body[0]), cast("Sequence[bytes]", [b"U"])
        if operation == "P":
            response = [b"A", body[1:]]
        elif operation == "B" and (inner := chr(body[1])) in operations:
            response = respond(inner, body[2:], True)  # noqa: FBT003
        elif operation == "C" and memory is not None and chr(body[1]) in operations:
            response = shared_response(memory, body[1:], respond)
        elif operation == "H" and together is not None and (inner := chr(body[1])) in operations:
            response = together(inner, body[4:], int.from_bytes(body[2:4], "big"))
        elif operation in operations:
            response = respond(operation, body[1:], False)  # noqa: FBT003
        write_all(answers, [HEAD.pack(4 + sum(map(len, response)), request), *response])


def interpreter() -> str:
    """``CPython 3.11.7``."""
    implementation = {"cpython": "CPython", "pypy": "PyPy"}.get(sys.implementation.name, sys.implementation.name)
    return f"{implementation} {sys.version.split()[0]}"


def serve(
    operations: dict[str, Answerer],
    name: str,
    traits: dict[str, str],
    answers: FileIO,
    requests: BinaryIO | None = None,
    constants: Sequence[int] = (),
    functions: Sequence[str] = (),
) -> None:
    """Greet, then answer batches until the input ends."""
    greeting = {
        "overlong": 1,
        "name": name.encode("utf-8", "backslashreplace").decode(),  # a file name may not be text
        "version": interpreter(),
        "language": "Python",
        "operations": "PB" + "".join(operations),
        "units": "utf-32",
        "error_mode": "replacement",
        **({"constants": constants} if constants else {}),
        **({"functions": functions} if functions else {}),
        **traits,
    }
    last, items = b"", cast("Sequence[bytes]", ())

    def respond(operation: str, payload: bytes, batched: bool) -> Sequence[bytes]:  # noqa: FBT001
        nonlocal last, items
        if not batched:
            results = operations[operation]([payload])
            alone()
            return [single_response(results[0], payload)]
        if payload != last:  # several operations share a batch: cut it once
            last, items = payload, pieces(payload)
        return [b"A", *batch_response(operations[operation], items, len(payload))]

    def together(operation: str, payload: bytes, threads: int) -> Sequence[bytes]:
        items = pieces(payload)
        call = module_at(beside("python_threads.py"), "_overlong_python_threads").together  # without a package

        def column(result: Result, item: bytes) -> tuple[bytes, ...]:
            return columns([result], [item])

        results = cast("list[Result]", call(operations[operation], column, items, threads))
        alone()
        return [b"A", *columns(results, items)]

    answer_frames(greeting, "".join(operations), respond, answers, requests, together)
    os._exit(0)  # nothing is buffered, and the decoder's exit handlers could hang


def single_response(answer: Result, given: bytes) -> bytes:
    """The answer to a single input."""
    result = meant(answer, given)
    if isinstance(result, Stream):
        return b"A" + column(result.marks) + units(result.text)
    if isinstance(result, str):
        return b"A" + units(result)
    if isinstance(result, bytes):
        return b"A" + result
    if isinstance(result, Numbers):
        return b"A" + result.octets
    if isinstance(result, Bug):
        return b"X" + result.text[:200].encode("ascii", "backslashreplace")
    if isinstance(result, Refusal):
        offset, length, incomplete = result.columns()
        chunk = b"" if result.chunk is None else column([result.chunk])
        return b"R" + column([offset]) + bytes([length, incomplete]) + chunk
    return b"A" if result is True else b"R"


def parted(words: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The mode (empty if none is given) and the traits that follow the decoder's name on a command line."""
    mode = "".join(word for word in words if "=" not in word)
    return mode, dict(word.split("=", 1) for word in words if "=" in word)


def named_by(found: Any, place: str) -> list[int]:
    """The numbers that a decoder's code names; none for an adapter, whose code is no decoder."""
    if hasattr(found, "operations") or Path(place).resolve().is_relative_to(Path(__file__).resolve().parent):
        return []
    try:
        read = module_at(beside("constants.py"), "_overlong_constants")
        return cast("list[int]", read.constants_of(found))
    except Exception:  # noqa: BLE001 (the decoder's classes may raise what they like when they are looked at)
        return []


def main() -> None:
    """Load the decoder that the command line names, and serve it."""
    place, name, *words = sys.argv[1:]
    mode, said_of_it = parted(words)
    answers = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # output of a decoder must not look like answers
    requests = os.fdopen(os.dup(0), "rb")  # a decoder may close, replace or read what is standard
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_ask_no_more)
    found = load(place, name)
    traits = {"error_mode": mode} if mode else {}
    functions = list[str]()
    if "as" in said_of_it:
        question, _, argument = said_of_it.pop("as").partition("(")
        if not callable(found):
            fail(f"{place}:{name} is {type(found).__name__}; name a callable")
        functions.append(question)
        operations = {"Q": asked(found, question, argument=argument != ")")}
        if "encode_errors" in said_of_it:
            operations |= encoding(found, question)
    elif hasattr(found, "operations"):
        operations = cast("dict[str, Answerer]", found.operations)
    elif isinstance(found, type) and hasattr(found, "decode"):
        operations = incremental(found)
        traits["stream_refusals"] = "marked"
    elif callable(found):
        operations = probe(found, mode, traits)
    else:
        fail(f"{place}:{name} is {type(found).__name__}; name a callable, or a class with decode(data, final=...)")
    own = getattr(found, "traits", {})
    traits |= {**(own if isinstance(own, dict) else {}), **said_of_it}  # an unrelated attribute has the same name
    if "version" not in traits:
        owner = module_at(beside("owner.py"), "_overlong_owner")  # this may run without a package
        traits["version"] = owner.version_of(found, place, interpreter())
    serve(operations, f"{Path(place).name}:{name}", traits, answers, requests, named_by(found, place), functions)


if __name__ == "__main__":
    main()
