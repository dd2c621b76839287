"""What functions are known to answer instead of what is right: another count, the argument itself, fewer octets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from overlong.reference.form import FORMS
from overlong.reference.questions import QUESTIONS, right
from overlong.reference.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from overlong.conformance.vectors.questions import Asked
    from overlong.reference.questions import Numbers, Right


@dataclass(frozen=True)
class Other:
    """An answer to well-formed text."""

    name: str
    """How a sentence says it, and how files keep it."""
    questions: tuple[str, ...]
    number: Callable[[Asked], int]
    """The last number of the answer."""

    def gives(self, asked: Asked, numbers: Sequence[int]) -> bool:
        """True if these are its numbers."""
        return bool(numbers) and numbers[-1] == self.number(asked)

    def differs(self, asked: Asked, expected: Right) -> bool:
        """True if its answer is wrong."""
        among: set[Numbers] = {expected.numbers, *expected.also}
        fixed = expected.judged and not expected.refusal
        return fixed and self.number(asked) not in {numbers[-1] for numbers in among}


def _as(name: str, asked: Asked) -> int:
    question = QUESTIONS[name]
    arguments = question.asked(asked.text)
    return right(question, asked.text, min(asked.argument, arguments[-1])).numbers[-1]


def _argument(asked: Asked) -> int:
    return min(asked.argument, len(asked.text))


def _before(most: int, asked: Asked) -> int:
    """The boundary before an offset, if it is near enough."""
    floor = _as("floor", asked)
    return max(floor, _argument(asked) - most)


def _width(most: int, asked: Asked) -> int:
    return min(right(asked.question, asked.text, asked.argument).numbers[-1], most)


def _surrogates(asked: Asked) -> int:
    """Each UTF-16 code unit as if it were a character."""
    return sum(len(FORMS["utf-8"].write(0xFFFF if piece.units > 1 else piece.scalar)) * piece.units
               for piece in read(asked.text).pieces)  # fmt: skip


OTHERS: tuple[Other, ...] = (
    Other("counts octets", ("count-scalars", "count-utf16"), lambda asked: len(asked.text)),
    Other("counts scalar values", ("count-utf16", "size-from-utf16", "size-from-utf32"), partial(_as, "count-scalars")),
    Other("counts UTF-16 code units", ("count-scalars", "size-from-utf16", "size-from-utf32"),
          partial(_as, "count-utf16")),
    Other("counts each half of a surrogate pair as a character", ("size-from-utf16", "size-from-utf32"), _surrogates),
    Other("counts scalar values", ("utf16-of-offset",), partial(_as, "scalar-of-offset")),
    Other("counts scalar values", ("truncate-utf16",), partial(_as, "truncate-scalars")),
    Other("counts scalar values", ("offset-of-utf16",), partial(_as, "offset-of-scalar")),
    Other("counts UTF-16 code units", ("scalar-of-offset",), partial(_as, "utf16-of-offset")),
    Other("counts UTF-16 code units", ("offset-of-scalar",), partial(_as, "offset-of-utf16")),
    Other("counts UTF-16 code units", ("truncate-scalars",), partial(_as, "truncate-utf16")),
    Other("counts octets", ("utf16-of-offset", "scalar-of-offset", "offset-of-utf16", "offset-of-scalar",
                            "truncate-scalars", "truncate-utf16"), _argument),
    Other("cuts at the limit, wherever that is", ("truncate",), _argument),
    Other("takes any offset for a boundary", ("floor", "ceil"), _argument),
    Other("answers the boundary after the offset", ("floor",), partial(_as, "ceil")),
    Other("answers the boundary before the offset", ("ceil",), partial(_as, "floor")),
    Other("keeps the character that the limit is inside", ("truncate",), partial(_as, "ceil")),
    Other("takes each octet for the start of a character", ("is-boundary",), lambda _: 1),
    *(Other(f"goes back at most {most} octet{'s' * (most > 1)}", ("floor", "truncate"), partial(_before, most))
      for most in (1, 2)),
    *(Other(f"steps over at most {most} octet{'s' * (most > 1)}", ("next", "previous"), partial(_width, most))
      for most in (1, 2, 3)),
)  # fmt: skip
"""The answers, the likeliest first."""


def others_of(question: str) -> list[Other]:
    """Those of a question."""
    return [each for each in OTHERS if question in each.questions]


def other_named(question: str, name: str) -> Other:
    """The one of a question and a name.

    Raises:
        LookupError: there is none.
    """
    found = [each for each in others_of(question) if each.name == name]
    return found[0]
