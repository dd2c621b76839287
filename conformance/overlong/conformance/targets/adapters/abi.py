"""The calling conventions of functions in C, as data: parameters, result, and their meaning; and columns of answers.

This module calls nothing.

An :class:`Abi` names its parameters by words of :data:`PARAMETERS` and its result by one of :data:`RESULTS`; the
caller (``native.py`` with ctypes) turns these into types and hands the result to :attr:`Abi.read`.
``docs/shared-libraries.md`` lists them for users.

A function that answers a question about a text gets its address and length, then its argument if it has one. It returns
the number, and ``SIZE_MAX`` to refuse; a step forwards or backwards returns the width, and writes the scalar value.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from overlong.conformance.targets.adapters.serving import column
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import FORMS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.reference.questions import Question

NOT_SAID = 0xFFFFFFFF

PARAMETERS = {
    "ptr": "address of the first octet",
    "string": "address of the first octet; an octet 00 stands after the last",
    "len": "octets, a size_t",
    "slen": "octets, a ptrdiff_t",
    "len32": "octets, an int32_t",
    "n": "the argument of a question, a size_t",
    "out": "address of room for units",
    "cap": "units that have room there, a size_t",
    "cap32": "units that have room there, an int32_t",
    "cell": "address of a pointer that is set",
    "cell32": "address of an int32_t that is set; 0 before the call",
    "state": "address of a stream's state",
}
RESULTS = {
    "bool": "true or false, in 8 bits",
    "int": "an int",
    "size": "a size_t",
    "ssize": "a ptrdiff_t",
    "ptr": "an address, or 0",
    "pair": "a struct of an int and a size_t",
    "none": "nothing",
}
UNIT = {"utf-8": 1, "utf-16": 2, "utf-32": 4}
"""The octets of an output unit."""


class Called(NamedTuple):
    """The arguments and results of a call."""

    returned: int
    """The result; for a pair, its int; a null address is 0."""
    second: int
    """The size_t of a pair; otherwise 0."""
    cells: tuple[int, ...]
    """The contents of the cells after the call, in the order of the parameters."""
    address: int
    length: int
    room: int
    """The number of units that fit into the output."""


class AnswerReading(NamedTuple):
    """The meaning of an answer."""

    status: str
    """``A`` accepted, ``R`` refused, ``X`` neither: the function broke its convention."""
    number: int = 0
    """Accepted: the units of output, possibly more than fit. Refused: the offset, or :data:`NOT_SAID`."""
    text: str = ""
    """The breach of the convention, in ASCII (``X``)."""
    output: bytes = b""
    """Units that the function did not write to the caller's memory, in the machine's byte order."""


Call = Callable[[int, int, int, int], AnswerReading]
"""A function, called with the address and length of the input, the address of the output, and the units that fit there.

For a question, its argument takes the place of the output's address."""
ACCEPTED = AnswerReading("A")
REFUSED = AnswerReading("R", NOT_SAID)


def within(room: int, reading: AnswerReading) -> AnswerReading:
    """The meaning of an answer; an error if it claims more units than fit."""
    if reading.status != "A" or reading.number <= room:
        return reading
    return AnswerReading("X", text=f"it says that it wrote {reading.number} units where {room} have room")


INCOMPLETES = bytes(0xFF if octet == ord("R") else 0 for octet in range(256))
"""Maps a status to a refusal's *incomplete*: not reported."""


def big_endian(output: bytes | bytearray, size: int, order: str = sys.byteorder) -> bytes:
    """The octets of units of this size, which are in that byte order."""
    if size == 1 or order == "big":
        return bytes(output)
    units = array("I" if size == 4 else "H", bytes(output))
    units.byteswap()
    return units.tobytes()


