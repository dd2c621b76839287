"""Adapter for Python decoders: ``python.py MODULE_OR_FILE NAME [fatal|replacement] [as=QUESTION] [MEMBER=WORD...]``.

Runs in its own process. NAME is a callable ``bytes -> str`` that
raises on ill-formed input, or ``bytes -> bool``; or a class with ``decode(data, final=...)``, reused after
its ``reset()`` if it has one; or a callable that takes a list of ``bytes``, and raises or returns
a bool, or for each a bool or its text; or an object with an attribute ``operations``: a dictionary from operation to a
function on a list of payloads. With ``as=truncate(limit)`` it is a function that answers this question.
An attribute ``traits``, a dictionary of strings, is added to the greeting, and so are
the traits that the command line names, which win.

A function that answers a question may return a number, a bool, or a prefix of the octets, whose length is the number; a
character, or its scalar value, and its width as a tuple; of a converter how much it took, and its output, as a tuple;
None, -1 or an exception to refuse. Octets that are no prefix are no answer, so they count as a refusal: of ill-formed
text, a function may return what is well-formed in it.
"""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":  # make this package importable, without a new place for the modules of a decoder
    if (_root := str(Path(__file__).resolve().parents[4])) not in sys.path:
        sys.path.append(_root)

import importlib
import os
import struct
from contextlib import suppress
from importlib.machinery import PathFinder
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from overlong.conformance.targets.adapters.facts import named_by, version_of
from overlong.conformance.targets.adapters.serving import (
    BUGS,
    Answerer,
    Bug,
    Numbers,
    Refusal,
    Result,
    Stream,
    alone,
    cut,
    fail,
    held,
    in_words,
    interpreter,
    located,
    own_output,
    read_as_text,
    refusal,
    said,
    serve,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

ENCODES = {"from-utf16": "F", "from-utf32": "E", "size-from-utf16": "Z", "size-from-utf32": "Z"}
"""The operation of an encoder that a function can answer, too, by its question."""
_LARGEST = 0xFFFFFFFF
_LONGEST = 6  # octets for a number, of an encoder that knows no end of them
_under_way = cast("Iterator[bytes]", iter(()))
"""The inputs that :func:`one_by_one` still has to ask."""


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
        return result._replace(chunk=number) if isinstance(result, Refusal) else result
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

    def ask(payload: bytes) -> Result:
        number, octets = int.from_bytes(payload[1:5], "big"), payload[5:]
        alone()
        try:
            text = given(question, octets)
            result = function(text, number) if argument else function(text)
        except Exception as error:  # noqa: BLE001 (functions raise what they like)
            return refusal(error)
        numbers = numbers_of(held(result), octets, question)
        if isinstance(numbers, str):
            return Bug(numbers, breach=True)
        return Refusal() if numbers is None else Numbers(numbers)

    return lambda many: [ask(payload) for payload in many]


def encoding(function: Callable[..., Any], question: str) -> dict[str, Answerer]:
    """The operation of an encoder that a function answers, if its question has one: text with lone surrogates."""
    if question not in ENCODES:
        return {}
    operation = ENCODES[question]

    def encode(payload: bytes) -> Result:
        text, count = numbers_in(operation, payload), len(payload) // (2 if operation == "F" else 4)
        if text is None:
            return Refusal()  # str has no such number
        alone()
        try:
            result = function(text) if operation == "Z" else function(text, room_for(count))
        except Exception as error:  # noqa: BLE001
            return refusal(error)
        octets = encoded(held(result), operation, count)
        if isinstance(octets, str):
            return Bug(octets, breach=True)
        return octets if isinstance(octets, bytes) else Refusal() if octets is None else Refusal(octets)

    return {operation: lambda many: [encode(payload) for payload in many]}


def given(question: str, octets: bytes) -> str | bytes:
    """A text as the function gets it: ``str`` for an encoder, octets of Latin-1 for one of Latin-1, else itself."""
    _, _, form = question.partition("from-")
    if not form:
        return octets
    text = octets.decode()
    return text.encode("latin-1") if form == "latin1" else text


def numbers_in(operation: str, payload: bytes) -> str | None:
    """What an encoder is to encode, lone surrogates included; None if it holds numbers that no text has."""
    try:
        return payload.decode("utf-16-be" if operation == "F" else "utf-32-be", "surrogatepass")
    except UnicodeDecodeError:
        return None


def room_for(count: int) -> int:
    """The octets in which everything has room that an encoder may write for so many numbers or code units."""
    return _LONGEST * (count + 1)


def encoded(result: Any, operation: str, count: int) -> bytes | int | str | None:
    """What a function wrote that had room for all ``count`` numbers or code units.

    The octets, or the announced size in four; if it stopped before the end, the index of what it refused; None for a
    refusal without an index; a sentence if it cannot be read.
    """
    if result is None or result == -1:
        return None
    if operation == "Z":
        number = _number_of(result, b"")
        return number.to_bytes(4, "big") if isinstance(number, int) else number
    parts = cast("tuple[Any, ...]", result)
    if type(parts) is not tuple or len(parts) != 2 or not isinstance(parts[0], int):
        return f"returned {type(result).__name__}; an encoder returns how much it took and its octets, or None"
    taken, output = parts
    kind = cast("type[object]", type(output))
    if kind is list:
        numbers = cast("Sequence[Any]", output)
        output = bytes(numbers) if all(each in range(256) for each in numbers) else None
    if not isinstance(output, bytes | bytearray):
        return f"returned an int and {kind.__name__}; an encoder returns how much it took and its octets"
    return taken if 0 <= taken < count else bytes(output)


def numbers_of(result: Any, octets: bytes, question: str = "") -> bytes | str | None:
    """The numbers of a result in the wire format; None for a refusal; a sentence if it cannot be read."""
    if result is None or result == -1:
        return None
    if question.startswith(("to-", "from-")):
        return _converted(result, "utf-16-be" if question.endswith("utf16") else "utf-32-be")
    parts = cast("Sequence[Any]", result) if type(result) is tuple else (result,)
    if len(parts) == 2 and isinstance(parts[0], str) and len(parts[0]) == 1:
        parts = ord(parts[0]), parts[1]
    numbers = list[int]()
    for part in parts:
        number = _number_of(part, octets)
        if not isinstance(number, int):
            return number
        numbers.append(number)
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def _number_of(part: Any, octets: bytes) -> int | str | None:
    if isinstance(part, int):
        return min(int(part), _LARGEST) if part >= 0 else int(part) & _LARGEST  # as C would read it: far out of range
    if isinstance(part, bytes | bytearray):
        return len(part) if octets.startswith(part) else None
    return f"returned {type(part).__name__}; it returns a number, a bool, a prefix, a character with its width, or None"


def _converted(result: Any, codec: str) -> bytes | str | None:
    """What a converter took, and its output: octets, text, or a list of units."""
    parts = cast("tuple[Any, ...]", result)
    if type(parts) is not tuple or len(parts) != 2:
        return f"returned {type(result).__name__}; a converter returns how much it took and its output, or None"
    taken, output = parts
    if taken == -1:
        return None
    if isinstance(output, str):
        encoded, size = output.encode(codec, "surrogatepass"), int(codec[4:6]) // 8
        output = [int.from_bytes(encoded[place : place + size], "big") for place in range(0, len(encoded), size)]
    if not isinstance(taken, int) or not isinstance(output, bytes | bytearray | list):
        return f"returned {type(taken).__name__} and {type(output).__name__}; write an int, and bytes, a str or a list"
    return b"".join((int(number) & _LARGEST).to_bytes(4, "big") for number in (taken, *cast("Sequence[int]", output)))


def validating(validator: Any) -> SimpleNamespace:
    """A decoder made of a validator whose ``decode(data, final=...)`` returns a bool for each chunk."""
    text = read_as_text()

    def decode(data: bytes, *, final: bool) -> str:
        """Raises: ValueError: the validator says no. TypeError: it says neither yes nor no."""
        accepted = held(validator.decode(data, final=final))
        if type(accepted) is not bool:
            raise TypeError(f"returned {type(accepted).__name__} where it returned bool before")
        if not accepted:
            raise ValueError
        return text.decode(data, final)

    def reset() -> None:
        validator.reset()
        text.reset()

    return SimpleNamespace(decode=decode, reset=reset)


def incremental(cls: type) -> dict[str, Answerer]:
    """The operations of a class with ``decode(data, final=...)``, which may only say yes or no to each chunk."""
    make, kind = cast("Callable[[], Any]", cls), cast("type", str)
    with suppress(Exception):  # a decoder that refuses even the letter a is no validator
        if type(cls().decode(b"a", final=True)) is bool:
            make, kind = (lambda: validating(cls())), bool
    whole = one_by_one(lambda octets: cls().decode(octets, final=True), kind)
    operations = {"V" if kind is bool else "D": whole, "S": streaming(make)}
    reusable = callable(getattr(cls, "reset", None))
    if reusable:
        operations["N"] = again(make)
    if kind is bool:
        return operations
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


def parted(words: Sequence[str]) -> tuple[str, dict[str, str]]:
    """The mode (empty if none is given) and the traits that follow the decoder's name on a command line."""
    mode = "".join(word for word in words if "=" not in word)
    return mode, dict(word.split("=", 1) for word in words if "=" in word)


def main() -> None:
    """Load the decoder that the command line names, and serve it."""
    place, name, *words = sys.argv[1:]
    mode, said_of_it = parted(words)
    answers = own_output()
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
        traits["version"] = version_of(found, place, interpreter())
    serve(operations, f"{Path(place).name}:{name}", traits, answers, requests, named_by(found, place), functions)


if __name__ == "__main__":
    main()
