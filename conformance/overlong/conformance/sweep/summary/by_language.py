# pyright: basic
"""Descriptions that do not depend on places: by patterns, by first errors, by an automaton, or by a list."""

from __future__ import annotations

from itertools import product
from math import prod
from typing import TYPE_CHECKING

from overlong.conformance.examination.products import Product, exactly, in_words, merged, product_in_words
from overlong.conformance.oracle.kinds import ACCEPTED_ILL_FORMED, BROKEN, REFUSED_WELL_FORMED
from overlong.conformance.sweep.summary.facts import OF_WELL_FORMED, Facts, Part, Said
from overlong.conformance.sweep.summary.languages import (
    TooManyStatesError,
    containing,
    containing_before_error,
    interspersed,
)
from overlong.conformance.sweep.summary.patterns import (
    MOST,
    factors_among,
    minimal_factors,
)
from overlong.conformance.sweep.summary.transitions import differences_in_words
from overlong.reference import DEFECTS
from overlong.reference.theory import in_shortlex

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from overlong.conformance.sweep.summary.members import Members

_SAMPLE = 512
"""The number of strings from which patterns are guessed if not all strings were asked."""
LISTED = 3
"""The most strings that a sentence names one by one."""
_TEXTS = 1 << 14
"""The most strings from which characters are collected."""
_MOST_WORDS = 1 << 12
"""The most words of octet classes that are read for one pattern."""


def by_patterns(facts: Facts, part: Part) -> Said | None:
    """``every well-formed string that contains 00``."""
    if part.kind == ACCEPTED_ILL_FORMED:
        return _by_forms(facts, part) if facts.complete else None
    products = _factors(facts, part.members)
    if not products:
        return _by_characters(facts, part)
    try:
        found = facts.strings.of_language(containing(products))
    except TooManyStatesError:
        return None
    bases = [("string", facts.everything), (ill_formed(facts, part), facts.going_wrong_with(part.errors))]
    if part.kind in OF_WELL_FORMED or part.kind >= BROKEN:
        bases.insert(part.kind >= BROKEN, ("well-formed string", facts.well_formed))
    for words, base in bases:
        if facts.strings.both(found, base) == part.members:
            return _said(f"every {words} that contains {in_words(products)}", products)
    return _by_characters(facts, part)


def _by_characters(facts: Facts, part: Part) -> Said | None:
    """``every well-formed string that contains F0-F4``, or that contains certain characters."""
    found = _characters(facts, part.members) if part.kind in OF_WELL_FORMED else None
    return _said(f"every well-formed string that contains {in_words(found)}", found) if found else None


def _characters(facts: Facts, members: Members) -> list[Product] | None:
    """Leads or characters that occur in these strings and in no other well-formed ones; None if there are none."""
    if facts.complete:
        return None  # then the least strings would be such patterns

    def with_any(patterns: Sequence[Product]) -> Members:
        return facts.strings.both(facts.strings.of_language(containing(patterns)), facts.well_formed)

    characters = set[bytes]()
    for string, _ in facts.strings.some(members, _TEXTS):
        start = 0
        for end, state in enumerate(facts.automaton.walk(string), 1):
            if facts.automaton.accepting[state]:
                characters.add(string[start:end])
                start = end
    leads = {facts.errors.class_of(each[0]) for each in characters}
    for patterns in (
        [(octets,) for octets in leads],
        list(map(exactly, characters)),
    ):
        if len(patterns) <= MOST:
            alone = (each for each in patterns if not any(facts.strings.less(with_any([each]), members).values()))
            found = merged(alone)
            if found and with_any(found) == members:
                return found
    return None


