"""Groups the divergences of a decoder by what causes them: a fault is one thing to mend, and gets one text.

A cause that an experiment found is one fault, if that says that nothing is checked. Of other divergences the record
has the shortest input for each code: what its octets lack, and what came out, tells the cause. A decoder that passes
octets through has eight codes and one fault.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlong.conformance.protocol.observation import Code
from overlong.conformance.protocol.wire import ENCODING
from overlong.conformance.report.wording import observed
from overlong.conformance.results.model import SENTENCE
from overlong.conformance.vectors.expected import given
from overlong.reference import DEFECTS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from overlong.conformance.results.model import Cause

VALIDATION, NUMBERS, TAILS, LEADS, END = "validation", "numbers", "tails", "leads", "end"
NONCHARACTERS, SIGNATURE = "noncharacters", "signature"
_CLASSES = {"OV201": "overlong forms", "OV202": "surrogates", "OV203": "numbers above 10FFFF",
            "OV207": "forms of seven octets", "OV208": "forms of five and six octets"}  # fmt: skip
_NUMBERS = frozenset({"OV201", "OV202", "OV203"})
KINDS_OF = {"C0 80": "OV201", "E0 80 80": "OV201", "F0 80 80 80": "OV201", "ED A0 80": "OV202",
            "F4 90 80 80": "OV203", "F8 88 80 80 80": "OV208"}  # fmt: skip
"""A string of each kind that a decoder may accept whose check of numbers is wrong, and its code."""
_CLEAREST = ("OV207", "OV205", "OV206")
"""The codes whose inputs show best that nothing is checked, or no tail."""
_SIGNATURE = "efbbbf"
_FEW = 2
"""The most inputs that an experiment leaves over."""
_NEARLY, _PATTERNS = "nearly", " patterns, such as "
"""Words of conditions that do not say all."""
_NOTHING_CHECKED = "accepts errors"
"""The words of a condition that takes whatever is ill-formed."""


@dataclass(frozen=True)
class Fault:
    """One thing to mend in a decoder."""

    name: str
    """``validation``, ``numbers``, ...; or the code, if that says it."""
    causes: tuple[Cause, ...]
    """The divergences that it causes: one of each code."""

    @property
    def title(self) -> str:
        """What is wrong, in words."""
        return self.title_with()

    def title_with(self, wide: str = "") -> str:
        """What is wrong, in words, with the kinds of strings that its extent names."""
        kinds = listed(words for code, words in _CLASSES.items() if code in self.kinds_with(wide))
        return {
            VALIDATION: f"does not validate: ill-formed octets {'pass through' if self.passes else 'become text'}",
            NUMBERS: f"accepts {kinds}{'' if wide else self._more}",
            TAILS: "does not check the octets after a lead",
            LEADS: "accepts octets that begin no character",
            END: "accepts text that ends inside a character",
            NONCHARACTERS: "does not take noncharacters",
            SIGNATURE: "loses a byte order mark (U+FEFF) at the start",
            Code.REFUSED: "refuses well-formed text",
            Code.SCALARS: "decodes well-formed text to something else",
            Code.CHUNKING: "gives another result for text in pieces",
            Code.SURROGATE_ENCODED: "encodes surrogates",
            Code.BEYOND_ENCODED: "encodes numbers above 10FFFF",
            Code.ENCODER_REPLACEMENT: "does not write U+FFFD for each lone surrogate",
        }.get(self.name, self.causes[0].title)

    def kinds_with(self, wide: str) -> set[str]:
        """The codes of its divergences, and of the kinds of strings that its extent names."""
        return {*self.codes, *(code for octets, code in KINDS_OF.items() if f"`{octets}`" in wide)}

    @property
    def condition(self) -> str:
        """The condition by which it diverges, as an experiment found it; empty if none was made."""
        return condition_of(self.example)

    @property
    def told(self) -> str:
        """The condition, if a maintainer can use it: it says all, and more than that nothing is checked."""
        vague = self.condition.startswith((_NEARLY, _NOTHING_CHECKED)) or _PATTERNS in self.condition
        return "" if vague else self.condition

    @property
    def _more(self) -> str:
        several = any(words in self.condition for words in (" or ", _PATTERNS))
        return " and the like" if len(self.causes) == 1 and several else ""

    @property
    def codes(self) -> list[str]:
        """The codes of its divergences."""
        return [each.code for each in self.causes]

    @property
    def passes(self) -> bool:
        """True if the octets come out as they came in, or if nothing comes out but yes."""
        return all(observed(each).startswith("passes ") or each.observed == "accepted" for each in self.causes)

    @property
    def example(self) -> Cause:
        """The cause to show first: a short one, and clear."""
        first = {code: place for place, code in enumerate(_CLEAREST)} if self.name in (VALIDATION, TAILS) else {}
        return min(self.causes, key=lambda each: (len(each.octets), first.get(each.code, len(first)), each.code))

    def without(self, codes: Iterable[str]) -> Fault:
        """The fault without the causes of some codes."""
        left_out = frozenset(codes)
        return Fault(self.name, tuple(each for each in self.causes if each.code not in left_out))


def listed(words: Iterable[str]) -> str:
    """``a, b and c``."""
    *most, last = [*words] or [""]
    return f"{', '.join(most)}{' and ' if most else ''}{last}"


def faults_of(causes: Iterable[Cause]) -> list[Fault]:
    """The faults that cause these divergences of one decoder, of which those of a code come one after the other."""
    found: dict[str, dict[str, Cause]] = defaultdict(dict)
    for cause in causes:
        found[name_of(cause)].setdefault(cause.code, cause)
    kinds = {name: set(found[name]) for name in (NUMBERS, TAILS, LEADS, END) if name in found}
    if {TAILS, LEADS} <= kinds.keys() and set().union(*kinds.values()) >= _NUMBERS:
        merged = [found.pop(name) for name in kinds]
        found[VALIDATION] |= {code: cause for each in merged for code, cause in each.items()}
    _join_rare(found)
    written, size = (found.get(code, {}).get(code) for code in (Code.ENCODER_REPLACEMENT, Code.SIZE))
    if written and size and given(written.operation, written.octets) == given(size.operation, size.octets):
        found[Code.ENCODER_REPLACEMENT] |= found.pop(Code.SIZE)  # it announces the size of what it writes wrongly
    if NONCHARACTERS in found:  # longer inputs with noncharacters in them show nothing else
        for code in set(found) & set(found[NONCHARACTERS]):
            if any(map(is_noncharacter, _numbers(found[code][code]))):
                del found[code]
    return [Fault(name, tuple(each[code] for code in sorted(each))) for name, each in sorted(found.items())]


def _join_rare(found: dict[str, dict[str, Cause]]) -> None:
    """Let ill-formed inputs that an experiment left over go with the fault that most others show."""
    names = [name for name in (VALIDATION, NUMBERS, TAILS, LEADS, END) if name in found]
    counts = {name: sum(cause.count for cause in found[name].values()) for name in names}
    for name in names:
        if counts[name] <= _FEW and (most := max(names, key=lambda each: counts[each])) != name:
            for code, cause in found.pop(name).items():
                found[most].setdefault(code, cause)


def condition_of(cause: Cause) -> str:
    """The condition by which it diverges, in words; empty if none is known."""
    return dict(cause.more).get(SENTENCE, "")


def name_of(cause: Cause) -> str:
    """The fault that this divergence alone shows."""
    if condition_of(cause).startswith(_NOTHING_CHECKED):
        return VALIDATION
    whole = cause.chunks is None and cause.earlier is None and cause.operation not in ENCODING
    if whole and cause.code in DEFECTS:
        return _lacking(cause)
    if cause.code in (Code.REFUSED, Code.SCALARS, Code.SCALAR_REFUSED) and _is_noncharacter(cause):
        return NONCHARACTERS
    if cause.code == Code.SCALARS and cause.octets.hex() == _SIGNATURE and cause.observed == "accepted nothing":
        return SIGNATURE
    return cause.code


def _lacking(cause: Cause) -> str:
    """What the first sequence of ill-formed octets that was accepted lacks."""
    octets, at = cause.octets, 0
    while at < len(octets):
        lead, size = octets[at], _announced(octets[at])
        tails = sum(1 for _ in _tails(octets[at + 1 : at + size]))
        after = octets[at + 1 + tails :]
        if 0x80 <= lead < 0xC0 or (lead in _NEVER and tails < size - 1 and (tails or not after)):
            return LEADS
        if tails < size - 1:
            return TAILS if after and cause.observed != "accepted nothing" else END
        if not _is_well_formed(octets[at : at + size]):
            return NUMBERS
        at += size
    return NUMBERS


_NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})
"""Leads that begin no character."""


def _announced(lead: int) -> int:
    """The number of octets that a lead announces, by its ones."""
    return max(1, 8 - (lead ^ 0xFF).bit_length())


def _tails(octets: bytes) -> Iterable[int]:
    for octet in octets:
        if not 0x80 <= octet < 0xC0:
            return
        yield octet


def _is_well_formed(octets: bytes) -> bool:
    try:
        octets.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_noncharacter(cause: Cause) -> bool:
    """True if the input, octets or the number of an encoder, is one noncharacter."""
    return len(numbers := _numbers(cause)) == 1 and any(map(is_noncharacter, numbers))


def _numbers(cause: Cause) -> list[int]:
    if cause.operation in ENCODING:
        return [int.from_bytes(cause.octets, "big")]
    return list(map(ord, cause.octets.decode(errors="ignore")))


def is_noncharacter(number: int) -> bool:
    """True if Unicode reserves this number for ever."""
    return 0xFDD0 <= number <= 0xFDEF or number & 0xFFFE == 0xFFFE
