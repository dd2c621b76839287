"""Texts by number for targets that do not decode: encoders, and functions that answer questions about a text.

A text has mostly one kind of character, and a few numbers of other kinds in it: others fail only after so many numbers,
or at so many. Lengths are spread evenly over powers of two. Of the texts that questions are about, one in four is an
input of the grammar, which may be ill-formed.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from overlong.conformance.protocol.wire import ENCODE_UTF16, ENCODING, big_endian
from overlong.conformance.vectors.expected import CATEGORY_OF, Asked, in_units, units_of
from overlong.conformance.vectors.suites.encoding import BEYOND, EDGES, LETTERS
from overlong.conformance.vectors.vector import Vector
from overlong.fuzz.execution.job import BLOCK
from overlong.reference.order import CODE_POINTS, LEAD_SURROGATES, SURROGATES, TRAIL_SURROGATES
from overlong.reference.questions import QUESTIONS
from overlong.reference.reading import FORMS, read

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from overlong.fuzz.engines.result import UnitResult
    from overlong.fuzz.execution.probe import Probe
    from overlong.fuzz.generation.generated import Generated

_AT_A_TIME = 128
"""The texts of a batch; blocks are whole batches."""
_BITS = 11
"""The longest texts have 2^11 numbers and as many again, less one."""
_ODD = 3
"""The most numbers of another kind that are put into a text."""
_GENERATED = 4
"""One text in so many is an input of the grammar, for questions."""
_LATIN = (0x61, 0xE9)
"""Characters in place of those that a form cannot write."""
_NEAR = (-1, 0, 0, 1)
"""From the end of a character to an argument."""
_SMALL = 6
"""One argument is below it: room for a character, or less."""


def text(seed: int, number: int) -> list[int]:
    """The numbers of a text. No lead surrogate stands before a trail: in strings of UTF-16 the two are a pair."""
    random = Random(f"{seed} {number}")  # noqa: S311 (no secret)
    bits = random.randrange(_BITS + 1)
    length = random.randrange(1 << bits, 2 << bits)
    mixed = not random.randrange(4)
    found = random.choices(LETTERS, k=length) if mixed else [random.choice(LETTERS)] * length
    for _ in range(random.randrange(_ODD + 1)):
        found[random.choice((0, length - 1, random.randrange(length)))] = random.choice(
            (
                *(random.choice(EDGES), random.choice(LETTERS), random.randrange(CODE_POINTS.stop)),
                *(random.choice(SURROGATES), random.choice(BEYOND)),
            )
        )
    for place in range(1, length):
        if found[place - 1] in LEAD_SURROGATES and found[place] in TRAIL_SURROGATES:
            found[place] = found[place - 1]
    return found


def vector(numbers: Sequence[int], operation: str) -> Vector:
    """A text as the input for an operation; in UTF-16 without numbers beyond 10FFFF."""
    if operation == ENCODE_UTF16:
        octets = in_units([number for number in numbers if number in CODE_POINTS])
    else:
        octets = big_endian("I", numbers)
    return Vector(CATEGORY_OF[operation], octets)


def questions(generated: Generated, number: int, name: str) -> Iterator[Vector]:
    """What a question asks about the text of a number: a few arguments, at ends of characters and beside them."""
    random, question = Random(f"{generated.seed} {number} {name}"), QUESTIONS[name]  # noqa: S311
    if question.given == "utf-8" and not number % _GENERATED:
        octets = generated.string(number)
    else:
        form = FORMS[question.given]
        scalars = [each for each in text(generated.seed, number) if each in CODE_POINTS and each not in SURROGATES]
        octets = "".join(chr(each if form.write(each) else random.choice(_LATIN)) for each in scalars).encode()
    every = question.asked(octets)
    if not every:
        return
    ends = units_of(question, read(octets))
    near = [random.choice((*ends[-2:], random.choice(ends))) + random.choice(_NEAR) for _ in range(2)]
    for argument in dict.fromkeys((random.randrange(_SMALL), *near, random.choice(every))):
        if argument in every:
            yield Vector(name, Asked(question, argument, octets).payload)


def _inputs(generated: Generated, probe: Probe, start: int, end: int) -> Iterator[tuple[str, list[tuple[int, Vector]]]]:
    """The operations of a target, with the inputs for each and their numbers."""
    some = range(start, end)
    for operation in probe.beside:
        if operation in ENCODING:
            yield operation, [(number, vector(text(generated.seed, number), operation)) for number in some]
        else:
            for name in probe.greeting.functions:
                yield operation, [(number, each) for number in some for each in questions(generated, number, name)]


def ask(generated: Generated, probes: Sequence[Probe], result: UnitResult, start: int, end: int) -> None:
    """Ask targets about the texts of a campaign before the end, by every operation.

    Raises:
        TargetError: a target cannot be asked (any more).
    """
    while start < end:
        following = min((start // _AT_A_TIME + 1) * _AT_A_TIME, end)
        for probe in probes:
            for operation, inputs in _inputs(generated, probe, start, following):
                vectors = [each for _, each in inputs]
                result.asked[probe.id, operation] += len(vectors)
                result.octets += sum(len(each.octets) for each in vectors)
                for (number, _), (_, finding) in zip(inputs, probe.ask(vectors, operation), strict=True):
                    if finding is not None:
                        result.add(finding, probe.id, number, start // BLOCK)
        start = following
