"""The models of wrong decoders in Python, which say of any question whether the answer is wrong; and their checks.

A model is transcribed from the same expressions as the decoder in C. :func:`differences` asks both, so that a condition
that the two understand differently shows.
"""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mutants import transcribed
from mutants.causes import CALLABLE, DECODER, DECODER_16, REPLACER, STREAM, VALIDATOR, Cause
from mutants.population import HEADERS, options
from mutants.replacers import REPLACERS
from mutants.spoken import RIGHT, Population, Spoken, frames
from mutants.streams import STREAMS
from overlong.conformance.protocol.wire import REPLACE, STREAM_DECODE, frame, stream_payload
from overlong.reference import dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mutants.questions import Question

LIBRARY = "libexamined.so"
FILE = "examined_callables.py"
ABIS = {VALIDATOR: "bool(ptr,len)", DECODER: "utf32-result(ptr,len,out)", DECODER_16: "utf16-result(ptr,len,out)"}
"""The kinds of functions in the library, and their conventions."""
SPOKEN: dict[str, Population] = {REPLACER: REPLACERS, STREAM: STREAMS}
"""The kinds behind the protocol."""
RIGHTS = {
    VALIDATOR: "WALK(NAME, 0, false, ok)",
    DECODER: "DECODE(NAME, false, c, false, 0)",
    DECODER_16: "DECODE16(NAME, false)",
    REPLACER: REPLACERS.right.replace("right", "NAME"),
    STREAM: STREAMS.right.replace("right", "NAME"),
}
_HEADERS = (*HEADERS, *(Path(__file__).with_name(name) for name in ("outputs.h", "examined.h")))
_BEHIND = (b"\x80\x80\x80", b"\xa0\x80\x80", b"\x90\x80\x80")
"""Octets behind an input that may complete a character."""


class Models:
    """The models of all decoders, by their symbols."""

    def __init__(self, causes: Sequence[Cause]) -> None:
        functions = [(each.symbol, each.code) for each in causes]
        functions += [(_right(kind), code) for kind, code in RIGHTS.items()]
        self._named = transcribed.Callables(transcribed.text_of(functions)).named
        self._accepts = dialect().automaton.accepts

    def wrong(self, cause: Cause) -> Callable[[Question], bool]:
        """The condition of a fault: says of any question whether the decoder's answer is wrong."""
        model, past = self._named[cause.symbol], self._named["PAST"]
        if not cause.code.startswith(("WALK", "STEP", "LOOKUP", "KEPT", "BEYOND")):
            right = self._named[_right(kind_of(cause))]
            return lambda question: _answer(model, question) != _answer(right, question)
        placed = cause.code.startswith("WALK")

        def wrong(question: Question) -> bool:
            past.clear()
            for each in question.earlier:
                model(each)
            found = model(question.octets, question.address) if placed else model(question.octets)
            return bool(found) != self._accepts(question.octets)

        return wrong

    def right(self, cause: Cause, question: Question) -> object:
        """The right answer of a decoder of this kind: numbers, or the offset of a refusal."""
        return _answer(self._named[_right(kind_of(cause))], question)


def _normal(answer: object) -> object:
    """Text as a list of numbers, as the others are."""
    return list(map(ord, answer)) if isinstance(answer, str) else answer


def kind_of(cause: Cause) -> str:
    """The kind of the decoder in C that does the same."""
    if cause.kind != CALLABLE:
        return cause.kind
    return DECODER if cause.code.startswith("DECODE") else VALIDATOR


def _right(kind: str) -> str:
    return "right_" + kind.rsplit(maxsplit=1)[-1].replace("-", "_").lower()


def _answer(model: Callable[[Any], object], question: Question) -> object:
    """What a model answers; for a refusal, the offset as a number."""
    try:
        return _normal(model(question.pieces if question.chunks is not None else question.octets))
    except UnicodeDecodeError as error:
        return error.args[2]


def build(folder: Path, causes: Sequence[Cause], compiler: str = "cc") -> None:
    """Compile the functions to one library, and decoders behind the protocol to one program of each kind.

    Raises:
        OSError: there is no compiler.
        subprocess.CalledProcessError: the compiler failed and printed why.
    """
    code = [each.code.replace("NAME", each.symbol) for each in causes if kind_of(each) in ABIS]
    code.append("DECODE(right, false, c, false, 0)")
    (folder / "examined.c").write_text("\n".join(('#include "examined.h"', *code, "")), "ascii")
    words = [compiler, *options(folder, _HEADERS), "-shared", "-o", str(folder / LIBRARY), str(folder / "examined.c")]
    subprocess.run(words, check=True)
    for kind, population in SPOKEN.items():
        population.build(folder, [_spoken(each) for each in causes if each.kind == kind], compiler)
    callables = [(each.symbol, each.code) for each in causes if each.kind == CALLABLE]
    (folder / FILE).write_text(transcribed.text_of(callables), "ascii")


