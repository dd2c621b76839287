"""How functions of C are called that answer a question about a text: one convention for each question, as data.

Each gets the address and length of the text, then its argument if it has one. It returns the number, and ``SIZE_MAX``
to refuse; a step forwards or backwards returns the width, and writes the scalar value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overlong.conformance.targets.adapters.abi import REFUSED, Abi, AnswerReading, Called
from overlong.reference.form import FORMS
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from overlong.reference.questions import Question

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
