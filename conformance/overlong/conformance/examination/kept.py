"""A condition in a file, and back: with all that foresees further answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlong.conformance.examination.asked_texts import FACTOR
from overlong.conformance.examination.condition import Condition
from overlong.conformance.examination.encoded_texts import FACTORS
from overlong.conformance.examination.encoders import OfNumbers
from overlong.conformance.examination.factors import factor_named
from overlong.conformance.examination.functions import OfQuestions
from overlong.conformance.examination.other_answers import other_named
from overlong.conformance.examination.rules import Atom, Rule
from overlong.reference import DIALECTS
from overlong.reference.questions import QUESTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from overlong.conformance.examination.explanation import AnyCondition
    from overlong.conformance.examination.factors import Factor


def kept(condition: AnyCondition) -> dict[str, Any]:
    """A condition for files, with what its id does not depend on."""
    if isinstance(condition, OfQuestions):
        return condition.to_json()
    if isinstance(condition, OfNumbers):
        return {**condition.to_json(), "operation": condition.operation, "encodes": condition.encodes}
    return {
        **condition.to_json(),
        "operation": condition.operation,
        **({"subparts": True} if condition.subparts else {}),
        **({"offsets": True} if condition.offsets else {}),
    }


def condition_of(read: Mapping[str, Any]) -> AnyCondition:
    """The condition that :func:`kept` wrote.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    if "question" in read:
        return _of_questions(read)
    if "numbers" in read:
        return _of_numbers(read)
    words = tuple(tuple(frozenset(bytes.fromhex(octets)) for octets in word) for word in read["words"])
    if read["dialect"] not in DIALECTS or not words or not all(octets for word in words for octets in word):
        raise ValueError(read["dialect"])
    return Condition(
        str(read["symptom"]),
        words,
        Rule(tuple(_atom(each, factor_named(each["factor"])) for each in read["rule"])),
        read["dialect"],
        str(read["operation"]),
        int(read.get("commits", 0)),
        subparts=bool(read.get("subparts", False)),
        offsets=bool(read.get("offsets", False)),
        reads=int(read.get("reads", 0)),
    )


def _of_numbers(read: Mapping[str, Any]) -> OfNumbers:
    """The condition of an encoder."""
    if read["dialect"] not in DIALECTS:
        raise ValueError(read["dialect"])
    named = {factor.name: factor for factor in FACTORS}
    return OfNumbers(
        str(read["symptom"]),
        tuple((int(first), int(last)) for first, last in read["numbers"]),
        read["dialect"],
        str(read["operation"]),
        str(read["encodes"]),
        always=bool(read.get("always", False)),
        atoms=tuple(_atom(each, named[each["factor"]]) for each in read.get("rule", ())),
        silent=bool(read.get("silent", False)),
    )


def _of_questions(read: Mapping[str, Any]) -> OfQuestions:
    """The condition of a function beside a decoder."""
    question, other = QUESTIONS[read["question"]].name, str(read.get("other", ""))
    if other:
        other_named(question, other)
    return OfQuestions(
        str(read["symptom"]),
        question,
        str(read.get("ill-formed", "")),
        tuple(_atom(each, FACTOR[each["factor"]]) for each in read.get("rule", ())),
        anywhere=bool(read.get("anywhere", False)),
        other=other,
        of_text=bool(read.get("of text", False)),
    )


def _atom(read: Mapping[str, Any], factor: Factor) -> Atom:
    values = read.get("values", read.get("all but"))
    low, high = (read.get("equals", read.get(name)) for name in ("from", "to"))
    return Atom(
        factor.name,
        None if low is None else int(low),
        None if high is None else int(high),
        int(read.get("modulo", 0)),
        frozenset(map(int, read.get("is", ()))),
        None if values is None else frozenset(map(int, values)),
        without="all but" in read,
    )
