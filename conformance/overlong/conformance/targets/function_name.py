"""``FILE:NAME?abi=ABI&TRAIT=WORD``: a function of a library or a module, its ABI, and its traits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.oracle.target import UnknownTarget
from overlong.conformance.protocol.greeting import TRAITS, WORDS
from overlong.conformance.support.printable import nearest, printable
from overlong.conformance.targets.adapters.asked import ENCODES
from overlong.reference.questions import EARLY, QUESTIONS
from overlong.reference.reading import MODES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

_SAID = tuple(f"{member}={word}" for member, words in TRAITS.items() for word in words)
"""Traits that a user may give for a function, as in a greeting (docs/protocol.md)."""


def declared(shown: str, where: str, words: Iterable[str], *more: str) -> tuple[str, ...]:
    """The ABI and traits after a function's name, checked.

    Args:
        shown: the target as the user wrote it, safe to show.
        where: where the words were written, for messages.
        words: ``MEMBER=WORD`` each.
        more: members allowed there besides traits.

    Raises:
        UnknownTarget: a word is not allowed, or a member occurs twice.
    """
    said = tuple(words)
    for word in said:
        if word not in (*more, *_SAID):
            raise UnknownTarget(f"{shown}: {where} is '{printable(word)}'; write {', '.join((*more, *_SAID))}")
    members = [word.partition("=")[0] for word in said]
    if twice := [member for member in members if members.count(member) > 1]:
        raise UnknownTarget(f"{shown}: {where} is {twice[0]}= more than once; write it once")
    return said


_ERRORS = "encode_errors"
_OF_QUESTIONS: dict[str, Collection[str]] = {
    "as": QUESTIONS,
    "ill_formed": MODES,
    "stops": (EARLY,),
    _ERRORS: WORDS[_ERRORS],
}
"""What a user may say of a function that answers a question: which, and its modes."""


def of_questions(shown: str, words: Iterable[str], question: str = "") -> tuple[dict[str, str], list[str]]:
    """What is said of a function that answers a question, by member, and the other words.

    Args:
        shown: the target as the user wrote it, safe to show.
        words: ``MEMBER=WORD`` each.
        question: its name, unless a word says it.

    Raises:
        UnknownTarget: there is no such question or mode, a member occurs twice, or one is for encoders alone.
    """
    said, others = dict[str, str](), list[str]()
    for word in words:
        member, _, name = word.partition("=")
        if member not in _OF_QUESTIONS:
            others.append(word)
        elif name not in _OF_QUESTIONS[member] or member in said:
            known = ", ".join(_OF_QUESTIONS[member])
            raise UnknownTarget(f"{shown}: '{printable(word)}': after {member}= write one of {known}, once")
        else:
            said[member] = name
    question = said.get("as", question)
    if _ERRORS in said and question in QUESTIONS and question not in ENCODES:
        raise UnknownTarget(f"{shown}: {_ERRORS}= is for {', '.join(ENCODES)}; leave it out of {question}")
    return said, others


REPLACES = "mode=replacement"
"""What is said of a decoder in C that replaces what is ill-formed."""


@dataclass(frozen=True)
class FunctionName:
    """The parts of a function's name."""

    file: str
    name: str
    abi: str
    traits: tuple[str, ...]
    modes: tuple[str, ...]
    """Its declared modes, if it answers a question: ``MEMBER=WORD`` each."""

    @classmethod
    def of(cls, shown: str, rest: str, form: str) -> FunctionName:
        """Split a name into its parts.

        Args:
            shown: the target as the user wrote it, safe to show.
            rest: the name after its kind.
            form: the right form, for the error message.

        Raises:
            UnknownTarget: it has another form.
        """
        place, mark, query = rest.partition("?abi=")
        file, _, name = place.rpartition(":")
        if not mark or not file or not name:
            raise UnknownTarget(f"{shown}: {form}")
        abi, *words = query.split("&")
        said, traits = of_questions(shown, words, abi.partition("(")[0])
        if "as" in said:
            raise UnknownTarget(f"{shown}: write the question as its abi, and leave out as={said['as']}")
        more = (REPLACES,) if "(ptr,len,out" in abi or abi.startswith("stream-utf") else ()
        return cls(
            file,
            name,
            abi,
            declared(shown, "after the abi", traits, *more),
            tuple(f"{member}={word}" for member, word in said.items()),
        )

    def no_abi(self, shown: str, known: Sequence[str], where: str, more: str) -> UnknownTarget:
        """The error for a name that is no ABI: it suggests three, and names the list of all.

        Args:
            shown: the target as the user wrote it, safe to show.
            known: the possible ABIs, the most usual first.
            where: the words for the kind of target.
            more: the words that refer to the whole list.
        """
        alike = [each for each in known if each.startswith(self.abi.partition("(")[0])]
        first, second, third = list(dict.fromkeys([*nearest(self.abi, known, 3), *alike, *known]))[:3]
        return UnknownTarget(
            f"{shown}: no abi '{printable(self.abi)}'{where}; perhaps {first}, {second} or {third}; {more}"
        )