def columns_of(
    readings: Sequence[AnswerReading], size: int, order: str = sys.byteorder, marks: Iterable[Sequence[int]] = ()
) -> tuple[bytes, ...]:
    """The columns of a batch of answers, whose output is of units of this size, in that byte order."""
    statuses = "".join([each.status for each in readings]).encode()
    numbers = [each.number for each in readings]
    if b"X" in statuses:
        texts = [each.text.encode("ascii", "backslashreplace") for each in readings]
        parts = [text or big_endian(each.output, size, order) for each, text in zip(readings, texts, strict=True)]
        numbers = [len(text) or each.number for each, text in zip(readings, texts, strict=True)]
    else:
        parts = [big_endian(b"".join([each.output for each in readings]), size, order)]
    marked = b"".join([column(each) for each in marks if each])
    incompletes = statuses.translate(INCOMPLETES)
    return statuses, column(numbers), bytes(len(readings)), incompletes, b"".join(parts), marked


@dataclass(frozen=True, slots=True)
class Abi:
    """One way to call a decoder."""

    name: str
    prototype: str
    """In C, with ``f`` for the function's name."""
    parameters: tuple[str, ...]
    result: str
    read: Callable[[Called], AnswerReading]
    says: str
    """A sentence for the docs: the meaning of its answers."""
    units: str = ""
    """The encoding of its output, in the machine's byte order; empty if it only validates."""
    functions: tuple[str, ...] = ()
    """For a stream: the purposes of its functions, in the order in which a target names them."""

    @property
    def bounded(self) -> bool:
        """True if the function gets the size of the output."""
        return "cap" in self.parameters or "cap32" in self.parameters

    @property
    def terminated(self) -> bool:
        """True if an octet 00 ends the input."""
        return "string" in self.parameters

    def room(self, length: int) -> int:
        """Units to allocate for ``length`` octets: more than enough, or the number that an unbounded function needs."""
        return 4 * length + 16 if self.bounded else length


def _true(called: Called) -> AnswerReading:
    return ACCEPTED if called.returned else REFUSED


def _zero(called: Called) -> AnswerReading:
    return REFUSED if called.returned else ACCEPTED


def _refused_at(offset: int, called: Called) -> AnswerReading:
    if 0 <= offset < called.length:
        return AnswerReading("R", offset)
    return AnswerReading("X", text=f"it says offset {offset} of {called.length} octets")


def _offset_or_length(called: Called) -> AnswerReading:
    return ACCEPTED if called.returned == called.length else _refused_at(called.returned, called)


def _offset_or_minus1(called: Called) -> AnswerReading:
    return ACCEPTED if called.returned == -1 else _refused_at(called.returned, called)


def _null(called: Called) -> AnswerReading:
    return _refused_at(called.returned - called.address, called) if called.returned else ACCEPTED


def _pair(called: Called) -> AnswerReading:
    return _refused_at(called.second, called) if called.returned else ACCEPTED


def _end(called: Called) -> AnswerReading:
    offset = called.cells[0] - called.address
    if not called.returned:
        return _refused_at(offset, called)
    if offset != called.length:
        return AnswerReading("X", text=f"it accepts {called.length} octets and says that they end at {offset}")
    return ACCEPTED


def _written(called: Called) -> AnswerReading:
    return AnswerReading("A", called.returned) if called.returned >= 0 else REFUSED


def _written_or_zero(called: Called) -> AnswerReading:
    return AnswerReading("A", called.returned) if called.returned or not called.length else REFUSED


def _pair_written(called: Called) -> AnswerReading:
    return _refused_at(called.second, called) if called.returned else AnswerReading("A", called.second)


ICU_REFUSALS = (10, 11, 12)
"""U_INVALID_CHAR_FOUND, U_TRUNCATED_CHAR_FOUND, U_ILLEGAL_CHAR_FOUND (unicode/utypes.h)."""
ICU_OVERFLOW = 15
"""U_BUFFER_OVERFLOW_ERROR: the call still reports how many units it needed."""


def _icu(called: Called) -> AnswerReading:
    written, status = called.cells
    if status <= 0 or status == ICU_OVERFLOW:  # negative statuses are warnings
        return AnswerReading("A", max(written, 0))
    return REFUSED if status in ICU_REFUSALS else AnswerReading("X", text=f"its status is {status}")


def _consumed(called: Called) -> AnswerReading:
    """The octets that one step consumed; the caller reads the result of the whole loop."""
    if called.returned < 0:
        return REFUSED
    if 0 < called.returned <= called.length:
        return AnswerReading("A", called.returned)
    return AnswerReading("X", text=f"it took {called.returned} of {called.length} octets")