def target(cause: Cause) -> str | tuple[str, ...]:
    """The target, in the folder of :func:`build`: a name, or a command that speaks the protocol."""
    if cause.kind == CALLABLE:
        return f"py:{FILE}:{cause.symbol}"
    if cause.kind in SPOKEN:
        return SPOKEN[cause.kind].command(cause.symbol)
    return f"so:./{LIBRARY}:{cause.symbol}?abi={ABIS[cause.kind]}"


def _spoken(cause: Cause) -> Spoken:
    return Spoken(cause.symbol, cause.family, cause.words, cause.code)


class _Decoded(ctypes.Structure):
    _fields_ = (("error", ctypes.c_int), ("count", ctypes.c_size_t))


class Compiled:
    """The compiled decoders of a folder."""

    def __init__(self, folder: Path, causes: Sequence[Cause]) -> None:
        self._folder = folder
        self._library = ctypes.CDLL(str((folder / LIBRARY).resolve()))
        self._models = Models(causes)

    def wrong(self, cause: Cause, questions: Sequence[Question]) -> list[bool]:
        """Whether the decoder itself answers each question wrongly."""
        if cause.kind in SPOKEN:
            return self._by_protocol(cause, questions)
        function = self._library[cause.symbol]
        function.restype = ctypes.c_bool if kind_of(cause) == VALIDATOR else _Decoded
        function.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        if kind_of(cause) != VALIDATOR:
            return [self._output(cause, function, each) for each in questions]
        accepts, found = dialect().automaton.accepts, list[bool]()
        past = (ctypes.c_char * (6 * ctypes.sizeof(ctypes.c_size_t))).in_dll(self._library, f"past_{cause.symbol}")
        for question in questions:
            ctypes.memset(past, 0, 5 * ctypes.sizeof(ctypes.c_size_t))
            for each in question.earlier:
                _call(function, each, 0, b"")
            behind = _BEHIND if cause.looks_behind else (b"",)
            answers = {_call(function, question.octets, question.address, each) for each in behind}
            found.append(answers != {accepts(question.octets)})
        return found

    def _output(self, cause: Cause, function: Any, question: Question) -> bool:
        unit = ctypes.c_uint16 if kind_of(cause) == DECODER_16 else ctypes.c_uint32
        out = (unit * (len(question.octets) + 1))()
        function.argtypes = (ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p)
        done = function(question.octets, len(question.octets), out)
        right = self._models.right(cause, question)
        return (done.count if done.error else list(out[: done.count])) != right

    def _by_protocol(self, cause: Cause, questions: Sequence[Question]) -> list[bool]:
        population, asked = SPOKEN[cause.kind], self._folder / "asked"
        asked.write_bytes(b"".join(_request(cause, each) for each in questions))
        one, other = (frames(population.answers(self._folder, each, asked)) for each in (cause.symbol, RIGHT))
        return [mine != right for mine, right in zip(one, other, strict=True)]


def _request(cause: Cause, question: Question) -> bytes:
    if cause.kind == STREAM:
        lengths = list(question.chunks or (len(question.octets),))
        return frame(0, STREAM_DECODE.encode() + stream_payload(question.octets, lengths))
    return frame(0, REPLACE.encode() + question.octets)


def _call(function: Any, octets: bytes, address: int, behind: bytes) -> bool:
    """A validator's answer to octets at an address modulo 64."""
    room = ctypes.create_string_buffer(len(octets) + len(behind) + 192)
    start = ctypes.addressof(room)
    start += (address - start) % 64
    ctypes.memmove(start, octets + behind, len(octets) + len(behind))
    return bool(function(start, len(octets)))


def differences(cause: Cause, questions: Iterable[Question], models: Models, compiled: Compiled) -> list[Question]:
    """The questions of which the model says something else than the decoder does."""
    asked, wrong = list(questions), models.wrong(cause)
    return [each for each, answer in zip(asked, compiled.wrong(cause, asked), strict=True) if answer != wrong(each)]