def by_refusals(facts: Facts, members: Members) -> Said | None:
    """``every ill-formed string that contains 00 before its first error``: the target refuses it there already.

    For a target that refuses well-formed strings because of patterns in them.
    """
    if REFUSED_WELL_FORMED not in facts.of_kind:
        return None
    refused = facts.of_kind[REFUSED_WELL_FORMED]
    products = _factors(facts, refused) or _characters(facts, refused)
    if not products:
        return None
    try:
        found = facts.strings.of_language(containing(products))
        sooner = facts.strings.of_language(containing_before_error(facts.automaton, products))
    except TooManyStatesError:
        return None
    if facts.strings.both(found, facts.well_formed) != refused or sooner != members:
        return None
    return _said(f"every ill-formed string that contains {in_words(products)} before its first error", products)


def _factors(facts: Facts, members: Members) -> list[Product] | None:
    if not facts.complete:
        return factors_among(string for string, _ in facts.strings.some(members, _SAMPLE))
    return minimal_factors([(facts.strings.levels(grid)[0], members[grid]) for grid in sorted(members)])


def _by_forms(facts: Facts, part: Part) -> Said | None:
    """``every string of well-formed characters and ED A0-BF 80-BF, with at least one of the latter``.

    The target takes some ill-formed sequences for characters, and accepts no other ill-formed string.
    """
    members = facts.of_kind[ACCEPTED_ILL_FORMED]
    forms = _factors(facts, members)
    if not forms:
        return None
    try:
        spoken = interspersed(facts.automaton, forms).of(lambda says: says > 0)
    except TooManyStatesError:
        return None
    accepted = facts.strings.less(facts.strings.of_language(spoken), facts.well_formed)
    characters = "well-formed characters"
    if accepted != members and REFUSED_WELL_FORMED in facts.of_kind:
        refused = _factors(facts, facts.of_kind[REFUSED_WELL_FORMED])
        if refused:
            accepted = facts.strings.less(accepted, facts.strings.of_language(containing(refused)))
            characters = "well-formed characters that it does not refuse"
    if accepted != members:
        return None
    if part.members == members:
        return _said(f"every string of {characters} and {in_words(forms)}, with at least one of the latter", forms)
    first = [_first_errors(facts, form) for form in forms]
    own = [form for form, errors in zip(forms, first, strict=True) if errors and errors <= part.errors]
    if own and all(errors and (errors <= part.errors or not errors & part.errors) for errors in first):
        words = f"and ill-formed ones that it accepts, the first of these being {in_words(own)}"
        return _said(f"every string of {characters} {words}", own)
    return _said(f"every {ill_formed(facts, part)}, of {characters} and {in_words(forms)}", forms)


def _first_errors(facts: Facts, form: Product) -> frozenset[int]:
    """The classes of octets of the first error after well-formed text and the form, where no suffix changes it.

    Empty if a suffix can change it, for the form could begin a character; or if the form stands for too many octets.
    """
    classes = [{facts.errors.class_of(octet) for octet in octets} for octets in form]
    if prod(map(len, classes)) > _MOST_WORDS:
        return frozenset()
    numbers = {facts.errors.of(bytes(map(min, word))) for word in product(*classes)}
    if any(number < 0 or facts.errors.errors[number].cut for number in numbers):
        return frozenset()
    return frozenset(numbers)


def by_first_errors(facts: Facts, part: Part) -> Said | None:
    """``every string that first goes wrong with F5-FF``."""
    if part.kind in OF_WELL_FORMED or part.kind >= BROKEN:
        for words, base in (("well-formed string", facts.well_formed), ("string", facts.everything)):
            if part.members == base:
                return Said(f"every {words}")
        if part.kind in OF_WELL_FORMED:
            return None
    numbers = frozenset(facts.strings.met(part.members, facts.errors.language)) - {-1}
    if not numbers or facts.going_wrong_with(numbers) != part.members:
        return None
    errors = facts.errors.errors
    asked = facts.asked & part.errors
    alike = {errors[number][:2] for number in numbers}
    later = {errors[number].later for number in numbers}
    for place in ("", ", behind at least one character", ", with its very first octets"):
        here = frozenset(
            number for number in asked if not place or errors[number].later == place.startswith(", behind")
        )
        if numbers == here:
            return Said(f"every {ill_formed(facts, part)}{place}")
        if numbers == frozenset(number for number in here if errors[number][:2] in alike) and (
            not place or len(later) == 1
        ):
            words, parts = errors_in_words(facts, numbers)
            return Said(f"every string {words}{place}", parts=parts)
    return Said(f"every {ill_formed(facts, part)} that has one of {len(numbers)} first errors")