_C_UNIT = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t"}
_STREAM = ("new", "feed", "finish", "free", "reset")


def _decoders(units: str) -> tuple[Abi, ...]:
    short, c = units.replace("-", ""), _C_UNIT[units]
    return (
        Abi(
            f"{short}(ptr,len,out,cap)",
            f"ptrdiff_t f(const char *octets, size_t length, {c} *out, size_t capacity)",
            ("ptr", "len", "out", "cap"),
            "ssize",
            _written,
            "the units written; below 0: refused",
            units,
        ),
        Abi(
            f"{short}(ptr,len,out)",
            f"size_t f(const char *octets, size_t length, {c} *out)",
            ("ptr", "len", "out"),
            "size",
            _written_or_zero,
            "the units written; 0 for any input but an empty one: refused. There is room for `length` units",
            units,
        ),
        Abi(
            f"{short}-result(ptr,len,out)",
            f"struct {{ int error; size_t count; }} f(const char *octets, size_t length, {c} *out)",
            ("ptr", "len", "out"),
            "pair",
            _pair_written,
            "error 0: count units written; else refused at octet count. There is room for `length` units",
            units,
        ),
        Abi(
            f"stream-{short}(state,ptr,len,out,cap)",
            f"void *new(void); ptrdiff_t feed(void *state, const char *octets, size_t length, {c} *out, "
            f"size_t capacity); ptrdiff_t finish(void *state, {c} *out, size_t capacity); void free(void *state); "
            "void reset(void *state)",
            ("state", "ptr", "len", "out", "cap"),
            "ssize",
            _written,
            "the units written by this call; below 0: refused",
            units,
            _STREAM,
        ),
    )


ABIS = {
    abi.name: abi
    for abi in (
        Abi("bool(ptr,len)", "bool f(const char *octets, size_t length)", ("ptr", "len"), "bool", _true,
            "true: accepted"),
        Abi("int(ptr,len)", "int f(const char *octets, size_t length)", ("ptr", "len"), "int", _true,
            "anything but 0: accepted"),
        Abi("error(ptr,len)", "int f(const char *octets, size_t length)", ("ptr", "len"), "int", _zero,
            "0: accepted"),
        Abi("bool(string)", "bool f(const char *string)", ("string",), "bool", _true,
            "true: accepted. An octet 00 ends the input, so strings that hold one are not tested"),
        Abi("int(string)", "int f(const char *string)", ("string",), "int", _true,
            "anything but 0: accepted. Octets 00 as above"),
        Abi("errpos(ptr,len)", "size_t f(const char *octets, size_t length)", ("ptr", "len"), "size",
            _offset_or_length, "`length`: accepted; else the offset of what is refused"),
        Abi("errpos-or-minus1(ptr,len)", "ptrdiff_t f(const char *octets, size_t length)", ("ptr", "len"), "ssize",
            _offset_or_minus1, "-1 (`SIZE_MAX`): accepted; else the offset. Rust: `isize f(*const u8, usize)`"),
        Abi("ptr-or-null(ptr,len)", "const char *f(const char *octets, size_t length)", ("ptr", "len"), "ptr", _null,
            "null: accepted; else where it is refused. libunistring: `u8_check`"),
        Abi("result(ptr,len)", "struct { int error; size_t count; } f(const char *octets, size_t length)",
            ("ptr", "len"), "pair", _pair,
            "error 0: accepted; else refused at octet count. simdutf: `simdutf_validate_utf8_with_errors`"),
        Abi("glib(ptr,len,end)", "int f(const char *octets, ptrdiff_t length, const char **end)",
            ("ptr", "slen", "cell"), "int", _end,
            "anything but 0: accepted; else refused at `*end`. GLib: `g_utf8_validate`, which refuses octet 00 "
            "(add `&nul=refused`)"),
        *_decoders("utf-8"),
        *_decoders("utf-16"),
        *_decoders("utf-32"),
        Abi("stream-bool(state,ptr,len)",
            "void *new(void); bool feed(void *state, const char *octets, size_t length); bool finish(void *state); "
            "void free(void *state); void reset(void *state)",
            ("state", "ptr", "len"), "bool", _true,
            "true: so far there is no error; of `finish`: and the end is not inside a character", functions=_STREAM),
        Abi("icu(out,cap,outlen,ptr,len,status)",
            "char16_t *f(char16_t *out, int32_t capacity, int32_t *out_length, const char *octets, int32_t length, "
            "int32_t *status)",
            ("out", "cap32", "cell32", "ptr", "len32", "cell32"), "ptr", _icu,
            "status 0 or below: accepted, `*out_length` units; 10, 11 or 12: refused. ICU: `u_strFromUTF8`", "utf-16"),
        Abi("iterate(ptr,len,point)", "ptrdiff_t f(const char *octets, ptrdiff_t length, int32_t *code_point)",
            ("ptr", "slen", "cell32"), "ssize", _consumed,
            "the octets that were taken, and one code point; below 0: refused there. It is called until the input "
            "ends. utf8proc: `utf8proc_iterate`", "utf-32"),
    )
}  # fmt: skip
ITERATE = ABIS["iterate(ptr,len,point)"]