def ill_formed(facts: Facts, part: Part) -> str:
    """A noun phrase for the strings of a part that can follow "every" or "123"."""
    if len(part.errors) == len(facts.errors.errors):
        return "ill-formed string"
    if not part.defect:
        return "string that is ill-formed only by what the target declares"
    return f"string whose first error is {part.defect} ({DEFECTS[part.defect].title})"


def errors_in_words(facts: Facts, numbers: Iterable[int]) -> tuple[str, tuple[str, ...]]:
    """``that first goes wrong with FF``, and the patterns."""
    words: dict[bool, set[bytes]] = {False: set(), True: set()}
    for number in numbers:
        error = facts.errors.errors[number]
        words[error.cut].add(error.octets)
    said: list[str] = []
    parts: list[Product] = []
    for cut, verb in ((False, "that first goes wrong with"), (True, "that is cut off after")):
        if words[cut]:
            products = merged(facts.product(word) for word in in_shortlex(words[cut]))
            parts += products
            all_cuts = {facts.errors.errors[number].octets for number in facts.asked if facts.errors.errors[number].cut}
            every = cut and words[cut] == all_cuts
            said.append("that is cut off inside a character" if every else f"{verb} {in_words(products)}")
    return " or ".join(said), tuple(map(product_in_words, parts))


def by_automaton(facts: Facts, part: Part) -> Said | None:
    """``every well-formed string that is refused if ED counts as E1``: by the differences of the target's automaton."""
    if part.kind not in {REFUSED_WELL_FORMED, ACCEPTED_ILL_FORMED} or facts.learned is None:
        return None
    refused = part.kind == REFUSED_WELL_FORMED
    subject = "well-formed string" if refused else ill_formed(facts, part)
    if words := differences_in_words(facts.automaton, facts.learned):
        return Said(f"every {subject} that is {'refused' if refused else 'accepted'} if {words}")
    verb = "refuses" if refused else "accepts"
    return Said(f"every {subject} that the target, behaving like an automaton of {len(facts.learned)} states, {verb}")


def by_list(facts: Facts, part: Part) -> Said | None:
    """``exactly C0 80``: a list of a few strings."""
    if facts.strings.count(part.members) > LISTED:
        return None
    names = dict.fromkeys(
        octets_in_words(octets) + ("" if earlier is None else f" right after {octets_in_words(earlier)}")
        for octets, earlier in facts.strings.some(part.members, LISTED)
    )
    return Said(f"exactly {' and '.join(names)}")


def by_numbers(facts: Facts, part: Part) -> Said:
    """The description that remains if no other is exact: numbers."""
    least, _, _ = facts.strings.least(part.members)
    return in_numbers(facts.strings.count(part.members), facts.plan.size, least)


def in_numbers(count: int, size: int, least: bytes) -> Said:
    """``no short description: 3 of 256 strings, the first 00``."""
    return Said(f"no short description: {count} of {size} strings, the first {octets_in_words(least)}", exact=False)


def octets_in_words(octets: bytes, most: int = 16) -> str:
    """``E2 82``; for a long string, both ends."""
    if not octets:
        return "the empty string"
    if len(octets) <= most:
        return octets.hex(" ").upper()
    return f"{octets[:4].hex(' ').upper()} ... {octets[-8:].hex(' ').upper()} ({len(octets)} octets)"


def _said(words: str, products: Sequence[Product]) -> Said:
    return Said(words, parts=tuple(map(product_in_words, products)))