_LARGEST = 0xFFFFFFFF
_REFUSALS = (-1, (1 << 64) - 1, (1 << 32) - 1)
"""``SIZE_MAX``, as ctypes may read it."""
OUTSIDE = "its answer depends on what stands around its input, which it must not read"
"""The text for a function that answers otherwise between other neighbours."""
TAILS = b"\x80" * 64
"""Neighbours that look like parts of a character."""


def _numbers(called: Called) -> AnswerReading:
    """The numbers of an answer; those of no u32 become the largest, which is out of range."""
    if called.returned in _REFUSALS:
        return REFUSED
    numbers = [min(each & (1 << 64) - 1, _LARGEST) for each in (*called.cells, called.returned)]
    return AnswerReading("A", len(numbers), output=b"".join(each.to_bytes(4, "big") for each in numbers))


_C = {"utf-8": "char", "utf-16": "char16_t", "utf-32": "char32_t", "latin-1": "char"}
"""The type of a unit."""


def _converted(called: Called) -> AnswerReading:
    """The units written, and as output what was taken."""
    if called.returned in _REFUSALS:
        return REFUSED
    taken = min(called.cells[0], _LARGEST)
    return AnswerReading("A", called.returned & (1 << 64) - 1, output=taken.to_bytes(4, "big"))


def _abi(question: Question) -> Abi:
    of_units = question.given != "utf-8"
    text = f"const {_C[question.given]} *{'units' if of_units else 'octets'}, size_t length"
    if question.written:
        return Abi(
            f"{question.name}(ptr,len,out,room,taken)",
            f"size_t f({text}, {_C[question.written]} *out, size_t room, size_t *taken)",
            ("ptr", "len", "out", "cap", "cell"),
            "size",
            _converted,
            f"{question.line}: it returns the {FORMS[question.written].word}s that it wrote, and sets `*taken` to the "
            f"{FORMS[question.given].word}s of the input that they stand for; `SIZE_MAX`: refused",
        )
    steps = question.answers == 2
    words = ("ptr", "len", *(("n",) if question.argument else ()), *(("cell32",) if steps else ()))
    shown = ",".join({"n": question.argument, "cell32": "scalar"}.get(word, word) for word in words)
    arguments = [text]
    arguments += [f"size_t {question.argument}"] if question.argument else []
    arguments += ["uint32_t *scalar"] if steps else []
    is_bool = question.name == "is-boundary"
    return Abi(
        f"{question.name}({shown})",
        f"{'bool' if is_bool else 'size_t'} f({', '.join(arguments)})",
        words,
        "bool" if is_bool else "size",
        _numbers,
        question.line + ("" if is_bool else "; `SIZE_MAX`: refused"),
    )


QUESTION_ABIS = {abi.name: question for question in QUESTIONS.values() for abi in (_abi(question),)}
"""The question that each convention is for, by the convention's name."""


def question_abi(name: str) -> Abi:
    """The convention of that name in :data:`QUESTION_ABIS`."""
    return _abi(QUESTION_ABIS[name])
